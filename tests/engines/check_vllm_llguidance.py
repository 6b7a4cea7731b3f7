"""llguidance's interface, as vLLM's own backend ``guidance`` calls it.

vLLM keeps what it imports, so this runs in a process of its own, in which
``import llguidance`` finds Parlance.
"""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("vllm")
sys.path.append(str(pathlib.Path(__file__).resolve().parent))


def test_vllms_guidance_backend(tmp_path):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "ok"


def main(folder):
    from parlance.integrations import llguidance as ours

    ours.install()
    import llguidance

    assert llguidance is ours
    import check_vllm_backend as checks
    from vllm.exceptions import VLLMValidationError
    from vllm.v1.structured_output.backend_guidance import GuidanceBackend

    checks.write_model(pathlib.Path(folder))
    for drafts in (0, 4):
        engine = checks.Engine(
            folder, seed=drafts, drafts=drafts, backend="guidance", compared=False
        )
        constraints = [
            (constraint, check)
            for constraint, check in checks.CONSTRAINTS
            if constraint.get("structural_tag") in (None, checks.json.dumps(checks.OLD_TAG))
        ]
        added = []
        for _ in range(4):
            for constraint, check in constraints:
                added.append((engine.add(engine.params(**constraint)), constraint, check))
                engine.step()
            live = [n for n, r in engine.requests.items() if not r.is_finished()]
            for name in engine.random.sample(live, min(2, len(live))):
                engine.scheduler.finish_requests(
                    name, checks.RequestStatus.FINISHED_ABORTED
                )
        engine.run()
        assert type(engine.manager.backend) is GuidanceBackend
        stopped = 0
        for request, constraint, check in added:
            assert request.status != checks.RequestStatus.FINISHED_ERROR
            if request.status != checks.RequestStatus.FINISHED_STOPPED:
                continue
            stopped += 1
            text = engine.text(request)
            assert check is None or check(text), text
            if "choice" in constraint:
                assert text in constraint["choice"]
        assert stopped > 10
        for bad in ({"regex": "(a"}, {"json": {"type": "strin"}}, {"grammar": "start: x"}):
            with pytest.raises(VLLMValidationError):
                engine.params(**bad)
        engine.close()
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1])
