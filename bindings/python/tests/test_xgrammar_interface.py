"""XGrammar's interface: what a program that was written for it relies on.

Masks and verdicts are compared with the library's own (`parlance.Matcher`), so
that only the translation is tested here; tests/differential compares with
XGrammar itself.
"""

import copy
import importlib.util
import itertools
import json
import os
import pickle
import random
import subprocess
import sys

import numpy
import parlance
import parlance.integrations.xgrammar as xgrammar
import pytest

TOKENS = ["{", "}", '"a"', ":", "1", "2", ",", " ", "x", "ab", "<tool>", "é", "</s>", ""]
STOP = TOKENS.index("</s>")
SIZE = 40
INFO = xgrammar.TokenizerInfo(TOKENS, vocab_size=SIZE)
COMPILER = xgrammar.GrammarCompiler(INFO)
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<tool>"],
        "tags": [
            {
                "type": "tag",
                "begin": "<tool>",
                "content": {"type": "json_schema", "json_schema": SCHEMA},
                "end": "x",
            }
        ],
    },
}
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None,
    reason="torch is not installed",
)


def numpy_bitmask(rows=1):
    return numpy.full(xgrammar.get_bitmask_shape(rows, SIZE), -1, numpy.int32)


def allowed(matcher):
    bitmask = numpy_bitmask()
    matcher.fill_next_token_bitmask(bitmask)
    bits = xgrammar.testing.bitmask_to_bool_mask(bitmask, SIZE)
    return [i for i, bit in enumerate(bits[0]) if bit]


def sources():
    yield COMPILER.compile_json_schema(SCHEMA), parlance.Grammar.from_json_schema(
        SCHEMA, max_white_space=None, closed=True, key_order="schema"
    )
    yield COMPILER.compile_regex("[a-z]+|1"), parlance.Grammar.from_regex("[a-z]+|1")
    ebnf = 'root ::= "x" root | "1"'
    yield COMPILER.compile_grammar(ebnf), parlance.Grammar.from_ebnf(ebnf)
    lark = "start: /x+/ NUMBER\nNUMBER: /[12]{2}/"
    yield COMPILER.compile_lark(lark), parlance.Grammar.from_lark(lark)
    yield (
        COMPILER.compile_structural_tag(TAG),
        parlance.Grammar.from_structural_tag(TAG),
    )


@pytest.mark.parametrize("number", range(5))
def test_masks_are_those_of_the_library(number):
    compiled, grammar = next(itertools.islice(sources(), number, None))
    same = xgrammar.CompiledGrammar.deserialize_json(compiled.serialize_json(), INFO)
    again = COMPILER.compile_grammar(compiled.grammar)
    generator = random.Random(number)
    for _ in range(20):
        matcher = grammar.compile(INFO.vocabulary, markers="text").matcher()
        others = [xgrammar.GrammarMatcher(c) for c in (compiled, same, again)]
        for _ in range(12):
            row = numpy_bitmask()
            matcher.fill_bitmask(row)
            bits = xgrammar.testing.bitmask_to_bool_mask(row, SIZE)[0]
            may = [i for i, bit in enumerate(bits) if bit]
            assert all(allowed(other) == may for other in others)
            token = generator.choice(may)
            assert matcher.accept_token(token)
            assert all(other.accept_token(token) for other in others)
            assert all(other.is_terminated() == (token == STOP) for other in others)
            if token == STOP:
                break


def test_the_end_of_a_text():
    compiled = COMPILER.compile_grammar('root ::= "x" "1"?')
    matcher = xgrammar.GrammarMatcher(compiled)
    assert matcher.stop_token_ids == [STOP]
    assert not matcher.accept_token(STOP) and matcher.accept_string("x")
    assert matcher.is_completed() and not matcher.is_terminated()
    assert allowed(matcher) == [TOKENS.index("1"), STOP]
    assert matcher.accept_token(STOP) and matcher.is_terminated()
    assert not matcher.accept_token(0) and not matcher.accept_string("1")
    with pytest.raises(RuntimeError, match="stop token"):
        matcher.fill_next_token_bitmask(numpy_bitmask())
    matcher.rollback(1)
    assert not matcher.is_terminated() and matcher.accept_string("1")
    assert allowed(matcher) == [STOP]
    matcher.reset()
    assert allowed(matcher) == [TOKENS.index("x")]


def test_without_stop_tokens():
    compiled = COMPILER.compile_grammar('root ::= "x" "1"?')
    matcher = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
    assert matcher.accept_string("x") and matcher.is_terminated()
    assert not matcher.accept_token(STOP)
    assert matcher.accept_string("1") and matcher.is_terminated()

    none = xgrammar.TokenizerInfo(["x", "1"], stop_token_ids=[])
    compiled = xgrammar.GrammarCompiler(none).compile_grammar('root ::= "x"')
    matcher = xgrammar.GrammarMatcher(compiled)
    bitmask = numpy.full((1, 1), -1, numpy.int32)
    assert matcher.accept_token(0)
    assert matcher.fill_next_token_bitmask(bitmask) and not bitmask.any()


def test_other_stop_tokens():
    compiled = COMPILER.compile_grammar('root ::= "x"')
    matcher = xgrammar.GrammarMatcher(compiled, override_stop_tokens=[1, 4])
    assert matcher.accept_string("x") and allowed(matcher) == [1, 4]
    assert matcher.accept_token(4) and matcher.is_terminated()
    for wrong in ([], [SIZE], [-1]):
        with pytest.raises(RuntimeError):
            xgrammar.GrammarMatcher(compiled, override_stop_tokens=wrong)


def test_steps_are_undone_and_forked():
    matcher = xgrammar.GrammarMatcher(COMPILER.compile_json_schema(SCHEMA))
    assert matcher.accept_token(0) and matcher.accept_string('"a": 1')
    other = matcher.fork()
    matcher.rollback(1)
    assert allowed(matcher) == [TOKENS.index('"a"'), TOKENS.index(" ")]
    assert other.accept_string("2}") and other.is_completed()
    with pytest.raises(RuntimeError):
        matcher.rollback(2)
    with pytest.raises(RuntimeError):
        matcher.rollback(-1)
    matcher.rollback(0)
    assert matcher.max_rollback_tokens == -1
    for wrong in (SIZE, -1, 2**40, TOKENS.index("")):
        assert not matcher.accept_token(wrong)


def test_jump_forward():
    matcher = xgrammar.GrammarMatcher(COMPILER.compile_grammar('root ::= "xé1" [12]'))
    assert matcher.find_jump_forward_string() == "xé1"


def test_captures_follow_the_text():
    lark = 'start: head tail\nhead[capture]: /x+/\ntail[capture="n"]: /[12]+/'
    matcher = xgrammar.GrammarMatcher(COMPILER.compile_lark(lark))
    assert matcher.accept_token(TOKENS.index("x"))
    assert matcher.accept_token(TOKENS.index("1")) and matcher.accept_token(5)
    assert matcher.get_captures() == [("head", b"x"), ("n", b"12")]
    matcher.rollback(1)
    assert matcher.accept_string("1") and matcher.accept_token(STOP)
    assert matcher.get_captures() == [("head", b"x"), ("n", b"11")]
    with pytest.raises(NotImplementedError):
        matcher.get_captures(deduplicate=False)


def test_temperature():
    compiled = COMPILER.compile_grammar('root ::= "[temperature=1]" | "x"')
    matcher = xgrammar.GrammarMatcher(compiled, default_temperature=0.25)
    other = xgrammar.GrammarMatcher(compiled)
    assert (matcher.temperature, other.temperature) == (0.25, None)
    out = numpy.zeros(3, numpy.float32)
    xgrammar.BatchGrammarMatcher.batch_fill_temperature([matcher, other], out, [2, 0])
    assert out.tolist() == [-1, 0, 0.25]
    for wrong in (out.astype(float), out.reshape(3, 1), out[:1]):
        with pytest.raises(RuntimeError):
            xgrammar.BatchGrammarMatcher.batch_fill_temperature([matcher] * 2, wrong)
    for wrong in (-1, float("inf"), float("nan")):
        with pytest.raises(RuntimeError):
            xgrammar.GrammarMatcher(compiled, default_temperature=wrong)


def test_temperatures_of_rules():
    compiled = COMPILER.compile_lark('start: "1" v "2"\nv[temperature=0.5]: "x"+')
    matcher = xgrammar.GrammarMatcher(compiled, default_temperature=0.25)
    seen = []
    for text in ("", "1", "xx", "2"):
        assert matcher.accept_string(text)
        seen.append(matcher.temperature)
    assert seen == [0.25, 0.5, 0.5, 0.25]
    matcher.rollback()
    assert matcher.fork().temperature == 0.5
    out = numpy.zeros(2, numpy.float32)
    fresh = xgrammar.GrammarMatcher(compiled)
    xgrammar.BatchGrammarMatcher.batch_fill_temperature([matcher, fresh], out)
    assert out.tolist() == [0.5, -1]
    # A draft: "1", then "x" and "2", which does not fit; "2" after "x".
    one, x, two = (TOKENS.index(text) for text in ("1", "x", "2"))
    assert fresh.accept_token(one)
    rows, heat = numpy_bitmask(4), numpy.zeros(4, numpy.float32)
    fresh.traverse_draft_tree(
        [1, 3, -1, -1], [-1, 2, -1, -1], [one, x, two, two], rows, temperatures=heat
    )
    assert heat.tolist() == [0.5, 0.5, -1, -1]
    # After the last token that may come the default counts again.
    last = xgrammar.GrammarMatcher(compiled, default_temperature=2)
    assert last.accept_string("1x")
    rows, heat = numpy_bitmask(3), numpy.zeros(3, numpy.float32)
    last.traverse_draft_tree(
        [1, 2, -1], [-1] * 3, [x, two, STOP], rows, temperatures=heat
    )
    assert heat.tolist() == [0.5, 2, 2] and not rows[2].any()
    assert fresh.temperature == 0.5


# ---- Bitmasks.


def test_bitmasks():
    assert xgrammar.get_bitmask_shape(3, 33) == (3, 2)
    bitmask = xgrammar.allocate_token_bitmask(2, 33)
    assert tuple(bitmask.shape) == (2, 2) and bitmask.dtype == xgrammar.bitmask_dtype
    bitmask[:] = 0
    xgrammar.reset_token_bitmask(bitmask)
    assert (bitmask == -1).all()


@pytest.mark.parametrize(
    "bitmask, index",
    [
        (numpy.zeros((1, 1), numpy.int32), 0),
        (numpy.zeros((1, 2), numpy.int32), 1),
        (numpy.zeros((1, 2), numpy.int64), 0),
        ("text", 0),
    ],
)
def test_bitmasks_that_do_not_fit(bitmask, index):
    matcher = xgrammar.GrammarMatcher(COMPILER.compile_regex("x"))
    with pytest.raises(RuntimeError):
        matcher.fill_next_token_bitmask(bitmask, index)


def test_nothing_is_constrained():
    info = xgrammar.TokenizerInfo(["a", "b"], stop_token_ids=[1])
    compiled = xgrammar.GrammarCompiler(info).compile_regex("a*")
    matcher = xgrammar.GrammarMatcher(compiled)
    assert not matcher.fill_next_token_bitmask(numpy.zeros((1, 1), numpy.int32))


def masked(logits, bitmask, columns, rows):
    logits = logits.copy()
    for row in rows:
        for column in range(columns):
            if not bitmask[row, column // 32] >> (column % 32) & 1:
                logits[row, column] = -numpy.inf
    return logits


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("width", [1, 31, 64, 70, 100])
def test_applying(dtype, width):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = getattr(ml_dtypes, dtype, dtype)
    generator = numpy.random.default_rng(width)
    bitmask = generator.integers(-(2**31), 2**31, (4, 3)).astype(numpy.int32)
    logits = generator.normal(size=(4, width)).astype(dtype)
    columns = min(width, 96)
    for rows in (None, [0], [3, 1], []):
        got = logits.copy()
        if width > 96:
            with pytest.warns(UserWarning, match="left unmasked"):
                xgrammar.apply_token_bitmask_inplace(got, bitmask, indices=rows)
        else:
            xgrammar.apply_token_bitmask_inplace(got, bitmask, indices=rows)
        want = masked(logits, bitmask, columns, range(4) if rows is None else rows)
        assert got.tobytes() == want.tobytes()
    for size in (0, 1, columns):
        got = logits.copy()
        xgrammar.apply_token_bitmask_inplace(got, bitmask, vocab_size=size)
        assert got.tobytes() == masked(logits, bitmask, size, range(4)).tobytes()
    got = logits[0].copy()
    xgrammar.apply_token_bitmask_inplace(got, bitmask[:1], vocab_size=columns)
    assert got.tobytes() == masked(logits, bitmask, columns, [0])[0].tobytes()


def test_applying_refuses():
    logits, bitmask = numpy.zeros((2, 40), "f"), numpy_bitmask(2)
    apply = xgrammar.apply_token_bitmask_inplace
    for options in (
        {"vocab_size": 41},
        {"vocab_size": -1},
        {"indices": [2]},
        {"indices": [-1]},
        {"backend": "abacus"},
    ):
        with pytest.raises(ValueError):
            apply(logits, bitmask, **options)
    with pytest.raises(ValueError):
        apply(logits.astype(int), bitmask)
    with pytest.raises(ValueError):
        apply(logits, bitmask[:1])
    assert not logits.any()


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_tensors(dtype):
    import torch

    bitmask = xgrammar.allocate_token_bitmask(2, SIZE)
    assert isinstance(bitmask, torch.Tensor) and xgrammar.bitmask_dtype is torch.int32
    matcher = xgrammar.GrammarMatcher(COMPILER.compile_regex("x"))
    assert matcher.fill_next_token_bitmask(bitmask, 1)
    logits = torch.zeros((2, SIZE + 8), dtype=getattr(torch, dtype))
    xgrammar.apply_token_bitmask_inplace(logits, bitmask, vocab_size=SIZE)
    assert logits[0].eq(0).all()
    assert logits[1, :SIZE].isfinite().nonzero().flatten().tolist() == [8]
    assert logits[1, SIZE:].eq(0).all()
    xgrammar.reset_token_bitmask(bitmask)
    assert bitmask.eq(-1).all()
    bools = xgrammar.testing.bitmask_to_bool_mask(bitmask, SIZE)
    assert torch.equal(
        xgrammar.testing.bool_mask_to_bitmask(bools), bitmask
    )


def test_bits():
    generator = numpy.random.default_rng(1)
    bools = generator.integers(0, 2, (3, 70)).astype(bool)
    bitmask = xgrammar.testing.bool_mask_to_bitmask(bools)
    assert bitmask.shape == (3, 3) and bitmask.dtype == numpy.int32
    assert (xgrammar.testing.bitmask_to_bool_mask(bitmask, 70) == bools).all()
    refused = xgrammar.testing._get_masked_tokens_from_bitmask(bitmask, 70, 1)
    assert refused == numpy.nonzero(~bools[1])[0].tolist()
    single = xgrammar.testing._is_single_token_bitmask
    bitmask[:] = 0
    bitmask[1, 2] = 4
    assert single(bitmask, 70, 1) == (True, 66)
    assert single(bitmask, 66, 1) == single(bitmask, 70, 0) == (False, -1)


# ---- Batches and trees.


def test_batches():
    compiled = COMPILER.compile_json_schema(SCHEMA)
    matchers = [xgrammar.GrammarMatcher(compiled) for _ in range(4)]
    batch = xgrammar.BatchGrammarMatcher(max_threads=2)
    assert batch.batch_accept_string(matchers, ["{", '{"a":1', "[", "{"]) == [
        True, True, False, True,
    ]  # fmt: skip
    assert batch.batch_accept_token(matchers[:2], [2, 0]) == [True, False]
    together, alone = numpy_bitmask(6), numpy_bitmask(6)
    rows = [5, 0, 3, 1]
    batch.batch_fill_next_token_bitmask(matchers, together, rows)
    for row, matcher in zip(rows, matchers):
        matcher.fill_next_token_bitmask(alone, row)
    assert (together == alone).all()
    batch.batch_rollback(matchers[:2], [2, 1])
    batch.batch_rollback([matchers[3]])
    assert len({tuple(allowed(matcher)) for matcher in matchers}) == 1
    for call in (
        lambda: batch.batch_accept_token(matchers, [1]),
        lambda: batch.batch_accept_string(matchers, []),
        lambda: batch.batch_rollback(matchers, [1]),
        lambda: batch.batch_fill_next_token_bitmask(matchers, together, [0]),
        lambda: batch.batch_fill_next_token_bitmask(matchers, together, [0, 0, 1, 2]),
        lambda: batch.batch_fill_next_token_bitmask([matchers[0]] * 2, together),
    ):
        with pytest.raises(RuntimeError):
            call()


def random_tree(generator, size):
    children, siblings, last = [-1] * size, [-1] * size, [None] * size
    for node in range(1, size):
        parent = generator.randrange(node)
        if last[parent] is None:
            children[parent] = node
        else:
            siblings[last[parent]] = node
        last[parent] = node
    return children, siblings


def test_trees_with_and_without_a_limit_of_time():
    generator = random.Random(3)
    compiled = COMPILER.compile_json_schema({"type": "object"})
    for _ in range(40):
        children, siblings = random_tree(generator, generator.randint(1, 12))
        tokens = [generator.randrange(SIZE) for _ in children]
        matcher = xgrammar.GrammarMatcher(compiled, default_temperature=0.5)
        assert matcher.accept_string("{")
        one, other = numpy_bitmask(len(tokens)), numpy_bitmask(len(tokens))
        heat = numpy.zeros(len(tokens), numpy.float32)
        assert matcher.traverse_draft_tree(children, siblings, tokens, one)
        assert matcher.traverse_draft_tree(
            numpy.array(children), numpy.array(siblings), numpy.array(tokens),
            other, 60.0, heat,
        )  # fmt: skip
        assert (one == other).all()
        wanted = [-1.0] * len(tokens)

        def visit(node, at):
            wanted[node] = 0.5
            child = children[node]
            while child >= 0:
                after = at.copy()
                if after.accept_token(tokens[child]):
                    visit(child, after)
                child = siblings[child]

        visit(0, matcher.matcher)
        assert heat.tolist() == wanted
        assert matcher.matcher.steps() == 1


def test_a_tree_takes_no_longer_than_it_may():
    matcher = xgrammar.GrammarMatcher(COMPILER.compile_json_schema({"type": "object"}))
    size = 50
    children = [*range(1, size), -1]
    tokens = [0, *[TOKENS.index(" ")] * (size - 1)]
    assert matcher.accept_token(0)
    bitmask = numpy_bitmask(size)
    none = [-1] * size
    assert not matcher.traverse_draft_tree(children, none, tokens, bitmask, 1e-9)
    assert matcher.traverse_draft_tree(children, none, tokens, bitmask, 60.0)


@pytest.mark.parametrize(
    "children, siblings, tokens",
    [
        ([-1], [-1, -1], [0]),
        ([], [], []),
        ([-1, -1], [1, -1], [0, 0]),
        ([1, 0], [-1, -1], [0, 0]),
        ([1, 1], [-1, -1], [0, 0]),
        ([2, -1], [-1, -1], [0, 0]),
    ],
)
def test_what_is_no_tree(children, siblings, tokens):
    matcher = xgrammar.GrammarMatcher(COMPILER.compile_json_schema(SCHEMA))
    for seconds in (-1.0, 60.0):
        with pytest.raises(RuntimeError):
            matcher.traverse_draft_tree(
                children, siblings, tokens, numpy_bitmask(2), seconds
            )


# ---- Vocabularies.


def test_vocabularies():
    assert INFO.vocab_size == SIZE and INFO.vocab_type is xgrammar.VocabType.RAW
    assert INFO.decoded_vocab == [token.encode() for token in TOKENS]
    assert INFO.stop_token_ids == [STOP] and not INFO.add_prefix_space
    assert INFO.special_token_ids == list(range(len(TOKENS) - 1, SIZE))
    level = xgrammar.TokenizerInfo(
        ["Ġa", "Ċ", "é", "<eos>"], xgrammar.VocabType.BYTE_LEVEL
    )
    assert level.decoded_vocab == [b" a", b"\n", b"\xe9", b"<eos>"]
    assert level.stop_token_ids == [3]
    fallback = xgrammar.TokenizerInfo(
        ["▁a", "<0x0A>", "</s>"], xgrammar.VocabType.BYTE_FALLBACK
    )
    assert fallback.decoded_vocab == [b" a", b"\n", b"</s>"]
    with pytest.raises(RuntimeError):
        xgrammar.TokenizerInfo(["a", "b"], vocab_size=1)
    assert xgrammar.TokenizerInfo(["a"], stop_token_ids=[0, 7]).stop_token_ids == [0]


def test_stop_tokens_without_a_text():
    info = xgrammar.TokenizerInfo(["a", "", "b"], vocab_size=5, stop_token_ids=[1, 4])
    assert info.stop_token_ids == [1, 4] and info.decoded_vocab == [b"a", b"", b"b"]
    compiled = xgrammar.GrammarCompiler(info).compile_regex("a|.*b")
    matcher = xgrammar.GrammarMatcher(compiled)
    bitmask = numpy.zeros((1, 1), numpy.int32)
    matcher.fill_next_token_bitmask(bitmask)
    assert bitmask[0, 0] == 0b101
    assert matcher.accept_token(2)
    matcher.fill_next_token_bitmask(bitmask)
    assert bitmask[0, 0] == 0b10111 and matcher.accept_token(4)


def test_metadata():
    info = xgrammar.TokenizerInfo(
        ["▁a", "<0x0A>"], xgrammar.VocabType.BYTE_FALLBACK,
        vocab_size=4, stop_token_ids=1, add_prefix_space=True,
    )  # fmt: skip
    assert json.loads(info.dump_metadata()) == {
        "vocab_type": 1, "vocab_size": 4, "add_prefix_space": True,
        "stop_token_ids": [1],
    }  # fmt: skip
    other = xgrammar.TokenizerInfo.from_vocab_and_metadata(
        ["▁a", "<0x0A>"], info.dump_metadata()
    )
    assert other.decoded_vocab == [b" a", b"\n"]
    assert other.dump_metadata() == info.dump_metadata()
    for wrong in ("", "[]", "{}", '{"vocab_type": 7}'):
        with pytest.raises(RuntimeError):
            xgrammar.TokenizerInfo.from_vocab_and_metadata(["a"], wrong)


class Tokenizer:
    """What from_huggingface asks a fast tokenizer for."""

    eos_token_id = 2

    def __init__(self, tokens, backend):
        self.tokens = tokens
        self.backend_tokenizer = self
        self.backend = backend

    def to_str(self):
        return json.dumps(self.backend)

    def get_vocab(self):
        return {token: i for i, token in enumerate(self.tokens)}


@pytest.mark.parametrize(
    "backend, kind, prefix_space",
    [
        ({"decoder": {"type": "ByteLevel"}}, "BYTE_LEVEL", False),
        (
            {
                "decoder": {"type": "ByteLevel"},
                "pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "always"},
            },
            "BYTE_LEVEL",
            True,
        ),
        (
            {
                "normalizer": {
                    "type": "Sequence",
                    "normalizers": [{"type": "Prepend", "prepend": "▁"}],
                },
                "decoder": {
                    "type": "Sequence",
                    "decoders": [{"type": "Replace"}, {"type": "ByteFallback"}],
                },
            },
            "BYTE_FALLBACK",
            True,
        ),
        ({"decoder": None}, "RAW", False),
    ],
)
def test_tokenizers_of_transformers(backend, kind, prefix_space):
    info = xgrammar.TokenizerInfo.from_huggingface(
        Tokenizer(["a", "b", "</s>"], backend), vocab_size=8
    )
    assert info.vocab_type is xgrammar.VocabType[kind]
    assert info.add_prefix_space is prefix_space
    assert (info.vocab_size, info.stop_token_ids) == (8, [2])
    small = xgrammar.TokenizerInfo.from_huggingface(
        Tokenizer(["a", "b", "</s>"], backend), vocab_size=2, stop_token_ids=1
    )
    assert (small.decoded_vocab, small.stop_token_ids) == ([b"a", b"b"], [1])
    with pytest.raises(ValueError):
        xgrammar.TokenizerInfo.from_huggingface(Tokenizer(["a"], {}), stop_token_ids=[])
    with pytest.raises(ValueError):
        xgrammar.TokenizerInfo.from_huggingface(object())


# ---- Serialised objects.

COMBINED = [
    xgrammar.Grammar.from_ebnf('top ::= "x"', root_rule_name="top"),
    xgrammar.Grammar.from_json_schema(SCHEMA, any_whitespace=False, indent=2),
    xgrammar.Grammar.from_json_schema(SCHEMA, max_whitespace_cnt=1, any_order=True),
    xgrammar.Grammar.from_regex("[12]+"),
    xgrammar.Grammar.from_lark("start: @n\n", named_grammars={"n": "start: /x/"}),
    xgrammar.Grammar.from_structural_tag(TAG),
    xgrammar.Grammar.builtin_json_grammar(),
]
COMBINED.append(xgrammar.Grammar.union(*COMBINED))
COMBINED.append(xgrammar.Grammar.concat(COMBINED[0], COMBINED[-1]))
TEXTS = ["x", "xx", '{"a": 1}', '{\n  "a": 1\n}', "12", 'é<tool>{"a":1}x', "[]", "x12", "<tool>"]


@pytest.mark.parametrize("grammar", COMBINED)
def test_grammars_are_serialised(grammar):
    verdicts = [grammar.parlance_grammar.accepts(text) for text in TEXTS]
    assert any(verdicts) and not all(verdicts)
    for same in (
        xgrammar.Grammar.deserialize_json(grammar.serialize_json()),
        pickle.loads(pickle.dumps(grammar)),
        xgrammar.Grammar.from_ebnf(str(grammar)),
    ):
        assert [same.parlance_grammar.accepts(text) for text in TEXTS] == verdicts


def test_the_form_of_a_grammar_is_that_of_the_library():
    grammar = COMBINED[1]
    value = json.loads(grammar.serialize_json())
    assert value["grammar"].encode() == grammar.parlance_grammar.to_bytes()
    again = parlance.Grammar.from_bytes(value["grammar"].encode())
    assert again.accepts('{\n  "a": 1\n}') and not again.accepts('{"a": 1}')
    compiled = COMPILER.compile_json_schema(SCHEMA, any_whitespace=False, indent=2)
    assert json.loads(compiled.serialize_json())["grammar"] == value["grammar"]
    head, rest = value["grammar"].split("\n", 1)
    other = head.replace("grammar 1", "grammar 999") + "\n" + rest
    with pytest.raises(xgrammar.DeserializeVersionError):
        xgrammar.Grammar.deserialize_json(json.dumps({**value, "grammar": other}))
    for wrong in ("\ud800", 3, other[9:]):
        with pytest.raises(xgrammar.DeserializeFormatError):
            xgrammar.Grammar.deserialize_json(json.dumps({**value, "grammar": wrong}))


def test_grammars_with_the_names_of_tokens():
    lark = 'start: <tool> "x"'
    compiled = COMPILER.compile_lark(lark)
    for same in (
        pickle.loads(pickle.dumps(compiled)),
        COMPILER.compile_grammar(pickle.loads(pickle.dumps(compiled.grammar))),
        COMPILER.compile_grammar(
            xgrammar.Grammar.from_lark(lark, tokenizer_info=INFO)
        ),
    ):
        matcher = xgrammar.GrammarMatcher(same)
        assert allowed(matcher) == [TOKENS.index("<tool>")]
    with pytest.raises(RuntimeError):
        xgrammar.Grammar.from_lark(lark)


def test_grammars_of_many_grammars():
    grammar = xgrammar.Grammar.from_regex("x")
    for _ in range(13):  # 16,383 recipes, if written out
        grammar = xgrammar.Grammar.union(grammar, grammar)
    same = xgrammar.Grammar.deserialize_json(grammar.serialize_json())
    assert same.parlance_grammar.accepts("x") and len(grammar.serialize_json()) < 10**7
    deep = xgrammar.Grammar.from_regex("x")
    for _ in range(100):
        deep = xgrammar.Grammar.concat(deep, xgrammar.Grammar.from_regex("1"))
    same = xgrammar.Grammar.deserialize_json(deep.serialize_json())
    assert same.parlance_grammar.accepts("x" + "1" * 100)


def test_vocabularies_are_serialised():
    for info in (
        INFO,
        xgrammar.TokenizerInfo([b"\xff", "é", ""], vocab_size=9, stop_token_ids=[2, 8]),
    ):
        for same in (
            xgrammar.TokenizerInfo.deserialize_json(info.serialize_json()),
            pickle.loads(pickle.dumps(info)),
        ):
            assert same.decoded_vocab == info.decoded_vocab
            assert same.dump_metadata() == info.dump_metadata()


def test_a_compiled_grammar_is_for_its_vocabulary():
    text = COMPILER.compile_regex("x").serialize_json()
    other = xgrammar.TokenizerInfo(TOKENS, vocab_size=SIZE + 1)
    with pytest.raises(xgrammar.DeserializeFormatError, match="vocabulary"):
        xgrammar.CompiledGrammar.deserialize_json(text, other)


def damaged(text):
    """Variants of a serialised object: cut, changed, with other members."""
    generator = random.Random(5)
    for _ in range(150):
        at = generator.randrange(len(text))
        yield text[:at]
        yield text[:at] + generator.choice('x"{}[]0,') + text[at + 1 :]
    value = json.loads(text)

    def places(node, path=()):
        yield path
        if isinstance(node, (dict, list)):
            items = node.items() if isinstance(node, dict) else enumerate(node)
            for key, child in list(items)[:20]:
                yield from places(child, (*path, key))

    for path in list(places(value)):
        for new in (None, -1, 10**30, 1.5, True, "x", [], {}, [[]], {"kind": "union"}):
            other = copy.deepcopy(value)
            if path:
                node = other
                for key in path[:-1]:
                    node = node[key]
                node[path[-1]] = new
            else:
                other = new
            yield json.dumps(other)


@pytest.mark.parametrize("index", range(len(COMBINED) + 2))
def test_damaged_objects_are_errors(index):
    """Or other objects that could have been serialised."""
    if index < len(COMBINED):
        load, text = xgrammar.Grammar.deserialize_json, COMBINED[index].serialize_json()
    elif index == len(COMBINED):
        load, text = xgrammar.TokenizerInfo.deserialize_json, INFO.serialize_json()
    else:
        text = COMPILER.compile_regex("x").serialize_json()

        def load(damage):
            return xgrammar.CompiledGrammar.deserialize_json(damage, INFO)

    for damage in damaged(text):
        try:
            load(damage)
        except (
            xgrammar.InvalidJSONError,
            xgrammar.DeserializeFormatError,
            xgrammar.DeserializeVersionError,
        ):
            pass


def test_hostile_objects():
    load = xgrammar.Grammar.deserialize_json
    with pytest.raises(xgrammar.InvalidJSONError):
        load("nothing")
    with pytest.raises(xgrammar.DeserializeVersionError):
        load("{}")
    with pytest.raises(xgrammar.DeserializeVersionError):
        load('{"__VERSION__": "v16"}')
    with pytest.raises(xgrammar.DeserializeFormatError):
        load("[" * 100_000)
    head = f'{{"__VERSION__": "{xgrammar.get_serialization_version()}", '
    head += '"__TYPE__": "Grammar", "grammar": '
    deep = '{"kind": "union", "parts": [' * 400 + '{"kind": "regex", "text": "x"}'
    with pytest.raises(xgrammar.DeserializeFormatError):
        load(head + deep + "]}" * 400 + "}")
    with pytest.raises(TypeError):
        load(None)


# ---- Errors.


@pytest.mark.parametrize(
    "make, wrong",
    [
        (xgrammar.Grammar.from_ebnf, "root := "),
        (xgrammar.Grammar.from_json_schema, "{"),
        (xgrammar.Grammar.from_json_schema, {"type": "foo"}),
        (xgrammar.Grammar.from_regex, "("),
        (xgrammar.Grammar.from_lark, "sta"),
        (COMPILER.compile_grammar, "root := "),
        (COMPILER.compile_json_schema, {"type": "foo"}),
        (COMPILER.compile_regex, "("),
        (COMPILER.compile_lark, "sta"),
    ],
)
def test_errors_have_their_cause(make, wrong):
    with pytest.raises(RuntimeError) as caught:
        make(wrong)
    assert isinstance(caught.value.__cause__, parlance.Error)
    assert str(caught.value) == str(caught.value.__cause__)


@pytest.mark.parametrize(
    "make", [xgrammar.Grammar.from_structural_tag, COMPILER.compile_structural_tag]
)
def test_errors_of_structural_tags(make):
    with pytest.raises(xgrammar.InvalidJSONError):
        make("{")
    with pytest.raises(xgrammar.InvalidStructuralTagError):
        make('{"type": "structural_tag"}')
    schema = {"type": "json_schema", "json_schema": {"type": "foo"}}
    with pytest.raises(xgrammar.InvalidStructuralTagError):
        make({"type": "structural_tag", "format": schema})
    for wrong in ((), (3,), ([], None), ({}, {}, {})):
        with pytest.raises(TypeError):
            make(*wrong)


def test_other_wrong_arguments():
    with pytest.raises(ValueError):
        xgrammar.GrammarCompiler(TOKENS)
    with pytest.raises(RuntimeError):
        xgrammar.GrammarCompiler(INFO, max_threads=0)
    with pytest.raises(ValueError):
        xgrammar.GrammarMatcher("x")
    with pytest.raises(ValueError):
        COMPILER.compile_grammar(3)
    with pytest.raises(ValueError):
        COMPILER.compile_json_schema(3)
    for made in (xgrammar.Grammar, xgrammar.CompiledGrammar):
        with pytest.raises(TypeError):
            made()
    with pytest.warns(DeprecationWarning):
        xgrammar.GrammarMatcher(COMPILER.compile_regex("x"), max_rollback_tokens=3)


def test_caches():
    compiler = xgrammar.GrammarCompiler(INFO, cache_limit_bytes=1 << 20)
    assert compiler.cache_limit_bytes == 1 << 20
    compiler.compile_regex("x+1")
    compiler.compile_regex("x+1")
    assert compiler.compiler.grammar_statistics()["grammar_hits"] == 1
    assert compiler.get_cache_size_bytes() > 0
    compiler.clear_cache()
    off = xgrammar.GrammarCompiler(INFO, cache_enabled=False)
    compiled = off.compile_regex("x+1")
    assert off.compiler.grammar_statistics()["grammars"] == 0
    assert compiled.tokenizer_info is INFO and off.cache_limit_bytes == -1
    assert compiled.memory_size_bytes == compiled.constraint.memory_bytes


def test_depth():
    before = xgrammar.get_max_recursion_depth()
    with xgrammar.max_recursion_depth(77):
        assert xgrammar.get_max_recursion_depth() == 77
    assert xgrammar.get_max_recursion_depth() == before == 10_000
    for wrong in (0, -1, 1_000_001):
        with pytest.raises(RuntimeError):
            xgrammar.set_max_recursion_depth(wrong)


# ---- Structural tags as classes.


def test_classes_of_structural_tags():
    pytest.importorskip("pydantic")
    tags = xgrammar.structural_tag
    made = xgrammar.StructuralTag(
        format=tags.TriggeredTagsFormat(
            triggers=["<tool>"],
            tags=[
                tags.TagFormat(
                    begin="<tool>",
                    content=tags.JSONSchemaFormat(json_schema=SCHEMA),
                    end="x",
                )
            ],
        )
    )
    item = xgrammar.StructuralTagItem(begin="<tool>", schema=SCHEMA, end="x")
    text = 'é<tool>{"a": 1}x'
    for grammar in (
        xgrammar.Grammar.from_structural_tag(made),
        xgrammar.Grammar.from_structural_tag(structural_tag=made),
        xgrammar.Grammar.from_structural_tag([item], ["<tool>"]),
        xgrammar.Grammar.from_structural_tag(tags=[item], triggers=["<tool>"]),
        xgrammar.Grammar.from_structural_tag(xgrammar.StructuralTag.from_json(TAG)),
        xgrammar.Grammar.from_structural_tag(parlance.StructuralTag(TAG)),
        xgrammar.Grammar.from_structural_tag(
            xgrammar.StructuralTag.from_legacy_structural_tag([item], ["<tool>"])
        ),
    ):
        assert grammar.parlance_grammar.accepts(text)
        assert not grammar.parlance_grammar.accepts("<tool>x")
    parlance.StructuralTag(made.model_dump()).grammar()


def test_models_as_schemas():
    pydantic = pytest.importorskip("pydantic")

    class Point(pydantic.BaseModel):
        a: int

    for grammar in (
        xgrammar.Grammar.from_json_schema(Point),
        COMPILER.compile_json_schema(Point).grammar,
    ):
        assert grammar.parlance_grammar.accepts('{"a": 1}')
        assert not grammar.parlance_grammar.accepts('{"a": "1"}')


FUNCTION = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
OTHER = {"type": "function", "function": {"name": "g"}}
SEARCH = {"type": "search", "name": "browser"}


@pytest.mark.parametrize(
    "tools, choice, expected",
    [
        (None, None, ([], [], "auto")),
        ([FUNCTION, SEARCH], "auto", (["f"], ["search"], "auto")),
        ([FUNCTION, SEARCH], "none", ([], [], "auto")),
        ([FUNCTION, OTHER], "required", (["f", "g"], [], "required")),
        (
            [FUNCTION, OTHER],
            {"type": "function", "function": {"name": "g"}},
            (["g"], [], "forced"),
        ),
        ([FUNCTION, SEARCH], {"type": "search"}, ([], ["search"], "forced")),
        (
            [FUNCTION, OTHER, SEARCH],
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [
                        {"type": "function", "function": {"name": "g"}},
                        {"type": "search"},
                    ],
                },
            },
            (["g"], ["search"], "required"),
        ),
        ("f", "auto", None),
        ([3], "auto", None),
        ([], "required", None),
        ([FUNCTION], "sometimes", None),
        ([FUNCTION], {"type": "function", "function": {"name": "h"}}, None),
        ([FUNCTION], {"type": "search"}, None),
        ([FUNCTION, FUNCTION], {"type": "function", "function": {"name": "f"}}, None),
    ],
)
def test_tool_choices(tools, choice, expected):
    pytest.importorskip("pydantic")
    if expected is None:
        with pytest.raises(ValueError):
            xgrammar.normalize_tool_choice(tools, choice)
        return
    functions, builtins, simple = xgrammar.normalize_tool_choice(tools, choice)
    names = [tool.function.name for tool in functions]
    assert (names, [tool.type for tool in builtins], simple) == expected


def structural_tag(tag):
    return parlance.StructuralTag(tag.model_dump_json())


def test_tags_of_model_formats():
    pytest.importorskip("pydantic")
    for model in parlance.formats():
        format = parlance.Format(model)
        assert structural_tag(
            xgrammar.get_model_structural_tag(model, [FUNCTION], reasoning="auto")
        ) == format.structural_tag([FUNCTION]), model
        builder = getattr(
            xgrammar.builtin_structural_tag, f"get_{model}_structural_tag"
        )
        assert builder([], [], "auto", "disabled") == xgrammar.get_model_structural_tag(
            model, reasoning=False
        )
    for wrong in (
        {"model": "unknown"},
        {"model": "formats/qwen3.json"},
        {"model": None},
        {"reasoning": "sometimes"},
        {"parallel_tool_calls": 1},
        {"max_whitespace_cnt": 0},
        {"tools": [SEARCH]},
    ):
        with pytest.raises(ValueError):
            xgrammar.get_model_structural_tag(**{"model": "llama", **wrong})


# The prompt has written the opener of reasoning, or what is in place of it.
@pytest.mark.parametrize(
    "model, options, response",
    [
        ("qwen_3", {}, "R\n</think>\n\nX"),
        ("qwen_3", {"reasoning": False}, "X"),
        ("qwen_3", {"reasoning": "auto"}, "<think>\nR\n</think>\n\nX"),
        ("deepseek_v3_1", {"reasoning": False}, "X"),
        ("kimi_k3", {"reasoning": False}, "X<|close|>response<|sep|>"),
        ("harmony", {}, "<|channel|>final<|message|>X<|return|>"),
        ("llama", {}, "X"),
    ],
)
def test_where_tags_of_models_begin(model, options, response):
    pytest.importorskip("pydantic")
    tag = structural_tag(xgrammar.get_model_structural_tag(model, **options))
    assert tag.grammar().accepts(response)


def test_formats_of_ones_own():
    pytest.importorskip("pydantic")
    calls = []

    @xgrammar.register_model_structural_tag("own")
    def own(*args, **options):
        calls.append((args, options))
        return "tag"

    try:
        assert xgrammar.get_model_structural_tag("own", [OTHER], any_order=True) == "tag"
    finally:
        del xgrammar.builtin_structural_tag._registry["own"]
    ((functions, builtins, choice, reasoning), options) = calls[0]
    assert functions[0].function.name == "g"
    assert (builtins, choice, reasoning) == ([], "auto", "enabled")
    assert options == {
        "any_order": True, "exclude_special_tokens": True,
        "max_whitespace_cnt": None, "parallel_tool_calls": True,
    }  # fmt: skip


# ---- The module.


def python(code, *, without=(), fails=False):
    """Runs a program in which the modules ``without`` cannot be imported."""
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in without)
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{blocked}{code}"],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert (result.returncode != 0) == fails, result.stderr
    return result.stderr if fails else result.stdout.split()


def test_what_an_import_imports():
    code = """
import parlance
print(any("integrations" in name for name in sys.modules))
import parlance.integrations.xgrammar as x
print([name for name in ("numpy", "torch", "pydantic", "xgrammar") if name in sys.modules])
"""
    assert python(code) == ["False", "[]"]


def test_without_numpy_and_pydantic():
    code = """
import array
import parlance.integrations.xgrammar as x
info = x.TokenizerInfo(["a", "b", "</s>"])
m = x.GrammarMatcher(x.GrammarCompiler(info).compile_regex("b"))
row = array.array("i", [0])
print(m.fill_next_token_bitmask(row), row[0])
"""
    assert python(code, without=["numpy", "pydantic", "torch"]) == ["True", "2"]
    error = python(
        "import parlance.integrations.xgrammar as x; x.StructuralTag",
        without=["pydantic"],
        fails=True,
    )
    assert "pip install pydantic" in error


def test_install():
    code = """
import parlance.integrations.xgrammar as own
own.install()
own.install()
import xgrammar as xgr
from xgrammar import *
from xgrammar.matcher import allocate_token_bitmask
from xgrammar.contrib.hf import LogitsProcessor
import xgrammar.kernels.apply_token_bitmask_inplace_torch_compile
import xgrammar.testing
print(xgr is own, own.__spec__.name, xgrammar.testing is own.testing)
print(GrammarMatcher is own.GrammarMatcher, xgrammar.matcher is own.matcher)
try:
    import xgrammar.nothing
except ImportError as error:
    print(error.name)
own.uninstall()
print("xgrammar" in sys.modules)
sys.modules["xgrammar"] = sys
try:
    own.install()
except ValueError:
    print("refused")
"""
    assert python(code) == [
        "True", "parlance.integrations.xgrammar", "True", "True", "True",
        "xgrammar.nothing", "False", "refused",
    ]  # fmt: skip


def test_every_name_is_there():
    pytest.importorskip("pydantic")
    for name in xgrammar.__all__:
        assert getattr(xgrammar, name) is not None
    with pytest.raises(AttributeError):
        xgrammar.nothing  # noqa: B018


def test_the_logits_processor():
    from parlance.integrations.xgrammar.contrib.hf import LogitsProcessor

    processor = LogitsProcessor(COMPILER.compile_regex("x1"))
    ids = [[0], [0]]
    for step in ("x", "1", "</s>"):
        scores = processor(numpy.array(ids), numpy.zeros((2, SIZE), "f"))
        for row, score in zip(ids, scores):
            assert numpy.flatnonzero(numpy.isfinite(score)) == [TOKENS.index(step)]
            row.append(TOKENS.index(step))
