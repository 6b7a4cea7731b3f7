"""The tags of parlance.integrations.xgrammar, and those that XGrammar makes.

All shapes, choices and options that both have; PARLANCE_PEERS names the folder
that xgrammar lies in.  normal() says in what releases of XGrammar differ.
"""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

parlance = pytest.importorskip("parlance")

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]

import xgrammar_alone  # noqa: E402
from parlance.integrations.xgrammar import (  # noqa: E402
    upstream_structural_tag,
    upstream_shapes,
)

pytestmark = pytest.mark.skipif(
    xgrammar_alone.missing() is not None, reason=str(xgrammar_alone.missing())
)

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTIONS = [
    {"type": "function", "function": {"name": "f", "parameters": CITY}},
    {"function": {"name": "g", "parameters": CITY, "strict": False}},
    {"type": "function", "function": {"name": "h"}},
]
SEARCH = {"type": "web_search", "name": "browser.search", "parameters": CITY}
PYTHON = {"type": "python"}
TOOLS = [None, [], FUNCTIONS, [*FUNCTIONS, SEARCH, PYTHON], [SEARCH], "f"]
G = {"type": "function", "function": {"name": "g"}}
CHOICES = [
    None,
    "auto",
    "none",
    "required",
    G,
    {"type": "function", "function": {"name": "x"}},
    {"type": "web_search"},
    {"type": "x"},
    {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [G, {"type": "python"}]},
    },
    {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [G, G]},
    },
    {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}},
]
OPTIONS = [
    {},
    {"reasoning": False},
    {"reasoning": "auto"},
    {"exclude_special_tokens": False, "any_order": True},
    {"max_whitespace_cnt": 2, "parallel_tool_calls": False},
    {"reasoning": False, "parallel_tool_calls": False},
]


def requests():
    for model, tools, choice, options in itertools.product(
        upstream_shapes(), TOOLS, CHOICES, OPTIONS
    ):
        yield {
            "model": model, "tools": tools, "tool_choice": choice, **options
        }  # fmt: skip


def ours(arguments):
    try:
        return upstream_structural_tag(**arguments).to_dict()
    except parlance.GrammarError:
        return None


def normal(node):
    """Without what depends on the release: the texts that reasoning and the
    arguments of calls exclude, and sequences in sequences."""
    if isinstance(node, list):
        return [normal(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: normal(item) for key, item in node.items()}
    if node.get("type") == "json_schema":
        node.pop("excludes", None)
    content = node.get("content")
    if node.get("type") == "tag" and content.get("type") == "any_text":
        content["excludes"] = []
    if node.get("type") == "sequence":
        node["elements"] = [
            part
            for item in node["elements"]
            for part in (
                item["elements"] if item["type"] == "sequence" else [item]
            )
        ]
    return node


def test_the_same_tags():
    rows = list(requests())
    done = subprocess.run(
        [sys.executable, str(HERE.parent / "support" / "xgrammar_shapes.py")],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        check=True,
    )
    made = 0
    for row, theirs in zip(rows, json.loads(done.stdout), strict=True):
        tag = ours(row)
        made += tag is not None
        assert (tag is None) == (theirs is None), row
        if tag is not None:
            assert normal(tag) == normal(theirs), row
    assert made > len(rows) / 3
