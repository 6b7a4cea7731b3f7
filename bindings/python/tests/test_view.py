"""view(): what became of a response; and what notebooks show."""

import html.parser
import json
import pathlib
import re
import sys

import parlance
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]

QWEN = "<think>Hm.</think>Yes.<tool_call>\n{oops</tool_call>"
HOSTILE = "</script><script>x()</script><!-- <img src=x onerror=x()> \0\ud800\u202e"
VOCABULARY = parlance.Vocabulary(
    [bytes([b]) for b in range(256)] + [b"<think>", b"</think>", b"<end>"],
    control_ids=[256, 257, 258],
    stop_ids=[258],
)
LETTERS = parlance.Grammar.from_regex("a+b")
TAG = parlance.StructuralTag(
    {"format": {"type": "tag", "begin": "<t>", "end": "</t>",
                "content": {"type": "any_text"}}}
)


def kinds(view):
    return [row["kind"] for row in view.facts["rows"]]


def facts_of(page):
    text = re.search(r'id="facts">(.*?)</script>', page, re.S)[1]
    return json.loads(text)


def rows_of(facts):
    """The rows of a page as those of View.facts: kinds, places and words."""
    at = 0
    rows = []
    for shape, size in zip(facts["rows"][::2], facts["rows"][1::2], strict=True):
        row = facts["shapes"][shape]
        start, end = row.get("start", at), row.get("end", at + size)
        rows.append((row["kind"], start, end, row["what"]))
        at += size
    return rows


def test_by_a_format():
    view = parlance.view(QWEN, "qwen3", tools=[])
    assert kinds(view) == [
        "open", "text", "close", "text", "open", "text", "close", "malformed"
    ]
    facts = view.facts
    assert facts["name"] == "qwen3"
    assert facts["message"] == parlance.parse_response(QWEN, "qwen3", prefix="")
    assert facts["diagnostics"][0]["code"] == "invalid_content"
    assert "".join(row.get("text", "") for row in facts["rows"]) == QWEN
    page = facts_of(view.html)
    assert page["text"] == QWEN
    assert rows_of(page) == [
        (row["kind"], row["start"], row["end"], row["what"]) for row in facts["rows"]
    ]
    assert repr(view) == "<View of 51 bytes by qwen3>"
    # Any spec of a parser, and any text.
    template = {"start_anchor": "<A>", "fields": {"content": {}}}
    for response in ("ab", b"ab", bytearray(b"ab")):
        assert kinds(parlance.view(response, template)) == ["text"]
    view = parlance.view("a</think>b", parlance.Format("qwen3"), "<think>")
    assert view.facts["prefix_bytes"] == 7
    view = parlance.view("{oops", "qwen3", "<tool_call>", recover=False)
    assert view.facts["error"]["code"] == "invalid_content"


def test_hints():
    tools = [{"name": "now", "parameters": {"properties": {"zone": {}}}}]
    text = "Sure:\nnow\n{\"zone\": \"UTC\"}"
    (hint,) = parlance.view(text, "qwen3", tools=tools).hints
    assert hint["kind"] == "json_call" and hint["field"] == "content"
    assert text[hint["start"]:hint["end"]] == 'now\n{"zone": "UTC"}'
    assert "skip_special_tokens" in hint["message"]
    assert parlance.view(text, "qwen3").hints == []
    text = "<tool_call>\n<function=now>\n</function>\n</tool_call>"
    view = parlance.view(text, "qwen3")
    (hint,) = view.hints
    assert hint["kind"] == "other_format" and hint["format"] == "qwen3_coder"
    assert kinds(view) == ["text", "hint"]
    (row,) = [row for row in view.facts["rows"] if row["kind"] == "hint"]
    assert (row["hint"], row["format"]) == ("other_format", "qwen3_coder")
    assert "qwen3_coder" in view.html and "qwen3_coder" in view._repr_html_()
    view = parlance.view("<think>I <tool_call>{\"name\": \"f\"}</tool_call>", "qwen3")
    assert [hint["kind"] for hint in view.hints] == ["call_in_reasoning"]
    assert parlance.view("aab", LETTERS).hints == []


def test_what_is_held():
    view = parlance.view("<think>a</think>b", "qwen3", chunk=4)
    held = [row for row in view.facts["rows"] if row["kind"] == "held"]
    assert held[0]["text"] == "<thi" and held[0]["fed"] == 4


def test_bytes_that_are_no_text():
    for response in (b"a\xed\xa0\x80", "a\ud800"):
        row = parlance.view(response, "qwen3").facts["rows"][0]
        assert row["hex"] == "61eda080"


def test_by_a_tag_and_by_a_grammar():
    view = parlance.view("<t>x</t>", TAG)
    assert kinds(view) == ["format", "format", "end"]
    assert view.facts["rows"][0]["path"] == "/format"
    view = parlance.view("aac", LETTERS)
    assert kinds(view) == ["fits", "rest", "expected"]
    assert view.facts["accepted"] is False


def test_tokens():
    ids = [256, 97, 257, 98, 258]
    facts = parlance.view(ids, "qwen3", vocabulary=VOCABULARY).facts
    assert facts["tokens"]["ids"] == ids and facts["tokens"]["control"] == [0, 2, 4]
    assert "allowed" not in facts["tokens"]
    # What was allowed: by a constraint beside the format, or by the spec itself.
    ids = [97, 98, 258]
    for given in (LETTERS, LETTERS.compile(VOCABULARY)):
        for facts in (
            parlance.view(
                ids, "qwen3", vocabulary=VOCABULARY, constraint=given
            ).facts,
            parlance.view(ids, given, vocabulary=VOCABULARY).facts,
        ):
            assert facts["tokens"]["allowed"] == [1, 2, 1]
    ids = [*b"<t>x</t>", 258]
    for constraint in (None, TAG):
        facts = parlance.view(
            ids, TAG, vocabulary=VOCABULARY, constraint=constraint
        ).facts
        assert facts["tokens"]["allowed"][:3] == [1, 1, 1]
    # A vocabulary that does not know its stop tokens has no masks.
    plain = parlance.Vocabulary([bytes([b]) for b in range(256)])
    facts = parlance.view(list(b"<t>x</t>"), TAG, vocabulary=plain).facts
    assert "allowed" not in facts["tokens"]
    facts = parlance.view([97, 97, 99], LETTERS, vocabulary=VOCABULARY).facts
    assert facts["tokens"]["rejected"] == 2


def test_save(tmp_path):
    view = parlance.view(QWEN, "qwen3", title="A <b>title</b>")
    for path in (tmp_path / "a.html", str(tmp_path / "b.html")):
        view.save(path)
        assert pathlib.Path(path).read_text() == view.html
    assert facts_of(view.html)["title"] == "A <b>title</b>"
    assert facts_of(parlance.view("", "qwen3").html)["title"] == "Response read by qwen3"
    with pytest.raises(OSError):
        view.save(tmp_path / "none" / "a.html")
    with pytest.raises(TypeError):
        view.save(1)


def test_what_cannot_be_viewed():
    constraint = LETTERS.compile(VOCABULARY)
    for call, error in (
        (lambda: parlance.view([1], "qwen3"), parlance.UsageError),
        (lambda: parlance.view([1], LETTERS), parlance.UsageError),
        (lambda: parlance.view("a", constraint), parlance.UsageError),
        (
            lambda: parlance.view("a", "qwen3", constraint=constraint),
            parlance.UsageError,
        ),
        (lambda: parlance.view("a", "qwen3", chunk=0), parlance.UsageError),
        (lambda: parlance.view("a", "qwen3", chunk=True), TypeError),
        (lambda: parlance.view("a", "qwen3", vocabulary=1), TypeError),
        (lambda: parlance.view("a", "qwen3", title=1), TypeError),
        (lambda: parlance.view(None, "qwen3"), TypeError),
        (lambda: parlance.view("a", "nothing"), parlance.TemplateError),
        (
            lambda: parlance.view(
                [97], "qwen3", vocabulary=VOCABULARY, constraint=1
            ),
            TypeError,
        ),
    ):
        with pytest.raises(error):
            call()


class Strict(html.parser.HTMLParser):
    """Reads HTML in which every element nests, and none can do anything."""

    ALLOWED = {"table", "caption", "b", "tr", "th", "td"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.text = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in self.ALLOWED and {a for a, _ in attributes} <= {
            "style", "colspan"
        }
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError("a comment")

    def handle_decl(self, decl):
        raise AssertionError("a declaration")


def shown(value):
    markup = value._repr_html_()
    assert len(markup) < 60_000
    return "".join(Strict(markup).text)


class Frame(html.parser.HTMLParser):
    """Reads HTML of one frame."""

    def __init__(self, text):
        super().__init__()
        self.frames = []
        self.feed(text)
        self.close()
        (attributes,) = self.frames
        self.page = attributes["srcdoc"]
        assert attributes["sandbox"] == "allow-scripts"

    def handle_starttag(self, tag, attributes):
        assert tag == "iframe"
        self.frames.append(dict(attributes))

    def handle_data(self, data):
        raise AssertionError(data)


def test_a_view_in_a_notebook():
    view = parlance.view(HOSTILE, "qwen3")
    assert Frame(view._repr_html_()).page == view.html
    # Of a long response, the beginning.
    long = parlance.view(QWEN * 20_000 + "é" * 50_000, "qwen3")
    page = Frame(long._repr_html_()).page
    facts = facts_of(page)
    assert facts["bytes"] == 20_000 * len(QWEN) + 100_000
    assert facts["text"] == (QWEN * 20_000)[:65536]
    assert facts["calls"] == [20_000, 20_000] and len(facts["attempts"]) == 100
    owned = [row for row in rows_of(facts) if row[0] != "malformed"]
    assert owned[-1][2] == 65536
    # A character is not cut.
    wide = parlance.view("a" + "é" * 50_000, "qwen3")
    assert facts_of(Frame(wide._repr_html_()).page)["text"].endswith("éé")


def test_notebooks():
    assert "aliases" in shown(parlance.Format("qwen3"))
    hostile = {
        "start_anchor": "<A>",
        "fields": {"<b>\u202e</b>": {"open": "<o>", "close": "</o>"}},
    }
    text = shown(parlance.ResponseTemplate(hostile))
    assert "<b>U+202E</b>" in text
    assert 'Regex("a+b")' in shown(LETTERS)
    assert '"any_text"' in shown(TAG)
    constraint = LETTERS.compile(VOCABULARY)
    assert "words of 32 bits" in shown(constraint)
    matcher = constraint.matcher()
    before = matcher.steps()
    assert "1 token" in shown(matcher) and "forceda" in shown(matcher)
    assert matcher.steps() == before
    matcher.accept_tokens([97, 98])
    assert "the text may end here" in shown(matcher)
    matcher.accept_token(258)
    text = shown(matcher)
    assert "ended" in text and "allowed next" not in text
    long = parlance.Grammar.from_regex("a" * 5000)
    assert shown(long).rstrip().endswith("\u2026")


def test_a_view_of_a_megabyte_is_made_quickly():
    view = parlance.view(QWEN * 20_000, "qwen3")
    assert sys.getsizeof(view.html) > 1_000_000
    assert len(view._repr_html_()) < 300_000
