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


def test_the_sources_of_the_command_are_those_of_cmake(platforms):
    text = (ROOT / "cli" / "CMakeLists.txt").read_text()
    listed = re.search(r"add_library\(parlance_command OBJECT\s(.*?)\)", text, re.S)[1]
    compiled = [path for batch in platforms.command_batches() for path in batch]
    assert sorted(path.name for path in compiled) == sorted(listed.split())


def test_headers_are_rewritten_and_keep_their_time(platforms, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "src").mkdir(parents=True)
    (source / "src" / "a.h").write_text("#define A 1\n")
    (source / "src" / "a.c").write_text("int A;\n")

    def rewritten():
        platforms.rewrite(source, target, lambda name, text: f"// {name}\n{text}")
        return target / "src" / "a.h"

    first = rewritten()
    assert first.read_text() == "// a.h\n#define A 1\n"
    assert (target / "src" / "a.c").read_text() == "int A;\n"
    time = first.stat().st_mtime_ns
    assert rewritten().stat().st_mtime_ns == time
    (source / "src" / "a.h").write_text("#define A 2\n")
    assert rewritten().read_text() == "// a.h\n#define A 2\n"
