"""What a shared library exports follows the public headers."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++")
def test_the_list_is_that_of_the_headers():
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / "exports", "--check"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
