"""Arrow columns in ctypes, so that tests need no Arrow library.

    column = TextColumn(["a", None])            # __arrow_c_array__
    column = TextColumn(["a", None], chunks=2)  # __arrow_c_stream__
    rows = rows_of(messages)                    # what parse_arrow returned
"""

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int64,
    c_void_p,
    py_object,
    pythonapi,
)


class Schema(Structure):
    pass


class Array(Structure):
    pass


class Stream(Structure):
    pass


RELEASE_SCHEMA = CFUNCTYPE(None, POINTER(Schema))
RELEASE_ARRAY = CFUNCTYPE(None, POINTER(Array))
GET_SCHEMA = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))
GET_NEXT = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
GET_ERROR = CFUNCTYPE(c_void_p, POINTER(Stream))
RELEASE_STREAM = CFUNCTYPE(None, POINTER(Stream))

Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))),
    ("dictionary", POINTER(Schema)),
    ("release", RELEASE_SCHEMA),
    ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(Array))),
    ("dictionary", POINTER(Array)),
    ("release", RELEASE_ARRAY),
    ("private_data", c_void_p),
]
Stream._fields_ = [
    ("get_schema", GET_SCHEMA),
    ("get_next", GET_NEXT),
    ("get_last_error", GET_ERROR),
    ("release", RELEASE_STREAM),
    ("private_data", c_void_p),
]

_new = pythonapi.PyCapsule_New
_new.restype = py_object
_new.argtypes = [c_void_p, c_char_p, c_void_p]
_pointer = pythonapi.PyCapsule_GetPointer
_pointer.restype = c_void_p
_pointer.argtypes = [py_object, c_char_p]

# What consumers may still use, by the address of the struct.
_alive = []


@RELEASE_SCHEMA
def _release_schema(schema):
    schema.contents.release = RELEASE_SCHEMA()


@RELEASE_ARRAY
def _release_array(array):
    TextColumn.released += 1
    array.contents.release = RELEASE_ARRAY()


def _schema(format):
    return Schema(format=format, name=b"", flags=2, release=_release_schema)


def _bytes(data):
    data = bytes(data)
    buffer = ctypes.create_string_buffer(data, len(data) + 1)
    _alive.append(buffer)
    return ctypes.addressof(buffer)


def _array(rows, *, ids=False):
    valid = bytearray((len(rows) + 7) // 8)
    ends = [0]
    data = b""
    for i, row in enumerate(rows):
        if row is not None:
            valid[i // 8] |= 1 << i % 8
            data += row if isinstance(row, bytes) else row.encode()
        ends.append(len(data))
    buffers = (c_void_p * 3)(
        _bytes(valid), _bytes((c_int64 * len(ends))(*ends)), _bytes(data)
    )
    _alive.append(buffers)
    return Array(
        length=len(rows),
        null_count=-1,
        n_buffers=3,
        buffers=buffers,
        release=_release_array,
    )


def _capsule(struct, name):
    _alive.append((struct, name))
    return _new(ctypes.addressof(struct), name, None)


class TextColumn:
    """A column of large_string.  `format` gives it another type's name."""

    released = 0

    def __init__(self, rows, format=b"U"):
        self.rows = list(rows)
        self.format = format

    def __arrow_c_array__(self, requested_schema=None):
        return (
            _capsule(_schema(self.format), b"arrow_schema"),
            _capsule(_array(self.rows), b"arrow_array"),
        )


class IdColumn:
    """A column of lists of ids.  With ``words`` the items of the lists are the
    indices of a dictionary of ids."""

    def __init__(self, rows, words=None):
        self.rows = rows
        self.words = words

    def __arrow_c_array__(self, requested_schema=None):
        ends = [0]
        for row in self.rows:
            ends.append(ends[-1] + len(row))
        schema = _schema(b"+l")
        array = _lists((ctypes.c_int32 * len(ends))(*ends), len(self.rows))
        items = _schema(b"i")
        values = _integers([id for row in self.rows for id in row])
        if self.words is not None:
            _alive.extend([words := _schema(b"i"), ids := _integers(self.words)])
            items.dictionary = ctypes.pointer(words)
            values.dictionary = ctypes.pointer(ids)
        for parent, child in ((schema, items), (array, values)):
            children = (POINTER(type(child)) * 1)(ctypes.pointer(child))
            _alive.extend([child, children])
            parent.n_children = 1
            parent.children = ctypes.cast(children, type(parent.children))
        return _capsule(schema, b"arrow_schema"), _capsule(array, b"arrow_array")


def _integers(values):
    return _lists((ctypes.c_int32 * max(1, len(values)))(*values), len(values))


def _lists(entries, length):
    """An array whose second buffer is ``entries``, and whose first is not there."""
    buffers = (c_void_p * 2)(None, ctypes.addressof(entries))
    _alive.extend([entries, buffers])
    return Array(
        length=length, n_buffers=2, buffers=buffers, release=_release_array
    )


class ChunkedColumn:
    """The same as a stream of chunks; fails after them if `error` is given."""

    def __init__(self, *chunks, error=None):
        self.chunks = chunks
        self.error = error

    def __arrow_c_stream__(self, requested_schema=None):
        left = list(self.chunks)

        def get_schema(_, out):
            out[0] = _schema(b"U")
            return 0

        def get_next(_, out):
            if left:
                out[0] = _array(left.pop(0))
            elif self.error is not None:
                return 5
            else:
                out[0] = Array()
            return 0

        def release(stream):
            stream.contents.release = RELEASE_STREAM()

        return _capsule(
            Stream(
                get_schema=GET_SCHEMA(get_schema),
                get_next=GET_NEXT(get_next),
                get_last_error=GET_ERROR(
                    lambda _: None if self.error is None else _bytes(self.error)
                ),
                release=RELEASE_STREAM(release),
            ),
            b"arrow_array_stream",
        )


def _value(schema, array, row):
    row += array.offset
    if array.buffers[0]:
        valid = ctypes.string_at(array.buffers[0] + row // 8, 1)[0]
        if not valid >> row % 8 & 1:
            return None
    format = schema.format
    if format == b"U":
        ends = ctypes.cast(array.buffers[1], POINTER(c_int64))
        begin, end = ends[row], ends[row + 1]
        return ctypes.string_at(array.buffers[2] + begin, end - begin).decode()
    if format == b"b":
        bits = ctypes.string_at(array.buffers[1] + row // 8, 1)[0]
        return bool(bits >> row % 8 & 1)
    if format == b"l":
        return ctypes.cast(array.buffers[1], POINTER(c_int64))[row]
    if format == b"+l":
        ends = ctypes.cast(array.buffers[1], POINTER(ctypes.c_int32))
        return [
            _value(schema.children[0].contents, array.children[0].contents, i)
            for i in range(ends[row], ends[row + 1])
        ]
    assert format == b"+s", format
    return {
        schema.children[i].contents.name.decode(): _value(
            schema.children[i].contents, array.children[i].contents, row
        )
        for i in range(schema.n_children)
    }


def _rows(schema, array):
    return [_value(schema, array, row) for row in range(array.length)]


def _from(capsule, name, kind):
    return ctypes.cast(_pointer(capsule, name), POINTER(kind))


def rows_of(messages):
    """The rows by ``__arrow_c_array__``; the capsules release the column."""
    schema, array = messages.__arrow_c_array__()
    return _rows(
        _from(schema, b"arrow_schema", Schema).contents,
        _from(array, b"arrow_array", Array).contents,
    )


def chunks_of(messages):
    """The rows of each chunk, by ``__arrow_c_stream__``."""
    capsule = messages.__arrow_c_stream__()
    stream = _from(capsule, b"arrow_array_stream", Stream)
    schema = Schema()
    assert stream.contents.get_schema(stream, schema) == 0
    chunks = []
    while True:
        array = Array()
        assert stream.contents.get_next(stream, array) == 0
        if not array.release:
            break
        chunks.append(_rows(schema, array))
        array.release(array)
    schema.release(schema)
    return chunks
