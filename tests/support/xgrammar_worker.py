"""XGrammar at the end of a pipe: a line of JSON in, a line of JSON out.

    python xgrammar_worker.py VOCABULARY

VOCABULARY is a file with {"tokens": [hex, ...], "stop": id}.  A request has a
definition and questions about it:

    {"kind": "structural_tag" | "json_schema" | "ebnf" | "regex", "source",
     "options",
     "texts": [[piece, ...], ...],  whether each fits and is whole
     "masks": [[piece, ...], ...],  the masks before each piece and after all
     "walks": [[seed, steps, [piece, ...]], ...]}  a random text after pieces
    -> {"texts": [[pieces that fit, whole], ...], "masks": [[mask, ...], ...],
        "walks": [[id, ...] or null, ...]}  null where no end was found
     | {"error": class, "message"} | {"gone": "hangs" or "crashes"}

A piece is a token's id, or bytes in hex.  A mask is a number in hex: bit t is token t.  The list of masks ends at the
first piece that does not fit.
"""

import json
import os
import sys

import numpy
import xgrammar_alone
from random_walk import random_walk
from worker_pipe import serve

xgrammar = xgrammar_alone.load()


class Worker:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            vocabulary = json.load(file)
        self.tokens = [bytes.fromhex(token) for token in vocabulary["tokens"]]
        self.stop = vocabulary["stop"]
        self.row = numpy.zeros((1, (len(self.tokens) + 31) // 32), numpy.int32)
        self.compiler = None
        self.last = None, None

    def __call__(self, request):
        # Made by the child that uses it: it may have threads.
        if self.compiler is None:
            info = xgrammar.TokenizerInfo(self.tokens, stop_token_ids=[self.stop])
            self.compiler = xgrammar.GrammarCompiler(
                info, max_threads=1, cache_enabled=False
            )
        try:
            compiled = self.compiled(request)
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error)}
        return {
            "texts": [self.read(compiled, pieces) for pieces in request["texts"]],
            "masks": [self.masks(compiled, pieces) for pieces in request["masks"]],
            "walks": [self.walk(compiled, *walk) for walk in request["walks"]],
        }

    def compiled(self, request):
        kind, source = request["kind"], request["source"]
        key = json.dumps([kind, source, request["options"]])
        if self.last[0] != key:
            options = request["options"]
            make = {
                "structural_tag": self.compiler.compile_structural_tag,
                "json_schema": self.compiler.compile_json_schema,
                "ebnf": self.compiler.compile_grammar,
                "regex": self.compiler.compile_regex,
            }[kind]
            self.last = key, make(source, **options)
        return self.last[1]

    def accept(self, matcher, piece):
        if isinstance(piece, int):
            return matcher.accept_token(piece)
        return matcher.accept_string(bytes.fromhex(piece))

    def read(self, compiled, pieces):
        matcher = xgrammar.GrammarMatcher(compiled)
        for i, piece in enumerate(pieces):
            if not self.accept(matcher, piece):
                return [i, False]
        return [len(pieces), matcher.is_completed()]

    def mask(self, matcher):
        matcher.fill_next_token_bitmask(self.row)
        mask = int.from_bytes(self.row.tobytes(), "little")
        return mask & (1 << len(self.tokens)) - 1

    def masks(self, compiled, pieces):
        matcher = xgrammar.GrammarMatcher(compiled)
        out = [f"{self.mask(matcher):x}"]
        for piece in pieces:
            if not self.accept(matcher, piece):
                break
            out.append(f"{self.mask(matcher):x}")
        return out

    def walk(self, compiled, seed, steps, pieces):
        matcher = xgrammar.GrammarMatcher(compiled)
        if not all(self.accept(matcher, piece) for piece in pieces):
            return None
        return random_walk(
            seed, steps, self.tokens, self.stop,
            lambda: self.mask(matcher), matcher.accept_token,
        )  # fmt: skip


if __name__ == "__main__":
    # Warnings, and a trace of the stack for each crash.
    if not os.environ.get("PARLANCE_CASE"):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    worker = Worker(sys.argv[1])
    # The tables of a model's tokens take seconds.
    serve(worker, seconds=1.0 + len(worker.tokens) / 5000)
