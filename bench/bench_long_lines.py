"""Whether `parlance parse --jsonl` takes as long for a byte of a long line as
for one of a short line, from a file, a pipe and gzip.

    python bench/bench_long_lines.py PATH_OF_PARLANCE

Prints a table: seconds of processor time for each megabyte of one line of 1 to
64 MB, the least of three runs.
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SIZES = (1, 4, 16, 64)  # MB
TEXT = "<think>" + "The train leaves at nine, and \u00e9 is a letter. " * 8 + "</think>\n"


def spent(command, source):
    best = float("inf")
    for _ in range(3):
        with open(source or "/dev/null", "rb") as text:
            feeder = subprocess.Popen(["cat"], stdin=text, stdout=subprocess.PIPE)
        process = subprocess.Popen(command, stdin=feeder.stdout,
                                   stdout=subprocess.DEVNULL)
        feeder.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        feeder.wait()
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


def main():
    command = [sys.argv[1], "parse", "--format", "qwen3", "--jsonl"]
    print("| length of the line | file | pipe | gzip |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder) / "line.jsonl"
        packed = pathlib.Path(folder) / "line.jsonl.gz"
        for size in SIZES:
            one = json.dumps(TEXT)[1:-1]
            line = '"' + one * (size * 1_000_000 // len(one)) + '"\n'
            plain.write_text(line)
            packed.write_bytes(gzip.compress(line.encode(), 1))
            times = [spent([*command, str(plain)], None), spent(command, plain),
                     spent([*command, str(packed)], None)]
            cells = " | ".join(f"{t / size:.4f} s/MB" for t in times)
            print(f"| {size} MB | {cells} |", flush=True)


if __name__ == "__main__":
    main()
