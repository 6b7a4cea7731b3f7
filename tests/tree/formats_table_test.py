"""The tables of docs/reference/formats.md follow the files in formats/."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_tables_are_those_of_the_files():
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / "list-formats", "--check"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
