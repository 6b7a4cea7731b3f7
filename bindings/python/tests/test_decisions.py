"""Each decision of docs/reference/differences.md, pinned."""

import pathlib
import re

import pytest

import conformance
import parlance

ROOT = pathlib.Path(__file__).resolve().parents[3]
CALL = {"type": "function", "function": {"name": "f", "arguments": {}}}

DECISIONS = {
    "dv-close-or-Z": {"x": "a", "b": "q"},
    "dv-close-or-dollar": {"x": "a", "b": "q"},
    "dv-close-or-dollar-newline": {"x": "a\nb", "b": "q"},
    "dv-implicit-dollar-newline": {"body": "Hello\nWorld"},
    "dv-greedy-open": {},
    "dv-later-complete-over-earlier-partial": {"b": "1", "x": "2"},
    "dv-trailing-word-boundary": {"x": "a", "b": "bc"},
    "dv-negative-lookahead-inside": {"x": "a</x>!b", "b": "c"},
    "dv-implicit-lookahead-close-stuck": {"body": "<end>def", "x": "q"},
    "dv-implicit-close-boundary": {"body": "def"},
    "dv-open-close-empty": {},
    "dv-open-close-lookahead-same": {},
    "dv-trailing-newline-loses-content": {"role": "assistant"},
    "dv-newline-after-tool-loses-content": {
        "role": "assistant",
        "tool_calls": [CALL],
    },
    "dv-bare-key-inside-string": {"x": {"a": "x,y:1"}},
    "dv-bare-key-after-space": {"x": {"a": 1, "b": 2}},
    "dv-string-delims-nested-pairs": {"x": ["\u00010\u0002"]},
    "dv-number-precision": {
        "role": "assistant",
        "tool_calls": [
            {
                "type": "function",
                "function": {"name": "f", "arguments": {"a": 9007199254740992}},
            }
        ],
    },
    "dv-xml-null-value-parser": AttributeError,
    "dv-error-then-continue": ValueError,
    "dv-close-captures": {"x": {"n": "foo", "v": "a"}},
    "dv-alias-coercion": {
        "x": {"function": {"name": "f", "arguments": {"a": 7}}, "raw": {"a": "7"}}
    },
    "dv-negated-class-alternation": {"c": "q", "x": "in"},
}


def cases():
    divergences = conformance.read("response_template/divergences.json")
    templates = conformance.read("response_template/templates.json")
    return {case["id"]: case for case in divergences}, templates


CASES, TEMPLATES = cases()


def parse(case, pieces):
    template = case["template"]
    if isinstance(template, str):
        template = TEMPLATES[template]["template"]
    parser = parlance.ResponseParser(
        template, case["prefix"], tools=case.get("tools")
    )
    for piece in pieces:
        parser.feed(piece)
    return parser.finalize()[0]


@pytest.mark.parametrize("name", DECISIONS)
def test_decision(name):
    case, expected = CASES[name], DECISIONS[name]
    text = "".join(case["chunks"])
    for pieces in (case["chunks"], [text], list(text)):
        if isinstance(expected, type):
            with pytest.raises(expected):
                parse(case, pieces)
        else:
            assert parse(case, pieces) == expected


def test_every_recorded_divergence_is_decided():
    assert set(CASES) == set(DECISIONS)


def test_every_decision_is_documented():
    text = (ROOT / "docs" / "reference" / "differences.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(dv-[\w-]+)`", text, re.M)) == set(DECISIONS)
