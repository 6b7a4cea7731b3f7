"""The table of keywords in docs/reference/json-schema.md, checked.

Every keyword of the five drafts has a row.  Where a row says "exact", random schemas
of the keyword alone and beside one other keep the law of schema_law.py, and alone it
makes no note.  Where it says "narrowed" or "refused", an example below is: a row
without an example fails, and so does an example whose row does not say it.
"""

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("regex")
jsonschema_specifications = pytest.importorskip("jsonschema_specifications")

ROOT = Path(__file__).resolve().parents[2]
import parlance  # noqa: E402
from random_instances import Instances  # noqa: E402
from random_schemas import KEYWORDS, NEGATIONS, Schemas, in_draft  # noqa: E402
from schema_judge import DRAFTS, URLS  # noqa: E402
from schema_law import explained, failure, grammar_of, narrowed  # noqa: E402

LONG = os.environ.get("PARLANCE_LONG") == "1"
ROUNDS = 400 if LONG else 12  # schemas of a keyword alone, and as many with another

PAGE = (ROOT / "docs/reference/json-schema.md").read_text()


def rows():
    """By keyword, what its row says.  The first table of the page is the one."""
    table = PAGE.split("\n## Keywords\n")[1].split("\n\n*")[0]
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3:
            for keyword in re.findall(r"`([$\w]+)`", cells[0]):
                assert keyword not in found, f"two rows for {keyword}"
                found[keyword] = cells[2]
    return found


ROWS = rows()


def keywords_of_drafts():
    """Those that the meta-schemas list."""
    registry = jsonschema_specifications.REGISTRY
    names = {"$ref"}
    for url in registry:
        if "json-schema.org/draft" in url and "draft-03" not in url:
            names |= registry[url].contents.get("properties", {}).keys()
    return sorted(names)


def says(keyword, word):
    return re.search(rf"\b{word}\b", ROWS[keyword]) is not None


EXACT = [keyword for keyword in ROWS if says(keyword, "exact")]
DRAWN = sorted({name for names in KEYWORDS.values() for name in names.split()}
               | set(NEGATIONS))  # fmt: skip


# By keyword, a schema that is narrowed, and one that is refused.
def unless_null(schema):
    return {"anyOf": [{"type": "null"}, {"not": schema}]}


NARROWED = {
    "contains": {"allOf": [{"contains": {"minimum": i}} for i in range(9)]},
    "format": {"format": "time"},
    "multipleOf": {"allOf": [{"multipleOf": 10 ** (3000 + i) + 7} for i in range(9)]},
    "patternProperties": {
        "patternProperties": {
            str(i): {"enum": [each for each in range(12) if each != i]}
            for i in range(12)
        }
    },
    "unevaluatedItems": unless_null({"prefixItems": [True], "unevaluatedItems": False}),
    "unevaluatedProperties": unless_null(
        {"properties": {"a": True}, "unevaluatedProperties": False}
    ),
    "uniqueItems": unless_null({"items": {"type": "integer"}, "uniqueItems": True}),
}
REFUSED = {
    "$schema": {"$schema": "http://json-schema.org/draft-03/schema#"},
}


@pytest.mark.parametrize("keyword", keywords_of_drafts())
def test_every_keyword_has_a_row(keyword):
    assert keyword in ROWS
    assert re.search("exact|do not affect", ROWS[keyword])


@pytest.mark.parametrize(
    "word, examples", [("narrowed", NARROWED), ("refused", REFUSED)]
)
def test_rows_and_examples_say_the_same(word, examples):
    assert {row for keyword, row in ROWS.items() if says(keyword, word)} == {
        ROWS[keyword] for keyword in examples
    }


@pytest.mark.parametrize("keyword", NARROWED)
def test_narrowed_is_said(keyword):
    grammar = parlance.Grammar.from_json_schema(NARROWED[keyword])
    assert keyword in [note["keyword"] for note in narrowed(grammar)]


@pytest.mark.parametrize("keyword", REFUSED)
def test_refused_is_an_error(keyword):
    with pytest.raises(parlance.SchemaError) as error:
        parlance.Grammar.from_json_schema(REFUSED[keyword])
    assert error.value.code in ("unsupported", "unsupported_version")


def broken(schema, draft, seed, keyword=None):
    """What breaks the law in 20 texts near the schema, or a note about the keyword."""
    near = Instances(seed, schema)
    texts = [near.text() for _ in range(20)]
    options = {"walks": 1, "fresh": 1}
    message = failure(schema, draft, texts, seed, **options)
    if message:
        return explained(schema, draft, texts, seed, message, **options)
    if keyword and not says(keyword, "narrowed"):
        return next(
            filter(lambda note: note["keyword"] == keyword, notes(schema)), None
        )
    return None


def notes(schema):
    try:
        return narrowed(grammar_of(schema))
    except parlance.SchemaError:
        return []


@pytest.mark.parametrize("keyword", [keyword for keyword in EXACT if keyword in DRAWN])
def test_exact_is_exact(keyword):
    drafts = [draft for draft in DRAFTS if in_draft(keyword, draft)]
    for seed in range(ROUNDS):
        draw = Schemas(f"{keyword} {seed}", draft=drafts[seed % len(drafts)])
        assert broken(draw.schema([keyword]), draw.draft, seed, keyword) is None
        both = [keyword, draw.choice(DRAWN)]
        assert broken(draw.schema(both), draw.draft, seed) is None


# What leads to a schema, instead of saying something of the value: around one.
D4, D7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 7))
D2019 = "https://json-schema.org/draft/2019-09/schema"
D2020 = "https://json-schema.org/draft/2020-12/schema"


def named(keyword, at="x", reference="#x", **beside):
    return {
        "$ref": reference,
        "$defs": {"d": {keyword: at, "allOf": ["HERE"]}},
        **beside,
    }


REFERENCES = {
    "$schema": {"$schema": D7, "allOf": ["HERE"]},
    "$ref": {"$ref": "#/$defs/d", "$defs": {"d": "HERE"}},
    "$defs": {"allOf": [{"$ref": "#/$defs/d"}], "$defs": {"d": "HERE"}},
    "definitions": {"$schema": D7, "$ref": "#/definitions/d", "definitions": {"d": "HERE"}},
    "$anchor": named("$anchor"),
    "$id": named("$id", "u", "u"),
    "id": {"$schema": D4, "$ref": "u", "definitions": {"d": {"id": "u", "allOf": ["HERE"]}}},
    "$dynamicRef": {"$dynamicRef": "#x", **named("$dynamicAnchor")},
    "$dynamicAnchor": named("$dynamicAnchor"),
    "$recursiveRef": {"$schema": D2019, "items": {"$recursiveRef": "#"}, "allOf": ["HERE"]},
    "$recursiveAnchor": {"$schema": D2019, "$recursiveAnchor": True, "allOf": ["HERE"],
                         "items": {"$recursiveRef": "#"}},
}  # fmt: skip


def around(schema, inner):
    if schema == "HERE":
        return inner
    if isinstance(schema, dict):
        return {key: around(value, inner) for key, value in schema.items()}
    return (
        [around(each, inner) for each in schema] if isinstance(schema, list) else schema
    )


@pytest.mark.parametrize("keyword", REFERENCES)
def test_references_lead_to_what_they_name(keyword):
    outer = REFERENCES[keyword]
    draft = URLS[outer.get("$schema", D2020).rstrip("#")]
    for seed in range(ROUNDS):
        inner = Schemas(f"{keyword} {seed}", draft=draft).of("array", 1)
        assert broken(around(outer, inner), draft, seed) is None


def test_each_exact_row_has_a_law():
    assert set(EXACT) - set(DRAWN) == REFERENCES.keys()
