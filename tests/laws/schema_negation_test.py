"""What must not hold: formats, patterns and enums under `not`, `if`, `oneOf`, and a
`contains` with a maximum; keys under many patterns; and the escapes of strings.

Vectors, and the law of support/schema_law.py on random schemas of this kind.
"""

import json
import random
from pathlib import Path

import parlance
import pytest

pytest.importorskip("regex")

ROOT = Path(__file__).resolve().parents[2]
from schema_law import explained, failure, grammar_of, narrowed, walk  # noqa: E402
from schema_law import VOCABULARY  # noqa: E402

DATE = '"2020-02-29"'
EITHER = [
    {"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(8)
]
ALL_A = {f"a{i}": 1 for i in range(8)}
FORMAT = ["format"]
# Of the texts of the first, the format's expression has none, but one is a URI.
MIXED = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": r"^(a://\[::1\.2\.3\.4\]|x)$"}},
    "required": ["a"],
}
A_URI = {"properties": {"a": {"format": "uri"}}, "required": ["a"]}

# schema, valid texts, invalid texts, the keywords of the notes
VECTORS = [
    (
        {"type": "string", "oneOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
        ['"1.2.3.4"', '"::1"'],
        ['"x"', '"1.2.3"'],
        [],
    ),
    (
        {"type": "string", "oneOf": [{"format": "date"}, {"enum": ["now"]}]},
        ['"now"', DATE],
        ['"then"'],
        [],
    ),
    # Where two formats have no text in common, nothing is lost.
    (
        {"type": "string", "oneOf": [{"format": "ipv4"}, {"format": "uri"}]},
        ['"1.2.3.4"', '"a:b"'],
        ['"x"'],
        FORMAT,
    ),
    (
        {
            "type": "object",
            "if": {"properties": {"d": {"format": "date"}}, "required": ["d"]},
            "then": {"required": ["zz"]},
        },
        ['{"d":"x"}', '{"d":"2020-02-30"}', f'{{"d":{DATE},"zz":1}}', "{}"],
        [f'{{"d":{DATE}}}'],
        [],
    ),
    ({"type": "string", "not": {"format": "date"}}, ['"x"'], [DATE], []),
    (
        {
            "contains": {"type": "string", "format": "date"},
            "maxContains": 1,
            "type": "array",
        },
        [f"[{DATE}]", f'[{DATE},"x",{DATE[:-1]}0"]'],
        [f"[{DATE},{DATE}]", "[]"],
        [],
    ),
    # What may have the format is not written, and that is said.
    (
        {"type": "string", "not": {"format": "email"}},
        ['"x"', '""'],
        ['"a@b.c"'],
        FORMAT,
    ),
    (
        {"type": "string", "not": {"format": "time"}},
        ['"x"', '"12:00:00"'],
        ['"12:00:00Z"', '"01:29:60+01:30"'],
        FORMAT,
    ),
    (
        {"type": "string", "not": {"format": "hostname"}},
        ['"-x"', '"a b"', '"a..b"'],
        ['"a.b"', '"xn--nxasmq6b"'],
        FORMAT,
    ),
    (
        {"type": "string", "not": {"format": "uri"}},
        ['"x"', '"a:b c"'],
        ['"a:b"', '"a://[1::2:3]/"', '"a://[::1.2.3.4]/"'],
        FORMAT,
    ),
    (
        {"type": "string", "not": {"format": "regex"}},
        ['"*"', '"(a"', '"a("'],
        ['"a"', '"(?<=a)b"', '"(((a)))"'],
        FORMAT,
    ),
    # A part of a complement is no proof.
    (
        {
            "type": "object",
            "allOf": [
                *EITHER,
                {"anyOf": [{"propertyNames": {"format": "date"}}, {"required": ["zz"]}]},
            ],
        },
        [json.dumps(ALL_A | {"zz": 1})],
        [json.dumps(ALL_A)],
        [],
    ),
    (
        {
            "type": "object",
            "allOf": [
                *EITHER,
                {
                    "anyOf": [
                        {"propertyNames": {"not": {"format": "email"}}},
                        {"required": ["zz"]},
                    ]
                },
            ],
        },
        [json.dumps(ALL_A | {"zz": 1}), json.dumps(ALL_A)],
        [json.dumps(ALL_A | {"a@b.c": 1})],
        FORMAT,
    ),
    # Nor is it proved that no value satisfies both rules of "m": just none is written.
    (
        {
            "type": "object",
            "properties": {"m": MIXED},
            "required": ["m"],
            "not": {"properties": {"m": A_URI}, "required": ["m"]},
        },
        ['{"m":{"a":"x"}}'],
        ['{"m":{"a":"a://[::1.2.3.4]"}}'],
        FORMAT,
    ),
    # Bounds that have no successor.
    ({"type": "string", "not": {"minLength": 1}}, ['""'], ['"a"'], []),
    ({"anyOf": [{"not": {"maxLength": 2**64 - 1}}, {"const": 1}]}, ["1"], ['"a"'], []),
    ({"anyOf": [{"not": {"maxProperties": 2**64 - 1}}, {"const": 1}]}, ["1"], ["{}"], []),
    # Many patterns of keys.
    (
        {
            "type": "object",
            "patternProperties": {f"^x{i:02}-": {"type": "integer"} for i in range(65)},
        },
        ['{"q":1}', '{"x00-":1,"q":"s"}', '{"x64-a":1}', "{}"],
        ['{"x64-":"s"}', '{"x00-":null}'],
        [],
    ),
    (
        {
            "type": "object",
            "patternProperties": {f"^x{i:03}-": {"type": "integer"} for i in range(300)},
            "additionalProperties": False,
            "minProperties": 1,
        },
        ['{"x000-":1}', '{"x299-a":1}'],
        ['{"q":1}', "{}", '{"x299-a":"s"}'],
        [],
    ),
    # Escapes, wherever their character is in its range.
    (
        {"type": "string", "pattern": "^[Ѐ-ӿ]+$", "maxLength": 20},
        ['"\\u043f"', '"\\u04ff\\u0400"', '"п"'],
        ['"\\u0500"', '"\\u03ff"'],
        [],
    ),
    (
        {"type": "string", "pattern": "^[一-龥]{2}$|^\U0001f600$", "maxLength": 3},
        ['"\\u9fa5\\u4e00"', '"\\ud83d\\ude00"', '"\\u9FA5日"'],
        ['"\\u9fa6\\u4e00"', '"\\ud83d\\ude01"', '"\\u9fa5"'],
        [],
    ),
]


@pytest.mark.parametrize("spelling", ["canonical", "any"])
@pytest.mark.parametrize("schema, valid, invalid, notes", VECTORS)
def test_vectors(schema, valid, invalid, notes, spelling):
    grammar = grammar_of(schema, spelling=spelling)
    for text in valid:
        if spelling == "any" or "\\" not in text:
            assert grammar.accepts(text), text
    for text in invalid:
        assert not grammar.accepts(text), text
    assert {note["keyword"] for note in narrowed(grammar)} == set(notes)
    constraint = grammar.compile(VOCABULARY)
    for seed in range(3):
        walk(random.Random(seed), constraint)


# A pattern that is ignored is no rule, also where it must not hold.
IGNORED = r"(a)\1"
LENIENT = [
    ({"type": "string", "not": {"pattern": IGNORED}}, ['"x"'], ["1"]),
    (
        {
            "type": "object",
            "properties": {"x": {"type": "string"}},
            "required": ["x"],
            "patternProperties": {IGNORED: {"type": "integer"}},
        },
        ['{"x":"s"}', '{"x":"s","aa":"s"}'],
        ['{"x":1}'],
    ),
    (
        {
            "type": "object",
            "patternProperties": {IGNORED: True},
            "additionalProperties": {"type": "integer"},
        },
        ['{"b":1}'],
        ['{"b":"s"}'],
    ),
    (
        {"type": "string", "oneOf": [{"pattern": IGNORED}, {"maxLength": 2}]},
        ['"x"', '"xyz"'],
        ["1"],
    ),
]


@pytest.mark.parametrize("schema, valid, invalid", LENIENT)
def test_ignored_patterns(schema, valid, invalid):
    grammar = parlance.Grammar.from_json_schema(schema, lenient=True)
    assert [text for text in valid if not grammar.accepts(text)] == []
    assert [text for text in invalid if grammar.accepts(text)] == []
    assert {note["kind"] for note in grammar.report()} == {"ignored"}


def test_a_note_has_its_place():
    grammar = parlance.Grammar.from_json_schema(
        {"properties": {"a": {"type": "string", "not": {"format": "email"}}}}
    )
    assert {note["path"] for note in narrowed(grammar)} == {"/properties/a/not"}


# Of a format, a text that has it and is left out, and a word of the note.
MISSING = [
    ("email", "a@xn--c.d", "Punycode"),
    ("email", "a@[x:y]", "neither IPv4 nor IPv6"),
    ("idn-email", "a@xn--c.d", "Punycode"),
    ("idn-email", "a@[IPv6:::1.2.3.4]", "IPv6 addresses that end"),
    ("idn-hostname", "xn--nxasmq6b", "Punycode"),
    ("idn-hostname", "b\u00fc-cher", "hyphen"),
]


@pytest.mark.parametrize("name, text, says", MISSING)
def test_a_note_names_what_is_left_out(name, text, says):
    grammar = parlance.Grammar.from_json_schema({"type": "string", "format": name})
    assert not grammar.accepts(json.dumps(text, ensure_ascii=False))
    assert [note for note in narrowed(grammar) if says in note["message"]]


FORMATS = ["date", "time", "date-time", "duration", "ipv4", "ipv6", "uuid", "email"]
FORMATS += ["hostname", "uri", "uri-reference", "json-pointer", "uri-template"]
FORMATS += ["relative-json-pointer", "regex"]
PATTERNS = ["^a", "b$", "^[0-9]+$", "^.{3}$", "[^a-f]", "^(?!2)", "@", "^[^@:]*$"]
STRINGS = ["", "a", "b", "ab", "12", "2024-02-29", "2023-02-29", "12:30:00Z", "(a"]
STRINGS += ["2024-02-29T12:30:00Z", "P1D", "1.2.3.4", "::1", "a@b.c", "a.b", "a:b"]
STRINGS += ["/a", "0/a", "{a}", "x y", "*", "é", "23:59:60Z", "00:29:60+00:30"]
STRINGS += ["00000000-0000-0000-0000-000000000000", "xn--a", "http://[::1.2.3.4]/"]


def leaf(rng):
    kind = rng.random()
    if kind < 0.5:
        return {"format": rng.choice(FORMATS)}
    if kind < 0.7:
        return {"pattern": rng.choice(PATTERNS)}
    if kind < 0.85:
        return {"enum": rng.sample(STRINGS, rng.randint(1, 4))}
    return rng.choice([{"minLength": 3}, {"maxLength": 5}, {"type": "string"}])


def rule(rng, depth=2):
    """A schema about strings."""
    if depth == 0 or rng.random() < 0.25:
        return leaf(rng)

    def some():
        return rule(rng, depth - 1)

    choices = [
        lambda: {"not": some()},
        lambda: {"oneOf": [some() for _ in range(rng.randint(2, 3))]},
        lambda: {"anyOf": [some(), some()]},
        lambda: {"allOf": [some(), some()]},
        lambda: {"if": some(), "then": some(), "else": some()},
        lambda: {**leaf(rng), "not": some()},
    ]
    return rng.choice(choices)()


def schema_of(rng):
    """The rule about a text, a member, an item, or keys."""
    one = rule(rng)
    string = {"type": "string", **one}
    choices = [
        lambda: string,
        lambda: {"type": "object", "properties": {"d": one}, "maxProperties": 1},
        lambda: {"type": "object", "if": {"properties": {"d": one}, "required": ["d"]},
                 "then": {"required": ["zz"]}},
        lambda: {"type": "array", "contains": string, "maxContains": 1},
        lambda: {"type": "object", "propertyNames": one, "maxProperties": 2},
        lambda: {"type": "object", "not": {"propertyNames": one}},
        lambda: {"type": "object", "allOf": EITHER[:rng.choice([2, 8])] + [
            {"anyOf": [{"propertyNames": one}, {"required": ["zz"]}]}]},
        lambda: {"type": "object", "patternProperties": {"^a": one, "b": rule(rng, 1)}},
    ]
    return rng.choice(choices)()


def texts_of(rng):
    strings = rng.sample(STRINGS, 12)
    values = [*strings]
    values += [{"d": each} for each in strings[:6]]
    values += [{"d": strings[0], "zz": 1}, {}, [], ALL_A, ALL_A | {"zz": 1}]
    values += [{each: strings[1]} for each in strings[:6]] + [{"b0": 1, "b1": "ab"}]
    values += [strings[:2], strings[2:3], [1], {"ab": strings[3], "aa": strings[4]}]
    return [json.dumps(value, ensure_ascii=False) for value in values]


@pytest.mark.parametrize("seed", range(6))
def test_random_negations(seed):
    rng = random.Random(seed)
    for number in range(60):
        schema, texts = schema_of(rng), texts_of(rng)
        message = failure(schema, "2020-12", texts, number, walks=1, fresh=1)
        if message is not None:
            pytest.fail(explained(schema, "2020-12", texts, number, message,
                                  walks=1, fresh=1))
