"""Arguments that are not what they should be, and what is said of them."""

import collections
import copy
import ctypes
import gc
import os
import pathlib
import pickle
import re
import stat
import sys
import threading

import numpy
import pytest

import parlance
import parlance.jmespath
from parlance import Grammar, UsageError, Vocabulary, _parlance
from parlance.chat import ChatStream

TOKENS = [bytes([b]) for b in range(256)]
TEMPLATE = {"start_anchor": "<A>", "fields": {"content": {}}}
TAG = {"format": {"type": "any_text"}}


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(TOKENS, stop_ids=[0])


# ---- Token ids in other people's memory


@pytest.mark.parametrize(
    "ids",
    [
        (ctypes.c_int * 2)(97, 98),
        (ctypes.c_uint64 * 2)(97, 98),
        (ctypes.c_int.__ctype_be__ * 2)(97, 98),
        numpy.array([97, 98], ">i4"),
        numpy.array([97, 0, 98, 0])[::2],
        numpy.array([98, 97])[::-1],
        memoryview(b"ab"),
        memoryview(numpy.array([97, 98], "i2")),
        numpy.frombuffer(b"\0a\0\0\0b\0\0\0", "<i4", offset=1),
    ],
)
def test_ids_in_memory(vocabulary, ids):
    assert vocabulary.decode(ids) == "ab"
    parser = parlance.ResponseParser(TEMPLATE, ids, vocabulary=vocabulary)
    parser.feed(ids)
    assert parser.finalize()[0] == {"content": "abab"}


def test_ids_without_end(vocabulary):
    with pytest.raises(UsageError, match="more than 67108864"):
        vocabulary.decode(numpy.broadcast_to(numpy.int32(97), (2**40,)))
    with pytest.raises(UsageError, match="more than 67108864"):
        vocabulary.decode(range(2**40))

    class Short:
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return [97, 98][index]

    with pytest.raises(UsageError, match="says that it has 5 items, and has 2"):
        vocabulary.decode(Short())


@pytest.mark.parametrize("ids", [{0: 97}, numpy.zeros((1, 2), int), 97, "ab", [1.5]])
def test_no_ids(vocabulary, ids):
    with pytest.raises(TypeError, match="ids must be a flat sequence"):
        vocabulary.decode(ids)


def test_masks_in_memory(vocabulary):
    matcher = Grammar.from_regex("[ab]").compile(vocabulary).matcher()
    row = (ctypes.c_int * 8)()
    matcher.fill_bitmask(row)
    assert row[3] == 0b110
    logits = (ctypes.c_float * 256)()
    parlance.apply_bitmask(logits, row)
    finite = [i for i, x in enumerate(logits) if x == 0]
    assert finite == [97, 98]
    both = ((ctypes.c_float * 256) * 2)()
    parlance.apply_bitmask(both, row)
    assert [list(r) for r in both] == [list(logits)] * 2
    with pytest.raises(UsageError, match="no multiple of 4"):
        matcher.fill_bitmask(memoryview(bytearray(33))[1:].cast("i"))
    fixed = numpy.zeros(8, numpy.int32)
    fixed.flags.writeable = False
    with pytest.raises(TypeError, match="writable"):
        matcher.fill_bitmask(fixed)
    assert not fixed.any()


def test_matchers_that_nobody_else_holds(vocabulary):
    constraint = Grammar.from_regex("[ab]").compile(vocabulary)
    rows = numpy.zeros((3, constraint.mask_words), numpy.int32)
    parlance.fill_bitmasks((constraint.matcher() for _ in range(3)), rows)
    assert rows[:, 3].tolist() == [0b110] * 3


# ---- Dicts that contain themselves, or each other


def templates_without_end():
    once = {"fields": {}}
    once["fields"]["a"] = once
    twice = {}
    twice["fields"] = twice
    twice["a"] = twice
    listed = {"fields": {"a": {"open": []}}}
    listed["fields"]["a"]["open"].append(listed)
    return [once, twice, listed]


@pytest.mark.parametrize("spec", templates_without_end())
def test_templates_that_contain_themselves(spec):
    for read in (
        parlance.Format,
        parlance.ResponseTemplate,
        parlance.ResponseSchema,
        lambda spec: parlance.ResponseParser(spec, ""),
        lambda spec: parlance.parse_response("", spec, prefix=""),
    ):
        with pytest.raises(parlance.TemplateError, match="containing itself"):
            read(spec)


def shared(names, levels=64):
    value = {}
    for _ in range(levels):
        value = {name: value for name in names}
    return value


def test_tools_that_are_none():
    for tools, word in (([1], r"tools\[0\] .* not int"),
                        ([{"name": "f"}, "g"], r"tools\[1\] .* not str")):
        with pytest.raises(TypeError, match=word):
            parlance.ToolSet(tools)


def test_dicts_that_share_others():
    spec = shared(("fields", "a"))
    with pytest.raises(parlance.TemplateError, match="more than 1048576 values"):
        parlance.parse_response("", spec, prefix="")
    schema = shared(("not", "if"))
    with pytest.raises(parlance.SchemaError, match="more than 1048576 values"):
        Grammar.from_json_schema(schema)
    with pytest.raises(parlance.GrammarError, match="more than 1048576 values"):
        parlance.StructuralTag({"format": schema})
    with pytest.raises(parlance.Error, match="more than 1048576 values"):
        parlance.ToolSet([schema])
    with pytest.raises(parlance.jmespath.JmespathError, match="1048576 values"):
        parlance.jmespath.search("to_string(@)", schema)
    # What is shared a few times is as good as copies.
    field = {"open": "<a>", "close": "</a>", "repeats": True}
    spec = TEMPLATE | {"fields": {"a": field, "content": {}}}
    assert parlance.parse_response("<a>1</a>2", spec, prefix="") == {
        "a": ["1"],
        "content": "2",
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [(0.0, -0.0), (-0.0, 0.0), (1, True), (True, 1), (1, 1.0), (1.0, True), ("1", 1)],
)
def test_a_dict_that_changes_by_little(before, after):
    spec = TEMPLATE | {"defaults": {"n": before}}
    for value in (before, after, before):
        spec["defaults"]["n"] = value
        got = parlance.parse_response("", spec, prefix="")["n"]
        assert repr(got) == repr(value)


# ---- Dicts and lists that change during a call


def test_what_is_cached_is_made_of_the_snapshot_that_is_the_key():
    spec = {"a": {"b": [1, {"c": 2}]}, "d": []}
    known = {}

    def make(said):
        # What another thread may do meanwhile.
        spec["a"]["b"][1]["c"] = 3
        spec["d"].append(4)
        made = copy.deepcopy(said)
        spec["a"]["b"][1]["c"] = 2
        spec["d"].clear()
        return made

    for _ in range(2):
        assert _parlance.cached(known, spec, make) == spec
    spec["a"]["b"].append("new")
    assert _parlance.cached(known, spec, make) == spec


def test_a_dict_that_a_finalizer_empties_while_it_is_read():
    """Every allocation may run one."""

    class Finalized:
        def __init__(self, spec):
            self.spec = spec
            self.cycle = self

        def __del__(self):
            self.spec["fields"].clear()
            self.spec["list"].clear()

    before = gc.get_threshold()
    try:
        for threshold in range(1, 40):
            spec = {
                "fields": {str(i): {"x": [i]} for i in range(20)},
                "list": [{"y": i} for i in range(20)],
            }
            Finalized(spec)
            gc.set_threshold(threshold)
            said = _parlance.cached({}, spec, lambda said: said)
            gc.set_threshold(*before)
            gc.collect()
            assert all(said["fields"][i] == {"x": [int(i)]} for i in said["fields"])
            assert said["list"] == [{"y": i} for i in range(len(said["list"]))]
    finally:
        gc.set_threshold(*before)


def test_dicts_with_an_order_of_their_own():
    schema = collections.OrderedDict(a={"type": "integer"}, b={"type": "integer"})
    schema.move_to_end("a")
    grammar = Grammar.from_json_schema(
        {"type": "object", "properties": schema, "required": ["a", "b"]},
        key_order="schema",
        compact=True,
    )
    assert grammar.accepts('{"b":1,"a":2}')
    assert not grammar.accepts('{"a":2,"b":1}')
    assert parlance.jmespath.search("keys(@)", schema) == ["b", "a"]
    assert parlance.jmespath.search("to_string(@)", collections.OrderedDict(schema, c=1)) == (
        '{"b":{"type":"integer"},"a":{"type":"integer"},"c":1}'
    )

    class Computed(dict):
        def get(self, key, default=None):
            return key * 2

    assert parlance.jmespath.search("ab", Computed()) == "abab"

    class Renamed(dict):
        def items(self):
            return [(key.upper(), value) for key, value in super().items()]

    # {"CONST": 1}: nothing that a schema has.
    assert Grammar.from_json_schema(Renamed(const=1), lenient=True).accepts("2")

    class Odd(dict):
        def items(self):
            return [1]

    with pytest.raises(TypeError, match="pair of a key and a value"):
        Grammar.from_json_schema(Odd(const=1))


# ---- What the caller keeps, and may change later


def test_arguments_that_change_later(vocabulary):
    stop_ids = [1]
    compiler = parlance.Compiler(vocabulary, stop_ids=stop_ids)
    stop_ids[0] = 2
    for one in (compiler, pickle.loads(pickle.dumps(compiler)), copy.copy(compiler)):
        matcher = one.compile_regex("a").matcher()
        assert matcher.stop_ids == [1]
    names = {"thinking": "thoughts"}
    format = parlance.Format("qwen3", names=names)
    names["thinking"] = "other"
    assert "thoughts" in pickle.loads(pickle.dumps(format)).fields


def test_results_that_the_caller_changes(vocabulary):
    tag = parlance.tool_calling([], "qwen3", reasoning="allowed")
    for parser in (
        parlance.ResponseParser("qwen3", "<think>a"),
        tag.parser("<think>a"),
    ):
        events = parser.initial_events
        assert events
        before = copy.deepcopy(events)
        events[0].clear()
        events.clear()
        assert parser.initial_events == before


def test_objects_that_change_are_not_copied(vocabulary):
    tag = parlance.tool_calling([], "qwen3")
    constraint = Grammar.from_regex("a").compile(vocabulary)
    for one in (
        parlance.Batch(),
        parlance.MaskTable(parlance.Compiler(vocabulary)),
        ChatStream("qwen3"),
        parlance.ResponseParser("qwen3", ""),
        tag.parser(),
        constraint.matcher(),
    ):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=type(one).__name__):
                duplicate(one)


@pytest.mark.filterwarnings("ignore:nanobind")
def test_a_second_init_changes_nothing(vocabulary):
    format = parlance.Format("qwen3")
    compiler = parlance.Compiler(vocabulary, stop_ids=[1])
    tools = parlance.ToolSet([])
    for call in (
        lambda: format.__init__("llama3_json"),
        lambda: compiler.__init__(vocabulary, stop_ids=[2]),
        lambda: tools.__init__([{"name": "f"}]),
        lambda: parlance.ResponseParser("qwen3", "").__init__("qwen3", ""),
        lambda: vocabulary.__init__([b"a"]),
    ):
        with pytest.raises(TypeError):
            call()
    assert pickle.loads(pickle.dumps(format)).name == "qwen3"
    assert compiler.compile_regex("a").matcher().stop_ids == [1]
    assert pickle.loads(pickle.dumps(compiler)).compile_regex("a").matcher().stop_ids == [1]
    assert tools._text == "[]" and len(tools) == 0
    assert len(vocabulary) == 256


# ---- Exceptions of the caller's own code


class Mine(ValueError):
    pass


def test_a_generator_raises_its_own_exception():
    def failing(error):
        yield "a"
        raise error

    for error in (Mine("why"), TypeError("why"), KeyboardInterrupt(), SystemExit(3)):
        for call in (
            lambda one: parlance.parse_response(one, "qwen3", prefix=""),
            parlance.ToolSet,
            Grammar.union,
            lambda one: parlance.feed_deltas([], one),
            lambda one: ChatStream("qwen3").feed(one),
        ):
            with pytest.raises(type(error)) as caught:
                call(failing(error))
            assert caught.value is error


def test_an_encoder_raises_its_own_exception(vocabulary):
    constraint = Grammar.from_regex("abc")
    for error in (Mine("why"), KeyboardInterrupt(), SystemExit(3)):

        def encode(text, error=error):
            raise error

        known = vocabulary.with_encoder(encode)
        matcher = constraint.compile(known).matcher()
        for call in (lambda: known.encode("a"), matcher.forced_tokens):
            with pytest.raises(type(error)) as caught:
                call()
            assert caught.value is error
    with pytest.raises(TypeError, match="what the encoder returns"):
        vocabulary.with_encoder(lambda text: 1).encode("a")
    assert vocabulary.with_encoder(lambda text: [97]).encode("a") == [97]


def test_a_tensor_raises_its_own_exception(vocabulary):
    matcher = Grammar.from_regex("a").compile(vocabulary).matcher()
    row = numpy.zeros(8, numpy.int32)

    class Tensor:
        def __dlpack__(self, **options):
            raise self.error

        def __dlpack_device__(self):
            return 1, 0

    for call in (
        matcher.fill_bitmask,
        lambda tensor: parlance.apply_bitmask(tensor, row),
    ):
        Tensor.error = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            call(Tensor())
        Tensor.error = Mine("not mine to give")
        with pytest.raises(TypeError) as caught:
            call(Tensor())
        assert caught.value.__cause__ is Tensor.error


def test_a_cause_is_kept():
    class Sequence:
        def __len__(self):
            return 1

        def __getitem__(self, index):
            raise Mine("not today")

    class Odd:
        def __bool__(self):
            raise Mine("neither")

    for call in (
        lambda: Vocabulary([b"a"]).decode(Sequence()),
        lambda: Grammar.from_json_schema({}, closed=Odd()),
        lambda: parlance.parse_response("", TEMPLATE, prefix="", recover=Odd()),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert isinstance(caught.value.__cause__, Mine)


# ---- Events that no parser has made


def events(**members):
    return [{"type": "call_open", "field": "tool_calls", "name": "f", **members}]


@pytest.mark.parametrize(
    "member", ["call", "start", "end"], ids=["call", "start", "end"]
)
def test_numbers_of_events(member):
    for number in (-1, 2**64, numpy.uint64(2**63)) + ((2**32,) if member == "call" else ()):
        with pytest.raises(UsageError, match=f'"{member}" of an event'):
            ChatStream("qwen3").feed(events(**{member: number}))
    with pytest.raises(TypeError, match=f'"{member}" of an event'):
        ChatStream("qwen3").feed(events(**{member: "1"}))


def test_members_of_events():
    class Odd:
        def __bool__(self):
            raise Mine("neither")

    with pytest.raises(Mine):
        ChatStream("qwen3").feed(events(dirty=Odd()))
    close = {"type": "region_close", "field": "content", "text": ""}
    with pytest.raises(TypeError, match="the value must be made of"):
        ChatStream("qwen3").feed([close | {"value": {1, 2}}])


@pytest.mark.parametrize("text", ["a\ud800b", "\ud83d\ude00", "\ude00"])
def test_a_stream_takes_what_its_own_parser_gives(text):
    parser = parlance.ResponseParser("qwen3", "")
    stream = ChatStream("qwen3")
    chunks = stream.feed(parser.feed(text[:1])) + stream.feed(parser.feed(text[1:]))
    message, last = parser.finalize()
    chunks += stream.feed(last) + stream.end("stop")
    # A format file replaces halves of surrogate pairs.
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert message["content"] == text
    said = "".join(
        chunk.body["choices"][0]["delta"].get("content") or ""
        for chunk in chunks
        if chunk.body["choices"]
    )
    assert said == stream.response["choices"][0]["message"]["content"] == text


# ---- Numbers with many digits


def test_the_digits_of_python_are_no_limit_of_a_response():
    number = "-" + "1234567890" * 100
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(640)
        got = parlance.parse_response(
            f"<A><n>{number}</n>",
            TEMPLATE | {"fields": {"n": {"open": "<n>", "close": "</n>", "content": "json"}}},
            prefix="",
        )["n"]
        schema = _parlance.schema_text({"const": -(10**1000)})
        said = parlance.jmespath.search("to_string(@)", [10**18, -(10**1000), 2**64])
        event = {"type": "region_close", "field": "n", "value": {"n": got}}
        assert ChatStream(None).feed([event])
    finally:
        sys.set_int_max_str_digits(before)
    assert got == int(number)
    assert schema == '{"const": -1' + "0" * 1000 + "}"
    assert said == f"[{10**18},{-(10**1000)},{2**64}]"
    for value in (10**4299, -(10**4300) + 1):
        assert parlance.jmespath.search("to_string(@)", value) == str(value)
    for value in (10**4300, -(10**9000)):
        with pytest.raises(parlance.SchemaError, match="more digits than 4300"):
            Grammar.from_json_schema({"const": value})
        with pytest.raises(parlance.jmespath.JmespathError, match="more digits"):
            parlance.jmespath.search("to_string(@)", value)


def test_row_numbers_beyond_63_bits(vocabulary):
    batch = parlance.Batch()
    constraint = Grammar.from_regex("a").compile(vocabulary)
    row = batch.add(constraint.matcher())
    masks = numpy.zeros((2, constraint.mask_words), numpy.int32)
    for rows in ([2**63], numpy.array([2**63], numpy.uint64), numpy.array([2**64 - 1], "u8")):
        with pytest.raises(UsageError, match="beyond 64 bits"):
            batch.step([row], [[]], masks, mask_rows=rows)
    assert not masks.any()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is new in 3.12")
def test_a_buffer_that_clears_the_table(vocabulary):
    compiler = parlance.Compiler(vocabulary)
    table = parlance.MaskTable(compiler)
    table.id_of(compiler.compile_regex("a").matcher())

    class Buffer:
        def __buffer__(self, flags):
            table.clear()
            return memoryview(numpy.zeros((2, table.mask_words), numpy.int32))

    with pytest.raises((UsageError, TypeError)):
        table.copy_rows(Buffer())
    assert len(table) == 1


def test_a_tensor_that_clears_the_table(vocabulary):
    compiler = parlance.Compiler(vocabulary)
    table = parlance.MaskTable(compiler)
    table.id_of(compiler.compile_regex("a").matcher())
    asked = []

    class Tensor:
        memory = numpy.zeros((2, table.mask_words), numpy.int32)

        def __dlpack__(self, **options):
            asked.append(options)
            with pytest.raises(UsageError):
                table.clear()
            return self.memory.__dlpack__()

        def __dlpack_device__(self):
            return self.memory.__dlpack_device__()

    assert table.copy_rows(Tensor()) == 1
    assert asked and len(table) == 1


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class ManagedTensor(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [
        ("tensor", Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Forged:
    """A tensor of DLPack that says what it is told to say."""

    def __init__(self, code, shape, memory):
        self.memory = memory
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.managed = ManagedTensor(
            Tensor(
                None if memory is None else memory.ctypes.data,
                (ctypes.c_int32 * 2)(1, 0),
                len(shape),
                code,
                32,
                1,
                self.shape,
            )
        )

    def __dlpack__(self, **options):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0


@pytest.mark.parametrize(
    ("shape", "is_null"),
    [
        ([-1, 8], False),
        ([1, -8], False),
        ([-8], False),
        ([2**62, 8], False),
        ([2**61, 8], False),
        ([2, 8], True),
    ],
)
def test_tensors_of_no_memory(vocabulary, shape, is_null):
    matcher = Grammar.from_regex("a").compile(vocabulary).matcher()
    row = numpy.zeros(8, numpy.int32)

    def forged(code):
        return Forged(code, shape, None if is_null else numpy.zeros(16, numpy.int32))

    for call in (
        lambda: matcher.fill_bitmask(forged(0)),
        lambda: parlance.fill_bitmasks([matcher], forged(0)),
        lambda: parlance.apply_bitmask(forged(2), row),
        lambda: parlance.apply_bitmask(numpy.zeros(256, numpy.float32), forged(0)),
    ):
        with pytest.raises(TypeError, match="not Forged"):
            call()
    matcher.fill_bitmask(Forged(0, [2, 8], numpy.zeros(16, numpy.int32)))


# ---- Threads with small stacks


def in_a_small_thread(call):
    """What ``call`` returns in a thread with a stack of 256 KiB."""
    got = []

    def run():
        try:
            got.append(call())
        except Exception as error:  # noqa: BLE001: it is returned
            got.append(error)

    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return got[0]


def test_deep_values_in_threads_with_small_stacks():
    deep = []
    for _ in range(900):
        deep = [deep]
    text = "[" * 901 + "]" * 901
    fields = {"n": {"open": "<n>", "close": "</n>", "content": "json"}}
    template = TEMPLATE | {"fields": fields}
    calls = [
        lambda: parlance.parse_response(f"<n>{text}</n>", template, prefix="")["n"],
        lambda: parlance.parse_response(
            "", template | {"defaults": {"n": deep}}, prefix=""
        )["n"],
        lambda: parlance.jmespath.search("not_null(@, `1`)", deep),
        lambda: ChatStream("qwen3").feed(
            [{"type": "region_close", "field": "content", "value": deep}]
        ),
    ]
    for call in calls:
        here, there = call(), in_a_small_thread(call)
        # repr() and == are recursive.
        assert type(there) is type(here), there
        levels = 0
        while type(there) is list and there:
            there, levels = there[0], levels + 1
        assert levels == 900 or not isinstance(here, list) or here[0] is not deep[0]


def test_numbers_that_are_none_of_the_vocabulary(vocabulary):
    matcher = Grammar.from_regex("[ab]+").compile(vocabulary).matcher()
    for id in (-1, 2**32, 2**64, numpy.uint64(2**63)):
        assert matcher.accept_token(id) is False
        for call in (vocabulary.bytes, vocabulary.spelling, vocabulary.kind):
            with pytest.raises(UsageError, match="cannot be a token id"):
                call(id)
    assert vocabulary.bytes(300) == b"" and vocabulary.kind(300) == "unused"
    assert matcher.accept_token(numpy.int64(97)) and matcher.steps() == 1
    for call in (matcher.rollback, matcher.forced_bytes):
        with pytest.raises(UsageError, match="is -1, and must be 0 or more"):
            call(-1)
        with pytest.raises(UsageError, match="beyond 64 bits"):
            call(2**64)
        with pytest.raises(TypeError, match="must be an integer, not str"):
            call("1")
    with pytest.raises(UsageError, match="threads"):
        parlance.fill_bitmasks([matcher], numpy.zeros(8, numpy.int32), threads=-1)
    assert matcher.rollback(1)
    masks = numpy.zeros((2, 8), numpy.int32)
    with pytest.raises(UsageError, match="row -1 of a buffer with 2 rows"):
        parlance.fill_bitmasks([matcher], masks, rows=[-1])
    with pytest.raises(TypeError, match="rows must be a flat sequence of integers"):
        parlance.fill_bitmasks([matcher], masks, rows="0")


# ---- Wrong kinds of arguments

SURROGATE = "half of a surrogate pair"


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: Grammar.from_json_schema({}, indent="x"), TypeError, "indent"),
        (lambda: Grammar.from_json_schema({}, indent=-1), UsageError, "indent"),
        (lambda: Grammar.from_json_schema({}, indent=2**64), UsageError, "indent"),
        (
            lambda: Grammar.from_json_schema({}, separators=[1, 2]),
            TypeError,
            "an item of separators must be a str, not int",
        ),
        (
            lambda: Grammar.from_json_schema({}, separators="abc"),
            TypeError,
            "separators must be a pair of str",
        ),
        (
            lambda: Grammar.from_json_schema({}, documents=5),
            TypeError,
            "documents must be a dict, not int",
        ),
        (
            lambda: Grammar.from_json_schema({}, documents={1: {}}),
            TypeError,
            "a key of documents must be a str, not int",
        ),
        (
            lambda: Grammar.from_json_schema({}, documents={"u": "\ud800"}),
            parlance.SchemaError,
            SURROGATE,
        ),
        (lambda: Grammar.from_json_schema("\ud800"), parlance.SchemaError, SURROGATE),
        (
            lambda: Grammar.from_json_schema({}, draft=10**5000),
            UsageError,
            "a very large int",
        ),
        (
            lambda: Grammar.from_json_schema({"const": 10**5000}),
            parlance.SchemaError,
            "more digits",
        ),
        (
            lambda: Grammar.from_json_schema({}, closed=numpy.zeros(2)),
            TypeError,
            "closed must be True or False, not ndarray",
        ),
        (
            lambda: Grammar.from_lark("start: @x", grammars=5),
            TypeError,
            "grammars must be a dict, not int",
        ),
        (
            lambda: Grammar.from_lark("start: @x", grammars={"x": "\ud800"}),
            parlance.GrammarError,
            SURROGATE,
        ),
        (lambda: Grammar.from_ebnf("\ud800"), parlance.GrammarError, SURROGATE),
        (lambda: Grammar.from_regex(5), TypeError, "pattern must be a str, not int"),
        (
            lambda: Grammar.from_regex("a", limits=[1]),
            TypeError,
            "limits must be a dict, not list",
        ),
        (lambda: Grammar.from_regex("a").captures("a", "x"), TypeError, "Vocabulary"),
        (lambda: parlance.Format("\ud800"), parlance.TemplateError, SURROGATE),
        (
            lambda: parlance.parse_response("", TEMPLATE, prefix="", markers="\ud800"),
            parlance.Error,
            SURROGATE,
        ),
        (
            lambda: parlance.parse_response(
                "", TEMPLATE, prefix="", recover=numpy.zeros(2)
            ),
            TypeError,
            "recover must be True, False or None, not ndarray",
        ),
        (
            lambda: parlance.ToolSet(iter(lambda: {}, None)),
            UsageError,
            "tools has more than 65536 items",
        ),
        (lambda: "\ud800" in parlance.ToolSet([]), parlance.Error, SURROGATE),
        (lambda: 5 in parlance.ToolSet([]), TypeError, "must be a str, not int"),
        *(
            (call, TypeError, "vocabulary must be a Vocabulary, not str")
            for call in (
                lambda: parlance.parse_response("", TEMPLATE, prefix="", vocabulary="gpt2"),
                lambda: parlance.ResponseParser(TEMPLATE, "", vocabulary="gpt2"),
                lambda: parlance.StructuralTag(TAG).parse([97], vocabulary="gpt2"),
            )
        ),
        (
            lambda: parlance.parse_response("", None, prefix=""),
            parlance.TemplateError,
            "spec must be a response template.*not NoneType",
        ),
        (
            lambda: parlance.Format("qwen3").render({}, prefix="\ud800"),
            parlance.Error,
            SURROGATE,
        ),
        (
            lambda: parlance.detect_format({}, rendered="\ud800"),
            parlance.Error,
            SURROGATE,
        ),
        (lambda: ChatStream("qwen3", id="\ud800"), UsageError, SURROGATE),
        (lambda: ChatStream("qwen3", model=5), TypeError, "model must be a str"),
        (lambda: ChatStream("qwen3", created=2**70), UsageError, "created"),
        (
            lambda: ChatStream("qwen3").end(completion_tokens="a"),
            TypeError,
            "completion_tokens must be an integer",
        ),
        (
            lambda: Grammar.from_json_schema({"const": ["a", "x\ud83d\ude00"]}),
            parlance.SchemaError,
            "two halves of a surrogate pair.*/const/1",
        ),
        (
            lambda: parlance.Format({"fields": {"\ud83d\ude00": {}}}),
            parlance.TemplateError,
            "two halves of a surrogate pair",
        ),
        (lambda: Vocabulary.from_file("a\0b"), UsageError, "NUL"),
        (lambda: Vocabulary.from_text("\ud800"), parlance.Error, SURROGATE),
        (
            lambda: parlance.Format(pathlib.Path("a\0b")),
            parlance.TemplateError,
            "cannot be a path",
        ),
    ],
)
def test_what_is_said(call, error, said):
    with pytest.raises(error, match=said) as caught:
        call()
    assert caught.type is error


class Text(str):
    """A str that compares and hashes as it likes."""

    __eq__ = __ne__ = lambda self, other: True

    def __hash__(self):
        return 0

    def __str__(self):
        return "something else"

    lstrip = strip = lambda self: "{}"


def test_a_subclass_of_str_is_its_text():
    other = Text("llama3_json")
    assert parlance.Format("qwen3").name == "qwen3"
    assert parlance.Format(other).name == "llama3_json"
    parsed = parlance.parse_response("<think>a</think>b", Text("qwen3"), prefix="")
    assert parsed["thinking"] == "a"
    for _ in range(2):
        assert parlance.jmespath.search(Text("a"), {"a": 1, "b": 2}) == 1
        assert parlance.jmespath.search(Text("b"), {"a": 1, "b": 2}) == 2
    assert type(parlance.jmespath.compile(Text("a")).expression) is str
    with pytest.raises(parlance.TemplateError, match="nosuch"):
        parlance.Format(Text("nosuch"))


def test_no_name_of_a_class_of_cpp_is_shown():
    """What the module does not expect is an exception of Python all the same."""
    for call in (
        lambda: ChatStream("qwen3").feed(events(call=object())),
        lambda: _parlance.grammar_of_regex("a", {"work": -1}, None, None),
        lambda: _parlance.grammar_of_regex("a", {"work": "x"}, None, None),
    ):
        with pytest.raises((TypeError, parlance.Error)) as caught:
            call()
        assert "std::" not in str(caught.value)
        assert "bad_" not in str(caught.value)


def test_signatures_have_types_of_python():
    """A type without one of Python could not be converted."""
    found = []
    for name, value in vars(_parlance).items():
        members = vars(value).items() if isinstance(value, type) else [("", value)]
        for member, function in members:
            for line in getattr(function, "__nb_signature__", ()):
                if "::" in str(line[0]):
                    found.append(f"{name}.{member}: {line[0]}")
    assert found == []


def test_files_that_are_not_in_utf8(tmp_path, vocabulary):
    path = os.fsencode(tmp_path) + b"/none/\xff"
    with pytest.raises(parlance.Error, match=r"\\xff"):
        vocabulary.save(path)


# ---- Files that are none


def memory_device(path, minor):
    """A device like /dev/full (7) or /dev/zero (5), where one may be made."""
    try:
        os.mknod(path, 0o020666, os.makedev(1, minor))
    except OSError:
        pytest.skip("making a device is not allowed here")
    return path


def test_saving_replaces_only_files(tmp_path, vocabulary):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "saved")
    size = vocabulary.save(link)
    assert link.is_symlink() and (tmp_path / "saved").stat().st_size == size
    with pytest.raises(parlance.Error, match="it is a folder"):
        vocabulary.save(tmp_path)
    with pytest.raises(UsageError, match="NUL"):
        vocabulary.save("a\0b")
    full = memory_device(tmp_path / "full", 7)
    with pytest.raises(parlance.Error, match="No space left on device"):
        vocabulary.save(full)
    assert stat.S_ISCHR(full.stat().st_mode)


def test_files_without_end(tmp_path):
    zero = memory_device(tmp_path / "zero.json", 5)
    with pytest.raises(parlance.TemplateError, match="more than 268435456 bytes"):
        parlance.Format(zero)
