"""A text made by choosing among the tokens that masks allow."""

import random

import numpy

# What brings a text to its end sooner than letters do, best first.
CLOSERS = [(b"}", b"]"), (b'"', b"<", b"|", b">", b"/", b"</", b"</a>")]


def bits(mask):
    """Which bits are set, lowest first."""
    raw = numpy.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), "u1")
    return numpy.flatnonzero(numpy.unpackbits(raw, bitorder="little")).tolist()


def random_walk(seed, steps, tokens, stop, mask, accept):
    """The ids of a text that may end, or None where `steps` found no end.

    `mask()` is a number with bit t for token t; `accept(id)` appends.
    """
    r = random.Random(seed)
    ids = []
    for step in range(steps):
        allowed = mask()
        if allowed >> stop & 1 and (r.random() < 0.3 or allowed == 1 << stop):
            return ids
        choices = [t for t in bits(allowed) if t != stop]
        if r.random() < 0.3 + 0.7 * step / steps:
            for words in CLOSERS:
                closers = [t for t in choices if tokens[t] in words]
                if closers:
                    choices = closers
                    break
        if not choices:
            return None
        token = r.choice(choices)
        if not accept(token):
            return None
        ids.append(token)
    return None
