"""One version, of the header, the module, its metadata and the command; and what
else the installed package says of itself."""

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess

import parlance
import pytest

HEADER = (
    pathlib.Path(__file__).resolve().parents[3]
    / "include" / "parlance" / "version.h"
)


def test_package():
    numbers = re.findall(
        r"^#define PARLANCE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
        HEADER.read_text(),
        re.M,
    )
    assert parlance.__version__ == ".".join(numbers)


def test_installed():
    try:
        version = importlib.metadata.version("parlance")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("it is not installed: scripts/install package")
    assert parlance.__version__ == version
    files = importlib.metadata.files("parlance")
    names = {file.name for file in files if "licenses" in file.parts}
    assert {"LICENSE", "NOTICE"} <= names


def test_command():
    command = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
    if command is None:
        pytest.skip("no command: set PARLANCE_CLI, or PATH")
    output = subprocess.run(
        [command, "--version"], capture_output=True, check=True, text=True
    ).stdout
    assert output == f"parlance {parlance.__version__}\n"
