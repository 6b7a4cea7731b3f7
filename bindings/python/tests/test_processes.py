"""Nothing that code does with the package's objects ends, hangs or corrupts the
process: threads, finalizers, callbacks, exit, ``fork``, subinterpreters.

What could end a process runs in a child.
"""

import gc
import pathlib
import subprocess
import sys
import textwrap

import pytest
from changing_objects import OBJECTS, TOGETHER

import parlance

TESTS = pathlib.Path(__file__).parent
SECONDS = 60  # a child that takes longer hangs


def run(program, *arguments, seconds=SECONDS):
    """Runs a Python text in a child; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


# ---- One call at a time


@pytest.mark.parametrize("name", OBJECTS)
def test_every_method_has_a_call(name):
    one, calls, _ = OBJECTS[name]()
    constant = {"constraint", "mask_words"} if name == "Matcher" else set()
    methods = {m for m in dir(type(one)) if not m.startswith("_")} - constant
    assert methods == {c for c in calls if not c.startswith("_")}


@pytest.mark.parametrize("name", [n for n in OBJECTS if OBJECTS[n]()[2]])
def test_a_call_during_a_call_is_refused(name):
    _, calls, during = OBJECTS[name]()
    seen = {}

    def then():
        for method, call in calls.items():
            try:
                call()
                seen[method] = None
            except parlance.UsageError as why:
                seen[method] = str(why)

    during(then)
    assert set(seen) == set(calls)
    for method, why in seen.items():
        if name == "MaskTable" and method in TOGETHER:
            assert why is None, (method, why)
        else:
            assert why is not None and "is in use" in why, (method, why)
    # The call that was disturbed has ended, and the object is free again.
    during(lambda: None)


def test_a_batch_uses_its_rows():
    batch, calls, during = OBJECTS["Batch"]()
    matcher = parlance.Grammar.from_regex("a*").compile(
        parlance.Vocabulary([b"a", b"."], stop_ids=[1])
    ).matcher()
    row = batch.add(matcher)
    seen = []

    class Bad:
        def __index__(self):
            seen.append(matcher.steps())
            return 0

    # Before the rows of a step are known, they are not in use.
    batch.step([row], [Bad()])
    assert seen == [0] and matcher.steps() == 1


def test_a_delta_stream_uses_its_parser():
    parser = parlance.ResponseParser(
        "qwen3", "", vocabulary=parlance.Vocabulary([b"a"], stop_ids=[])
    )
    seen = []

    class Index:
        def __index__(self):
            with pytest.raises(parlance.UsageError, match="is in use"):
                parser.feed([0])
            seen.append(1)
            return 0

    from parlance import _parlance

    stream = _parlance.DeltaStream(
        parlance.Format("qwen3"),
        parser,
        parlance.Vocabulary([b"a"], stop_ids=[]),
        [],
        "reasoning",
    )
    stream.feed([Index()])
    assert seen == [1]


def test_texts_for_a_parser_in_use():
    """None is fed when one cannot be."""
    one = parlance.ResponseParser("qwen3", "")
    other = parlance.TagParser({"format": {"type": "any_text"}})
    assert parlance.feed_deltas([one, one], ["a", "b"]) == [
        (0, "region_chunk", "content", "a", -1),
        (1, "region_chunk", "content", "b", -1),
    ]
    seen = []

    class Text(str):
        pass

    class Garbage:
        def __init__(self):
            self.me = self

        def __del__(self):
            try:
                seen.append(parlance.feed_deltas([one, other], ["", "x"]))
            except parlance.UsageError as why:
                seen.append(str(why))

    threshold = gc.get_threshold()
    gc.collect()
    Garbage()
    gc.set_threshold(1)
    try:
        one.feed("a" + "<think>b</think>" * 50)
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert len(seen) == 1


THREADS = """
    import sys, threading, time
    import parlance
    from changing_objects import OBJECTS, TEXT
    sys.setswitchinterval(1e-6)
    allowed = (parlance.UsageError, parlance.StateError)
    refused = {}
    LONG = TEXT * 4000  # read without the GIL
    for name in sys.argv[1:]:
        one, calls, _ = OBJECTS[name]()
        # Long input, beside which the other threads run.
        if name in ("ResponseParser", "TagParser"):
            calls["feed long"] = lambda: one.feed(LONG)
        elif "ids" in name or name in ("HarmonyParser", "DeltaStream"):
            ids = list(LONG.encode())
            calls["feed long"] = lambda: one.feed(ids)
        elif name == "Matcher":
            calls["accept long"] = lambda: one.accept_bytes("ab" * 40000)
        end = time.monotonic() + 0.6
        wrong = []
        refused[name] = 0

        def work(offset):
            order = list(calls)
            order = order[offset:] + order[:offset]
            if "finalize" in order and offset:
                order = [m for m in order if "finalize" not in m]
            while time.monotonic() < end:
                for method in order:
                    try:
                        calls[method]()
                    except allowed as why:
                        refused[name] += "is in use" in str(why)
                    except Exception as why:
                        wrong.append((method, repr(why)))

        threads = [threading.Thread(target=work, args=(i * 3,)) for i in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not wrong, (name, wrong[:3])
    print(refused)
"""


def test_threads_that_share_an_object():
    refused = eval(run(THREADS, *OBJECTS))
    # Those whose calls release the GIL were found in use.
    for name in ("ResponseParser", "ResponseParser of ids", "TagParser", "Matcher"):
        assert refused[name] > 0, refused


FINALIZERS = """
    import gc, sys
    import parlance
    from changing_objects import OBJECTS, TEXT
    runs = 0

    class Garbage:
        def __init__(self, calls):
            self.me = self
            self.calls = calls
        def __del__(self):
            global runs
            runs += 1
            for method, call in self.calls.items():
                if "finalize" in method or method in ("end", "remove", "reset"):
                    continue
                try:
                    call()
                except (parlance.UsageError, parlance.StateError):
                    pass

    for name in OBJECTS:
        for method in OBJECTS[name]()[1]:
            one, calls, during = OBJECTS[name]()
            if hasattr(one, "feed") and "ids" not in name and "Parser" in name:
                if name != "HarmonyParser":
                    one.feed(TEXT)
                    calls["feed more"] = lambda: one.feed(TEXT)
            gc.collect()
            gc.set_threshold(1)
            for _ in range(5):
                # Collected at the next object that is allocated: in the call.
                Garbage(calls)
                try:
                    calls[method]()
                    calls.get("feed more", lambda: None)()
                except parlance.StateError:
                    pass
                except parlance.UsageError as why:
                    assert "no row" in str(why), (name, method, why)
            gc.set_threshold(700)
    assert runs > 200, runs
"""


def test_finalizers_that_use_the_object_that_allocates():
    run(FINALIZERS)
