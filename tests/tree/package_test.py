"""scripts/package: the same bytes whenever they are made, and their sums."""

import hashlib
import importlib
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "package"
FILES = {"p/bin/b": (b"program", True), "p/a": (b"text", False)}


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.syspath_prepend(SCRIPT.parent)
    module = importlib.import_module("load").script("package")
    monkeypatch.setattr(module, "DIST", tmp_path / "dist")
    return module


def test_an_archive_is_the_same_bytes_each_time(package):
    for suffix in (".tar.gz", ".zip"):
        path = package.DIST / f"p{suffix}"
        first = package.write_archive(path, FILES).read_bytes()
        turned = dict(reversed(FILES.items()))
        assert package.write_archive(path, turned).read_bytes() == first


def test_archives_hold_programs_as_programs(package):
    with tarfile.open(package.write_archive(package.DIST / "p.tar.gz", FILES)) as tar:
        assert [(e.name, e.mode, e.uid, e.mtime) for e in tar] == [
            ("p/a", 0o644, 0, 1700000000),
            ("p/bin/b", 0o755, 0, 1700000000),
        ]
        assert tar.extractfile("p/bin/b").read() == b"program"
    with zipfile.ZipFile(package.write_archive(package.DIST / "p.zip", FILES)) as z:
        assert [(e.filename, e.external_attr >> 16) for e in z.infolist()] == [
            ("p/a", 0o644),
            ("p/bin/b", 0o755),
        ]


def test_sums_are_those_of_the_files_that_are_there(package):
    first = package.write_archive(package.DIST / "a.tar.gz", FILES)
    second = package.write_archive(package.DIST / "b.zip", FILES)
    package.write_sums([first, second])
    second.unlink()
    third = package.write_archive(package.DIST / "c.zip", {})
    package.write_sums([third])
    lines = (package.DIST / "SHA256SUMS").read_text().splitlines()
    assert lines == [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in (first, third)
    ]


def test_kinds_are_listed_and_others_refused():
    listed = subprocess.run([SCRIPT, "--list"], capture_output=True, text=True)
    assert "command " in listed.stdout
    other = subprocess.run([SCRIPT, "nothing"], capture_output=True, text=True)
    assert other.returncode == 2 and "command" in other.stderr
