"""``python -m parlance parse``: Parquet files in, one row for each row out."""

import json
import os
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

CALL = '<tool_call>{"name": "f", "arguments": {'
PIECES = ["<think>", "</think>", "Zürich ", "<tool_call>", "</tool_call>", "x" * 30]
PIECES += [CALL, CALL + "}}</tool_call>", CALL + ",}}</tool_call>"]
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


def as_in_json(call):
    """An attempted call of a column, as the lines of errors have it."""
    call = dict(call)
    call["bytes"] = [call.pop("offset"), call.pop("end")]
    call["tokens"] = [call.pop("token_offset"), call.pop("token_end")]
    return call


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
            "turn_ended": message["turn_ended"],
            "attempted_calls": [as_in_json(call) for call in message["attempted_calls"]],
            "prefix_bytes": message["prefix_bytes"],
        }
        for row, message in enumerate(messages)
        if message
        and (
            message["diagnostics"]
            or not message["complete"]
            or any(call["status"] != "ok" for call in message["attempted_calls"])
        )
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
    for status in ("malformed", "cut_off"):
        count = sum(
            call["status"] == status
            for message in messages
            if message
            for call in message["attempted_calls"]
        )
        assert count > 0
        assert f"calls {status.replace('_', ' ')}: {count:,}" in said


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
    assert "--resume" in run(*arguments, "-f", "qwen3", status=2)
    said = run(*arguments, "-f", "hermes_qwen2_5", "--resume", status=2)
    assert "--format" in said
    parquet.write_table(table(10), files[0])
    said = run(*arguments, "-f", "qwen3", "--resume", status=2)
    assert "files" in said
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    said = run(files[0], "--key", "text", "-f", "qwen3", "-o", tmp_path / "full", status=2)
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
    assert said in run(*files, *arguments, "-o", tmp_path / "o", status=2)


def test_files_that_are_none(tmp_path):
    (tmp_path / "x.parquet").write_text("no Parquet")
    arguments = ["-f", "qwen3", "-o", tmp_path / "o"]
    for name in ("x.parquet", "no.parquet"):
        assert name in run(tmp_path / name, *arguments, status=2)
    said = run(tmp_path / "a.jsonl", tmp_path / "no.parquet", *arguments, status=2)
    assert "--jsonl" in said


# ---- Nothing is lost, mixed or taken for whole


def shards_of(out):
    return {one.name: one.read_bytes() for one in out.glob("*.parquet")}


def test_a_second_run_on_one_folder_is_refused(tmp_path):
    source = tmp_path / "in.parquet"
    parquet.write_table(table(60_000), source, row_group_size=2000)
    out = tmp_path / "out"
    arguments = [source, "-f", "qwen3", "--key", "text", "-o", out, "--resume"]
    first = subprocess.Popen(
        command(*arguments, "--threads", 1), stderr=subprocess.PIPE
    )
    try:
        until = time.monotonic() + 60
        while not list(out.glob("in-*.parquet")):
            assert first.poll() is None and time.monotonic() < until
            time.sleep(0.001)
        first.send_signal(signal.SIGSTOP)  # so that it cannot end meanwhile
        for more in ([], ["--threads", 1]):
            said = run(*arguments, *more, status=2)
            assert "another run writes to" in said
        first.send_signal(signal.SIGCONT)
        assert first.wait(120) == 0
    finally:
        first.kill()
        first.communicate()
    assert "(30 were there)" in run(*arguments)
    assert parquet.read_table(out).num_rows == 60_000


DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "empty": lambda path: path.write_bytes(b""),
    "a byte": lambda path: path.write_bytes(
        path.read_bytes()[:100] + b"?" + path.read_bytes()[101:]
    ),
    "gone": lambda path: path.unlink(),
    "a link": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "another": lambda path: path.write_bytes(
        path.with_name(path.name.replace("00001", "00000")).read_bytes()
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("what", ["b-00001.parquet", "_errors/b-00001.jsonl"])
def test_what_is_damaged_is_made_again(files, tmp_path, damage, what):
    out = tmp_path / "out"
    errors = tmp_path / "errors.jsonl"
    arguments = [
        *files, "-f", "qwen3", "--key", "text", "-o", out, "--errors", errors, "--resume"
    ]
    run(*arguments)
    before, lines = shards_of(out), errors.read_bytes()
    DAMAGE[damage](out / what)
    assert "(3 were there)" in run(*arguments)
    assert (shards_of(out), errors.read_bytes()) == (before, lines)


def test_names_of_parts_are_not_followed(files, tmp_path):
    out = tmp_path / "out"
    arguments = [*files, "-f", "qwen3", "--key", "text", "-o", out]
    run(*arguments)
    whole = shards_of(out)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (out / "b-00001.parquet").unlink()
    for name in ("_part-b-00001.parquet", "_part-_parlance.json"):
        (out / name).symlink_to(victim)
    (out / "_errors" / "_part-b-00001.jsonl").symlink_to(victim)
    run(*arguments, "--resume")
    assert victim.read_text() == "precious"
    assert shards_of(out) == whole
    assert not list(out.rglob("_part*"))


def vocabulary_file(path, tokens):
    """A tokenizer.json of tokens of one letter."""
    end = {"id": len(tokens), "content": "<|im_end|>", "special": True}
    model = {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)}, "merges": []}
    path.write_text(
        json.dumps(
            {"model": model, "added_tokens": [end], "decoder": {"type": "ByteLevel"}}
        )
    )


def test_the_manifest_knows_contents(tmp_path):
    source, out = tmp_path / "ids.parquet", tmp_path / "out"
    tools, saved = tmp_path / "tools.json", tmp_path / "tokenizer.json"
    template = tmp_path / "format.json"
    vocabulary_file(saved, "ab")
    tools.write_text('[{"type": "function", "function": {"name": "f"}}]')
    template.write_text(json.dumps(parlance.Format("qwen3").template))
    ids = pyarrow.table({"ids": pyarrow.array([[0, 1, 0, 2]] * 8, pyarrow.list_(pyarrow.int32()))})
    parquet.write_table(ids, source, row_group_size=4)
    arguments = [
        source, "-f", template, "--key", "ids", "--vocabulary", saved,
        "--tools", tools, "-o", out, "--resume",
    ]  # fmt: skip
    run(*arguments)
    whole = shards_of(out)
    contents = {one: one.read_bytes() for one in (source, tools, saved, template)}

    def refused(what):
        (out / "ids-00001.parquet").unlink(missing_ok=True)
        assert what in run(*arguments, status=2)
        for path, content in contents.items():
            path.write_bytes(content)
        assert "(1 were there)" in run(*arguments)
        assert shards_of(out) == whole

    # Same names, same sizes, same numbers of rows.
    vocabulary_file(saved, "ba")
    assert len(saved.read_bytes()) == len(contents[saved])
    refused("--vocabulary")
    tools.write_text(tools.read_text().replace('"f"', '"g"'))
    refused("--tools")
    other = pyarrow.table({"ids": pyarrow.array([[1, 0, 1, 2]] * 8, pyarrow.list_(pyarrow.int32()))})
    parquet.write_table(other, source, row_group_size=4)
    refused("files")
    template.write_text(json.dumps(parlance.Format("hermes").template))
    refused("--format")


@pytest.mark.parametrize("key", ["./in.parquet", "link.parquet", "hard.parquet"])
def test_an_input_is_not_written(tmp_path, key):
    source = tmp_path / "in.parquet"
    parquet.write_table(table(20), source)
    (tmp_path / "link.parquet").symlink_to(source)
    os.link(source, tmp_path / "hard.parquet")
    before = source.read_bytes()
    arguments = [source, "-f", "qwen3", "--key", "text", "-o", tmp_path / "out"]
    said = run(*arguments, "--errors", f"{tmp_path}/{key}", status=2)
    assert "is the input" in said
    assert source.read_bytes() == before
    assert "are the same file" in run(tmp_path / key, *arguments, status=2) or key[0] == "."
    said = run(*arguments, "--errors", tmp_path / "out" / "in-00000.parquet", status=2)
    assert "lies in the output folder" in said


def test_a_file_of_errors_is_not_replaced(files, tmp_path):
    errors, target = tmp_path / "errors.jsonl", tmp_path / "target.jsonl"
    errors.write_text("precious")
    arguments = [*files, "-f", "qwen3", "--key", "text"]
    said = run(*arguments, "-o", tmp_path / "a", "--errors", errors, status=2)
    assert "exists" in said and errors.read_text() == "precious"
    errors.unlink()
    run(*arguments, "-o", tmp_path / "b", "--errors", errors)
    target.write_bytes(errors.read_bytes())
    # The same run may write it again, through a link and with its permissions.
    os.chmod(errors, 0o640)
    again = [*arguments, "-o", tmp_path / "b", "--errors", errors, "--resume"]
    run(*again)
    assert errors.stat().st_mode & 0o777 == 0o640
    assert errors.read_bytes() == target.read_bytes()
    # What is no file is written in place.
    process = subprocess.run(
        command(*arguments, "-o", tmp_path / "c", "--errors", "/dev/stdout"),
        capture_output=True,
    )
    assert process.stdout == target.read_bytes()


def test_an_input_that_changes_is_an_error(tmp_path):
    source = tmp_path / "in.parquet"
    parquet.write_table(table(40_000), source, row_group_size=2000)
    out = tmp_path / "out"
    process = subprocess.Popen(
        command(source, "-f", "qwen3", "--key", "text", "-o", out, "--threads", 1),
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 60
    while not list(out.glob("in-*.parquet")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    with open(source, "r+b") as file:
        file.seek(1000)
        file.write(b"x")
    process.send_signal(signal.SIGCONT)
    said = process.communicate()[1].decode()
    assert process.returncode == 2 and "Traceback" not in said, said


def test_columns_of_one_name(tmp_path):
    text = pyarrow.array(["a", "b"])
    source = tmp_path / "in.parquet"
    parquet.write_table(
        pyarrow.Table.from_arrays([text, text, text], names=["x", "x", "text"]), source
    )
    arguments = [source, "-f", "qwen3", "-o", tmp_path / "out"]
    for more in (["--key", "x"], ["--key", "text", "--keep", "*"]):
        assert "has 2 columns 'x'" in run(*arguments, *more, status=2)
    run(*arguments, "--key", "text")


def test_a_parse_reads_the_vocabulary_that_is_there(tmp_path):
    from parlance.integrations.arrow import Parse

    path = tmp_path / "tokenizer.json"
    ids = pyarrow.table({"text": pyarrow.array([[0, 1]], pyarrow.list_(pyarrow.int32()))})

    def content():
        parse = Parse("qwen3", vocabulary=path)
        return [parse(ids)["message"].to_pylist()[0]["content"] for _ in range(2)]

    vocabulary_file(path, "ab")
    assert content() == ["ab", "ab"]
    fresh = tmp_path / "fresh.json"
    vocabulary_file(fresh, "ba")
    os.replace(fresh, path)
    assert content() == ["ba", "ba"]
