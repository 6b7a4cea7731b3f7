"""HarmonyParser: events, messages and errors as Python sees them."""

import pytest

import conformance
import parlance
from chat_templates import Missing, fetched

MARKERS = (
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|call|>",
    "<|return|>",
    "<|endoftext|>",
)
SMALL = parlance.Vocabulary(
    [bytes([b]) for b in range(256)] + [m.encode() for m in MARKERS],
    control_ids=range(256, 256 + len(MARKERS)),
)


def encode(segments, vocabulary=SMALL):
    """Segments as ids: a str that is a marker, any other str, bytes."""
    ids = []
    for segment in segments:
        if segment in MARKERS:
            ids.append(vocabulary.special(segment))
        else:
            ids += segment.encode() if isinstance(segment, str) else segment
    return ids


CALL = encode(
    ["<|channel|>", "analysis", "<|message|>", "Hm. é", "<|end|>"]
    + ["<|start|>", "assistant", "<|channel|>"]
    + ["commentary to=functions.get ", "<|constrain|>", "json"]
    + ["<|message|>", '{"city": "Bern"}', "<|call|>"]
)


def test_messages():
    parser = parlance.HarmonyParser(SMALL, role="assistant")
    parser.feed(CALL)
    first, second = parser.finalize()
    assert first == {
        "role": "assistant",
        "name": None,
        "channel": "analysis",
        "recipient": None,
        "content_type": None,
        "content": "Hm. é",
        "end": "end",
        "tokens": (0, 17),
        "content_tokens": (10, 16),
    }
    assert second["recipient"] == "functions.get"
    assert second["content_type"] == "<|constrain|>json"
    assert second["end"] == "call"
    assert parser.messages == [first, second]
    assert parser.diagnostics == []
    assert parser.final_events == []


def test_events_one_by_one():
    parser = parlance.HarmonyParser(SMALL, role="assistant")
    events = [event for id in CALL for event in parser.feed([id])]
    parser.finalize()
    assert [event["type"] for event in events if "text" not in event] == [
        "message_open",
        "message_close",
        "message_channel",
        "message_open",
        "message_close",
    ]
    chunks = [event["text"] for event in events if "text" in event]
    assert chunks[:5] == ["H", "m", ".", " ", "é"]  # é is two tokens
    assert "".join(chunks) == 'Hm. é{"city": "Bern"}'
    early = next(e for e in events if e["type"] == "message_channel")
    assert early["channel"] == "commentary" and early["index"] == 1
    opened = [e for e in events if e["type"] == "message_open"][1]
    assert opened["recipient"] == "functions.get"
    closed = [e for e in events if e["type"] == "message_close"][1]
    assert closed["content"] == '{"city": "Bern"}' and closed["end"] == "call"


def test_chat_messages():
    parser = parlance.HarmonyParser(SMALL, role="assistant")
    parser.feed(CALL)
    assert parser.message() == {
        "role": "assistant",
        "thinking": "Hm. é",
        "tool_calls": [
            {
                "type": "function",
                "function": {"name": "get", "arguments": {"city": "Bern"}},
            }
        ],
    }
    assert "reasoning_content" in parser.message(names="reasoning_content")
    assert parser.chat_message() == {
        "role": "assistant",
        "content": None,
        "reasoning": "Hm. é",
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "index": 0,
                "function": {"name": "get", "arguments": '{"city": "Bern"}'},
            }
        ],
    }
    assert [item["type"] for item in parser.response_items()] == [
        "reasoning",
        "function_call",
    ]


def test_the_end_of_the_stream():
    parser = parlance.HarmonyParser(SMALL, role="assistant")
    parser.feed(encode(["<|channel|>", "commentary to=python", "<|message|>"]))
    assert parser.messages[0]["end"] == "open"
    assert parser.message() == {"role": "assistant"}  # a call is being written
    parser.feed([*b"1\xf0\x9f"])
    (message,) = parser.finalize()
    assert message["content"] == "1\ufffd" and message["end"] == "eos"
    assert [event["type"] for event in parser.final_events] == [
        "message_chunk",
        "message_close",
    ]
    assert len(parser.message()["tool_calls"]) == 1
    assert "tool_calls" not in parser.message(cut=True)
    assert parser.response_items(cut=True) == []


def test_diagnostics():
    parser = parlance.HarmonyParser(SMALL, role="assistant")
    parser.feed(encode(["<|channel|>", "final Hello", "<|end|>"]) + [10**6])
    parser.finalize()
    missing, unknown = parser.diagnostics
    assert missing["code"] == "missing_message_marker"
    assert missing["tokens"] == (0, 12) and missing["at"] == 12
    assert '"final Hello"' in missing["message"] and not missing["warning"]
    assert unknown["code"] == "unknown_token" and unknown["warning"]
    assert parser.message() == {"role": "assistant", "content": "Hello"}


def test_strict():
    parser = parlance.HarmonyParser(SMALL, role="assistant", strict=True)
    ids = encode(["<|channel|>", "final", "<|message|>", "a", "<|end|>"])
    with pytest.raises(parlance.ResponseError, match="at token 9") as caught:
        parser.feed(ids + encode(["<|end|>", "a"]))
    assert caught.value.code == "expected_start"
    assert caught.value.events[-1]["type"] == "message_close"
    # The error stays, and so do the messages before it.
    with pytest.raises(parlance.ResponseError):
        parser.feed([97])
    with pytest.raises(parlance.ResponseError):
        parser.finalize()
    assert parser.message() == {"role": "assistant", "content": "a"}

    parser = parlance.HarmonyParser(SMALL, role="assistant", strict=True)
    with pytest.raises(parlance.ResponseError) as caught:
        parser.finalize()
    assert caught.value.code == "eos_in_header"


def test_errors():
    with pytest.raises(parlance.Error, match="<|message|>") as caught:
        parlance.HarmonyParser(parlance.Vocabulary([b"a"]))
    assert caught.value.code == "bad_vocabulary"
    with pytest.raises(parlance.UsageError, match="assistant"):
        parlance.HarmonyParser(SMALL, role="model")
    with pytest.raises(TypeError, match="role must be str or None, not int"):
        parlance.HarmonyParser(SMALL, role=1)
    parser = parlance.HarmonyParser(SMALL)
    with pytest.raises(TypeError):
        parser.feed("<|start|>")
    for names in ("", "role", "content", "tool_calls"):
        with pytest.raises(parlance.UsageError, match="names"):
            parser.message(names=names)
    parser.finalize()
    for use in (parser.finalize, lambda: parser.feed([1])):
        with pytest.raises(parlance.StateError, match="HarmonyParser"):
            use()


def test_large_input():
    parser = parlance.HarmonyParser(SMALL, role="assistant")
    text = "word " * 400_000
    events = parser.feed(encode(["<|message|>", text]))
    assert "".join(e["text"] for e in events if "text" in e) == text


def vectors(name):
    return conformance.read(f"harmony/{name}.json")


def segments(case):
    for segment in case["tokens_text"]:
        yield segment.get("special", segment.get("text")) or bytes.fromhex(
            segment["bytes"]
        )


def test_chat_vectors():
    for case in vectors("chat_mapping"):
        parser = parlance.HarmonyParser(SMALL, role=case["role"])
        parser.feed(encode(segments(case)))
        parser.finalize()
        assert parser.message() == case["chat_message"], case["id"]
        assert parser.response_items() == case["responses_output"], case["id"]
        chat = parser.chat_message(names="reasoning_content")
        for call in chat.get("tool_calls", ()):
            del call["id"], call["index"]
        assert chat == case["openai_chat_message"], case["id"]


def test_ids_of_the_real_vocabulary():
    """The ids of the reference's own tests, with gpt-oss's tokenizer."""
    try:
        folder = fetched("tokenizer-gptoss")
    except Missing as why:
        pytest.skip(str(why))
    vocabulary = parlance.Vocabulary.from_file(folder / "tokenizer.json")
    checked = 0
    for name in ("parse_upstream", "parse_streaming"):
        for case in vectors(name):
            if case["token_ids_from"] != "upstream" or not case["eos"]:
                continue
            parser = parlance.HarmonyParser(vocabulary, role=case["role"])
            parser.feed(case["token_ids"])
            found = parser.finalize()
            wanted = case.get("recommended", {}).get(
                "messages", case["expected_messages"]
            )
            keys = ("role", "name", "channel", "recipient", "content_type")
            assert [
                {k: m[k] for k in (*keys, "content") if m[k] is not None}
                for m in found
            ] == wanted, case["id"]
            checked += 1
    assert checked
