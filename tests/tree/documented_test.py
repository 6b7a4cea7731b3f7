"""What users can name is named in a page.

Public headers, the Python package, the options of the command, those of the build
and environment variables.  (Keys of format files: test_format_guide.py.  The names
of XGrammar's and llguidance's interfaces: test_interface_names.py.)
"""

import importlib
import inspect
import os
import pathlib
import pkgutil
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
}
# "-DNAME" is an option of CMake.
WORDS = set(re.findall(r"(?:(?<=-D)|\b)[A-Za-z_]\w*", "\n".join(PAGES.values())))
CPP = PAGES["docs/reference/cpp.md"]
CLI = PAGES["docs/reference/cli.md"]


def code_of(header):
    text = re.sub(r"//.*", "", header.read_text())
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


HEADERS = sorted((ROOT / "include" / "parlance").glob("*.h"))
INNER = {"access.h", "parlance.h"}  # no interface of their own


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_types_and_functions_of_headers(header):
    if header.name in INNER:
        return
    assert f"include/parlance/{header.name})" in CPP
    code = code_of(header)
    names = re.findall(
        r"^(?:class|struct|enum class) (\w+)[^;{]*\{|^(?:using|concept) (\w+)", code, re.M
    )
    # Functions of namespaces begin in the first column.
    names += re.findall(r"^(?!typedef|using)[\w:][\w:<>,\s&*]*?\b([a-z]\w+)\(", code, re.M)
    flat = {name for found in names for name in ([found] if isinstance(found, str) else found)}
    missing = flat - {""} - set(re.findall(r"\w+", CPP)) - {"to_string", "operator"}
    assert not missing


def number_of(text):
    """Of `990`, `4'000'000` or `std::size_t{256} << 20`, or of their pages' form."""
    text = text.replace("'", "").replace(",", "")
    if found := re.fullmatch(r"(?:std::size_t\{)?(\d+)\}? (?:<< 20|MiB)", text):
        return int(found[1]) << 20
    if found := re.fullmatch(r"std::size_t\{(\d+)\} << (\d+)", text):
        return int(found[1]) << int(found[2])
    return int(text)


@pytest.mark.parametrize(
    ("struct", "header"), [("Limits", "limits.h"), ("GrammarLimits", "schema_options.h")]
)
def test_defaults_of_limits(struct, header):
    code = code_of(ROOT / "include" / "parlance" / header)
    (body,) = re.findall(rf"^struct {struct} \{{(.*?)^\}};", code, re.M | re.S)
    defaults = {
        name: number_of(value)
        for name, value in re.findall(r"std::(?:size_t|uint32_t) (\w+) = ([^;]+);", body)
    }
    (table,) = re.findall(rf"^\| `{struct}` .*?\n\n", CPP + "\n\n", re.M | re.S)
    said = {
        name: number_of(value)
        for name, value in re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", table, re.M)
        if name != struct
    }
    assert said == defaults


def test_limits_of_grammars():
    code = code_of(ROOT / "src" / "writing" / "rules" / "rules.h")
    (body,) = re.findall(r"^struct RulesLimits \{(.*?)^\};", code, re.M | re.S)
    limits = {
        name: number_of(value)
        for name, value in re.findall(r"std::size_t (\w+) = ([^;]+);", body)
    }
    said = re.search(
        r"a grammar's text \| (\d+ MiB), ([\d,]+) rules, ([\d,]+) expressions, "
        r"parentheses nested ([\d,]+) deep",
        PAGES["docs/reference/grammars.md"],
    )
    names = ("source_bytes", "rules", "exprs", "depth")
    assert [number_of(n) for n in said.groups()] == [limits[n] for n in names]


def test_versions_that_are_needed():
    page = PAGES["docs/guide/embed.md"]
    cmake = (ROOT / "CMakeLists.txt").read_text()
    (least,) = re.findall(r"cmake_minimum_required\(VERSION ([\d.]+)\)", cmake)
    assert f"| CMake | {least} or newer |" in page
    (least,) = re.findall(r"find_package\(PCRE2 ([\d.]+) REQUIRED", cmake)
    assert f"| PCRE2 | {least} or newer" in page
    assert "SameMinorVersion" in (ROOT / "cmake" / "Install.cmake").read_text()
    (least,) = re.findall(
        r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text()
    )
    assert f"CPython {least} and newer" in PAGES["README.md"]
    (least,) = re.findall(
        r'rust-version = "([\d.]+)"', (ROOT / "bindings/rust/Cargo.toml").read_text()
    )
    assert f"Rust {least} or newer" in PAGES["docs/guide/rust.md"]
    (least,) = re.findall(
        r"^go ([\d.]+?)(?:\.0)?$", (ROOT / "bindings/go/go.mod").read_text(), re.MULTILINE
    )
    assert f"Go {least} or newer" in PAGES["docs/guide/go.md"]


def test_number_of_functions_in_c():
    interface = (ROOT / "bindings" / "c" / "interface.txt").read_text()
    count = len(re.findall(r"^function ", interface, re.M))
    assert f"C99, {count} functions" in PAGES["docs/guide/c.md"]


def test_options_of_the_build():
    text = (ROOT / "CMakeLists.txt").read_text()
    options = re.findall(r"^option\((\w+)|^set\((PARLANCE_\w+) .* CACHE ", text, re.M)
    names = {name for pair in options for name in pair if name}
    assert names <= set(re.findall(r"\w+", CPP))
    section = CPP.partition("## Options of the build")[2].partition("\n## ")[0]
    assert set(re.findall(r"\bPARLANCE_\w+", section)) <= names


def test_environment_variables():
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    read = re.compile(
        r"(?:getenv|var_os|var)\(\"(PARLANCE_\w+)\"|environ(?:\.get\(|\[)[\"'](PARLANCE_\w+)"
        r"|\$\{(PARLANCE_\w+):-"
    )
    missing = {}
    for name in tracked:
        path = ROOT / name
        if path.suffix in (".md", ".json") or not path.is_file():
            continue
        data = path.read_bytes()
        if b"PARLANCE_" not in data or b"\0" in data:
            continue
        for groups in read.findall(data.decode("utf-8", "replace")):
            (variable,) = filter(None, groups)
            if variable not in WORDS:
                missing[variable] = name
    assert not missing


# --- The command --------------------------------------------------------------


@pytest.fixture(scope="module")
def command():
    found = os.environ.get("PARLANCE_CLI") or shutil.which("parlance")
    if found is None:
        pytest.skip("no command: set PARLANCE_CLI, or PATH")

    def help_of(*words):
        return subprocess.run(
            [found, *words, "--help"], check=True, capture_output=True, text=True
        ).stdout

    return help_of


# Sections of options that several commands have.
SHARED = {
    "Input": ("parse", "watch", "explain"),
    "Grammars": ("accept", "mask", "sample", "explain", "tag"),
    "Stored responses": ("parse",),
    "parse": ("watch",),  # --sse
    "tag": ("sample",),  # the tools of a request
}


def sections():
    parts = re.split(r"^##+ (.*)$", CLI, flags=re.M)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def test_options_of_the_command(command):
    texts = sections()
    names = re.findall(r"^  ([a-z]+)  +\S", command().split("Subcommands:")[1], re.M)
    assert {"parse", "tag", "manual"} <= set(names)
    missing = []
    for name in names:
        own = [text for title, text in texts.items() if name in re.split(r"\W+", title)]
        assert own or name == "help", f"no section about {name}"
        shared = [texts[title] for title, users in SHARED.items() if name in users]
        said = "\n".join([texts[""], *own, *shared])
        options = re.split(r"\n(?:Examples|Exit status):", command(name))[0]
        for option in re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]+)", options, re.M):
            if not re.search(rf"{option}(?![\w-])", said) and option != "--help":
                missing.append(f"{name} {option}")
    assert not missing


# --- The package --------------------------------------------------------------

COPIES = {"parlance.integrations.xgrammar", "parlance.integrations.llguidance"}


def modules():
    parlance = pytest.importorskip("parlance")
    yield parlance
    for name in ("chat", "errors", "jmespath", "testing"):
        yield importlib.import_module(f"parlance.{name}")
    integrations = importlib.import_module("parlance.integrations")
    for found in pkgutil.iter_modules(integrations.__path__):
        name = f"parlance.integrations.{found.name}"
        if not found.name.startswith("_") and name not in COPIES:
            try:
                yield importlib.import_module(name)
            except ImportError:  # its host is not installed
                continue


def public(module):
    for name in getattr(module, "__all__", None) or dir(module):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or ""
        if not name.startswith("_") and home.startswith(("parlance", "_parlance")):
            yield name, value


def members(kind):
    for name in dir(kind):
        owners = [base for base in kind.__mro__ if name in vars(base)]
        if not name.startswith("_") and owners[0].__module__.startswith(
            ("parlance", "_parlance")
        ):
            yield name


def parameters(value):
    try:
        return [p for p in inspect.signature(value).parameters if not p.startswith("_")]
    except (TypeError, ValueError):
        return []


def test_names_of_the_package():
    missing = set()
    for module in modules():
        for name, value in public(module):
            parts = [name, *(parameters(value) if callable(value) else [])]
            if inspect.isclass(value):
                parts += members(value)
            missing |= {f"{module.__name__}.{name}: {p}" for p in parts if p not in WORDS}
    assert not missing
