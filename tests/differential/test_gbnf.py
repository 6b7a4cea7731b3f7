"""GBNF against a reader and recogniser in Python (gbnf_oracle.py).

Random grammars, as people lay them out, and damaged ones: both read the same
texts as grammars, and then agree on all short texts.  llama.cpp's own grammars,
those that its schema converter writes, and the texts of its tests.

PARLANCE_SEED (default 1) chooses the random cases.
"""

import os
import random

import pytest

import conformance
from gbnf_oracle import Gbnf, Refused
from random_notations import gbnf, mutated, texts

from parlance import Grammar, GrammarError

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
LETTERS = 'ab"[]()|\\x0-{}*+?.:=#\n r^1é'
VECTORS = conformance.read("gbnf/grammars.json")


def read(text):
    """The grammar; None if it is refused, "" if it matches no text at all."""
    try:
        return Grammar.from_gbnf(text)
    except GrammarError as error:
        return "" if error.code == "unsatisfiable" else None


@pytest.mark.parametrize("batch", range(8))
def test_random_grammars(batch):
    every = texts("ab", 4)
    read_both = 0
    for number in range(20):
        seed = f"{SEED}-{batch}-{number}"
        source = random.Random(seed)
        written = gbnf(source)
        if number % 4 == 0:
            written = mutated(source, written, LETTERS)
        try:
            oracle = Gbnf(written)
        except Refused as why:
            assert read(written) is None, (seed, written, str(why))
            continue
        grammar = read(written)
        assert grammar is not None, (seed, written)
        read_both += 1
        for text in every:
            expected = oracle.accepts(text)
            found = grammar.accepts(text) if grammar else False
            assert found == expected, (seed, written, text)
    assert read_both > 10


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_llama_cpp(vector):
    grammar = Grammar.from_gbnf(vector["grammar"])
    oracle = Gbnf(vector["grammar"])
    again = Grammar.from_ebnf(grammar.to_ebnf())
    for accepted in ("accepted", "rejected"):
        for text in vector.get(accepted, ()):
            expected = accepted == "accepted"
            assert grammar.accepts(text) == expected, text
            assert again.accepts(text) == expected, text
            if len(text) < 40:
                assert oracle.accepts(text) == expected, text


# Texts that are a few characters away from the grammars' own.
SENTENCES = {
    "arithmetic.gbnf": ["x = 1+2\n", "1=(a-2)\n", "x=\n", "1 = 2 * 3\n"],
    "json.gbnf": ['{"a": [1, null]}', '{"a" 1}', "{}", "[]", '{"a":1.5e3}'],
    "json_arr.gbnf": ["[\n1,\n2]", "[1]", "[\n]"],
    "list.gbnf": ["- a\n- b\n", "- \n", "a\n"],
    "chess.gbnf": ["1. e4 e5\n2. Nf3 Nc6\n", "1. e4 e5\n", "1. e9 e5\n"],
    "japanese.gbnf": ["ひらがな", "カタ カナ", "abc", "漢字、"],
    "english.gbnf": ["This is fine.", "naïve"],
    "c.gbnf": ["int f() {}", "int f( {}", "int f(){a = 1;}"],
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name):
    text = next(
        vector["grammar"]
        for vector in VECTORS
        if vector["source"] == "grammars/" + name
    )
    grammar = Grammar.from_gbnf(text)
    oracle = Gbnf(text)
    answers = []
    for sentence in SENTENCES[name]:
        answers.append(oracle.accepts(sentence))
        assert grammar.accepts(sentence) == answers[-1], sentence
    assert True in answers


def test_damaged_files():
    """Damage is an error with a place, or a grammar."""
    source = random.Random(SEED)
    for _ in range(400):
        text = source.choice(VECTORS)["grammar"]
        text = mutated(source, text[:2000], LETTERS + "<>!\x00\ud7ff")
        try:
            Grammar.from_gbnf(text).accepts("a")
        except GrammarError as error:
            assert str(error)
            if error.span is not None:
                begin, end = error.span
                assert 0 <= begin <= end <= len(text.encode())
