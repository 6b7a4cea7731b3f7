"""Grammars, constraints and compilers as bytes, and pickled."""

import copy
import pickle

import pytest

import parlance

TOKENS = [bytes([byte]) for byte in range(128)] + [b"<call>", b"</s>"]
TAG = {
    "format": {
        "type": "triggered_tags",
        "triggers": ["<call>"],
        "tags": [
            {
                "type": "tag",
                "begin": "<call>",
                "end": "}",
                "content": {"type": "json_schema", "json_schema": {"type": "integer"}},
            }
        ],
    }
}


@pytest.fixture(scope="module")
def vocabulary():
    return parlance.Vocabulary(TOKENS, added_ids=[128], stop_ids=[129])


def masks(constraint, text):
    matcher = constraint.matcher()
    out = []
    for char in [*text, ""]:
        row = bytearray(4 * constraint.mask_words)
        matcher.fill_bitmask(memoryview(row).cast("i"))
        out.append(row)
        if not matcher.accept_bytes(char):
            break
    return out


def grammars():
    schema = {"type": "object", "properties": {"a": {"enum": [1, "x"]}}}
    exact = parlance.Grammar.from_json_schema(schema, indent=1, key_order="schema")
    return [
        exact,
        parlance.Grammar.from_regex("a+", limits={"steps": 2**40}),
        parlance.Grammar.from_ebnf('top ::= "a" | "b" top', "top"),
        parlance.Grammar.from_lark("start: @a /x/", grammars={"a": exact}),
        parlance.Grammar.from_structural_tag(TAG),
        parlance.StructuralTag(TAG).grammar(),
        parlance.Grammar.union([exact, parlance.StructuralTag(TAG)]),
    ]


@pytest.mark.parametrize("grammar", grammars())
def test_grammars(grammar, vocabulary):
    for loaded in (
        pickle.loads(pickle.dumps(grammar)),
        pickle.loads(pickle.dumps(grammar, 2)),
        parlance.Grammar.from_bytes(
            grammar.to_bytes(), limits={"steps": 2**40}
        ),
    ):
        assert type(loaded) is parlance.Grammar
        assert loaded.to_ebnf() == grammar.to_ebnf()
        assert loaded.report() == grammar.report()
        assert loaded.to_bytes() == grammar.to_bytes()
        before, after = grammar.compile(vocabulary), loaded.compile(vocabulary)
        for text in ("aaa", "bba", '{\n "a": 1\n}x', "z<call>12}"):
            assert grammar.accepts(text) == loaded.accepts(text)
            assert masks(before, text) == masks(after, text)
    assert copy.copy(grammar) is copy.deepcopy(grammar) is grammar


def test_constraints(vocabulary):
    compiler = parlance.Compiler(vocabulary, stop_ids=[65], grammar_bytes=0)
    constraints = [
        compiler.compile_structural_tag(TAG, markers="either"),
        compiler.compile_structural_tag(TAG),
        compiler.compile(grammars()[0]),
        compiler.compile_lark("start: <call>"),
    ]
    loaded = pickle.loads(pickle.dumps(constraints))
    # One compiler for all of them, with the options of the first.
    assert len({id(one._compiler) for one in loaded}) == 1
    for before, after in zip(constraints, loaded, strict=True):
        assert masks(before, "a<call>1}") == masks(after, "a<call>1}")
        assert masks(before, '{\n "a"') == masks(after, '{\n "a"')
        again = compiler.constraint_from_bytes(after.to_bytes())
        assert masks(again, "x<call>1}") == masks(after, "x<call>1}")
        assert copy.copy(after) is copy.deepcopy(after) is after


def test_compilers(vocabulary):
    compiler = parlance.Compiler(vocabulary, stop_ids=[65])
    loaded = pickle.loads(pickle.dumps(compiler))
    assert loaded.mask_words == compiler.mask_words
    assert masks(loaded.compile_regex("a+"), "a") == masks(
        compiler.compile_regex("a+"), "a"
    )


def test_errors(vocabulary):
    data = parlance.Grammar.from_regex("a", limits={"steps": 2**40}).to_bytes()
    with pytest.raises(parlance.GrammarError, match="limit steps") as caught:
        parlance.Grammar.from_bytes(data)
    assert caught.value.code == "too_large"
    for bad in (b"", data[:-1], data + b" "):
        with pytest.raises(parlance.GrammarError) as caught:
            parlance.Grammar.from_bytes(bad)
        assert caught.value.code == "invalid_value"
    with pytest.raises(TypeError, match="data must be bytes"):
        parlance.Grammar.from_bytes("text")
    other = parlance.Vocabulary([b"a", b"</s>"], stop_ids=[1])
    constraint = parlance.Grammar.from_regex("a").compile(vocabulary)
    with pytest.raises(parlance.Error) as caught:
        parlance.Compiler(other).constraint_from_bytes(constraint.to_bytes())
    assert caught.value.code == "bad_vocabulary"
    with pytest.raises(parlance.Error) as caught:
        parlance.Compiler(other).constraint_from_bytes(b"parlance constraint 7 ")
    assert caught.value.code == "unsupported_version"
