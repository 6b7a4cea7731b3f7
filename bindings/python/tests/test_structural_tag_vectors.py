"""The recorded vectors of structural tags, through the Python API."""

import json

import pytest

import conformance
import parlance
from test_constraint_vectors import allowed, bytes_of, run_step, vocabulary_of

# Why a vector's verdict is not ours.
DIFFERENCES = {
    "stag-fmt-00807": "a member may not come twice, in any order either",
    "stag-mut-00026": "an additional property may not repeat a declared name",
    "stag-xml-00082": 'string="true" is for strings, and the value is a number',
    "stag-xml-00118": 'string="true" is for strings, and the value is an object',
    "stag-mut-00023": 'string="true" is for strings, and the value is a boolean',
    "stag-mut-00309": 'string="true" is for strings, and the value is an object',
}
FILES = [
    "builtin_instances",
    "formats",
    "mutations",
    "probes",
    "seed_examples",
    "xml_styles",
]


def load(name):
    return conformance.read(f"structural_tag/{name}.json")


# Rows of one tag stand together.
def grammars(rows):
    last = made = None
    for row in rows:
        if row["spec"] != last:
            last = row["spec"]
            made = parlance.StructuralTag(last).grammar()
        yield row, made


@pytest.mark.parametrize("name", FILES)
def test_verdicts(name):
    rows = load(name)
    assert rows
    for row, grammar in grammars(rows):
        text = bytes_of(row["instance"])
        if row.get("mode") == "prefix":
            rejection = grammar.explain(text)
            accepted = rejection is None or rejection["offset"] == len(text)
        else:
            accepted = grammar.accepts(text)
        wanted = row["accepted"] ^ (row["id"] in DIFFERENCES)
        assert accepted == wanted, (row["id"], row["spec"], row["instance"])


def test_legacy_calls():
    rows = [row for row in load("formats") if row.get("legacy_api")]
    assert rows
    for row in rows:
        format = row["spec"]["format"]
        tags = [
            {
                "begin": tag["begin"],
                "schema": json.dumps(tag["content"]["json_schema"]),
                "end": tag["end"],
            }
            for tag in format["tags"]
        ]
        tag = parlance.StructuralTag.from_tags(tags, format["triggers"])
        assert tag.grammar().accepts(row["instance"]) == row["accepted"]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row["id"]) for row in load("errors")]
)
def test_error(row):
    spec = row["spec_text"] if "spec_text" in row else row["spec"]
    vocabulary = parlance.Vocabulary([b"a"])
    with pytest.raises(parlance.GrammarError) as caught:
        parlance.StructuralTag(spec).grammar(vocabulary)
    assert caught.value.code and caught.value.message


# XGrammar's tags of requests are read and compiled.  The same requests make tags
# of the families' formats, and what is an error there is one here.
def test_requests():
    xgrammar = pytest.importorskip("parlance.integrations.xgrammar")
    rows = load("builtin_shapes")
    assert rows
    for row in rows:
        if "structural_tag" in row:
            parlance.StructuralTag(row["structural_tag"]).grammar()
        builtins = any(
            isinstance(tool, dict) and tool.get("type", "function") != "function"
            for tool in row["spec"].get("tools") or []
        )
        if "structural_tag" in row and not builtins:
            made = xgrammar.get_model_structural_tag(**row["spec"])
            parlance.StructuralTag(made.model_dump_json()).grammar()
        else:
            with pytest.raises(ValueError):
                xgrammar.get_model_structural_tag(**row["spec"])


# Why the tag of a family has another verdict on a response than XGrammar's.
ONE_FORM = "the family's template writes a line feed here"
FAMILIES = {
    "stag-inst-00002": "a builtin tool",
    "stag-inst-00017": "the response may stop before a part that it may leave out",
    "stag-inst-00021": "the closer of another part is text",
    "stag-inst-00038": "an integer has the type 'number'",
    "stag-inst-00059": "the prompt has written the block without reasoning",
    "stag-inst-00061": ONE_FORM,
    "stag-inst-00089": ONE_FORM,
    "stag-inst-00090": ONE_FORM,
    "stag-inst-00092": ONE_FORM,
    "stag-inst-00099": ONE_FORM,
    "stag-inst-00100": ONE_FORM,
    "stag-inst-00124": ONE_FORM,
    "stag-inst-00125": ONE_FORM,
    "stag-inst-00133": "no text comes after a call that must come",
    "stag-inst-00137": "no text comes after a call that must come",
    "stag-inst-00144": "no text comes after a call that must come",
    "stag-inst-00148": "no text comes after a call that must come",
}


# test_verdicts() reads the texts of the rows by XGrammar's tags.
def test_responses_of_families():
    xgrammar = pytest.importorskip("parlance.integrations.xgrammar")
    rows = load("builtin_instances")
    assert rows
    for row in rows:
        try:
            tag = xgrammar.get_model_structural_tag(**row["builtin"])
        except ValueError:
            assert row["id"] in FAMILIES, row
            continue
        tag = parlance.StructuralTag(tag.model_dump_json())
        accepted = tag.grammar().accepts(bytes_of(row["instance"]))
        wanted = row["accepted"] ^ (row["id"] in FAMILIES)
        assert accepted == wanted, (row["id"], row["builtin"], row["instance"])


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row["id"]) for row in load("traces")]
)
def test_trace(row):
    import numpy

    vocabulary, data = vocabulary_of(row["tokenizer"])
    tag = parlance.StructuralTag(row["spec"])
    constraint = tag.grammar(vocabulary).compile(vocabulary)
    matcher = constraint.matcher()
    mask = numpy.zeros(constraint.mask_words, numpy.int32)
    for step in row["steps"]:
        if step["op"] == "fill_next_token_bitmask" and "allowed" in step:
            assert matcher.fill_bitmask(mask) == step["need_apply"]
            assert allowed(mask, len(data)) == set(step["allowed"])
        else:
            run_step(step, matcher, mask, data, set())
