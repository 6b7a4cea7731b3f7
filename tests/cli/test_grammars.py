"""`accept`, `mask`, `sample` and `check` over every kind of grammar."""

import json
import re

import pytest

SUMS = 'root ::= term ("+" term)*\nterm ::= [0-9]+ | "(" root ")"\n'
LARK = "start: WORD (\", \" WORD)*\nWORD: /[a-z]+/\n"
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "sequence",
        "elements": [
            {
                "type": "tag",
                "begin": "<think>",
                "content": {"type": "any_text"},
                "end": "</think>",
            },
            {"type": "json_schema", "json_schema": {"type": "boolean"}},
        ],
    },
}
THOUGHT = "<think>Hm, é.</think>true"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "sums.ebnf").write_text(SUMS)
    (tmp_path / "sums.gbnf").write_text(SUMS)
    (tmp_path / "sums.txt").write_text(SUMS)
    (tmp_path / "words.lark").write_text(LARK)
    (tmp_path / "words.txt").write_text("// words\n" + LARK)
    (tmp_path / "year.regex").write_text("[0-9]{4}\n")
    (tmp_path / "tag.json").write_text(json.dumps(TAG, indent=1))
    (tmp_path / "schema.json").write_text('{"type": "null", "format": "date"}')
    return tmp_path


KINDS = [
    (("--grammar", "sums.ebnf"), "1+(2+3)", "1+)"),
    (("-g", "sums.gbnf"), "12", "1+"),
    (("-g", "sums.txt"), "12", "1+"),
    (("--ebnf", "sums.txt"), "12", ""),
    (("--gbnf", "sums.txt"), "12", ""),
    (("-g", "sums.ebnf", "--root", "term"), "(1+2)", "1+2"),
    (("-g", "sums.gbnf", "--root", "term"), "(1+2)", "1+2"),
    (("-g", "words.lark"), "a, b", "a,b"),
    (("-g", "words.txt"), "a, b", "A"),
    (("--lark", "words.txt"), "a", ""),
    (("--lark", "words.txt", "--root", "WORD"), "a", "a, b"),
    (("-g", "year.regex"), "2026", "2026\n"),
    (("--regex", "a+|b"), "aaa", "ab"),
    (("-g", "tag.json"), THOUGHT, "<think>Hm."),
    (("--tag", "tag.json"), THOUGHT, "<think></think></think>true"),
    (("--tag", json.dumps(TAG)), THOUGHT, "true"),
    (("-g", "schema.json"), "null", "true"),
    (("--schema", "schema.json"), "null", "0"),
]


@pytest.mark.parametrize(("source", "good", "bad"), KINDS)
def test_accept(parlance, files, source, good, bad):
    out, _ = parlance("accept", *source, stdin=good)
    assert out == "accepted\n"
    out, _ = parlance("accept", *source, stdin=bad, status=1)
    assert "refused at" in out and "expected" in out


@pytest.mark.parametrize(("source", "good", "bad"), KINDS)
def test_samples_fit(parlance, files, vocabulary, source, good, bad):
    arguments = ("sample", *source, "--vocabulary", vocabulary)
    for seed in range(3):
        out, _ = parlance(*arguments, "--seed", seed, "--tokens", 20,
                          binary=True)
        parlance("accept", *source, "-q", stdin=out[:-1])


def test_mask(parlance, files, vocabulary):
    out, _ = parlance(
        "mask", "-g", "sums.ebnf", "--vocabulary", vocabulary, "--ids",
        "--text", "(1",
    )
    assert [chr(id) for id in json.loads(out)] == list(")+0123456789")
    out, _ = parlance(
        "mask", "--tag", "tag.json", "--vocabulary", vocabulary, "--text",
        THOUGHT,
    )
    assert out.startswith("1 of 264 tokens allowed, and the end\n")


def test_refused_text_has_line_and_column(parlance, files):
    out, _ = parlance(
        "accept", "--tag", "tag.json", stdin="<think>\né</think>yes", status=1
    )
    assert out.startswith("<stdin>:2:10: refused at byte 18: expected ")


def test_a_source_is_needed_and_one_is_enough(parlance, files):
    _, err = parlance("accept", status=2)
    assert "no grammar given" in err
    parlance("accept", "-g", "sums.ebnf", "--regex", "a", status=2)
    (files / "what.txt").write_text("a b c")
    _, err = parlance("accept", "-g", "what.txt", status=2)
    assert "what.txt: unknown kind of grammar" in err
    _, err = parlance("accept", "-g", "sums.ebnf", "--compact", status=2)
    assert "--compact applies to a JSON Schema, and sums.ebnf is not one" in err


@pytest.mark.parametrize(
    ("source", "text", "place"),
    [
        ("bad.ebnf", 'root ::= "a"\nx ::= (', "bad.ebnf:2:7"),
        ("bad.lark", "start: missing", "bad.lark:1:8"),
        ("bad.regex", "a(", "bad.regex:1:2"),
        ("bad.json", '{"format":\n {"type": "regex"}}', "bad.json:2:"),
        (
            "deep.json",
            '{"format":\n{"type": "json_schema", "json_schema":\n'
            ' {"minLength": "3"}}}',
            "deep.json:3:16",
        ),
    ],
)
def test_errors_have_a_place(parlance, tmp_path, source, text, place):
    (tmp_path / source).write_text(text)
    _, err = parlance("accept", "-g", source, status=2)
    assert err.startswith(f"parlance: {place}"), err
    out, _ = parlance("check", source, status=1)
    assert out.startswith(place) and "1 error" in out


def test_tokens_by_their_text(parlance, files, tmp_path, vocabulary):
    tag = {"format": {"type": "token", "token": "<end>"}}
    (tmp_path / "end.json").write_text(json.dumps(tag))
    _, err = parlance("accept", "--tag", "end.json", status=2)
    assert "vocabulary" in err
    parlance("accept", "--tag", "end.json", "--vocabulary", vocabulary,
             stdin="x", status=1)
    parlance("check", "end.json")
    parlance("check", "end.json", "--vocabulary", vocabulary)
    (tmp_path / "end.json").write_text(json.dumps(tag).replace("end", "fin"))
    out, _ = parlance("check", "end.json", "--vocabulary", vocabulary, status=1)
    assert "unknown_name" in out


# ---- check


def test_check(parlance, files):
    out, _ = parlance(
        "check", "sums.ebnf", "sums.gbnf", "sums.txt", "words.lark",
        "year.regex", "tag.json", "--schema", "schema.json", "--regex", "a+",
        "--tag", "tag.json", "--ebnf", "sums.txt", "--lark", "words.txt",
        "--gbnf", "sums.gbnf",
    )
    assert out.splitlines()[-1].startswith("12 descriptions checked")


def test_check_tells_what_is_ignored(parlance, tmp_path):
    schema = {"type": "string", "format": "nonsense"}
    (tmp_path / "s.json").write_text(json.dumps({"$schema": "x", **schema}))
    out, _ = parlance("check", "s.json")
    assert "ignored 'format'" in out
    (tmp_path / "s.json").write_text(json.dumps(schema))
    out, _ = parlance("check", "--schema", "s.json")
    assert re.search(r"s.json:1:\d+: warning: ignored 'format'", out)
    tag = {"format": {"type": "json_schema", "json_schema": schema}}
    (tmp_path / "t.json").write_text(json.dumps(tag))
    out, _ = parlance("check", "--werror", "t.json", status=1)
    assert re.search(r"t.json:1:\d+: warning: ignored 'format'", out)
    assert "at /format/json_schema" in out
    tag = {"format": {"type": "any_text", "exclude": ["x"]}}
    (tmp_path / "t.json").write_text(json.dumps(tag))
    out, _ = parlance("check", "--werror", "t.json", status=1)
    assert "ignored 'exclude': any_text has no such member" in out
    assert "excludes, exclude_patterns, max_tokens" in out
