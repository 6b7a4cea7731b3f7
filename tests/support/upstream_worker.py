"""Upstream's parser at the end of a pipe: a line of JSON in, a line of JSON out.

    {"template", "prefix", "tools", "chunks"} ->
    {"load_error": class} | {"message", "events"} | {"error", "events"} |
    {"gone": "hangs" or "crashes"}

Some requests make upstream loop for ever, or crash the module `regex`; see
worker_pipe.py.
"""

import math
import sys

from transformers.utils.chat_parsing import ResponseParser
from transformers.utils.chat_parsing.response_templates import load_response_template
from worker_pipe import serve


def encoded(value):
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else {"$int": digits(value)}
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {"$float": "nan" if value != value else "inf" if value > 0 else "-inf"}
    if isinstance(value, str):
        if not any("\ud800" <= c <= "\udfff" for c in value):
            return value
        raw = value.encode("utf-16-le", "surrogatepass")
        return {"$utf16": [raw[i] | raw[i + 1] << 8 for i in range(0, len(raw), 2)]}
    if isinstance(value, list):
        return [encoded(v) for v in value]
    return {k: encoded(v) for k, v in value.items()}


def digits(value):
    sys.set_int_max_str_digits(0)
    try:
        return str(value)
    finally:
        sys.set_int_max_str_digits(4300)


def answer(request):
    try:
        spec = load_response_template(request["template"])
    except Exception as e:
        return {"load_error": type(e).__name__, "message": str(e)}
    calls = []

    def error(stage, e):
        return {
            "error": {"class": type(e).__name__, "stage": stage, "message": str(e)},
            "kept": kept,
            "events": encoded(calls),
        }

    parser = ResponseParser(spec, prefix="", tools=request.get("tools"))
    # Events made before an error are of interest, so _process() is called as
    # the constructor, feed() and finalize() would.
    kept = spec.truncate_past_last_anchor(request["prefix"]) if request["prefix"] else ""
    for stage, piece in [("construct", kept)] + [("feed", c) for c in request["chunks"]]:
        calls.append([])
        parser._buffer += piece
        try:
            if piece or stage == "feed":
                parser._process(calls[-1], eos=False)
        except Exception as e:
            return error(stage, e)
    calls.append([])
    try:
        parser._process(calls[-1], eos=True)
        message, _ = parser.finalize()
    except Exception as e:
        return error("finalize", e)
    return {"message": encoded(message), "events": encoded(calls), "kept": kept}


if __name__ == "__main__":
    serve(answer)
