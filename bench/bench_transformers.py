"""What a token costs in the streamer of `transformers serve`, with the patch.

    python bench/bench_transformers.py FOLDER     of a Qwen3 tokenizer

Prints, for responses of several lengths with reasoning and calls, the time of
one token in `DirectStreamer.put` (decoding, parsing and the items of the queue)
with transformers' parser and with `patch()`, and the time of the parser alone.
The template is the one of `transformers serve` for Qwen3.  Both parsers must give
the same items.
"""

from __future__ import annotations

import sys
import time
import types

import numpy as np
from parlance.integrations.transformers import patch, unpatch
from transformers import PreTrainedTokenizerFast
from transformers.cli.serving import utils

PROSE = (
    "The user wants the weather in three cities, so I compare a < b first, "
    "then call the tool once per city and put the answers together.\n"
)
CALL = (
    '<tool_call>\n{"name": "get_weather", "arguments": '
    '{"city": "Ulaanbaatar", "days": 7, "units": "metric"}}\n</tool_call>'
)
PROMPT = "<|im_start|>user\nHow is it?<|im_end|>\n<|im_start|>assistant\n"
MODEL = types.SimpleNamespace(config=types.SimpleNamespace(model_type="qwen3"))
LOOP = types.SimpleNamespace(call_soon_threadsafe=lambda call, item: call(item))


def response(size):
    half = PROSE * (size // 2 // len(PROSE))
    return f"<think>\n{half}</think>\n\n{half}{CALL}\n{CALL}<|im_end|>"


def streamed(tokenizer, prompt, tensors):
    """Processor time per token, and the items with adjacent texts joined."""
    items = []
    queue = types.SimpleNamespace(put_nowait=items.append)
    parser = utils.build_response_parser(tokenizer, MODEL, prompt)
    streamer = utils.DirectStreamer(tokenizer._tokenizer, LOOP, queue, parser)
    streamer.put(prompt)
    start = time.thread_time()
    for tensor in tensors:
        streamer.put(tensor)
    streamer.end()
    seconds = (time.thread_time() - start) / len(tensors)
    joined = []
    for item in items:
        if joined and isinstance(item, str) and type(item) is type(joined[-1]):
            joined[-1] = type(item)(joined[-1] + item)
        else:
            joined.append(item)
    return seconds, joined


def parsed(tokenizer, prompt, texts):
    """Processor time per token in the parser and in the conversion of its events."""
    parser = utils.build_response_parser(tokenizer, MODEL, prompt)
    start = time.thread_time()
    for text in texts:
        utils.response_events_to_chunks(parser.feed(text))
    return (time.thread_time() - start) / len(texts)


def main(folder):
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    tokenizer.response_template = None  # that of transformers serve
    prompt = np.array(tokenizer.encode(PROMPT))
    print(
        f"{'response':>9} {'tokens':>7} {'streamer':>10} {'patched':>10} {'x':>6}   "
        f"{'parser':>10} {'patched':>10} {'x':>6}"
    )
    for size in (2_000, 20_000):
        ids = tokenizer.encode(response(size))
        tensors = [np.array([id]) for id in ids]
        texts = [tokenizer.decode([id]) for id in ids]
        times, items = {}, {}
        for _ in range(5):  # alternately, because the machine is shared
            for name in ("theirs", "ours"):
                if name == "ours":
                    patch()
                seconds, items[name] = streamed(tokenizer, prompt, tensors)
                alone = parsed(tokenizer, prompt, texts)
                times.setdefault(name, []).append((seconds, alone))
                unpatch()
        assert items["ours"] == items["theirs"], (items, size)
        a, b = (
            [min(pair[i] for pair in times[name]) * 1e6 for i in (0, 1)]
            for name in ("theirs", "ours")
        )
        print(
            f"{size // 1000:>6} KB {len(ids):>7} {a[0]:>7.2f} us {b[0]:>7.2f} us "
            f"{a[0] / b[0]:>6.1f}   {a[1]:>7.2f} us {b[1]:>7.2f} us {a[1] / b[1]:>6.1f}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
