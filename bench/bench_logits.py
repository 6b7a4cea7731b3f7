"""What applying a mask to logits costs: apply_bitmask beside other ways.

    PARLANCE_PEERS=.venv/peers python bench/bench_logits.py [--rows N ...]

Each way gets the same logits (float32, 128,256 columns, as Llama 3 has) and the
same masks, in turns; the table has medians and the quartiles around them, in
microseconds a call.  The masks are of three kinds:

    few     40 tokens, as after a number in JSON
    most    all but 3,000, as inside a JSON string
    half    every second on average: the worst case

    numpy       numpy.unpackbits, and -inf where a bit is 0: two lines anybody
                would write
    llguidance  llguidance.numpy.apply_token_bitmask_inplace
    xgrammar    its kernel for the processor, called by pointers, since its
                function for tensors needs torch

All run on one thread.  Peers that are not there are left out.
"""

import argparse
import importlib
import os
import pathlib
import statistics
import sys
import time

import numpy

import parlance

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"
sys.path.append(str(SUPPORT))

import xgrammar_alone  # noqa: E402

COLUMNS = 128256
WORDS = (COLUMNS + 31) // 32


def with_numpy(logits, mask):
    bits = numpy.unpackbits(mask.view(numpy.uint8), axis=-1, bitorder="little")
    logits[bits[:, :COLUMNS] == 0] = -numpy.inf


def xgrammar_kernel():
    xgrammar_alone.load()
    core = importlib.import_module("xgrammar.base")._core

    def apply(logits, mask):
        core.kernels.apply_token_bitmask_inplace_cpu(
            logits.ctypes.data,
            logits.shape,
            (logits.shape[1], 1),
            mask.ctypes.data,
            mask.shape,
            (mask.shape[1], 1),
            COLUMNS,
            None,
            "float32",
        )

    return apply


def ways():
    yield "parlance", parlance.apply_bitmask
    yield "numpy", with_numpy
    peers = os.environ.get("PARLANCE_PEERS")
    if not peers:
        print("PARLANCE_PEERS is not set: no peers", file=sys.stderr)
        return
    sys.path.append(peers)
    yield (
        "llguidance",
        importlib.import_module("llguidance.numpy").apply_token_bitmask_inplace,
    )
    yield "xgrammar", xgrammar_kernel()


def masks(rows):
    generator = numpy.random.default_rng(0)
    share = {"few": 40 / COLUMNS, "most": 1 - 3000 / COLUMNS, "half": 0.5}
    for kind, part in share.items():
        bits = generator.random((rows, 32 * WORDS)) < part
        packed = numpy.packbits(bits, axis=-1, bitorder="little")
        yield kind, packed.view(numpy.int32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--rounds", type=int, default=41)
    options = parser.parse_args()
    all_ways = list(ways())
    print(f"{'rows':>4} {'mask':5}", *(f"{n:>22}" for n, _ in all_ways))
    for rows in options.rows:
        start = numpy.random.default_rng(1).normal(size=(rows, COLUMNS))
        start = start.astype(numpy.float32)
        for kind, mask in masks(rows):
            times = {name: [] for name, _ in all_ways}
            results = {}
            for _ in range(options.rounds):
                for name, apply in all_ways:
                    logits = start.copy()
                    began = time.perf_counter_ns()
                    apply(logits, mask)
                    times[name].append(time.perf_counter_ns() - began)
                    results[name] = logits
            for name, logits in results.items():
                assert (logits == results["parlance"]).all(), name
            cells = []
            for name, _ in all_ways:
                low, middle, high = statistics.quantiles(times[name], n=4)
                cells.append(
                    f"{middle / 1e3:9.0f} ({low / 1e3:.0f}..{high / 1e3:.0f})"
                )
            print(f"{rows:4} {kind:5}", *(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()
