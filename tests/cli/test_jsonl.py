"""`parlance parse --jsonl`: stored generations."""

import json
import subprocess

import pytest


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def jsonl(items):
    return "".join(json.dumps(item) + "\n" for item in items)


@pytest.mark.parametrize("from_file", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_order(parlance, tmp_path, from_file, threads):
    # Some megabytes: several blocks for every thread.
    count = 20000
    items = [
        {"id": i, "response": f"<think>{'é' * (i % 97)}</think>{i}"}
        for i in range(count)
    ]
    text = jsonl(items)
    arguments = ["parse", "-f", "qwen3", "--jsonl", "--threads", threads]
    if from_file:
        (tmp_path / "in.jsonl").write_text(text)
        out, err = parlance(*arguments, "in.jsonl")
    else:
        out, err = parlance(*arguments, stdin=text)
    assert err == ""
    messages = lines_of(out)
    assert [m["content"] for m in messages] == [str(i) for i in range(count)]
    assert messages[50]["thinking"] == "é" * 50


def test_strings_objects_and_blank_lines(parlance):
    text = '"<think>a</think>b"\n\n  \r\n{"x": 1, "response": "c\\nd"}'
    out, err = parlance("parse", "-f", "qwen3", "--jsonl", stdin=text)
    assert err == ""
    assert lines_of(out) == [
        {"role": "assistant", "content": "b", "thinking": "a"},
        {"role": "assistant", "content": "c\nd"},
    ]


def test_key(parlance):
    out, _ = parlance(
        "parse", "-f", "qwen3", "--jsonl", "--key", "text",
        stdin=jsonl([{"text": "a", "response": "b"}]),
    )
    assert lines_of(out)[0]["content"] == "a"


def test_prefix_and_tools_of_a_line(parlance):
    tools = [
        {
            "type": "function",
            "function": {
                "name": "f",
                "parameters": {"properties": {"n": {"type": "integer"}}},
            },
        }
    ]
    call = (
        "<tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    out, _ = parlance(
        "parse", "-f", "qwen3_coder", "--jsonl",
        stdin=jsonl(
            [
                {"response": call, "tools": tools},
                {"response": call, "tools": None},
                {"response": "a</think>b", "prefix": "<think>"},
            ]
        ),
    )
    typed, untyped, prefixed = lines_of(out)
    values = [
        m["tool_calls"][0]["function"]["arguments"]["n"]
        for m in (typed, untyped)
    ]
    assert values == [7, "7"]
    assert prefixed["content"] in ("b", "a</think>b")


def test_bad_lines_are_named_and_have_rows(parlance):
    text = '"a"\nnope\n{"other": 1}\n"b"\n[1]\n{"response": "c", "prefix": 3}\n'
    out, err = parlance("parse", "-f", "qwen3", "--jsonl", stdin=text, status=1)
    rows = lines_of(out)
    assert [row.get("content") for row in rows] == ["a", None, None, "b", None, None]
    assert [row["error"]["code"] for row in rows if "error" in row] == [
        "invalid_json", "wrong_type", "wrong_type", "wrong_type",
    ]
    assert all(row["error"]["message"] for row in rows if "error" in row)
    assert [line.split(": ", 2)[1] for line in err.splitlines()] == [
        "line 2", "line 3", "line 5", "line 6",
    ]
    assert "(invalid_json)" in err
    assert "no string called 'response'" in err
    assert "this is an array" in err


def test_line_numbers_far_into_a_file(parlance, tmp_path):
    good = json.dumps("x" * 1000) + "\n"
    (tmp_path / "in.jsonl").write_text(
        good * 1500 + "oops\n" + good * 1500 + "{}\n"
    )
    out, err = parlance("parse", "-f", "qwen3", "--jsonl", "in.jsonl", status=1)
    assert len(out.splitlines()) == 3002
    assert [line.split(": ", 2)[1] for line in err.splitlines()] == [
        "line 1501", "line 3002",
    ]


def test_strict(parlance):
    text = jsonl(["<tool_call>{oops</tool_call>x", "y"])
    out, err = parlance("parse", "-f", "qwen3", "--jsonl", stdin=text)
    assert len(out.splitlines()) == 2
    # Text that is missing from a message is reported.
    assert err.startswith("parlance: line 1: warning: field 'tool_calls': ")
    assert len(err.splitlines()) == 1
    out, err = parlance(
        "parse", "-f", "qwen3", "--jsonl", "--strict", stdin=text, status=1
    )
    assert [m.get("content") for m in lines_of(out)] == [None, "y"]
    assert lines_of(out)[0]["error"]["code"] == "invalid_content"
    assert "line 1: " in err


def test_details(parlance):
    text = jsonl(
        ["a", "<tool_call>{oops</tool_call>x", "<think>b", 5, {"other": 1}]
    )
    out, err = parlance(
        "parse", "-f", "qwen3", "--jsonl", "--details", stdin=text, status=1
    )
    rows = lines_of(out)
    assert [list(row) for row in rows] == [
        [
            "message",
            "complete",
            "diagnostics",
            "error",
            "turn_ended",
            "attempted_calls",
            "prefix_bytes",
        ]
    ] * 5
    plain, _ = parlance("parse", "-f", "qwen3", "--jsonl", stdin=text, status=1)
    for row, message in zip(rows, lines_of(plain)):
        assert row["message"] == (None if row["error"] else message)
        assert row["error"] == message.get("error")
    assert [row["complete"] for row in rows] == [True, True, False, False, False]
    (found,) = rows[1]["diagnostics"]
    assert found["field"] == "tool_calls" and found["span"] == [11, 16]
    assert err.count("warning: ") == 1


def test_details_are_those_of_python(parlance):
    package = pytest.importorskip("parlance")
    texts = ["a", "<tool_call>{oops</tool_call>x", "<think>b", "</tool_call>", ""]
    texts += ["Hi.<|im_end|>", "Hi.<|im_end|>\n", "<think>b</thin"]
    texts += ['<tool_call>{"name": "f", "arguments": {"a', '<tool_call>{"arguments": {}}']
    out, _ = parlance(
        "parse", "-f", "qwen3", "--jsonl", "--details", stdin=jsonl(texts)
    )
    for row, text in zip(lines_of(out), texts):
        result = package.parse_response(text, "qwen3", prefix="", details=True)
        wanted = json.loads(json.dumps(result._asdict()))
        assert row == wanted


def test_chat(parlance):
    out, _ = parlance("parse", "-f", "qwen3", "--jsonl", "--chat", stdin='"a"')
    assert lines_of(out) == [{"role": "assistant", "content": "a"}]


def test_a_line_longer_than_a_block(parlance):
    long = "x" * 3_000_000
    out, _ = parlance("parse", "-f", "qwen3", "--jsonl", stdin=jsonl([long, "y"]))
    assert [m["content"] for m in lines_of(out)] == [long, "y"]


def test_empty_input(parlance, tmp_path):
    assert parlance("parse", "-f", "qwen3", "--jsonl") == ("", "")
    (tmp_path / "empty").write_text("")
    assert parlance("parse", "-f", "qwen3", "--jsonl", "empty") == ("", "")


def test_progress(parlance):
    _, err = parlance(
        "parse", "-f", "qwen3", "--jsonl", "--progress", "always", stdin='"a"\n'
    )
    assert err.startswith("1 row in ") and "/s" in err


def test_an_answer_does_not_wait_for_the_end(command):
    process = subprocess.Popen(
        [command, "parse", "-f", "qwen3", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for text in ("a", "b"):
        process.stdin.write(json.dumps(text).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["content"] == text
    process.stdin.close()
    assert process.wait(timeout=60) == 0


def test_attempted_calls_are_counted_by_status(parlance, tmp_path):
    texts = [
        '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {,}}</tool_call>' * 2,
        '<tool_call>{"name": "f", "arg',
        "Hi.<|im_end|>",
    ]
    _, err = parlance(
        *"parse -f qwen3 --jsonl -o out --errors errors".split(), stdin=jsonl(texts)
    )
    assert ", calls malformed: 2, calls cut off: 1, 1 cut off, 2 damaged" in err
    assert err.endswith(", 3 without end of turn\n")
    rows = lines_of((tmp_path / "errors").read_text())
    assert [[c["status"] for c in row["attempted_calls"]] for row in rows] == [
        ["malformed", "malformed"],
        ["cut_off"],
    ]
    assert [row["turn_ended"] for row in rows] == [False, False]


def test_events_have_attempts_if_asked(parlance):
    text = '<tool_call>{"name": "f", "arguments": {,}}</tool_call>'
    out, _ = parlance("parse", "-f", "qwen3", "--events", "--attempts", stdin=text)
    (event,) = [e for e in lines_of(out) if e["type"] == "call_attempt"]
    assert event["attempt"]["status"] == "malformed"
    assert event["attempt"]["text"] == text
    out, _ = parlance("parse", "-f", "qwen3", "--events", stdin=text)
    assert "call_attempt" not in out


def test_formats_of_lines(parlance):
    rows = [
        {"id": 0, "response": "<think>a</think>b", "family": "qwen3"},
        {"id": 1, "response": "[THINK]a[/THINK]b", "family": "magistral"},
        {"id": 2, "response": "<think>a</think>b"},
        {"id": 3, "response": "x", "family": "no such"},
        {"id": 4, "response": "x", "family": 4},
        {"id": 5, "response": "~c~", "family": json.dumps(
            {"start_anchor": "!", "fields": {"content": {"open": "~", "close": "~"}}}
        )},
    ]  # fmt: skip
    command = ("parse", "--jsonl", "--format-key", "family", "--id", "id")
    out, err = parlance(*command, "-f", "qwen3", stdin=jsonl(rows), status=1)
    found = lines_of(out)
    assert [row["message"] and row["message"]["content"] for row in found] == (
        ["b", "b", "b", None, None, "c"]
    )
    assert [row["message"]["thinking"] for row in found[:3]] == ["a"] * 3
    assert [row["error"]["code"] for row in found[3:5]] == ["unknown_format", "wrong_type"]
    assert "line 4" in err and "line 5" in err
    # Without --format, a row has to name one.
    out, err = parlance(*command, stdin=jsonl(rows[1:3]), status=1)
    assert lines_of(out)[0]["message"]["content"] == "b"
    assert "the row names no format as 'family'" in lines_of(out)[1]["error"]["message"]
    _, err = parlance("parse", "--jsonl", stdin="", status=2)
    assert "no format given" in err


def test_formats_of_lines_as_chat(parlance):
    rows = [{"response": "[THINK]a[/THINK]b", "f": "magistral"}]
    out, _ = parlance("parse", "--jsonl", "--format-key", "f", "--chat", stdin=jsonl(rows))
    assert lines_of(out) == [{"role": "assistant", "content": "b", "reasoning": "a"}]


def test_a_null_response_is_a_null_message(parlance):
    rows = [None, {"id": 7, "response": None}, "x"]
    out, err = parlance("parse", "-f", "qwen3", "--jsonl", stdin=jsonl(rows))
    assert (lines_of(out)[:2], err) == ([None, None], "")
    out, err = parlance(
        "parse", "-f", "qwen3", "--jsonl", "--id", "id", "--details", stdin=jsonl(rows[1:])
    )
    row = lines_of(out)[0]
    assert (row["id"], row["message"], row["error"], err) == (7, None, None, "")
    assert row["complete"] and row["diagnostics"] == row["attempted_calls"] == []
