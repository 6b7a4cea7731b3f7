"""What the package offers, name by name."""

import array
import copy
import inspect
import json
import pathlib
import pickle
import random
import subprocess
import sys
import threading
import time
import weakref

import pytest

import parlance
from parlance import _parlance

TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<A>",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "content": {"close": "<|end|>"},
        "calls": {
            "open_pattern": r"<call:(?P<name>\w+)>",
            "close": "</call>",
            "content": "json",
            "repeats": True,
            "transform": {
                "type": "function",
                "function": {"name": "{name}", "arguments": "{content}"},
            },
        },
    },
}
TEXT = '<think>hm</think><call:f>{"a": 1}</call>Yes.<|end|>'
MESSAGE = {
    "role": "assistant",
    "thinking": "hm",
    "calls": [
        {"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    ],
    "content": "Yes.",
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {"properties": {"n": {"type": "integer"}}},
        },
    }
]
TOKENS = [bytes([b]) for b in range(256)] + [b"<think>", b"</think>", b"<|end|>"]


@pytest.fixture(scope="module")
def vocabulary():
    return parlance.Vocabulary(
        TOKENS, special_ids=[256, 257, 258], stop_ids=[258]
    )


def ids_of(text):
    out, rest = [], text.encode()
    while rest:
        for i in (256, 257, 258):
            if rest.startswith(TOKENS[i]):
                out.append(i)
                rest = rest[len(TOKENS[i]) :]
                break
        else:
            out.append(rest[0])
            rest = rest[1:]
    return out


# ---- parse_response


def test_text():
    assert parlance.parse_response(TEXT, TEMPLATE, prefix="") == MESSAGE
    assert parlance.parse_response(TEXT.encode(), TEMPLATE, prefix=b"") == MESSAGE
    assert (
        parlance.parse_response(bytearray(TEXT.encode()), TEMPLATE, prefix="")
        == MESSAGE
    )


def test_upstreams_names_of_arguments():
    message = parlance.parse_response(
        text=TEXT, response_template=TEMPLATE, prefix=""
    )
    assert message == MESSAGE
    parser = parlance.ResponseParser(response_template=TEMPLATE, prefix="")
    assert parser.feed(text=TEXT)
    with pytest.raises(TypeError, match="given twice"):
        parlance.parse_response(TEXT, TEMPLATE, prefix="", text=TEXT)
    with pytest.raises(TypeError, match="missing argument: 'spec'"):
        parlance.parse_response(TEXT, prefix="")


def test_batches():
    one = parlance.parse_response([TEXT], TEMPLATE, prefix="")
    assert one == [MESSAGE]
    assert parlance.parse_response([], TEMPLATE, prefix="") == []
    assert parlance.parse_response((), TEMPLATE, prefix="") == []
    assert parlance.parse_response((TEXT, b"x"), TEMPLATE, prefix="") == [
        MESSAGE,
        {"role": "assistant", "content": "x"},
    ]
    each = parlance.parse_response(
        ["a</think>b", "a"], TEMPLATE, prefix=["<A><think>", "<A>"]
    )
    assert each == [
        {"role": "assistant", "thinking": "a", "content": "b"},
        {"role": "assistant", "content": "a"},
    ]
    # An empty list says that there is no prompt.
    assert parlance.parse_response(["x"], TEMPLATE, prefix=[])
    assert parlance.parse_response("x", TEMPLATE, prefix=["<A>"])
    with pytest.raises(parlance.UsageError, match=r"2 response.* 3 prefix"):
        parlance.parse_response(["a", "b"], TEMPLATE, prefix=["", "", ""])
    with pytest.raises(parlance.UsageError, match="2 prefix"):
        parlance.parse_response("a", TEMPLATE, prefix=["", ""])


def test_large_batch_is_as_one_by_one():
    texts = [
        f"<think>{i}</think>" + "text " * (i % 700) + "<|end|>"
        for i in range(400)
    ]
    got = parlance.parse_response(texts, TEMPLATE, prefix="")
    assert got == [
        parlance.parse_response(text, TEMPLATE, prefix="") for text in texts
    ]


def test_first_error_of_a_batch():
    texts = ["ok " * 9000, "<call:f>{</call>", "ok", "<call:f>]</call>"]
    with pytest.raises(parlance.ResponseError) as caught:
        parlance.parse_response(texts, TEMPLATE, prefix="")
    assert caught.value.item == 1
    assert "response 1 of the batch" in str(caught.value)


def test_ids(vocabulary):
    ids = ids_of(TEXT)
    parse = parlance.parse_response
    kind = {"prefix": "", "vocabulary": vocabulary}
    assert parse(ids, TEMPLATE, **kind) == MESSAGE
    assert parse(tuple(ids), TEMPLATE, **kind) == MESSAGE
    assert parse(array.array("i", ids), TEMPLATE, **kind) == MESSAGE
    assert parse([ids, ids[:1]], TEMPLATE, **kind)[0] == MESSAGE
    assert parse(TEXT, TEMPLATE, **kind) == MESSAGE
    # Ids as prefix.
    assert parse(
        ids_of("a</think>b"),
        TEMPLATE,
        prefix=ids_of("<A><think>"),
        vocabulary=vocabulary,
    ) == {"role": "assistant", "thinking": "a", "content": "b"}
    with pytest.raises(parlance.UsageError, match="vocabulary="):
        parse(ids, TEMPLATE, prefix="")
    with pytest.raises(parlance.UsageError, match="vocabulary="):
        parse("x", TEMPLATE, prefix=[1, 2])
    with pytest.raises(parlance.UsageError, match="-1"):
        parse([1, -1], TEMPLATE, **kind)
    with pytest.raises(parlance.UsageError, match="64 bits"):
        parse([1, 10**30], TEMPLATE, **kind)
    with pytest.raises(TypeError, match="flat sequence"):
        parse([1, "a"], TEMPLATE, **kind)
    with pytest.raises(TypeError, match="not float"):
        parse(1.5, TEMPLATE, **kind)


def test_numpy_ids(vocabulary):
    np = pytest.importorskip("numpy")
    ids = ids_of(TEXT)
    kind = {"prefix": "", "vocabulary": vocabulary}
    for dtype in ("int16", "int32", "uint32", "int64", "uint64"):
        flat = np.array(ids, dtype=dtype)
        assert parlance.parse_response(flat, TEMPLATE, **kind) == MESSAGE
        # Every second element: strides other than the item's size.
        wide = np.repeat(flat, 2)[::2]
        assert parlance.parse_response(wide, TEMPLATE, **kind) == MESSAGE
        table = np.stack([flat, flat])
        assert parlance.parse_response(table, TEMPLATE, **kind) == [MESSAGE] * 2
        assert parlance.parse_response(table[:1], TEMPLATE, **kind) == [MESSAGE]
        assert parlance.parse_response([flat], TEMPLATE, **kind) == [MESSAGE]
        scalars = list(flat)
        assert parlance.parse_response(scalars, TEMPLATE, **kind) == MESSAGE
    with pytest.raises(TypeError, match="1 or 2 dimensions"):
        parlance.parse_response(np.zeros((1, 1, 1)), TEMPLATE, **kind)
    with pytest.raises(TypeError):
        parlance.parse_response(np.zeros(3), TEMPLATE, **kind)


def test_tensor_like_ids(vocabulary):
    class Tensor:
        ndim = 1

        def tolist(self):
            return ids_of(TEXT)

    assert (
        parlance.parse_response(
            Tensor(), TEMPLATE, prefix="", vocabulary=vocabulary
        )
        == MESSAGE
    )


def test_a_special_token_is_not_its_spelling(vocabulary):
    spelled = list(b"<think>a</think>") + [258]
    message = parlance.parse_response(
        spelled, TEMPLATE, prefix="", vocabulary=vocabulary
    )
    assert message == {"role": "assistant", "content": "<think>a</think>"}


def test_specs(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(TEMPLATE))
    for spec in (
        TEMPLATE,
        path,
        str(path),
        json.dumps(TEMPLATE),
        parlance.Format(TEMPLATE),
        parlance.ResponseTemplate(path),
    ):
        assert parlance.parse_response(TEXT, spec, prefix="") == MESSAGE
    with pytest.raises(FileNotFoundError):
        parlance.parse_response(TEXT, "missing.json", prefix="")
    with pytest.raises(parlance.TemplateError, match="qwen3"):
        parlance.parse_response(TEXT, "qwen33", prefix="")
    for spec in (None, [], 3):
        with pytest.raises(parlance.TemplateError, match="must be"):
            parlance.ResponseParser(spec, "")


def test_a_changed_template_is_another():
    spec = copy.deepcopy(TEMPLATE)
    assert parlance.parse_response("x<|end|>", spec, prefix="")["content"] == "x"
    spec["fields"]["content"]["close"] = "x"
    assert "content" not in parlance.parse_response("x", spec, prefix="")


def test_what_was_made_of_a_dict_is_that_of_its_content():
    """Random changes of a nested dict, at every depth; its JSON is the oracle."""
    rng = random.Random(5)

    def value(depth):
        kind = rng.choice(["dict", "list", "leaf", "leaf"]) if depth < 4 else "leaf"
        if kind == "leaf":
            return rng.choice(["a", "b" * 40, 1, 1.0, True, None, 0.0, -0.0, 2**70])
        count = rng.randrange(4)
        if kind == "list":
            return [value(depth + 1) for _ in range(count)]
        return {f"k{rng.randrange(6)}": value(depth + 1) for _ in range(count)}

    def containers(root):
        yield root
        for item in root.values() if isinstance(root, dict) else root:
            if isinstance(item, (dict, list)):
                yield from containers(item)

    for _ in range(60):
        cache, made = {}, 0

        def make(spec):
            nonlocal made
            made += 1
            return json.dumps(spec)

        spec = {"first": value(0), "second": value(0)}
        for _ in range(60):
            assert _parlance.cached(cache, spec, make) == json.dumps(spec)
            before = made
            _parlance.cached(cache, spec, make)
            assert made == before, "an unchanged dict was made again"
            target = rng.choice(list(containers(spec)))
            where = list(target) if isinstance(target, dict) else range(len(target))
            change = rng.choice(["set", "copy", "type", "order", "delete", "none"])
            if change == "none" or not where:
                continue
            at = rng.choice(where)
            old = target[at]
            if change == "set":
                target[at] = value(2)
            elif change == "copy":  # equal, but other objects
                target[at] = copy.deepcopy(old) if old != "a" else "".join(["a"])
            elif change == "type" and isinstance(old, (dict, list)):
                target[at] = [] if isinstance(old, dict) else {}
            elif change == "order" and isinstance(target, dict):
                target[at] = target.pop(at)
            elif change == "delete" and target is not spec:
                del target[at]


def test_prefix_is_required_after_the_template_is_read():
    with pytest.raises(parlance.UsageError, match='prefix=""') as caught:
        parlance.parse_response(TEXT, TEMPLATE)
    assert caught.value.code == "usage"
    with pytest.raises(parlance.TemplateError):
        parlance.parse_response(TEXT, {"fields": {}})
    with pytest.raises(parlance.UsageError):
        parlance.ResponseParser(TEMPLATE)


# ---- ResponseParser


def test_events():
    parser = parlance.ResponseParser(TEMPLATE, "<A><think>h")
    assert parser.prefix_bytes == 8
    assert parser.initial_events == [
        {
            "type": "region_open",
            "field": "thinking",
            "captures": {},
            "start": 0,
            "end": 7,
        },
        {
            "type": "region_chunk",
            "field": "thinking",
            "text": "h",
            "dirty": False,
            "start": 7,
            "end": 8,
        },
    ]
    events = parser.feed('m</think><call:f>{"a"')
    assert [event["type"][7:] for event in events] == [
        "chunk",
        "close",
        "open",
        "chunk",
    ]
    assert events[1] == {
        "type": "region_close",
        "field": "thinking",
        "value": "hm",
        "start": 9,
        "end": 17,
    }
    assert events[2]["captures"] == {"name": "f"}
    assert events[3]["dirty"] is True
    assert parser.feed("") == []
    parser.feed(": 1}</ca")
    assert parser.held == b"</ca"
    assert not parser.complete
    assert parser.message == {"role": "assistant", "thinking": "hm"}
    parser.feed("ll>Yes.<|end|>")
    message, final = parser.finalize()
    assert message == MESSAGE and final == []
    assert parser.complete and parser.message == MESSAGE
    assert [part["field"] for part in parser.parts] == [
        "thinking",
        "calls",
        "content",
    ]
    assert parser.diagnostics == []


def test_events_are_fresh():
    """What a caller does to an event touches no other."""
    parser = parlance.ResponseParser(TEMPLATE, "")
    for event in parser.feed(TEXT):
        event.clear()
    again = parlance.ResponseParser(TEMPLATE, "").feed(TEXT)
    assert all(set(event) >= {"type", "field", "start", "end"} for event in again)


def test_bytes_cut_inside_characters():
    data = "<think>größe €😀</think>é".encode()
    for cut in range(len(data) + 1):
        parser = parlance.ResponseParser(TEMPLATE, "")
        events = parser.feed(data[:cut]) + parser.feed(data[cut:])
        message, _ = parser.finalize()
        assert message["thinking"] == "größe €😀"
        assert message["content"] == "é"
        for event in events:
            event.get("text", "").encode()  # whole characters


def test_ill_formed_bytes_and_surrogates():
    def content(*chunks):
        parser = parlance.ResponseParser(TEMPLATE, "")
        for chunk in chunks:
            parser.feed(chunk)
        return parser.finalize()[0]["content"]

    assert content(b"a\xffb") == "a\ufffdb"
    # A str may hold what bytes may not spell.
    assert content("a\ud800b") == "a\ud800b"
    for data in (b"a\xed\xa0\x80b", b"\xed\xbf\xbf", b"\xed\x9f\xbf\xed\xed\xb0"):
        expected = data.decode("utf-8", "replace")
        assert content(data) == expected
        for cut in range(len(data)):
            assert content(data[:cut], data[cut:]) == expected


def test_prefixes_that_end_inside_a_character():
    tag = parlance.StructuralTag({"format": {"type": "any_text"}})
    for data in (
        "größe €😀é".encode(),
        b"a\xed\xa0\x80b",
        b"\xed\xbf\xbf",
        b"\xed\x9f\xbf\xed\xed\xb0",
        b"a\xf0\x9f\x98",
        b"\xe2\x82b\xc3\xff",
    ):
        expected = data.decode("utf-8", "replace")
        for cut in range(len(data) + 1):
            begin, rest = data[:cut], data[cut:]
            message = parlance.parse_response(
                rest, TEMPLATE, prefix=b"<A>" + begin
            )
            assert message["content"] == expected
            parser = parlance.ResponseParser(TEMPLATE, b"<A>" + begin)
            parser.feed(rest)
            assert parser.finalize()[0]["content"] == expected
            stream = parlance.ResponseParser(TEMPLATE, b"<A>" + begin)
            for byte in rest:
                stream.feed(bytes([byte]))
            assert stream.finalize()[0]["content"] == expected
            parts = parlance.TagParser(tag, prefix=begin)
            parts.feed(rest)
            parts.finalize()
            tree = tag.parse(rest, prefix=begin)
            assert parts.tree == tree
            if expected.encode() == data:
                assert tree["format"]["text"] == expected
            text = tree["format"].get("text", "") + tree["rest"]
            assert text == expected


def test_tokens_of_events(vocabulary):
    parser = parlance.ResponseParser(TEMPLATE, "", vocabulary=vocabulary)
    events = parser.feed([256, 104, 109]) + parser.feed([257])
    assert [event["tokens"] for event in events] == [
        (0, 1),
        (1, 3),
        (3, 4),
    ]
    with pytest.raises(parlance.UsageError, match="token ids"):
        parser.feed("text")
    with pytest.raises(parlance.UsageError, match="vocabulary="):
        parlance.ResponseParser(TEMPLATE, "").feed([1])


def test_markers():
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"<think>", b"</think>", b"<|other|>"]
    vocabulary = parlance.Vocabulary(
        tokens, added_ids=[256, 257], control_ids=[258]
    )
    qwen3 = parlance.Format("qwen3")
    as_tokens = [256, *b"a", 257, *b"b"]
    spelled = [*b"<think>a</think>b"]

    def read(ids, markers):
        return parlance.parse_response(
            ids, qwen3, prefix="", vocabulary=vocabulary, markers=markers
        )

    message = {"role": "assistant", "thinking": "a", "content": "b"}
    assert read(as_tokens, "token") == message
    assert read(spelled, "token")["content"] == "<think>a</think>b"
    for markers in ("either", "text"):
        assert read(as_tokens, markers) == message
        assert read(spelled, markers) == message
    with pytest.raises(parlance.UsageError, match="'special'"):
        read(spelled, "special")
    # A prefix of ids has markers where their ids are, one of text where they
    # are spelled.
    for prefix, thinks in (
        ("<think>", True),
        ([256], True),
        ([*b"<think>"], False),
    ):
        parser = qwen3.parser(prefix, vocabulary=vocabulary)
        parser.feed([*b"a"])
        assert ("thinking" in parser.finalize()[0]) == thinks
    parser = qwen3.parser(vocabulary=vocabulary)
    parser.feed([*b"a", 258, *b"b"])
    assert parser.finalize()[0]["content"] == "ab"
    assert [d["code"] for d in parser.diagnostics] == ["unexpected_special"]
    with pytest.raises(parlance.UsageError, match="vocabulary="):
        qwen3.parser([1])


@pytest.mark.parametrize("bad", [3, 1.5, {}, object()])
def test_feed_of_something_else(bad):
    parser = parlance.ResponseParser(TEMPLATE, "")
    with pytest.raises(TypeError, match="text must be"):
        parser.feed(bad)
    assert parser.feed("ok")


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_deltas_are_the_events_that_carry_text(size, vocabulary):
    """feed_deltas and feed say the same, in both parsers, of text and of ids."""
    tag = qwen3_tag()
    text = (
        "<think>\nHm ü. \n</think>\n\nLet me look.\n<tool_call>\n"
        '{"name": "f", "arguments": {"n": 1, "s": "ü"}}\n</tool_call>'
    )
    makers = [
        (lambda: parlance.ResponseParser("qwen3", "", stream_calls=True), text),
        (
            lambda: parlance.ResponseParser(
                "qwen3", "", stream_calls=True, recover=True
            ),
            text + "<tool_call>\n{broken\n</tool_call> and more",
        ),
        (lambda: parlance.TagParser(tag, stream_calls=True), text),
        (
            lambda: parlance.ResponseParser(
                "qwen3", "", vocabulary=vocabulary, stream_calls=True
            ),
            list(text.encode()),
        ),
    ]
    for make, response in makers:
        with_events, with_deltas = make(), make()
        for at in range(0, len(response), size):
            piece = response[at : at + size]
            assert with_deltas.feed_deltas(piece) == deltas_of(
                with_events.feed(piece)
            )
        message, events = with_events.finalize()
        assert with_deltas.finalize_deltas() == (message, deltas_of(events))
        with pytest.raises(parlance.StateError):
            with_deltas.feed_deltas("")
        with pytest.raises(parlance.StateError):
            with_deltas.finalize_deltas()


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_step_of_many_parsers_is_a_feed_of_each(size):
    """feed_deltas of many, of both kinds, says what feed_deltas of each says."""
    tag = qwen3_tag()
    text = (
        "<think>\nHm ü. \n</think>\n\nLet me look.\n<tool_call>\n"
        '{"name": "f", "arguments": {"n": 1, "s": "ü"}}\n</tool_call>'
    )
    makers = [
        lambda: parlance.ResponseParser("qwen3", "", stream_calls=True),
        lambda: parlance.TagParser(tag, stream_calls=True),
        lambda: parlance.ResponseParser(TEMPLATE, ""),
    ] * 3
    many = [make() for make in makers]
    single = [make() for make in makers]
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        pieces = [piece] * 6 + [None] + [piece.encode(), bytearray(piece.encode())]
        expected = [
            (row, *delta)
            for row, (parser, part) in enumerate(zip(single, pieces))
            for delta in parser.feed_deltas(part)
        ]
        assert parlance.feed_deltas(tuple(many), iter(pieces)) == expected
    for a, b in zip(many, single):
        assert a.finalize_deltas() == b.finalize_deltas()


def test_a_step_feeds_all_or_none(vocabulary):
    def fresh():
        return parlance.ResponseParser("qwen3", "")

    parsers = [fresh(), fresh()]
    ended = fresh()
    ended.finalize()
    with_ids = parlance.ResponseParser("qwen3", "", vocabulary=vocabulary)
    for wrong, texts, error, what in [
        (parsers, ["a"], parlance.UsageError, "texts has 1 items"),
        ([*parsers, 3], ["a"] * 3, TypeError, "an item of parsers must be"),
        (parsers, ["a", 3], TypeError, "an item of texts must be"),
        (parsers, ["a", [97]], TypeError, "an item of texts must be"),
        ([*parsers, ended], ["a"] * 3, parlance.StateError, "finalize"),
        ([*parsers, with_ids], ["a"] * 3, parlance.UsageError, "vocabulary="),
        (3, ["a"], TypeError, "parsers must be a list"),
    ]:
        with pytest.raises(error, match=what):
            parlance.feed_deltas(wrong, texts)
    assert parlance.feed_deltas([], []) == []
    assert parlance.feed_deltas(parsers, ["b", "c"]) == [
        (0, "region_chunk", "content", "b", -1),
        (1, "region_chunk", "content", "c", -1),
    ]


def test_a_failed_row_leaves_the_others():
    bad = parlance.ResponseParser(TEMPLATE, "", recover=False)
    good = parlance.ResponseParser(TEMPLATE, "")
    text = '<think>a</think><call:f>{"a": </call>'
    got = parlance.feed_deltas([bad, good], [text, "Hi. "])
    assert [delta for delta in got if delta[0] == 1]
    with pytest.raises(parlance.ResponseError):
        bad.finalize_deltas()
    good.finalize_deltas()


def test_equal_formats_share_what_is_compiled():
    """A template that has been loaded is taken from the cache, and independent."""
    spec = {"fields": {"content": {"content": "text"}}, "start_anchor": "A"}
    first = parlance.ResponseTemplate(spec)
    again = parlance.ResponseTemplate(json.loads(json.dumps(spec)))
    assert first is not again and again.source == first.source
    renamed = parlance.Format("qwen3", names={"thinking": "reasoning"})
    assert "thinking" in parlance.Format("qwen3").fields
    assert "reasoning" in renamed.fields
    for format in (again, renamed):
        copy = pickle.loads(pickle.dumps(format))
        assert copy.fields == format.fields and copy.source == format.source


def qwen3_tag():
    return parlance.Format("qwen3").structural_tag(TOOLS, reasoning="allowed")


def deltas_of(events):
    return [
        (
            event["type"],
            event["field"],
            event["name"] if event["type"] == "call_open" else event.get("text", ""),
            event.get("call", -1),
        )
        for event in events
        if event["type"] not in ("region_open", "region_close")
    ]


def test_a_failure_has_the_deltas_of_its_call():
    parser = parlance.ResponseParser(TEMPLATE, "", recover=False)
    with pytest.raises(parlance.ResponseError) as caught:
        parser.feed_deltas('<think>a</think><call:f>{"a": </call>')
        parser.finalize_deltas()
    assert all(type(delta) is tuple for delta in caught.value.events)


def test_nothing_is_no_text(vocabulary):
    assert parlance.parse_response(None, TEMPLATE, prefix="") == {
        "role": "assistant"
    }
    assert parlance.parse_response([None, "a"], TEMPLATE, prefix="") == [
        {"role": "assistant"},
        {"role": "assistant", "content": "a"},
    ]
    for parser in (
        parlance.ResponseParser(TEMPLATE, ""),
        parlance.ResponseParser(TEMPLATE, "", vocabulary=vocabulary),
        parlance.TagParser({"format": {"type": "any_text"}}),
    ):
        assert parser.feed(None) == []
        parser.finalize()
        with pytest.raises(parlance.StateError):
            parser.feed(None)


# ---- What did not fit


BROKEN = '<call:f>{"a": </call>Yes.<|end|>'


def test_details_of_one():
    got = parlance.parse_response(TEXT, TEMPLATE, prefix="", details=True)
    assert got[:5] == (MESSAGE, True, [], None, False)
    (call,) = got.attempted_calls
    assert (call["status"], call["name"], call["why"]) == ("ok", "f", "")
    assert isinstance(got, parlance.ParseResult) and got.message == MESSAGE
    got = parlance.parse_response(
        BROKEN, TEMPLATE, prefix="", recover=True, details=True
    )
    assert got.message == {"role": "assistant", "content": "Yes."}
    assert [d["field"] for d in got.diagnostics] == ["calls"]
    assert got.error is None
    cut = parlance.parse_response("<think>a", TEMPLATE, prefix="", details=True)
    assert cut.message["thinking"] == "a" and not cut.complete
    # Only format files say what ends a turn.
    for text, ended in (("Hi.<|im_end|>\n", True), ("Hi.", False), ("Hi.<|im_e", False)):
        got = parlance.parse_response(text, "qwen3", prefix="", details=True)
        assert got.complete and got.turn_ended is ended
        assert bool(got.diagnostics) is text.endswith("<|im_e")
    # What would have been raised.
    got = parlance.parse_response(
        BROKEN, TEMPLATE, prefix="", recover=False, details=True
    )
    assert type(got.error) is parlance.ResponseError
    assert (got.message, got.complete) == (None, False)


def test_details_are_those_of_a_parser():
    for text in (TEXT, BROKEN, "<think>a", "", "x" * 50_000 + BROKEN):
        parser = parlance.ResponseParser(TEMPLATE, "", recover=True, attempts=True)
        parser.feed(text)
        message, _ = parser.finalize()
        assert parlance.parse_response(
            text, TEMPLATE, prefix="", recover=True, details=True
        ) == (
            message,
            parser.complete,
            parser.diagnostics,
            None,
            parser.turn_ended,
            parser.attempted_calls,
            parser.prefix_bytes,
        )


def test_one_bad_response_does_not_end_a_batch(vocabulary):
    bad = [1.5, object(), {}, [2**40], [1, "x"], BROKEN]
    for responses in (["a", *bad, "b"], [*bad, "a"], [bad[0], b"a", [97]]):
        results = parlance.parse_response(
            responses,
            TEMPLATE,
            prefix="",
            vocabulary=vocabulary,
            recover=False,
            details=True,
        )
        assert len(results) == len(responses)
        for response, result in zip(responses, results):
            alone = parlance.parse_response(
                [response],
                TEMPLATE,
                prefix="",
                vocabulary=vocabulary,
                recover=False,
                details=True,
            )[0]
            if any(response is one for one in bad):
                assert isinstance(result.error, (TypeError, parlance.Error))
                assert result[:2] == (None, False)
                assert str(result.error).split(" (")[0] == (
                    str(alone.error).split(" (")[0]
                )
                assert type(result.error) is type(alone.error)
            else:
                assert result == alone and result.error is None
    # A prefix belongs to its response.
    results = parlance.parse_response(
        ["a", "b"], TEMPLATE, prefix=["", 1.5], details=True
    )
    assert [type(r.error) for r in results] == [type(None), TypeError]
    # Half of a surrogate pair is a character like others in a response.
    results = parlance.parse_response(
        ["\ud800", "b"], TEMPLATE, prefix="", details=True
    )
    assert [r.message["content"] for r in results] == ["\ud800", "b"]
    # Without details the first failure ends it, and says which it is.
    with pytest.raises(parlance.ResponseError) as caught:
        parlance.parse_response(
            ["a", BROKEN], TEMPLATE, prefix="", recover=False
        )
    assert caught.value.item == 1


def test_details_by_schema():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "x-regex": r"n=(\S+)"}},
    }
    results = parlance.parse_response(
        ["n=1", "n=x", 5, None], schema, details=True
    )
    assert results[0] == ({"n": 1}, True, [], None, False, [], 0)
    assert [type(r.error).__name__ for r in results[1:3]] == [
        "ResponseError",
        "TypeError",
    ]
    assert parlance.parse_response("n=1", schema, details=True).message == {"n": 1}


# ---- Descriptions as transformers has them


def test_loaded_templates():
    chat_parsing = pytest.importorskip("transformers.utils.chat_parsing")
    templates = [
        TEMPLATE,
        {
            "start_anchor_pattern": "<[AB]>",
            "fields": {
                "x": {
                    "open": ["<x>", "<xx>"],
                    "close_pattern": "</x+>",
                    "repeats": True,
                    "join": "|",
                },
                "y": {"open": "<y>", "close": "</y>", "optional": True},
                "z": {"content": "text", "content_args": {"strip": False}},
            },
        },
    ]
    for template in templates:
        loaded = chat_parsing.response_templates.load_response_template(template)
        for text in (TEXT, "<x>1</xx> <xx>2</x><y>3</y> z ", "<A><y></y>"):
            wanted = parlance.parse_response(text, template, prefix="<B>")
            assert parlance.parse_response(text, loaded, prefix="<B>") == wanted
            assert (
                chat_parsing.parse_response(text, loaded, prefix="<B>") == wanted
            )
        parser = parlance.ResponseParser(loaded, prefix="")
        assert parser.feed("<x>")
        assert parlance.ResponseTemplate(loaded).fields


SCHEMA = {
    "type": "object",
    "properties": {"content": {"type": "string", "x-regex": "(?s)(.*)"}},
}


def test_schema_by_upstreams_name():
    assert parlance.parse_response("a", schema=SCHEMA) == {"content": "a"}
    assert parlance.parse_response("a", schema=TEMPLATE, prefix="")["content"] == "a"
    with pytest.raises(TypeError, match="given twice"):
        parlance.parse_response("a", SCHEMA, schema=SCHEMA)


@pytest.mark.parametrize("settings", [{}, {"add_bos_token": True}, {"chat_template": "x"}])
def test_tokenizer_configurations(tmp_path, settings):
    """A dict, a text and a file are read as what they are."""
    by_schema = settings | {"response_schema": SCHEMA}
    by_template = settings | {"response_template": TEMPLATE}
    both = by_template | by_schema
    fields = ["thinking", "content", "calls"]
    for made in (lambda c: c, json.dumps, lambda c: file_of(tmp_path, c)):
        assert parlance.parse_response("a", made(by_schema)) == {"content": "a"}
        for spec in (by_schema, both):
            schema = parlance.ResponseSchema(made(spec))
            assert parlance.parse_response("a", schema) == {"content": "a"}
        for spec in (by_template, both):
            assert parlance.parse_response(TEXT, made(spec), prefix="") == MESSAGE
            assert parlance.Format(made(spec)).fields == fields
            assert parlance.ResponseTemplate(made(spec)).fields == fields
            parser = parlance.ResponseParser(made(spec), "")
            parser.feed(TEXT)
            assert parser.finalize()[0] == MESSAGE
        for cls in (parlance.Format, parlance.ResponseTemplate):
            with pytest.raises(parlance.TemplateError, match="response schema"):
                cls(made(by_schema))


def test_tokenizer_configurations_that_describe_nothing(tmp_path):
    detected = {"chat_template": "<tool_call>\n{\"name\"<think><|im_start|>"}
    unknown = {"tokenizer_class": "X", "response_schema": None}
    for made in (lambda c: c, json.dumps, lambda c: file_of(tmp_path, c)):
        # They are known by the chat template.
        name = parlance.detect_format(detected)[0]
        assert parlance.Format(made(detected)).name == name
        for read in (
            parlance.Format,
            parlance.ResponseTemplate,
            parlance.ResponseSchema,
            lambda spec: parlance.ResponseParser(spec, ""),
            lambda spec: parlance.parse_response("a", spec, prefix=""),
        ):
            with pytest.raises(ValueError, match="neither an object.*looked|there is"):
                read(made(unknown))


def file_of(folder, value):
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(value))
    return path


def test_a_schema_cannot_be_streamed():
    for spec in (SCHEMA, json.dumps(SCHEMA), parlance.ResponseSchema(SCHEMA)):
        with pytest.raises(parlance.TemplateError, match="parse_response takes it"):
            parlance.ResponseParser(spec, "")


def test_a_content_parser_that_does_not_exist():
    template = {
        "start_anchor": "<A>",
        "fields": {
            "x": {
                "open": "[",
                "close": "]",
                "content": "kv-lines",
                "content_args": {"value_parser": {"name": "nope"}},
            }
        },
    }
    with pytest.raises(parlance.UnknownNameError) as caught:
        parlance.parse_response("[a:1]", template, prefix="")
    assert isinstance(caught.value, KeyError)
    said = caught.value.message
    assert said.startswith('Field "x": value_parser names the unknown'), said
    assert caught.value.path == "/fields/x"


def test_use_after_finalize():
    parser = parlance.ResponseParser(TEMPLATE, "")
    parser.finalize()
    for call in (parser.finalize, lambda: parser.feed("")):
        with pytest.raises(RuntimeError, match="already finalized") as caught:
            call()
        assert isinstance(caught.value, parlance.Error)
        assert caught.value.code == "finalized"


def test_strict_failure_is_raised_once_and_at_the_end():
    parser = parlance.ResponseParser(TEMPLATE, "")
    with pytest.raises(parlance.ResponseError) as caught:
        parser.feed("a<call:f>{]</call>b")
    error = caught.value
    assert error.code == "invalid_content"
    assert error.path == "/fields/calls"
    assert error.span == (9, 11)
    assert [e["type"] for e in error.events][-1] in (
        "region_malformed",
        "region_chunk",
    )
    parser.feed("c")
    for _ in range(2):
        with pytest.raises(parlance.ResponseError):
            parser.finalize()
    with pytest.raises(parlance.ResponseError):
        parlance.ResponseParser(TEMPLATE, "<A><call:f>{]</call>")


def test_recover():
    parser = parlance.ResponseParser(TEMPLATE, "", recover=True)
    events = parser.feed("<call:f>{]</call><call:g>{}</call>")
    (bad,) = [e for e in events if e["type"] == "region_malformed"]
    assert bad["text"] == "{]"
    assert bad["error"]["code"] == "invalid_content"
    assert bad["error"]["message"]
    message, _ = parser.finalize()
    assert [c["function"]["name"] for c in message["calls"]] == ["g"]
    (diagnostic,) = parser.diagnostics
    assert diagnostic["field"] == "calls"
    assert diagnostic["span"] == (8, 10)
    assert parser.parts[0]["malformed"]


def test_cut():
    parser = parlance.ResponseParser(TEMPLATE, "")
    parser.feed("<think>hm")
    _, (close,) = parser.finalize()
    assert close["cut"] is True and close["value"] == "hm"
    assert not parser.complete
    assert parser.parts[0]["cut"]


@pytest.mark.parametrize(
    ("field", "text", "cls"),
    [
        ({"content": "int"}, "x", ValueError),
        ({"transform": "{nothing}"}, "x", KeyError),
        ({"content": "json"}, "[" * 2000 + "]" * 2000, RecursionError),
    ],
)
def test_classes_as_upstream_raises_them(field, text, cls):
    spec = {
        "start_anchor": "<A>",
        "fields": {"x": {"open": "<x>", "close": "</x>", **field}},
    }
    try:
        parlance.parse_response(f"<x>{text}</x>", spec, prefix="")
    except parlance.Error as error:
        assert isinstance(error, cls)
        assert isinstance(error, ValueError)
        assert not str(error).startswith(("'", '"'))
        assert error.message in str(error)
        restored = pickle.loads(pickle.dumps(error))
        assert type(restored) is type(error) and str(restored) == str(error)
    else:
        pytest.fail("no error")


# ---- Format and ResponseTemplate


def test_format():
    names = parlance.formats()
    assert names == sorted(names) and "qwen3" in names
    for name in names:
        format = parlance.Format(name)
        assert format.name == name and format.recovers
        assert format.fields == list(format.template["fields"])
        assert all(isinstance(model, str) for model in format.models)
        assert all({"code", "message", "path"} == set(lint) for lint in format.lint())
        bare = parlance.ResponseTemplate(format.template)
        assert bare.name == "" and not bare.recovers
        assert bare.template == format.template
    dashed = parlance.Format("qwen3-coder")
    assert dashed.name == "qwen3_coder"
    assert repr(dashed) == "Format('qwen3_coder')"
    assert parlance.Format(dashed).name == "qwen3_coder"
    parser = dashed.parser(tools=TOOLS)
    assert isinstance(parser, parlance.ResponseParser)


def test_format_survives_pickling():
    for format in (parlance.Format("qwen3"), parlance.ResponseTemplate(TEMPLATE)):
        again = pickle.loads(pickle.dumps(format))
        assert type(again) is type(format)
        assert again.template == format.template
        assert again.recovers == format.recovers


def test_response_template_is_only_that():
    with pytest.raises(parlance.TemplateError, match="name of a format"):
        parlance.ResponseTemplate("qwen3")
    with pytest.raises(parlance.TemplateError, match="format file"):
        parlance.ResponseTemplate(parlance.Format("qwen3").source)


def test_template_errors_have_a_place():
    spec = copy.deepcopy(TEMPLATE)
    spec["fields"]["calls"]["content"] = "xml"
    with pytest.raises(parlance.TemplateError) as caught:
        parlance.ResponseTemplate(spec)
    error = caught.value
    assert error.path == "/fields/calls/content"
    begin, end = error.span
    assert error.source.encode()[begin:end] == b'"xml"'
    assert error.source == json.dumps(spec, ensure_ascii=False)
    assert "/fields/calls/content" in str(error)


def test_what_a_template_cannot_hold():
    for value in ((1, 2), {1, 2}, b"x", object()):
        spec = copy.deepcopy(TEMPLATE)
        spec["fields"]["thinking"]["transform"] = {"a": [value]}
        with pytest.raises(parlance.TemplateError) as caught:
            parlance.ResponseTemplate(spec)
        assert caught.value.path == "/fields/thinking/transform/a/0"
        assert type(value).__name__ in str(caught.value)
    with pytest.raises(parlance.TemplateError, match="must be a str"):
        parlance.ResponseTemplate({"fields": {1: {}}})
    endless = {"fields": {}}
    endless["fields"]["x"] = endless
    with pytest.raises(parlance.TemplateError, match="containing itself"):
        parlance.ResponseTemplate(endless)


def test_json_text_is_that_of_json():
    for value in (
        None,
        [True, False, 0, -1, 2**63, -(2**70), 1.5, 1e300, float("inf")],
        {"a\n\t\"\\\b\f\r\x00\x1f\x7f": "é€😀", "": {}, "x": []},
    ):
        wanted = json.dumps(value, ensure_ascii=False)
        assert parlance._parlance.template_text(value) == wanted
        assert parlance._parlance.tools_text(value) == wanted
        assert parlance._parlance.schema_text(value) == wanted
        assert parlance._parlance.tag_text(value, "") == wanted
    assert parlance._parlance.template_text("\ud800é") == '"\\ud800é"'
    # Keys of schemas and tags, and tuples, are as json.dumps has them.
    value = {1: (2,), 2.5: 0, None: 1, True: [], -(2**70): 0, 1e300: 0}
    wanted = json.dumps(value)
    assert parlance._parlance.schema_text(value) == wanted
    assert parlance._parlance.tag_text(value, "") == wanted
    with pytest.raises(parlance.SchemaError) as caught:
        parlance._parlance.schema_text({"a": [{b"x": 1}]})
    assert caught.value.path == "/a/0"


def test_detect_format():
    name, why = parlance.detect_format({"response_template": TEMPLATE})
    assert name == "response_template" and why
    by_schema = {"chat_template": "<tool_call>", "response_schema": SCHEMA}
    found = parlance.detect_format(by_schema)
    assert found.name == "response_schema" and found.certainty == "certain"
    with pytest.raises(parlance.TemplateError, match="this is a response schema"):
        parlance.Format(by_schema)
    found = parlance.detect_format({"chat_template": "<tool_call> <think>"})
    assert found == ("qwen3", found.why) and found.family == "qwen3"
    assert found.certainty == "likely"
    assert found.others == ["hermes_qwen2_5"] and "others=" in repr(found)
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.certainty == "likely"
    assert again.others == found.others
    sample = parlance.detection_sample()
    assert sample["messages"][-1]["tool_calls"] and sample["tools"]
    with pytest.raises(TypeError, match="rendered must be a str"):
        parlance.detect_format({"chat_template": "<tool_call>"}, rendered=1)
    with pytest.raises(parlance.TemplateError) as caught:
        parlance.detect_format({})
    assert caught.value.code == "unknown_format"
    with pytest.raises(TypeError, match="dict"):
        parlance.detect_format("tokenizer_config.json")


def test_rank_formats():
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    best, *others = parlance.rank_formats("I see.\n" + call)
    assert best.calls == 1 and best.call == "f" and best.marked
    assert best.diagnostics == 0 and best.span == (7, 7 + len(call))
    assert best.region_bytes == len(call)
    assert "qwen3" in {each.name for each in [best, *others]}
    assert parlance.Format(best.name).name == best.name
    assert parlance.rank_formats(call.encode()) == parlance.rank_formats(call)
    assert parlance.rank_formats("Nothing.") == parlance.rank_formats("") == []
    bare = '{"name": "f", "arguments": {"n": 1}}'
    assert parlance.rank_formats(bare) == []
    assert not parlance.rank_formats(bare, tools=TOOLS)[0].marked
    with pytest.raises(TypeError):
        parlance.rank_formats(None)


# ---- Tools

CALL = '<call:f>{"n": "7", "m": "7"}</call>'


def arguments(message):
    return message["calls"][0]["function"]["arguments"]


def test_tools():
    for tools in (TOOLS, tuple(TOOLS), parlance.ToolSet(TOOLS)):
        message = parlance.parse_response(
            CALL, TEMPLATE, prefix="", tools=tools
        )
        assert arguments(message) == {"n": 7, "m": "7"}
    assert arguments(parlance.parse_response(CALL, TEMPLATE, prefix="")) == {
        "n": "7",
        "m": "7",
    }
    tools = parlance.ToolSet(TOOLS)
    assert len(tools) == 1 and "f" in tools and "g" not in tools
    with pytest.raises(TypeError, match="list of tools"):
        parlance.parse_response(CALL, TEMPLATE, prefix="", tools=TOOLS[0])


def test_functions_as_tools():
    def f(n: int, m: str):
        """
        Does it.

        Args:
            n: a number
            m: a text
        """

    try:
        import transformers.utils.chat_template_utils  # noqa: F401
    except ImportError:
        with pytest.raises(parlance.UsageError, match="transformers"):
            parlance.parse_response(CALL, TEMPLATE, prefix="", tools=[f])
        return
    message = parlance.parse_response(CALL, TEMPLATE, prefix="", tools=[f])
    assert arguments(message) == {"n": 7, "m": "7"}


# ---- Vocabulary


def test_vocabulary(vocabulary, tmp_path):
    assert len(vocabulary) == 259
    assert vocabulary.bytes(65) == b"A"
    assert vocabulary.bytes(999) == b""
    assert vocabulary.special("<think>") == 256
    assert vocabulary.special("A") is None
    assert vocabulary.special_ids == [256, 257, 258]
    assert vocabulary.stop_ids == [258]
    assert vocabulary.decode([256, 65, 0xFF]) == "<think>A\ufffd"
    with pytest.raises(parlance.UsageError, match="300"):
        parlance.Vocabulary([b"a"], special_ids=[300])
    with pytest.raises(TypeError, match="a token must be bytes, not str"):
        parlance.Vocabulary(["a"])
    assert parlance.Vocabulary([b"a", None, b"c"]).bytes(2) == b"c"

    ranks = b"YQ== 0\nYg== 1\n"
    tiktoken = parlance.Vocabulary.from_tiktoken(ranks, {"<|x|>": 2})
    assert tiktoken.decode([0, 1, 2]) == "ab<|x|>"
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(ranks)
    assert parlance.Vocabulary.from_file(path).decode([1, 0]) == "ba"
    with pytest.raises(FileNotFoundError):
        parlance.Vocabulary.from_file(tmp_path / "missing")
    with pytest.raises(parlance.Error) as caught:
        parlance.Vocabulary.from_tokenizer_json("{")
    assert caught.value.code == "invalid_json"


# ---- Threads, and the package itself


def test_parsers_on_threads():
    format = parlance.Format(TEMPLATE)
    wrong = []

    def work():
        for _ in range(200):
            parser = format.parser()
            for character in TEXT:
                parser.feed(character)
            if parser.finalize()[0] != MESSAGE:
                wrong.append(1)
            if parlance.parse_response(TEXT, TEMPLATE, prefix="") != MESSAGE:
                wrong.append(2)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_others_run_while_a_batch_is_parsed():
    """The GIL is released: a counting thread gets on meanwhile."""
    texts = ["<think>" + "word " * 200_000 + "</think>"] * 8
    done = threading.Event()
    counted = 0

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.0001)  # lets go by itself

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        sys.setswitchinterval(1000)  # nobody is made to let go
        before = counted
        for _ in range(100):  # a busy machine may not run it at once
            parlance.parse_response(texts, TEMPLATE, prefix="")
            if counted > before:
                break
        after = counted
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert after > before


def test_import_needs_nothing_else():
    program = (
        "import sys, parlance\n"
        "for name in ('numpy', 'torch', 'transformers', 'json', 'inspect'):\n"
        "    assert name not in sys.modules, name\n"
    )
    root = pathlib.Path(parlance.__file__).parent.parent
    subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{program}"],
        check=True,
    )


def test_a_template_that_changes_is_read_again():
    template = {
        "start_anchor": "<A>",
        "fields": {"x": {"open": "<x>", "close": "</x>", "transform": 1}},
    }
    ask = lambda: parlance.parse_response("<x>a</x>", template, prefix="")  # noqa: E731
    assert ask() == {"x": 1}
    assert ask() == {"x": 1}
    # 1 == True, and they are not the same constant.
    template["fields"]["x"]["transform"] = True
    assert ask()["x"] is True
    template["fields"]["x"]["transform"] = {"b": 1, "a": 2}
    assert list(ask()["x"]) == ["b", "a"]
    template["fields"]["x"]["transform"] = {"a": 2, "b": 1}
    assert list(ask()["x"]) == ["a", "b"]
    template["fields"]["x"]["open"] = ["<x>", "<y>"]
    template["fields"]["x"]["open"].append("<z>")
    assert parlance.parse_response("<z>a</x>", template, prefix="") == ask()
    template["fields"]["x"]["open"][2] = "<w>"
    assert parlance.parse_response("<z>a</x>", template, prefix="") == {}


@pytest.mark.parametrize("name", ["parse_response", "feed_deltas"])
def test_functions_with_a_shortcut_are_like_functions(name):
    function = getattr(parlance, name)
    assert (function.__name__, function.__qualname__) == (name, name)
    assert function.__module__.startswith("parlance")
    assert function.__doc__ and repr(function).startswith(f"<function {name} ")
    assert inspect.isroutine(function)
    assert next(iter(inspect.signature(function).parameters)) in (
        "response",
        "parsers",
    )
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert weakref.ref(function)() is function
    function.note = "kept"
    assert function.note == "kept" and function.__dict__["note"] == "kept"
    del function.note
    with pytest.raises(AttributeError, match="note"):
        function.note

    class Holder:
        method = function

    holder = Holder()
    assert Holder.method is function and holder.method.__self__ is holder
    with pytest.raises(TypeError):
        type(function)()


class Text(str):
    pass


def test_parse_response_gives_the_same_with_and_without_its_shortcut():
    template = parlance.ResponseTemplate(TEMPLATE)
    parse = parlance.parse_response
    other_name = "".join(["pre", "fix"])  # not the interned str
    for _ in range(3):
        for message in (
            parse(TEXT, template, prefix="<A>"),
            parse(TEXT, template, **{other_name: "<A>"}),
            parse(TEXT, spec=template, prefix="<A>"),
            parse(response=TEXT, spec=template, prefix="<A>"),
            parse(Text(TEXT), template, prefix=Text("<A>")),
            parse(TEXT, TEMPLATE, prefix="<A>"),
            parse(TEXT, template, prefix="<A>", tools=None),
            parse.__wrapped__(TEXT, template, prefix="<A>"),
        ):
            assert message == MESSAGE and list(message) == list(MESSAGE)
    schema = parlance.ResponseSchema(SCHEMA)
    assert parse.__wrapped__("a", schema) == {"content": "a"}
    for _ in range(3):
        for spec in (schema, SCHEMA, json.dumps(SCHEMA), copy.deepcopy(SCHEMA)):
            assert parse("a", spec) == parse(spec=spec, response="a")
            assert parse("a", spec) == parse(Text("a"), spec) == {"content": "a"}
            assert parse(None, spec) == parse.__wrapped__(None, spec)
            assert parse("\ud800", spec) == {"content": "\ud800"}
            assert parse("a" * 100_000, spec) == {"content": "a" * 100_000}
            assert parse(["a", "b"], spec) == [{"content": "a"}, {"content": "b"}]
        with pytest.raises(parlance.UsageError, match="takes no prefix"):
            parse("a", schema, prefix="")
    changed = copy.deepcopy(SCHEMA)
    assert parse("a", changed) == {"content": "a"}
    changed["properties"]["x"] = {"const": 1}
    assert parse("a", changed) == {"content": "a", "x": 1}
    # An error leaves nothing behind for the next response.
    for text in ("<call:f>[1</call>", TEXT + "\N{SNOWMAN}" * 20_000):
        try:
            parse(text, template, prefix="<A>")
        except parlance.ResponseError as error:
            assert error.code == "invalid_content"
        assert parse(TEXT, template, prefix="<A>") == MESSAGE
    with pytest.raises(TypeError, match="unexpected keyword"):
        parse(TEXT, template, prefixes="<A>")
    with pytest.raises(parlance.UsageError, match="prefix is required"):
        parse(TEXT, template)
