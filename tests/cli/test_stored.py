"""`parlance parse --jsonl`: several files, compression, columns of the output,
damaged rows, and runs that are interrupted."""

import gzip
import json
import random
import resource
import shutil
import signal
import subprocess

import pytest

QWEN = ("parse", "-f", "qwen3", "--jsonl")


def rows(count, begin=0):
    """Rows of which every tenth is damaged and every 25th cut off."""
    for i in range(begin, begin + count):
        text = f"<think>{'é' * (i % 97)}</think>{i}"
        if i % 10 == 0:
            text = f"<tool_call>{{oops</tool_call>{i}"
        if i % 25 == 1:
            text = f"<think>{i}"
        yield {"id": f"r{i}", "meta": {"n": [i, 1.5]}, "response": text}


def jsonl(items):
    return "".join(json.dumps(item) + "\n" for item in items)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def inputs(parlance, tmp_path):
    """Three files with 9000 rows: plain, gzip of two members, zstd or plain."""
    plain, packed, last = (jsonl(rows(3000, n)) for n in (0, 3000, 6000))
    (tmp_path / "a.jsonl").write_text(plain)
    half = packed.index("\n", len(packed) // 2) + 17
    data = packed.encode()
    (tmp_path / "b.jsonl.gz").write_bytes(
        gzip.compress(data[:half]) + gzip.compress(data[half:])
    )
    names = ["a.jsonl", "b.jsonl.gz", "c.jsonl"]
    if shutil.which("zstd"):
        (tmp_path / "c.jsonl.zst").write_bytes(
            subprocess.run(["zstd", "-c"], input=last.encode(), check=True,
                           capture_output=True).stdout
        )
        names[2] = "c.jsonl.zst"
    else:
        (tmp_path / "c.jsonl").write_text(last)
    return names


@pytest.mark.parametrize("from_file", [True, False])
def test_compressed_input_is_known_by_its_content(parlance, tmp_path, from_file):
    text = jsonl(rows(2000))
    want, _ = parlance(*QWEN, stdin=text)
    packed = gzip.compress(text.encode())
    if from_file:
        (tmp_path / "in").write_bytes(packed)
        out, _ = parlance(*QWEN, "in")
    else:
        out, _ = parlance(*QWEN, stdin=packed)
    assert out == want


@pytest.mark.parametrize("end", [".jsonl", ".gz", ".zst"])
def test_output_is_compressed_by_its_name(parlance, tmp_path, end):
    text = jsonl(rows(4000))
    (tmp_path / "in").write_text(text)
    want, _ = parlance(*QWEN, "in", "--key", "response")
    parlance(*QWEN, "in", "-o", "out" + end)
    data = (tmp_path / f"out{end}").read_bytes()
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob("*.journal"))
    if end == ".gz":
        assert gzip.decompress(data).decode() == want
    elif end == ".jsonl":
        assert data.decode() == want
    elif shutil.which("zstd"):
        out = subprocess.run(["zstd", "-dc"], input=data, check=True,
                             capture_output=True).stdout
        assert out.decode() == want
    # Messages as input: each row is an object without a response.
    again, _ = parlance(*QWEN, "out" + end, status=1)
    assert len(again.splitlines()) == 4000


@pytest.mark.parametrize("cut", [0.5, 0.999])
def test_compressed_input_that_ends_early(parlance, tmp_path, cut):
    data = gzip.compress(jsonl(rows(3000)).encode())
    (tmp_path / "in.gz").write_bytes(data[: int(len(data) * cut)])
    out, err = parlance(*QWEN, "in.gz", status=2)
    assert "parlance: in.gz: the file ends in the middle of its gzip data" in err
    (tmp_path / "bad.gz").write_bytes(data[:500] + b"\xff" * 100 + data[600:])
    _, err = parlance(*QWEN, "bad.gz", status=2)
    assert "parlance: bad.gz: the gzip data is damaged" in err


def test_several_files_are_one_output(parlance, inputs):
    out, err = parlance(*QWEN, "--id", "id", *inputs)
    assert [row["id"] for row in lines_of(out)] == [f"r{i}" for i in range(9000)]
    # Lines count from 1 in each file.
    assert f"parlance: {inputs[1]}: line 1: warning: " in err


def test_a_message_is_said_of_several_files_without_jsonl(parlance):
    _, err = parlance("parse", "-f", "qwen3", "a", "b", status=2)
    assert err == (
        "parlance: several files are stored responses: add --jsonl\n"
    )


def test_keep_id_and_message_key(parlance):
    text = jsonl([{"id": 12345678901234567890, "x": None, "response": "a", "message": 1},
                  "b", {"id": 2}])
    out, _ = parlance(*QWEN, "--id", "id", "--keep", "x,y", stdin=text, status=1)
    first, second, third = lines_of(out)
    message = {"role": "assistant", "content": "a"}
    assert first == {"id": 12345678901234567890, "x": None, "y": None, "message": message}
    assert second["id"] is None and second["message"]["content"] == "b"
    assert third["id"] == 2 and third["message"] is None
    assert third["error"]["code"] == "wrong_type"

    out, _ = parlance(*QWEN, "--keep", "*", "--message-key", "m", stdin=text, status=1)
    assert lines_of(out)[0] == {
        "id": 12345678901234567890, "x": None, "response": "a", "message": 1,
        "m": message,
    }
    out, _ = parlance(*QWEN, "--keep", "*", stdin=text, status=1)
    assert lines_of(out)[0]["message"] == message


def test_prefix_and_tools_of_a_row(parlance):
    text = jsonl([{"response": "a</think>b", "prompt": "<think>"},
                  {"response": "c", "prompt": None}])
    out, _ = parlance(*QWEN, "--prefix-key", "prompt", stdin=text)
    assert lines_of(out)[0]["thinking"] == "a"
    assert lines_of(out)[1]["content"] == "c"


def test_errors(parlance, tmp_path, inputs):
    _, err = parlance(
        *QWEN, *inputs, "--id", "id", "--errors", "errors.jsonl", "-o", "out.jsonl"
    )
    assert err.startswith("9,000 rows in ")
    assert err.endswith(", 360 cut off, 900 damaged\n")
    found = lines_of((tmp_path / "errors.jsonl").read_text())
    wanted = [i for i in range(9000) if i % 10 == 0 or i % 25 == 1]
    assert [row["id"] for row in found] == [f"r{i}" for i in wanted]
    for row, i in zip(found, wanted):
        assert (row["file"], row["row"]) == (inputs[i // 3000], i % 3000)
        assert row["line"] == row["row"] + 1
        assert row["complete"] == (i % 25 != 1) and row["error"] is None
        if i % 10 == 0:
            (one,) = row["diagnostics"]
            assert (one["code"], one["field"]) == ("invalid_content", "tool_calls")
            assert (one["offset"], one["end"]) == (11, 16)


def test_errors_of_rows_without_a_response(parlance, tmp_path):
    text = '"a"\n\n{"id": 7, "response"\n{"id": 8}\n'
    _, err = parlance(*QWEN, "--id", "id", "--errors", "e", stdin=text, status=1)
    assert err == ""
    first, second = lines_of((tmp_path / "e").read_text())
    assert (first["line"], first["row"], first["id"]) == (3, 1, None)
    assert first["error"]["code"] == "invalid_json" and "offset" in first["error"]
    assert (second["line"], second["row"], second["id"]) == (4, 2, 8)
    assert second["complete"] is False and second["diagnostics"] == []


def run_until(command, arguments, journal, lines):
    """Runs the command, but kills it when its journal has got this many lines.

    Returns its status, or None if it was killed.
    """
    process = subprocess.Popen(
        [command, *arguments], cwd=journal.parent,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        try:
            if journal.read_bytes().count(b"\n") >= lines:
                process.kill()
        except FileNotFoundError:
            pass
    return None if process.returncode < 0 else process.returncode


def plain(path):
    """The text of an output."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dc"], input=data, check=True,
                              capture_output=True).stdout
    return data


@pytest.mark.parametrize("end", ["jsonl", "gz", "zst"])
def test_a_killed_run_continues(command, parlance, tmp_path, inputs, end):
    if end == "zst" and not shutil.which("zstd"):
        pytest.skip("takes zstd")
    (tmp_path / "d.jsonl").write_text(jsonl(rows(20000, 9000)))
    arguments = [*QWEN, *inputs, "d.jsonl", "--id", "id", "--checkpoint", "0"]
    parlance(*arguments, "--errors", "want.errors", "-o", f"want.{end}")
    arguments += ["--errors", "got.errors", "-o", f"got.{end}", "--resume"]
    random.seed(end)
    journal = tmp_path / f"got.{end}.journal"
    killed = 0
    for attempt in range(5):
        there = journal.read_bytes().count(b"\n") if journal.exists() else 0
        lines = 10**9 if attempt == 4 else there + random.randint(1, 4)
        status = run_until(command, arguments, journal, lines)
        if status is not None:
            assert status == 0
            break
        if not journal.exists():
            continue
        killed += 1
        # What an interruption can leave behind what is recorded.
        for name, rest in ((f"got.{end}.part", b"\x1f\x8b half"),
                           ("got.errors.part", b'{"file":'),
                           (journal.name, b'{"file": 1, "off')):
            if (tmp_path / name).exists():
                with open(tmp_path / name, "ab") as out:
                    out.write(rest)
    assert killed > 0
    assert plain(tmp_path / f"got.{end}") == plain(tmp_path / f"want.{end}")
    assert (tmp_path / "got.errors").read_bytes() == (
        tmp_path / "want.errors"
    ).read_bytes()
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob("*.journal"))


def test_a_run_continues_from_every_place(command, parlance, tmp_path):
    # A long file: the journal has many lines.
    (tmp_path / "a").write_text(jsonl(rows(30000)))
    with gzip.open(tmp_path / "b", "wt") as out:
        out.write(jsonl(rows(12000, 30000)))
    arguments = [*QWEN, "a", "b", "--id", "id", "--checkpoint", "0",
                 "--errors", "errors", "-o", "out.gz"]
    parlance(*arguments)
    want = [plain(tmp_path / name) for name in ("out.gz", "errors")]

    # The same run, stopped by the limit of a file's size.
    sizes = []
    for name in ("out.gz", "errors"):
        sizes.append((tmp_path / name).stat().st_size)
        (tmp_path / name).unlink()
    limit = max(sizes) - 1
    stopped = subprocess.run(
        [command, *arguments], cwd=tmp_path, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert stopped.returncode == -signal.SIGXFSZ
    journal = (tmp_path / "out.gz.journal").read_text().splitlines(True)
    parts = [(tmp_path / f"{name}.part").read_bytes() for name in ("out.gz", "errors")]
    assert len(journal) > 10
    random.seed(7)
    places = random.sample(range(2, len(journal)), 6)
    for length in [1, *places, len(journal)]:
        (tmp_path / "out.gz.journal").write_text("".join(journal[:length]))
        for name, part in zip(("out.gz", "errors"), parts):
            (tmp_path / f"{name}.part").write_bytes(part)
            (tmp_path / name).unlink(missing_ok=True)
        _, err = parlance(*arguments, "--resume")
        assert err.startswith("42,000 rows ")
        assert err.endswith(", 1,680 cut off, 4,200 damaged\n")
        assert [plain(tmp_path / name) for name in ("out.gz", "errors")] == want


def test_what_is_there_is_not_written_over(parlance, tmp_path):
    (tmp_path / "in").write_text('"a"\n')
    parlance(*QWEN, "in", "-o", "out")
    _, err = parlance(*QWEN, "in", "-o", "out", status=2)
    assert err == "parlance: out exists; remove it, or name another file\n"
    _, err = parlance(*QWEN, "in", "-o", "out", "--resume")
    assert err == "parlance: out is complete\n"


def test_only_the_same_run_continues(parlance, tmp_path):
    data = gzip.compress(jsonl(rows(100)).encode())
    (tmp_path / "in").write_bytes(data[:-9] + b"\0" * 9)
    parlance(*QWEN, "in", "-o", "out", "--errors", "e", status=2)
    _, err = parlance(*QWEN, "in", "-o", "out", status=2)
    assert "continue it with --resume, or remove it and out.journal" in err
    _, err = parlance(*QWEN, "in", "-o", "out", "--keep", "id", "--resume", status=2)
    assert "begun with other options or inputs (--keep, --errors); " in err
    (tmp_path / "in").write_bytes(data + b"\0")
    _, err = parlance(*QWEN, "in", "-o", "out", "--errors", "e", "--resume", status=2)
    assert "options or inputs (the input files); " in err
    _, err = parlance(*QWEN, "-o", "new", "--resume", status=2)
    assert err == "parlance: --resume takes files as input, which can be read again\n"


def test_a_device_is_written_to(parlance):
    _, err = parlance(*QWEN, "-o", "/dev/null", stdin='"a"\n')
    assert err.startswith("1 row in ")
