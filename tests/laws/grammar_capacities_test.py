"""Law of capacities for grammars: with as many alternatives, rules, repetitions, ranges
and tags as any room inside might be made for, and one more, a text is accepted if and
only if it is in the language, or there is an error.  No mask is empty.

PARLANCE_LONG=1 has 10,000 of each.
"""

import os
import random

import parlance
import pytest

pytest.importorskip("regex")
from schema_law import VOCABULARY, Broken, accepts, walk  # noqa: E402

LONG = os.environ.get("PARLANCE_LONG") == "1"
SIZES = [65, 129, 257, 513] + [10000] * LONG
Grammar = parlance.Grammar


def words(n):
    return [f"w{i}" for i in range(n)]


def quoted(texts, between=" | "):
    return between.join(f'"{text}"' for text in texts)


def some(n):
    """Words of the language at its borders, and one beyond."""
    return [f"w{i}" for i in (0, 1, 63, 64, n // 2, n - 1)], [f"w{n}", "w", ""]


def counted(text, n):
    return [text * n], [text * (n - 1), text * (n + 1), ""]


def ebnf_chain(n):
    rules = [f'r{i} ::= "a" r{i + 1}' for i in range(n)] + [f'r{n} ::= "b"']
    return Grammar.from_ebnf("root ::= r0\n" + "\n".join(rules))


def ebnf_nested(n):
    return Grammar.from_ebnf("root ::= " + "(" * n + '"a"' + ' "b"?)' * n)


def ebnf_optional(n):
    return Grammar.from_ebnf("root ::= " + " ".join(f'"w{i},"?' for i in range(n)))


def ebnf_ranges(n):
    ranges = "".join(chr(0x3400 + 2 * i) for i in range(n))
    return Grammar.from_ebnf(f"root ::= [{ranges}]")


def lark_terminals(n):
    terminals = [f'T{i}: "w{i}"' for i in range(n)]
    start = "start: " + " | ".join(f"T{i}" for i in range(n))
    return Grammar.from_lark("\n".join([start, *terminals]))


def tag_of(n):
    tags = [{"begin": f"<w{i}>", "content": {"type": "regex", "pattern": f"{i}"},
             "end": "</w>"} for i in range(n)]  # fmt: skip
    return Grammar.from_structural_tag(
        {"type": "structural_tag", "format": {
            "type": "triggered_tags", "triggers": ["<w"], "tags": tags}}
    )  # fmt: skip


def tagged(n):
    ids = (0, 1, 63, 64, n // 2, n - 1)
    return [f"<w{i}>{i}</w>" for i in ids], [f"<w{n}>{n}</w>", "<w0>1</w>"]


def budgets(n):
    rules = [f'r{i}[max_chars=99999] ::= "(" r{i + 1} ")"' for i in range(n)]
    last = f'r{n}[max_chars=99999] ::= "x"'
    return Grammar.from_ebnf("\n".join(["root ::= r0", *rules, last]))


def dispatch(n):
    triggers = ", ".join(f'("<w{i}>", r{i})' for i in range(n))
    rules = [f'r{i} ::= "{i}</w>"' for i in range(n)]
    return Grammar.from_ebnf("\n".join([f"root ::= TagDispatch({triggers})", *rules]))


def lark_dispatch(n):
    """The tail has an option, so that its rules stay apart."""
    start = "start: (" + " | ".join(f"c{i}" for i in range(n)) + ")* tail"
    rules = [f'c{i}: h{i} "{i}</w>"\nh{i}[suffix="<w{i}>"]: TEXT' for i in range(n)]
    tail = "tail[capture]: TEXT\nTEXT: /(.|\\n)*/"
    return Grammar.from_lark("\n".join([start, *rules, tail]))


# By name: the grammar of a size, texts of the language, and texts that are not.
SHAPES = {
    "budgets in budgets": lambda n: (
        budgets(n), ["(" * n + "x" + ")" * n], ["(" * n + "x" + ")" * (n - 1)]),
    "triggers": lambda n: (dispatch(n), *tagged(n)[:1], tagged(n)[1][1:]),
    "triggers with options": lambda n: (
        lark_dispatch(n), *tagged(n)[:1], tagged(n)[1][1:]),
    "chunks": lambda n: (
        Grammar.from_ebnf(f"root ::= Substring({quoted(words(n), ', ')})"),
        ["".join(words(n)), "w1w2", ""], ["w2w1", "w0w2"]),
    "alternatives": lambda n: (Grammar.from_ebnf("root ::= " + quoted(words(n))), *some(n)),
    "regex alternatives": lambda n: (Grammar.from_regex("|".join(words(n))), *some(n)),
    "regex groups": lambda n: (Grammar.from_regex("(a)" * n), *counted("a", n)),
    "regex count": lambda n: (Grammar.from_regex(f"(ab){{{n}}}"), *counted("ab", n)),
    "regex range": lambda n: (
        Grammar.from_regex(f"a{{{n - 1},{n}}}"),
        ["a" * (n - 1), "a" * n], ["a" * (n - 2), "a" * (n + 1)]),
    "ebnf count": lambda n: (Grammar.from_ebnf(f'root ::= "ab"{{{n}}}'), *counted("ab", n)),
    "ebnf count of a rule": lambda n: (
        Grammar.from_ebnf(f'root ::= r{{{n}}}\nr ::= "a" | "(" r ")"'), *counted("(a)", n)),
    "rules in a chain": lambda n: (
        ebnf_chain(n), ["a" * n + "b"], ["a" * (n - 1) + "b", "a" * n]),
    "groups in groups": lambda n: (
        ebnf_nested(n), ["a", "a" + "b" * n], ["a" + "b" * (n + 1), "b"]),
    "optional parts": lambda n: (
        ebnf_optional(n),
        ["", "w0,", f"w0,w{n - 1},", "".join(f"w{i}," for i in range(n))],
        ["w1,w0,", f"w{n},"]),
    "ranges": lambda n: (
        ebnf_ranges(n),
        [chr(0x3400 + 2 * i) for i in (0, 63, 64, n - 1)],
        [chr(0x3400 + 2 * i + 1) for i in (0, 63, 64, n - 1)]),
    "union": lambda n: (
        Grammar.union([Grammar.from_regex(word) for word in words(n)]), *some(n)),
    "concat": lambda n: (
        Grammar.concat([Grammar.from_regex("a")] * n), *counted("a", n)),
    "terminals": lambda n: (lark_terminals(n), *some(n)),
    "tags": lambda n: (tag_of(n), *tagged(n)),
}  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_many(shape, size):
    try:
        grammar, inside, outside = SHAPES[shape](size)
    except parlance.Error as error:
        assert error.code == "too_large", error
        return
    for text in inside:
        assert accepts(grammar, text) is not False, text[:80]
    for text in outside:
        assert not accepts(grammar, text), text[:80]
    rng = random.Random(f"{shape} {size}")
    constraint = grammar.compile(VOCABULARY)
    for _ in range(2):
        try:
            text = walk(rng, constraint)
        except Broken as broken:
            pytest.fail(str(broken))
        assert text is None or accepts(grammar, text) is not False


@pytest.mark.parametrize("count", [2**31, 2**32, 2**63, 2**64, 10**999])
@pytest.mark.parametrize("form", ["a{%d}", "a{%d,}", "a{0,%d}", "(ab){2,%d}"])
@pytest.mark.parametrize("read", ["regex", "ebnf", "lark"])
def test_counts_of_any_size(read, form, count):
    """As written, or an error: never another count."""
    pattern = form % count
    try:
        grammar = {
            "regex": lambda: Grammar.from_regex(pattern),
            "ebnf": lambda: Grammar.from_ebnf(
                "root ::= " + pattern.replace("ab", '"ab"').replace("a{", '"a"{')
            ),
            "lark": lambda: Grammar.from_lark(f"start: /{pattern}/"),
        }[read]()
    except parlance.Error as error:
        assert str(error)
        return
    least = 0 if "{0," in form else 2 if "{2," in form else count
    unit = "ab" if "ab" in form else "a"
    for times in (0, 1, 2, 3, 100):
        assert grammar.accepts(unit * times) is (times >= least)
