"""The part of llguidance's interface that vLLM calls."""

import json
import subprocess
import sys

import numpy
import parlance
import pytest
from parlance.integrations import llguidance

TOKENS = [bytes([i]) for i in range(256)] + [b"<f", b"<end>", b"<stop>"]
END, STOP = 257, 258
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def tokenizer():
    vocabulary = parlance.Vocabulary(TOKENS, control_ids=[END, STOP])
    return llguidance.LLTokenizer(vocabulary, n_vocab=300, eos_token=[END, STOP])


def matcher_of(tokenizer, grammar):
    matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    assert matcher.get_error() == ""
    return matcher


def mask(matcher):
    row = numpy.zeros(10, numpy.int32)
    matcher.fill_row(row)
    bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
    return set(numpy.flatnonzero(bits).tolist())


def test_tokenizer(tokenizer):
    assert tokenizer.vocab_size == 300
    assert tokenizer.eos_token == END and tokenizer.eos_tokens == [END, STOP]
    with pytest.raises(ValueError, match="eos_token"):
        llguidance.LLTokenizer(parlance.Vocabulary(TOKENS))


def test_end_of_a_text(tokenizer):
    matcher = matcher_of(tokenizer, llguidance.grammar_from("regex", "ab?"))
    assert mask(matcher) == {97} and not matcher.is_accepting()
    assert matcher.consume_tokens([97])
    assert mask(matcher) == {98, END, STOP}
    assert matcher.is_accepting() and not matcher.is_stopped()
    assert matcher.consume_token(98)
    assert matcher.is_stopped() and mask(matcher) == {END, STOP}
    assert matcher.validate_tokens([END, STOP, 97]) == 2
    assert matcher.consume_tokens([END]) and matcher.is_stopped()
    assert matcher.rollback(2) and not matcher.is_stopped()
    assert mask(matcher) == {98, END, STOP}
    assert not matcher.rollback(2)  # only one token is left
    copy = matcher.deep_copy()
    assert matcher.reset() and mask(matcher) == {97}
    assert mask(copy) == {98, END, STOP}


def test_a_token_that_does_not_fit_is_an_error_for_good(tokenizer):
    matcher = matcher_of(tokenizer, llguidance.grammar_from("regex", "ab"))
    assert matcher.try_consume_tokens([97, 97]) == 1
    assert not matcher.consume_tokens([97])
    assert matcher.is_error() and "97" in matcher.get_error()
    assert matcher.is_stopped() and mask(matcher) == {END, STOP}
    assert not matcher.consume_tokens([98]) and not matcher.rollback(1)
    assert not matcher.reset() and matcher.validate_tokens([98]) == 0


@pytest.mark.parametrize(
    ("format", "text", "good", "bad"),
    [
        ("choice", '["a", "b\\n"]', b"b\n", b"b"),
        ("json_schema", json.dumps(SCHEMA), b'{"n": 1}', b'{"n": ""}'),
        ("grammar", 'root ::= "x" | "(" root ")"', b"((x))", b"(x"),
        ("grammar", 'start: "x" | "(" start ")"', b"((x))", b"(x"),
        ("gbnf", 'root ::= "x"', b"x", b"y"),
        ("llguidance", 'start: "y"', b"y", b"x"),
    ],
)
def test_grammars(tokenizer, format, text, good, bad):
    grammar = llguidance.grammar_from(format, text)
    for piece, fits in ((good, True), (bad, False)):
        matcher = matcher_of(tokenizer, grammar)
        assert (matcher.consume_tokens([*piece, END])) is fits
    assert llguidance.LLMatcher.validate_grammar(grammar) == ""
    assert llguidance.LLMatcher.validate_grammar(grammar, tokenizer) == ""


def test_grammars_as_json(tokenizer):
    grammar = {
        "grammars": [
            {"name": "top", "lark_grammar": 'start: "<" @inner ">"'},
            {"name": "inner", "json_schema": {"enum": [1, 2]}},
        ]
    }
    matcher = matcher_of(tokenizer, json.dumps(grammar))
    assert matcher.consume_tokens([*b"<2>", END])
    matcher = matcher_of(tokenizer, json.dumps({"grammars": [{"json_schema": SCHEMA}]}))
    assert matcher.consume_tokens([*b'{"n":1}', END])


def test_white_space_is_an_option(tokenizer):
    for flexible in (True, False):
        grammar = llguidance.LLMatcher.grammar_from_json_schema(
            SCHEMA, defaults={"whitespace_flexible": flexible}
        )
        assert matcher_of(tokenizer, grammar).consume_tokens(b'{"n":1}')
        found = llguidance.LLMatcher(tokenizer, grammar)
        assert found.consume_tokens(b'{"n": 1}') is flexible


@pytest.mark.parametrize(
    "grammar",
    [
        "start: x",
        "{",
        '{"a": 1}',
        '{"grammars": []}',
        llguidance.grammar_from("regex", "(a"),
        llguidance.grammar_from("json_schema", '{"type": "strin"}'),
    ],
)
def test_what_cannot_be_used_is_a_text(tokenizer, grammar):
    assert llguidance.LLMatcher.validate_grammar(grammar)
    matcher = llguidance.LLMatcher(tokenizer, grammar)
    assert matcher.is_error() and matcher.is_stopped() and matcher.get_error()
    assert not matcher.is_accepting() and matcher.deep_copy().is_error()


def test_tags(tokenizer):
    schema = llguidance.LLMatcher.grammar_from_json_schema(
        SCHEMA, defaults={"whitespace_flexible": False}
    )
    tags = [
        llguidance.StructTag(trigger="[f", begin="[f=x]", grammar=schema, end="[/f]"),
        llguidance.StructTag(trigger="[f", begin="[f=y]", grammar=SCHEMA, end="!"),
    ]
    grammar = llguidance.StructTag.to_grammar(tags)
    matcher = matcher_of(tokenizer, grammar)
    assert matcher.consume_tokens([*b'hm [f=x]{"n":1}[/f], [f=y]{"n": 2}! so', END])
    assert not matcher_of(tokenizer, grammar).consume_tokens(b"hm [f=z")
    for wrong in (
        lambda: llguidance.StructTag(trigger="a", begin="b", grammar=SCHEMA, end=""),
        lambda: llguidance.StructTag.to_grammar([]),
        lambda: llguidance.grammar_from("nope", ""),
        lambda: llguidance.grammar_from("choice", "[]"),
        lambda: llguidance.LLMatcher.grammar_from_json_schema("{"),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_tags_have_the_white_space_of_their_grammar(tokenizer):
    for separators, most in ((None, 1), ((",", ":"), 1), ((",", ":  "), 2)):
        text = llguidance.JsonCompiler(separators).compile(json.dumps(SCHEMA))
        tag = llguidance.StructTag(trigger="[f", begin="[f]", grammar=text, end="!")
        grammar = llguidance.StructTag.to_grammar([tag])
        for blanks in range(4):
            call = b'[f]{"n":' + b" " * blanks + b"1}!"
            accepted = matcher_of(tokenizer, grammar).consume_tokens(call)
            assert accepted == (blanks <= most), (separators, blanks)


def test_import_llguidance_finds_it():
    code = (
        "from parlance.integrations import llguidance as ours\n"
        "ours.install()\n"
        "import sys, llguidance, llguidance.hf as hf, llguidance.torch as t\n"
        "assert llguidance is ours and hf is ours.hf\n"
        "assert t.get_bitmask_shape(2, 65) == (2, 3)\n"
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules\n"
        "ours.uninstall()\n"
        "assert 'llguidance' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tokenizers_of_transformers():
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    from parlance.integrations.llguidance import hf

    pieces = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {piece: i for i, piece in enumerate(pieces)}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[]))
    backend.decoder = tokenizers.decoders.ByteLevel()
    backend.add_special_tokens(["<end>"])
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>"
    )
    tokenizer = hf.from_tokenizer(made, 400)
    assert tokenizer.vocab_size == 400 and tokenizer.eos_token == made.eos_token_id
    with pytest.raises(ValueError):
        hf.from_tokenizer(object())
