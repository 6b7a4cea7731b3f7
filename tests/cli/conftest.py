"""Runs the built command; PARLANCE_CLI names it, else it is found by PATH."""

import os
import pathlib
import shutil
import subprocess

import pytest
from model_folder import write_model

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command():
    path = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
    if path is None:
        pytest.skip("no command: set PARLANCE_CLI, or PATH")
    return path


@pytest.fixture
def parlance(command, tmp_path):
    """parlance(*arguments, stdin="", status=0) -> (stdout, stderr)"""

    def run(*arguments, stdin=b"", status=0, binary=False, **environment):
        if isinstance(stdin, str):
            stdin = stdin.encode()
        result = subprocess.run(
            [command, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            timeout=60,
            env={**os.environ, "NO_COLOR": "", **environment},
        )
        assert result.returncode == status, (
            f"status {result.returncode}\n{result.stdout!r}\n{result.stderr!r}"
        )
        if binary:
            return result.stdout, result.stderr
        return result.stdout.decode(), result.stderr.decode()

    return run


@pytest.fixture
def demo():
    return ROOT / "docs" / "demo"


@pytest.fixture
def vocabulary(tmp_path):
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b'{"', b'":', b'": "', b'", "', b"city", b"days", b"metric"]
    write_model(tmp_path / "small", tokens, ["<end>"], len(tokens))
    return "small"
