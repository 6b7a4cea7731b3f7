"""The examples in formats/*.md: what a family writes, and the message it is.

Each is parsed whole, by single characters and by single bytes, by the built-in
format and, strictly, by its bare template.
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


def parse(spec, prefix, tools, pieces):
    parser = parlance.ResponseParser(spec, prefix, tools=tools)
    for piece in pieces:
        parser.feed(piece)
    message, _ = parser.finalize()
    return parser, message


@pytest.mark.parametrize("name, prefix, tools, response, message", list(examples()))
def test_example(name, prefix, tools, response, message):
    expected = json.loads(message)
    for spec in (name, parlance.Format(name).template):
        for pieces in (
            [response],
            list(response),
            [bytes([b]) for b in response.encode()],
        ):
            parser, got = parse(spec, prefix, tools, pieces)
            assert json.dumps(got) == json.dumps(expected)
            assert not parser.diagnostics


def test_every_format_has_examples():
    documented = {path.stem for path in FORMATS.glob("*.md")}
    assert documented == set(parlance.formats())
