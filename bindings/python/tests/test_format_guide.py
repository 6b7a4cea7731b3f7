"""docs/write-a-format-file.md: its files load, and its examples run.

And docs/reference/format-files.md describes every key of the language.
"""

import json
import pathlib
import re

import parlance
import pytest
from parlance.testing import check_format

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
FORMATS = DOCS.parent / "formats"
GUIDE = (DOCS / "write-a-format-file.md").read_text()
REFERENCE = (DOCS / "reference" / "format-files.md").read_text()
SCHEMA = json.loads((FORMATS / "format.schema.json").read_text())


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.M | re.S)


FILES = [block for block in blocks("json") if '"aurora"' in block]
(BOREALIS,) = set(blocks("json")) - set(FILES)


@pytest.mark.parametrize("number", range(len(FILES)))
def test_files_of_the_guide(number):
    aurora = parlance.Format(json.loads(FILES[number]))
    assert aurora.lint() == []
    parser = aurora.parser(prefix="")
    (sample,) = blocks("text")
    parser.feed(sample.removeprefix("<|assistant|>").rstrip("\n"))
    parser.finalize()
    assert parser.diagnostics == []
    assert parser.message["thinking"] == "The user wants weather."
    # The second file says that the line feed is layout.
    said = "Let me look." if number else "Let me look.\n"
    assert parser.message["content"] == said
    (call,) = parser.message["tool_calls"]
    assert call["function"] == {
        "name": "get_weather",
        "arguments": {"city": "Bern"},
    }


def test_the_file_with_two_notations():
    borealis = parlance.Format(json.loads(BOREALIS))
    assert borealis.lint() == []
    check_format(borealis, walks=100)
    call = {"name": "f", "arguments": {"a": {"b": 1}}}
    text = 'Hi.<call>f\na: {"b": 1}\n</call><call>' + json.dumps(call) + "</call>"
    message = parlance.parse_response(text, borealis, prefix="")
    assert [each["function"] for each in message["tool_calls"]] == [call, call]
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "object"}}}}]
    grammar = borealis.grammar(tools=tools)
    assert grammar.accepts('<call>f\na: {"b": 1}\n</call>')
    assert not grammar.accepts('<call>f\na: {"b":\n1}\n</call>')


def test_program_of_the_guide(tmp_path, monkeypatch):
    (tmp_path / "aurora.json").write_text(FILES[-1])
    monkeypatch.chdir(tmp_path)
    for program in blocks("python"):
        exec(compile(program, "write-a-format-file.md", "exec"), {})  # noqa: S102


# Families as the table "Families that write otherwise" has them.
SECTION = {
    "name": "nimbus",
    "response_template": {
        "version": 1,
        "defaults": {"role": "assistant"},
        "start_anchor": "<|turn>assistant\n",
        "fields": {
            "thinking": {"open": "<|think>", "close": "<think|>"},
            "tool_calls": {
                "open_pattern": '<call name="(?P<name>[^"]+)" id="(?P<id>[^"]+)">',
                "close": "</call>",
                "content": "json",
                "repeats": True,
                "transform": {
                    "type": "function",
                    "id": "{id}",
                    "function": {"name": "{name}", "arguments": "{content}"},
                },
            },
            "content": {"repeats": True, "join": "", "content_args": {"strip": False}},
        },
    },
    "parlance": {
        "turn_end": ["<turn|>"],
        "read": {
            "content": {"drop": ["<calls>\n", "\n</calls>"]},
            "tool_calls": {"ends": "value", "layout": {"before": ["\n"]}},
        },
        "write": {
            "order": ["thinking?", "content?", "tool_calls*"],
            "thinking": {"parts": ["<|think>", {"text": True}, "<think|>"]},
            "content": {"parts": [{"text": True}]},
            "tool_calls": {
                "before": ["\n"],
                "section": [["<calls>\n"], ["\n</calls>"]],
                "between": ["\n"],
                "parts": [
                    '<call name="', {"name": "raw"}, '" id="', {"id": "call_[0-9]+"},
                    '">', {"arguments": "json"}, "</call>",
                ],
            },
        },
    },
}
LIST = {
    "name": "larch",
    "response_template": {
        **SECTION["response_template"],
        "start_anchor": "[/INST]",
        "fields": {
            "thinking": {"open": "[REASON]", "close": "[/REASON]"},
            "tool_calls": {
                "open": "[CALLS]",
                "close": "[/CALLS]",
                "content": "json",
                "repeats": True,
            },
            "content": SECTION["response_template"]["fields"]["content"],
        },
    },
    "parlance": {
        "turn_end": ["</s>"],
        "read": {
            "tool_calls": {
                "ends": "value",
                "values": "list",
                "members": {"name": ["tool"], "arguments": ["args"]},
                "layout": {"before": ["\n"]},
            }
        },
        "write": {
            "order": ["thinking?", "content?", "tool_calls*"],
            "thinking": {"parts": ["[REASON]", {"text": True}, "[/REASON]"]},
            "content": {"parts": [{"text": True}]},
            "tool_calls": {
                "section": [["\n[CALLS]["], ["][/CALLS]"]],
                "between": [", "],
                "parts": [
                    '{"tool": ', {"name": "json"}, ', "args": ',
                    {"arguments": "json"}, "}",
                ],
            },
        },
    },
}
ELEMENTS = {
    "name": "willow",
    "response_template": {
        **SECTION["response_template"],
        "fields": {
            **SECTION["response_template"]["fields"],
            "tool_calls": {
                "open_pattern": '<invoke tool="(?P<name>[^"]+)">\\n?',
                "close": "</invoke>",
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": '<arg key="(?P<key>[^"]+)">(?P<value>.*?)</arg>\\n?'
                },
                "repeats": True,
                "transform": {
                    "type": "function",
                    "function": {"name": "{name}", "arguments": "{content}"},
                },
            },
        },
    },
    "parlance": {
        "turn_end": ["<turn|>"],
        "read": {"tool_calls": {"layout": {"before": ["\n"]}}},
        "write": {
            **SECTION["parlance"]["write"],
            "tool_calls": {
                "before": ["\n"],
                "between": ["\n"],
                "parts": [
                    '<invoke tool="', {"name": "raw"}, '">\n',
                    {
                        "arguments": {
                            "each": [
                                '<arg key="', {"key": "raw"}, '">',
                                {"value": "raw"}, "</arg>\n",
                            ]
                        }
                    },
                    "</invoke>",
                ],
            },
        },
    },
}


@pytest.mark.parametrize("file", [SECTION, LIST, ELEMENTS], ids=lambda f: f["name"])
def test_families_that_write_otherwise(file):
    from parlance.testing import check_format

    check_format(parlance.Format(file), walks=20)
    number = {"type": "object", "properties": {"n": {"type": "integer"}}}
    function = {"name": "get-weather", "parameters": number}
    tools = [{"type": "function", "function": function}]
    calls = [{"function": {"name": "get-weather", "arguments": {"n": i}}} for i in (1, 2)]
    family = parlance.Format(file)
    if file is SECTION:
        calls = [{"id": f"call_{i}", **call} for i, call in enumerate(calls)]
    text = family.render({"content": "Hm.", "tool_calls": calls}, tools=tools)
    assert family.grammar(tools).accepts(text)


def keys(node, within=()):
    """The keys that a part of the schema names, with those around them."""
    if isinstance(node, dict):
        for name, part in node.get("properties", {}).items():
            yield name, within
            yield from keys(part, (*within, name))
        for key, part in node.items():
            if key != "properties":
                yield from keys(part, within)
    elif isinstance(node, list):
        for part in node:
            yield from keys(part, within)


def test_the_reference_names_every_key():
    pages = REFERENCE + (
        DOCS / "reference" / "response-templates.md"
    ).read_text()
    missing = {
        key
        for key, _ in keys(SCHEMA)
        if f"`{key}" not in pages and f'"{key}"' not in pages
    }
    assert missing == set()


def test_the_loader_knows_the_keys_of_the_schema():
    """An unknown key is an error that lists the known ones: the schema's."""

    def known(file, path):
        with pytest.raises(parlance.TemplateError) as raised:
            parlance.Format(file)
        assert raised.value.path == path
        listed = re.search(r"Known keys: (.*)\.$", str(raised.value).split(" (at")[0])
        return set(listed.group(1).split(", "))

    def of(*path):
        node = SCHEMA
        for step in path:
            while "$ref" in node:
                node = SCHEMA["$defs"][node["$ref"].rpartition("/")[2]]
            node = node["properties"][step]
        while "$ref" in node:
            node = SCHEMA["$defs"][node["$ref"].rpartition("/")[2]]
        return set(node["properties"])

    file = json.loads(FILES[-1])
    assert known({**file, "x": 1}, "/x") == of()
    assert known(
        {**file, "parlance": {**file["parlance"], "x": 1}}, "/parlance/x"
    ) == of("parlance")
    template = {**file["response_template"], "x": 1}
    assert known(
        {**file, "response_template": template}, "/response_template/x"
    ) == of("response_template")
