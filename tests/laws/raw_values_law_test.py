"""Strings that a family writes as plain text, between markers of its own.

Three laws on random bounds, patterns, formats and unions:

* *raw*: `spelling="raw"` accepts exactly the strings that are valid;
* *masks*: a mask has exactly the tokens that can be read, also where a bound is near;
* *call*: the grammar of a family accepts a call exactly where its value is valid, and
  the parser of the family reads the call back.

And a table: what was refused as too large compiles in every family, with automata that
do not grow with the bound.
"""

import json
import random

import numpy
import parlance
import pytest

pytest.importorskip("regex")

from schema_judge import Judge, parse, write  # noqa: E402
from schema_law import END, TOKENS, VOCABULARY  # noqa: E402

FAMILIES = [
    name
    for name in parlance.formats()
    if name not in ("chatml", "gemma3", "kimi_vl", "phi3_5")  # no calls
]
RAW = """cohere_cofl_xml deepseek_v3_2 deepseek_v4 deepseek_v4_1 dots functiongemma gemma4
gigachat3_5 glm4_5 glm4_7 hunyuan_v3 iquest_q1 k2_horizon kimi_k3 laguna minicpm5
minimax_m2 minimax_m3 muse_glimmer qwen3_coder seed_oss solar_open2 step3""".split()

LONG = {
    "email": {"type": "string", "format": "email", "maxLength": 320},
    "uri": {"type": "string", "format": "uri", "maxLength": 255},
    "optional": {"anyOf": [{"type": "string", "maxLength": 2000}, {"type": "null"}]},
    "not blank": {"type": "string", "pattern": "\\S", "maxLength": 5000},
    "both": {"type": "string", "minLength": 1000, "maxLength": 2000},
    "number": {"anyOf": [{"type": "string", "maxLength": 10000}, {"type": "number"}]},
    "least": {"type": "string", "minLength": 500},
    "repeat": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,2000}$"},
    "words": {"type": "string", "pattern": "^([a-z]+ ){3,900}$", "maxLength": 4000},
    "lines": {"type": "string", "pattern": "^[^\\n]*$", "maxLength": 4000},
    "different": {
        "anyOf": [
            {"type": "string", "pattern": "^a", "maxLength": 3000},
            {"type": "string", "pattern": "b$", "minLength": 400},
        ]
    },
}


def tools_of(schema):
    parameters = {
        "type": "object",
        "properties": {"v": schema},
        "required": ["v"],
        "additionalProperties": False,
    }
    return [{"type": "function", "function": {"name": "f", "parameters": parameters}}]


def grammar_of(family, schema):
    return parlance.Format(family).grammar(tools_of(schema), tool_choice="required")


def call_of(family, value, tools):
    """The text of a call with the value; None where the family cannot write it."""
    message = {
        "role": "assistant",
        "tool_calls": [
            {"type": "function", "function": {"name": "f", "arguments": {"v": value}}}
        ],
    }
    try:
        return parlance.Format(family).render(message, tools=tools)
    except parlance.Error:
        return None


def value_of(family, text, tools):
    """What the parser of the family reads, and whether it is one call."""
    message = parlance.parse_response(text, family, prefix="", tools=tools)
    calls = message.get("tool_calls", [])
    if len(calls) != 1:
        return None, False
    return calls[0]["function"]["arguments"].get("v"), True


@pytest.mark.parametrize("family", FAMILIES)
def test_long_strings_compile(family):
    for name, schema in LONG.items():
        assert grammar_of(family, schema) is not None, name


@pytest.mark.parametrize("family", RAW)
def test_the_size_of_a_grammar_does_not_grow_with_the_bound(family):
    def size(bound):
        schema = {"type": "string", "minLength": bound, "maxLength": 2 * bound}
        constraint = grammar_of(family, schema).compile(VOCABULARY)
        return constraint.memory_bytes

    size(100)
    assert size(100_000) <= size(1000) * 1.1 + 4096


# --- Random schemas ----------------------------------------------------------

ALPHABET = ["a", "b", "x", "-", " ", "\n", "<", "é", "漢", "3", '"', "\\", "."]
PATTERNS = ["\\S", "^[a-z]", "x$", "a.*b", "^[a-z][a-z0-9-]{0,30}$", "^(a|bb)*$"]
PATTERNS += ["^[^\\n]*$", "^.{3}$", "\\n", "^\\s*$", "^(x{2,20}-){1,5}$"]
BOUNDS = [0, 1, 2, 3, 16, 17, 18, 40]


def strings(rng):
    schema = {"type": "string"}
    if rng.random() < 0.6:
        schema["maxLength"] = rng.choice(BOUNDS)
    if rng.random() < 0.4:
        schema["minLength"] = rng.choice(BOUNDS[: 1 + rng.randrange(len(BOUNDS))])
    if rng.random() < 0.4:
        schema["pattern"] = rng.choice(PATTERNS)
    if rng.random() < 0.15:
        schema["not"] = {"pattern": rng.choice(PATTERNS)}
    if rng.random() < 0.05:
        schema["format"] = rng.choice(["date", "ipv4", "uuid"])
    return schema


def random_schema(rng, only_strings=False):
    kind = rng.random()
    if kind < 0.55:
        return strings(rng)
    if kind < 0.75 or only_strings:
        return {"anyOf": [strings(rng), strings(rng)]}
    other = rng.choice(["null", "number", "integer", "boolean"])
    return {"anyOf": [strings(rng), {"type": other}]}


def random_text(rng):
    some = rng.sample(ALPHABET, rng.randrange(1, 4))
    size = rng.choice([0, 1, 2, 3, 4, 15, 16, 17, 18, 19, 39, 40, 41])
    text = "".join(rng.choice(some) for _ in range(size))
    if rng.random() < 0.2:
        text = rng.choice(["null", "12", "true", "1.5", "2024-01-31", "xx-", "ab"])
    return text


def raw_grammar(schema):
    try:
        return parlance.Grammar.from_json_schema(schema, spelling="raw")
    except parlance.SchemaError as error:
        assert error.code == "unsatisfiable", (schema, error)
        return None


@pytest.mark.parametrize("seed", range(60))
def test_raw_texts_are_the_valid_strings(seed):
    rng = random.Random(seed)
    for _ in range(5):
        schema = random_schema(rng, only_strings=True)
        judge = Judge(write(schema), "2020-12")
        grammar = raw_grammar(schema)
        for _ in range(40):
            text = random_text(rng)
            valid = judge.verdict(parse(json.dumps(text)))
            accepted = grammar is not None and grammar.accepts(text)
            assert accepted == valid, (schema, text)


@pytest.mark.parametrize("seed", range(20))
def test_masks_near_a_bound(seed):
    rng = random.Random(seed)
    schema = random_schema(rng, only_strings=True)
    if raw_grammar(schema) is None:
        return
    options = json.dumps({"spelling": "raw", "excludes": ["</v>"]})
    for text in [
        f"root ::= JsonSchema({json.dumps(json.dumps(schema))}, "
        f'options={json.dumps(options)}) "</v>"'
    ]:
        try:
            grammar = parlance.Grammar.from_ebnf(text)
        except parlance.GrammarError as error:
            assert error.code == "unsatisfiable"
            return
        constraint = grammar.compile(VOCABULARY)
        row = numpy.zeros(constraint.mask_words, numpy.int32)
        matcher = constraint.matcher()
        for _ in range(60):
            matcher.fill_bitmask(row)
            bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
            allowed = [id for id in range(END) if bits[id]]
            for id in range(END):
                assert matcher.copy().accept_token(id) == bool(bits[id]), (
                    schema,
                    TOKENS[id],
                )
            if not allowed:
                assert matcher.can_end()
                break
            plain = [id for id in allowed if TOKENS[id] in (b"a", b"b", b"x", b"-")]
            matcher.accept_token(rng.choice(plain if rng.random() < 0.8 and plain else allowed))


# --- Calls -------------------------------------------------------------------


@pytest.mark.parametrize("family", RAW)
def test_calls_are_accepted_where_their_value_is_valid(family):
    rng = random.Random(family)
    anything = tools_of({"type": "string"})
    for _ in range(12):
        schema = random_schema(rng)
        judge = Judge(write(schema), "2020-12")
        tools = tools_of(schema)
        try:
            grammar = grammar_of(family, schema)
        except parlance.Error as error:
            assert error.code in ("unsatisfiable", "conflict"), (schema, error)
            grammar = None
        for _ in range(25):
            text = random_text(rng)
            call = call_of(family, text, anything)
            if call is None or value_of(family, call, anything)[0] != text:
                continue  # the notation has no such string
            accepted = grammar is not None and grammar.accepts(call)
            value, read = value_of(family, call, tools)
            if accepted:
                assert read, (schema, call)
                assert judge.verdict(parse(json.dumps(value))), (schema, call, value)
            elif judge.verdict(parse(json.dumps(text))):
                raise AssertionError(f"valid and refused: {schema} {call!r}")
