"""`parlance convert`, and what `check` says of response schemas."""

import json

import pytest

SCHEMA = {
    "type": "object",
    "properties": {
        "role": {"const": "assistant"},
        "thinking": {"type": "string", "x-regex": r"<think>\s*(.+?)\s*</think>"},
        "content": {"type": "string", "x-regex": r"<answer>(.*?)</answer>"},
    },
}


@pytest.fixture
def schema(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return "schema.json"


def test_template_reads_the_samples_the_same(parlance, schema, tmp_path):
    samples = {
        "both.txt": "<think>\nhm\n</think>\n<answer>Hi</answer>",
        "answer.txt": "<answer>Hi</answer>",
    }
    arguments = []
    for name, text in samples.items():
        (tmp_path / name).write_text(text)
        arguments += ["--sample", name]
    out, err = parlance("convert", schema, *arguments)
    template = json.loads(out)
    assert set(template["fields"]) == {"thinking", "content"}
    assert "the same" in err
    (tmp_path / "template.json").write_text(out)
    out, _ = parlance(
        "parse", "--template", "template.json", stdin=samples["both.txt"]
    )
    assert json.loads(out) == {
        "role": "assistant",
        "thinking": "hm",
        "content": "Hi",
    }


def test_a_sample_that_differs_fails(parlance, tmp_path):
    # The content's expression runs over the reasoning, a template's cannot.
    overlapping = {
        "type": "object",
        "properties": {
            "thinking": SCHEMA["properties"]["thinking"],
            "content": {
                "type": "string",
                "x-regex": r"(?:<think>.*?</think>\s*)?(.+?)(?:<end>|$)",
            },
        },
    }
    (tmp_path / "schema.json").write_text(json.dumps(overlapping))
    (tmp_path / "both.txt").write_text("<think>hm</think>Hi<end>")
    _, err = parlance("convert", "schema.json", "--sample", "both.txt", status=1)
    assert "both.txt: differs" in err


def test_what_has_no_template_is_named(parlance, tmp_path):
    (tmp_path / "whole.json").write_text(
        json.dumps({"type": "object", "properties": {"all": {"type": "string"}}})
    )
    out, err = parlance("convert", "whole.json", status=1)
    assert out == ""
    assert "not_convertible" in err and "/properties/all" in err


def test_check_warns_of_what_fails_later(parlance, tmp_path):
    (tmp_path / "bad.json").write_text(
        json.dumps(
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array"},
                    "b": {"x-regex": "a(b)(c)"},
                    "c": {"x-regex": "(a)", "x-parser": "yaml"},
                },
            }
        )
    )
    out, err = parlance("check", "bad.json")
    printed = out + err
    for pointer in ("/properties/a", "/properties/b/x-regex", "/properties/c"):
        assert pointer in printed
    assert "0 errors" in printed
    parlance("check", "--werror", "bad.json", status=1)


def test_a_pattern_that_is_none_is_an_error(parlance, tmp_path):
    (tmp_path / "bad.json").write_text(
        json.dumps({"type": "object", "properties": {"a": {"x-regex": 3}}})
    )
    out, err = parlance("check", "bad.json", status=1)
    assert "/properties/a/x-regex" in out + err
