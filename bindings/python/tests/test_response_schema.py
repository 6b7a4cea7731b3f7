"""Response schemas from Python: the recorded cases, batches, ids and errors."""

import json
import re

import pytest

import conformance
import parlance

NAMES = {"type": "object", "properties": {"name": {"x-regex": "<(\\w+)>"}}}
CLASSES = {
    "parse_error": ValueError,
    "type_error": TypeError,
    "regex_error": re.error,
    "transform_error": ValueError,
    "recursion_error": RecursionError,
}


def cases():
    schemas = conformance.read("response_schema/schemas.json")
    for file in conformance.files("response_schema"):
        if file == "schemas":
            continue
        for case in conformance.read(f"response_schema/{file}.json"):
            if isinstance(case["schema"], str):
                case["schema"] = schemas[case["schema"]]["schema"]
            yield pytest.param(case, id=case["id"])


@pytest.mark.parametrize("case", list(cases()))
def test_recorded(case):
    if "expected_error" not in case:
        made = parlance.parse_response(case["input"], case["schema"])
        # repr tells 1 from 1.0 and True, and keeps the order of keys.
        assert repr(made) == repr(conformance.decode(case["expected"]))
        return
    with pytest.raises(CLASSES[case["expected_error"]["category"]]) as caught:
        parlance.parse_response(case["input"], case["schema"])
    assert isinstance(caught.value, parlance.ResponseError)


def test_what_a_response_may_be():
    schema = parlance.ResponseSchema(NAMES)
    assert parlance.parse_response("<a>", schema) == {"name": "a"}
    assert parlance.parse_response(b"<a>", NAMES) == {"name": "a"}
    assert parlance.parse_response(["<a>", b"<b>", ""], NAMES) == [
        {"name": "a"},
        {"name": "b"},
        {},
    ]
    vocabulary = parlance.Vocabulary([b"<", b"a", b">"])
    assert parlance.parse_response(
        [0, 1, 2], NAMES, vocabulary=vocabulary
    ) == {"name": "a"}
    assert parlance.parse_response(
        [[0, 1, 2], [1]], NAMES, vocabulary=vocabulary
    ) == [{"name": "a"}, {}]
    with pytest.raises(parlance.UsageError, match="vocabulary="):
        parlance.parse_response([0], NAMES)


def test_no_text():
    assert parlance.parse_response(None, NAMES) is None
    assert parlance.parse_response(None, {"const": [1], "type": "string"}) == [1]
    # None is not text that a pattern could be looked for in, but no text.
    assert parlance.parse_response(None, {"type": "integer", "x-regex": "("}) is None
    assert parlance.parse_response([None, "<a>"], NAMES) == [None, {"name": "a"}]
    assert parlance.parse_response(("<a>", None), NAMES) == [{"name": "a"}, None]


def test_what_a_schema_may_be(tmp_path):
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(NAMES))
    schema = parlance.ResponseSchema(NAMES)
    for spec in (NAMES, json.dumps(NAMES), file, str(file), schema):
        assert parlance.parse_response("<a>", spec) == {"name": "a"}
    assert parlance.ResponseSchema(schema).source == schema.source
    assert parlance.parse_response("x", {}) == "x"


def test_no_prefix_and_no_tools():
    for extra in ({"prefix": ""}, {"prefix": "x"}, {"tools": []}):
        with pytest.raises(parlance.UsageError, match="takes no"):
            parlance.parse_response("<a>", NAMES, **extra)


def test_errors():
    with pytest.raises(parlance.SchemaError) as caught:
        parlance.ResponseSchema({"type": "object", "properties": {"a": 1}})
    assert (caught.value.code, caught.value.path) == (
        "wrong_type",
        "/properties/a",
    )
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    with pytest.raises(parlance.ResponseError, match='"x"') as caught:
        parlance.parse_response(["1", "x"], schema)
    assert (caught.value.path, caught.value.item) == ("/properties/n", 1)


def test_lint():
    (found,) = parlance.ResponseSchema({"x-regex": "a"}).lint()
    assert found["path"] == "/x-regex"
