"""The modules of the playground that need no page, in Node.js."""

import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def test_modules():
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js")
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    if int(re.match(r"v(\d+)", said).group(1)) < 20:
        pytest.skip(f"Node.js {said.strip()} is older than 20")
    done = subprocess.run(
        [node, "--test", HERE / "sources.test.mjs"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
