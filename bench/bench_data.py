"""Stored generations in the hosts of tables: bytes of responses per second.

    kernel     parse_arrow on one thread, block by block, in this process
    Ray        Parse in map_batches, on a node with one processor; the blocks
               are in its object store before and after
    Polars     the plug-in, on all cores, beside parse_arrow on all cores
    Parquet    python -m parlance parse, from file to file

Ray's and Polars' rates are also given as a part of the kernel's.  Rates are of
the fastest of some rounds, in each of which all are measured.  "CPU" is per
second of processor time of the process that parses, which other programs on the
machine change less; for Ray that is the worker, with what Ray does in it between
two calls: taking blocks from the object store, and writing the results to it.

The texts are made up: words of a fixed list, drawn by seed; 2 KB, a thought, an
answer, and a call in every fourth.
"""

import argparse
import logging
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import parlance
import polars
import pyarrow
import pyarrow.parquet
from parlance.integrations.polars import parse as parse_expression
from parlance.integrations.ray import Parse

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

WORDS = """the weather in Bern is sunny, so a walk along the Aare would be nice.
First I need to check how far it is.""".split()
CALL = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern", "days": 3}}'
    "\n</tool_call>"
)
FORMAT = "qwen3"


def response(draw):
    def words(count):
        return " ".join(draw.choices(WORDS, k=count))

    text = f"<think>{words(250)}</think>{words(150)}"
    return text + CALL if draw.random() < 0.25 else text


def blocks_of(count, rows):
    draw = random.Random(1)
    texts = [response(draw) for _ in range(4096)]
    return [
        pyarrow.table({"text": [draw.choice(texts) for _ in range(rows)]})
        for _ in range(count)
    ]


def seconds_of(measured, clock=time.perf_counter):
    began = clock()
    measured()
    return clock() - began


def show(name, rate, part_of=None):
    line = f"{name:44} {rate / 1e6:8.0f} MB/s"
    print(line + (f"  {100 * rate / part_of:4.0f} %" if part_of else ""), flush=True)


class ParseAndTell(Parse):
    """Parse, with a column of the processor time at the beginning of the call."""

    def __call__(self, batch):
        spent = time.process_time()
        parsed = super().__call__(batch)
        column = pyarrow.repeat(spent, parsed.num_rows)
        return parsed.append_column("spent", column)


class Ray:
    """A cluster of one node with one processor, and blocks in its store."""

    def __init__(self, blocks):
        import ray
        from ray.cluster_utils import Cluster

        folder = str(pathlib.Path(parlance.__file__).parent.parent)
        self._ray = ray
        self._cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "object_store_memory": 4 << 30},
        )
        paths = os.pathsep.join([folder, str(pathlib.Path(__file__).parent)])
        ray.init(
            address=self._cluster.address,
            log_to_driver=False,
            logging_level="error",
            runtime_env={"env_vars": {"PYTHONPATH": paths}},
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        self._data = ray.data.from_arrow(blocks).materialize()
        self._rows = self._data.count()
        self.parse(Parse(FORMAT, keep=[]))  # starts the worker

    def parse(self, function):
        parsed = self._data.map_batches(
            function, batch_format="pyarrow", batch_size=None
        ).materialize()
        assert parsed.count() == self._rows
        return parsed

    def processor_seconds(self):
        """Of the worker, for all blocks but the last."""
        parsed = self.parse(ParseAndTell(FORMAT, keep=[]))
        times = []
        for batch in parsed.iter_batches(batch_format="pyarrow", batch_size=None):
            times += batch["spent"].unique().to_pylist()
        return max(times) - min(times)

    def close(self):
        self._ray.shutdown()
        self._cluster.shutdown()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--blocks", type=int, default=8)
    arguments.add_argument("--rows", type=int, default=32768, help="of a block")
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()

    blocks = blocks_of(options.blocks, options.rows)
    size = sum(block["text"].nbytes for block in blocks)
    rows = options.blocks * options.rows
    print(f"{rows} responses, {size / 1e6:.0f} MB, {options.blocks} blocks; {FORMAT}")

    def kernel(threads):
        for block in blocks:
            pyarrow.chunked_array(
                parlance.parse_arrow(block["text"], FORMAT, threads=threads)
            )

    ray = Ray(blocks)
    parse = Parse(FORMAT, keep=[])
    frame = polars.from_arrow(pyarrow.concat_tables(blocks)).rechunk()
    expression = parse_expression("text", FORMAT)
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.parquet")
        pyarrow.parquet.write_table(
            pyarrow.concat_tables(blocks), source, row_group_size=options.rows
        )

        def parquet(number):
            out = os.path.join(folder, f"out-{number}")
            command = [sys.executable, "-m", "parlance", "parse", source, "-o", out]
            subprocess.run(
                [*command, "-f", FORMAT, "--key", "text"],
                check=True,
                stderr=subprocess.DEVNULL,
            )

        for number in range(options.rounds):
            # The worker's time has no last block, so its bytes are fewer.
            told = ray.processor_seconds() * options.blocks / (options.blocks - 1)
            for name, seconds in {
                "kernel": seconds_of(lambda: kernel(1)),
                "kernel, CPU": seconds_of(lambda: kernel(1), time.process_time),
                "Ray": seconds_of(lambda: ray.parse(parse)),
                "Ray, CPU": told,
                "Ray, nothing": seconds_of(lambda: ray.parse(_same)),
                "kernel, all": seconds_of(lambda: kernel(0)),
                "Polars": seconds_of(lambda: frame.select(expression)),
                "Parquet": seconds_of(lambda: parquet(number)),
            }.items():
                best[name] = max(best.get(name, 0), size / seconds)
    ray.close()

    show("kernel, one thread", best["kernel"])
    show("Ray, one processor", best["Ray"], best["kernel"])
    show("kernel, one thread, CPU", best["kernel, CPU"])
    show("Ray, the worker, CPU", best["Ray, CPU"], best["kernel, CPU"])
    show("Ray, a function that returns its batch", best["Ray, nothing"])
    show(f"kernel, {os.cpu_count()} threads", best["kernel, all"])
    show("Polars, plug-in", best["Polars"], best["kernel, all"])
    show("Parquet, python -m parlance parse", best["Parquet"], best["kernel, all"])
    print(f"{'':44} {best['Parquet'] * rows / size:8.0f} responses/s")


def _same(batch):
    return batch


if __name__ == "__main__":
    main()
