"""Every public name of XGrammar 0.2.8 and llguidance 1.9.1, after `install()`.

A name is called by an example, or its use is an error that says what to use
instead, or it is listed here.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"
sys.path.insert(0, str(SUPPORT))

from interface_names import doc_snippets, public_names  # noqa: E402

PEERS = os.environ.get("PARLANCE_PEERS", "")
pytestmark = pytest.mark.skipif(not PEERS, reason="PARLANCE_PEERS is not set")

# What is not there, and why nobody asks for it.
LISTED = {
    "xgrammar": {
        "xgrammar.builtin_structural_tag.BuiltinStructuralTagFn": "an annotation",
        "xgrammar.builtin_structural_tag.SimplifiedToolChoice": "an annotation",
        "xgrammar.contrib.mlxlm.main": "the module as a script",
        "xgrammar.contrib.mlxlm.parse_args": "the module as a script",
    },
    "llguidance": {
        f"llguidance.gbnf_to_lark.{name}": "a tree of syntax"
        for name in (
            "ASTNode AlternativeNode LiteralNode Position RegexNode RepetitionNode "
            "RuleNode RuleRefNode SequenceNode"
        ).split()
    }
    | {
        "llguidance.JsonCompileOptions": "an annotation",
        "llguidance.torch.logger": "of the module itself",
    },
}
VERSIONS = {"xgrammar": "0.2.8", "llguidance": "1.9.1"}
# Names that run, raise with a remedy, and are listed.
COUNTS = {"xgrammar": (274, 16, 4), "llguidance": (98, 22, 53)}


def child(*command, text=""):
    result = subprocess.run(
        [sys.executable, *command], input=text, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@pytest.mark.parametrize("package", VERSIONS)
def test_each_name_runs_or_says_what_to_use(package):
    assert (pathlib.Path(PEERS) / f"{package}-{VERSIONS[package]}.dist-info").is_dir()
    names = list(public_names(PEERS, package))
    answer = child(str(SUPPORT / "interface_examples.py"), package, text=json.dumps(names))
    found = collections.defaultdict(list)
    for name, verdict in zip(names, json.loads(answer), strict=True):
        whole = ".".join(name)
        listed = any(whole == one or whole.startswith(one + ".") for one in LISTED[package])
        found["listed" if listed else verdict].append(whole)
    assert not found["absent"] and not found["untried"], (found["absent"], found["untried"])
    counts = tuple(len(found[kind]) for kind in ("run", "raised", "listed"))
    print("MEASURED", package, counts)
    assert counts == COUNTS[package]
    page = (SUPPORT.parent.parent / f"docs/guide/{package}.md").read_text()
    assert f"{counts[0]} run, {counts[1]} raise" in page


# Examples in docstrings that are no programs, by a text in them.
NO_PROGRAMS = ("get_bitmask_value", "AutoTokenizer")
# What stands for a blank of an example.
BLANKS = {
    "tools=[...]": "tools=TOOLS",
    "json_schema=...": "json_schema={}",
    "content=...": "content=AnyTextFormat()",
}
PROGRAM = """
import sys
import parlance.integrations.xgrammar as xgr
xgr.install()
from xgrammar import *
from xgrammar.structural_tag import *
def build_my_model_structural_tag(*args, **options): pass
TOOLS = [
    {"type": "function", "function": {"name": "get_weather"}},
    {"type": "web_search_preview"},
]
try:
    exec(sys.stdin.read())
    print("run")
except ValueError as error:
    print("raised", error)
"""


def test_examples_in_docstrings():
    found = collections.defaultdict(list)
    for where, code in doc_snippets(PEERS, "xgrammar"):
        for blank, text in BLANKS.items():
            code = code.replace(blank, text)
        if any(word in code for word in NO_PROGRAMS):
            found["listed"].append(where)
            continue
        verdict, _, error = child("-c", PROGRAM, text=code).partition(" ")
        assert verdict.strip() == "run" or "register_model_structural_tag" in error
        found[verdict.strip()].append(where)
    counts = {kind: len(found[kind]) for kind in ("run", "raised", "listed")}
    print("MEASURED", counts)
    assert counts == {"run": 9, "raised": 3, "listed": 3}
