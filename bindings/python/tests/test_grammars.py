"""Grammars as text: what the binding itself adds."""

import pickle

import numpy
import pytest

import parlance
from parlance import Grammar

TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<call>",
        "content": {
            "type": "json_schema",
            "json_schema": {"type": "object", "required": ["a"]},
        },
        "end": "</call>",
    },
}


@pytest.mark.parametrize(
    ("grammar", "good", "bad"),
    [
        (Grammar.from_ebnf('root ::= "a" root | "b"'), "aaab", "aab b"),
        (Grammar.from_ebnf('x ::= "é"+', root_rule="x"), "éé", ""),
        (Grammar.from_regex("[0-9]{2,3}-x?"), "123-x", "1-x"),
        (Grammar.from_lark('start: "a" B\nB: /[0-9]+/'), "a42", "ab"),
        (Grammar.from_structural_tag(TAG), '<call>{"a": 1}</call>', "<call>{}"),
        (
            Grammar.union([Grammar.from_regex("a"), Grammar.from_regex("b+")]),
            "bb",
            "ab",
        ),
        (
            Grammar.concat(
                [
                    Grammar.from_regex("a"),
                    Grammar.from_json_schema({"type": "null"}),
                ]
            ),
            "anull",
            "null",
        ),
    ],
)
def test_texts(grammar, good, bad):
    assert grammar.accepts(good) and grammar.accepts(good.encode())
    assert grammar.explain(good) is None
    assert not grammar.accepts(bad)
    assert grammar.explain(bad)["offset"] <= len(bad)


def test_masks():
    tokens = [b"a", b"b", b"ab", b"c"]
    vocabulary = parlance.Vocabulary(
        [*tokens, b"</s>"], special_ids=[4], stop_ids=[4]
    )
    matcher = Grammar.from_ebnf('root ::= "ab"+').compile(vocabulary).matcher()
    row = numpy.zeros(1, numpy.int32)
    matcher.fill_bitmask(row)
    assert row[0] == 0b00101
    assert matcher.accept_token(2)
    matcher.fill_bitmask(row)
    assert row[0] == 0b10101


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Grammar.from_ebnf("root ::= ("), "bad_syntax"),
        (lambda: Grammar.from_ebnf('x ::= "a"'), None),
        (lambda: Grammar.from_regex("a(?=b)"), "unsupported_pattern"),
        (lambda: Grammar.from_lark("start: missing"), None),
        (lambda: Grammar.from_structural_tag({"type": "tag"}), None),
    ],
)
def test_errors(make, code):
    with pytest.raises(parlance.GrammarError) as caught:
        make()
    assert code is None or caught.value.code == code
    assert caught.value.message


def test_places():
    with pytest.raises(parlance.GrammarError) as caught:
        Grammar.from_ebnf('root ::= "é"\n  (x')
    error = caught.value
    assert (error.line, error.column) == (2, 3)
    assert "(line 2, column 3)" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (again.line, str(again)) == (2, str(error))
    with pytest.raises(parlance.GrammarError) as caught:
        Grammar.from_structural_tag({"format": {"type": "regex", "pattern": "("}})
    assert caught.value.path == "/format/pattern"
    assert str(caught.value).endswith("(at /format/pattern)")
    assert parlance.Error("no source").line is None


def test_printed():
    schema = {"properties": {"a": {"type": "integer"}}, "type": "object"}
    grammar = Grammar.from_json_schema(schema, indent=1, closed=True)
    again = Grammar.from_ebnf(grammar.to_ebnf())
    assert again.accepts('{\n "a": 1\n}')
    assert not again.accepts('{"a": 1}') and not again.accepts('{\n "b": 1\n}')
