"""The examples of the README, and of pages that follow its conventions, run.

    ```python    a program; lines that begin with "#> " are what it prints
    ```cpp, c    the same with "//> "
    ```console   lines that begin with "$ " are commands; what follows one,
                 up to the next, is what it prints

An example that imports a library of tables runs where it is installed, which is
the environment of ``scripts/test data``; one that imports an engine is run by
``scripts/test engines``.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/reference/grammars.md",
    "docs/reference/harmony.md",
    "docs/reference/integrations.md",
    "docs/reference/argument-styles.md",
    "docs/reference/structural-tags.md",
    "docs/reference/tag-reading.md",
    "docs/reference/tool-calling.md",
] + sorted(
    str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "guide").glob("*.md")
)

# These are steps of the gate that runs this test, and so is what stands in
# scripts/ and build/.
NOT_RUN = ("cmake", "ctest", "git", "pip")

TABLES = (
    "daft", "datasets", "duckdb", "pandas", "polars", "pyarrow", "pyspark", "ray"
)

ENGINES = ("llama_cpp", "outlines")

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks():
    for page in PAGES:
        text = (ROOT / page).read_text()
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield pytest.param(
                match.group(1), match.group(2), id=f"{page}:{line}"
            )


def build_folder():
    probes = os.environ.get("PARLANCE_PROBE_DIR")
    return pathlib.Path(probes).parent if probes else ROOT / "build" / "dev"


def built_folder():
    folder = build_folder()
    assert (folder / "src" / "libparlance.a").exists(), (
        f"no library in {folder}; build it with: cmake --workflow --preset dev"
    )
    return folder


def run(command, **options):
    folders = [build_folder() / "bin", pathlib.Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PATH": path},
        **options,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def expected_output(code, mark):
    lines = [line.strip() for line in code.splitlines()]
    return [
        line.removeprefix(mark).lstrip()
        for line in lines
        if line.startswith(mark)
    ]


def printed(output):
    return [line.strip() for line in output.splitlines()]


def skip_what_needs_more(code):
    for name in TABLES:
        if re.search(rf"^\s*(import|from) {name}\b", code, re.M):
            if importlib.util.find_spec(name) is None:
                pytest.skip(f"{name} is not installed; see scripts/test data")
    for name in ENGINES:
        if re.search(rf"^\s*(import|from) {name}\b", code, re.M):
            pytest.skip(f"{name} runs a model; see scripts/test engines")


def run_python(code, folder):
    skip_what_needs_more(code)
    program = folder / "example.py"
    program.write_text(code)
    output = run([sys.executable, str(program)], cwd=folder)
    assert printed(output) == expected_output(code, "#>")


def output_of_cpp(program, folder):
    build = built_folder()
    run(
        ["g++", "-std=c++20", "-D_GLIBCXX_ASSERTIONS", "-Wall", "-Werror"]
        + [f"-I{ROOT / 'include'}", str(program), "-o", str(folder / "example")]
        + [str(build / "src" / "libparlance.a"), "-lpcre2-8", "-pthread"]
    )
    return run([str(folder / "example")], cwd=folder)


def run_cpp(code, folder):
    program = folder / "example.cc"
    program.write_text(code)
    output = output_of_cpp(program, folder)
    assert printed(output) == expected_output(code, "//>")


def output_of_c(program, folder):
    libraries = built_folder() / "bindings" / "c"
    run(
        ["gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
        + [f"-I{ROOT / 'include'}", str(program), "-o", str(folder / "example")]
        + [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lparlance-c"]
    )
    return run([str(folder / "example")], cwd=folder)


def run_c(code, folder):
    program = folder / "example.c"
    program.write_text(code)
    output = output_of_c(program, folder)
    assert printed(output) == expected_output(code, "//>")


def run_console(code, folder):
    commands = []
    for line in code.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands and commands[-1][0].endswith("\\"):
            commands[-1] = (commands[-1][0] + "\n" + line, commands[-1][1])
        elif commands:
            commands[-1][1].append(line.strip())
    assert commands, "no command begins with '$ '"
    if re.search(r"(?<!-m )\bparlance ", code):
        built_folder()
    if "python -m parlance" in code:
        skip_what_needs_more("import pyarrow")
    for command, output in commands:
        word = command.split()[0]
        if word in NOT_RUN or word.startswith(("scripts/", "build/")):
            if word.startswith("scripts/"):
                assert os.access(ROOT / word, os.X_OK), f"{word} is not there"
            continue
        shown = printed(run(["bash", "-c", command], cwd=ROOT))
        assert shown == output, command


def run_go(code, folder):
    files = ["example_test.go", "examples/message/main.go"]
    run = [(ROOT / "bindings" / "go" / name).read_text() for name in files]
    assert any(code in text for text in run)
    pytest.skip("bindings/go/check runs it")


def run_rust(code, folder):
    # The crate's documentation has the page (bindings/rust/parlance/guide.md).
    assert code in (ROOT / "bindings" / "rust" / "parlance" / "guide.md").read_text()
    pytest.skip("bindings/rust/check runs it")


def run_javascript(code, folder):
    pytest.skip("bindings/node/check runs it")


RUNNERS = {
    "python": run_python, "cpp": run_cpp, "c": run_c, "console": run_console,
    "go": run_go, "rust": run_rust, "javascript": run_javascript,
}


@pytest.mark.parametrize("language, code", list(blocks()))
def test_example(language, code, tmp_path):
    if language in RUNNERS:
        RUNNERS[language](code, tmp_path)
    else:
        # Pages may show data; a language that could run must not hide here.
        assert language in ("json", "text", "yaml"), language


# What scripts/test install builds against an installed library, against the
# built one.  The project says what each program prints.
EXAMPLES = ROOT / "docs" / "examples"


@pytest.mark.parametrize(
    "program", sorted(p.name for p in EXAMPLES.glob("*.c*") if p.is_file())
)
def test_program(program, tmp_path):
    path = EXAMPLES / program
    output = (output_of_cpp if path.suffix == ".cc" else output_of_c)(path, tmp_path)
    (expected,) = re.findall(
        rf'example_{path.stem} PROPERTIES PASS_REGULAR_EXPRESSION\s+"(.*)"',
        (EXAMPLES / "CMakeLists.txt").read_text(),
    )
    assert re.search(expected, output, re.S), output


def test_readme_names_its_two_commands():
    text = (ROOT / "README.md").read_text()
    for command in ("scripts/demo", "scripts/test"):
        assert command in text
        assert shutil.which(str(ROOT / command)), command


def test_the_picture_is_true():
    """What the picture shows on its right is what is parsed of its left."""
    parlance = pytest.importorskip("parlance")
    root = xml.etree.ElementTree.parse(ROOT / "docs" / "picture.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    shown = {
        group.get("id"): [text.text for text in group.iter(name + "text")]
        for group in root.iter(name + "g")
    }
    message = parlance.parse_response(
        "\n".join(shown["response"]), "qwen3", prefix=""
    )
    (call,) = message["tool_calls"]
    arguments = call["function"]["arguments"].items()
    assert shown["message"] == [
        "thinking",
        "  " + message["thinking"],
        "content",
        "  " + message["content"].rstrip("\n"),
        "tool_calls",
        "  " + call["function"]["name"],
        *(f'    {key}: "{value}"' for key, value in arguments),
    ]


def test_the_readme_has_examples():
    languages = {p.values[0] for p in blocks() if p.id.startswith("README.md")}
    assert {"python", "cpp", "console"} <= languages
