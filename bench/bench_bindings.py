#!/usr/bin/env python3
"""What a call costs in C and in Rust, beside C++: counted instructions.

    bench/bench_bindings.py build/release

Valgrind counts the instructions of the same work (bench/bindings), done more often
and less often; the difference, by the number of calls, is what one takes.  The
programs are compiled with -O2 and linked with the archives of the build folder; the
parts that need a missing tool are left out.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "bench" / "bindings"


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, **options
    )
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
    return done


def instructions(program, *arguments):
    """The count, and what the program printed."""
    done = run(
        "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
        program, *arguments,
    )  # fmt: skip
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]), done.stdout


def text_of(name):
    """The size of a text of cost.h."""
    code = (HERE / "cost.h").read_text().replace("\\\n", "")
    literal = re.search(rf"#define {name}((?:\s*\"(?:[^\"\\]|\\.)*\")+)", code)[1]
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', literal)
    return len(re.sub(r"\\.", "x", "".join(pieces)))


def programs(build, folder):
    include = ["-I", ROOT / "include"]
    folders = [build / "bindings" / "c", build / "src"]
    if not folders[1].is_dir():
        folders = [build / "lib"]
    archives = [f"-L{path}" for path in folders]
    libraries = ["-lparlance", "-lpcre2-8", "-lstdc++", "-lm", "-pthread"]
    yield "C++", folder / "cost-cc"
    run("g++", "-std=c++20", "-O2", *include, HERE / "cost.cc", "-o",
        folder / "cost-cc", *archives, *libraries)  # fmt: skip
    yield "C", folder / "cost-c"
    run("gcc", "-std=c99", "-O2", *include, HERE / "cost.c", "-o",
        folder / "cost-c", *archives, "-l:libparlance-c.a", *libraries)  # fmt: skip
    if shutil.which("cargo"):
        run(
            "cargo", "build", "-q", "--offline", "--release", "--example", "cost",
            cwd=ROOT / "bindings" / "rust",
            env={
                **os.environ,
                "PARLANCE_LIB_DIR": os.pathsep.join(map(str, folders)),
                "PARLANCE_STATIC": "1",
                "CARGO_TARGET_DIR": str(folder / "target"),
            },
        )  # fmt: skip
        yield "Rust", folder / "target" / "release" / "examples" / "cost"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    if not shutil.which("valgrind"):
        print("SKIPPED: valgrind counts the instructions, and is not installed")
        return
    piece = int(re.search(r"COST_PIECE (\d+)", (HERE / "cost.h").read_text())[1])
    feeds = 8 * -(-8 * text_of("COST_RESPONSE") // piece)
    fills = 30 * text_of("COST_TEXT")
    with tempfile.TemporaryDirectory() as name:
        base, said = {}, {}
        for language, program in list(programs(build, pathlib.Path(name))):
            cost = {}
            few, _ = instructions(program, "feed", 2)
            many, shown = instructions(program, "feed", 10)
            cost["feed"] = (many - few) / feeds
            said.setdefault("feed", shown)
            once, _ = instructions(program, "fill", 30, 1)
            more, answer = instructions(program, "fill", 30, 5)
            cost["fill"] = (more - once) / (4 * fills)
            said.setdefault("fill", answer)
            if [shown, answer] != [said["feed"], said["fill"]]:
                sys.exit(f"{language} answers otherwise")
            for what, count in cost.items():
                over = 100 * (count / base.setdefault(what, count) - 1)
                print(f"{what}  {language:5} {count:8.0f} instructions  {over:+6.1f} %")


if __name__ == "__main__":
    main()
