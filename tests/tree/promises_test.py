"""Strong sentences of the README and of the guides, and the tests that hold them.

A sentence that says "never", "always", "exactly", "at most", a number or a default
stands in promises.tsv with its page and its test: FILE::NAME, where NAME is a
function of Python, SUITE.NAME of GoogleTest, or a word of that file.  So does a
sentence anywhere about what transformers does.  A sentence that is changed, a new
one, and a test that is gone are found here.  Where there is
no test, the third column is "-" and the fourth says why none is needed.

    python tests/tree/promises_test.py    prints what the table lacks
"""

import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("promises.tsv")
PAGES = [
    "README.md",
    "docs/write-a-format-file.md",
    "docs/reference/cpp.md",
    "docs/platforms.md",
    "docs/reference/grammars.md#Limits",
    "docs/reference/recovery.md#Limits",
    "docs/reference/constraints.md#Memory",
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "guide").glob("*.md")),
]
# Pages that say what transformers does: all of them may.
UPSTREAM = re.compile(
    r"\b[Uu]pstream\b|\b(?:like|as) transformers\b|\btransformers(?:' own)? (?:finds|accepts"
    r"|raises|ignores|loads|reads|stops|has|makes|gives|can|would|does)\b"
)
ABOUT_ITSELF = ("docs/performance.md", "docs/tests.md", "docs/tour.md", "docs/dependencies.md")
PAGES += [
    f"{page}@transformers"
    for page in sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))
    if page not in ABOUT_ITSELF and "design/" not in page
]
STRONG = re.compile(
    r"\b(?:never|always|exactly|at most|at least|byte for byte|nothing is lost"
    r"|no text is lost|by default|defaults? (?:is|are|of)|Default:)\b"
    r"|(?<![\w.:#/=`-])\d[\d,.]*(?!\w*[`/-])",
    re.IGNORECASE,
)


def text_of(page):
    """A page, or one section of it, without code."""
    name, _, section = page.partition("@")[0].partition("#")
    text = (ROOT / name).read_text()
    if section:
        (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def sentences(page):
    for block in re.split(r"\n\s*\n|\n(?=\||[*-] |#)", text_of(page)):
        if "| upstream" in block:  # the head of a table
            continue
        block = re.sub(r"\]\([^)]*\)", "]", " ".join(block.split()))
        yield from re.split(r"(?<=[.:;])\s+(?=[A-Z`*\[])", block)


def strong(page):
    for sentence in sentences(page):
        # No headings, languages, statuses of HTTP, and what stands in code.
        plain = re.sub(r"`[^`]*`", "``", sentence)
        plain = re.sub(r"C\+\+20|C99|HTTP|\b(?:400|503)\b", "", plain)
        found = UPSTREAM if page.endswith("@transformers") else STRONG
        if found.search(plain) and not sentence.startswith("#"):
            yield sentence


def rows():
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            cells = line.split("\t")
            assert len(cells) in (3, 4), line
            yield cells + [""] * (4 - len(cells))


def exists(test):
    name, _, inner = test.partition("::")
    path = ROOT / name
    if not path.is_file():
        return False
    suite, _, case = inner.partition(".")
    text = path.read_text()
    if path.suffix == ".cc" and case:
        return re.search(rf"TEST(?:_[FP])?\({suite},\s*{case}\)", text) is not None
    return inner == "" or re.search(rf"\b{re.escape(inner)}\b", text) is not None


@pytest.mark.parametrize("page", PAGES)
def test_strong_sentences_are_held(page):
    said = list(strong(page))
    listed = [row[1] for row in rows() if row[0] == page]
    assert [s for s in said if s not in listed] == [], "not in promises.tsv"
    assert [s for s in listed if s not in said] == [], "in promises.tsv only"


def test_the_tests_exist():
    missing = [
        test
        for _, _, tests, _ in rows()
        for test in tests.split()
        if test != "-" and not exists(test)
    ]
    assert missing == []


def test_what_no_test_holds_says_why():
    assert [row for row in rows() if row[2] == "-" and not row[3]] == []
    assert {row[0] for row in rows()} <= set(PAGES)


if __name__ == "__main__":
    known = {(row[0], row[1]) for row in rows()} if TABLE.exists() else set()
    for page in PAGES:
        for sentence in strong(page):
            if (page, sentence) not in known:
                sys.stdout.write(f"{page}\t{sentence}\t-\t\n")
