"""Reading conformance vectors, and comparing what comes out with them."""

import random

import conformance
import parlance


def load(name):
    """One file of the response templates."""
    return conformance.decode(conformance.read(f"response_template/{name}"))


def template(case, templates):
    spec = case["template"]
    return templates[spec]["template"] if isinstance(spec, str) else spec


def same(a, b):
    """Equality that tells 1 from 1.0 and True, and where NaN equals itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


_CLASSES = {
    "template_error": parlance.TemplateError,
    "usage_error": parlance.UsageError,
    "state_error": RuntimeError,
    "parse_error": parlance.ResponseError,
    "missing_placeholder": KeyError,
    "type_error": (TypeError, AttributeError),
    "missing_required": parlance.ResponseError,
    # A pattern in content_args is checked when the template is loaded.
    "regex_error": parlance.TemplateError,
    "recursion_error": RecursionError,
}


def error_fits(error, expected):
    """Whether an exception is the expected one: class and words."""
    if isinstance(expected, str):
        expected = {"category": expected}
    category = expected["category"]
    fits = isinstance(error, _CLASSES[category])
    # What is wrong with a template may be known before a response comes.
    if expected.get("stage") in ("feed", "finalize", "construct"):
        fits = fits or isinstance(error, parlance.TemplateError)
    if category == "missing_required":
        fits = fits and error.code == "missing_required"
    words = expected.get("contains") or []
    return fits and all(word.lower() in str(error).lower() for word in words)


# Keys that events of the bare kind have, by type.
_PLAIN = {
    "region_open": ("type", "field"),
    "region_chunk": ("type", "field", "text", "dirty"),
    "region_close": ("type", "field", "value"),
    "region_malformed": ("type", "field"),
}


def plain(event):
    return {key: event[key] for key in _PLAIN[event["type"]]}


def joined(events, keys=plain):
    """Events with neighbouring chunks of one region made one."""
    out = []
    for event in events:
        event = keys(event)
        last = out[-1] if out else None
        if (
            last is not None
            and event["type"] == last["type"] == "region_chunk"
            and event["field"] == last["field"]
        ):
            last["text"] += event["text"]
            continue
        out.append(event)
    return out


def expected_stream(case):
    events = case.get("expected_events")
    if events is None:
        return None
    flat = list(events["initial"])
    for feed in events["feeds"]:
        flat += feed
    return flat + events["final"]


def chunks_of(case):
    return [case["text"]] if "text" in case else case["chunks"]


def cuts(case):
    """Ways to cut a response: as given, whole, by character, by byte, and
    sampled; each with a name."""
    given = chunks_of(case)
    text = "".join(given)
    yield "given", given
    yield "whole", [text]
    if len(text) <= 400:
        yield "characters", list(text)
    data = text.encode("utf-8", "surrogatepass")
    has_surrogates = len(data) != len(text.encode("utf-8", "replace")) or any(
        0xD800 <= ord(c) < 0xE000 for c in text
    )
    if not has_surrogates and len(data) <= 400:
        yield "bytes", [data[i : i + 1] for i in range(len(data))]
    rng = random.Random(case["id"])
    places = list(range(1, len(text)))
    for at in places if len(places) <= 24 else rng.sample(places, 24):
        yield f"split at {at}", [text[:at], text[at:]]
    for seed in range(6):
        rng = random.Random(f"{case['id']} {seed}")
        out, at = [], 0
        while at < len(text):
            size = rng.choice([0, 1, 1, 2, 3, 5, 8, 13, 40])
            out.append(text[at : at + size])
            at += size
        yield f"random {seed}", out


def run(spec, prefix, chunks, tools=None, recover=None):
    """Message, events and error of one response; an error ends it."""
    events = []
    try:
        parser = parlance.ResponseParser(
            spec, prefix, tools=tools, recover=recover
        )
        events += parser.initial_events
        for chunk in chunks:
            events += parser.feed(chunk)
        message, final = parser.finalize()
        return message, events + final, None
    except (parlance.Error, TypeError) as error:
        return None, events, error
