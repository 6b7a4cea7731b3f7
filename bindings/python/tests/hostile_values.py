"""Values that no caller means, and what may come of them.

``VALUES`` maps names to functions, each of which makes a fresh value: many are
used up by a call, or changed.  What the methods of a value raise themselves is a
``Hostile``.
"""

import array
import collections
import ctypes
import decimal
import enum
import fractions
import io
import itertools
import os
import pathlib
import types
import unittest.mock
import weakref

import arrow_columns
import ml_dtypes
import numpy

import parlance


class Hostile(Exception):
    """Raised by a value's own method."""


def _raise(*_, **__):
    raise Hostile("from a method of the value")


VALUES = {}


def value(make):
    VALUES[make.__name__] = make
    return make


def values(**makes):
    VALUES.update(makes)


# ---- Numbers and constants


class _Int(int):
    pass


class _Float(float):
    pass


class _Enum(enum.IntEnum):
    ONE = 1


values(
    none=lambda: None,
    ellipsis=lambda: ...,
    not_implemented=lambda: NotImplemented,
    true=lambda: True,
    false=lambda: False,
    zero=lambda: 0,
    one=lambda: 1,
    minus_one=lambda: -1,
    int_2_31=lambda: 2**31,
    int_2_32=lambda: 2**32,
    int_2_63_less_1=lambda: 2**63 - 1,
    int_2_63=lambda: 2**63,
    int_2_64_less_1=lambda: 2**64 - 1,
    int_2_64=lambda: 2**64,
    int_minus_2_63=lambda: -(2**63),
    int_minus_2_64=lambda: -(2**64),
    int_of_5000_digits=lambda: 10**5000,
    minus_zero=lambda: -0.0,
    float=lambda: 1.5,
    nan=lambda: float("nan"),
    infinity=lambda: float("inf"),
    largest_float=lambda: 1.7976931348623157e308,
    complex=lambda: 1j,
    decimal=lambda: decimal.Decimal("1e999999"),
    fraction=lambda: fractions.Fraction(1, 3),
    int_subclass=lambda: _Int(3),
    float_subclass=lambda: _Float(3),
    int_enum=lambda: _Enum.ONE,
    numpy_int=lambda: numpy.int64(1),
    numpy_uint=lambda: numpy.uint64(2**64 - 1),
    numpy_float=lambda: numpy.float32(1),
    numpy_bool=lambda: numpy.bool_(True),
    numpy_nat=lambda: numpy.datetime64("NaT"),
    numpy_void=lambda: numpy.void(b"abc"),
)

# ---- Text and bytes


class _Str(str):
    __eq__ = __ne__ = __len__ = __iter__ = __getitem__ = encode = _raise
    __contains__ = startswith = endswith = lstrip = strip = __add__ = _raise

    def __hash__(self):
        raise Hostile("from a method of the value")


class _Bytes(bytes):
    __eq__ = __len__ = __iter__ = __getitem__ = decode = __bytes__ = _raise
    __hash__ = bytes.__hash__


values(
    empty_text=lambda: "",
    a=lambda: "a",
    nul=lambda: "\0",
    text_with_nul=lambda: "a\0b",
    lone_surrogate=lambda: "\ud800",
    two_surrogates=lambda: "\ud83d\ude00",
    swapped_surrogates=lambda: "a\udfff\ud800b",
    last_character=lambda: "\U0010ffff",
    long_text=lambda: "x" * 300_000,
    deep_text=lambda: "[" * 100_000,
    deep_braces=lambda: '{"a":' * 5000,
    deep_groups=lambda: "(" * 20_000,
    empty_object=lambda: "{}",
    json_null=lambda: "null",
    json_with_surrogate=lambda: '{"fields": {"\ud800": {}}}',
    json_of_another_kind=lambda: '{"fields": 5}',
    json_long_number=lambda: "9" * 5000,
    name_of_a_format=lambda: "qwen3",
    name_of_nothing=lambda: "nosuch",
    file_that_is_not_there=lambda: "nosuch.json",
    folder=lambda: "/",
    format_string=lambda: "%s%n{0}{a.b}",
    str_subclass=lambda: _Str("a"),
    str_subclass_json=lambda: _Str("{}"),
    empty_bytes=lambda: b"",
    no_utf8=lambda: b"\xff\xfe",
    surrogate_bytes=lambda: b"\xed\xa0\x80",
    bytes_with_nul=lambda: b"a\0b",
    long_bytes=lambda: b"x" * 300_000,
    bytes_subclass=lambda: _Bytes(b"a"),
    bytearray=lambda: bytearray(b"ab"),
    empty_bytearray=lambda: bytearray(),
)

# ---- Memory


class _Structure(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]


@value
def released_memoryview():
    view = memoryview(b"abcd")
    view.release()
    return view


@value
def read_only_numpy():
    made = numpy.zeros((2, 16), numpy.int32)
    made.flags.writeable = False
    return made


def _view(kind, size=64):
    return memoryview(bytearray(size)).cast(kind)


values(
    memoryview=lambda: memoryview(b"ab"),
    memoryview_int=lambda: _view("i"),
    memoryview_float=lambda: _view("f"),
    memoryview_bool=lambda: _view("?"),
    memoryview_char=lambda: _view("c"),
    memoryview_pointer=lambda: _view("P"),
    memoryview_2d=lambda: _view("i").cast("B").cast("i", (4, 4)),
    memoryview_0d=lambda: _view("i", 4).cast("B").cast("i", ()),
    memoryview_backwards=lambda: _view("i")[::-1],
    memoryview_every_other=lambda: _view("q")[::2],
    memoryview_read_only=lambda: _view("i").toreadonly(),
    memoryview_unaligned=lambda: memoryview(bytearray(65))[1:].cast("i"),
    memoryview_empty=lambda: memoryview(b""),
    ctypes_ints=lambda: (ctypes.c_int * 2)(0, 1),
    ctypes_64_ints=lambda: (ctypes.c_int * 64)(),
    ctypes_no_ints=lambda: (ctypes.c_int * 0)(),
    ctypes_floats=lambda: (ctypes.c_float * 512)(),
    ctypes_2d=lambda: ((ctypes.c_int * 16) * 2)(),
    ctypes_2d_floats=lambda: ((ctypes.c_float * 512) * 2)(),
    ctypes_int=lambda: ctypes.c_int(3),
    ctypes_bytes=lambda: (ctypes.c_ubyte * 4)(1, 2, 3, 4),
    ctypes_other_order=lambda: (ctypes.c_int.__ctype_be__ * 2)(0, 1),
    ctypes_chars=lambda: ctypes.create_string_buffer(b"ab"),
    ctypes_wide_chars=lambda: ctypes.create_unicode_buffer("ab"),
    ctypes_objects=lambda: (ctypes.py_object * 2)(),
    ctypes_structure=lambda: _Structure(),
    ctypes_structures=lambda: (_Structure * 2)(),
    ctypes_pointer=lambda: ctypes.pointer(ctypes.c_int(1)),
    ctypes_null=lambda: ctypes.c_char_p(None),
    array_int=lambda: array.array("i", [0, 1]),
    array_unsigned=lambda: array.array("Q", [2**64 - 1]),
    array_float=lambda: array.array("f", [1.0] * 512),
    array_text=lambda: array.array("u", "ab"),
    array_empty=lambda: array.array("l"),
    numpy_ids=lambda: numpy.array([0, 1]),
    numpy_2d=lambda: numpy.zeros((2, 16), numpy.int32),
    numpy_3d=lambda: numpy.zeros((2, 2, 16), numpy.int32),
    numpy_0d=lambda: numpy.array(3),
    numpy_float_2d=lambda: numpy.zeros((2, 512), numpy.float32),
    numpy_other_order=lambda: numpy.array([0, 1], ">i4"),
    numpy_every_other=lambda: numpy.zeros(64, numpy.int32)[::2],
    numpy_backwards=lambda: numpy.zeros(64, numpy.int32)[::-1],
    numpy_fortran=lambda: numpy.zeros((16, 2), numpy.int32, order="F"),
    numpy_columns=lambda: numpy.zeros((512, 2), numpy.float32).T,
    numpy_endless=lambda: numpy.broadcast_to(numpy.int32(1), (2**40,)),
    numpy_endless_rows=lambda: numpy.broadcast_to(
        numpy.zeros(16, numpy.int32), (2**40, 16)
    ),
    numpy_no_rows=lambda: numpy.zeros((0, 16), numpy.int32),
    numpy_no_columns=lambda: numpy.zeros((2, 0), numpy.int32),
    numpy_empty=lambda: numpy.array([], numpy.int64),
    numpy_objects=lambda: numpy.array([{}, None, "a"], object),
    numpy_text=lambda: numpy.array(["a", "\ud800"]),
    numpy_bytes=lambda: numpy.array([b"a"]),
    numpy_times=lambda: numpy.array(["2020"], "M8[s]"),
    numpy_records=lambda: numpy.zeros(2, [("a", "i4"), ("b", "f8")]),
    numpy_bools=lambda: numpy.zeros(512, bool),
    numpy_half=lambda: numpy.zeros(512, numpy.float16),
    numpy_complex=lambda: numpy.zeros(512, complex),
    numpy_masked=lambda: numpy.ma.masked_array([1, 2], [True, False]),
    numpy_unaligned=lambda: numpy.frombuffer(bytearray(65), "i4", offset=1),
    numpy_bfloat16=lambda: numpy.zeros(512, ml_dtypes.bfloat16),
    numpy_int4=lambda: numpy.zeros(4, ml_dtypes.int4),
)

# ---- Containers


@value
def list_in_itself():
    made = []
    made.append(made)
    return made


@value
def dict_in_itself():
    made = {}
    made["a"] = made
    return made


@value
def dict_in_itself_twice():
    made = {}
    made["fields"] = made
    made["a"] = made
    return made


@value
def shared_dicts():
    made = {"type": "object"}
    for _ in range(40):
        made = {"a": made, "b": made}
    return made


@value
def shared_dicts_of_a_template():
    made = {}
    for _ in range(40):
        made = {"fields": made, "defaults": made}
    return made


@value
def shared_lists():
    made = []
    for _ in range(40):
        made = [made, made]
    return made


@value
def deep_list():
    made = []
    for _ in range(20_000):
        made = [made]
    return made


@value
def deep_dict():
    made = {}
    for _ in range(2000):
        made = {"properties": made}
    return made


class _List(list):
    __iter__ = __len__ = __getitem__ = __contains__ = __eq__ = _raise
    __hash__ = None


class _EndlessList(list):
    def __iter__(self):
        return itertools.repeat(b"a")


class _Dict(dict):
    items = keys = values = get = __iter__ = __len__ = __getitem__ = _raise
    __contains__ = _raise


class _OddItems(dict):
    def items(self):
        return [1, (2,), (3, 4, 5)]


class _LongDict(dict):
    def __len__(self):
        return 2**62


class _Mapping(collections.abc.Mapping):
    __getitem__ = __iter__ = _raise

    def __len__(self):
        return 1


values(
    empty_list=lambda: [],
    empty_tuple=lambda: (),
    empty_dict=lambda: {},
    set=lambda: {1, 2},
    frozenset=lambda: frozenset("ab"),
    range=lambda: range(3),
    long_range=lambda: range(10**12),
    iterator=lambda: iter([1, 2]),
    generator=lambda: (i for i in range(3)),
    endless_iterator=lambda: itertools.repeat(1),
    endless_dicts=lambda: itertools.repeat({}),
    keys=lambda: {"a": 1}.keys(),
    deque=lambda: collections.deque([1, 2]),
    user_dict=lambda: collections.UserDict(a=1),
    user_list=lambda: collections.UserList([1, 2]),
    user_string=lambda: collections.UserString("a"),
    mapping_proxy=lambda: types.MappingProxyType({"a": 1}),
    chain_map=lambda: collections.ChainMap({"a": 1}),
    ordered_dict=lambda: collections.OrderedDict(a=1),
    default_dict=lambda: collections.defaultdict(list, a=1),
    simple_namespace=lambda: types.SimpleNamespace(a=1),
    list_of_things=lambda: [1, "a", None, b"", {}, []],
    list_of_none=lambda: [None, None],
    list_of_surrogates=lambda: ["\ud800", "a"],
    list_of_ids=lambda: [97, 98],
    list_of_no_ids=lambda: [2**32, -1],
    list_of_lists=lambda: [[97], [98, "a"]],
    dict_with_int_key=lambda: {1: 2},
    dict_with_none_key=lambda: {None: 1},
    dict_with_tuple_key=lambda: {(1, 2): 1},
    dict_with_surrogate=lambda: {"\ud800": "\udfff"},
    dict_with_nan=lambda: {"a": float("nan")},
    dict_of_objects=lambda: {"a": object()},
    list_subclass=lambda: _List([1, 2]),
    endless_list=lambda: _EndlessList([b"a"]),
    dict_subclass=lambda: _Dict(a=1),
    long_dict=lambda: _LongDict(a=1),
    odd_items=lambda: _OddItems(a=1),
    dict_with_two_surrogates=lambda: {"\ud83d\ude00": "\ud83d\ude00"},
    generator_that_raises=lambda: (_raise() for _ in "a"),
    mapping=lambda: _Mapping(),
    named_tuple=lambda: collections.namedtuple("T", "a b")(1, 2),
)

# ---- Objects whose methods lie


class _Sequence(collections.abc.Sequence):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return 97


class _Endless:
    def __getitem__(self, index):
        return 97


class _Iterable:
    def __init__(self, item):
        self.item = item

    def __iter__(self):
        return itertools.repeat(self.item)


class _Index:
    def __init__(self, result):
        self.result = result

    def __index__(self):
        return self.result() if callable(self.result) else self.result


class _Of:
    """An object with the given attributes, methods of its class."""

    def __new__(cls, **methods):
        return type("Of", (), methods)()


class _EveryAttribute:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_, **__):
        return self


class _Meta(type):
    @property
    def __name__(cls):
        raise Hostile("from a method of the value")


class _Nameless(metaclass=_Meta):
    pass


@value
def list_that_its_items_empty():
    made = []
    made.extend(_Index(lambda: made.clear() or 1) for _ in range(8))
    return made


@value
def dict_that_its_items_empty():
    made = {}
    made.update({f"k{i}": _Index(lambda: made.clear() or 1) for i in range(8)})
    return made


@value
def dead_proxy():
    return weakref.proxy(type("Dead", (), {})())


@value
def closed_file():
    made = io.BytesIO(b"abc")
    made.close()
    return made


@value
def closed_descriptor():
    made = open(os.devnull)
    made.close()
    return made


@value
def coroutine():
    async def work():
        pass

    made = work()
    made.close()
    return made


values(
    object=lambda: object(),
    long_sequence=lambda: _Sequence(2**62),
    negative_sequence=lambda: _Sequence(-1),
    no_length=lambda: _Sequence("x"),
    too_short_sequence=lambda: _Of(
        __len__=lambda self: 3, __getitem__=lambda self, i: [97][i]
    ),
    endless_sequence=lambda: _Endless(),
    endless_numbers=lambda: _Iterable(1),
    endless_texts=lambda: _Iterable("a"),
    raising_sequence=lambda: _Of(__len__=lambda self: 2, __getitem__=_raise),
    raising_iterable=lambda: _Of(__iter__=_raise),
    raising_length=lambda: _Of(__len__=_raise, __getitem__=_raise),
    raising_index=lambda: _Of(__index__=_raise),
    index_too_large=lambda: _Index(10**30),
    index_no_int=lambda: _Index("x"),
    index_one=lambda: _Index(1),
    list_of_raising_index=lambda: [_Of(__index__=_raise)],
    raising_bool=lambda: _Of(__bool__=_raise),
    bool_no_bool=lambda: _Of(__bool__=lambda self: 2),
    raising_repr=lambda: _Of(__repr__=_raise, __str__=_raise),
    surrogate_repr=lambda: _Of(__repr__=lambda self: "\ud800"),
    raising_eq=lambda: _Of(__eq__=_raise, __hash__=_raise),
    equal_to_all=lambda: _Of(
        __eq__=lambda self, other: True, __hash__=lambda self: 0
    ),
    raising_attributes=lambda: _Of(__getattribute__=_raise),
    every_attribute=lambda: _EveryAttribute(),
    mock=lambda: unittest.mock.MagicMock(),
    raising_path=lambda: _Of(__fspath__=_raise),
    number_as_path=lambda: _Of(__fspath__=lambda self: 3),
    surrogate_path=lambda: _Of(__fspath__=lambda self: "\ud800.json"),
    bytes_path=lambda: _Of(__fspath__=lambda self: b"nosuch"),
    nul_path=lambda: pathlib.Path("a\0b"),
    nul_json_path=lambda: "a\0b.json",
    surrogate_json_path=lambda: "\ud800.json",
    path_of_nothing=lambda: pathlib.Path("nosuch"),
    path_of_folder=lambda: pathlib.Path("/"),
    path_through_file=lambda: pathlib.Path("text/x"),
    path_of_null=lambda: pathlib.Path("null"),
    path_of_full=lambda: pathlib.Path("full"),
    path_of_zero=lambda: pathlib.Path("zero"),
    path_of_process=lambda: pathlib.Path("/proc/self/environ"),
    long_path=lambda: pathlib.Path("x" * 5000),
    raising_tolist=lambda: _Of(tolist=_raise),
    tolist_of_itself=lambda: _Of(tolist=lambda self: self),
    tolist_of_nothing=lambda: _Of(tolist=lambda self: None),
    one_dimension=lambda: _Of(ndim=1),
    two_dimensions=lambda: _Of(ndim=2),
    endless_dimensions=lambda: _Of(
        ndim=2, __iter__=lambda self: itertools.repeat("a")
    ),
    dimensions_no_int=lambda: _Of(ndim="x"),
    raising_dimensions=lambda: _Of(ndim=property(_raise)),
    raising_dlpack=lambda: _Of(__dlpack__=_raise, __dlpack_device__=_raise),
    dlpack_of_nothing=lambda: _Of(__dlpack__=lambda self, **_: 5),
    dlpack_elsewhere=lambda: _Of(
        __dlpack__=lambda self, **_: None,
        __dlpack_device__=lambda self: (2, 0),
    ),
    array_interface=lambda: _Of(
        __array_interface__={"shape": (1,), "typestr": "<i4", "version": 3}
    ),
    dtype_lies=lambda: _Of(dtype=types.SimpleNamespace(name="bfloat16")),
    spoofed_dict=lambda: _Of(__class__=property(lambda self: dict)),
    spoofed_str=lambda: _Of(__class__=property(lambda self: str)),
    spoofed_vocabulary=lambda: _Of(
        __class__=property(lambda self: parlance.Vocabulary)
    ),
    raising_class=lambda: _Of(__class__=property(_raise)),
    raising_columns=lambda: _Of(__arrow_c_stream__=property(_raise)),
    nameless=lambda: _Nameless(),
    function=lambda: lambda *_, **__: None,
    raising_function=lambda: _raise,
    builtin=lambda: len,
    type=lambda: int,
    type_of_parlance=lambda: parlance.Matcher,
    module=lambda: parlance,
    open_file=lambda: open(os.devnull, "rb"),
    exception=lambda: ValueError("x"),
    weak_reference=lambda: weakref.ref(parlance.Grammar),
)

# ---- Columns


def _given(**capsules):
    return _Of(**{name: lambda self, *_, one=one: one for name, one in capsules.items()})


def _consumed(column, method):
    capsules = getattr(column, method)()
    given = _given(**{method: capsules})
    parlance.parse_arrow(given, "qwen3")
    return given


values(
    column=lambda: arrow_columns.TextColumn(["a", None]),
    column_of_ids=lambda: arrow_columns.IdColumn([[97], [0]]),
    column_of_indices=lambda: arrow_columns.IdColumn([[0]], words=[97]),
    column_of_dates=lambda: arrow_columns.TextColumn(["a"], b"tdD"),
    chunks=lambda: arrow_columns.ChunkedColumn(["a"], [None]),
    no_chunks=lambda: arrow_columns.ChunkedColumn(),
    failing_chunks=lambda: arrow_columns.ChunkedColumn(["a"], error=b"x"),
    consumed_column=lambda: _consumed(
        arrow_columns.TextColumn(["a"]), "__arrow_c_array__"
    ),
    consumed_chunks=lambda: _consumed(
        arrow_columns.ChunkedColumn(["a"]), "__arrow_c_stream__"
    ),
    column_without_capsules=lambda: _given(__arrow_c_array__=(1, None)),
)

# ---- The package's own objects, where they do not belong


class _Vocabulary(parlance.Vocabulary):
    __len__ = bytes = kind = encode = _raise


def _without_init(cls):
    return lambda: cls.__new__(cls)


values(
    vocabulary=lambda: parlance.Vocabulary([b"a"]),
    vocabulary_subclass=lambda: _Vocabulary([b"a"]),
    grammar=lambda: parlance.Grammar.from_regex("a"),
    parser=lambda: parlance.ResponseParser("qwen3", ""),
    format=lambda: parlance.Format("qwen3"),
    tag=lambda: parlance.StructuralTag({"format": {"type": "any_text"}}),
    error=lambda: parlance.UsageError("x"),
    **{
        f"unmade_{cls.__name__}": _without_init(cls)
        for cls in (
            parlance.Compiler,
            parlance.Constraint,
            parlance.Format,
            parlance.Grammar,
            parlance.HarmonyParser,
            parlance.Matcher,
            parlance.ResponseParser,
            parlance.ResponseSchema,
            parlance.StructuralTag,
            parlance.TagParser,
            parlance.ToolSet,
            parlance.Vocabulary,
        )
    },
)


def make_files(folder):
    """What the paths above and in entry_points.py name, in `folder`.

    Devices take a right that few have; without it they are empty files.
    """
    (folder / "text").write_text("a")
    (folder / "model").mkdir()
    (folder / "model" / "tokenizer.json").write_text(
        '{"model": {"type": "BPE", "vocab": {"a": 0}}}'
    )
    (folder / "saved").write_bytes(parlance.Vocabulary([b"a"]).to_bytes())
    for name, minor in (("null", 3), ("zero", 5), ("full", 7)):
        try:
            os.mknod(folder / name, 0o020666, os.makedev(1, minor))
        except OSError:
            (folder / name).write_bytes(b"")
