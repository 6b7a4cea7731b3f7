"""Numbers of a schema are what its text says, wherever the text comes in.

What they mean is tested in tests/unit/schema_numbers_test.cc."""

import json

import pytest
from parlance import Grammar, SchemaError, StructuralTag

SCHEMA = '{"minimum": 1.0000000000000000000000001, "maximum": 1e400}'
INSIDE = ["1.1", "1.0000000000000000000000001", "1e399"]
OUTSIDE = ["1", "1.00000000000000000000000009", "2e400"]


def tag(text):
    return StructuralTag(
        '{"type": "structural_tag", "format": '
        '{"type": "json_schema", "json_schema": ' + text + "}}"
    )


@pytest.mark.parametrize(
    "make",
    [
        Grammar.from_json_schema,
        lambda text: Grammar.from_ebnf(f"root ::= JsonSchema({json.dumps(text)})"),
        lambda text: Grammar.from_lark(f"start: %json {text}"),
        lambda text: Grammar.from_structural_tag(tag(text)),
    ],
    ids=["schema", "ebnf", "lark", "tag"],
)
def test_digits_of_a_text_are_kept(make):
    grammar = make(SCHEMA)
    assert [text for text in INSIDE + OUTSIDE if grammar.accepts(text)] == INSIDE


def test_a_dict_has_what_python_has():
    power = 10**400
    assert Grammar.from_json_schema({"const": power}).accepts(str(power))
    assert Grammar.from_json_schema({"minimum": 2**64}).accepts(str(2**64))
    assert not Grammar.from_json_schema({"minimum": 2**64}).accepts(str(2**64 - 1))
    assert Grammar.from_json_schema({"const": 0.1}).accepts("0.1")


@pytest.mark.parametrize("schema", ['{"maximum": 1e4301}', {"multipleOf": 10**4300}])
def test_more_digits_than_are_kept_are_an_error(schema):
    with pytest.raises(SchemaError) as raised:
        Grammar.from_json_schema(schema)
    assert raised.value.code == "too_large"
