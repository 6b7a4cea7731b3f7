"""The attempted calls of damaged responses are the same in all outputs.

Of each text, in its pieces: details, a parser, its events and parts, Arrow, JSON
lines, and the chat shapes; and all strings of them can be encoded.

    PARLANCE_SEED=7    other texts
    PARLANCE_LONG=1    20,000 of them
"""

import json
import os
import random
import shutil
import subprocess

import pytest

import parlance
from arrow_columns import TextColumn, rows_of
from parlance.chat import ChatStream

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
TEXTS = 20_000 if "PARLANCE_LONG" in os.environ else 600
COMPLETE = ("ok", "invalid_arguments", "unknown_tool")
APIS = ("chat_completions", "responses", "messages")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "find",
            "parameters": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "most": {"type": "integer", "maximum": 9},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["text"],
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "now"}},
]
PIECES = ['"', "{", "}", "[", "]", ",", ":", "\\", "\n", " ", "<", ">", "\ud83c", "ü", "</"]
VALUES = ["", "Bern", 'a"b\n', '{"x": 1}', "]", "7", "\ud83c", "🙂"]


def drawn_call(draw):
    name = draw.choice(["find"] * 6 + ["now", "nope", ""])
    arguments = {}
    if draw.random() < 0.9:
        arguments["text"] = draw.choice(VALUES)
    if draw.random() < 0.4:
        arguments["most"] = draw.choice([3, 77, "x", None])
    if draw.random() < 0.4:
        arguments["tags"] = [draw.choice(VALUES), draw.choice(["a", 1])]
    return name, arguments


def rendered(family, draw):
    """A message with calls; the names are put in afterwards."""
    calls = [drawn_call(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
    message = {
        "role": "assistant",
        "content": draw.choice(["", "So. "]),
        "tool_calls": [
            {"type": "function", "function": {"name": f"zz{i}zz", "arguments": arguments}}
            for i, (_, arguments) in enumerate(calls)
        ],
    }
    try:
        text = parlance.Format(family).render(message, verify=False)
    except parlance.Error:
        message["tool_calls"] = message["tool_calls"][:1]
        try:
            text = parlance.Format(family).render(message, verify=False)
        except parlance.Error:
            return None
    for i, (name, _) in enumerate(calls):
        text = text.replace(f"zz{i}zz", name)
    return text


def damaged(text, draw):
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        at = draw.randrange(len(text) + 1)
        end = min(len(text), at + draw.choice([0, 1, 2, 8]))
        put = draw.choice([draw.choice(PIECES), "", text[at : at + 6] * 2])
        text = text[:at] + put + text[end:]
    return text[: draw.randrange(len(text) + 1)] if draw.random() < 0.4 else text


def texts():
    draw = random.Random(SEED)
    families = parlance.formats()
    while True:
        family = draw.choice(families)
        text = rendered(family, draw)
        if text is None:
            continue
        for _ in range(4):
            whole = damaged(text, draw)
            cut = draw.randrange(len(whole) + 1) if draw.random() < 0.3 else 0
            yield family, whole[:cut], whole[cut:], draw


def check_encodable(value):
    json.dumps(value, ensure_ascii=False).encode()


def by_parser(family, prefix, text, size, wanted, result):
    parser = parlance.ResponseParser(
        family, prefix, tools=TOOLS, attempts=True, stream_calls=size % 2 == 0
    )
    events = list(parser.initial_events)
    for at in range(0, len(text), size):
        events += parser.feed(text[at : at + size])
    message, last = parser.finalize()
    events += last
    check_encodable([events, message, parser.diagnostics, parser.calls])
    assert message == result.message
    assert parser.diagnostics == result.diagnostics
    assert parser.prefix_bytes == result.prefix_bytes
    assert parser.attempted_calls == wanted
    told = [event["attempt"] for event in events if event["type"] == "call_attempt"]
    assert told == wanted
    assert [call for part in parser.parts for call in part["attempted_calls"]] == wanted
    complete = [call for call in wanted if call["status"] in COMPLETE]
    for api in APIS:
        chat = ChatStream(family, api=api, extras=True)
        chunks = chat.feed(events) + chat.end(parser=parser)
        check_encodable([chat.response, [chunk.body for chunk in chunks]])
        place = chat.response
        calls = [i for i in place.get("output", []) if i["type"] == "function_call"]
        calls += [i for i in place.get("content", []) if i["type"] == "tool_use"]
        if api == "chat_completions":
            (place,) = place["choices"]
            calls = [i["function"] for i in place["message"].get("tool_calls", [])]
            assert (place["finish_reason"] == "tool_calls") == (complete != [])
        assert place["attempted_calls"] == wanted
        assert place["prefix_bytes"] == result.prefix_bytes
        assert [
            (
                call["name"],
                call["input"] if "input" in call else json.loads(call["arguments"]),
            )
            for call in calls
        ] == [(call["name"], json.loads(call["arguments"])) for call in complete]


def as_in_json(call):
    call = dict(call)
    call["bytes"] = [call.pop("offset"), call.pop("end")]
    call["tokens"] = [call.pop("token_offset"), call.pop("token_end")]
    return call


def test_all_outputs_have_the_same_attempts():
    command = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
    rows = {}
    for number, (family, prefix, text, draw) in enumerate(texts()):
        if number == TEXTS:
            break
        result = parlance.parse_response(
            text, family, prefix=prefix, tools=TOOLS, details=True
        )
        wanted = result.attempted_calls
        check_encodable([result.message, wanted, result.diagnostics])
        context = (family, prefix, text)
        stream = (prefix + text).encode("utf-8", "surrogatepass")
        for call in wanted:
            assert (call["why"] == "") == (call["status"] == "ok"), context
        assert len(stream) >= result.prefix_bytes, context
        size = draw.choice([1, 2, 3, 8, len(text) or 1])
        by_parser(family, prefix, text, size, wanted, result)
        try:
            (prefix + text).encode()
        except UnicodeEncodeError:
            continue  # neither a column nor a line can have it
        rows.setdefault(family, []).append((prefix, text, result))
    for family, some in rows.items():
        column = rows_of(
            parlance.parse_arrow(
                TextColumn([text for _, text, _ in some]),
                family,
                tools=TOOLS,
                prefix=TextColumn([prefix for prefix, _, _ in some]),
            )
        )
        for (prefix, text, result), row in zip(some, column):
            context = (family, prefix, text)
            found = [as_in_json(call) for call in row["attempted_calls"]]
            assert found == result.attempted_calls, context
            assert row["prefix_bytes"] == result.prefix_bytes, context
            assert [(one["offset"], one["end"]) for one in row["diagnostics"]] == [
                tuple(one["span"]) for one in result.diagnostics
            ], context
            assert [call["name"] for call in row["tool_calls"]] == [
                call["name"]
                for call in result.attempted_calls
                if call["status"] in COMPLETE
            ], context
        if command is None:
            continue
        lines = "".join(
            json.dumps({"response": text, "prefix": prefix, "tools": TOOLS}) + "\n"
            for prefix, text, _ in some
        )
        said = subprocess.run(
            [command, "parse", "--format", family, "--jsonl", "--details"],
            input=lines.encode(),
            capture_output=True,
            check=False,
        )
        out = [json.loads(line) for line in said.stdout.decode().splitlines()]
        assert len(out) == len(some), said.stderr.decode()
        for (prefix, text, result), row in zip(some, out):
            context = (family, prefix, text)
            assert row["attempted_calls"] == result.attempted_calls, context
            assert row["prefix_bytes"] == result.prefix_bytes, context
            assert [one["span"] for one in row["diagnostics"]] == [
                list(one["span"]) for one in result.diagnostics
            ], context
    if command is None:
        pytest.skip("no command for JSON lines: set PARLANCE_CLI, or PATH")
