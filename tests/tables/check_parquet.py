"""``python -m parlance parse``: Parquet files in, one row for each row out."""

import json
import random
import re
import signal
import subprocess
import sys
import time

import parlance
import pyarrow
import pyarrow.parquet as parquet
import pytest

PIECES = ["<think>", "</think>", "Zürich ", "<tool_call>", "</tool_call>", "x" * 30]
SCHEMA = pyarrow.schema([("id", "string"), ("score", "double"), ("text", "string")])


def table(rows, seed=1):
    draw = random.Random(seed)
    texts = [
        None
        if draw.random() < 0.05
        else "".join(draw.choices(PIECES, k=draw.randrange(8)))
        for _ in range(rows)
    ]
    return pyarrow.table(
        {
            "id": [f"{seed}-{row}" for row in range(rows)],
            "score": [row / 2 for row in range(rows)],
            "text": texts,
        },
        SCHEMA,
    )


@pytest.fixture
def files(tmp_path):
    """Two files, of several row groups and of none."""
    paths = [tmp_path / "b.parquet", tmp_path / "a.parquet"]
    parquet.write_table(table(2500), paths[0], row_group_size=1000)
    parquet.write_table(table(0, seed=2), paths[1])
    return paths


def command(*arguments):
    return [sys.executable, "-m", "parlance", "parse", *map(str, arguments)]


def run(*arguments, status=0):
    done = subprocess.run(command(*arguments), capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def expected(given):
    messages = parlance.parse_arrow(given["text"], "qwen3")
    return pyarrow.chunked_array(messages).to_pylist()


def test_every_row_has_a_row(files, tmp_path):
    out = tmp_path / "out"
    errors = tmp_path / "errors.jsonl"
    said = run(
        *files, "-f", "qwen3", "--key", "text", "--keep", "score,text",
        "--id", "id", "-o", out, "--errors", errors,
    )
    names = sorted(one.name for one in out.glob("*.parquet"))
    assert names == [
        "a-00000.parquet", "b-00000.parquet", "b-00001.parquet", "b-00002.parquet"
    ]
    given = table(2500)
    got = parquet.read_table(out)
    assert got.column_names == ["id", "score", "text", "message"]
    assert got.select(["id", "score", "text"]) == given
    messages = expected(given)
    assert got["message"].to_pylist() == messages
    # The summary and the lines say the same of the damage.
    lines = [json.loads(line) for line in errors.read_text().splitlines()]
    unsound = [
        {
            "file": "b.parquet",
            "row": row,
            "id": f"1-{row}",
            "complete": message["complete"],
            "diagnostics": message["diagnostics"],
        }
        for row, message in enumerate(messages)
        if message and (message["diagnostics"] or not message["complete"])
    ]
    assert lines == unsound
    counts = {
        "null": sum(message is None for message in messages),
        "cut off": sum(bool(m) and not m["complete"] for m in messages),
        "damaged": sum(bool(m) and bool(m["diagnostics"]) for m in messages),
    }
    assert said.startswith("2,500 rows in 4 files, ")
    for what, count in counts.items():
        assert count > 0
        assert f"{count:,} {what}" in said


def test_resume_after_a_kill(tmp_path):
    """Killed at any time, the run continues to what an undisturbed one makes."""
    source = tmp_path / "in.parquet"
    given = table(40_000)
    parquet.write_table(given, source, row_group_size=2000)
    out = tmp_path / "out"
    errors = tmp_path / "errors.jsonl"
    arguments = [
        source, "-f", "qwen3", "--key", "text", "--keep", "*", "-o", out,
        "--errors", errors, "--threads", 1, "--resume",
    ]
    kills = 0
    for stop in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL, signal.SIGTERM):
        process = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE)
        before = len(list(out.glob("in-*.parquet")))
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            if len(list(out.glob("in-*.parquet"))) >= before + 2:
                process.send_signal(stop)
                break
            time.sleep(0.001)
        said = process.communicate()[1].decode()
        if stop == signal.SIGINT and process.returncode == 130:
            assert "--resume" in said
            assert not list(out.glob("_part*"))
        kills += process.returncode != 0
    assert kills >= 1, "the machine is too fast for this test"
    said = run(*arguments)
    assert re.match(r"40,000 rows in 20 files", said)
    assert len(list(out.glob("in-*.parquet"))) == 20
    got = parquet.read_table(out)
    assert got.select(given.column_names) == given
    messages = expected(given)
    assert got["message"].to_pylist() == messages
    rows = [json.loads(line)["row"] for line in errors.read_text().splitlines()]
    assert rows == [
        row
        for row, message in enumerate(messages)
        if message and (message["diagnostics"] or not message["complete"])
    ]
    # Nothing is left to do.
    assert "(20 were there)" in run(*arguments)


def test_another_run_is_not_continued(files, tmp_path):
    out = tmp_path / "out"
    arguments = [*files, "--key", "text", "-o", out]
    run(*arguments, "-f", "qwen3")
    assert "--resume" in run(*arguments, "-f", "qwen3", status=1)
    said = run(*arguments, "-f", "hermes_qwen2_5", "--resume", status=1)
    assert "--format" in said
    parquet.write_table(table(10), files[0])
    said = run(*arguments, "-f", "qwen3", "--resume", status=1)
    assert "files" in said
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    said = run(files[0], "--key", "text", "-f", "qwen3", "-o", tmp_path / "full", status=1)
    assert "not empty" in said


def test_progress(files, tmp_path):
    said = run(
        files[0], "-f", "qwen3", "--key", "text", "-o", tmp_path / "o",
        "--progress", "always",
    )
    assert re.search(r"100%  2,500 rows  [\d,]+/s  0 s left", said)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["-f", "qwen3"], "has no column 'response'; it has 'id', 'score', 'text'"),
        (["-f", "qwen33", "--key", "text"], "Similar names: 'qwen3'"),
        (["--key", "text"], "format"),
        (["-f", "qwen3", "--key", "text", "--keep", "idd"], "no column 'idd'"),
        (["-f", "qwen3", "--key", "score"], "type"),
    ],
)
def test_errors(files, tmp_path, arguments, said):
    assert said in run(*files, *arguments, "-o", tmp_path / "o", status=1)


def test_files_that_are_none(tmp_path):
    (tmp_path / "x.parquet").write_text("no Parquet")
    for name, said in (
        ("x.parquet", "x.parquet"), ("no.parquet", "no.parquet"), ("a.jsonl", "--jsonl")
    ):
        assert said in run(tmp_path / name, "-f", "qwen3", "-o", tmp_path / "o", status=1)
