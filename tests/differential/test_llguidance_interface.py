"""One program, run with llguidance and with our module of its interface."""

import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "support/llguidance_program.py"
pytestmark = pytest.mark.skipif(
    not os.environ.get("PARLANCE_PEERS"), reason="PARLANCE_PEERS is not set"
)


def seen(which, seed):
    result = subprocess.run(
        [sys.executable, str(PROGRAM), which, str(seed)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    "seed", [1, random.Random().randrange(1 << 30)], ids=["first", "drawn"]
)
def test_the_same_program(seed):
    theirs, ours = seen("llguidance", seed), seen("parlance", seed)
    different = [(a, b) for a, b in zip(theirs, ours) if a != b]
    assert not different, (seed, different[:5])
    assert len(theirs) == len(ours) > 100
