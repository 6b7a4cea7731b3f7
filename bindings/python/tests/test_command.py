"""``python -m parlance`` without pyarrow; with it: tests/tables/check_parquet.py."""

import importlib.util
import subprocess
import sys

import pytest

import parlance


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "parlance", *arguments], capture_output=True, text=True
    )


def test_help_and_version():
    assert run("--version").stdout == f"parlance {parlance.__version__}\n"
    shown = run("parse", "--help").stdout
    for option in ("--keep", "--id", "--errors", "--resume", "--key", "--progress"):
        assert option in shown
    assert run().returncode == 2


@pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is installed"
)
def test_without_pyarrow(tmp_path):
    done = run("parse", "a.parquet", "-f", "qwen3", "-o", str(tmp_path / "out"))
    assert done.returncode == 2
    assert done.stderr == (
        "parlance: reading and writing Parquet takes the package pyarrow, which is "
        "not installed: pip install pyarrow\n"
    )
    assert not (tmp_path / "out").exists()
