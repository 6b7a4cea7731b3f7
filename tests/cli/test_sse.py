"""`parlance parse --sse`: server-sent events of inference servers."""

import json

import pytest

RESPONSE = (
    "<think>\nHm, é 🙂.\n</think>\n\nBern.\n"
    '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
)
PIECES = [RESPONSE[i : i + 5] for i in range(0, len(RESPONSE), 5)]


def chat(text, index=0):
    return {"choices": [{"index": index, "delta": {"content": text}}]}


SHAPES = {
    "chat completions": chat,
    "completions": lambda text: {"choices": [{"index": 0, "text": text}]},
    "responses": lambda text: {
        "type": "response.output_text.delta",
        "delta": text,
    },
    "messages": lambda text: {
        "type": "content_block_delta",
        "delta": {"type": "text_delta", "text": text},
    },
    "llama.cpp": lambda text: {"content": text, "stop": False},
    "ollama": lambda text: {"response": text, "done": False},
    "ollama's chat": lambda text: {
        "message": {"role": "assistant", "content": text},
        "done": False,
    },
    "tgi": lambda text: {"token": {"text": text}},
}


def stream(payloads, end="\n"):
    lines = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        lines += [f"data: {data}", ""]
    return end.join(lines + [""])


@pytest.fixture
def want(parlance):
    return parlance("parse", "-f", "qwen3", stdin=RESPONSE)[0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_text_of_each_shape_is_the_response(parlance, want, shape, end):
    payloads = [SHAPES[shape](piece) for piece in PIECES]
    out, err = parlance(
        "parse", "-f", "qwen3", "--sse", stdin=stream(payloads + ["[DONE]"], end)
    )
    assert out == want and err == ""


def test_frames_comments_and_other_choices_have_no_text(parlance, want):
    text = ": ping\n\nevent: start\nid: 7\nretry: 10\n\n"
    text += stream([{"choices": [{"index": 0, "delta": {"role": "assistant"}}]}])
    for piece in PIECES:
        text += stream([chat(piece), chat("other", index=1)])
    text += stream(
        [
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"total_tokens": 3}},
            {"type": "response.completed"},
            "[DONE]",
        ]
    )
    out, err = parlance("parse", "-f", "qwen3", "--sse", stdin=text)
    assert out == want and err == ""


def test_lines_of_json_and_data_in_several_lines(parlance, want):
    text = "".join(
        json.dumps({"response": piece}) + "\n" for piece in PIECES[:-1]
    )
    text += 'data: {"response":\ndata:  ' + json.dumps(PIECES[-1]) + "}"
    out, err = parlance("parse", "-f", "qwen3", "--sse", stdin=text)
    assert out == want and err == ""


def test_damage_is_told_by_line_and_skipped(parlance, want):
    text = stream([chat(p) for p in PIECES[:3]])
    text += "data: {broken\n\n"
    text += stream([{"no": 1}, {"choices": [{"index": 0}]}, "3"])
    text += stream([{"choices": [{"text": 5}]}, {"error": {"code": 500}}])
    text += stream([chat(p) for p in PIECES[3:]])
    out, err = parlance("parse", "-f", "qwen3", "--sse", stdin=text, status=1)
    assert out == want
    lines = err.splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        f"<stdin>:{n}" for n in (7, 9, 11, 13, 15, 17)
    ]
    assert "no JSON" in lines[0] and "'choices'" in lines[1]
    assert "server reports" in lines[5]


def test_a_server_that_parsed_already_is_told(parlance):
    thought = {"choices": [{"delta": {"reasoning_content": "Hm."}}]}
    call = {"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}
    ollama = {"message": {"content": "", "thinking": "Hm."}}
    ollama_call = {"message": {"content": "", "tool_calls": [{"function": {}}]}}
    for payloads in (
        [thought, thought, chat("a"), call],
        [ollama, ollama, {"message": {"content": "a"}}, ollama_call],
    ):
        _, err = parlance(
            "parse", "-f", "qwen3", "--sse", stdin=stream(payloads), status=1
        )
        assert err.count("reasoning parser") == 1
        assert err.count("tool-call parser") == 1


def test_events_and_watch(parlance):
    text = stream([chat(p) for p in PIECES] + ["[DONE]"])
    out, _ = parlance("parse", "-f", "qwen3", "--sse", "--events", stdin=text)
    events = [json.loads(line) for line in out.splitlines()]
    thought = [
        e["text"]
        for e in events
        if e["type"] == "region_chunk" and e["field"] == "thinking"
    ]
    assert "".join(thought) == "Hm, é 🙂."
    shown, _ = parlance("watch", "-f", "qwen3", "--sse", stdin=text)
    assert shown == parlance("watch", "-f", "qwen3", stdin=RESPONSE)[0]


def test_an_event_has_a_limit(parlance):
    long = "x" * (17 << 20)
    text = f"data: {long}\n\n" + stream([chat("Hi.")])
    out, err = parlance("parse", "-f", "qwen3", "--sse", stdin=text, status=1)
    assert json.loads(out)["content"] == "Hi."
    assert "longer than" in err


def test_events_of_a_server_are_text(parlance, vocabulary):
    ids = ["--ids", "--vocabulary", vocabulary]
    _, err = parlance("parse", "-f", "qwen3", "--sse", *ids, status=2)
    assert "--sse" in err and "excludes" in err
