"""`parlance parse`: messages, events, chat messages, token ids."""

import json
import os
import re
import subprocess

import pytest

RESPONSE = "<think>Bern, then.</think>It is sunny."
MESSAGE = {
    "role": "assistant",
    "thinking": "Bern, then.",
    "content": "It is sunny.",
}
CALL = (
    'Look.<tool_call>{"name": "get", "arguments": {"é": [1, 2.5]}}'
    "</tool_call><|im_end|>"
)
TEMPLATE = {
    "start_anchor": "<s>",
    "fields": {
        "thinking": {"open": "<t>", "close": "</t>", "content": "text"},
        "data": {"open": "<d>", "close": "</d>", "content": "json"},
        "content": {"content": "text"},
    },
}


def test_message_is_one_line(parlance):
    out, err = parlance("parse", "--format", "qwen3", stdin=RESPONSE)
    assert out == json.dumps(MESSAGE) + "\n"
    assert err == ""


def test_from_a_file(parlance, tmp_path):
    (tmp_path / "response.txt").write_text(RESPONSE)
    out, _ = parlance("parse", "response.txt", "-f", "qwen3")
    assert json.loads(out) == MESSAGE


def test_dash_is_standard_input(parlance):
    out, _ = parlance("parse", "-", "-f", "qwen3", stdin=RESPONSE)
    assert json.loads(out) == MESSAGE


def test_pretty_and_compact(parlance):
    out, _ = parlance("parse", "-f", "qwen3", "--pretty", stdin=RESPONSE)
    assert out == json.dumps(MESSAGE, indent=2) + "\n"
    out, _ = parlance("parse", "-f", "qwen3", "--compact", stdin=RESPONSE)
    assert out == json.dumps(MESSAGE, separators=(",", ":")) + "\n"


def test_colours_are_only_added(parlance):
    plain, _ = parlance("parse", "-f", "qwen3", stdin=CALL)
    coloured, _ = parlance(
        "parse", "-f", "qwen3", "--color", "always", stdin=CALL
    )
    assert "\x1b[" not in plain and "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_utf8_is_written_as_it_is(parlance):
    out, _ = parlance("parse", "-f", "qwen3", stdin="Zürich 東京")
    assert "Zürich 東京" in out


def test_bytes_that_are_not_utf8(parlance):
    out, _ = parlance("parse", "-f", "qwen3", stdin=b"a\xff\x00b\xc3")
    assert json.loads(out)["content"] == "a\ufffd\0b\ufffd"


def test_prefix(parlance, tmp_path):
    out, _ = parlance(
        "parse", "-f", "qwen3", "--prefix", "<think>", stdin="a</think>b"
    )
    assert json.loads(out)["thinking"] == "a"
    (tmp_path / "prompt").write_text("x<|im_start|>assistant\n<think>")
    again, _ = parlance(
        "parse", "-f", "qwen3", "--prefix-file", "prompt", stdin="a</think>b"
    )
    assert again == out


def test_template(parlance, tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(TEMPLATE))
    out, _ = parlance("parse", "--template", "t.json", stdin="<t>a</t>b")
    assert json.loads(out) == {"thinking": "a", "content": "b"}


def test_a_bare_template_is_strict(parlance, tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(TEMPLATE))
    arguments = ["parse", "--template", "t.json"]
    out, err = parlance(*arguments, stdin="<d>{oops</d>b", status=1)
    assert out == ""
    assert "response: error: " in err and "--recover" in err
    out, err = parlance(*arguments, "--recover", stdin="<d>{oops</d>b")
    assert json.loads(out)["content"] == "b"
    assert "response: warning: " in err and "bytes 3..8 of data" in err


def test_strict(parlance):
    damaged = "<tool_call>{oops</tool_call>x"
    out, err = parlance("parse", "-f", "qwen3", stdin=damaged)
    assert json.loads(out)["content"] == "x" and "warning" in err
    out, err = parlance("parse", "-f", "qwen3", "--strict", stdin=damaged, status=1)
    assert out == "" and "error" in err


def test_tools_type_arguments(parlance, demo):
    arguments = ["parse", "-f", "qwen3_coder", demo / "qwen3_coder.txt"]
    out, _ = parlance(*arguments)
    untyped = json.loads(out)["tool_calls"][0]["function"]["arguments"]
    out, _ = parlance(*arguments, "--tools", demo / "qwen3_coder.tools.json")
    typed = json.loads(out)["tool_calls"][0]["function"]["arguments"]
    assert isinstance(untyped["locations"], str)
    assert typed["locations"] == [{"country": "France", "city": "Paris"}]


def test_chat(parlance):
    out, _ = parlance(
        "parse", "-f", "qwen3", "--chat", stdin="<think>hm</think>" + CALL
    )
    assert json.loads(out) == {
        "role": "assistant",
        "content": "Look.",
        "reasoning": "hm",
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "index": 0,
                "function": {"name": "get", "arguments": '{"é": [1, 2.5]}'},
            }
        ],
    }


def test_chat_without_text_has_null_content(parlance):
    out, _ = parlance(
        "parse", "-f", "qwen3", "--chat", stdin=CALL.removeprefix("Look.")
    )
    assert json.loads(out)["content"] is None


def test_chat_leaves_out_a_call_that_is_cut(parlance):
    cut = CALL[: CALL.index("2.5")]
    out, _ = parlance("parse", "-f", "qwen3", "--chat", stdin=cut)
    assert "tool_calls" not in json.loads(out)
    # Only the marker after a complete call is missing.
    complete = CALL[: CALL.index("</tool_call>")]
    out, _ = parlance("parse", "-f", "qwen3", "--chat", stdin=complete)
    assert len(json.loads(out)["tool_calls"]) == 1


def events(text):
    return [json.loads(line) for line in text.splitlines()]


def test_events(parlance):
    out, _ = parlance("parse", "-f", "qwen3", "--events", stdin=RESPONSE)
    assert [(e["type"], e["field"]) for e in events(out)] == [
        ("region_open", "thinking"),
        ("region_chunk", "thinking"),
        ("region_close", "thinking"),
        ("region_open", "content"),
        ("region_chunk", "content"),
        ("region_close", "content"),
    ]
    assert events(out)[1] == {
        "type": "region_chunk",
        "field": "thinking",
        "text": "Bern, then.",
        "dirty": False,
        "start": 7,
        "end": 18,
    }
    assert events(out)[2]["value"] == "Bern, then."


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_events_in_chunks(parlance, chunk):
    out, _ = parlance(
        "parse", "-f", "qwen3", "--events", "--chunk", chunk, stdin=CALL
    )
    text = {}
    for event in events(out):
        if event["type"] == "region_chunk":
            text[event["field"]] = text.get(event["field"], "") + event["text"]
    assert text["content"] == "Look."
    assert json.loads(text["tool_calls"])["name"] == "get"


@pytest.mark.parametrize("options", [(), ("--chunk", "2")])
def test_events_are_written_as_the_input_comes(options, command):
    with subprocess.Popen(
        [command, "parse", "-f", "qwen3", "--events", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        process.stdin.write(b"<think>Bern, ")
        process.stdin.flush()
        opened, chunk = (json.loads(process.stdout.readline()) for _ in range(2))
        assert (opened["type"], opened["field"]) == ("region_open", "thinking")
        assert "Bern, ".startswith(chunk["text"])
        out, _ = process.communicate(b"then.</think>It is sunny.")
    assert events(out)[-1]["value"] == "It is sunny."
    assert process.returncode == 0


VOCABULARY = {
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "<": 2}, "merges": []},
    "added_tokens": [
        {"id": 3, "content": "<think>", "special": True},
        {"id": 4, "content": "</think>", "special": True},
    ],
    "decoder": {"type": "ByteLevel"},
}


@pytest.mark.parametrize("ids", ["3 0 0 4\n1", "[3, 0, 0, 4, 1]"])
def test_ids(parlance, tmp_path, ids):
    (tmp_path / "v.json").write_text(json.dumps(VOCABULARY))
    arguments = ["-f", "qwen3", "--vocabulary", "v.json", "--ids"]
    out, _ = parlance("parse", *arguments, stdin=ids)
    assert json.loads(out)["thinking"] == "aa"
    assert json.loads(out)["content"] == "b"
    out, _ = parlance("parse", *arguments, "--events", stdin=ids)
    assert [e["tokens"] for e in events(out)[:3]] == [[0, 1], [1, 3], [3, 4]]
    out, _ = parlance("explain", *arguments, stdin=ids)
    assert out.splitlines()[0].split() == ["bytes", "tokens", "what", "text"]
    assert out.splitlines()[2].split()[:2] == ["7..9", "1..3"]


def test_markers(parlance, tmp_path):
    # "<", "think" and ">" in ordinary tokens.
    model = {"type": "BPE", "vocab": {"<": 0, "think": 1, ">": 2, "a": 5}, "merges": []}
    (tmp_path / "v.json").write_text(json.dumps({**VOCABULARY, "model": model}))
    arguments = ["parse", "-f", "qwen3", "--vocabulary", "v.json", "--ids"]
    for markers, field in (
        ("token", "content"), ("either", "thinking"), ("text", "thinking"),
    ):
        out, _ = parlance(*arguments, "--markers", markers, stdin="0 1 2 5")
        assert field in json.loads(out)
    _, err = parlance(*arguments, "--markers", "special", stdin="0", status=2)
    assert "special" in err


def test_ids_that_are_none(parlance, tmp_path):
    (tmp_path / "v.json").write_text(json.dumps(VOCABULARY))
    _, err = parlance(
        "parse", "-f", "qwen3", "--vocabulary", "v.json", "--ids",
        stdin="3 x7", status=2,
    )
    assert '"x7" at byte 2' in err


def test_auto_finds_a_built_in_format(parlance, tmp_path):
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "chat_template": "<|im_start|>assistant\n<think></think>"
                "<tool_call>\n{\"name\": x, \"arguments\": y}</tool_call>",
                "added_tokens_decoder": {
                    str(i): {"content": token}
                    for i, token in enumerate(
                        ["<|im_start|>", "<|im_end|>", "<think>", "</think>",
                         "<tool_call>", "</tool_call>"]
                    )
                },
            }
        )
    )
    out, err = parlance("parse", "--format", "auto", stdin=RESPONSE)
    assert json.loads(out)["content"] == "It is sunny."
    assert err.startswith("parlance: using format ")


def test_auto_prefers_the_models_own_template(parlance, tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"response_template": TEMPLATE})
    )
    out, err = parlance(
        "parse", "-f", "auto", "--tokenizer-config", "config.json",
        stdin="<t>a</t>b",
    )
    assert json.loads(out) == {"thinking": "a", "content": "b"}
    assert err == "parlance: using the response template in config.json\n"


@pytest.mark.parametrize("settings", [{}, {"add_bos_token": True}])
def test_a_tokenizer_configuration_is_what_it_says_of_responses(
    parlance, tmp_path, settings
):
    template = {
        "start_anchor": "A:",
        "fields": {"content": {}, "thinking": {"open": "<t>", "close": "</t>"}},
    }
    schema = {
        "type": "object",
        "properties": {"thinking": {"type": "string", "x-regex": "<t>(.*?)</t>"}},
    }
    path = tmp_path / "tokenizer_config.json"
    path.write_text(
        json.dumps(
            settings | {"response_template": template, "response_schema": schema}
        )
    )
    out, _ = parlance("parse", "-t", path.name, stdin="<t>a</t>b")
    assert json.loads(out) == {"thinking": "a", "content": "b"}
    out, _ = parlance("explain", "-t", path.name, stdin="<t>a</t>b")
    assert "thinking" in out
    _, err = parlance("check", path.name)
    assert err == "" or "2 descriptions" in err
    path.write_text(json.dumps(settings | {"response_schema": schema}))
    out, _ = parlance("convert", path.name)
    assert "fields" in json.loads(out)
    # It has neither: the error says what was looked for.
    path.write_text(json.dumps({"add_bos_token": True}))
    for arguments in (["parse", "-t"], ["explain", "-t"], ["check"]):
        out, err = parlance(
            *arguments, path.name, stdin="a", status=1 if arguments == ["check"] else 2
        )
        assert 'neither an object "response_template" nor' in out + err


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["parse"], "no format given"),
        (["parse", "-f", "qwn3"], "'qwen3'"),
        (["parse", "-f", "auto"], "tokenizer_config.json"),
        (["parse", "-f", "qwen3", "absent.txt"], "absent.txt"),
        (["parse", "-f", "qwen3", "--chunk", "3"], "--chunk requires --events"),
        (["parse", "-f", "qwen3", "--color", "blue"], "--color"),
        (["parse", "--no-such-option"], "--no-such-option"),
        (["no-such-command"], "no-such-command"),
        ([], "Usage: parlance"),
    ],
)
def test_usage_errors(parlance, arguments, words):
    out, err = parlance(*arguments, status=2)
    assert out == "" and words in err


def test_a_broken_template_is_shown(parlance, tmp_path):
    (tmp_path / "t.json").write_text('{"fields": {"x": 3}, "start_anchor": "s"}')
    _, err = parlance("parse", "-t", "t.json", status=2)
    assert err.startswith("parlance: t.json:1:")
    assert "/fields/x" in err and "^" in err


def test_version_and_help(parlance):
    out, _ = parlance("--version")
    assert out.startswith("parlance 0.")
    out, _ = parlance("--help")
    assert "Examples:" in out
    for name in ("parse", "watch", "explain", "check", "formats"):
        assert name in out
        text, _ = parlance(name, "--help")
        assert "Examples:" in text
        assert max(map(len, text.splitlines())) <= 80


def test_nobody_reads(command):
    process = subprocess.Popen(
        [command, "formats", "gpt_oss"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(timeout=60)


@pytest.mark.parametrize("command_name", ["parse", "watch", "explain"])
@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "9" * 30])
def test_chunk_is_a_number_from_one_on(parlance, command_name, number):
    arguments = ["-f", "qwen3", f"--chunk={number}"]
    if command_name == "parse":
        arguments.append("--events")
    _, err = parlance(command_name, *arguments, stdin="a", status=2)
    assert f"it must be a whole number greater than 0, not {number}" in err
    assert len(err) < 300


def test_an_unknown_format_names_the_others(parlance):
    _, err = parlance("parse", "-f", "nosuch", stdin="a", status=2)
    assert "no built-in format is called 'nosuch'" in err
    assert "qwen3_coder" in err and "::" not in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["parse", "--help"], ["formats"]]
)
def test_output_that_cannot_be_written(command, arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [command, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == (
        b"parlance: cannot write to standard output: No space left on device\n"
    )
