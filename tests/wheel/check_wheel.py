"""Uses the installed package as a new user would; run by scripts/wheel with
nothing but Python and the wheel.  Prints a line for each thing tried.

    python check_wheel.py [FOLDER [README [EMULATOR...]]]

FOLDER is where the package lies, "" if Python finds it; the first example
of the README is run, too.  EMULATOR are the words that Python itself is started
by, if it is of another processor."""

import contextlib
import csv
import importlib.metadata
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig

if len(sys.argv) > 1 and sys.argv[1]:
    sys.path.insert(0, sys.argv[1])

import parlance  # noqa: E402

# The distribution has a name of its own (pyproject.toml).
# packages_distributions() of CPython 3.10 asks for a file that a wheel need not have.
(DISTRIBUTION,) = {
    found.metadata["Name"]
    for found in importlib.metadata.distributions()
    if any(file.as_posix() == "parlance/__init__.py" for file in found.files or ())
}
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


def command(*arguments, text=""):
    """Its output, by the way that needs no script."""
    place = str(pathlib.Path(parlance.__file__).parents[1])
    done = subprocess.run(
        [*sys.argv[3:], sys.executable, "-m", "parlance", *arguments],
        input=text.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": place},
    )
    assert done.returncode == 0 and done.stderr == b"", done
    return done.stdout.decode()


def has_the_command():
    assert command("--version") == f"parlance {parlance.__version__}\n"
    # Bytes that a text mode changes.
    text = "<think>Bern, then.</think>Let me\r\nlook:\x1aZ\u00fcrich"
    message = json.loads(command("parse", "--format", "qwen3", text=text))
    assert message["thinking"] == "Bern, then."
    assert message["content"] == text.partition("</think>")[2], message
    assert "qwen3" in command("formats")


def has_its_files():
    files = importlib.metadata.files(DISTRIBUTION)
    licences = {file.name for file in files if "licenses" in str(file)}
    assert licences >= {"LICENSE", "NOTICE"}, licences
    # Where `pip install --target` has put them, its record does not say, and
    # `files` leaves out what is not there: so the record itself.
    record = importlib.metadata.distribution(DISTRIBUTION).read_text("RECORD")
    sizes = {name: size for name, _, size in csv.reader(record.splitlines())}
    shared = [name for name in sizes if "share" in name.split("/")]
    assert len(shared) == 4, shared
    for name, size in sizes.items():
        if "licenses" in name or name in shared:
            assert int(size) > 100, name
    notice = next(file for file in files if file.name == "NOTICE")
    for name in ("PCRE2", "zlib", "Zstandard"):
        assert name in notice.read_text(), name


def runs_the_first_example():
    if len(sys.argv) < 3:
        return
    text = pathlib.Path(sys.argv[2]).read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.S)[1]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README", "exec"), {})
    expected = re.findall(r"^#> (.*)$", code, re.M)
    assert output.getvalue().splitlines() == expected, output.getvalue()


def main():
    version = importlib.metadata.version(DISTRIBUTION)
    assert version == parlance.__version__
    print(
        f"parlance {version}, Python {sys.version.split()[0]},"
        f" {sysconfig.get_platform()}"
    )
    tried = (parses, streams, constrains, matches_with_pcre2, has_the_command)
    tried += (has_its_files, runs_the_first_example)
    for function in tried:
        function()
        print("ok", function.__name__)


if __name__ == "__main__":
    main()
