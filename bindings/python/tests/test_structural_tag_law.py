"""Whatever the masks of tool_calling() let out, its tag reads as a message.

Texts are walked at random, token by token, through the masks of each family,
with a small vocabulary in which the family's own markers are tokens, and with a
large one where PARLANCE_VOCABULARY names its file.  Each is read back complete
and without a diagnostic, whole and in pieces, from text and from tokens; every
call in it is of a declared tool, with arguments that are valid under its
schema.
"""

import json
import os
import random

import numpy
import pytest

import parlance

jsonschema = pytest.importorskip("jsonschema")

TOOLS = {
    "get_weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "units": {"enum": ["metric", "imperial"]},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    "note": {
        "type": "object",
        "properties": {
            "text": {"type": ["string", "null"]},
            "flags": {"type": "array", "items": {"type": "boolean"}},
            "at": {
                "type": "object",
                "properties": {"line": {"type": "integer"}},
                "required": ["line"],
            },
        },
        "required": ["text", "at"],
    },
    "now": {"type": "object", "properties": {}, "additionalProperties": False},
}
DECLARED = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in TOOLS.items()
]
FORCED = {"type": "function", "function": {"name": "get_weather"}}

# What a layout of arguments writes after a value.
CLOSERS = [
    "</parameter>",
    "</｜DSML｜parameter>",
    "</｜DSML｜ parameter>",
    "</arg_value>",
    "<|close|>argument<|sep|>",
    "</cofl:value>",
    "\n</parameter>\n",
    *(
        f"]<]minimax[>[</{name}>"
        for name in "city days units text flags at line item".split()
    ),
]


def texts_of(value):
    """The texts of a tag outside its schemas."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("type", "json_schema", "pattern", "style", "field"):
                yield from texts_of(item)


def small_vocabulary(tag):
    texts = {text.encode() for text in texts_of(tag.to_dict())}
    texts |= {closer.encode() for closer in CLOSERS}
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += sorted(text for text in texts if len(text) > 1)
    tokens += [b'{"', b'": ', b"true", b"city", b"\xc3\xa9", b"]}", b'"}']
    end = len(tokens)
    return parlance.Vocabulary(
        [*tokens, b"<end>"], special_ids=[end], stop_ids=[end]
    )


class Walker:
    """Writes texts at random: now and then a text of the tag, else a token."""

    def __init__(self, constraint, vocabulary, texts, rng):
        self.constraint = constraint
        self.vocabulary = vocabulary
        self.texts = sorted(text for text in texts if text.strip())
        self.rng = rng
        self.row = numpy.zeros(constraint.mask_words, numpy.int32)
        self.ids = {}
        weights = numpy.full(len(vocabulary), 0.02)
        for id in range(len(vocabulary)):
            data = vocabulary.bytes(id)
            self.ids.setdefault(data, id)
            if data in (b'"', b"}", b"]"):
                weights[id] = 30
            elif not data.isspace() and len(data) > 1:
                weights[id] = 60 / len(vocabulary)
            elif data.isalnum():
                weights[id] = 0.3
        weights[vocabulary.stop_ids] = 60
        self.weights = weights

    def wanted(self, matcher):
        """A text of the tag that fits, if the first one tried does."""
        text = self.rng.choice(self.texts)
        return text if matcher.copy().accept_bytes(text) else b""

    def choose(self, allowed, pending):
        for size in range(len(pending), 0, -1):
            id = self.ids.get(pending[:size])
            if id is not None and id in allowed:
                return id
        chances = self.weights[allowed]
        at = numpy.searchsorted(
            numpy.cumsum(chances), self.rng.random() * chances.sum()
        )
        return int(allowed[min(at, len(allowed) - 1)])

    def walk(self):
        """The tokens of a text, or None for one that has not ended."""
        matcher = self.constraint.matcher()
        ids, pending = [], b""
        for _ in range(1500):
            if not pending and self.rng.random() < 0.2:
                pending = self.wanted(matcher)
            matcher.fill_bitmask(self.row)
            bits = numpy.unpackbits(
                self.row.view(numpy.uint8), bitorder="little"
            )
            allowed = numpy.flatnonzero(bits[: len(self.vocabulary)])
            id = self.choose(allowed, pending)
            assert matcher.accept_token(id)
            if matcher.is_terminated():
                return ids
            data = self.vocabulary.bytes(id)
            pending = pending[len(data):] if pending.startswith(data) else b""
            ids.append(id)
        return None


def check_message(message, forced):
    calls = message.get("tool_calls", [])
    for call in calls:
        assert call["type"] == "function"
        name = call["function"]["name"]
        jsonschema.validate(call["function"]["arguments"], TOOLS[name])
        assert forced in (None, name)
    return len(calls)


def check_read(tag, vocabulary, ids, rng, forced):
    text = b"".join(vocabulary.bytes(id) for id in ids)
    tree = tag.parse(text)
    assert tree["complete"] and tree["rest"] == "" == "".join(
        d["message"] for d in tree["diagnostics"]
    ), text
    message = tree["message"]
    calls = check_message(message, forced)
    assert tag.parse(ids, vocabulary=vocabulary)["message"] == message

    parser = tag.parser()
    at = 0
    while at < len(text):
        size = rng.choice([1, 1, 2, 3, 7, 40])
        parser.feed(text[at : at + size])
        at += size
    assert parser.finalize()[0] == message
    assert parser.complete and parser.diagnostics == []
    chat = parser.chat_message
    assert [
        json.loads(call["function"]["arguments"])
        for call in chat.get("tool_calls", [])
    ] == [
        call["function"]["arguments"] for call in message.get("tool_calls", [])
    ]
    return calls


CASES = [
    {},
    {"tool_choice": "required", "reasoning": "none"},
    {"tool_choice": FORCED, "reasoning": "allowed"},
    {"parallel_tool_calls": False, "max_white_space": 2},
    {"tool_choice": "none", "reasoning": "none"},
]


def run(tag, vocabulary, options, walks, seed):
    """How many texts have ended, and how many calls they hold."""
    texts = {text.encode() for text in texts_of(tag.to_dict())}
    texts |= {closer.encode() for closer in CLOSERS}
    constraint = tag.grammar().compile(vocabulary)
    choice = options.get("tool_choice")
    forced = "get_weather" if choice is FORCED else None
    walker = Walker(constraint, vocabulary, texts, random.Random(seed))
    ended = calls = 0
    for i in range(walks):
        ids = walker.walk()
        if ids is None:
            continue
        ended += 1
        found = check_read(tag, vocabulary, ids, random.Random(i), forced)
        calls += found
        if options.get("parallel_tool_calls") is False:
            assert found <= 1
        if choice == "none":
            assert found == 0
        if choice == "required" or forced:
            assert found >= 1
    return ended, calls


def calls_tools(family):
    try:
        parlance.tool_calling(DECLARED, family, tool_choice="required")
    except parlance.GrammarError as error:
        assert error.code in ("unsupported", "conflict")
        return False
    return True


FAMILIES = [name for name in parlance.formats() if calls_tools(name)]


@pytest.mark.parametrize("family", FAMILIES)
def test_small_vocabulary(family):
    total = 0
    for number, options in enumerate(CASES):
        tag = parlance.tool_calling(DECLARED, family, **options)
        vocabulary = small_vocabulary(tag)
        ended, calls = run(tag, vocabulary, options, 8, number)
        assert ended >= 6
        total += calls
    assert total >= 8


@pytest.mark.skipif(
    "PARLANCE_VOCABULARY" not in os.environ,
    reason="PARLANCE_VOCABULARY names no file of a vocabulary",
)
@pytest.mark.parametrize("family", FAMILIES)
def test_large_vocabulary(family):
    vocabulary = parlance.Vocabulary.from_file(os.environ["PARLANCE_VOCABULARY"])
    options = {"tool_choice": "required", "reasoning": "none"}
    tag = parlance.tool_calling(DECLARED, family, **options)
    ended, calls = run(tag, vocabulary, options, 4, 0)
    assert calls >= ended
