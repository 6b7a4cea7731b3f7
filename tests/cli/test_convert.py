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


def test_a_sample_that_differs_fails(parlance, schema, tmp_path):
    # A schema finds the answer inside of the reasoning, a template does not.
    (tmp_path / "both.txt").write_text("<think><answer>Hi</answer></think>")
    _, err = parlance("convert", schema, "--sample", "both.txt", status=1)
    assert "both.txt: differs" in err


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        # The content's expression runs over the reasoning, a template's cannot.
        (r"(?:<think>.*?</think>\s*)?(.+?)(?:<end>|$)", "may be empty"),
        (r"</think>(.*?)$", 'closes "thinking"'),
        (r"<answer>(.*)</answer>", "last closing"),
        (r"<answer>(.*?)", "as little as"),
        (r"<answer>(.*?)</answer>(.*?)$", "several groups"),
    ],
)
def test_what_a_template_would_read_differently_is_refused(
    parlance, tmp_path, pattern, says
):
    properties = dict(SCHEMA["properties"], content={"x-regex": pattern})
    (tmp_path / "schema.json").write_text(
        json.dumps({"type": "object", "properties": properties})
    )
    out, err = parlance("convert", "schema.json", status=1)
    assert out == ""
    assert "not_convertible" in err and says in err
    assert "/properties/content/x-regex" in err


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
