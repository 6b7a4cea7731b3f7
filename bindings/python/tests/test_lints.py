"""Lints: docs/reference/lints.md has a section and an example for each code."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import parlance
from parlance.testing import check_format
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "reference" / "lints.md").read_text()
# Without an example.
NO_EXAMPLE = set()
# Found by the command, which has to guess what a file is.
OF_THE_COMMAND = {"kind_guessed"}


def sections():
    """Code -> the JSON of its example, or None."""
    found = {}
    for section in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        code = re.match(r"`(\w+)`", section).group(1)
        example = re.search(r"^```json\n(.*?)^```", section, re.M | re.S)
        found[code] = example and json.loads(example.group(1))
    return found


def codes():
    """The codes of the library: its enumerators, as it spells them."""
    header = (ROOT / "include" / "parlance" / "format.h").read_text()
    listed = re.search(r"enum class LintCode[^{]*\{(.*?)\};", header, re.S)
    return {
        re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
        for name in re.findall(r"^\s*k(\w+),", listed.group(1), re.M)
    }


def lints(description):
    if "fields" in description or "response_template" in description:
        return parlance.Format(description).lint()
    return parlance.ResponseSchema(description).lint()


def test_each_code_has_a_section():
    assert sections().keys() == codes()
    assert {c for c, example in sections().items() if not example} == NO_EXAMPLE


@pytest.mark.parametrize("code", sorted(sections().keys() - NO_EXAMPLE))
def test_the_example_gets_the_lint(code, tmp_path):
    example = sections()[code]
    if code in OF_THE_COMMAND:
        command = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
        if command is None:
            pytest.skip("no command: set PARLANCE_CLI, or PATH")
        file = tmp_path / "x.json"
        file.write_text(json.dumps(example))
        done = subprocess.run(
            [command, "check", str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"({code})" in done.stdout
        return
    # Examples of other mistakes need not be templates that can be inverted.
    found = [
        lint
        for lint in lints(example)
        if code == "not_invertible" or lint["code"] != "not_invertible"
    ]
    assert [lint["code"] for lint in found] == [code]
    (lint,) = found
    assert lint["message"].endswith(".")
    # The pointer refers to something.
    here = example
    for step in lint["path"].split("/")[1:]:
        here = here[step.replace("~1", "/").replace("~0", "~")]


# Why a built-in format has a lint all the same.
EXPLAINED = {
    "inkling": {
        "holds_text": "a block begins with free text, its author, before the "
        "marker that says which field it is"
    },
    "minicpm5": {
        "backtracking": "a value ends in two ways, by whether it began with "
        "CDATA, which takes a conditional"
    },
}


def test_built_in_formats_have_no_lint_that_is_not_explained():
    found = {}
    for name in parlance.formats():
        family = parlance.Format(name)
        for each in [name, *family.variants]:
            for lint in parlance.Format(each).lint():
                found.setdefault(name, set()).add(lint["code"])
    assert found == {name: set(why) for name, why in EXPLAINED.items()}


def test_unknown_keys_are_errors_in_every_part_of_a_format_file():
    """Each object of a file, with one key too many, is refused at that key."""
    file = json.loads(parlance.Format("qwen3").source)
    file["parlance"].setdefault("variants", {})["v"] = {
        "when": [{"none": ["<think>"]}],
        "patch": {"parlance": {"turn_end": ["<|im_end|>"]}},
    }

    def objects(value, path):
        if isinstance(value, dict):
            yield value, path
            for key, member in value.items():
                yield from objects(member, [*path, key])
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from objects(item, [*path, str(index)])

    free = {  # the keys of these objects are names or values of the author
        "/response_template/defaults",
        "/response_template/fields",
        "/parlance/variants",
    }
    tried = 0
    for value, path in list(objects(file, [])):
        pointer = "".join("/" + step for step in path)
        in_free = "/transform" in pointer or pointer in free
        # A patch is refused as a whole, with the place in the patched file.
        if in_free or "/patch" in pointer:
            continue
        value["tpyo"] = 1
        if pointer.endswith("content_args"):
            found = [(lint["code"], lint["path"]) for lint in
                     parlance.Format(file).lint()]
            assert ("unknown_key", pointer + "/tpyo") in found
        else:
            with pytest.raises(parlance.TemplateError) as raised:
                parlance.Format(file)
            assert raised.value.path == pointer + "/tpyo", pointer
        del value["tpyo"]
        tried += 1
    assert tried > 10


def test_verify_finds_what_is_written_and_not_read():
    assert parlance.Format("qwen3_coder").verify() == []
    file = json.loads(parlance.Format("qwen3_coder").source)
    file["name"] = "mine"
    call = file["response_template"]["fields"]["tool_calls"]
    call["content_args"]["value_parser"] = {"name": "int"}
    (finding,) = parlance.Format(file).verify()
    assert finding["code"] == "conflict"
    assert finding["path"].startswith("/parlance/write/tool_calls/")
    assert "is not an integer" in finding["message"]
    assert set(finding) == {"code", "message", "path", "text", "meant", "read"}


# A file whose layout is not said: the line feed before a call is read as text.
_LAYOUT = {
    "name": "aurora",
    "response_template": {
        "start_anchor": "<|assistant|>",
        "fields": {
            "tool_calls": {
                "open_pattern": r"<\|call\|>(?P<name>\w+)\n",
                "close": "<|end_call|>",
                "content": "json",
                "repeats": True,
                "transform": {
                    "type": "function",
                    "function": {"name": "{name}", "arguments": "{content}"},
                },
            },
            "content": {"repeats": True, "join": "", "content_args": {"strip": False}},
        },
    },
    "parlance": {
        "write": {
            "order": ["content?", "tool_calls*"],
            "content": {"parts": [{"text": True}]},
            "tool_calls": {
                "before": ["\n"],
                "parts": [
                    "<|call|>",
                    {"name": "raw"},
                    "\n",
                    {"arguments": "json"},
                    "<|end_call|>",
                ],
            },
        }
    },
}


def test_walks_find_what_calls_alone_do_not_show():
    assert parlance.Format(_LAYOUT).verify() == []
    with pytest.raises(AssertionError, match="is not rendered.*read back as") as raised:
        check_format(_LAYOUT, walks=200)
    assert "'aurora' does not read what it writes" in str(raised.value)
    read = {"tool_calls": {"layout": {"before": ["\n"]}}}
    mended = {**_LAYOUT, "parlance": {**_LAYOUT["parlance"], "read": read}}
    check_format(mended, walks=200)
    for seed in (1, 2):
        check_format("qwen3", walks=20, seed=seed)


def test_the_template_of_a_file_has_its_turn_end():
    fields = {"content": {}, "tool_calls": {"open": "<call>", "content": "json"}}
    for ends, close in ((["<|done|>", "<e>"], ["<|done|>", "<e>"]), ([], None)):
        mine = parlance.Format(
            {
                "name": "mine",
                "response_template": {"start_anchor": "<a>", "fields": fields},
                "parlance": {"turn_end": ends},
            }
        )
        for field in mine.template["fields"].values():
            assert field.get("close") == close
        assert json.loads(mine.source)["response_template"]["fields"] == fields
    # Upstream reads the same.
    text = 'Hi.<call>{"name": "f", "arguments": {}}'
    mine = parlance.Format(
        {
            "name": "mine",
            "response_template": {"start_anchor": "<a>", "fields": fields},
            "parlance": {"turn_end": ["<|done|>"]},
        }
    )
    bare = parlance.ResponseTemplate(mine.template)
    for end in ("", "<|done|>"):
        upstream = parlance.parse_response(text + end, bare, prefix="")
        assert upstream == parlance.parse_response(text + end, mine, prefix="")
