"""One object of each class that changes, with a call of every method.

``test_processes.py`` and the programs that it starts use it.
"""

import numpy

import parlance
from parlance import _parlance, chat

MARKS = [b"<think>", b"</think>", b"<|start|>", b"<|end|>", b"<|message|>"]
MARKS += [b"<|channel|>", b"<|constrain|>", b"<|call|>", b"<|return|>"]
VOCABULARY = parlance.Vocabulary(
    [bytes([b]) for b in range(256)] + [*MARKS, b"<|endoftext|>"],
    control_ids=range(258, 266),
    added_ids=[256, 257],
    stop_ids=[265],
)
FORMAT = parlance.Format("qwen3")
COMPILER = parlance.Compiler(VOCABULARY)
CONSTRAINT = COMPILER.compile_regex("(a|b)*")
WORDS = CONSTRAINT.mask_words
TAG = parlance.StructuralTag({"format": {"type": "any_text"}})
TEXT = "<think>b a</think>b a"


class Index:
    """A token id whose ``__index__`` calls ``then`` first."""

    def __init__(self, then):
        self.then = then

    def __index__(self):
        self.then()
        return 97


class Truth:
    def __init__(self, then):
        self.then = then

    def __bool__(self):
        self.then()
        return True


class Buffer:
    """A buffer whose memory is asked for by a call of ``then``."""

    def __init__(self, then, rows=8):
        self.then = then
        self.array = numpy.zeros((rows, WORDS), numpy.int32)

    def __dlpack__(self, **options):
        self.then()
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def nothing():
    pass


def mask():
    return numpy.zeros((8, WORDS), numpy.int32)


def _parser_calls(parser, piece):
    calls = {
        name: (lambda name=name: getattr(parser, name))
        for name in "message chat_message complete prefix_bytes diagnostics parts "
        "calls held initial_events tokens turn_ended attempted_calls".split()
    }
    if hasattr(parser, "tree"):
        calls["tree"] = lambda: parser.tree
    for name in ("feed", "feed_deltas"):
        calls[name] = lambda name=name: getattr(parser, name)(piece())
    calls["finalize"] = parser.finalize
    calls["finalize_deltas"] = parser.finalize_deltas
    return calls


def text_parser(make):
    parser = make()
    return parser, _parser_calls(parser, lambda: ""), None


def ids_parser(make):
    parser = make()
    return (
        parser,
        _parser_calls(parser, lambda: []),
        lambda then: parser.feed([Index(then)]),
    )


def harmony():
    parser = parlance.HarmonyParser(VOCABULARY, role="assistant")
    calls = {
        name: (lambda name=name: getattr(parser, name))
        for name in ("final_events", "messages", "diagnostics", "turn_ended")
    }
    calls["feed"] = lambda: parser.feed([])
    calls["finalize"] = parser.finalize
    for name in ("message", "chat_message", "response_items"):
        calls[name] = getattr(parser, name)
    return parser, calls, lambda then: parser.feed([Index(then)])


def matcher():
    one = CONSTRAINT.matcher()
    calls = {
        name: (lambda name=name: getattr(one, name))
        for name in ("stop_ids", "error", "temperature")
    }
    for name in "reset copy steps is_terminated can_end captures".split():
        calls[name] = getattr(one, name)
    calls["forced_bytes"] = one.forced_bytes
    calls["forced_tokens"] = one.forced_tokens
    calls["rollback"] = lambda: one.rollback(0)
    calls["fill_bitmask"] = lambda: one.fill_bitmask(mask())
    calls["accept_token"] = lambda: one.accept_token(97)
    calls["accept_tokens"] = lambda: one.accept_tokens([97])
    calls["accept_bytes"] = lambda: one.accept_bytes("a")
    calls["fill_tree"] = lambda: one.fill_tree([-1], [-1], [97], mask())
    return one, calls, lambda then: one.accept_tokens([Index(then)])


def batch():
    one = parlance.Batch(threads=2)
    one.add(
        CONSTRAINT.matcher(),
        parlance.ResponseParser(FORMAT, "", vocabulary=VOCABULARY),
    )
    calls = {
        "add": one.add,
        "remove": lambda: one.remove(0),
        "step": lambda: one.step([0], [97], mask()),
        "__len__": one.__len__,
    }
    return one, calls, lambda then: one.step([0], [Index(then)], mask())


def table():
    one = parlance.MaskTable(COMPILER, 8)
    follower = CONSTRAINT.matcher()
    calls = {
        "id_of": lambda: one.id_of(follower),
        "copy_rows": lambda: one.copy_rows(mask()),
        "clear": one.clear,
        "__len__": one.__len__,
    }
    for name in ("max_rows", "mask_words", "version"):
        calls[name] = lambda name=name: getattr(one, name)
    return one, calls, lambda then: one.copy_rows(Buffer(then))


def chat_stream():
    one = chat.ChatStream(FORMAT)
    event = {"type": "text_unclaimed", "text": "a", "start": 0, "end": 1}
    calls = {
        "begin": one.begin,
        "feed": lambda: one.feed([event]),
        "end": lambda: one.end("stop"),
        "response": lambda: one.response,
        "tokens": lambda: one.tokens,
    }
    return one, calls, lambda then: one.feed([{**event, "cut": Truth(then)}])


def delta_stream():
    parser = parlance.ResponseParser(FORMAT, "", vocabulary=VOCABULARY)
    one = _parlance.DeltaStream(FORMAT, parser, VOCABULARY, [], "reasoning")
    calls = {
        "feed": lambda: one.feed([97]),
        "finalize": one.finalize,
        "open_calls": one.open_calls,
        "reasoning_tokens": one.reasoning_tokens,
    }
    return one, calls, lambda then: one.feed([Index(then)])


# For each class: the object, a call of each of its methods and properties, and a
# call in the middle of which it calls a function, or None.
OBJECTS = {
    "ResponseParser": lambda: text_parser(
        lambda: parlance.ResponseParser(FORMAT, "", stream_calls=True)
    ),
    "ResponseParser of ids": lambda: ids_parser(
        lambda: parlance.ResponseParser(FORMAT, "", vocabulary=VOCABULARY)
    ),
    "TagParser": lambda: text_parser(TAG.parser),
    "TagParser of ids": lambda: ids_parser(
        lambda: parlance.TagParser(TAG, vocabulary=VOCABULARY)
    ),
    "HarmonyParser": harmony,
    "Matcher": matcher,
    "Batch": batch,
    "MaskTable": table,
    "ChatStream": chat_stream,
    "DeltaStream": delta_stream,
}
# Of a table, these run beside each other.
TOGETHER = {"id_of", "copy_rows", "__len__", "max_rows", "mask_words", "version"}
