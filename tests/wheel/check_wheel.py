"""Uses the installed package as a new user would; run by scripts/wheel with
nothing but Python and the wheel.  Prints a line for each thing tried."""

import importlib.metadata
import pathlib
import sys
import sysconfig

import parlance

# The distribution has a name of its own (pyproject.toml).
(DISTRIBUTION,) = importlib.metadata.packages_distributions()["parlance"]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]
RESPONSE = (
    "<think>Bern, then.</think>Let me look.<tool_call>"
    '{"name": "get_weather", "arguments": {"city": "Bern"}}'
    "</tool_call><|im_end|>"
)


def parses():
    message = parlance.parse_response(
        RESPONSE, "qwen3", prefix="", tools=TOOLS
    )
    assert message["thinking"] == "Bern, then."
    (call,) = message["tool_calls"]
    assert call["function"]["arguments"] == {"city": "Bern"}


def streams():
    parser = parlance.ResponseParser("qwen3", prefix="")
    for character in RESPONSE:
        parser.feed(character)
    message, _ = parser.finalize()
    assert message["content"] == "Let me look."


def constrains():
    grammar = parlance.Format("qwen3").grammar(TOOLS, tool_choice="required")
    vocabulary = parlance.Vocabulary(
        [bytes([byte]) for byte in range(256)] + [b"<end>"],
        control_ids=[256],
        stop_ids=[256],
    )
    constraint = grammar.compile(vocabulary)
    matcher = constraint.matcher()
    mask = bytearray(4 * constraint.mask_words)
    matcher.fill_bitmask(memoryview(mask).cast("i"))
    assert any(mask)


def matches_with_pcre2():
    """A look-behind is a pattern for PCRE2."""
    template = {
        "start_anchor": "<start>",
        "fields": {
            "answer": {
                "open": "<a>",
                "close_pattern": r"(?<=[.!])</a>",
            }
        }
    }
    message = parlance.parse_response("<a>Yes</a>.</a>", template, prefix="")
    assert message["answer"] == "Yes</a>.", message


def has_its_licences():
    files = importlib.metadata.files(DISTRIBUTION)
    names = {file.name for file in files if "licenses" in str(file)}
    assert {"LICENSE", "NOTICE", "PCRE2"} <= names, names
    for file in files:
        if "licenses" in str(file):
            assert pathlib.Path(file.locate()).stat().st_size > 100, file


def main():
    version = importlib.metadata.version(DISTRIBUTION)
    assert version == parlance.__version__
    print(
        f"parlance {version}, Python {sys.version.split()[0]},"
        f" {sysconfig.get_platform()}"
    )
    tried = (parses, streams, constrains, matches_with_pcre2, has_its_licences)
    for function in tried:
        function()
        print("ok", function.__name__)


if __name__ == "__main__":
    main()
