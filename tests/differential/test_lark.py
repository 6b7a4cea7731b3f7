"""Lark's notation against the package lark.

Random grammars with templates, priorities, ignored text and all operators, over
small alphabets: both accept the same of all short texts.  (lark gives up on some
of them, for reasons of its own: rules that are the same twice.)  What lark alone
has, and what llguidance alone has, is in tests/unit/lark_test.cc.

Files of packages: what the masks let a walk write, lark reads.

PARLANCE_SEED (default 1) chooses the random cases; PARLANCE_LONG=1 walks more often.
"""

import os
import pathlib
import random
import re

import numpy
import pytest

import conformance
from random_notations import lark as random_lark
from random_notations import mutated, texts
from random_walk import random_walk
from real_files import Missing, lark_files

from parlance import Grammar, GrammarError, Vocabulary

lark = pytest.importorskip("lark")

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
LIBRARY = pathlib.Path(lark.__file__).parent / "grammars"
# lark ignores text before the first token, llguidance does not.
FIRST = '%llguidance {"allow_initial_skip": true}\n'


def parser(grammar, start="start"):
    """lark's parser that tries every match of a terminal; None if it refuses."""
    try:
        return lark.Lark(
            grammar, start=start, parser="earley", lexer="dynamic_complete"
        )
    except lark.exceptions.LarkError:
        return None


def accepts(oracle, text):
    """None where lark fails: it may meet a start symbol twice."""
    try:
        oracle.parse(text)
    except lark.exceptions.UnexpectedInput:
        return False
    except RuntimeError:
        return None
    return True


@pytest.mark.parametrize("batch", range(8))
def test_random_grammars(batch):
    compared = 0
    for number in range(8):
        seed = f"{SEED}-{batch}-{number}"
        ignored = number % 2
        written = random_lark(random.Random(seed), ignored)
        oracle = parser(written)
        if oracle is None:
            continue
        try:
            grammar = Grammar.from_lark(FIRST + written)
        except GrammarError as error:
            assert error.code == "unsatisfiable", (seed, written, str(error))
            assert not any(accepts(oracle, text) for text in texts("ab", 3))
            continue
        for text in texts("ab-" if ignored else "ab", 3 if ignored else 4):
            expected = accepts(oracle, text)
            if expected is not None:
                assert grammar.accepts(text) == expected, (seed, written, text)
                compared += 1
    assert compared > 20


# One grammar for each terminal of the library "common".
COMMON = {
    "DIGIT": "07",
    "HEXDIGIT": "fF",
    "INT": "12",
    "SIGNED_INT": "-+1",
    "DECIMAL": ".12",
    "_EXP": "e-E1",
    "FLOAT": "1.e-",
    "SIGNED_FLOAT": "-1.e",
    "NUMBER": "1.e-",
    "SIGNED_NUMBER": "+1.e",
    "ESCAPED_STRING": '"a\\',
    "LCASE_LETTER": "az",
    "UCASE_LETTER": "AZ",
    "LETTER": "aZ",
    "WORD": "aZ1",
    "CNAME": "_a1",
    "WS_INLINE": " \t\n",
    "WS": " \n\fa",
    "CR": "\r",
    "LF": "\n",
    "NEWLINE": "\r\n",
    "SH_COMMENT": "#a\n",
    "CPP_COMMENT": "/a\n",
    "C_COMMENT": "/*a",
    "SQL_COMMENT": "-a\n",
}


@pytest.mark.parametrize("name", COMMON)
def test_common(name):
    """Each terminal alone: the texts that lark's pattern matches to their end."""
    written = f"%import common.{name}\nstart: {name}\n"
    grammar = Grammar.from_lark(written)
    terminal = next(
        one
        for one in lark.Lark(written, parser="earley", lexer="dynamic").terminals
        if one.name == name
    )
    pattern = re.compile(terminal.pattern.to_regexp())
    for text in texts(COMMON[name], 5):
        found = pattern.match(text)
        expected = found is not None and found.end() == len(text)
        assert grammar.accepts(text) == expected, text


def test_another_start():
    grammar = 'value: "a" | "[" value "]"\n'
    oracle = parser(grammar, "value")
    ours = Grammar.from_lark(grammar, start="value")
    for text in texts("a[]", 4):
        assert ours.accepts(text) == accepts(oracle, text), text


@pytest.mark.parametrize("name", ["common", "lark", "python", "unicode"])
def test_the_library_of_lark(name):
    """Its files are read, up to the first pattern that looks around."""
    text = (LIBRARY / f"{name}.lark").read_text("utf-8")
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(text, start="no_such_rule")
    if name == "unicode":
        assert caught.value.code == "bad_reference"
    else:
        assert caught.value.code == "unsupported_pattern"
        assert "Look-" in str(caught.value)


def test_imports_from_given_sources():
    oracle_text = "%import common.INT\nstart: pair+\npair: INT \":\" INT\n"
    grammar = Grammar.from_lark(
        "%import .pairs.pair\nstart: pair+\n",
        grammars={"pairs": oracle_text},
    )
    oracle = parser(oracle_text)
    for text in texts("1:", 6):
        assert grammar.accepts(text) == accepts(oracle, text), text


def files_of_packages():
    try:
        return [file for file in lark_files() if file.start]
    except Missing:
        return []


# Ignored text is whatever its terminal matches; lark takes the longest match only,
# so to it a comment reaches to the end of its line.
COMMENTS = {"cel-python", "openscad-lalr-parser"}
ASCII = [bytes([byte]) for byte in range(128)]


@pytest.mark.parametrize(
    "file", files_of_packages(), ids=lambda file: f"{file.package}/{file.name}"
)
def test_sentences_of_files(file):
    try:
        grammar = file.grammar("" if "%llguidance" in file.text() else FIRST)
    except GrammarError as error:
        # Why is in docs/reference/real-inputs.md, and a test compares it.
        assert error.message
        return
    try:
        oracle = lark.Lark.open(
            str(file.path), start=file.start, parser="earley", lexer="dynamic_complete"
        )
    except (lark.exceptions.LarkError, re.error):
        pytest.skip("lark refuses the file")
    stop = len(ASCII)
    vocabulary = Vocabulary([*ASCII, b"</s>"], special_ids=[stop], stop_ids=[stop])
    constraint = grammar.compile(vocabulary)
    for number in range(40 if os.environ.get("PARLANCE_LONG") else 5):
        matcher = constraint.matcher()
        row = numpy.zeros(len(ASCII) // 32 + 1, numpy.int32)

        def mask(matcher=matcher, row=row):
            matcher.fill_bitmask(row)
            return int.from_bytes(row.tobytes(), "little")

        ids = random_walk(
            f"{SEED}-{file.name}-{number}", 60, ASCII, stop, mask, matcher.accept_token
        )
        if ids is None:
            continue
        text = bytes(ids).decode("ascii")
        if "//" in text and file.package in COMMENTS:
            continue
        assert accepts(oracle, text) is not False, text


def test_damaged_grammars():
    """Damage is an error with a place, or a grammar."""
    source = random.Random(SEED)
    vectors = [
        vector["spec"]
        for vector in conformance.read("grammar/lark.json")
        if vector["kind"] == "lark" and "options" not in vector
    ]
    for number in range(600):
        text = (
            random_lark(source, number % 2)
            if number % 3
            else source.choice(vectors)[:2000]
        )
        text = mutated(source, text, 'ab"/~&|{}()[],.:%@<>*+?\\\n -x1é\x00')
        try:
            Grammar.from_lark(text).accepts("a")
        except GrammarError as error:
            assert str(error)
            if error.span is not None:
                begin, end = error.span
                assert 0 <= begin <= end <= len(text.encode())
