"""The recorded vectors of structural tags, through the Python API."""

import json

import pytest

import conformance
import parlance
from parlance.integrations.xgrammar import upstream_structural_tag
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


def test_shapes():
    rows = load("builtin_shapes")
    assert rows
    for row in rows:
        if "structural_tag" not in row:
            with pytest.raises(parlance.GrammarError):
                upstream_structural_tag(**row["spec"])
            continue
        tag = upstream_structural_tag(**row["spec"])
        assert tag.to_dict() == row["structural_tag"], row["id"]
        tag.grammar()


# test_verdicts() reads the texts of the rows.
def test_shapes_of_instances():
    rows = load("builtin_instances")
    assert rows
    for row in rows:
        tag = upstream_structural_tag(**row["builtin"])
        assert tag.to_dict() == row["spec"], row["id"]


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
