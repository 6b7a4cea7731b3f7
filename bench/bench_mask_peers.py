"""What masks cost from Python: parlance beside llguidance.

    python bench/bench_mask_peers.py FOLDER --vocab V.vocab --tokens V.tok
                                     [--sample FILE] [--peers NAME ...]

Every peer that can be imported runs over the same schemas, instances and tokens
of MaskBench, in its default setting, on one thread.  A step is: fill the mask,
look the token up, commit it.  "Refused" and "accepted" count instances with the
wrong verdict when only tokens are looked at, as MaskBench does.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import pathlib
import platform
import subprocess
import sys
import time

import numpy
import regex


class Vocabulary:
    """A .vocab file: the bytes of each id, and the ids that end a text."""

    def __init__(self, path):
        head, _, lines = path.read_text().partition("\ntokens\n")
        facts = dict(line.split(" ", 1) for line in head.splitlines())
        self.stop = [int(id) for id in facts["eos"].split()]
        self.tokens, self.special, self.unused = [], [], []
        for id, line in enumerate(lines.splitlines()):
            kind, _, data = line.partition(" ")
            self.tokens.append(base64.b64decode(data))
            if kind == "S":
                self.special.append(id)
            elif kind == "U":
                self.unused.append(id)
        special = set(self.special)
        self._ids = {
            token: id
            for id, token in enumerate(self.tokens)
            if id not in special
        }
        self._pattern = regex.compile(facts["pattern"])
        self.path = path
        self.words = (len(self.tokens) + 31) // 32

    def encode(self, text):
        """Byte-pair merging, the lowest id first."""
        out = []
        for piece in self._pattern.findall(text.decode("utf-8", "replace")):
            piece = piece.encode()
            if piece in self._ids:
                out.append(self._ids[piece])
                continue
            parts = [piece[i : i + 1] for i in range(len(piece))]
            while len(parts) > 1:
                pairs = [a + b for a, b in zip(parts, parts[1:])]
                best = min(pairs, key=lambda pair: self._ids.get(pair, 1 << 32))
                if best not in self._ids:
                    break
                at = pairs.index(best)
                parts[at : at + 2] = [best]
            out += [self._ids[part] for part in parts]
        return out


class Parlance:
    def __init__(self, vocabulary):
        import parlance

        self.name = f"parlance {parlance.__version__}"
        self._grammar = parlance.Grammar.from_json_schema
        self._compiler = parlance.Compiler(
            parlance.Vocabulary.from_file(vocabulary.path)
        )
        self.row = numpy.zeros(vocabulary.words, numpy.int32)

    def compile(self, schema):
        return self._grammar(schema).compile(self._compiler)

    def matcher(self, compiled):
        return compiled.matcher()

    def fill(self, matcher):
        matcher.fill_bitmask(self.row)

    def accept(self, matcher, token):
        return matcher.accept_token(token)


class Llguidance:
    def __init__(self, vocabulary):
        import llguidance
        import llguidance.numpy

        self.name = llguidance.get_version().split()[0].replace("@", " ")
        self._module = llguidance
        self._fill = llguidance.numpy.fill_next_token_bitmask

        class Tokenizer:
            eos_token_id = vocabulary.stop[-1]
            bos_token_id = None
            special_token_ids = vocabulary.special
            tokens = vocabulary.tokens

            # What is forced is only allowed as the tokenizer would split it.
            def __call__(self, text):
                return vocabulary.encode(text)

        self._tokenizer = llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(Tokenizer())
        )
        self._rows = numpy.zeros((1, vocabulary.words), numpy.int32)
        self.row = self._rows[0]

    def compile(self, schema):
        grammar = self._module.LLMatcher.grammar_from_json_schema(schema)
        matcher = self._module.LLMatcher(self._tokenizer, grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def matcher(self, compiled):
        return compiled.deep_copy()

    def fill(self, matcher):
        self._fill(matcher, self._rows, 0)

    def accept(self, matcher, token):
        return matcher.consume_token(token)


PEERS = {"parlance": Parlance, "llguidance": Llguidance}


def problems(folder, names):
    for path in sorted(folder.glob("*.jsonl*")):
        open_ = gzip.open if path.suffix == ".gz" else open
        with open_(path, "rt", encoding="utf-8") as file:
            for line in file:
                problem = json.loads(line)
                if names is None or problem["name"] in names:
                    yield problem


def tokens_of(path, names):
    found = {}
    with path.open() as file:
        for line in file:
            name, _, valid, ids = line.rstrip("\n").split("\t")
            if names is None or name in names:
                found.setdefault(name, []).append(
                    (valid == "1", [int(id) for id in ids.split()])
                )
    return found


def feed(peer, compiled, ids, times):
    """Whether all tokens fit."""
    matcher = peer.matcher(compiled)
    row = peer.row
    clock = time.perf_counter_ns
    for token in ids:
        begin = clock()
        peer.fill(matcher)
        fits = bool(int(row[token >> 5]) >> (token & 31) & 1)
        if fits:
            peer.accept(matcher, token)
        times.append(clock() - begin)
        if not fits:
            return False
    return True


def run(peer, schemas, tokens):
    compiles, times = [], []
    counts = {"compile errors": 0, "valid refused": 0, "invalid accepted": 0}
    for name, schema in schemas:
        begin = time.perf_counter_ns()
        try:
            compiled = peer.compile(schema)
        except Exception:  # each peer has errors of its own
            counts["compile errors"] += 1
            continue
        compiles.append(time.perf_counter_ns() - begin)
        for valid, ids in tokens.get(name, []):
            fits = feed(peer, compiled, ids, times)
            if fits != valid:
                wrong = "valid refused" if valid else "invalid accepted"
                counts[wrong] += 1
    return compiles, times, counts


def table_row(name, what, ns):
    ns = sorted(ns) or [0]
    cells = [sum(ns) / len(ns)] + [
        ns[min(int(len(ns) * p / 100), len(ns) - 1)]
        for p in (25, 50, 75, 90, 95, 99, 99.9, 100)
    ]
    return f"{name:<20}{what:<9}" + "".join(
        f"{cell / 1000:>11.1f}" for cell in cells
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--vocab", type=pathlib.Path, required=True)
    parser.add_argument("--tokens", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=pathlib.Path)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    arguments = parser.parse_args()

    names = arguments.sample and set(arguments.sample.read_text().split())
    schemas = [
        (problem["name"], json.dumps(problem["schema"]))
        for problem in problems(arguments.folder, names)
    ]
    tokens = tokens_of(arguments.tokens, names)
    vocabulary = Vocabulary(arguments.vocab)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        capture_output=True, text=True, cwd=pathlib.Path(__file__).parent,
    ).stdout.strip()
    print(f"Python {platform.python_version()}, {platform.machine()}, commit "
          f"{commit or 'unknown'}: {' '.join(sys.argv)}")
    print(f"{len(schemas)} schemas, {len(vocabulary.tokens)} ids; microseconds")
    heads = ("mean", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "max")
    print(" " * 29 + "".join(f"{head:>11}" for head in heads))
    for name in arguments.peers:
        try:
            peer = PEERS[name](vocabulary)
        except ImportError as error:
            print(f"{name}: left out, {error}")
            continue
        compiles, times, counts = run(peer, schemas, tokens)
        print(table_row(peer.name, "TBM", times))
        print(table_row("", "compile", compiles))
        print("  " + ", ".join(f"{k} {n}" for k, n in counts.items()))


if __name__ == "__main__":
    main()
