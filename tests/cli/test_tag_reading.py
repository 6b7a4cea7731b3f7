"""`parse` and `explain` by structural tags and other grammars."""

import json

import pytest

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
                "field": "reasoning",
            },
            {
                "type": "triggered_tags",
                "triggers": ["<call="],
                "tags": [
                    {
                        "begin": "<call=f>",
                        "content": {"type": "json_schema", "json_schema": {}},
                        "end": "</call>",
                        "tool": "f",
                    },
                    {
                        "begin": "<call=g>",
                        "content": {
                            "type": "or",
                            "elements": [
                                {"type": "regex", "pattern": "a+"},
                                {"type": "const_string", "value": "b"},
                            ],
                        },
                        "end": "</call>",
                        "field": "note",
                    },
                ],
            },
        ],
    },
}
TEXT = '<think>Hm.</think>Look: <call=f>{"x": 1}</call>'


@pytest.fixture
def tag(tmp_path):
    (tmp_path / "tag.json").write_text(json.dumps(TAG))
    return "tag.json"


# ---- parse


def test_message(parlance, tag):
    message = {
        "role": "assistant",
        "reasoning": "Hm.",
        "content": "Look: ",
        "tool_calls": [
            {
                "type": "function",
                "function": {"name": "f", "arguments": {"x": 1}},
            }
        ],
    }
    out, err = parlance("parse", "--tag", tag, stdin=TEXT)
    assert json.loads(out) == message and err == ""
    out, _ = parlance("parse", "--tag", json.dumps(TAG), stdin=TEXT)
    assert json.loads(out) == message
    out, _ = parlance("parse", "--tag", tag, "--prefix", "<think>H",
                      stdin=TEXT[8:])
    assert json.loads(out) == message


def test_chat(parlance, tag):
    out, _ = parlance("parse", "--tag", tag, "--chat", stdin=TEXT)
    assert json.loads(out)["tool_calls"] == [
        {
            "id": "call_0",
            "type": "function",
            "index": 0,
            "function": {"name": "f", "arguments": '{"x": 1}'},
        }
    ]


def test_events_do_not_depend_on_the_cut(parlance, tag):
    def events(*options):
        out, _ = parlance("parse", "--tag", tag, "--events", *options,
                          stdin=TEXT)
        joined = []
        for event in map(json.loads, out.splitlines()):
            last = joined[-1] if joined else {}
            if event["type"] == last.get("type") == "region_chunk":
                last["text"] += event["text"]
                last["end"] = event["end"]
            else:
                joined.append(event)
        return joined

    whole = events()
    assert [e["type"] for e in whole if e["field"] == "reasoning"] == [
        "region_open", "region_chunk", "region_close",
    ]
    for chunk in (1, 2, 5):
        assert events("--chunk", chunk) == whole


def test_text_that_does_not_fit(parlance, tag):
    bad = TEXT + "<call=h>"
    out, err = parlance("parse", "--tag", tag, stdin=bad)
    assert json.loads(out)["rest"] and "warning" in err
    parlance("parse", "--tag", tag, "--strict", stdin=bad, status=1)
    parlance("parse", "--tag", tag, "--strict", stdin=TEXT)


def test_stored_responses(parlance, tag, tmp_path):
    lines = [json.dumps(TEXT), json.dumps({"response": "<think></think>b"})]
    (tmp_path / "stored.jsonl").write_text("\n".join(lines) + "\n")
    out, _ = parlance("parse", "--tag", tag, "--jsonl", "stored.jsonl")
    messages = [json.loads(line) for line in out.splitlines()]
    assert messages[0]["tool_calls"][0]["function"]["name"] == "f"
    assert messages[1]["content"] == "b"


def test_tokens(parlance, tag, vocabulary):
    ids = json.dumps(list(TEXT.encode()))
    out, _ = parlance("parse", "--tag", tag, "--vocabulary", vocabulary,
                      "--ids", stdin=ids)
    assert json.loads(out)["reasoning"] == "Hm."


def test_errors(parlance, tag, tmp_path):
    (tmp_path / "bad.json").write_text(
        '{"format":\n {"type": "regex", "pattern": "("}}'
    )
    _, err = parlance("parse", "--tag", "bad.json", status=2)
    assert err.startswith("parlance: bad.json:2:")
    parlance("parse", "--tag", tag, "--format", "qwen3", status=2)
    parlance("parse", "--tag", tag, "--tools", "x.json", status=2)


# ---- explain


def rows(out):
    return [line.split("  ")[0] for line in out.splitlines()[1:]]


def test_explain(parlance, tag):
    text = TEXT + "<call=g>b</call>."
    out, err = parlance("explain", "--tag", tag, stdin=text)
    assert err == ""
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines == [
        "bytes what text",
        "0..7 tag /elements/0 │<think>│",
        "7..10 any_text /elements/0/content │Hm.│",
        "10..18 its end │</think>│",
        "18..24 triggered_tags /elements/1: free text │Look: │",
        "24..32 tag /elements/1/tags/0 │<call=f>│",
        '32..40 json_schema /elements/1/tags/0/content │{"x": 1}│',
        "40..47 its end │</call>│",
        "47..55 tag /elements/1/tags/1 │<call=g>│",
        "55..56 or /elements/1/tags/1/content, alternative 1: const_string"
        " /elements/1/tags/1/content/elements/1 │b│",
        "56..63 its end │</call>│",
        "63..64 triggered_tags /elements/1: free text │.│",
    ]


def test_explain_what_does_not_fit(parlance, tag):
    out, err = parlance("explain", "--tag", tag, stdin=TEXT[:20] + "<call=x>")
    assert "does not fit" in out and "expected" in out
    assert "warning" in err
    out, _ = parlance("explain", "--tag", tag, "--strict", stdin="<think>H",
                      status=1)
    assert "not finished" in out


def test_explain_in_chunks(parlance, tag):
    out, _ = parlance("explain", "--tag", tag, "--chunk", 4, stdin=TEXT)
    assert "opens reasoning" in out and "held, 12 bytes fed" in out


def test_explain_by_any_grammar(parlance, tag, tmp_path):
    by_tag, _ = parlance("explain", "--tag", tag, stdin=TEXT)
    out, _ = parlance("explain", "-g", tag, stdin=TEXT)
    assert out == by_tag
    out, _ = parlance("explain", "--regex", "a+", stdin="aa")
    assert rows(out) == ["0..2 "] or rows(out) == ["0..2"]
    (tmp_path / "sums.ebnf").write_text('root ::= [0-9] ("+" [0-9])*')
    out, _ = parlance("explain", "-g", "sums.ebnf", stdin="1+2-3", status=1)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[1:3] == ["0..3 fits │1+2│", "3..5 does not fit │-3│"]
    assert lines[3].startswith("expected ")
    out, _ = parlance("explain", "-g", "sums.ebnf", stdin="1+", status=1)
    assert "ends too early: expected " in out
    parlance("explain", "--regex", "a", "--format", "qwen3", status=2)
    _, err = parlance("explain", "--regex", "a", "--chunk", 2, status=2)
    assert "--chunk is for responses" in err
