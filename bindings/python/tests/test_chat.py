"""parlance.chat: events in the shapes of chat APIs."""

import json
import random

import pytest

import parlance
from parlance.chat import ChatStream

TEXT = (
    "<think>\nHm.\n</think>\n\nLet me look.\n"
    '<tool_call>\n{"name": "f", "arguments": {"s": "ü"}}\n</tool_call>'
)


def stream(text, cuts=(), end="stop", **options):
    parser = parlance.ResponseParser("qwen3", prefix="", stream_calls=True)
    chat = ChatStream("qwen3", call_id_prefix="call_", id="x", **options)
    chunks = chat.begin()
    bounds = [0, *cuts, len(text)]
    for begin, stop in zip(bounds, bounds[1:]):
        chunks += chat.feed(parser.feed(text[begin:stop]))
    _, events = parser.finalize()
    chunks += chat.feed(events)
    chunks += chat.end(end)
    return chat, chunks


def joined(chunks):
    """The message of chunks of chat completions."""
    message = {"content": "", "reasoning_content": "", "tool_calls": []}
    for chunk in chunks:
        for choice in chunk.body["choices"]:
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            message["reasoning_content"] += delta.get("reasoning_content", "")
            for call in delta.get("tool_calls", []):
                if call["index"] == len(message["tool_calls"]):
                    message["tool_calls"].append(
                        {"id": call["id"], **call["function"]}
                    )
                else:
                    function = call["function"]
                    last = message["tool_calls"][call["index"]]
                    last["arguments"] += function["arguments"]
    return message


def test_the_chunks_are_the_response_at_every_cut():
    for seed in range(30):
        source = random.Random(seed)
        cuts = sorted(source.sample(range(1, len(TEXT)), 8))
        chat, chunks = stream(TEXT, cuts)
        found = joined(chunks)
        message = chat.response["choices"][0]["message"]
        assert found["content"] == message["content"]
        assert found["reasoning_content"] == message["reasoning_content"] == "Hm."
        (call,) = message["tool_calls"]
        assert found["tool_calls"] == [{"id": call["id"], **call["function"]}]
        assert json.loads(call["function"]["arguments"]) == {"s": "ü"}
        assert chat.response["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("api", ["responses", "messages"])
def test_events_have_types(api):
    chat, chunks = stream(TEXT, api=api)
    types = [chunk.body["type"] for chunk in chunks]
    assert types[0] in ("response.created", "message_start")
    assert types[-1] in ("response.completed", "message_stop")
    assert "f" in json.dumps(chat.response)


def test_the_name_of_reasoning_is_an_option():
    chat, _ = stream(TEXT, reasoning_name="reasoning")
    assert chat.response["choices"][0]["message"]["reasoning"] == "Hm."


def test_random_ids_differ():
    ids = {ChatStream("qwen3").response["id"] for _ in range(20)}
    assert len(ids) == 20


def test_a_parser_of_a_tag_needs_no_format():
    tag = parlance.StructuralTag(
        {"format": {"type": "any_text", "field": "content"}}
    )
    parser = tag.parser()
    chat = ChatStream(None)
    chunks = chat.feed(parser.feed("Hello."))
    _, events = parser.finalize()
    chunks += chat.feed(events) + chat.end()
    assert joined(chunks)["content"] == "Hello."


def test_what_is_wrong_is_named():
    with pytest.raises(parlance.UsageError, match="api must be"):
        ChatStream("qwen3", api="rest")
    with pytest.raises(parlance.UsageError, match="reason must be"):
        ChatStream("qwen3").end("tired")
    with pytest.raises(TypeError):
        ChatStream("qwen3").feed([1])
    with pytest.raises(parlance.TemplateError):
        ChatStream("no_such_format")
