"""Sentences of the pages that no other test holds.

tests/tree/promises.tsv says which sentence a test holds.
"""

import importlib
import inspect
import re

import parlance
import pytest
from parlance import Format, Grammar, GrammarError, Vocabulary


def code_of(call):
    with pytest.raises(parlance.Error) as raised:
        call()
    return raised.value.code


# --- docs/reference/python.md -------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Format(3), parlance.TemplateError),
        (lambda: parlance.ResponseTemplate([]), parlance.TemplateError),
        (lambda: Grammar.from_json_schema(3), parlance.SchemaError),
        (lambda: Grammar.from_structural_tag(3), GrammarError),
        (lambda: Format("qwen3").grammar(3), GrammarError),
        (lambda: Grammar.from_ebnf(3), TypeError),
        (lambda: Grammar.from_regex("a", limits=3), TypeError),
        (lambda: Grammar.union([3]), TypeError),
        (lambda: parlance.ToolSet(3), TypeError),
        (lambda: Format("qwen3").parser(3), TypeError),
    ],
)
def test_arguments_of_a_wrong_type(call, error):
    with pytest.raises(error) as raised:
        call()
    assert getattr(raised.value, "code", "wrong_type") == "wrong_type"


def test_modes_of_reasoning_have_the_names_of_the_page():
    family = Format("qwen3")
    with pytest.raises(GrammarError, match="required, allowed, off, True or False"):
        family.structural_tag([], reasoning="some")
    for name, other in (("off", False), ("off", "none"), ("required", True)):
        assert family.structural_tag([], reasoning=name) == family.structural_tag(
            [], reasoning=other
        )


# --- docs/reference/grammars.md, patterns.md ----------------------------------


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("bad_reference", lambda: Grammar.from_lark("start: x")),
        ("bad_reference", lambda: Grammar.from_lark("start: foo{x}")),
        ("bad_reference", lambda: Grammar.from_lark("start: @x")),
        (
            "bad_reference",
            lambda: Grammar.from_lark("start: <x>", vocabulary=Vocabulary([b"a"])),
        ),
        ("unknown_name", lambda: Grammar.from_lark('start[x]: "a"')),
        ("unknown_name", lambda: Grammar.from_lark("%import x.Y\nstart: Y")),
        ("unknown_name", lambda: Grammar.from_lark("%import common.Y\nstart: Y")),
        ("unsupported", lambda: Grammar.from_lark('%x y\nstart: "a"')),
        ("empty_value", lambda: Grammar.union([])),
        ("empty_value", lambda: Grammar.concat([])),
        ("too_large", lambda: Grammar.from_regex("a" * 2_000_001)),
        ("unsupported_pattern", lambda: Grammar.from_regex(r"\p{Line_Break=AL}")),
        ("bad_pattern", lambda: Grammar.from_regex(r"\p{Age=3.0}")),
    ],
)
def test_codes_of_grammars(code, call):
    assert code_of(call) == code


# --- docs/reference/json-schema.md --------------------------------------------


def contains(count, **more):
    return {
        "type": "array",
        "items": {"type": "integer"},
        "allOf": [{"contains": {"const": i}} for i in range(count)],
        **more,
    }


@pytest.mark.parametrize(
    ("count", "most"), [(7, None), (8, 3), (9, 2), (15, 2), (16, 1), (40, 1)]
)
def test_how_many_contains_an_item_counts_for(count, most):
    report = Grammar.from_json_schema(contains(count)).report()
    found = [int(re.search(r"at most (\d+)", n["message"])[1]) for n in report]
    assert found == ([] if most is None else [most])


def test_unevaluated_items_beside_many_contains():
    schema = contains(6, unevaluatedItems=False)
    del schema["items"]
    assert Grammar.from_json_schema(schema).accepts("[0,1,2,3,4,5]")
    schema = contains(7, unevaluatedItems=False)
    del schema["items"]
    assert code_of(lambda: Grammar.from_json_schema(schema)) == "too_large"


# --- docs/reference/constraints.md --------------------------------------------


def test_bits_beyond_the_vocabulary():
    numpy = pytest.importorskip("numpy")
    vocabulary = Vocabulary([b"a", b"<end>"], control_ids=[1], stop_ids=[1])
    matcher = Grammar.from_regex("a").compile(vocabulary).matcher()
    row = numpy.full(1, -1, numpy.int32)
    matcher.fill_bitmask(row)
    assert row.tolist() == [1]
    for token in (0, 1):
        assert matcher.accept_token(token)
    assert not matcher.fill_bitmask(row)
    assert row.tolist() == [-1]


# --- docs/reference/python.md, cli.md: events ---------------------------------


def test_errors_of_events_have_a_code_and_a_message():
    parser = Format("qwen3").parser(prefix="")
    parser.feed("<tool_call>\n{oops\n</tool_call>")
    _, events = parser.finalize()
    found = [e["error"] for e in events if e["type"] == "region_malformed"]
    assert all(list(error) == ["code", "message"] for error in found)


# --- guides of engines --------------------------------------------------------


def test_white_space_has_a_limit_by_default():
    grammar = Grammar.from_json_schema({"type": "array", "items": False})
    assert grammar.accepts("[" + " " * 64 + "]")
    assert not grammar.accepts("[" + " " * 65 + "]")


def test_defaults_of_columns():
    for module, threads in (("arrow", 0), ("ray", 1)):
        kind = importlib.import_module(f"parlance.integrations.{module}").Parse
        assert kind._default_threads == threads
        assert inspect.signature(kind).parameters["keep"].default is None
