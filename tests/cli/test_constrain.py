"""`parlance accept`, `mask` and `sample`."""

import json

import pytest
from model_folder import write_model

CITY = {
    "type": "object",
    "required": ["city", "days"],
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "units": {"enum": ["metric", "imperial"]},
        "stops": {"type": "array", "items": {"type": "string"}},
    },
    "additionalProperties": False,
}


@pytest.fixture
def city(tmp_path):
    (tmp_path / "city.json").write_text(json.dumps(CITY, indent=1))
    return "city.json"


# ---- accept


def test_accepted(parlance, city, tmp_path):
    (tmp_path / "a.json").write_text('{"days": 3, "city": "Bern"}')
    out, err = parlance("accept", "--schema", city, "a.json")
    assert (out, err) == ("accepted\n", "")


def test_refused_says_where_and_what(parlance, city):
    out, _ = parlance(
        "accept", "-s", city, stdin='{"city": "Bern",\n "days": 15}', status=1
    )
    first, text, caret = out.splitlines()
    assert first.startswith("<stdin>:2:11: refused at byte 27: expected ")
    assert text[caret.index("^")] == "5"


def test_refused_at_its_end(parlance, city):
    out, _ = parlance("accept", "-s", city, stdin='{"city": "B', status=1)
    assert "refused at its end, byte 11: expected " in out
    out, _ = parlance("accept", "-s", city, "-q", stdin="{", status=1)
    assert out == ""


def test_accepted_tokens(parlance, tmp_path, vocabulary):
    (tmp_path / "g.ebnf").write_text('root ::= "a" Token(1)\n')
    arguments = ("accept", "-g", "g.ebnf", "--vocabulary", vocabulary, "--ids")
    out, _ = parlance("mask", "-g", "g.ebnf", "--vocabulary", vocabulary, "--ids")
    (a,) = json.loads(out)
    out, _ = parlance(*arguments, stdin=f"[{a}, 1]")
    assert out == "accepted\n"
    out, _ = parlance(*arguments, stdin=f"{a} 2\n", status=1)
    assert out.startswith("<stdin>: refused at token 1, id 2 ")
    assert "(byte 1)" in out
    out, _ = parlance(*arguments, stdin=f"{a}", status=1)
    assert out.startswith("<stdin>: refused at its end, token 1 (byte 1)")
    out, _ = parlance(*arguments, stdin=f"{a} 99999999", status=1)
    assert "id 99999999, which the vocabulary does not have (byte 1)" in out
    assert parlance(*arguments, "-q", stdin="[]", status=1)[0] == ""
    _, err = parlance("accept", "-g", "g.ebnf", "--ids", stdin="1", status=2)
    assert "--ids needs --vocabulary" in err


def test_options(parlance, city):
    text = '{"days":3,"city":"Bern"}'
    parlance("accept", "-s", city, "--compact", stdin=text)
    parlance("accept", "-s", city, "--schema-order", stdin=text, status=1)
    indented = json.dumps(json.loads(text), indent=2)
    parlance("accept", "-s", city, "--indent", "2", stdin=indented)
    parlance("accept", "-s", city, "--indent", "2", stdin=text, status=1)
    parlance("accept", "-s", city, "--max-white-space", "2", stdin=indented,
             status=1)
    _, err = parlance("accept", "-s", city, "--indent", "2", "--compact",
                      status=2)
    assert "--indent fixes the layout" in err


def test_draft_formats_closed(parlance, tmp_path):
    (tmp_path / "s.json").write_text(
        '{"properties": {"a": {"format": "date"}}, "definitions": {}}'
    )
    text = '{"a": "x", "b": 1}'
    parlance("accept", "-s", "s.json", stdin=text, status=1)
    parlance("accept", "-s", "s.json", "--no-formats", stdin=text)
    parlance("accept", "-s", "s.json", "--no-formats", "--closed", stdin=text,
             status=1)
    parlance("accept", "-s", "s.json", "--draft", "7", "--no-formats",
             stdin=text)
    parlance("accept", "-s", "s.json", "--draft", "3", stdin=text, status=2)


def test_bad_schemas_show_the_place(parlance, tmp_path):
    (tmp_path / "bad.json").write_text('{\n  "minLength": "3"\n}')
    _, err = parlance("accept", "-s", "bad.json", stdin="1", status=2)
    assert "at /minLength (wrong_type)" in err
    _, err = parlance("accept", "-s", "none.json", stdin="1", status=2)
    assert "none.json" in err


def test_schema_as_text(parlance):
    parlance("accept", "--schema", '{"type": "integer"}', stdin="3")
    _, err = parlance("accept", "-s", '{"type": 3}', stdin="3", status=2)
    assert "--schema:1:10" in err


def test_lenient_reports(parlance, tmp_path):
    (tmp_path / "s.json").write_text(r'{"type": "string", "pattern": "(a)\\1"}')
    parlance("accept", "-s", "s.json", stdin='"x"', status=2)
    out, err = parlance(
        "accept", "-s", "s.json", "--lenient", "--report", stdin='"x"'
    )
    assert out == "accepted\n" and "ignored 'pattern'" in err


# ---- mask


def test_mask(parlance, city, vocabulary):
    out, _ = parlance("mask", "-s", city, "--vocabulary", vocabulary)
    assert out.splitlines()[0] == "2 of 264 tokens allowed"
    assert [line.split()[1] for line in out.splitlines()[1:]] == ["{", '{"']
    out, _ = parlance(
        "mask", "-s", city, "--vocabulary", vocabulary, "--ids", "-",
        stdin='{"city": "Bern", "days": 1',
    )
    digits = [ord(c) for c in "01234"]
    assert set(digits) <= set(json.loads(out))
    assert ord("5") not in json.loads(out)


def test_mask_at_the_end(parlance, city, vocabulary):
    arguments = ("mask", "-s", city, "--vocabulary", vocabulary, "--text")
    out, _ = parlance(*arguments, '{"city": "Bern", "days": 1}')
    assert out.splitlines() == [
        "1 of 264 tokens allowed, and the end",
        "     263  <end>",
    ]
    out, _ = parlance(*arguments, '{"city"', "--limit", "1")
    assert len(out.splitlines()) == 3 and "more, see --limit" in out
    out, _ = parlance(*arguments, '{"town"', status=1)
    assert "text:1:3: refused at byte 2" in out


# ---- sample


def test_samples_are_valid(parlance, city, vocabulary):
    jsonschema = pytest.importorskip("jsonschema")
    arguments = ("sample", "-s", city, "--vocabulary", vocabulary, "--compact",
                 "-n", 40)
    out, _ = parlance(*arguments, "--seed", 7)
    lines = out.splitlines()
    assert len(lines) == 40 and len(set(lines)) > 30
    for line in lines:
        jsonschema.validate(json.loads(line), CITY)
    parlance("accept", "-s", city, "-q", stdin=lines[0])
    again, _ = parlance(*arguments, "--seed", 7)
    other, _ = parlance(*arguments, "--seed", 8)
    assert again == out != other


def test_sample_as_ids(parlance, city, vocabulary):
    out, _ = parlance("sample", "-s", city, "--vocabulary", vocabulary, "--ids")
    assert all(0 <= id < 263 for id in json.loads(out))


def test_sample_that_does_not_end(parlance, city, vocabulary):
    _, err = parlance(
        "sample", "-s", city, "--vocabulary", vocabulary, "--max-tokens", 5,
        status=1,
    )
    assert "did not end within 5 tokens" in err


# ---- what the vocabulary cannot write

@pytest.fixture
def poor(tmp_path):
    """A vocabulary of "a", "b" and the stop token <end>."""
    write_model(tmp_path / "poor", [b"a", b"b"], ["<end>"], 2)
    (tmp_path / "az.ebnf").write_text('root ::= "az"')
    (tmp_path / "named.ebnf").write_text('root ::= "a" Token(2)')
    return "poor"


def test_no_token_can_come(parlance, poor):
    arguments = ("-g", "az.ebnf", "--vocabulary", poor)
    out, err = parlance("sample", *arguments, status=2)
    assert out == "" and "has no token that may come after" in err
    for ids in ([], ["--ids"]):
        out, err = parlance("mask", *arguments, "--text", "a", *ids, status=2)
        assert out == "" and "the next byte must be 'z'" in err
    parlance("accept", *arguments, "--ids", stdin="[0, 2]", status=1)


def test_a_stop_token_that_the_grammar_names(parlance, poor):
    arguments = ("-g", "named.ebnf", "--vocabulary", poor)
    assert parlance("mask", *arguments, "--text", "a", "--ids")[0] == "[2]\n"
    assert parlance("sample", *arguments)[0] == "a\n"
    assert parlance("accept", *arguments, "--ids", stdin="[0, 2]")[0] == "accepted\n"
    parlance("accept", *arguments, "--ids", stdin="[0]", status=1)
