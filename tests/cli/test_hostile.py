"""What a model, a client or the name of a file can bring into the command:
nothing controls the terminal, all JSON is JSON, and every end is one with a
message and a status."""

import json
import os
import pty
import resource
import subprocess

import pytest
from model_folder import write_model

# The controls of C0, DEL, of C1 and the marks of direction, with those that are
# bytes of no text.
CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u061c", "\u200e",
            "\u200f", *map(chr, range(0x202A, 0x202F)),
            *map(chr, range(0x2066, 0x2070))]
HARMLESS = "\t\n"
ALL = "".join(c for c in CONTROLS if c not in "\t\n\r")
HOSTILE = "a\x1b]0;x\x07b\u009b31mc\x7fd\u202ee\u2066f" + ALL


def controls_in(output):
    text = output.decode()  # it is UTF-8
    return {c for c in text if c in CONTROLS and c not in HARMLESS}


def run(command, *arguments, cwd=None, **options):
    return subprocess.run([command, *map(os.fsencode, map(str, arguments))],
                          capture_output=True, timeout=60, cwd=cwd, **options)


def json_escaped(text):
    """As a model writes it in JSON: some of it is allowed there as it is."""
    return "".join(f"\\u{ord(c):04x}" if c < " " else c for c in text)


CALL = ('<tool_call>{"name": "f", "arguments": {"x": "' + json_escaped(HOSTILE)
        + '"}}</tool_call>')
RESPONSE = f"<think>{HOSTILE}</think>{HOSTILE}{CALL}"
BROKEN = f"<tool_call>{{{HOSTILE}</tool_call>x"

VIEWS = [
    ("watch", "-f", "qwen3"),
    ("watch", "-f", "qwen3", "--chunk", "3"),
    ("watch", "-f", "qwen3", "--chunk", "3", "--color", "never"),
    ("parse", "-f", "qwen3"),
    ("parse", "-f", "qwen3", "--pretty"),
    ("parse", "-f", "qwen3", "--chat"),
    ("parse", "-f", "qwen3", "--events"),
    ("parse", "-f", "qwen3", "--events", "--chunk", "1"),
    ("parse", "-f", "qwen3", "--strict"),
    ("explain", "-f", "qwen3"),
    ("explain", "-f", "qwen3", "--chunk", "5"),
    ("explain", "-f", "qwen3", "--json"),
    ("explain", "--regex", "a.*"),
    ("accept", "--regex", "b"),
    ("accept", "--regex", "[^z]*z"),
]


@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
@pytest.mark.parametrize("response", [RESPONSE, BROKEN], ids=["whole", "broken"])
def test_a_model_controls_no_terminal(command, view, response):
    result = run(command, *view, input=response.encode() + b"\xff\xc2")
    assert result.returncode in (0, 1)
    assert result.stdout + result.stderr
    assert not controls_in(result.stdout) and not controls_in(result.stderr)


@pytest.mark.parametrize("options", [(), ("--events",)])
def test_server_sent_events(command, options):
    text = "".join(
        "data: " + json.dumps({"choices": [{"delta": {"content": part}}]}) + "\n\n"
        for part in (RESPONSE, BROKEN))
    text += "data: " + json.dumps({"error": HOSTILE}) + "\n\ndata: {" + "\n\n"
    result = run(command, "parse", "-f", "qwen3", "--sse", *options,
                 input=text.encode())
    assert result.returncode == 1
    assert not controls_in(result.stdout) and not controls_in(result.stderr)
    result = run(command, "watch", "-f", "qwen3", "--sse", input=text.encode())
    assert not controls_in(result.stdout) and not controls_in(result.stderr)


@pytest.mark.parametrize("options", [(), ("--details",), ("--chat",), ("--strict",)])
def test_stored_responses(command, tmp_path, options):
    rows = [{"id": HOSTILE, "response": text} for text in (RESPONSE, BROKEN)]
    rows += [{"id": 1, "response": HOSTILE, "prefix": 3}]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text += '{"response" ' + ALL + "\n"
    # U+0085 and others are no ends of lines here.
    result = run(command, "parse", "-f", "qwen3", "--jsonl", "--id", "id",
                 *options, input=text.encode())
    assert result.returncode == 1
    assert not controls_in(result.stdout) and not controls_in(result.stderr)
    whole = json.loads(result.stdout.split(b"\n")[0])
    assert whole["id"] == HOSTILE


def test_json_reads_back(command):
    result = run(command, "parse", "-f", "qwen3", input=RESPONSE.encode())
    message = json.loads(result.stdout)
    assert message["content"] == HOSTILE
    (call,) = message["tool_calls"]
    assert call["function"]["arguments"]["x"] == HOSTILE


def test_names_of_files(command, tmp_path):
    name = "x\x1b[31m\u009b\u202e\n"
    (tmp_path / f"{name}.json").write_text("{")
    for arguments in (
        ("parse", "-f", "qwen3", name), ("parse", "-t", f"./{name}.json"),
        ("check", f"{name}.json"), ("check", "--schema", f"{name}.json"),
        ("parse", "-f", f"{name}.json"), ("parse", "-f", name),
        ("accept", "--schema", f"{name}.json"), ("convert", f"{name}.json"),
        ("render", "-f", "qwen3", f"{name}.json"), ("mask", "--vocabulary", name,
                                                    "--regex", "a"),
        ("parse", "-f", "qwen3", "--jsonl", "-o", f"{name}/x", f"{name}.json"),
        ("parse", "-f", "qwen3", "--jsonl", name, name),
        ("parse", name, f"-{name}", f"--{name}"), (name,),
        ("parse", "-f", "qwen3", "--tag", "{" + name),
        ("explain", "-f", "qwen3", "--json", "-o", f"{name}/x", f"{name}.json"),
    ):
        result = run(command, *arguments, cwd=tmp_path, stdin=subprocess.DEVNULL)
        assert result.returncode in (1, 2), arguments
        shown = result.stdout + result.stderr
        assert shown and not controls_in(shown), (arguments, shown)


def on_a_terminal(command, *arguments, text=b""):
    main, terminal = pty.openpty()
    try:
        process = subprocess.Popen([command, *arguments], stdin=subprocess.PIPE,
                                   stdout=terminal, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "NO_COLOR": "1"})
        os.close(terminal)
        process.communicate(text)
        out = b""
        while True:
            try:
                part = os.read(main, 1 << 16)
            except OSError:
                return out
            if not part:
                return out
            out += part
    finally:
        os.close(main)


@pytest.mark.parametrize("arguments, text", [
    (("render", "-f", "qwen3"),
     json.dumps({"role": "assistant", "content": HOSTILE.replace("\x1c", "")})),
])
def test_bytes_are_raw_only_where_there_is_no_terminal(command, arguments, text):
    result = run(command, *arguments, input=text.encode())
    assert result.returncode == 0, result
    assert "\x1b" in result.stdout.decode() and "\u009b" in result.stdout.decode()
    shown = on_a_terminal(command, *arguments, text=text.encode())
    assert shown and not controls_in(shown.replace(b"\r\n", b"\n"))


# ---- JSON


def no_name(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("options", [
    (), ("--chat",), ("--events",), ("--jsonl",), ("--jsonl", "--chat"),
    ("--jsonl", "--details", "--keep", "*"),
])
@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e999999", "NaN", "Infinity",
                                    "-Infinity"])
def test_what_is_written_as_json_is_json(command, options, number):
    response = ('<tool_call>{"name": "f", "arguments": {"NaN": "Infinity, NaN", '
                f'"x": [{number}]}}}}</tool_call>')
    text = response
    if "--jsonl" in options:
        text = '{"response": %s, "x": %s}' % (json.dumps(response), number)
    result = run(command, "parse", "-f", "qwen3", *options, input=text.encode())
    assert result.returncode == 0, result
    want = {"NaN": None}.get(number, float(number))

    def check(value):
        if isinstance(value, dict):
            for name, item in value.items():
                if name == "x":
                    assert item in (want, [want])
                elif name == "arguments" and isinstance(item, str):
                    check(json.loads(item, parse_constant=no_name))
                else:
                    check(item)
        if isinstance(value, list):
            for item in value:
                check(item)

    for line in result.stdout.decode().splitlines():
        check(json.loads(line, parse_constant=no_name))
    assert b"Infinity, NaN" in result.stdout


def test_formats_are_written_as_json(command, tmp_path):
    """What is shown of a file is the same value without names and controls."""
    value = HOSTILE + "NaN Infinity"
    text = json.dumps(
        {"start_anchor": "<s>", "fields": {"content": {"content": "text"}},
         "defaults": {value: value, "n": [float("inf"), float("-inf"), 1]}},
        ensure_ascii=False)
    (tmp_path / "f.json").write_text(text)
    for options in ((), ("--file",)):
        result = run(command, "formats", "./f.json", *options, cwd=tmp_path)
        assert result.returncode == 0 and not controls_in(result.stdout), result
        made = json.loads(result.stdout, parse_constant=no_name)
        assert made["defaults"] == json.loads(text)["defaults"]
    schema = {"type": "object", "properties": {
        "role": {"const": value}, "content": {"type": "string"}},
        "x-regex": "(?P<content>.*)"}
    (tmp_path / "s.json").write_text(json.dumps(schema, ensure_ascii=False))
    result = run(command, "convert", "s.json", cwd=tmp_path)
    assert not controls_in(result.stdout + result.stderr)
    if result.returncode == 0:
        json.loads(result.stdout, parse_constant=no_name)


# ---- Arguments and resources


@pytest.mark.parametrize("threads", ["10000", "18446744073709551615", "0", "-1", "x",
                                     "99999999999999999999999"])
def test_an_absurd_number_of_threads(command, threads):
    result = run(command, "parse", "-f", "qwen3", "--jsonl", "-j", threads,
                 input=b'"a"\n')
    assert result.returncode == 2
    assert b"it must be a whole number from 1 to 1024, not" in result.stderr


def limited(what, value):
    return lambda: resource.setrlimit(what, (value, value))


@pytest.mark.parametrize("spare", [2, 6, 12, 20, 40])
def test_threads_that_are_refused(command, tmp_path, spare):
    """By the limit of the address space: a thread has a stack of 8 MiB."""
    (tmp_path / "in").write_text('"a"\n' * 2_000)
    base = 40 << 20
    result = run(
        command, "parse", "-f", "qwen3", "--jsonl", "-j", "1024", "in",
        cwd=tmp_path,
        preexec_fn=limited(resource.RLIMIT_AS, base + (spare << 20)))
    if result.returncode == 0:
        assert len(result.stdout.splitlines()) == 2_000
    else:
        assert result.returncode == 2, result.returncode
        assert result.stderr.startswith(b"parlance: ")


@pytest.mark.parametrize("megabytes", [60, 90, 150, 250])
@pytest.mark.parametrize("options", [("--jsonl",), (), ("--events",)])
def test_no_memory(command, tmp_path, megabytes, options):
    with open(tmp_path / "in", "w") as out:
        out.write(json.dumps("x" * 30_000_000) + "\n")
    result = run(
        command, "parse", "-f", "qwen3", *options, "in", cwd=tmp_path,
        preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))
    if result.returncode != 0:
        assert result.returncode == 2, result.returncode
        assert result.stderr == b"parlance: out of memory\n"


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_closed_descriptors(command, tmp_path, closed):
    (tmp_path / "in").write_text('"a"\n{\n')
    result = subprocess.run(
        [command, "parse", "-f", "qwen3", "--jsonl", "in", "-o", "out",
         "--errors", "e"],
        cwd=tmp_path, preexec_fn=lambda: [os.close(n) for n in closed],
        stdin=subprocess.DEVNULL, timeout=60)
    assert result.returncode == 1
    assert [json.loads(line).get("content")
            for line in (tmp_path / "out").read_text().splitlines()] == ["a", None]
    assert len((tmp_path / "e").read_text().splitlines()) == 1


def test_what_takes_a_closed_descriptor_fails(command):
    result = subprocess.run([command, "formats"], stderr=subprocess.PIPE,
                            preexec_fn=lambda: os.close(1))
    assert result.returncode == 2
    assert b"cannot write to standard output" in result.stderr
    result = subprocess.run([command, "parse", "-f", "qwen3"],
                            stderr=subprocess.PIPE, preexec_fn=lambda: os.close(0))
    assert result.returncode == 2 and b"cannot read <stdin>" in result.stderr


@pytest.mark.parametrize("arguments, name", [
    (("parse", "-f", "qwen3", ""), "FILE"),
    (("parse", "-f", "qwen3", "--jsonl", "in", ""), "FILE"),
    (("parse", "-f", "qwen3", "--jsonl", "-o", "", "in"), "--output"),
    (("watch", "-f", "qwen3", ""), "FILE"),
    (("check", ""), "FILE"),
    (("check", "--schema", ""), "--schema"),
    (("accept", "--schema", "", "x"), "--schema"),
    (("explain", "-f", "qwen3", ""), "FILE"),
    (("render", "-f", "qwen3", ""), "FILE"),
    (("convert", ""), "FILE"),
    (("mask", "--regex", "a", "--vocabulary", ""), "--vocabulary"),
    (("parse", "-t", ""), "--template"),
    (("parse", "-f", "qwen3", "--tools", ""), "--tools"),
])
def test_an_empty_name_is_no_file(command, tmp_path, arguments, name):
    (tmp_path / "in").write_text('"a"\n')
    result = run(command, *arguments, cwd=tmp_path, input=b"x")
    assert result.returncode == 2
    assert f"{name}: the name of the file is empty" in result.stderr.decode()


@pytest.mark.parametrize("arguments", [
    ("parse", "-f", "qwen3", "--prefix-file", "-"),
    ("parse", "-f", "qwen3", "--tools", "-", "-"),
    ("parse", "-f", "qwen3", "--tools", "-", "--jsonl"),
    ("watch", "-f", "qwen3", "--tools", "-"),
    ("render", "-f", "qwen3", "--tools", "-", "-"),
    ("accept", "--schema", "-", "-"),
])
def test_standard_input_is_read_once(command, arguments):
    """The second reader would get nothing, and take that for an answer."""
    text = b"{}" if "--schema" in arguments else b"[]"
    result = run(command, *arguments, input=text)
    assert result.returncode == 2, result
    assert b"standard input is named twice" in result.stderr


@pytest.mark.parametrize("option", ["-n", "--count", "--tokens", "--max-tokens",
                                    "--seed"])
@pytest.mark.parametrize("value", ["-1", "1.5", "", "0x10", "1e3",
                                   "18446744073709551616"])
def test_numbers_are_whole(command, tmp_path, vocabulary, option, value):
    result = run(command, "sample", "--regex", "a", "--vocabulary", vocabulary,
                 f"{option}={value}", cwd=tmp_path)
    assert result.returncode == 2, result
    assert option.lstrip("-").encode() in result.stderr or option == "-n"


def test_a_vocabulary_that_cannot_write_what_must_come(command, tmp_path):
    write_model(tmp_path / "two", [b"a", b"b"], ["<end>"], 2)
    for regex in ("ab*c", "c", "(ab)+c"):
        for seed in range(5):
            result = run(command, "sample", "--regex", regex, "--vocabulary",
                         "two", "--seed", seed, cwd=tmp_path)
            assert result.returncode in (1, 2), result.returncode
            if result.returncode == 2:
                assert b"has no token that may come after" in result.stderr
                assert b'where the grammar expects "c"' in result.stderr or (
                    b"expects" in result.stderr)


@pytest.mark.parametrize("indent", [100_000_000, 2**31, 2**32 - 1])
def test_an_indentation_takes_no_memory(command, tmp_path, vocabulary, indent):
    """A request may choose it."""
    (tmp_path / "schema").write_text('{"type": "array", "items": {"type": "array"}}')
    for text, status in (("[]", 0), ("[\n   x", 1), ("[[", 1), ("[\n  ", 1)):
        result = run(command, "accept", "-s", "schema", "--indent", indent,
                     cwd=tmp_path, input=text.encode(),
                     preexec_fn=limited(resource.RLIMIT_AS, 400 << 20))
        assert result.returncode == status, result
        assert b"memory" not in result.stderr
    result = run(command, "mask", "-s", "schema", "--indent", indent, "--ids",
                 "--text", "[\n ", "--vocabulary", vocabulary, cwd=tmp_path,
                 preexec_fn=limited(resource.RLIMIT_AS, 400 << 20))
    assert result.returncode == 0 and json.loads(result.stdout) == [32], result
