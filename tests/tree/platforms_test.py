"""scripts/platforms writes the sources that CMake's build generates."""

import importlib
import pathlib
import re
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def platforms(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(ROOT / "scripts")
    module = importlib.import_module("load").script("platforms")
    monkeypatch.setattr(module, "OUT", tmp_path)
    return module


def test_the_generated_sources_are_complete(platforms):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    made = "".join(source.read_text() for (source,) in platforms.generated())
    for path in (ROOT / "formats").glob("*.json"):
        if path.name != "format.schema.json":
            assert f'"{path.stem}"' in made, path
    viewer = ROOT / "src" / "beside" / "explanation" / "viewer"
    assert (viewer / "viewer.css").read_text() in made
    for path in viewer.glob("*.js"):
        # Imports, and the word "export", are left out.
        for code in re.split(r"\nimport [^;]*;|\nexport ", "\n" + path.read_text()):
            assert code in made, path
