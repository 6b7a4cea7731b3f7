"""What parsing costs from Python, beside transformers in the same process.

    python bench/bench_python.py

Prints, for recorded responses (docs/demo) and for a long one: the time of one
`feed` of a token-sized chunk, the time of a whole response, the ratio to
`transformers` on the same input, and the time `import parlance` takes.
Both parsers get the same bare templates and must give the same messages.
"""

from __future__ import annotations

import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import parlance

try:
    from transformers.utils.chat_parsing import ResponseParser as UpstreamParser
    from transformers.utils.chat_parsing import parse_response as upstream_parse
    from transformers.utils.chat_parsing.response_templates import (
        load_response_template,
    )
except ImportError:
    sys.exit("transformers with chat_parsing is needed as the peer: scripts/setup")

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEMO = ROOT / "docs" / "demo"
PROSE = (
    "The user wants the weather in three cities, so I compare a < b first, "
    "then call the tool once per city and put the answers together.\n"
)


def recordings():
    for line in (DEMO / "recordings.tsv").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, format_name, prefix, _ = line.split("\t")
        yield (
            name,
            parlance.Format(format_name).template,
            prefix.replace("\\n", "\n"),
            (DEMO / f"{name}.txt").read_text("utf-8"),
        )
    call = (
        '<tool_call>\n{"name": "get_weather", "arguments": '
        '{"city": "Ulaanbaatar", "days": 7, "units": "metric"}}\n</tool_call>\n'
    )
    yield (
        "typical 2 KB",
        parlance.Format("qwen3").template,
        "<|im_start|>assistant\n",
        "<think>\n" + PROSE * 11 + "\n</think>\n\n" + call * 2
        + "Both are on their way.<|im_end|>",
    )


def chunks_of(text, size=4):
    return [text[i : i + size] for i in range(0, len(text), size)]


def best(function, at_least=0.3, rounds=5):
    """Seconds per call: the best of several rounds of many calls."""
    function()
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        spent = time.perf_counter() - start
        if spent > at_least / 10:
            break
        calls *= 4
    calls = max(1, int(calls * at_least / spent / rounds))
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def stream(parser_class, template, prefix, chunks):
    parser = parser_class(template, prefix=prefix)
    feed = parser.feed
    for chunk in chunks:
        feed(chunk)
    return parser.finalize()


def feed_time(parser_class, template, prefix, chunks):
    """Seconds per feed, without construction and finalize."""
    times = []
    for _ in range(7):
        parser = parser_class(template, prefix=prefix)
        feed = parser.feed
        start = time.perf_counter()
        for chunk in chunks:
            feed(chunk)
        times.append((time.perf_counter() - start) / len(chunks))
    return min(times)


def import_time():
    code = (
        "import time; s = time.perf_counter(); import parlance; "
        "print(time.perf_counter() - s)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], check=True,
                             capture_output=True, text=True).stdout)
        for _ in range(5)
    ]
    return statistics.median(times)


def main():
    print(f"python {platform.python_version()}, {platform.machine()}")
    print(f"import parlance: {import_time() * 1000:.1f} ms\n")
    print(f"{'response':16} {'feed':>9} {'upstream':>10} {'x':>6}   "
          f"{'one-shot':>10} {'upstream':>10} {'x':>6}")
    feeds, shots = [], []
    for name, template, prefix, text in recordings():
        ours = parlance.ResponseTemplate(template)
        theirs = load_response_template(template)
        chunks = chunks_of(text)
        message, _ = stream(parlance.ResponseParser, ours, prefix, chunks)
        # Upstream's message depends on the cuts for some of these; the one for
        # the whole text is the one that counts.
        upstream = upstream_parse(text, theirs, prefix=prefix)
        assert json.dumps(message) == json.dumps(upstream), name
        a = feed_time(parlance.ResponseParser, ours, prefix, chunks)
        b = feed_time(UpstreamParser, theirs, prefix, chunks)
        # One-shot from the template as a dict, as users call it.
        c = best(lambda: parlance.parse_response(text, template, prefix=prefix))
        d = best(lambda: upstream_parse(text, template, prefix=prefix))
        feeds.append(b / a)
        shots.append(d / c)
        print(f"{name:16} {a * 1e9:6.0f} ns {b * 1e6:7.2f} us {b / a:6.1f}   "
              f"{c * 1e6:7.2f} us {d * 1e6:7.1f} us {d / c:6.1f}")
    print(f"{'geometric mean':16} {'':9} {'':10} "
          f"{statistics.geometric_mean(feeds):6.1f}   {'':10} {'':10} "
          f"{statistics.geometric_mean(shots):6.1f}")


if __name__ == "__main__":
    main()
