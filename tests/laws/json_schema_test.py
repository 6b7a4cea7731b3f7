"""Laws of grammars made from JSON Schemas, on random walks.

*No dead ends*: each mask has a bit.  *Sound*: what a walk writes is valid, says
the package jsonschema.  *Same meaning, same language*: S, allOf [S, S], and
not not S; an object whose members come in another order.
"""

import json
import random

import numpy
import pytest

import parlance

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("regex")
from schema_law import TOKENS, VOCABULARY, walk  # noqa: E402

WALKS = 12

SCHEMAS = {
    "anything": True,
    "scalars": {"type": ["boolean", "null", "integer"]},
    "string": {"type": "string", "minLength": 2, "maxLength": 6},
    "pattern": {"type": "string", "pattern": "^(ab|[0-9]{2,3})+$"},
    "search": {"type": "string", "pattern": "b+c", "maxLength": 9},
    "integers": {"type": "integer", "minimum": -12, "exclusiveMaximum": 100},
    "multiples": {"type": "number", "multipleOf": 0.5, "maximum": 20,
                  "minimum": -3},
    "enum": {"enum": ["a", "ab", 1, 1.5, None, [1, {"a": 2}], {"b": []}]},
    "const": {"const": {"kind": "x", "tag": [1, "é"]}},
    "array": {"type": "array", "items": {"type": "integer"}, "minItems": 1,
              "maxItems": 3},
    "prefix": {"type": "array", "prefixItems": [{"type": "string"},
                                                {"type": "boolean"}],
               "items": {"type": "null"}},
    "contains": {"type": "array", "contains": {"const": 1}, "maxContains": 2,
                 "items": {"type": "integer", "minimum": 0, "maximum": 3},
                 "maxItems": 6},
    "unique": {"type": "array", "uniqueItems": True,
               "items": {"enum": [1, 2, "ab", None]}},
    "object": {"type": "object", "required": ["name", "kind"],
               "properties": {"name": {"type": "string", "maxLength": 4},
                              "kind": {"enum": ["ab", "tag"]},
                              "tag": {"type": "integer"}},
               "additionalProperties": False},
    "open": {"type": "object", "required": ["name"],
             "properties": {"name": {"type": "null"}}, "maxProperties": 3},
    "names": {"type": "object", "propertyNames": {"pattern": "^[ab]+$"},
              "additionalProperties": {"type": "boolean"},
              "minProperties": 1, "maxProperties": 2},
    "patterns": {"type": "object", "patternProperties":
                 {"^a": {"type": "integer"}, "b$": {"minimum": 5}},
                 "additionalProperties": False},
    "dependent": {"type": "object", "properties": {"tag": {}, "kind": {}},
                  "dependentRequired": {"tag": ["kind"]},
                  "additionalProperties": False},
    "conditional": {"type": "object",
                    "properties": {"kind": {"enum": ["ab", "tag"]},
                                   "name": {}},
                    "required": ["kind"],
                    "if": {"properties": {"kind": {"const": "ab"}}},
                    "then": {"properties": {"name": {"type": "integer"}}},
                    "else": {"required": ["name"]},
                    "additionalProperties": False},
    "any": {"anyOf": [{"type": "integer", "minimum": 3},
                      {"type": "string", "maxLength": 2}, {"const": [1]}]},
    "one": {"oneOf": [{"type": "integer", "maximum": 8},
                      {"type": "integer", "minimum": 4, "maximum": 20}]},
    "all": {"allOf": [{"type": "object", "properties":
                       {"name": {"type": "string"}}},
                      {"required": ["name"], "properties":
                       {"name": {"maxLength": 3}}}],
            "unevaluatedProperties": False},
    "not": {"type": "string", "not": {"enum": ["a", "ab"]}, "maxLength": 3},
    "recursive": {"$ref": "#/$defs/tree", "$defs": {"tree": {
        "type": "object", "required": ["name"],
        "properties": {"name": {"type": "integer"},
                       "tag": {"type": "array",
                               "items": {"$ref": "#/$defs/tree"}}},
        "additionalProperties": False}}},
    "date": {"type": "string", "format": "date"},
}

# What costs more to say twice than a grammar may.
REFUSED = {"unsupported", "too_large"}


def grammar_of(schema, **options):
    return parlance.Grammar.from_json_schema(
        schema, max_white_space=3, **options
    )


def walks(name):
    rng = random.Random(name)
    constraint = grammar_of(SCHEMAS[name]).compile(VOCABULARY)
    found = [walk(rng, constraint) for _ in range(WALKS)]
    return [text for text in found if text is not None]


def damaged(rng, text):
    """The text with a character changed, left out, or put in."""
    at = rng.randrange(len(text))
    new = rng.choice(['"', "1", "a", ",", "}", " ", "-", "b", ""])
    return text[:at] + new + text[at + rng.randrange(2):]


@pytest.mark.parametrize("name", SCHEMAS)
def test_walks_end_and_are_valid(name):
    texts = walks(name)
    assert texts
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    for text in texts:
        validator.validate(json.loads(text))
        assert grammar_of(SCHEMAS[name]).accepts(text)


def is_valid(validator, text):
    try:
        return validator.is_valid(json.loads(text))
    except ValueError:
        return False


@pytest.mark.parametrize("name", SCHEMAS)
def test_damaged_texts_are_accepted_only_if_valid(name):
    rng = random.Random(name)
    grammar = grammar_of(SCHEMAS[name])
    validator = jsonschema.Draft202012Validator(
        SCHEMAS[name],
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )
    for text in walks(name):
        for _ in range(10):
            other = damaged(rng, text)
            if grammar.accepts(other):
                assert is_valid(validator, other), other


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("form", ["both", "twice not", "any", "referred"])
def test_same_meaning_same_language(name, form):
    schema = SCHEMAS[name]
    if form == "referred" and name == "recursive":
        pytest.skip("its own references are to the root")
    same = {
        "both": {"allOf": [schema, schema]},
        "twice not": {"not": {"not": schema}},
        "any": {"anyOf": [schema, False]},
        "referred": {"$ref": "#/$defs/s", "$defs": {"s": schema}},
    }[form]
    if name == "recursive":
        same["$defs"] = schema["$defs"]
    plain = grammar_of(schema)
    try:
        grammar = grammar_of(same)
    except parlance.SchemaError as error:
        assert error.code in REFUSED, error
        pytest.skip(str(error))
    rng = random.Random(name)
    # A narrowed one may refuse what is valid, and nothing more.
    exact = not grammar.report() and not plain.report()
    for text in walks(name):
        for other in [text, *(damaged(rng, text) for _ in range(5))]:
            if exact:
                assert grammar.accepts(other) == plain.accepts(other), other


def shuffled(rng, value):
    if isinstance(value, list):
        return [shuffled(rng, item) for item in value]
    if not isinstance(value, dict):
        return value
    members = list(value.items())
    rng.shuffle(members)
    return {key: shuffled(rng, member) for key, member in members}


@pytest.mark.parametrize("name", SCHEMAS)
def test_members_may_come_in_any_order(name):
    rng = random.Random(name)
    grammar = grammar_of(SCHEMAS[name])
    for text in walks(name):
        value = json.loads(text)
        for _ in range(3):
            other = json.dumps(shuffled(rng, value), ensure_ascii=False)
            if "Infinity" not in other and "e" not in text.lower():
                assert grammar.accepts(other), other


def test_masks_bar_the_strings_that_were_used():
    schema = {"uniqueItems": True, "items": {"type": "string", "maxLength": 2}}
    constraint = parlance.Grammar.from_json_schema(schema).compile(VOCABULARY)
    row = numpy.zeros(constraint.mask_words, numpy.int32)
    for text in ['["', '["a","', '["ab","', '["ab","a', '["é","', '["éa","é']:
        matcher = constraint.matcher()
        assert all(map(matcher.accept_token, text.encode()))
        matcher.fill_bitmask(row)
        bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
        for token in range(len(TOKENS)):
            assert matcher.copy().accept_token(token) == bits[token], (text, token)
