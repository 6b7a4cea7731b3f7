"""What masks cost from Python: parlance beside llguidance and XGrammar.

    python bench/bench_mask_peers.py FOLDER --vocab V.vocab --tokens V.tok
                                     [--sample FILE] [--peers NAME ...]
                                     [--plot FILE.svg]

Every peer that can be imported runs over the same schemas, instances and tokens
of MaskBench, on one thread, in a process of its own, which is started again
where a schema took more than a minute or broke it.  A step is: fill the mask,
look the token up, commit it.  "Refused" and "accepted" count instances with the
wrong verdict when only tokens are looked at, as MaskBench does.

parlance and llguidance run in their default setting, XGrammar in two:

    xgrammar        as MaskBench runs it: white space as json.dumps writes it,
                    undeclared properties refused
    xgrammar-loose  any white space, undeclared properties as the schema says

With --plot the distributions are drawn, too (bench/plot.py).

PARLANCE_PEERS names the folder of the other two, if they are not installed.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import importlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import numpy
import regex

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"
sys.path.append(str(SUPPORT))

import xgrammar_alone  # noqa: E402
from plot import Panel, draw  # noqa: E402
from worker_pipe import Peer, serve  # noqa: E402


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

    def of_parlance(self):
        import parlance

        unused = set(self.unused)
        return parlance.Vocabulary(
            [None if id in unused else token for id, token in enumerate(self.tokens)],
            control_ids=self.special,
            stop_ids=self.stop,
        )

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
        self._compiler = parlance.Compiler(vocabulary.of_parlance())
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

            # A forced text is only allowed as the tokenizer would split it.
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


class Xgrammar:
    LOOSE = {"any_whitespace": True, "strict_mode": False}
    FIXED = {"any_whitespace": False, "strict_mode": True}

    def __init__(self, vocabulary, options=FIXED):
        if xgrammar_alone.missing():
            raise ImportError(xgrammar_alone.missing())
        self._module = xgrammar_alone.load()
        version = importlib.import_module("xgrammar._version")
        self.name = f"xgrammar {version.__version__}"
        self._info = self._module.TokenizerInfo(
            vocabulary.tokens, stop_token_ids=vocabulary.stop
        )
        self._compiler = self._module.GrammarCompiler(self._info, max_threads=1)
        self._options = options
        self._rows = numpy.zeros((1, vocabulary.words), numpy.int32)
        self.row = self._rows[0]

    def compile(self, schema):
        return self._compiler.compile_json_schema(schema, **self._options)

    def matcher(self, compiled):
        return self._module.GrammarMatcher(compiled)

    def fill(self, matcher):
        # An array of all ones is reported and may be left unwritten.
        if not matcher.fill_next_token_bitmask(self._rows, 0):
            self._rows.fill(-1)

    def accept(self, matcher, token):
        return matcher.accept_token(token)


PEERS = {
    "parlance": Parlance,
    "llguidance": Llguidance,
    "xgrammar": Xgrammar,
    "xgrammar-loose": lambda vocabulary: Xgrammar(vocabulary, Xgrammar.LOOSE),
}


def problems(folder, names, dataset="*"):
    for path in sorted(folder.glob(f"{dataset}.jsonl*")):
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


def feed(peer, compiled, ids, times, seconds=float("inf")):
    """Whether all tokens fit that there is time for."""
    matcher = peer.matcher(compiled)
    row = peer.row
    clock = time.perf_counter_ns
    until = clock() + seconds * 1e9
    for token in ids:
        begin = clock()
        if begin > until:
            break
        peer.fill(matcher)
        fits = bool(int(row[token >> 5]) >> (token & 31) & 1)
        if fits:
            peer.accept(matcher, token)
        times.append(clock() - begin)
        if not fits:
            return False
    return True


class Worker:
    """A peer at the other end of a pipe: a schema and its instances in, times
    and verdicts out.  An empty request only asks who it is."""

    peers = PEERS

    def __init__(self, name, vocabulary):
        self._make = lambda: self.peers[name](vocabulary)
        self._peer = None

    def __call__(self, request):
        if self._peer is None:
            try:
                self._peer = self._make()
            except ImportError as error:
                return {"missing": str(error)}
        if not request:
            return {"name": self._peer.name}
        return self.answer(self._peer, request)

    def answer(self, peer, request):
        begin = time.perf_counter_ns()
        try:
            compiled = peer.compile(request["schema"])
        except Exception as error:  # each peer has errors of its own
            return {"error": str(error)}
        out = {"compile": time.perf_counter_ns() - begin, "times": []}
        out["verdicts"] = [
            feed(peer, compiled, ids, out["times"]) for ids in request["instances"]
        ]
        return out


def run(peer, schemas, tokens):
    compiles, times = [], []
    counts = {
        "compile errors": 0, "valid refused": 0, "invalid accepted": 0,
        "crashes": 0, "too slow": 0,
    }  # fmt: skip
    for name, schema in schemas:
        instances = tokens.get(name, [])
        answer = peer.ask(
            {"schema": schema, "instances": [ids for _, ids in instances]}
        )
        if "gone" in answer:
            counts["too slow" if answer["gone"] == "hangs" else "crashes"] += 1
        elif "error" in answer:
            counts["compile errors"] += 1
        else:
            compiles.append(answer["compile"])
            times += answer["times"]
            for (valid, _), fits in zip(instances, answer["verdicts"]):
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
    return f"{name:<24}{what:<9}" + "".join(
        f"{cell / 1000:>11.1f}" for cell in cells
    )


def commit():
    return subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        capture_output=True, text=True, cwd=pathlib.Path(__file__).parent,
    ).stdout.strip() or "unknown"  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--vocab", type=pathlib.Path, required=True)
    parser.add_argument("--tokens", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=pathlib.Path)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if os.environ.get("PARLANCE_PEERS"):
        sys.path.append(os.environ["PARLANCE_PEERS"])
    if arguments.serve:
        worker = Worker(arguments.serve, Vocabulary(arguments.vocab))
        serve(worker, seconds=60, bytes=16 << 30)
        return

    names = arguments.sample and set(arguments.sample.read_text().split())
    schemas = [
        (problem["name"], json.dumps(problem["schema"]))
        for problem in problems(arguments.folder, names)
    ]
    tokens = tokens_of(arguments.tokens, names)
    print(f"Python {platform.python_version()}, {platform.machine()}, commit "
          f"{commit()}: {' '.join(sys.argv)}")
    print(f"{len(schemas)} schemas, {arguments.vocab.name}; microseconds")
    heads = ("mean", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "max")
    print(" " * 33 + "".join(f"{head:>11}" for head in heads))
    masks, compiled = {}, {}
    for name in arguments.peers:
        peer = Peer(sys.executable, *sys.argv, "--serve", name)
        hello = peer.ask({})
        if "missing" in hello:
            print(f"{name}: left out, {hello['missing']}")
            peer.close()
            continue
        compiles, times, counts = run(peer, schemas, tokens)
        peer.close()
        loose = ", loose" if name.endswith("loose") else ""
        masks[hello["name"] + loose] = times
        compiled[hello["name"] + loose] = compiles
        print(table_row(hello["name"] + loose, "TBM", times))
        print(table_row("", "compile", compiles))
        print("  " + ", ".join(f"{k} {n}" for k, n in counts.items()))
    if arguments.plot:
        draw(
            arguments.plot,
            f"{len(schemas)} schemas of MaskBench, from Python",
            [
                Panel("A step: the mask of a token, and the token", masks),
                Panel("Compiling a schema", compiled),
            ],
            f"bench/bench_mask_peers.py, {arguments.vocab.stem}, one thread of "
            f"{platform.machine()}, commit {commit()}",
        )


if __name__ == "__main__":
    main()
