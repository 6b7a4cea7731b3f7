"""One program, run with XGrammar and with our module of its interface.

What a program can see (masks, verdicts, the kinds of exceptions, vocabularies)
is written down as a list; the two lists are equal.  Where our reading differs on
purpose is in docs/guide/xgrammar.md, and is not asked here.
"""

import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"
sys.path.insert(0, str(SUPPORT))

import xgrammar_alone  # noqa: E402

pytestmark = pytest.mark.skipif(
    xgrammar_alone.missing() is not None, reason=str(xgrammar_alone.missing())
)
if importlib.util.find_spec("pydantic") is None:
    pytest.skip("pydantic is not installed", allow_module_level=True)

PROGRAM = SUPPORT / "xgrammar_program.py"


def seen(which, seed):
    # In a process of its own: only one module may be xgrammar.
    result = subprocess.run(
        [sys.executable, str(PROGRAM), which, str(seed)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    "seed", [1, random.Random().randrange(1 << 30)], ids=["first", "drawn"]
)
def test_the_same_program(seed):
    theirs, ours = seen("xgrammar", seed), seen("parlance", seed)
    assert len(theirs) == len(ours) > 100
    different = [(a, b) for a, b in zip(theirs, ours) if a != b]
    assert not different, (seed, different[:5])
