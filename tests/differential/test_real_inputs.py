"""The tables of docs/reference/real-inputs.md: what becomes of real tools, schemas
and grammars.  scripts/list-real writes them from what the library does."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "list-real"


@pytest.mark.parametrize("table", ["grammars"])
def test_the_tables_are_what_the_library_does(table):
    result = subprocess.run(
        [sys.executable, SCRIPT, "--check", table],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    if "is left out" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr
