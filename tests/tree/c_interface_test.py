"""The C interface is the recorded one, and a record is appended to."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "bindings" / "c" / "interface.txt"


def c_interface(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "c-interface", *arguments],
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(not shutil.which("clang"), reason="no clang")
def test_the_record_is_that_of_the_header():
    result = c_interface("--check")
    assert result.returncode == 0, result.stderr


def test_every_function_is_called_from_c():
    lines = RECORD.read_text().splitlines()
    names = [re.search(r"(parlance_\w+)\(", line)[1] for line in lines
             if line.startswith("function ")]
    programs = "".join(f.read_text() for f in (ROOT / "tests" / "c").glob("*.c"))
    assert names and not [name for name in names if name + "(" not in programs]


def test_a_record_may_only_grow(tmp_path):
    old = tmp_path / "old.txt"
    lines = RECORD.read_text().splitlines(keepends=True)
    old.write_text("".join(line for line in lines if "parlance_explain(" not in line))
    assert c_interface("--appended", old).returncode == 0
    old.write_text("".join(lines) + "function void parlance_gone(void)\n")
    result = c_interface("--appended", old)
    assert result.returncode != 0 and "parlance_gone" in result.stderr
    old.write_text("".join(lines).replace("parlance_event.kind int32_t 0 0",
                                          "parlance_event.kind int32_t 4 4"))
    assert c_interface("--appended", old).returncode != 0
