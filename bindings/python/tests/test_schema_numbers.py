"""Numbers of a schema are what its text says, wherever the text comes in.

What they mean is tested in tests/unit/schema_numbers_test.cc."""

import json

import numpy
import pytest
from parlance import Grammar, SchemaError, StructuralTag, Vocabulary

SCHEMA = '{"minimum": 1.0000000000000000000000001, "maximum": 1e300}'
INSIDE = ["1.1", "1.0000000000000000000000001", "1e299"]
OUTSIDE = ["1", "1.00000000000000000000000009", "2e300"]


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


@pytest.mark.parametrize("spelling", ["canonical", "any"])
@pytest.mark.parametrize(
    "values, used",
    [
        ("[1e-05, 0.5]", "1e-05"),
        ("[1e-05, 1.01e-05]", "1e-05"),
        ("[1e+50, 3]", "1e+50"),
        ("[1e+450, 3]", "1e+450"),
    ],
)
def test_masks_leave_out_numbers_that_were_used(values, used, spelling):
    """After each beginning of a number that masks allow, they allow what is accepted."""
    grammar = Grammar.from_json_schema(
        f'{{"type": "array", "items": {{"enum": {values}}}, "uniqueItems": true}}',
        spelling=spelling,
    )
    tokens = [c.encode() for c in "0123456789.eE+-,[]"] + [b"e-", b".0", b"0e", b"5]"]
    end = len(tokens)
    vocabulary = Vocabulary([*tokens, b"<end>"], special_ids=[end], stop_ids=[end])
    constraint = grammar.compile(vocabulary)
    row = numpy.zeros(constraint.mask_words, numpy.int32)
    pending = [f"[{used},".encode()]
    for _ in range(40):
        text = pending.pop(0)
        matcher = constraint.matcher()
        assert all(matcher.accept_token(tokens.index(bytes([b]))) for b in text)
        matcher.fill_bitmask(row)
        bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
        accepted = []
        for token, spelled in enumerate(tokens):
            trial = matcher.copy()
            if trial.accept_token(token):
                accepted.append(token)
                if len(spelled) == 1 and spelled != b",":
                    pending.append(text + spelled)
        assert numpy.flatnonzero(bits[:end]).tolist() == accepted, text
        assert accepted or bits[end], text
        if not pending:
            break
