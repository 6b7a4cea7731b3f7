"""Turns the exceptions of a WebAssembly module into returns.

For hosts that have no exceptions, or slow ones: wazero 1.12 copies the stack at each
`try_table`, 32 kB a call of the library, and where it catches, its compiler takes the
locals of the function to be as they were where the `try_table` began.

An exception is a number in a global variable, 0 for none.  What throws sets it and
returns; after each call of a function that can end so, the caller asks for it, and
branches to its handler or returns in turn:

    (throw $tag (X))    becomes    (global.set $exception (X)) and a way out
    (call $f)                      (call $f) (if (global.get $exception) (then way out))
    (try_table ...)                (block ...), whose handlers the ways out lead to
    exnref                         i32

Which functions can throw follows from the calls.  A module has one tag, that of C++.
What the host calls, or the library through the table, throws nothing: an exception
that leaves such a function traps, as one that nothing catches does.
"""

# What follows an opcode: so many numbers (LEB128), or bytes.
_NUMBERS = {0x0C: 1, 0x0D: 1, 0x10: 1, 0x11: 2, 0x08: 1,
            0x20: 1, 0x21: 1, 0x22: 1, 0x23: 1, 0x24: 1, 0x25: 1, 0x26: 1, 0x3F: 1,
            0x40: 1, 0x41: 1, 0x42: 1, 0xD0: 1}  # fmt: skip
_NUMBERS |= dict.fromkeys(range(0x28, 0x3F), 2)  # loads and stores
_BYTES = {0x43: 4, 0x44: 8}
_BULK = {8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}
_BULK |= dict.fromkeys(range(8), 0)
_NOTHING = {0x00, 0x01, 0x05, 0x0A, 0x0B, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC5), 0xD1}
_LAST_VECTOR = 0x113  # of the instructions after 0xFD
_BLOCK, _LOOP, _IF, _END, _TRY_TABLE = 0x02, 0x03, 0x04, 0x0B, 0x1F
_BLOCKS = (_BLOCK, _LOOP, _IF, _TRY_TABLE)
_THROW, _THROW_REF, _CALL = 0x08, 0x0A, 0x10
_RETURN, _SELECT, _REF_NULL = b"\x0f", 0x1C, 0xD0

_I32, _EXN = 0x7F, 0x69
_ZERO = {0x7F: b"\x41\x00", 0x7E: b"\x42\x00", 0x7D: b"\x43" + bytes(4),
         0x7C: b"\x44" + bytes(8), 0x7B: b"\xfd\x0c" + bytes(16)}  # fmt: skip


class Unknown(Exception):
    """The module has something that this does not know."""


def _leb(data, at):
    """An unsigned number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _skip(data, at, numbers):
    for _ in range(numbers):
        while data[at] >= 0x80:
            at += 1
        at += 1
    return at


def _number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def _vector(parts):
    return _number(len(parts)) + b"".join(parts)


def _type(data, at):
    """The type of a value, with i32 for a reference to an exception, and where it
    ends."""
    first = data[at]
    if first in (0x63, 0x64):  # a reference, to what
        end = _skip(data, at + 1, 1)
        return (bytes([_I32]) if data[at + 1] == _EXN else data[at:end]), end
    return bytes([_I32 if first == _EXN else first]), at + 1


def _block_type(data, at):
    if data[at] in (0x63, 0x64, _EXN):
        return _type(data, at)
    end = _skip(data, at, 1)
    return data[at:end], end


def _clauses(body, at):
    """[(kind, label)] of a try_table, and where they end."""
    count, at = _leb(body, at)
    out = []
    for _ in range(count):
        kind = body[at]
        at = _skip(body, at + 1, 1 if kind < 2 else 0)  # the tag
        label, at = _leb(body, at)
        out.append((kind, label))
    return out, at


def _instructions(body, at):
    """(opcode, begin, end) of each instruction; the last is the function's `end`."""
    while at < len(body):
        begin, opcode = at, body[at]
        at += 1
        if opcode in _NUMBERS:
            at = _skip(body, at, _NUMBERS[opcode])
        elif opcode in _BYTES:
            at += _BYTES[opcode]
        elif opcode in _BLOCKS:
            _, at = _block_type(body, at)
            if opcode == _TRY_TABLE:
                _, at = _clauses(body, at)
        elif opcode == 0x0E:  # br_table
            count, at = _leb(body, at)
            at = _skip(body, at, count + 1)
        elif opcode == _SELECT:
            count, at = _leb(body, at)
            for _ in range(count):
                _, at = _type(body, at)
        elif opcode == 0xFC:
            which, at = _leb(body, at)
            if which not in _BULK:
                raise Unknown(f"opcode 0xfc {which:#x}")
            at = _skip(body, at, _BULK[which])
        elif opcode == 0xFD:
            which, at = _leb(body, at)
            if which > _LAST_VECTOR:
                raise Unknown(f"opcode 0xfd {which:#x}")
            if which < 12 or 84 <= which <= 93:
                at = _skip(body, at, 2)
            at += 16 if which in (12, 13) else 21 <= which <= 34 or 84 <= which <= 91
        elif opcode not in _NOTHING:
            # Of what is not above, some would end a function by the exception of another
            # (tail calls), or call one that is no root (references to functions).
            raise Unknown(f"opcode {opcode:#x}")
        yield opcode, begin, at


class _Blocks:
    """The blocks that are open at an instruction: None, or the first handler of a
    try_table, which takes all that is thrown: (kind, label)."""

    def __init__(self):
        self.open = []

    def step(self, opcode, body, begin):
        if opcode == _TRY_TABLE:
            clauses, _ = _clauses(body, _block_type(body, begin + 1)[1])
            self.open.append(clauses[0] if clauses else None)
        elif opcode in _BLOCKS:
            self.open.append(None)
        elif opcode == _END and self.open:
            self.open.pop()

    def handler(self):
        """(kind, label from here), or None."""
        depth = len(self.open)
        for i in reversed(range(depth)):
            if self.open[i] is not None:
                kind, label = self.open[i]
                return kind, depth - i + label
        return None


class _Module:
    def __init__(self, module):
        self.module = module
        self.sections = list(self._sections())
        found = dict(self.sections)
        self.types = self._types(found[1])
        self.imported = self._imports(found.get(2, b"\0"))
        self.type_of = self.imported + self._list(found[3])
        self.globals = self._globals(found[6])
        if 8 in found:
            raise Unknown("a function that runs at the start")
        if _leb(found.get(5, b"\0"), 0)[0] > 1:
            raise Unknown("several memories")
        self._check_tags(found.get(13, b"\0"))
        self.bodies = self._bodies(found[10])
        self.roots = self._exports(found.get(7, b"\0")) | self._elements(found.get(9, b"\0"))

    def _sections(self):
        at = 8
        while at < len(self.module):
            size, begin = _leb(self.module, at + 1)
            yield self.module[at], self.module[begin : begin + size]
            at = begin + size

    @staticmethod
    def _types(section):
        """(parameters, results) of each, lists of types."""
        out = []
        count, at = _leb(section, 0)
        for _ in range(count):
            if section[at] != 0x60:
                raise Unknown("a type that is no function's")
            at += 1
            pair = []
            for _ in range(2):
                size, at = _leb(section, at)
                values = []
                for _ in range(size):
                    value, at = _type(section, at)
                    values.append(value)
                pair.append(values)
            out.append(pair)
        return out

    @staticmethod
    def _imports(section):
        """The types of the functions that are imported."""
        out = []
        count, at = _leb(section, 0)
        for _ in range(count):
            for _ in range(2):
                size, at = _leb(section, at)
                at += size
            if section[at] != 0:
                raise Unknown("something else than a function is imported")
            kind, at = _leb(section, at + 1)
            out.append(kind)
        return out

    @staticmethod
    def _globals(section):
        """How many there are."""
        count, at = _leb(section, 0)
        for _ in range(count):
            _, at = _type(section, at)
            for opcode, _, at in _instructions(section, at + 1):
                if opcode == _END:
                    break
        return count

    def _check_tags(self, section):
        count, at = _leb(section, 0)
        if count > 1:
            raise Unknown("several tags")
        if count == 1 and self.types[_leb(section, at + 1)[0]] != [[bytes([_I32])], []]:
            raise Unknown("a tag of something else than a number")

    @staticmethod
    def _list(section):
        count, at = _leb(section, 0)
        out = []
        for _ in range(count):
            number, at = _leb(section, at)
            out.append(number)
        return out

    @staticmethod
    def _bodies(section):
        out = []
        count, at = _leb(section, 0)
        for _ in range(count):
            size, at = _leb(section, at)
            out.append(section[at : at + size])
            at += size
        return out

    @staticmethod
    def _exports(section):
        out = set()
        count, at = _leb(section, 0)
        for _ in range(count):
            size, at = _leb(section, at)
            kind = section[at + size]
            if kind == 4:
                raise Unknown("a tag is exported")
            index, at = _leb(section, at + size + 1)
            if kind == 0:
                out.add(index)
        return out

    @staticmethod
    def _elements(section):
        out = set()
        count, at = _leb(section, 0)
        for _ in range(count):
            if section[at] != 0:
                raise Unknown("elements of another kind")
            for opcode, _, at in _instructions(section, at + 1):
                if opcode == _END:
                    break
            number, at = _leb(section, at)
            for _ in range(number):
                index, at = _leb(section, at)
                out.add(index)
        return out

    @staticmethod
    def code(body):
        """The locals, (count, type), and where the code begins."""
        count, at = _leb(body, 0)
        out = []
        for _ in range(count):
            number, at = _leb(body, at)
            kind, at = _type(body, at)
            out.append((number, kind))
        return out, at

    def throwing(self):
        """The functions that can end by an exception, and those whose code is changed:
        they throw, catch, or call what throws."""
        throwing, handling, callers = set(), set(), {}

        def add(function):
            if function not in throwing | self.roots:
                throwing.add(function)
                new.append(function)

        new = []
        for i, body in enumerate(self.bodies, len(self.imported)):
            blocks = _Blocks()
            for opcode, begin, _ in _instructions(body, self.code(body)[1]):
                if opcode == _CALL:
                    if blocks.handler() is None:
                        callers.setdefault(_leb(body, begin + 1)[0], set()).add(i)
                elif opcode in (_THROW, _THROW_REF):
                    handling.add(i)
                    if blocks.handler() is None:
                        add(i)
                elif opcode in _BLOCKS or opcode == _END:
                    blocks.step(opcode, body, begin)
                    if opcode == _TRY_TABLE:
                        handling.add(i)
        while new:
            one = new.pop()
            # Those that catch it have something of exceptions in them.
            for caller in callers.get(one, ()):
                handling.add(caller)
                add(caller)
        return throwing, handling

    def returning(self, index, throwing):
        """The body of a function without exceptions."""
        body = self.bodies[index - len(self.imported)]
        exception = _number(self.globals)
        results = self.types[self.type_of[index]][1]
        local_types, at = self.code(body)
        blocks = _Blocks()

        def way_out(inside):
            """To the handler, or out of the function, where an exception is set."""
            found = blocks.handler()
            if found is None and index in self.roots:
                return b"\x00"  # unreachable
            if found is None:
                return b"".join(_ZERO[value[0]] for value in results) + _RETURN
            kind, label = found
            # The exception, and the reference to it.
            values = (b"\x23" + exception) * {0: 1, 1: 2, 2: 0, 3: 1}[kind]
            return values + b"\x41\x00\x24" + exception + b"\x0c" + _number(label + inside)

        out = [_vector([_number(number) + kind for number, kind in local_types])]
        for opcode, begin, end in _instructions(body, at):
            if opcode in (_THROW, _THROW_REF):
                out.append(b"\x24" + exception + way_out(0))
                continue
            if opcode in _BLOCKS:
                kind, _ = _block_type(body, begin + 1)
                out.append(bytes([_BLOCK if opcode == _TRY_TABLE else opcode]) + kind)
            elif opcode == _SELECT:
                kind, _ = _type(body, begin + 2)
                out.append(bytes([_SELECT, 1]) + kind)
            elif opcode == _REF_NULL and body[begin + 1] == _EXN:
                out.append(_ZERO[_I32])
            else:
                out.append(body[begin:end])
            blocks.step(opcode, body, begin)
            if opcode == _CALL and _leb(body, begin + 1)[0] in throwing:
                out.append(b"\x23" + exception + b"\x04\x40" + way_out(1) + b"\x0b")
        return b"".join(out)


def to_returns(module):
    """The module without exceptions.  It has one more global variable."""
    read = _Module(module)
    throwing, handling = read.throwing()
    for index in range(len(read.imported), len(read.type_of)):
        if index in handling:
            read.bodies[index - len(read.imported)] = read.returning(index, throwing)
    out = [module[:8]]
    for kind, section in read.sections:
        if kind == 13:  # tags
            continue
        if kind == 1:
            section = _vector([b"\x60" + _vector(given) + _vector(results)
                               for given, results in read.types])  # fmt: skip
        elif kind == 6:
            count, at = _leb(section, 0)
            section = _number(count + 1) + section[at:] + b"\x7f\x01\x41\x00\x0b"
        elif kind == 10:
            section = _vector([_number(len(body)) + body for body in read.bodies])
        out.append(bytes([kind]) + _number(len(section)) + section)
    return b"".join(out)
