"""`parlance tag`."""

import json

import pytest

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    },
    {"type": "function", "function": {"name": "time"}},
]
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>'
TWICE = CALL + "\n" + CALL
THOUGHT = "<think>\nHm.\n</think>\n\n"


@pytest.fixture
def tag(parlance, tmp_path):
    """The tag of tools of the family qwen_3, by options."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))

    def run(*options):
        out, err = parlance(
            "tag", "--format", "qwen_3", "--tools", "tools.json", *options
        )
        assert err == ""
        (tmp_path / "tools.tag.json").write_text(out)
        return json.loads(out)

    return run


def accepts(parlance, text):
    out, _ = parlance("accept", "--tag", "tools.tag.json", stdin=text)
    assert out == "accepted\n"


def refuses(parlance, text):
    parlance("accept", "--tag", "tools.tag.json", stdin=text, status=1)


def test_families(parlance, tag):
    """Each name that `parlance formats` lists, as --format and as --style."""
    tag()
    listed = json.loads(parlance("formats", "--json")[0])
    assert len(listed) > 50
    for family in listed:
        for name in [family["name"], *family.get("aliases", [])][:2]:
            outs = {
                parlance("tag", option, name.replace("_", "-"))[0]
                for option in ("--format", "--style")
            }
            assert len(outs) == 1
            assert json.loads(outs.pop())["type"] == "structural_tag"


def test_auto(parlance, tag):
    tag()
    accepts(parlance, THOUGHT + "Let me look.\n" + TWICE)
    accepts(parlance, CALL)
    refuses(parlance, CALL[:-1])


@pytest.mark.parametrize(
    ("options", "good", "bad"),
    [
        (("--reasoning", "none"), ["Hm.", TWICE], [THOUGHT]),
        (("--reasoning", "required"), [THOUGHT + "Yes."], ["Yes."]),
        (("--reasoning", "none", "--no-parallel"), [CALL], [TWICE]),
        (
            ("--reasoning", "none", "--tool-choice", "required"),
            [CALL],
            ["Hm."],
        ),
        (("--reasoning", "none", "--tool-choice", "none"), ["Hm."], []),
        (
            ("--reasoning", "none", "--tool-choice", "time"),
            [CALL.replace("weather", "time")],
            [CALL, "Hm."],
        ),
        (
            (
                "--reasoning", "none", "--tool-choice",
                '{"type": "function", "function": {"name": "weather"}}',
            ),
            [CALL],
            ["Hm."],
        ),
        (
            ("--reasoning", "none", "--max-white-space", "1"),
            [CALL],
            [CALL.replace('{"city"', '{  "city"')],
        ),
    ],
)
def test_options(parlance, tag, options, good, bad):
    tag(*options)
    for text in good:
        accepts(parlance, text)
    for text in bad:
        refuses(parlance, text)


def test_fields(tag):
    written = json.dumps(tag())
    assert '"tool": "weather"' in written and '"field": "thinking"' in written


def test_layouts(parlance, tag):
    written = tag()
    arguments = ("tag", "tools.tag.json")
    for layout in ("--pretty", "--compact"):
        out, _ = parlance(*arguments, layout)
        assert json.loads(out) == written
        assert out.count("\n") == 1 or layout == "--pretty"


def test_canonical_form(parlance):
    out, _ = parlance("tag", '{"format": {"excludes": ["x"]}, "more": 1}')
    assert json.loads(out) == {
        "type": "structural_tag",
        "format": {
            "type": "any_text",
            "excludes": ["x"],
            "max_tokens": None,
            "max_chars": None,
        },
    }


def test_ebnf(parlance, tag, tmp_path):
    tag("--reasoning", "none")
    out, _ = parlance("tag", "tools.tag.json", "--ebnf")
    (tmp_path / "tools.ebnf").write_text(out)
    parlance("accept", "-g", "tools.ebnf", stdin="Hm." + CALL)
    parlance("accept", "-g", "tools.ebnf", stdin=CALL[:-1], status=1)
    direct, _ = parlance(
        "tag", "--format", "qwen_3", "--tools", "tools.json", "--reasoning",
        "none", "--ebnf",
    )
    assert direct == out


def test_errors(parlance, tag, tmp_path):
    tag()
    _, err = parlance("tag", status=2)
    assert "no structural tag given" in err
    _, err = parlance("tag", "--format", "latin", status=2)
    assert err.startswith("parlance: --format: error: ")
    _, err = parlance("tag", "--format", "qwen_3", "--tool-choice", "dance",
                      status=2)
    assert err.startswith("parlance: --tool-choice: error: ")
    (tmp_path / "bad.json").write_text(
        '[{"type": "function",\n  "function": {"name": 3}}]'
    )
    _, err = parlance("tag", "--format", "qwen_3", "--tools", "bad.json",
                      status=2)
    assert err.startswith("parlance: bad.json:2:24: error: ")
    (tmp_path / "bad.json").write_text('{"format":\n {"type": "regex"}}')
    _, err = parlance("tag", "bad.json", status=2)
    assert err.startswith("parlance: bad.json:2:")
    parlance("tag", "--format", "qwen_3", "tools.tag.json", status=2)
    parlance("tag", "tools.tag.json", "--tools", "tools.json", status=2)


def test_a_format_file_of_ones_own(parlance, tag, tmp_path):
    tag()
    source, _ = parlance("formats", "qwen3", "--file")
    mine = json.loads(source)
    mine["name"] = "mine"
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    request = ("--tools", "tools.json", "--tool-choice", "required")
    out, _ = parlance("tag", "--format", "./mine.json", *request)
    assert out == parlance("tag", "--format", "qwen3", *request)[0]
    # A fault of the file is shown in the file.
    mine["response_template"]["fields"]["content"] = {
        "open": "<say>", "close": "</say>"
    }
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    _, err = parlance("tag", "--format", "./mine.json", *request, status=2)
    assert err.startswith("parlance: ./mine.json:1:")
    assert "is not a part of the call" in err
    out, _ = parlance("check", "mine.json", status=1)
    assert "mine.json:1:" in out and "error: the fields of the format" in out


def test_check_walks(parlance, tmp_path):
    source, _ = parlance("formats", "qwen3", "--file")
    (tmp_path / "mine.json").write_text(source)
    out, _ = parlance("check", "--walk", "30", "--seed", "3", "mine.json")
    assert "no errors, no warnings" in out
    _, err = parlance("check", "--seed", 2**32, "mine.json", status=2)
    assert "--seed" in err
    mine = json.loads(source)
    del mine["parlance"]["read"]["tool_calls"]["layout"]
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    parlance("check", "mine.json")
    out, _ = parlance("check", "--walk", "200", "mine.json", status=1)
    assert "mine.json:1:" in out and "of the response" in out


def test_check_points_into_the_tools(parlance, tmp_path):
    source, _ = parlance("formats", "qwen3", "--file")
    (tmp_path / "mine.json").write_text(source)
    (tmp_path / "t.json").write_text('[\n  {"type": "function", "function": 3}]')
    out, _ = parlance("check", "mine.json", "--tools", "t.json", status=1)
    assert out.startswith("t.json:2:36: error: ")
    assert "  at /0/function (" in out


# ---- Formats: a family file of one's own is not needed for the options


def test_the_options_of_a_request_need_a_format(parlance):
    _, err = parlance("tag", "--tool-choice", "auto", status=2)
    assert "--tool-choice requires --format" in err
    _, err = parlance("tag", status=2)
    assert "--format" in err


def test_an_unknown_format_is_named(parlance):
    _, err = parlance("tag", "--format", "latin", status=2)
    assert "latin" in err


@pytest.fixture
def family_tag(parlance, tmp_path):
    """The tag of tools in the format qwen3, by options."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))

    def run(*options):
        out, err = parlance(
            "tag", "--format", "qwen3", "--tools", "tools.json", *options
        )
        assert err == ""
        (tmp_path / "tools.tag.json").write_text(out)

    return run


def test_a_format_makes_the_tag(parlance, family_tag):
    family_tag()
    accepts(parlance, CALL)
    accepts(parlance, "Hello.")
    accepts(parlance, "<think>\nHm.\n</think>\n\nHello.")
    family_tag("--tool-choice", "required", "--reasoning", "off")
    accepts(parlance, CALL)
    refuses(parlance, "Hello.")
    refuses(parlance, CALL.replace("weather", "whether"))


def test_the_tag_begins_where_the_prompt_ends(parlance, family_tag):
    family_tag("--prefix", "<|im_start|>assistant\n<think>\n")
    accepts(parlance, "Hm.\n</think>\n\n" + CALL)
    refuses(parlance, CALL)


def test_the_answer_is_a_document(parlance, family_tag, tmp_path):
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    family_tag("--response-format", "schema.json")
    accepts(parlance, '{"n": 1}')
    accepts(parlance, CALL)
    refuses(parlance, "Hello.")


def test_errors_in_schemas_lead_into_the_files(parlance, tmp_path):
    """The compile of a tag names the tool, and the place in the request's file."""
    tools = json.loads(json.dumps(TOOLS))
    tools[0]["function"]["parameters"]["properties"]["city"] = {"pattern": "a("}
    (tmp_path / "tools.json").write_text(json.dumps(tools, indent=1))
    run = ("tag", "--format", "qwen3_coder", "--ebnf")
    _, err = parlance(*run, "--tools", "tools.json", status=2)
    text = json.dumps(tools, indent=1)
    line = 1 + text[: text.index('"a("')].count("\n")
    assert err.startswith(f"parlance: tools.json:{line}:")
    assert "tools: the tool 'weather': " in err

    (tmp_path / "schema.json").write_text('{"type": "object",\n "minProperties": -1}')
    _, err = parlance(*run, "--response-format", "schema.json", status=2)
    assert err.startswith("parlance: schema.json:2:")
    assert "response_format: " in err


def test_check_reads_what_write_says(parlance, tmp_path):
    file = {
        "name": "mine",
        "response_template": {
            "start_anchor": "<|assistant|>",
            "fields": {
                "tool_calls": {
                    "open_pattern": "<call:(?P<name>[a-z_]+)>",
                    "close": "</call>",
                    "repeats": True,
                    "content": "kv-lines",
                    "content_args": {"value_parser": {"name": "int"}},
                    "transform": {
                        "type": "function",
                        "function": {"name": "{name}", "arguments": "{content}"},
                    },
                },
                "content": {"repeats": True, "join": ""},
            },
        },
        "parlance": {
            "write": {
                "order": ["content?", "tool_calls*"],
                "content": {"parts": [{"text": True}]},
                "tool_calls": {
                    "parts": [
                        "<call:",
                        {"name": "raw"},
                        ">",
                        {"arguments": {"each": [{"key": "raw"}, ": ", {"value": "raw"}, "\n"]}},
                        "</call>",
                    ]
                },
            }
        },
    }
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(file, indent=1))
    out, _ = parlance("check", path, status=1)
    assert "at /parlance/write/tool_calls/parts/3/arguments (conflict)" in out
    assert "is not an integer" in out
    del file["response_template"]["fields"]["tool_calls"]["content_args"]
    path.write_text(json.dumps(file, indent=1))
    out, _ = parlance("check", path)
    assert "no errors, no warnings" in out
