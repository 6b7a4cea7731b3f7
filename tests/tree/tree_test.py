"""What is true of every file of the tree."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked():
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    return [n for n in names if n and (ROOT / n).is_file()]


FILES = tracked()


def text_of(name):
    data = (ROOT / name).read_bytes()
    return None if b"\0" in data else data.decode("utf-8", "replace")


# Written apart, so that this file does not hold what it looks for.
FORBIDDEN = {
    "a path of one machine": re.compile(
        r"(?<![\w.$}])/(?:" + "|".join(("work", "tmp", "root", "home")) + r")/"
    ),
    "a package registry's host": re.compile(
        "|".join(
            re.escape(host + "." + top)
            for host, top in (
                ("pypi", "org"),
                ("pythonhosted", "org"),
                ("npmjs", "org"),
                ("npmjs", "com"),
                ("crates", "io"),
            )
        )
    ),
    "a mark of unfinished work": re.compile(
        r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b"
    ),
    # The name belongs to other projects there, and the distribution's own
    # (pyproject.toml) has no release.
    "an installation by the name from a registry": re.compile(
        r"\b(?:pip[\d.]*|pipx|uv|uvx|poetry|pdm|conda|mamba|npm|npx|yarn|pnpm|cargo)"
        r"(?: +(?:add|download|exec|i|install|run|tool|pip|wheel))*"
        r" +(?:[^`\n#;&|]* )?['\"]?par" + r"lance(?:-llm)?(?:['\"`\[=<>~!@ ,;:]|\.?$)"
    ),
}


def test_an_installation_by_the_name_is_found():
    wrong = FORBIDDEN["an installation by the name from a registry"]
    name = "par" + "lance"
    for line in (
        f"pip install {name}",
        f"`pip install {name}`",
        f"$ python -m pip install -q '{name}[x]' vllm",
        f"pip3 install -U vllm {name}==1.0",
        f"uv pip install {name}.",
        f"uv add {name}",
        f"uvx {name} parse",
        f"npm i {name}",
        f"pip install {name}-llm",
    ):
        assert wrong.search(line), line
    for line in (
        "pip install . vllm",
        f"pip install dist/{name}-0.1-cp311.whl",
        f"pip install ./{name}",
        f"pip install . vllm  # in a checkout of {name}",
        f"pip install vllm; {name} parse",
    ):
        assert not wrong.search(line), line

# Inputs of tests may say anything, and so may the words of a licence.
FREE = ("conformance/", "tests/data/", "tests/fuzz/corpus/", "docs/demo/", "formats/")


@pytest.mark.parametrize("what", sorted(FORBIDDEN))
def test_no_file_holds(what):
    found = []
    for name in FILES:
        if name.startswith(FREE):
            continue
        text = text_of(name)
        if text is None:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if FORBIDDEN[what].search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


# A program that embeds the library may have set any locale.
BY_LOCALE = re.compile(
    r"\b(?:strto(?:d|f|ld)|ato[fil]|sto(?:d|f|ld)|setlocale"
    r"|is(?:alnum|alpha|digit|lower|print|punct|space|upper|xdigit)"
    r"|to(?:lower|upper))\("
)


def test_no_locale_decides_what_the_library_reads():
    assert BY_LOCALE.search("std::strtod(text, &end)")
    found = [
        f"{name}:{number}: {line.strip()}"
        for name in FILES
        if name.startswith(("src/", "bindings/c/")) and name.endswith((".cc", ".h"))
        for number, line in enumerate(text_of(name).splitlines(), 1)
        if BY_LOCALE.search(line.partition("//")[0])
    ]
    assert not found, "\n".join(found)


def test_scripts_can_be_run():
    names = [
        n
        for n in FILES
        if (n.startswith("scripts/") or n == ".ci/run")
        and (ROOT / n).read_bytes().startswith(b"#!")
    ]
    assert {"scripts/setup", "scripts/test", "scripts/demo"} <= set(names)
    for name in names:
        assert os.access(ROOT / name, os.X_OK), f"{name} has no run bit"


def test_text_files_end_in_one_newline():
    wrong = []
    for name in FILES:
        if name.startswith(FREE):
            continue
        text = text_of(name)
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            wrong.append(name)
    assert not wrong, wrong


def test_header_guards_follow_the_path():
    wrong = []
    for name in FILES:
        path = pathlib.PurePosixPath(name)
        if path.suffix != ".h" or path.parts[0] not in ("include", "src"):
            continue
        # Wings are no part of a header's name, and parlance/ is that of them all.
        parts = ("parlance",) + ("src",) * (path.parts[0] == "src") + path.parts[2:]
        if len(path.parts) == 2:
            parts = path.parts[1:]
        guard = "_".join(re.sub(r"\W", "_", p).upper() for p in parts)
        lines = text_of(name).splitlines()
        guards = [line for line in lines if line.startswith("#ifndef")]
        if not guards or guards[0] != f"#ifndef {guard}_":
            wrong.append(f"{name}: expected {guard}_")
    assert not wrong, "\n".join(wrong)


def test_generated_files_name_their_generator():
    for name in FILES:
        if not name.endswith((".cc", ".h", ".inc", ".rs")):
            continue
        first = text_of(name).split("\n", 1)[0]
        match = re.match(r"// [Gg]enerated by (\S+) from ", first)
        if first.lower().startswith("// generated"):
            assert match, f"{name}: {first}"
            assert (ROOT / match.group(1)).exists(), f"{name}: {first}"


def test_relative_links_lead_somewhere():
    link = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
    wrong = []
    for name in FILES:
        if not name.endswith(".md") or name.startswith(("tests/", "formats/")):
            continue
        in_code = False
        for line in text_of(name).splitlines():
            if line.lstrip().startswith("```"):
                in_code = not in_code
            if in_code:
                continue
            for target in link.findall(re.sub(r"`[^`]*`", "", line)):
                if not (ROOT / name).resolve().parent.joinpath(target).exists():
                    wrong.append(f"{name}: {target}")
    assert not wrong, "\n".join(wrong)


def test_the_index_of_the_documentation_is_complete():
    text = text_of("docs/index.md")
    missing = [
        name
        for name in FILES
        if re.fullmatch(r"docs/(guide/|reference/|design/)?[\w-]+\.md", name)
        and name != "docs/index.md"
        and f"({name.removeprefix('docs/')})" not in text
    ]
    assert not missing, missing


def test_the_module_uses_the_stable_abi_only():
    """Macros that look into objects are no part of it: with them the module
    compiles for Python 3.10 and 3.11, which get modules of their own, and for
    no newer one."""
    macro = re.compile(r"\bPy[A-Z]\w*_(?:GET_\w+|AS_\w+|SET_ITEM|READ|DATA)\(")
    found = [
        f"{name}: {use}"
        for name in FILES
        if re.fullmatch(r"bindings/python/\w+\.(cc|h)", name)
        for use in macro.findall(text_of(name))
    ]
    assert not found, found


# What pages say of other programs is tested with the version that they name.
NAMED = [
    ("docs/guide/transformers.md", "transformers", "dev"),
    ("docs/reference/differences.md", "transformers", "dev"),
    ("docs/guide/xgrammar.md", "XGrammar", "peers"),
    ("docs/guide/llguidance.md", "llguidance", "peers"),
    ("docs/guide/mlx-lm.md", "mlx-lm", "peers"),
    ("docs/guide/vllm.md", "vLLM", "engines/vllm"),
    ("docs/guide/sglang.md", "SGLang", "engines/sglang"),
    ("docs/guide/outlines.md", "Outlines", "engines/outlines"),
    ("docs/guide/litellm.md", "LiteLLM", "engines/litellm"),
]


@pytest.mark.parametrize(("page", "program", "list_"), NAMED)
def test_pages_name_the_versions_that_are_tested(page, program, list_):
    pins = (ROOT / f"requirements/{list_}.txt").read_text()
    name = re.escape(program.lower())
    (pinned,) = re.findall(rf"^{name}==([\d.]+)", pins, re.MULTILINE)
    text = (ROOT / page).read_text()
    named = re.findall(rf"\b{re.escape(program)} (\d+(?:\.\d+)+)", text)
    assert named, f"{page} names no version of {program}"
    for version in named:
        assert f"{pinned}.".startswith(f"{version}."), (page, version, pinned)


# What may stand in these files alone, and in which sources it is looked for.
ONLY_IN = {
    "what depends on the operating system": (
        ("src/", "cli/", "include/"),
        {
            "src/foundation/base/system.cc",
            "cli/system.cc",
            "include/parlance_c.h",  # a C compiler is told what is exported
        },
        r"\b_WIN(?:32|64)\b|__MINGW\w*|__(?:APPLE|linux|unix|ANDROID|EMSCRIPTEN)__"
        r"|__wasm__|__wasm32__|__wasi__|<(?:filesystem|fstream)>"
        r"|<(?:unistd|fcntl|windows|io|process|dlfcn|termios|pthread|sys/\w+)\.h>",
    ),
    "locks and threads": (
        ("src/", "include/"),
        {"src/foundation/base/mutex.h"},
        r"\bstd::(?:j?thread|async|condition_variable"
        r"|(?:shared_|recursive_)?mutex|shared_lock)\b"
        r"|<(?:shared_mutex|condition_variable|thread|future)>",
    ),
    "vectors of bytes": (
        ("src/", "cli/", "include/"),
        {"src/foundation/base/byte_vector.h"},
        r"__SSE|__ARM_NEON|__wasm_simd|<\w*(?:intrin|neon)\.h>|\b_mm_\w+",
    ),
}


@pytest.mark.parametrize("what", ONLY_IN)
def test_what_differs_between_platforms_stands_in_one_file(what):
    folders, own, pattern = ONLY_IN[what]
    sources = {n for n in FILES if n.startswith(folders) and n.endswith((".cc", ".h"))}
    assert own <= sources
    wrong = [
        f"{name}: {found[0]}"
        for name in sorted(sources - own)
        if (found := re.search(pattern, text_of(name)))
    ]
    assert not wrong, "\n".join([what, *wrong])
