"""formats/format.schema.json and the loader agree on what a format file is.

The schema is for editors, so it is stricter than the template language of
transformers in two respects: flags are true or false, and arguments that a
content parser does not know are errors.  For these the library has warnings.
Conversely a schema cannot say what refers to another part of the file or to a
pattern; these errors are listed in BEYOND_A_SCHEMA.
"""

import copy
import json
import os
import pathlib
import random

import pytest

import parlance

jsonschema = pytest.importorskip("jsonschema")

FORMATS = pathlib.Path(__file__).parents[3] / "formats"
SCHEMA = json.loads((FORMATS / "format.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# The codes of errors that a schema cannot express, or not in every case.
BEYOND_A_SCHEMA = {
    "bad_pattern",
    "unsupported_pattern",
    "bad_placeholder",
    "unused_capture",
    "several_implicit_fields",
    "too_deep",
    "conflict",  # names that are used twice, fields without delimiters, ...
    "unknown_name",  # of fields and groups
}
# Errors with other codes that a schema cannot express: parts of their messages.
BEYOND_IN_WORDS = (
    "has no part",  # what must be in "parts", perhaps inside choices
    "writes nothing of the field",
    "does not say how it is written",
    "variant '",  # faults in a patched file
    "Only version 1 exists",  # a patched version
)

# Every key of the language.
SAMPLE = {
    "$schema": "format.schema.json",
    "name": "sample",
    "aliases": ["Sample-1.0", "sample_2"],
    "models": ["Sample"],
    "sources": ["the model card"],
    "date": "2026-11",
    "detect": [
        {"all": ["<a>"], "any": ["<b>"], "none": ["<c>"], "why": "w", "rank": 3},
        {"tokens": ["<d>"], "why": "w"},
    ],
    "response_template": {
        "version": 1,
        "defaults": {"role": "assistant"},
        "start_anchor": ["<s>"],
        "fields": {
            "thinking": {"open": "<think>", "close": ["</think>"], "content": "text"},
            "calls": {
                "open_pattern": "<call=(?P<name>\\w+)>",
                "close_pattern": "</call>",
                "repeats": True,
                "optional": True,
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": "<(?P<key>\\w+) (?P<type>\\w+)>(?P<value>.*?)</>",
                    "merge_duplicates": False,
                    "value_parser": {"name": "json", "args": {"allow_non_json": True}},
                },
                "transform": {"name": "{name}", "arguments": "{content}"},
            },
            "list": {
                "open": "[",
                "close": "]",
                "content": "json",
                "content_args": {
                    "strip": True,
                    "unquoted_keys": True,
                    "string_delims": [["<q>", "</q>"]],
                },
                "transform": {"x": "{content.x}"},
                "transform_each": True,
            },
            "lines": {
                "open": "<l>",
                "content": "kv-lines",
                "content_args": {"line_sep": "\n", "kv_sep": ":"},
            },
            "content": {"repeats": True, "join": ""},
        },
    },
    "parlance": {
        "turn_end": ["<end>"],
        "marks": ["<m>", {"pattern": "<m\\d+>"}],
        "protocol": "harmony",
        "read": {
            "thinking": {"layout": {"first": ["\n"]}},
            "calls": {
                "ends": "value",
                "otherwise": "content",
                "drop": ["<x>"],
                "strip": False,
                "arguments": {
                    "line_feeds": 1,
                    "python": True,
                    "decode": "xml",
                    "type_by": {"capture": "type", "map": {"s": "string"}},
                },
            },
            "list": {
                "syntax": "json",
                "values": {"sequence": ";"},
                "members": {"name": ["name"], "id": ["id"], "as_text": True},
            },
        },
        "write": {
            "order": ["thinking?", "content?", "calls*", "list*"],
            "thinking": {"parts": ["<think>", {"text": True}], "off": ["</think>"]},
            "content": {"parts": [{"text": True}], "when": "response_format"},
            "calls": [
                {
                    "before": ["\n"],
                    "between": [{"any": [["a"], ["b", {"optional": ["c"]}]]}],
                    "section": [["["], ["]"]],
                    "parts": [
                        {"name": "json"},
                        {"index": 0},
                        {"id": "\\d+"},
                        {
                            "arguments": {
                                "each": [
                                    "<",
                                    {"key": "raw"},
                                    " ",
                                    {"type": {"string": "s", "*": "o"}},
                                    ">",
                                    {"value": "raw"},
                                    "</>",
                                ],
                                "between": "\n",
                                "ends": ["</call>"],
                            }
                        },
                    ],
                }
            ],
            "list": {
                "parts": [
                    {"name": "raw"},
                    {"arguments": {"delimited": {"string": ["<q>", "</q>"], "keys": "bare"}}},
                ]
            },
        },
        "variants": {
            "sample_v2": {
                "aliases": ["Sample-V2"],
                "models": ["Sample 2"],
                "when": [{"none": ["<think>"]}],
                "patch": {"parlance": {"turn_end": ["<stop>"]}},
            }
        },
    },
}


def error_of(file):
    """The error of the loader, or None."""
    try:
        parlance.Format(file)
    except parlance.TemplateError as error:
        return error
    return None


def is_beyond_a_schema(error):
    return error.code in BEYOND_A_SCHEMA or any(
        words in str(error) for words in BEYOND_IN_WORDS
    )


def places_of(value):
    """Every (container, key) inside a JSON value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in list(entries):
        yield value, key
        if isinstance(member, (dict, list)):
            yield from places_of(member)


def misspelled(key, rng):
    at = rng.randrange(len(key))
    return rng.choice([key[:at] + key[at + 1 :], key[:at] + "z" + key[at:]])


def changed(file, rng):
    """A copy of the file with one change that may make it wrong."""
    file = copy.deepcopy(file)
    container, key = rng.choice(list(places_of(file)))
    others = [None, True, False, 7, -1, "", "other", " ", [], {}, ["a"], {"a": 1}]
    kind = rng.randrange(3)
    if kind == 0:
        container[key] = rng.choice(others)
    elif kind == 1:
        del container[key]
    elif isinstance(container, dict):
        container[misspelled(key, rng)] = container[key]
        if rng.random() < 0.5:
            del container[key]
    else:
        container.insert(key, rng.choice(others))
    return file


def built_in_files():
    return [json.loads(parlance.Format(name).source) for name in parlance.formats()]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", parlance.formats())
def test_built_in_files_are_valid(name):
    file = json.loads((FORMATS / f"{name}.json").read_text())
    assert [error.message for error in VALIDATOR.iter_errors(file)] == []
    for variant in parlance.Format(name).variants:
        source = json.loads(parlance.Format(variant).source)
        assert [error.message for error in VALIDATOR.iter_errors(source)] == []


def test_the_sample_has_every_key():
    assert [error.message for error in VALIDATOR.iter_errors(SAMPLE)] == []
    assert parlance.Format(SAMPLE).variants == ["sample_v2"]


@pytest.mark.parametrize("seed", range(40 if os.environ.get("PARLANCE_LONG") else 2))
def test_wrong_files(seed):
    rng = random.Random(seed)
    files = [SAMPLE] * 8 + built_in_files()
    refused = 0
    for _ in range(500):
        file = changed(rng.choice(files), rng)
        if rng.random() < 0.2:
            file = changed(file, rng)
        if "response_template" not in file and "fields" in file:
            continue  # a bare template
        error = error_of(file)
        valid = VALIDATOR.is_valid(file)
        shown = json.dumps(file)
        if valid and error is not None:
            assert is_beyond_a_schema(error), f"only the loader refuses {error}\n{shown}"
        elif not valid and error is None:
            # The template language accepts it; then there is a warning.
            first = next(VALIDATOR.iter_errors(file))
            assert first.absolute_path[0] == "response_template", f"{first}\n{shown}"
            assert parlance.Format(file).lint(), f"{first}\n{shown}"
        refused += error is not None
    assert refused > 150
