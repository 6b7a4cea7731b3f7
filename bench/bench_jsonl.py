"""How many stored generations a second `parlance parse --jsonl` reads.

    python bench/bench_jsonl.py PATH_OF_PARLANCE [COUNT]

Writes COUNT (default 400,000) typical responses of about 2 KB with two tool
calls each into a temporary file and parses it on all cores.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

PROSE = (
    "The user wants the weather in three cities, so I compare a < b first, "
    "then call the tool once per city and put the answers together.\n"
)


def response(i):
    calls = "".join(
        f'<tool_call>\n{{"name": "get_weather", "arguments": '
        f'{{"city": "{city}", "days": {i % 7}, "units": "metric"}}}}\n'
        f"</tool_call>\n"
        for city in ("Bern", "Ulaanbaatar")
    )
    return (
        "<think>\n" + PROSE * 12 + "\n</think>\n\nI will look both up.\n"
        + calls + f"Both are on their way, number {i}.<|im_end|>"
    )


def main():
    binary = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400_000
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "responses.jsonl"
        with path.open("w", encoding="utf-8") as out:
            for i in range(count):
                out.write(json.dumps({"response": response(i)}) + "\n")
        size = path.stat().st_size
        command = [binary, "parse", "--format", "qwen3", "--jsonl", str(path)]
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - start)
    spent = min(times)
    print(f"{count} responses of {size // count} bytes: {spent:.2f} s, "
          f"{count / spent:,.0f} a second, {size / spent / 1e6:,.0f} MB/s")


if __name__ == "__main__":
    main()
