"""What JSON objects of many members cost, beside XGrammar.

    python bench/bench_wide_objects.py [--sizes 100,1000] [--seconds 20]

An object with all n declared members, which are strings: its schema becomes a
grammar, the grammar reads the object, and a matcher fills the mask of each
token and accepts it.  Tokens are single bytes and pieces of such objects, so
that masks look across the end of a member.  Times are in milliseconds; `us` and
`most` are microseconds of a mask and milliseconds of the slowest one; `RSS` is
what the process grew by, in MB.

XGrammar reads the object by the strings and masks of its matcher, if
PARLANCE_PEERS names the folder that it lies in.  Each row is measured in a
process of its own; one that takes longer than `--seconds` is left out, and so
are larger ones of its kind.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = (100, 400, 1000, 4000, 20000)
PIECES = [b'"f', b"f0", b'": "', b'", "', b'x"', b'", "f', b'": "x', b"00", b'"}']
STOP = b"</s>"


def tokens():
    return [bytes([byte]) for byte in range(256)] + PIECES + [STOP]


def schema_of(size, required):
    names = [f"f{i:05}" for i in range(size)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "additionalProperties": False,
    }
    if required:
        schema["required"] = names
    return schema, json.dumps({name: "x" for name in names})


class Parlance:
    def __init__(self, order):
        import parlance

        self.parlance = parlance
        self.order = order
        ids = tokens()
        self.vocabulary = parlance.Vocabulary(ids, stop_ids=[len(ids) - 1])

    def grammar(self, schema):
        return self.parlance.Grammar.from_json_schema(schema, key_order=self.order)

    def read(self, grammar, text):
        return grammar.accepts(text)

    def matcher(self, grammar):
        return grammar.compile(self.vocabulary).matcher()

    def fill(self, matcher, mask):
        matcher.fill_bitmask(mask)

    def accept(self, matcher, token):
        return matcher.accept_token(token)


class XGrammar:
    def __init__(self):
        sys.path.insert(0, str(ROOT / "tests" / "support"))
        import xgrammar_alone

        why = xgrammar_alone.missing()
        if why:
            sys.exit(why)
        self.xgrammar = xgrammar_alone.load()
        ids = tokens()
        info = self.xgrammar.TokenizerInfo(
            ids,
            vocab_type=self.xgrammar.VocabType.RAW,
            stop_token_ids=[len(ids) - 1],
        )
        self.compiler = self.xgrammar.GrammarCompiler(
            info, max_threads=1, cache_enabled=False
        )

    def grammar(self, schema):
        return self.compiler.compile_json_schema(json.dumps(schema))

    def read(self, grammar, text):
        matcher = self.matcher(grammar)
        return matcher.accept_string(text) and matcher.is_completed()

    def matcher(self, grammar):
        return self.xgrammar.GrammarMatcher(grammar)

    def fill(self, matcher, mask):
        matcher.fill_next_token_bitmask(mask)

    def accept(self, matcher, token):
        return matcher.accept_token(token)


ENGINES = {
    "any": lambda: Parlance("any"),
    "schema": lambda: Parlance("schema"),
    "XGrammar": XGrammar,
}


def rss():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(engine, size, required):
    engine = ENGINES[engine]()
    schema, text = schema_of(size, required)
    before = rss()
    marks = [time.perf_counter()]
    grammar = engine.grammar(schema)
    marks.append(time.perf_counter())
    if not engine.read(grammar, text):
        sys.exit("the object was refused")
    marks.append(time.perf_counter())
    matcher = engine.matcher(grammar)
    mask = np.zeros((1, (len(tokens()) + 31) // 32), dtype=np.int32)
    most = 0.0
    total = 0.0
    for byte in text.encode():
        start = time.perf_counter()
        engine.fill(matcher, mask)
        took = time.perf_counter() - start
        total += took
        most = max(most, took)
        if not engine.accept(matcher, byte):
            sys.exit("a token was refused")
    return {
        "compile": 1e3 * (marks[1] - marks[0]),
        "read": 1e3 * (marks[2] - marks[1]),
        "masks": 1e3 * total,
        "us": 1e6 * total / len(text),
        "most": 1e3 * most,
        "RSS": rss() - before,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        engine, size, required = arguments.one
        print(json.dumps(measure(engine, int(size), required == "required")))
        return
    columns = ("compile", "read", "masks", "us", "most", "RSS")
    print(f"{'members':>7} {'':8} {'':8} " + " ".join(f"{c:>8}" for c in columns))
    left_out = set()
    for kind in ("optional", "required"):
        for size in map(int, arguments.sizes.split(",")):
            for engine in ENGINES:
                if (engine, kind) in left_out:
                    continue
                row = f"{size:>7} {kind:8} {engine:8} "
                command = [sys.executable, __file__, "--one"]
                try:
                    done = subprocess.run(
                        [*command, engine, str(size), kind],
                        capture_output=True,
                        text=True,
                        timeout=arguments.seconds,
                    )
                except subprocess.TimeoutExpired:
                    left_out.add((engine, kind))
                    print(row + "longer than the limit", flush=True)
                    continue
                if done.returncode != 0:
                    left_out.add((engine, kind))
                    why = done.stderr.strip().splitlines()[-1:]
                    print(row + "".join(why), flush=True)
                    continue
                result = json.loads(done.stdout)
                print(row + " ".join(f"{result[c]:>8.1f}" for c in columns), flush=True)


if __name__ == "__main__":
    main()
