"""Law of documents: whatever the grammar of a request with `response_format` and tools
generates is read back as it was written, either as the document, which is then the
content, or as calls.

    document    the content is a document that the schema accepts, and there is no call
    calls       there are calls of the tools, and no text that looks like a document
    parsers     the parser of the tag reads the same message
    refusal     a text that a refusal names is a document of the schema, and the
                format's parser reads a call in it

for every family that writes content, with schemas whose members and strings are what
openers of calls are made of.  PARLANCE_LONG=1 draws more of them.
"""

import json
import os
import random
import re

import jsonschema
import numpy
import parlance
import pytest

LONG = os.environ.get("PARLANCE_LONG") == "1"
FAMILIES = sorted(parlance.formats())
# Text that openers and calls are made of, whole and in pieces.
PIECES = """
{"name": "name" "parameters" "arguments" "type" "function" {"type": [{"name": f( [f( get_now(
() [get_now()] <tool_call> </tool_call> <think> </think> >>> all get_now <|python_tag|>
<function=get_now> <arg_key> <|tool_call|> <tool_calls> functools [TOOL_CALLS] ```json : "get_now"
: {}
""".split("\n")
WORDS = sorted({w.encode() for line in PIECES for w in [line, *line.split()] if len(w) > 1})
END = 256 + len(WORDS)
VOCABULARY = parlance.Vocabulary(
    [*(bytes([i]) for i in range(256)), *WORDS, b"<end>"], control_ids=[END], stop_ids=[END]
)
TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "parameters": parameters},
    }
    for name, parameters in {
        "get_now": {"type": "object", "properties": {}, "additionalProperties": False},
        "f": {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    }.items()
]
NAMES = ["name", "parameters", "arguments", "type", "function", "a", "[f(", "<tool_call>"]


class Draw(random.Random):
    def schema(self, depth=2):
        kind = self.choice(["string", "object", "object", "array", "any"][: 5 if depth else 1])
        if kind == "string":
            return self.choice(
                [
                    {"type": "string"},
                    {"type": "string", "maxLength": 20},
                    {"enum": ["get_now", "f", "<think>", "[f(a=1)]", ">>>f\n{}"]},
                    {"type": ["string", "integer", "null"]},
                ]
            )
        if kind == "array":
            return {"type": "array", "items": self.schema(depth - 1), "maxItems": 3}
        if kind == "any":
            return {}
        names = self.sample(NAMES, self.randint(1, 4))
        out = {
            "type": "object",
            "properties": {name: self.schema(depth - 1) for name in names},
        }
        if self.random() < 0.7:
            out["additionalProperties"] = False
        if self.random() < 0.7:
            out["required"] = self.sample(names, self.randint(0, len(names)))
        return out


def in_string(text):
    return (text.count(b'"') - text.count(b'\\"')) % 2 == 1


def walk(rng, constraint, steps=250):
    """A text that the masks allow, or None where none has ended."""
    matcher = constraint.matcher()
    row = numpy.zeros(constraint.mask_words, numpy.int32)
    text = b""
    for step in range(steps):
        matcher.fill_bitmask(row)
        bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
        allowed = numpy.flatnonzero(bits).tolist()
        assert allowed and not matcher.error, (text, matcher.error)
        if matcher.can_end() and END in allowed and rng.random() < 0.6:
            return text.decode()
        if allowed == [END]:
            return text.decode()
        allowed = [i for i in allowed if i != END]
        allowed = [i for i in allowed if i not in {9, 10, 13, 32}] or allowed
        token = None
        if rng.random() < 0.1 + step / 60:
            closers = [i for i in (b'"' if in_string(text) else b"}])") if i in allowed]
            token = closers[0] if closers else None
        if token is None:
            words = [i for i in allowed if 256 <= i < END]
            letters = [i for i in allowed if 32 <= i < 127]
            pool = words if words and rng.random() < 0.6 else letters or allowed
            token = rng.choice(pool)
        assert matcher.accept_token(token), (text, token)
        text += VOCABULARY.bytes(token)
    return None


def check(family, schema, choice, rng, tally):
    options = {"tool_choice": choice, "response_format": schema, "reasoning": "off"}
    try:
        tag = parlance.tool_calling(TOOLS, family, **options)
        constraint = parlance.Compiler(VOCABULARY).compile_structural_tag(tag)
    except parlance.Error as error:
        tally[error.code] = tally.get(error.code, 0) + 1
        assert error.code in ("conflict", "unsatisfiable", "too_large"), error
        named = re.search(r"such as (.*); another name", str(error))
        if named:
            tally["named"] = tally.get("named", 0) + 1
            jsonschema.validate(json.loads(named[1]), schema)
            assert parlance.parse_response(named[1], family, prefix="").get("tool_calls")
        return
    for _ in range(4 if LONG else 2):
        text = walk(rng, constraint)
        if text is None:
            continue
        message = parlance.parse_response(text, family, prefix="", tools=TOOLS, details=True)
        assert not message.diagnostics, (text, message)
        message = message.message
        calls = message.get("tool_calls", [])
        assert tag.parse(text)["message"] == message, text
        tally["calls" if calls else "documents"] = (
            tally.get("calls" if calls else "documents", 0) + 1
        )
        if calls:
            assert not message.get("content"), (text, message)
            assert {call["function"]["name"] for call in calls} <= {"get_now", "f"}
        else:
            assert choice == "auto", text
            content = message["content"]
            assert content.strip() in text
            jsonschema.validate(json.loads(content), schema)


@pytest.mark.parametrize("family", FAMILIES)
def test_documents(family):
    try:
        parlance.tool_calling(TOOLS, family)
    except parlance.Error as error:
        pytest.skip(str(error))
    rng = Draw(f"{family} 1")
    tally = {}
    for i in range(60 if LONG else 8):
        choice = "required" if i % 4 == 3 else "auto"
        check(family, rng.schema(), choice, rng, tally)
    print(family, tally)
    assert tally.get("documents", 0) + tally.get("calls", 0) > 0


# Families whose openers of calls may be in JSON.
CALLS_IN_JSON = {
    "llama3_json": ("name", "parameters"),
    "llama4_json": ("name", "parameters"),
    "xlam": ("name", "arguments"),
}


@pytest.mark.parametrize("family", CALLS_IN_JSON)
def test_a_refusal_names_a_text(family):
    name, arguments = CALLS_IN_JSON[family]
    call = {
        "type": "object",
        "properties": {name: {"type": "string"}, arguments: {"type": "object"}},
        "required": [name, arguments],
    }
    tally = {}
    for schema in [
        {"type": "array", "items": call, "minItems": 1},
        {"type": "object", "properties": {"x": {"type": "array", "items": call, "minItems": 1}},
         "required": ["x"]},
    ]:
        check(family, schema, "auto", Draw(1), tally)
    assert tally == {"conflict": 2, "named": 2}
    # Only some documents are calls: those are left out, and the report says so.
    schema = {"type": "array", "items": {**call, "required": [name]}, "maxItems": 2}
    tag = parlance.tool_calling(TOOLS, family, response_format=schema)
    assert any("would be one" in note["message"] for note in tag.report())
    grammar = tag.grammar()
    assert grammar.accepts(f'[{{"{name}": "f"}}]')
    assert not grammar.accepts(f'[{{"{name}": "f", "{arguments}": {{"b": 1}}}}]')


@pytest.mark.parametrize(
    "family, text",
    [
        ("llama3_json", '{"users": [{"name": "a"}]}'),
        ("llama3_json", '{"users": [{"name": "a", "type": "b"}, {"type": "c"}]}'),
        ("xlam", '{"users": [{"name": "a"}]}'),
        ("xlam", '[[{"name": "a"}], [{"name": 1, "arguments": {}}]]'),
    ],
)
def test_an_answer_in_json_keeps_its_last_brackets(family, text):
    """Brackets after a value belong to it when it turns out to be no call."""
    for size in [1, 3, len(text)]:
        parser = parlance.ResponseParser(family, prefix="")
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        parser.finalize()
        assert parser.message == {"role": "assistant", "content": text}
