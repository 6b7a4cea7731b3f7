"""What the pages say of transformers, asked of the version that they name.

tests/tree/promises.tsv says which test holds which sentence.
"""

import importlib.metadata
import json
import pathlib
import re
import signal

import pytest

pytest.importorskip("transformers")
import conformance  # noqa: E402
import parlance  # noqa: E402
from transformers.utils import chat_parsing  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/differences.md").read_text()
CASES = conformance.read("response_template/divergences.json")
TEMPLATES = conformance.read("response_template/templates.json")
TEMPLATE = {"start_anchor": "<A>", "fields": {"x": {"open": "<x>", "close": "</x>"}, "b": {}}}


def test_the_version_is_the_one_that_the_page_names():
    (named,) = re.findall(r"transformers (\d+\.\d+\.\d+)", PAGE)
    assert importlib.metadata.version("transformers") == named


def outcome(call):
    """What a call gives: ("message", message), or ("error", class)."""

    def late(*_):
        raise TimeoutError

    previous = signal.signal(signal.SIGALRM, late)
    signal.alarm(2)
    try:
        return "message", call()
    except BaseException as error:  # noqa: BLE001
        return "error", type(error)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def upstream(template, *chunks, prefix="", tools=None):
    parser = chat_parsing.ResponseParser(template, prefix, tools=tools)
    for chunk in chunks:
        parser.feed(chunk)
    return parser.finalize()[0]


def ours(template, *chunks, prefix="", tools=None):
    parser = parlance.ResponseParser(template, prefix, tools=tools)
    for chunk in chunks:
        parser.feed(chunk)
    return parser.finalize()[0]


CATEGORIES = {
    "nontermination": TimeoutError, "type_error": AttributeError, "parse_error": ValueError
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_each_row_of_the_tables(case):
    """The cases of differences.md, in the chunks of their rows."""
    assert f"`{case['id']}`" in PAGE
    template = case["template"]
    if isinstance(template, str):
        template = TEMPLATES[template]["template"]
    what, got = outcome(
        lambda: upstream(
            template, *case["chunks"], prefix=case["prefix"], tools=case.get("tools")
        )
    )
    said = case["upstream"]
    if "error" in said:
        assert what == "error"
        assert issubclass(got, CATEGORIES[said["error"]["category"]])
    else:
        assert (what, got) == ("message", said["message"])


def field(**options):
    return {"start_anchor": "<A>", "fields": {"x": {"open": "<x>", "close": "</x>", **options}}}


def call_of(parameters, text, **options):
    """A template whose calls are elements or JSON, its text, and the tools."""
    template = {
        "start_anchor": "<A>",
        "fields": {
            "tool_calls": {
                "open_pattern": r"<c (?P<n>\w+)>", "close": "</c>", "repeats": True,
                "transform": {
                    "type": "function",
                    "function": {"name": "{n}", "arguments": "{content}"},
                },
                **options,
            }
        },
    }
    function = {"name": "f", "parameters": {"type": "object", "properties": parameters}}
    return template, f"<c f>{text}</c>", [{"type": "function", "function": function}]


ELEMENTS = {
    "content": "xml-inline",
    "content_args": {"tag_pattern": r"<(?P<key>\w+)>(?P<value>.*?)</\w+>"},
}


def arguments(parser, parameters, text, **options):
    template, text, tools = call_of(parameters, text, **options)
    (call,) = parser(template, text, tools=tools)["tool_calls"]
    return call["function"]["arguments"]


def test_no_limit_of_held_text():
    template = field(open_pattern="<y[^>]*>")
    del template["fields"]["x"]["open"]
    template["fields"]["b"] = {}
    text = "<y" + "a" * 70_000
    parsers = chat_parsing.ResponseParser(template, ""), parlance.ResponseParser(template, "")
    held = ["".join(e.get("text", "") for e in p.feed(text)) for p in parsers]
    assert held[0] == "" and held[1] != ""
    assert [p.finalize()[0] for p in parsers] == [{"b": text}] * 2


def test_string_delims_inside_a_string():
    args = {"string_delims": [["<e>", "<e>"]], "unquoted_keys": True}
    template = field(content="json", content_args=args)
    text = '<x>{a: "x<e>,<e>b"}</x>'
    # What is left beside the string is no JSON.
    assert outcome(lambda: upstream(template, text)) == ("error", ValueError)
    assert outcome(lambda: ours(template, text)) == ("error", parlance.ResponseError)
    file = parlance.Format({"name": "x", "response_template": template, "parlance": {}})
    assert ours(file, text)["x"] == {"a": "x<e>,<e>b"}


@pytest.mark.parametrize(
    "template",
    [
        field(content="json", content_args={"no_such": True}),
        field(content="text", content_args={"no_such": True}),
    ],
)
def test_unknown_arguments_of_content_parsers_are_ignored(template):
    assert outcome(lambda: upstream(template, "<x>1</x>"))[0] == "message"
    assert "unknown_key" in [lint["code"] for lint in parlance.Format(template).lint()]


def test_what_every_text_fails_at_loads():
    template, text, _ = call_of({}, "<a>1</a>", **ELEMENTS)
    parser = {"value_parser": {"name": "no_such"}}
    calls = template["fields"]["tool_calls"]
    calls["content_args"] = {**calls["content_args"], **parser}
    chat_parsing.ResponseParser(template, "")
    assert outcome(lambda: upstream(template, text))[0] == "error"
    assert outcome(lambda: ours(template, text))[0] == "error"


def test_the_error_of_a_strict_reading():
    template = field(content="json")
    for text in ("<x>{</x>", '<x>{"a": }</x>'):
        (_, theirs), (_, mine) = (
            outcome(lambda: upstream(template, text)),  # noqa: B023
            outcome(lambda: ours(template, text)),  # noqa: B023
        )
        assert issubclass(theirs, ValueError) and issubclass(mine, ValueError)


def test_halves_of_surrogate_pairs_are_kept():
    assert upstream(TEMPLATE, "a\ud83cb") == ours(TEMPLATE, "a\ud83cb") == {"b": "a\ud83cb"}


def test_a_prefix_without_a_start_anchor_is_read():
    expected = {"x": "ab"}
    assert upstream(TEMPLATE, "b</x>", prefix="<x>a") == expected
    assert ours(TEMPLATE, "b</x>", prefix="<x>a") == expected


def test_text_outside_of_fields_is_not_reported():
    template = field()
    assert upstream(template, "no <x>a</x> no") == ours(template, "no <x>a</x> no") == {"x": "a"}


@pytest.mark.parametrize("text", ["1e999", "3", "3.0", "12345678901234567890", "nan"])
def test_numbers_go_by_float(text):
    parameters = {"a": {"type": "number"}}
    got = [arguments(p, parameters, f"<a>{text}</a>", **ELEMENTS) for p in (upstream, ours)]
    assert got[0] == got[1]
    assert (type(got[0]["a"]), str(got[0]["a"])) == (type(got[1]["a"]), str(got[1]["a"]))


def test_strings_of_json_are_cast():
    parameters = {"a": {"type": ["string", "null"]}, "b": {"type": ["string", "integer"]}}
    text = '{"a": "null", "b": "1"}'
    got = [arguments(p, parameters, text, content="json") for p in (upstream, ours)]
    assert got[0] == got[1] != json.loads(text)


def test_the_last_of_two_arguments_counts():
    got = [arguments(p, {}, "<a>1</a><a>2</a>", **ELEMENTS) for p in (upstream, ours)]
    assert got[0] == got[1]
    text = '{"a": 1, "a": 2}'
    got = [arguments(p, {}, text, content="json") for p in (upstream, ours)]
    assert got == [{"a": 2}, {"a": 2}]


def test_what_fails_for_some_regions_loads():
    for wrong in (
        field(content="xml-inline", content_args={"tag_pattern": r"<(?P<value>\w+)>"}),
        field(content="kv-lines", content_args={"kv_sep": ""}),
    ):
        chat_parsing.ResponseParser(wrong, "")
        parlance.ResponseParser(wrong, "")


def test_what_fails_for_every_region_is_refused():
    wrong = field(content="json", content_args={"string_delims": [["<", ">", "!"]]})
    chat_parsing.ResponseParser(wrong, "")
    assert outcome(lambda: upstream(wrong, "<x>{}</x>"))[0] == "error"
    with pytest.raises(parlance.TemplateError):
        parlance.ResponseTemplate(wrong)


def test_anything_that_can_be_unpacked_is_a_pair():
    template = field(content="json", content_args={"string_delims": ["<>"]})
    assert upstream(template, "<x>[<a>]</x>") == {"x": ["a"]}
    with pytest.raises(parlance.TemplateError):
        parlance.ResponseTemplate(template)


def test_json_that_is_nested_too_deep_in_an_argument():
    deep = "[" * 100_000 + "]" * 100_000
    parameters = {"a": {"type": "array"}}
    template, text, tools = call_of(parameters, f"<a>{deep}</a>", **ELEMENTS)
    assert outcome(lambda: upstream(template, text, tools=tools)) == ("error", RecursionError)
    assert arguments(ours, parameters, f"<a>{deep}</a>", **ELEMENTS) == {"a": deep}


def test_events_have_the_keys_of_upstream():
    parsers = chat_parsing.ResponseParser(TEMPLATE, ""), parlance.ResponseParser(TEMPLATE, "")
    theirs, mine = ([*p.feed("a<x>b</x>c"), *p.finalize()[1]] for p in parsers)
    assert [e["type"] for e in theirs] == [e["type"] for e in mine]
    for a, b in zip(theirs, mine, strict=True):
        assert b | a == b and set(b) - set(a) <= {"start", "end", "captures", "cut", "tokens"}
