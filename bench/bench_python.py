"""What parsing costs from Python, beside transformers in the same process.

    python bench/bench_python.py

Prints, for recorded responses (docs/demo) and for a long one, with the ratio to
`transformers` on the same input:

    feed, deltas   a token-sized chunk, by `feed` and by `feed_deltas`
    step           the same for 64 requests in one call, each chunk; transformers
                   has `feed` for it
    dict           a whole response, with the template as a dict
    loaded         the same, with a template that both have loaded
    new            a template that neither has seen: loading it, and one response
    again          the same for a new dict with the content of one that both have
                   loaded before: transformers keeps the patterns that it has
                   compiled, parlance the whole template

then plain text of several lengths, one feed of several sizes, and the time
`import parlance` takes.  Both parsers get the same bare templates and must give
the same messages.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import parlance

try:
    import regex
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
    """Seconds of processor time per call: the best of several rounds of many calls."""
    function()
    calls = 1
    while True:
        start = time.thread_time()
        for _ in range(calls):
            function()
        spent = time.thread_time() - start
        if spent > at_least / 10:
            break
        calls *= 4
    calls = max(1, int(calls * at_least / spent / rounds))
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            function()
        times.append((time.thread_time() - start) / calls)
    return min(times)


def stream(parser_class, template, prefix, chunks):
    parser = parser_class(template, prefix=prefix)
    feed = parser.feed
    for chunk in chunks:
        feed(chunk)
    return parser.finalize()


def feed_time(parser_class, template, prefix, chunks, name="feed"):
    """Seconds per feed, without construction and finalize."""
    times = []
    for _ in range(7):
        parser = parser_class(template, prefix=prefix)
        feed = getattr(parser, name)
        start = time.thread_time()
        for chunk in chunks:
            feed(chunk)
        times.append((time.thread_time() - start) / len(chunks))
    return min(times)


def step_time(template, prefix, chunks, rows=64):
    """Seconds per feed, where one call feeds many parsers."""
    times = []
    for _ in range(7):
        parsers = [parlance.ResponseParser(template, prefix=prefix)
                   for _ in range(rows)]
        steps = [[chunk] * rows for chunk in chunks]
        start = time.thread_time()
        for step in steps:
            parlance.feed_deltas(parsers, step)
        times.append((time.thread_time() - start) / len(chunks) / rows)
    return min(times)


def fresh_time(function, template, seen):
    """Seconds per call with a dict of its own, the median.

    Unless its content has been `seen`, it is a template that no call had before,
    and no pattern is left compiled.  transformers compiles with `regex`.
    """
    text = json.dumps(template)
    times = []
    for _ in range(200):
        fresh = json.loads(text)
        if not seen:
            fresh["defaults"] = {**fresh.get("defaults", {}), "serial": next(serial)}
            regex.purge()
        start = time.thread_time()
        function(fresh)
        times.append(time.thread_time() - start)
    return statistics.median(times)


serial = itertools.count()


def plain_text(size):
    line = "The weather is nice today, and 3 < 4. "
    return (line * (size // len(line) + 1))[:size]


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
    columns = ("feed", "deltas", "step", "dict", "loaded", "new", "again")
    print(f"{'microseconds':16}" + "".join(f"{name:>8} {'x':>5} " for name in columns))
    ratios = {name: [] for name in columns}
    for name, template, prefix, text in recordings():
        ours = parlance.ResponseTemplate(template)
        theirs = load_response_template(template)
        chunks = chunks_of(text)
        message, _ = stream(parlance.ResponseParser, ours, prefix, chunks)
        # Upstream's message depends on the cuts for some of these; the one for
        # the whole text is the one that counts.
        upstream = upstream_parse(text, theirs, prefix=prefix)
        assert json.dumps(message) == json.dumps(upstream), name
        feed = feed_time(UpstreamParser, theirs, prefix, chunks)
        parse, parse_theirs = parlance.parse_response, upstream_parse
        times = {
            "feed": (feed_time(parlance.ResponseParser, ours, prefix, chunks), feed),
            "deltas": (
                feed_time(
                    parlance.ResponseParser, ours, prefix, chunks, "feed_deltas"
                ),
                feed,
            ),
            "step": (step_time(ours, prefix, chunks), feed),
            "dict": (
                best(lambda: parse(text, template, prefix=prefix)),
                best(lambda: parse_theirs(text, template, prefix=prefix)),
            ),
            "loaded": (
                best(lambda: parse(text, ours, prefix=prefix)),
                best(lambda: parse_theirs(text, theirs, prefix=prefix)),
            ),
        }

        def load_and_parse(fresh):
            return parse(text, parlance.ResponseTemplate(fresh), prefix=prefix)

        def load_and_parse_theirs(fresh):
            return parse_theirs(text, load_response_template(fresh), prefix=prefix)

        for column in ("new", "again"):
            times[column] = tuple(
                fresh_time(function, template, seen=column == "again")
                for function in (load_and_parse, load_and_parse_theirs)
            )
        for column, (a, b) in times.items():
            ratios[column].append(b / a)
        cells = [f"{a * 1e6:8.2f} {b / a:5.1f} " for a, b in times.values()]
        print(f"{name:16}" + "".join(cells))
    means = [f"{'':8} {statistics.geometric_mean(all):5.1f} " for all in ratios.values()]
    print(f"{'geometric mean':16}" + "".join(means))

    template = {
        "start_anchor": "A",
        "fields": {
            "thinking": {"open": "<think>", "close": "</think>"},
            "content": {"content": "text"},
        },
    }
    ours = parlance.ResponseTemplate(template)
    theirs = load_response_template(template)
    print("\nplain text")
    for size in (200, 2_000, 20_000, 200_000):
        text = plain_text(size)
        a = best(lambda: parlance.parse_response(text, ours, prefix="A"))
        b = best(lambda: upstream_parse(text, theirs, prefix="A"))
        print(f"{size:10} bytes {a * 1e6:8.2f} us {b / a:6.1f} x")
    print("\none feed")
    for size in (1 << 16, 1 << 20, 1 << 23):
        text = plain_text(size)
        a = best(lambda: parlance.ResponseParser(ours, prefix="A").feed(text))
        print(f"{size:10} bytes {a / size * 1e9:8.2f} ns a byte")


if __name__ == "__main__":
    main()
