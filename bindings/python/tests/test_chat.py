"""parlance.chat: events in the shapes of chat APIs."""

import json
import random

import pytest

import parlance
from arrow_columns import TextColumn, rows_of
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


MARKS = [b"<think>", b"</think>", b"<tool_call>", b"</tool_call>", b"<|im_end|>"]
VOCABULARY = parlance.Vocabulary(
    [bytes([byte]) for byte in range(256)] + MARKS,
    added_ids=[256, 257, 258, 259],
    control_ids=[260],
    stop_ids=[260],
)


def ids_of(text):
    ids = []
    data = text.encode()
    while data:
        for id, mark in enumerate(MARKS, 256):
            if data.startswith(mark):
                ids.append(id)
                data = data[len(mark) :]
                break
        else:
            ids.append(data[0])
            data = data[1:]
    return ids


def run_ids(ids, api, **options):
    parser = parlance.ResponseParser(
        "qwen3", prefix="", vocabulary=VOCABULARY, stream_calls=True
    )
    chat = ChatStream("qwen3", api=api, **options)
    chunks = []
    for id in ids:
        chunks += chat.feed(parser.feed([id]))
    _, events = parser.finalize()
    chunks += chat.feed(events)
    chunks += chat.end("stop", parser=parser, prompt_tokens=3)
    return parser, chat, chunks


@pytest.mark.parametrize(
    "text, counts",
    [
        ("", {}),
        ("<|im_end|>", {"markup": 1}),
        ("Hi.<|im_end|>", {"content": 3, "markup": 1}),
        ("<think>Hm</think>\n\n<|im_end|>", {"reasoning": 2, "markup": 5}),
        (
            '<think>a</think>b<tool_call>{"name": "f", "arguments": {}}'
            "</tool_call>\n<|im_end|>",
            {"reasoning": 1, "content": 1, "tool_calls": 30, "markup": 6},
        ),
    ],
)
def test_usage_counts_every_token_by_part(text, counts):
    ids = ids_of(text)
    zero = dict.fromkeys(("reasoning", "content", "tool_calls", "markup"), 0)
    for api in ("chat_completions", "responses", "messages"):
        parser, chat, chunks = run_ids(ids, api)
        assert parser.tokens == chat.tokens == {**zero, **counts}
        assert sum(parser.tokens.values()) == len(ids)
        usage = chat.response.get("usage")
        if not ids:
            assert not usage or usage["output_tokens"] == 0
            continue
        assert usage.get("completion_tokens", usage.get("output_tokens")) == len(ids)
        details = usage.get("completion_tokens_details") or usage.get(
            "output_tokens_details"
        )
        if details:
            assert details == {"reasoning_tokens": counts.get("reasoning", 0)}
        if api == "chat_completions":
            assert chunks[-1].body["usage"] == usage
        elif api == "responses":
            assert chunks[-1].body["response"]["usage"] == usage
        else:
            assert chunks[-2].body["usage"] == {"output_tokens": len(ids)}


def test_the_end_of_the_turn_is_an_extra():
    for text, ended in (("Hi.<|im_end|>", True), ("Hi.", False)):
        for api, place in (
            ("chat_completions", lambda body: body["choices"][0]),
            ("responses", lambda body: body.get("response", body)),
            ("messages", lambda body: body.get("delta", body)),
        ):
            parser, chat, chunks = run_ids(ids_of(text), api, extras=True)
            assert parser.turn_ended is ended
            assert place(chat.response)["turn_ended"] is ended
            last = [c.body for c in chunks if "turn_ended" in json.dumps(c.body)]
            assert [place(body)["turn_ended"] for body in last] == [ended]
            _, chat, chunks = run_ids(ids_of(text), api)
            assert "turn_ended" not in json.dumps([chat.response, chunks])


HALVES = [
    ("qwen3", r"""<tool_call>{"name": "f", "arguments": {"a": "x \ud83c y"}}</tool_call>"""),
    ("qwen3", r"""<tool_call>{"name": "f", "arguments": {"a": "\udf0a"}}</tool_call>"""),
    ("qwen3", r"""<tool_call>{"name": "f", "arguments": {"a\ud83c": 1}}</tool_call>"""),
    ("qwen3", r"""<tool_call>{"name": "f\ud83c", "arguments": {}}</tool_call>"""),
    ("qwen3", r"""<tool_call>{"name": "f", "arguments": {"a": "\\ud83c"}}</tool_call>"""),
    ("qwen3", r"""<tool_call>{"name": "f", "arguments": {"a": "\ud83c\udf0a\ud83c\ud83c\udf0a\n"}}</tool_call>"""),
    ("qwen3", r"""<tool_call>{"name": "f", "arguments": {"a": "\\\\\ud83c\u00e9\ud83c\n\udf0a\\\udf0a"}}</tool_call>"""),
    ("qwen3", "Hi \ud83c there <think>\udf0a"),
    ("lfm2", r"<|tool_call_start|>[f(a='\ud83c' '\udf0a')]<|tool_call_end|>"),
    ("lfm2", r"<|tool_call_start|>[f(a='\ud83c x', b='\ud83c\udf0a')]<|tool_call_end|>"),
    ("glm4_7", r"<tool_call>f<arg_key>a</arg_key><arg_value>{'b': '\ud83c'}</arg_value></tool_call>"),
]


@pytest.mark.parametrize("family, text", HALVES)
def test_every_string_of_a_result_can_be_encoded(family, text):
    def check(value):
        json.dumps(value, ensure_ascii=False).encode()

    result = parlance.parse_response(text, family, prefix="", details=True)
    check(result.message)
    check(result.attempted_calls)
    for size in (1, 5, len(text)):
        for api in ("chat_completions", "responses", "messages"):
            parser = parlance.ResponseParser(family, "", stream_calls=True)
            chat = ChatStream(family, api=api)
            events, chunks = [], []
            for at in range(0, len(text), size):
                events += (more := parser.feed(text[at : at + size]))
                chunks += chat.feed(more)
            message, more = parser.finalize()
            chunks += chat.feed(more) + chat.end("stop")
            assert message == result.message
            check([event for event in events + more if event["type"] != "region_chunk"])
            check([chat.response, [chunk.body for chunk in chunks], parser.chat_message])
            check(parser.calls)
            # The joined pieces are the arguments of the message.
            assert [json.loads(call["arguments"]) for call in parser.calls] == [
                call["function"]["arguments"] for call in message.get("tool_calls", [])
            ]


@pytest.mark.parametrize(
    "text",
    [
        "a\ud83cb",
        "\ud83c\udf0a",
        "<think>\ud83c</think>\udf0a",
        '<tool_call>{"name": "f\ud83c", "arguments": {"a\ud83c": "\ud83c"}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {"a": "\ud83c',
        "<tool_call>x\ud83c</tool_call>",
    ],
)
def test_halves_that_are_fed_are_replaced_everywhere(text):
    for size in (1, 3, len(text)):
        parser = parlance.ResponseParser("qwen3", "", stream_calls=True, attempts=True)
        deltas = parlance.ResponseParser("qwen3", "")
        tag = parlance.StructuralTag({"format": {"type": "any_text"}}).parser()
        chat = ChatStream("qwen3", extras=True)
        told = []
        for at in range(0, len(text), size):
            piece = text[at : at + size]
            events = parser.feed(piece)
            told += [events, deltas.feed_deltas(piece), tag.feed(piece)]
            told += [chunk.body for chunk in chat.feed(events)]
        message, events = parser.finalize()
        told += [message, events, tag.finalize(), parser.parts, parser.calls]
        told += [chunk.body for chunk in chat.feed(events) + chat.end(parser=parser)]
        told += [chat.response, parser.attempted_calls, parser.diagnostics]
        json.dumps(told, ensure_ascii=False).encode()


def test_a_bare_template_keeps_halves_and_its_chat_shapes_do_not():
    template = {
        "start_anchor": "<A>",
        "fields": {
            "content": {},
            "tool_calls": {"open": "<c>", "close": "</c>", "content": "json", "repeats": True},
        },
    }
    text = r"""a<c>{"function": {"name": "f", "arguments": {"a": "\ud83c"}}}</c>"""
    message = parlance.parse_response(text, template, prefix="<A>")
    (call,) = message["tool_calls"]
    assert call["function"]["arguments"] == {"a": "\ud83c"}
    parser = parlance.ResponseParser(template, "<A>", stream_calls=True)
    chat = ChatStream(parlance.Format(template), api="messages")
    chunks = chat.feed(parser.feed(text)) + chat.feed(parser.finalize()[1]) + chat.end()
    json.dumps([chat.response, chunks, parser.chat_message], ensure_ascii=False).encode()


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "required": ["a"],
            },
        },
    }
]
ATTEMPTS = {
    "qwen3": {
        '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>': ["ok"],
        '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call><|im_end|>': [
            "invalid_arguments",
            "unknown_tool",
        ],
        'Hi. <tool_call>\n{"arguments": {"a": 1}}\n</tool_call>': ["no_name"],
        '<tool_call>\n{"name": "f", "arguments": {"a": 1,}}\n</tool_call>\n'
        '<tool_call>\n{"name": "f", "arguments": {"a': ["malformed", "cut_off"],
        "The token `<tool_call>` opens it.": [],
    },
    "glm4_7": {
        "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>": ["ok"],
        "<tool_call>f<arg_key>a</arg_key><arg_value>1</tool_call>": ["malformed"],
        "<tool_call>f<arg_key>a</arg_key><arg_value>1": ["cut_off"],
    },
    "mistral_v3": {
        '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}, '
        '{"name": "f", "arguments": {"a": [1}}]': ["ok", "malformed"],
    },
    "lfm2": {
        "<|tool_call_start|>[f(a=1), f(a='x'), f(a=": [
            "ok",
            "invalid_arguments",
            "cut_off",
        ],
    },
}


@pytest.mark.parametrize("family", ATTEMPTS)
def test_all_outputs_have_the_same_attempts(family):
    rows = rows_of(
        parlance.parse_arrow(TextColumn(list(ATTEMPTS[family])), family, tools=TOOLS)
    )
    for row, (text, statuses) in zip(rows, ATTEMPTS[family].items()):
        result = parlance.parse_response(
            text, family, prefix="", tools=TOOLS, details=True
        )
        wanted = result.attempted_calls
        assert [call["status"] for call in wanted] == statuses, wanted
        for call in wanted:
            begin, end = call["bytes"]
            assert text.encode()[begin:end].decode() == call["text"]
            complete = call["status"] in ("ok", "invalid_arguments", "unknown_tool")
            try:
                json.loads(call["arguments"])
            except ValueError:
                assert not complete
            else:
                assert complete
            assert (call["why"] == "") == (call["status"] == "ok")
        complete = [
            (call["name"], json.loads(call["arguments"]))
            for call in wanted
            if call["status"] in ("ok", "invalid_arguments", "unknown_tool")
        ]
        # The message's calls are the complete ones, in Arrow as well.
        assert complete == [
            (call["function"]["name"], call["function"]["arguments"])
            for call in result.message.get("tool_calls", [])
        ]
        assert complete == [
            (call["name"], json.loads(call["arguments"])) for call in row["tool_calls"]
        ]
        assert all(call["complete"] for call in row["tool_calls"])
        found = []
        for call in row["attempted_calls"]:
            span = [call.pop("offset"), call.pop("end")]
            call["tokens"] = [call.pop("token_offset"), call.pop("token_end")]
            found.append({**call, "bytes": span})
        assert found == wanted
        # A parser, its events and parts.
        for size in (1, 7, len(text)):
            parser = parlance.ResponseParser(
                family, "", tools=TOOLS, attempts=True, stream_calls=True
            )
            events = []
            for at in range(0, len(text), size):
                events += parser.feed(text[at : at + size])
            events += parser.finalize()[1]
            assert parser.attempted_calls == wanted
            told = [e["attempt"] for e in events if e["type"] == "call_attempt"]
            assert told == wanted
            parts = [call for part in parser.parts for call in part["attempted_calls"]]
            assert parts == wanted
            for api in ("chat_completions", "responses", "messages"):
                chat = ChatStream(family, api=api, extras=True)
                chat.feed(events)
                chat.end("stop", parser=parser)
                place = chat.response
                if api == "chat_completions":
                    place = place["choices"][0]
                assert place["attempted_calls"] == wanted
                assert place["prefix_bytes"] == 0


PREFIX = "<|im_start|>assistant\n<think>\nHm.\n</think>\n\n<tool_call>\n"
REST = '{"name": "f", "arguments": {"a": "x"}}\n</tool_call> So <tool_call>{"name'


def test_places_count_from_the_first_byte_of_the_prefix_that_is_read():
    """The same everywhere, and of a call that begins in the prompt as well."""
    result = parlance.parse_response(
        REST, "qwen3", prefix=PREFIX, tools=TOOLS, details=True
    )
    begin = result.prefix_bytes
    stream = (PREFIX[len(PREFIX) - begin :] + REST).encode()
    assert stream.startswith(b"<think>")
    first, second = result.attempted_calls
    for call in (first, second):
        assert stream[slice(*call["bytes"])].decode() == call["text"]
    assert first["bytes"][0] < begin < first["bytes"][1]
    (wrong, cut) = result.diagnostics
    assert "/a" in wrong["message"]
    assert stream[slice(*wrong["span"])].strip() == REST[:38].encode()
    (row,) = rows_of(
        parlance.parse_arrow(TextColumn([REST]), "qwen3", prefix=PREFIX, tools=TOOLS)
    )
    assert row["prefix_bytes"] == begin
    assert [[call["offset"], call["end"]] for call in row["attempted_calls"]] == [
        call["bytes"] for call in result.attempted_calls
    ]
    assert [[one["offset"], one["end"]] for one in row["diagnostics"]] == [
        list(one["span"]) for one in result.diagnostics
    ]
    parser = parlance.ResponseParser("qwen3", PREFIX, tools=TOOLS, attempts=True)
    events = parser.initial_events + parser.feed(REST) + parser.finalize()[1]
    assert parser.prefix_bytes == begin
    assert parser.attempted_calls == result.attempted_calls
    assert [
        stream[event["start"] : event["end"]].decode()
        for event in events
        if event["type"] == "call_attempt"
    ] == [first["text"], second["text"]]
    chat = ChatStream("qwen3", extras=True)
    chat.feed(events)
    chat.end("stop", parser=parser)
    (choice,) = chat.response["choices"]
    assert choice["attempted_calls"] == result.attempted_calls
    assert choice["prefix_bytes"] == begin


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
