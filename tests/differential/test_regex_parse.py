"""The regex room against the `regex` package, version 0.

Acceptance and dumps of patterns, sets of characters over every code point,
searches through the PCRE2 adapter on random patterns and texts, the rows of
the conformance vectors, and the patterns of all templates there.

Needs the program regex_probe, built with the tests; PARLANCE_PROBE_DIR names
the directory it is in.  PARLANCE_SEED (default 1) chooses the random cases,
PARLANCE_ROUNDS (default 1500) how many.
"""

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

import conformance

regex = pytest.importorskip("regex")

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
ROUNDS = int(os.environ.get("PARLANCE_ROUNDS", "1500"))
SOURCE = Path(__file__).resolve().parents[2]
TABLES = (SOURCE / "src/foundation/regex/unicode_tables.cc").read_text("utf-8")
# The first sentence, which takes two lines of comment.
ORIGIN = " ".join(TABLES[:200].replace("//", " ").split())
SAME_TABLES = f"regex {regex.__version__}. " in ORIGIN


def probe_path():
    directory = os.environ.get("PARLANCE_PROBE_DIR")
    if not directory:
        pytest.skip("PARLANCE_PROBE_DIR is not set: no regex_probe to ask")
    path = Path(directory) / "regex_probe"
    if not path.exists():
        pytest.skip(f"{path} does not exist: build the tests first")
    return path


def ask(questions):
    stdin = "".join(json.dumps(q) + "\n" for q in questions)
    out = subprocess.run(
        [probe_path()], input=stdin.encode(), stdout=subprocess.PIPE, check=True
    ).stdout
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) == len(questions)
    return answers


def byte_offset(text, i):
    return len(text[:i].encode("utf-8", "surrogatepass"))


# --- Sets of characters -----------------------------------------------------

SETS = (
    [r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\h", ".", r"\pL", r"\P{Lu}"]
    + [r"\p{%s}" % n for n in (
        "L Lu Ll Lt LC L& Mn Nd N P Sc Zs C Cn Cs Assigned Alphabetic "
        "Uppercase White_Space Greek Han Latin Script=Cyrillic sc=Zyyy "
        "InGreek IsGreek Block=Arrows alnum word XIDS Any ASCII_Hex_Digit "
        "Emoji IDContinue print graph punct blank".split())]
    + [r"\p{^Lu}", r"\P{^Lu}", r"\p{Alphabetic=No}", r"\p{General Category=Lu}"]
    + ["[[:%s:]]" % n for n in
       "alpha alnum digit punct xdigit upper lower space word cntrl ^alpha"
       .split()]
    + [r"[^a]", r"[\w-]", r"[a\W]", r"[^\W\d]", r"[]a]", r"[^]a]", r"[a-]",
       r"[\p{Lu}\d]", r"[\P{Lu}]", r"[^\p{Lu}]", r"[^\p{Lu}a]", r"[\p{Upper}b]",
       r"[\p{Greek}]", r"[\p{Greek}b]", r"[^\P{Greek}]", r"[[:upper:]]", r"[\x41-\u00ff]", r"[a-\d]", r"[\b\a\0\07]",
       r"[[a]", r"[[:alpha]", "[\ud800-\udfff]", "[&&]", "[a|b||]"]
)
# Not here: [^\s\S], which matches nothing; the package takes it for the
# opposite.


@pytest.mark.skipif(not SAME_TABLES, reason="tables are of another regex")
@pytest.mark.parametrize("flags", ["", "i"])
def test_sets_over_every_code_point(flags):
    every = "".join(map(chr, range(0x110000)))
    flag = regex.V0 | (regex.I if flags else 0)
    answers = ask([{"do": "class", "pattern": p, "flags": flags} for p in SETS])
    for pattern, ours in zip(SETS, answers):
        theirs = [
            [m.start(), m.end() - 1]
            for m in regex.finditer(f"(?:{pattern})+", every, flag)
        ]
        assert ours == theirs, pattern


@pytest.mark.skipif(not SAME_TABLES, reason="tables are of another regex")
def test_sets_as_pcre2_reads_them():
    """The spelling for PCRE2 loses nothing, whatever its tables are.

    But for the characters whose category changed: U+0295 and U+1171E."""
    patterns = [r"\w", r"\W", r"\p{Lu}", r"[^\W\d]", r"\p{Alphabetic}", r"\p{Cn}"]
    meant = ask([{"do": "class", "pattern": p} for p in patterns])
    found = ask([{"do": "scan", "pattern": p} for p in patterns])
    for pattern, a, b in zip(patterns, meant, found):
        left = {c for f, t in a for c in range(f, t + 1)}
        right = {c for f, t in b for c in range(f, t + 1)}
        assert left ^ right <= {0x295, 0x1171E}, pattern


# --- Acceptance -------------------------------------------------------------

ACCEPTED = r"""
a{ a{} a{,} a{,3} a{2,} a{2 a{x} {3 a{1}? a{2,3}+ x{0} {a} a{1,2}{ } ]
(a)\1 (?P<n>a)(?P=n) (?P<n>a)\g<n> \1(a) (a)\g<1> (?<n>a)\1
(?(1)a|b)(c) (?P<n>a)(?(n)b) (?#x)a a(?#x)* (?i)a a(?i)b|c (?i:a)b (?-i:a)
(?s-i:a) (?x:a_b) (?u)a (?V0)a (?>a) (?=a)* (?<=ab|c)d (?<!a) \A\Z\z\b\B
\x41 \u0041 \U00010041 \0 \07 \101 \777 \n\t\r\f\v\a \- \_ \é [a-z] [^a-z]
[]] [^]] []-a] [a\]] [\w-] [-a] [a-] (?P<n>a)|(?P<n>b) a|| | () (?:) (|a)
^* \b+ (?:a*)* ((a)) \pL \p{Lu} \p{Script=Greek} \P{^L} [[:alpha:]x] a{3}b{4,}
(?<ü>a)\g<ü> (?P<n>a)\g<1> (?:a|b){2} a(?#\)) (?i-s:a)
""".split() + [r"(?x) a b # c", "(?x: a { 2 , 3 } )", "a\u2028b", ""]

REJECTED = r"""
a** a+*  * +a ?a a|* (a a) [a [ [] [^] \ a\ a{3,2} (?P<1>a) (?P<>a) (?P<a-b>a)
(?Pa) (?P=x) \1 (a)\2 (?(x)a) (?(1)a|b|c)(d) (?(1)a (a\1) (?P<n>(?P=n)) \x4 \xgg
\u123 \U00110000 \y \i \j \q [z-a] [\q] (?i-i:a) (?i-:a) (?y) (?<n a) (?# a{2}{3}
\p{Foo} \p{Script=Foo} [[:foo:]] (?=a (?> (?z:a) [\8] (?-) (?i a{1}** (?P
""".split()

# Understood by the package and refused by us, or taken as text there although
# nobody means that.
REFUSED = r"""
(?:foo){e<=1} (?:foo){i} (?V1)a \mfoo foo\M (?r)a (?R) (a)(?1) (?P<n>a)(?&n) (?|a|b)
\Ka \Ga \X \R \N{DIGIT_ONE} [\w--\d] [a&&b] [a||b] [a~~b] (?<=a+)b (?a)a (?w)a
(?b)(?:a){e} (?(DEFINE)a) (?(?=a)b|c) (*FAIL) (?+1)(a) (?P<n>a(?P<n>b)) \p{NFC_QC=Y}
\p{Bidi_Class=L} (?f)a (?<=(a)\1)b
""".split()

# Malformed escapes that the package takes for the letter itself.
STRICTER = [r"\g", r"\gx", r"\p", r"\px", r"\P{", r"(a)\g<2", r"\p{L"]


def package_accepts(pattern):
    try:
        regex.compile(pattern, regex.V0 | regex.DOTALL)
        return True
    except regex.error:
        return False


@pytest.mark.parametrize(
    "patterns,theirs,ours",
    [
        (ACCEPTED, True, True),
        (REJECTED, False, "bad_pattern"),
        (REFUSED, None, "unsupported_pattern"),
        (STRICTER, True, "bad_pattern"),
    ],
    ids=["accepted", "rejected", "refused", "stricter"],
)
def test_acceptance(patterns, theirs, ours):
    answers = ask([{"do": "parse", "pattern": p} for p in patterns])
    for pattern, answer in zip(patterns, answers):
        if theirs is not None:
            assert package_accepts(pattern) == theirs, pattern
        if ours is True:
            assert answer["ok"], (pattern, answer)
        else:
            assert not answer["ok"], (pattern, answer)
            assert answer["code"] == ours, (pattern, answer)
            assert answer["message"].endswith("."), answer
            begin, end = answer["span"]
            assert 0 <= begin <= end <= len(pattern.encode()), answer


def test_every_short_text_of_syntax_characters():
    """Acceptance of all patterns of up to four of these."""
    letters = ["a", "*", "?", "{1}", "(", "(?:", ")", "|", "[", "]", "\\1", "(?i)"]
    patterns = [""]
    for _ in range(4):
        patterns += [p + c for p in patterns if p.count(" ") == 0 for c in letters
                     if len(p) < 24]
        patterns = list(dict.fromkeys(patterns))
    patterns = patterns[:40000]
    answers = ask([{"do": "parse", "pattern": p} for p in patterns])
    wrong = [
        (p, a) for p, a in zip(patterns, answers)
        if a.get("code") != "unsupported_pattern"
        and a["ok"] != package_accepts(p)
    ]
    assert not wrong[:5], len(wrong)


def test_random_text():
    """Patterns that are no patterns: acceptance agrees, or we refuse."""
    rng = random.Random(SEED)
    pieces = list("ab01(){}[]|*+?^$.\\-,:=!<>P#& \n") + [
        "(?", "(?P<", "(?:", "(?<=", "\\w", "\\d", "[^", "{1,2}", "(?i)", "(?#",
        "(?(1)", "\\1", "[:alpha:]", "\\u0041", "(?>", "é", "\\b", "(?x)",
    ]
    patterns = [
        "".join(rng.choice(pieces) for _ in range(rng.randint(1, 9)))
        for _ in range(ROUNDS * 3)
    ]
    answers = ask([{"do": "parse", "pattern": p, "flags": "s"} for p in patterns])
    for pattern, answer in zip(patterns, answers):
        if answer["ok"] == package_accepts(pattern):
            continue
        assert not answer["ok"], (SEED, pattern, answer)
        if answer["code"] == "unsupported_pattern":
            continue
        # A malformed \\g or \\p, or a condition on no group with empty branches.
        assert re.search(r"\\[gpP]|\(\?\(", pattern), (SEED, pattern, answer)


@pytest.mark.filterwarnings("ignore")
def test_random_text_for_re():
    """The same against the standard library's `re`."""
    rng = random.Random(SEED)
    pieces = list("ab01(){}[]|*+?^$.\\-,:=!<>P#& \n") + [
        "(?", "(?P<", "(?:", "(?<=", "\\w", "[^", "{1,2}", "(?i)", "(?#", "(?(1)",
        "\\1", "\\u0041", "\\b",
    ]
    patterns = [
        "".join(rng.choice(pieces) for _ in range(rng.randint(1, 8)))
        for _ in range(ROUNDS * 3)
    ]
    answers = ask([
        {"do": "parse", "pattern": p, "flags": "s", "flavor": "re"} for p in patterns
    ])
    for pattern, answer in zip(patterns, answers):
        try:
            re.compile(pattern, re.DOTALL)
            accepted = True
        except (re.error, OverflowError):
            accepted = False
        if answer.get("code") != "unsupported_pattern":
            assert answer["ok"] == accepted, (SEED, pattern, answer)


# --- Searching --------------------------------------------------------------


class Maker:
    """Random patterns that mean something, and texts that may match them."""

    LETTERS = "abé"

    def __init__(self, rng):
        self.rng = rng
        self.groups = 0
        self.names = []
        self.behind = False

    def pattern(self):
        self.groups, self.names = 0, []
        prefix = self.rng.choice(["", "", "", "", "(?i)", "(?m)", "(?-s)"])
        return prefix + self.alternation(3)

    def alternation(self, depth):
        parts = [self.sequence(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 3]))]
        return "|".join(parts)

    def sequence(self, depth):
        return "".join(
            self.quantified(depth) for _ in range(self.rng.randint(1, 3))
        )

    def quantified(self, depth):
        item, repeatable = self.item(depth)
        if not repeatable or self.rng.random() < 0.6:
            return item
        quantifier = self.rng.choice(
            ["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "{1}"]
        )
        return item + quantifier + self.rng.choice(["", "", "?", "+"])

    def item(self, depth):
        choice = self.rng.random()
        if depth == 0 or choice < 0.5:
            return self.atom(), True
        if choice < 0.60:
            self.groups += 1
            return "(" + self.alternation(depth - 1) + ")", True
        if choice < 0.66:
            self.groups += 1
            name = f"n{self.groups}"
            inner = self.alternation(depth - 1)
            self.names.append(name)
            return f"(?P<{name}>{inner})", True
        if choice < 0.74:
            head = self.rng.choice(["(?:", "(?:", "(?i:", "(?>", "(?s:"])
            return head + self.alternation(depth - 1) + ")", True
        if choice < 0.80:
            head = self.rng.choice(["(?=", "(?!"])
            return head + self.alternation(depth - 1) + ")", False
        if choice < 0.86:
            head = self.rng.choice(["(?<=", "(?<!"])
            fixed = "|".join(
                "".join(self.atom() for _ in range(self.rng.randint(1, 2)))
                for _ in range(self.rng.choice([1, 2]))
            )
            return head + fixed + ")", False
        if choice < 0.92:
            return self.rng.choice(["^", "$", r"\A", r"\Z", r"\b", r"\B"]), False
        if self.names:
            name = self.rng.choice(self.names)
            kind = self.rng.choice(["(?P=%s)", r"\g<%s>", "(?(%s)a|b)"])
            return kind % name, "(?(" not in kind
        return self.atom(), True

    def atom(self):
        return self.rng.choice(
            ["a", "b", "é", "a", "b", ".", "A", r"\w", r"\W", r"\d", r"\s", r"\n",
             "[ab]", "[^a]", r"[\w-]", r"[^\W_]", r"[a-c]", r"\p{L}", r"\P{Lu}",
             "[[:alpha:]]", r"\x61", r"\u00e9", "मौ", r"[^\n]", "ß"]
        )

    def text(self):
        return "".join(
            self.rng.choice(["a", "b", "é", "A", "É", "1", " ", "\n", "-", "_", "म",
                             "ौ", "a", "b", "ab", "²", "ẞ", "ß", "😀"])
            for _ in range(self.rng.randint(0, 8))
        )


def expected_search(pattern, text, pos):
    """What the package finds, in bytes; None when it cannot be compared."""
    match = regex.search(
        pattern, text, regex.V0 | regex.DOTALL, pos=pos, timeout=2
    )
    if not match:
        return {"status": "none"}
    return {
        "status": "match",
        "groups": [
            None
            if match.start(g) < 0
            else [byte_offset(text, match.start(g)), byte_offset(text, match.end(g))]
            for g in range(match.re.groups + 1)
        ],
    }


def test_random_searches():
    rng = random.Random(SEED)
    maker = Maker(rng)
    questions, wanted = [], []
    while len(questions) < ROUNDS * 4:
        pattern = maker.pattern()
        try:
            regex.compile(pattern, regex.V0 | regex.DOTALL)
        except regex.error:
            continue
        for _ in range(4):
            text = maker.text()
            pos = rng.randint(0, len(text)) if rng.random() < 0.3 else 0
            questions.append({
                "do": "search", "pattern": pattern, "flags": "s", "text": text,
                "pos": byte_offset(text, pos),
            })
            wanted.append(expected_search(pattern, text, pos))
    answers = ask(questions)
    differ = [
        (q["pattern"], q["text"], q["pos"], theirs, ours)
        for q, theirs, ours in zip(questions, wanted, answers)
        if theirs != ours
        and "too large" not in ours.get("message", "")  # for PCRE2
        # The package joins two negated sets of one character wrongly.
        and not re.search(r"\[\^[^]]+\]\|\[\^", q["pattern"])
    ]
    if os.environ.get("PARLANCE_SHOW"):
        for d in differ:
            print(d)
    assert not differ[:3], (SEED, len(differ), len(questions))


def test_duplicate_names():
    rows = [
        (r"(?:(?P<n>a)|(?P<n>b))+", "ab"),
        (r"(?:(?P<n>a)|(?P<n>b))+", "ba"),
        (r"(?P<n>a)(?P<n>b)", "ab"),
        (r"(?P<n>a)|(?P<n>b)(c)", "bc"),
        (r"(?:(?P<n>a)|(?P<n>b))(?P=n)", "abb"),
        (r"(?:(?P<n>a)|(?P<n>b)|c)(?(n)x|y)", "bx cy by"),
    ]
    answers = ask([
        {"do": "search", "pattern": p, "text": t, "flags": "s"} for p, t in rows
    ])
    for (pattern, text), answer in zip(rows, answers):
        assert answer == expected_search(pattern, text, 0), pattern


def test_start_and_limits():
    rows = [
        # ^ and \A do not match where the text goes on from before.
        ({"pattern": "^a", "text": "a"}, [[0, 1]]),
        ({"pattern": "^a", "text": "a", "not_start": True}, None),
        ({"pattern": r"\Aa", "text": "a", "not_start": True}, None),
        ({"pattern": r"(?<=^x)a", "text": "xa", "pos": 1}, [[1, 2]]),
        ({"pattern": r"(?<=^x)a", "text": "xa", "pos": 1, "not_start": True}, None),
        ({"pattern": r"(?m)^a", "text": "\na", "not_start": True}, [[1, 2]]),
        ({"pattern": "a*", "text": "ba"}, [[0, 0]]),
        ({"pattern": "a*", "text": "ba", "not_empty": True}, [[1, 2]]),
        # The text may hold surrogates.
        ({"pattern": "(?<=.)b", "text": "\ud800b"}, [[3, 4]]),
    ]
    answers = ask([{"do": "search", "flags": "s", **q} for q, _ in rows])
    for (question, wanted), answer in zip(rows, answers):
        assert answer.get("groups") == wanted, (question, answer)
    slow = {"do": "search", "pattern": r"(a|aa)+\b$", "text": "a" * 40 + "!"}
    assert ask([slow])[0]["status"] == "limit"


# --- Vectors ----------------------------------------------------------------


def test_rows_of_the_vectors():
    rows = conformance.read("response_template/regex-rows.json")
    questions = []
    for row in rows:
        base = {
            "do": "search", "pattern": row["pattern"], "flags": "s",
            "text": row["text"], "pos": byte_offset(row["text"], row["pos"]),
        }
        questions += [base, {**base, "more": True}]
    answers = ask(questions)
    for i, row in enumerate(rows):
        whole, partial = answers[2 * i], answers[2 * i + 1]
        text = row["text"]
        want = row["search"]
        if want is None:
            assert whole["status"] == "none", row
        else:
            span = [byte_offset(text, x) for x in want["span"]]
            assert whole["groups"][0] == span, (row, whole)
        want = row["pcre2_partial_hard"]
        if want is None:
            # An empty partial match at the very end is not listed.
            size = byte_offset(text, len(text))
            assert partial["status"] == "none" or partial == {
                "status": "partial", "begin": size}, (row, partial)
        elif want.get("partial"):
            if row["id"] == "rx-0502":
                # Recorded with PCRE2's own \\w, which has the superscript two.
                assert row["partial"] is None and partial["status"] == "none"
                continue
            assert partial == {
                "status": "partial", "begin": byte_offset(text, want["span"][0])
            }, (row, partial)
        else:
            span = [byte_offset(text, x) for x in want["span"]]
            assert partial["status"] == "match", (row, partial)
            assert partial["groups"][0] == span, (row, partial)


PATTERN_KEYS = {"open_pattern", "close_pattern", "tag_pattern", "start_anchor",
                "pattern", "regex"}


def patterns_in(value, key=""):
    if isinstance(value, dict):
        for name, member in value.items():
            yield from patterns_in(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from patterns_in(member, key)
    elif isinstance(value, str) and (key in PATTERN_KEYS or key.endswith("_pattern")):
        yield value


def test_patterns_of_every_template():
    """All parse, or the package refuses them as well."""
    found = set()
    for name in conformance.files("response_template"):
        found |= set(patterns_in(conformance.read(f"response_template/{name}.json")))
    for path in (SOURCE / "formats").glob("*.json"):
        found |= set(patterns_in(json.loads(path.read_text())))
    assert len(found) > 50
    found = sorted(found)
    answers = ask([{"do": "parse", "pattern": p, "flags": "s"} for p in found])
    for pattern, answer in zip(found, answers):
        if not answer["ok"]:
            assert not package_accepts(pattern), (pattern, answer)
        elif not answer["regular"]:
            assert re.search(
                r"\\[bB1-9g]|\(\?P=|\(\?\(|\(\?<[=!]|\(\?>|[*+?}]\+|\(\?[=!]", pattern
            ), (pattern, answer)
