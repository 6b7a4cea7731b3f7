"""`parlance watch`, `explain`, `check` and `formats`."""

import base64
import hashlib
import html.parser
import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

STREAM = (
    "<think>\nThey want the weather.\n</think>\n\nLet me look.\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern", '
    '"days": 3}}\n</tool_call><|im_end|>'
)
WATCHED = """\
● thinking
They want the weather.

● content
Let me look.

● tool_calls
  → get_weather
      city  "Bern"
      days  3
"""


def test_hints_of_a_lost_call(parlance):
    lost = '<think>I call <tool_call>{"name": "now", "arguments": {}}</tool_call>.'
    out, _ = parlance("explain", "-f", "qwen3", "--full", stdin=lost)
    assert "hint: a call of" in out
    for arguments in (["--pretty"], ["--events"]):
        out, err = parlance("parse", "-f", "qwen3", *arguments, stdin=lost)
        assert "hint:" not in out
        assert "response: hint: a call of \"now\" is inside thinking" in err
        assert "bytes 14..69 of thinking (call_in_reasoning)" in err
    # Before a call that is read, it is a plan.
    out, err = parlance("parse", "-f", "qwen3", stdin=lost + "</think>"
                        '<tool_call>{"name": "now", "arguments": {}}</tool_call>')
    assert "hint" not in err


@pytest.mark.parametrize("chunk", [None, 1, 2, 5, 1000])
def test_watch_is_the_same_at_every_cut(parlance, chunk):
    arguments = [] if chunk is None else ["--chunk", chunk]
    out, err = parlance("watch", "-f", "qwen3", *arguments, stdin=STREAM)
    assert out == WATCHED
    assert err == ""


def test_watch_leaves_out_layout(parlance):
    out, _ = parlance("watch", "-f", "qwen3", stdin="\n\n" + STREAM + "\n")
    assert out == WATCHED


def test_watch_shows_what_is_held(parlance):
    out, _ = parlance(
        "watch", "-f", "qwen3", "--chunk", "4", "--color", "always",
        stdin="abc</think",
    )
    assert "\x1b[38;5;114m● \x1b[0m" in out
    out, _ = parlance(
        "watch", "-f", "qwen3", "--chunk", "1", "--color", "always",
        stdin="<think>ab</thx",
    )
    # Each held piece is drawn dim and underlined, then erased again.
    assert "\x1b[2;4m</th\x1b[0m\x1b[4D\x1b[K" in out
    assert "</thx" in out


def test_watch_colours_can_be_refused(parlance):
    out, _ = parlance("watch", "-f", "qwen3", "--color", "never", stdin=STREAM)
    assert "\x1b" not in out


def test_watch_lets_no_control_character_through(parlance):
    out, _ = parlance("watch", "-f", "qwen3", stdin=b"a\x1b[31mb\xc2\x9bc\x07")
    assert "a\\x1b[31mb\\u009bc\\x07" in out
    assert "\x1b" not in out and "\x9b" not in out


def test_watch_a_response_that_is_cut(parlance):
    for end in ("the weather", '"days"'):
        cut = STREAM[: STREAM.index(end)]
        out, _ = parlance("watch", "-f", "qwen3", stdin=cut)
        assert "✂ cut off here" in out or "The response ended inside" in out


def test_watch_a_malformed_call(parlance):
    out, _ = parlance(
        "watch", "-f", "qwen3", stdin="<tool_call>{oops</tool_call>x"
    )
    assert "  ✗ " in out and "{oops" in out and "● content\nx\n" in out


def test_explain(parlance):
    out, _ = parlance("explain", "-f", "qwen3", stdin="<think>a\n</think>b")
    assert out == (
        "bytes   what              text\n"
        "0..7    opens thinking    │<think>│\n"
        "7..8    text of thinking  │a│\n"
        "8..9    layout            │\\n│\n"
        "9..17   closes thinking   │</think>│\n"
        "17..18  text of content   │b│\n"
    )


def test_explain_text_without_a_region(parlance):
    out, _ = parlance("explain", "-f", "gpt_oss", stdin="?<|channel|>final<|message|>x")
    rows = [re.split(r"  +", line) for line in out.splitlines()]
    assert rows[1] == ["0..1", "in no field", "│?│"]
    assert rows[2][1].startswith("text that no field claims: expected the ope")
    assert rows[3][1] == "opens content"


def test_explain_accounts_for_every_byte(parlance, demo):
    for file in sorted(demo.glob("*.txt")):
        data = file.read_bytes()
        out, _ = parlance("explain", "-f", file.stem, file)
        at = 0
        for line in out.splitlines()[1:]:
            match = re.match(r"(\d+)\.\.(\d+) ", line)
            if match:
                assert int(match[1]) == at, line
                at = int(match[2])
        assert at == len(data), file


def test_explain_tells_what_is_held(parlance):
    out, _ = parlance(
        "explain", "-f", "qwen3", "--chunk", "4", stdin="<think>a</think>b"
    )
    assert re.search(r"held, 4 bytes fed +│<thi│", out)
    assert re.search(r"held, 12 bytes fed +│</th│", out)
    out, _ = parlance(
        "explain", "-f", "gpt_oss", "--chunk", "2", stdin="abcd<|"
    )
    kinds = [re.split(r"  +", line)[1] for line in out.splitlines()[1:]]
    assert kinds == [
        "between regions", "between regions", "held, 6 bytes fed", "in no field",
        'text that no field claims: expected the opening of "thinking", '
        '"content" or "tool_calls"',
    ]


def test_explain_the_prefix(parlance):
    out, _ = parlance(
        "explain", "-f", "qwen3", "-p", "<think>", stdin="a</think>b"
    )
    assert "opens thinking (prefix)" in out
    assert re.search(r"^7\.\.8 +text of thinking +│a│$", out, re.M)


def test_explain_damage(parlance):
    out, err = parlance(
        "explain", "-f", "qwen3", stdin="<tool_call>{oops</tool_call>"
    )
    assert "tool_calls is malformed: " in out
    assert "response: warning: " in err


def test_explain_as_json(parlance, vocabulary, tmp_path):
    out, _ = parlance(
        "explain", "-f", "qwen3", "--json", "-p", "<think>",
        stdin=b"a\xff</think>b",
    )
    facts = json.loads(out)
    assert facts["by"] == "format" and facts["name"] == "qwen3"
    assert facts["bytes"] == 18 and facts["prefix_bytes"] == 7
    kinds = [row["kind"] for row in facts["rows"]]
    assert kinds == ["open", "text", "close", "text"]
    assert facts["rows"][1]["hex"] == "61ff"
    assert facts["message"]["content"] == "b"

    # Token ids under a schema: the braces and the end are forced.
    ids = " ".join(map(str, b'{"a":1}'))
    arguments = ["explain", "--schema", "s.json", "--vocabulary", vocabulary]
    (tmp_path / "s.json").write_text(
        '{"type": "object", "required": ["a"], "additionalProperties": false,'
        ' "properties": {"a": {"const": 1}}}'
    )
    out, _ = parlance(*arguments, "--ids", "--json", stdin=ids)
    facts = json.loads(out)
    assert facts["accepted"] is True
    tokens = facts["tokens"]
    assert tokens["ends"] == [1, 2, 3, 4, 5, 6, 7]
    assert tokens["allowed"][2] == 1 and "rejected" not in tokens
    out, _ = parlance(*arguments, "--ids", stdin=ids + " 97", status=1)
    assert "token 97 is not allowed here; 1 token is" in out

    # What the model was constrained by, beside a format.
    (tmp_path / "yes.regex").write_text("yes|no\n")
    out, _ = parlance(
        "explain", "-f", "qwen3", "--vocabulary", vocabulary, "--ids",
        "--constraint", "yes.regex", "--json", "-o", "out.json",
        stdin=" ".join(map(str, b"yep")),
    )
    assert out == ""
    written = (tmp_path / "out.json").read_text()
    tokens = json.loads(written)["tokens"]
    assert tokens["allowed"] == [2, 1, 1] and tokens["rejected"] == 2
    _, err = parlance("explain", "-f", "qwen3", "-o", "x", stdin="", status=2)
    assert "--output is for --json and --html" in err


class Outline(html.parser.HTMLParser):
    """The elements of a page, whether they nest, and the text of each script."""

    VOID = {"meta", "input", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.names, self.texts = [], [], {}

    def handle_starttag(self, tag, attributes):
        self.names.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)


HOSTILE = b"</script><script>x()</script><!-- <img src=x> \x00 \xff \xe2\x80\xae ]]>"


def test_explain_as_a_page(parlance, tmp_path):
    parlance("explain", "-f", "qwen3", "--html", "-o", "a.html", stdin=HOSTILE)
    page = (tmp_path / "a.html").read_text()
    outline = Outline()
    outline.feed(page)
    outline.close()
    assert outline.open == []
    names = [name for name, _ in outline.names]
    assert names.count("script") == 2 and "img" not in names
    # Nothing is loaded, and only this script and this style sheet are allowed.
    assert not {"src", "href", "srcset", "style"} & {
        key for _, attributes in outline.names for key in attributes
    }
    policy = next(
        attributes["content"] for name, attributes in outline.names
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    facts, script = outline.texts["script"]
    for text in (script, "".join(outline.texts["style"])):
        digest = hashlib.sha256(text.encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert policy.startswith("default-src 'none'; ")
    # The text of the response is in the facts and nowhere else.
    assert bytes.fromhex(json.loads(facts)["hex"]) == HOSTILE
    assert not re.search("<[!/sS]", facts)
    out, _ = parlance("explain", "-f", "qwen3", "--html", stdin=HOSTILE)
    assert out == page
    parlance("explain", "-f", "qwen3", "--html", "--json", stdin="", status=2)
    _, err = parlance(
        "explain", "-f", "qwen3", "--html", "-o", "no/where.html", stdin="", status=2
    )
    assert "cannot write no/where.html" in err


BROKEN = """\
{
  "start_anchor": "<s>",
  "fields": {
    "thinking": {
      "open_pattern": "é(<think>",
      "close": "</think>",
      "content": "text"
    }
  }
}
"""


def test_check_points_at_the_place(parlance, tmp_path):
    (tmp_path / "broken.json").write_text(BROKEN)
    out, _ = parlance("check", "broken.json", status=1)
    head, where, source, caret = out.splitlines()[:4]
    match = re.match(r"broken\.json:5:(\d+): error: ", head)
    assert match
    assert where.startswith("  at /fields/thinking/open_pattern (")
    assert source == '    5 | ' + BROKEN.splitlines()[4]
    # The caret stands under the column that the head names.
    assert caret.index("^") == len("    5 | ") + int(match[1]) - 1
    assert "1 error" in out.splitlines()[-1]


def test_check_text_that_is_not_json(parlance, tmp_path):
    (tmp_path / "x.json").write_text('{"fields":\n  oops}\n')
    out, _ = parlance("check", "x.json", status=1)
    assert out.startswith("x.json:2:3: error: ")
    assert "    2 |   oops}\n      |   ^" in out


def test_check_clips_a_long_line(parlance, tmp_path):
    template = {
        "start_anchor": "s" * 500,
        "fields": {"a": {"open_pattern": "(" + "x" * 500}},
    }
    (tmp_path / "x.json").write_text(json.dumps(template))
    out, _ = parlance("check", "x.json", status=1)
    lines = out.splitlines()
    assert "…" in lines[2] and len(lines[2]) <= 110
    assert lines[3].index("^") < len(lines[2])


def test_check_warnings(parlance, tmp_path):
    template = {
        "start_anchor": "<s>",
        "fields": {
            "a": {"open_pattern": "[^<]*<a>", "close": "</a>", "content": "text"},
            "b": {"content": "text"},
        },
    }
    (tmp_path / "x.json").write_text(json.dumps(template, indent=2))
    out, _ = parlance("check", "x.json")
    assert re.search(r"^x\.json:\d+:\d+: warning: ", out, re.M)
    assert '"[^<]*<a>"' in out
    parlance("check", "--werror", "x.json", status=1)


def test_check_a_format_file_points_into_its_template(parlance, tmp_path):
    file = {
        "name": "x",
        "models": [],
        "response_template": {
            "start_anchor": "<s>",
            "fields": {
                "a": {"open_pattern": "[^<]*<a>", "close": "</a>", "content": "text"}
            },
        },
        "parlance": {},
    }
    (tmp_path / "x.json").write_text(json.dumps(file))
    out, _ = parlance("check", "x.json")
    assert "at /response_template/fields/a/open_pattern" in out


def test_check_reads_variants(parlance, tmp_path):
    file = {
        "name": "x",
        "response_template": {
            "start_anchor": "<s>",
            "fields": {"a": {"open": "<a>", "close": "</a>"}},
        },
        "parlance": {
            "variants": {
                "y": {
                    "patch": {
                        "response_template": {"fields": {"a": {"repeats": "no"}}}
                    }
                }
            }
        },
    }
    (tmp_path / "x.json").write_text(json.dumps(file))
    out, _ = parlance("check", "x.json")
    assert "in variant 'y': is a string, which counts as true" in out


def test_check_built_in_formats(parlance):
    out, _ = parlance("check", "--format", "qwen3")
    assert out == (
        "1 description checked (format file): no errors, no warnings\n"
    )
    parlance("check", "--format", "nope", status=2)
    parlance("check", status=2)


@pytest.mark.parametrize(
    "content, status, words",
    [
        ('{"hello": 1}', 1, "nothing here says what this describes"),
        ("{}", 1, "nothing here says what this describes"),
        ('{"name": "x", "template": {}}', 1, "did you mean 'response_template'?"),
        ('{"$schema": "format.schema.json", "template": {}}', 1, "format file"),
        ('{"type": "object"}', 0, "this was taken for a response schema"),
        ('{"type": "string", "x-regex": "(a)"}', 0, "checked (response schema): no"),
        ('{"$schema": "x", "type": "object"}', 0, "checked (JSON Schema): "),
        ('{"start_anchor": "a", "fields": {"c": {}}}', 0, "(response template): no"),
        (
            '{"$schema": "format.schema.json", "name": "x", "response_template": '
            '{"start_anchor": "a", "fields": {"c": {}}}}',
            0,
            "checked (format file): no errors, no warnings",
        ),
    ],
)
def test_check_says_what_it_took_a_file_for(
    parlance, tmp_path, content, status, words
):
    (tmp_path / "x.json").write_text(content)
    out, _ = parlance("check", "x.json", status=status)
    assert words in out
    if status == 0 and "taken for" in words:
        parlance("check", "--werror", "x.json", status=1)


def test_a_path_is_a_format(parlance, tmp_path):
    file, _ = parlance("formats", "qwen3", "--file")
    (tmp_path / "mine.json").write_text(file)
    for arguments in (["parse", "-f", "mine.json"], ["explain", "-f", "./mine.json"]):
        out, _ = parlance(*arguments, stdin=STREAM)
        assert "get_weather" in out
    parlance("check", "-f", "mine.json")
    parlance("formats", "./mine.json")
    _, err = parlance("parse", "-f", "absent.json", status=2)
    assert "absent.json" in err
    _, err = parlance("parse", "-f", "absent", status=2)
    assert "no built-in format is called 'absent'" in err and "::" not in err


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["prase", "-f", "qwen3"], "unknown command 'prase'; did you mean 'parse'?"),
        (["-f", "qwen3", "prase"], "did you mean 'parse'?"),
        (["parse", "--formt", "qwen3"], "'--formt'; did you mean '--format'?"),
        (["parse", "--formt=qwen3"], "'--formt'; did you mean '--format'?"),
        (["zzzzzzzzz"], "unknown command 'zzzzzzzzz'\n"),
        (["parse", "a", "b"], "several files are stored responses: add --jsonl"),
        (["watch", "a", "b"], "unexpected argument 'b'"),
        (["help", "prase"], "unknown command 'prase'; did you mean 'parse'?"),
        (["parse", "--chunk", "3"], "parlance parse: --chunk requires --events\n"),
        (["parse", "-e", "--chunk", "0"], "--chunk: it must be a whole number"),
        (["parse", "-f"], "parlance parse: --format needs a value\n"),
        (["parse", "-f", "a", "-f", "b"], "--format may be given only once\n"),
        (["parse", "--jsonl=x"], "parlance parse: --jsonl takes no value\n"),
        (["parse", "--jsonl", "--progress", "alwasy"],
         "--progress: it must be always, auto or never, not 'alwasy'; "
         "did you mean 'always'?\n"),
        (["accept", "--indent", "9" * 30], "--indent: it must be a number"),
        (["tag", "--max-white-space", "-1"], "must be a whole number greater than 0"),
    ],
)
def test_typos(parlance, arguments, words):
    out, err = parlance(*arguments, status=2)
    assert out == "" and words in err and err.startswith("parlance")


def test_check_colours(parlance, tmp_path):
    (tmp_path / "broken.json").write_text(BROKEN)
    plain, _ = parlance("check", "broken.json", status=1)
    coloured, _ = parlance("check", "broken.json", "--color", "always", status=1)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_formats(parlance):
    out, _ = parlance("formats")
    lines = [line for line in out.splitlines() if not line.startswith(" ")]
    names = [line.split()[0] for line in lines]
    assert "qwen3" in names and names == sorted(names)
    # The models stand in one column, and names of variants and aliases below.
    assert len({len(re.match(r"\S* +", line)[0]) for line in out.splitlines()}) == 1
    out, _ = parlance("formats", "--json")
    assert [entry["name"] for entry in json.loads(out)] == names
    assert all(entry["models"] for entry in json.loads(out))


def test_formats_that_read_a_response(parlance, tmp_path):
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    out, _ = parlance("formats", "--reads", "-", stdin=call * 2)
    first = out.splitlines()[0]
    assert "bytes 0..106, 106 in regions, calls: 2 (f, ...)" in first
    out, _ = parlance("formats", "--reads", "-", "--json", stdin=call)
    best = json.loads(out)[0]
    assert best["calls"] == 1 and best["call"] == "f" and best["marked"]
    assert (best["start"], best["end"]) == (0, 53)
    _, err = parlance("formats", "--reads", "-", stdin="Hm.", status=1)
    assert "no built-in format reads a region in <stdin>" in err
    tools = [{"type": "function", "function": {"name": "f"}}]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    bare = '{"name": "f", "arguments": {}}'
    parlance("formats", "--reads", "-", stdin=bare, status=1)
    out, _ = parlance("formats", "--reads", "-", "--tools", "tools.json", stdin=bare)
    assert "calls: 1 (f)" in out
    parlance("formats", "qwen3", "--reads", "-", status=2)


def test_a_formats_template_can_be_used(parlance, tmp_path):
    out, _ = parlance("formats", "qwen3")
    assert "fields" in json.loads(out)
    (tmp_path / "mine.json").write_text(out)
    message, _ = parlance("parse", "-t", "mine.json", stdin=STREAM)
    same, _ = parlance("parse", "-f", "qwen3", stdin=STREAM)
    # The template alone does not say which line feeds are layout.
    message, same = json.loads(message), json.loads(same)
    assert message.pop("content").strip() == same.pop("content")
    assert message == same
    file, _ = parlance("formats", "qwen3", "--file")
    assert json.loads(file)["response_template"] == json.loads(out)
    parlance("formats", "nope", status=2)


def test_help(parlance):
    assert parlance("help", "parse") == parlance("parse", "--help")
    assert parlance("help") == parlance("--help")


def test_a_template_with_a_schema_key_is_no_json_schema(parlance, tmp_path):
    (tmp_path / "a.json").write_text(
        '{"$schema": "template.schema.json", "fields": {"a": {"open_pattern": "<x>"}}}'
    )
    out, err = parlance("check", "a.json", status=1)
    assert "(response template)" in out + err
    assert "unknown keys '$schema'" in out + err
