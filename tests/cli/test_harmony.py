"""`parlance harmony`: token ids of gpt-oss as messages."""

import base64
import json

import pytest

MARKERS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|call|>")


@pytest.fixture
def vocabulary(tmp_path):
    added = [
        {"id": 256 + i, "content": marker, "special": True}
        for i, marker in enumerate(MARKERS)
    ]
    model = {"type": "BPE", "vocab": {f"<0x{b:02X}>": b for b in range(256)}}
    tokenizer = {
        "model": model,
        "added_tokens": added,
        "decoder": {"type": "ByteFallback"},
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer))
    return path


def ids(*segments):
    out = []
    for segment in segments:
        if segment in MARKERS:
            out.append(256 + MARKERS.index(segment))
        else:
            out += segment.encode()
    return " ".join(map(str, out))


CALL = ids(
    "<|channel|>", "commentary to=functions.f json", "<|message|>",
    '{"x": 1}', "<|call|>",
)  # fmt: skip


def test_messages(parlance, vocabulary):
    out, err = parlance(
        "harmony", "--vocabulary", vocabulary, "--role", "assistant",
        stdin=CALL,
    )  # fmt: skip
    assert json.loads(out) == [
        {
            "role": "assistant",
            "channel": "commentary",
            "recipient": "functions.f",
            "content_type": "json",
            "content": '{"x": 1}',
            "end": "call",
        }
    ]
    assert err == ""


def test_a_message(parlance, vocabulary):
    command = ("harmony", "--vocabulary", vocabulary, "--role", "assistant")
    out, _ = parlance(*command, "--message", stdin=CALL)
    (call,) = json.loads(out)["tool_calls"]
    assert call["function"] == {"name": "f", "arguments": {"x": 1}}
    out, _ = parlance(*command, "--chat", stdin=CALL)
    (call,) = json.loads(out)["tool_calls"]
    assert call["function"] == {"name": "f", "arguments": '{"x": 1}'}


def test_events(parlance, vocabulary):
    out, _ = parlance(
        "harmony", "--vocabulary", vocabulary, "--events",
        stdin=ids("<|start|>", "user", "<|message|>", "é", "<|end|>"),
    )  # fmt: skip
    assert [json.loads(line) for line in out.splitlines()] == [
        {"type": "message_open", "index": 0, "role": "user"},
        {"type": "message_chunk", "index": 0, "text": "é"},
        {"type": "message_close", "index": 0, "end": "end"},
    ]


def test_damage(parlance, vocabulary):
    damaged = ids("<|start|>", "user Hi", "<|end|>")
    command = ("harmony", "--vocabulary", vocabulary)
    out, err = parlance(*command, stdin=damaged)
    assert json.loads(out)[0]["content"] == "Hi"
    assert "<stdin>: token 8" in err and "missing_message_marker" in err
    assert "warning" in err
    out, err = parlance(*command, "--strict", stdin=damaged, status=1)
    assert json.loads(out) == []
    assert "eos_in_header" in err and "error" in err


def test_arguments(parlance, vocabulary, tmp_path):
    _, err = parlance("harmony", stdin="", status=2)
    assert "--vocabulary" in err
    command = ("harmony", "--vocabulary", vocabulary)
    _, err = parlance(*command, "--role", "model", stdin="", status=2)
    assert "'model'" in err
    ranks = "".join(
        f"{base64.b64encode(bytes([b])).decode()} {b}\n" for b in range(256)
    )
    (tmp_path / "ranks.tiktoken").write_text(ranks)
    _, err = parlance(
        "harmony", "--vocabulary", "ranks.tiktoken", stdin="", status=2
    )
    assert "<|message|>" in err
