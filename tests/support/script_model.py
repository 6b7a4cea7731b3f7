"""A model that is a script, for tests of servers and engines.

It walks towards the text after "write: " in the last message of the user, one
byte or marker per token, wherever a mask lets it.  Its tokens are the bytes, and
the markers of ChatML and of hermes.
"""

import numpy as np
import parlance

MARKERS = ["<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
MARKERS += ["<think>", "</think>"]
IDS = {text: 256 + i for i, text in enumerate(MARKERS)}
END = IDS["<|im_end|>"]
SIZE = 256 + len(MARKERS)
OPENED = [IDS["<|im_start|>"], *b"assistant\n"]
AHEAD = 4  # how many tokens of its text the script skips

# What the script writes where the mask does not let it walk on.
FALLBACK = np.zeros(SIZE, np.float32)
for rank, token in enumerate([END, *b'"}]0a']):
    FALLBACK[token] = 5 - rank / 2


def vocabulary():
    return parlance.Vocabulary(
        [bytes([i]) for i in range(256)] + [text.encode() for text in MARKERS],
        added_ids=[IDS[text] for text in MARKERS[2:]],
        control_ids=[IDS[text] for text in MARKERS[:2]],
        stop_ids=[END],
    )


def ids_of(text):
    """Token ids, markers being tokens."""
    ids = []
    data = text.encode()
    while data:
        marker = next((m for m in MARKERS if data.startswith(m.encode())), None)
        ids.append(IDS[marker] if marker else data[0])
        data = data[len(marker.encode()) if marker else 1 :]
    return ids


def text_of(ids):
    return b"".join(
        bytes([i]) if i < 256 else MARKERS[i - 256].encode() for i in ids
    ).decode(errors="replace")


def scores_of(ids):
    """The logits after the prompt and a part of the response."""
    size = len(OPENED)
    last = (n for n in range(len(ids) - size, -1, -1) if ids[n : n + size] == OPENED)
    begin = next(last) + size
    user = text_of(ids[:begin]).rpartition("<|im_start|>user\n")[2]
    wanted = user.partition("write: ")[2].partition("<|im_end|>")[0]
    wanted = [*ids_of(wanted), END]
    at = 0
    for id in ids[begin:]:
        if id in wanted[at : at + AHEAD]:
            at = wanted.index(id, at) + 1
    scores = FALLBACK.copy()
    for ahead, id in reversed(list(enumerate(wanted[at : at + AHEAD]))):
        scores[id] = 10 - ahead
    return scores
