"""The examples in formats/*.md: what a family writes, and the message it is.

Each is parsed whole, by single characters and by single bytes, by the built-in
format and, strictly, by its bare template.  A bare template cannot leave out
white space that belongs to the format, nor read what needs "parlance.read".
"""

import json
import pathlib
import re

import pytest

import parlance

FORMATS = pathlib.Path(__file__).resolve().parents[3] / "formats"
EXAMPLE = re.compile(
    r'<!-- format=(\S+) prefix="(.*?)"(?: tools=(.*?))? -->\n'
    r"(`{3,})response\n(.*?)\n\4\n"
    r"(`{3,})message\n(.*?)\n\6\n",
    re.DOTALL,
)


def examples():
    for path in sorted(FORMATS.glob("*.md")):
        text = path.read_text("utf-8")
        assert text.count("<!-- format=") == len(EXAMPLE.findall(text)), path
        for i, match in enumerate(EXAMPLE.finditer(text)):
            name, prefix, tools, _, response, _, message = match.groups()
            yield pytest.param(
                name,
                json.loads(f'"{prefix}"'),
                json.loads(tools) if tools else None,
                response,
                message,
                id=f"{path.stem}-{i}",
            )


def beyond_templates(field):
    """Whether a bare template cannot read what this reading asks for."""
    return (
        "syntax" in field
        or isinstance(field.get("values"), dict)
        or field.get("members", {}).get("only_key", False)
        or "type_by" in field.get("arguments", {})
    )


def reads_beyond_its_template(name):
    for path in FORMATS.glob("*.json"):
        file = json.loads(path.read_text("utf-8"))
        if "name" not in file:  # the schema of these files
            continue
        if name in (file["name"], *file["parlance"].get("variants", ())):
            reading = file["parlance"].get("read", {})
            return any(map(beyond_templates, reading.values()))
    raise AssertionError(name)


def without_outer_space(message):
    """The message without white space around its texts."""
    out = {}
    for key, value in message.items():
        if isinstance(value, str):
            value = value.strip()
        if value != "":
            out[key] = value
    return out


def parse(spec, prefix, tools, pieces):
    parser = parlance.ResponseParser(spec, prefix, tools=tools)
    for piece in pieces:
        parser.feed(piece)
    message, _ = parser.finalize()
    return parser, message


@pytest.mark.parametrize("name, prefix, tools, response, message", list(examples()))
def test_example(name, prefix, tools, response, message):
    expected = json.loads(message)
    ways = (
        [response],
        list(response),
        [bytes([b]) for b in response.encode()],
    )
    for pieces in ways:
        parser, got = parse(name, prefix, tools, pieces)
        assert json.dumps(got) == json.dumps(expected)
        assert not parser.diagnostics
    if reads_beyond_its_template(name):
        return
    for pieces in ways:
        template = parlance.Format(name).template
        parser, got = parse(template, prefix, tools, pieces)
        assert without_outer_space(got) == without_outer_space(expected)
        assert not parser.diagnostics


def test_every_format_has_examples():
    documented = {path.stem for path in FORMATS.glob("*.md")}
    assert documented == set(parlance.formats())
