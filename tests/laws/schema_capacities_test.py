"""Law of capacities: nothing inside has room for 64, 128, 256, 512 or 2^32 of
something and is silent about one more.  With as many members, patterns, alternatives,
types or conditions, and with bounds of as many digits, the verdicts are the judge's,
or there is a note, or an error; at the root and below others.  No mask is empty.

PARLANCE_LONG=1 has 10,000 of each.
"""

import os
import sys

import pytest

pytest.importorskip("regex")
from schema_judge import Number, parse, write  # noqa: E402
from schema_law import failure  # noqa: E402

LONG = os.environ.get("PARLANCE_LONG") == "1"


@pytest.fixture(autouse=True)
def deep():
    """The judge recurses as deep as the schemas do."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)
    yield
    sys.setrecursionlimit(before)


SIZES = [65, 129, 257, 513] + [10000] * LONG


def const(value):
    return {"const": value}


def some(n):
    """The first, the last, the one after it, and some between."""
    return [0, 1, 63, 64, n // 2, n - 2, n - 1, n]


def kinds(n, **more):
    return [{"properties": {"kind": const(f"k{i}"), "v": {"const": i}},
             "required": ["kind"], **more} for i in range(n)]  # fmt: skip


# By name: the schema for a size, and values near its borders.
SHAPES = {
    "properties": lambda n: (
        {"properties": {f"p{i}": {"type": "integer"} for i in range(n)},
         "additionalProperties": False},
        [{f"p{i}": x} for i in some(n) for x in (1, "x")],
    ),
    "required": lambda n: (
        {"required": [f"p{i}" for i in range(n)]},
        [{f"p{i}": 1 for i in range(n) if i != j} for j in (0, 64, n - 1, n)],
    ),
    "patternProperties": lambda n: (
        {"patternProperties": {f"^x{i}-": {"type": "integer"} for i in range(n)}},
        [{}, {"q": 1}] + [{f"x{i}-": x} for i in some(n) for x in (1, "x")],
    ),
    "closed patternProperties": lambda n: (
        {"patternProperties": {f"^x{i}-": {"type": "integer"} for i in range(n)},
         "additionalProperties": False, "minProperties": 1},
        [{}, {"q": 1}] + [{f"x{i}-": x} for i in some(n) for x in (1, "x")],
    ),
    "propertyNames": lambda n: (
        {"propertyNames": {"enum": [f"p{i}" for i in range(n)]}},
        [{}] + [{f"p{i}": 1} for i in some(n)],
    ),
    "dependentRequired": lambda n: (
        {"dependentRequired": {f"p{i}": [f"p{i + 1}"] for i in range(n)}},
        [{}, {f"p{n}": 1}] + [{f"p{i}": 1} for i in some(n)]
        + [{f"p{i}": 1 for i in range(n + 1)}],
    ),
    "dependentSchemas": lambda n: (
        {"dependentSchemas": {f"p{i}": {"required": ["z"]} for i in range(n)}},
        [{f"p{i}": 1, **z} for i in some(n) for z in ({}, {"z": 1})],
    ),
    "enum of strings": lambda n: (
        {"enum": [f"s{i}" for i in range(n)]}, [f"s{i}" for i in some(n)]),
    "enum of numbers": lambda n: (
        {"enum": [3 * i for i in range(n)]}, [i for j in some(n) for i in (3 * j, 3 * j + 1)]),
    "enum of arrays": lambda n: (
        {"enum": [[i, "x"] for i in range(n)]}, [[i, "x"] for i in some(n)]),
    "enum of objects": lambda n: (
        {"enum": [{"a": i} for i in range(n)]}, [{"a": i} for i in some(n)]),
    "not enum": lambda n: (
        {"type": "string", "not": {"enum": [f"s{i}" for i in range(n)]}},
        [f"s{i}" for i in some(n)]),
    "anyOf kinds": lambda n: (
        {"type": "object", "anyOf": kinds(n)},
        [{"kind": f"k{i}", "v": v} for i in some(n) for v in (i, i + 1)]),
    "oneOf kinds": lambda n: (
        {"type": "object", "oneOf": kinds(n)},
        [{"kind": f"k{i}", "v": v} for i in some(n) for v in (i, i + 1)]),
    "closed oneOf kinds": lambda n: (
        {"type": "object", "oneOf": kinds(n, additionalProperties=False)},
        [{"kind": f"k{i}", "v": v} for i in some(n) for v in (i, i + 1)]),
    "oneOf required": lambda n: (
        {"type": "object", "oneOf": [{"required": [f"p{i}"]} for i in range(n)]},
        [{}] + [{f"p{i}": 1} for i in some(n)] + [{f"p{i}": 1, "p3": 1} for i in some(n)]),
    "oneOf ranges": lambda n: (
        {"oneOf": [{"type": "integer", "minimum": 10 * i, "maximum": 10 * i + 5}
                   for i in range(n)]},
        [10 * i + j for i in some(n) for j in (-1, 0, 5, 6)]),
    "anyOf patterns": lambda n: (
        {"type": "string", "anyOf": [{"pattern": f"^a{{{i}}}b" } for i in range(n)]},
        ["a" * i + "b" for i in some(n)] + ["a" * n]),
    "oneOf types": lambda n: (
        {"oneOf": [{"type": ["string", "integer"][i % 2], "const": [f"s{i}", i][i % 2]}
                   for i in range(n)]},
        [x for i in some(n) for x in (f"s{i}", i)]),
    "oneOf arrays": lambda n: (
        {"oneOf": [{"type": "array", "prefixItems": [const(i)], "minItems": 1}
                   for i in range(n)]},
        [[]] + [[i, "x"] for i in some(n)]),
    "allOf bounds": lambda n: (
        {"type": "integer", "allOf": [{"minimum": i} for i in range(n)]}, some(n)),
    "allOf conditions": lambda n: (
        {"type": "object", "allOf": [
            {"if": {"properties": {"kind": const(f"k{i}")}, "required": ["kind"]},
             "then": {"required": [f"r{i}"]}} for i in range(n)]},
        [{}, {"kind": 1}]
        + [{"kind": f"k{i}", **r} for i in some(n) for r in ({}, {f"r{i}": 1})]),
    "allOf unions": lambda n: (
        {"type": "object", "allOf": [
            {"anyOf": [{"required": [f"a{i}"]}, {"required": ["z"]}]} for i in range(n)]},
        [{}, {"z": 1}, {f"a{i}": 1 for i in range(n)}, {f"a{i}": 1 for i in range(n - 1)}]),
    "not anyOf": lambda n: (
        {"type": "object", "not": {"anyOf": [{"required": [f"p{i}"]} for i in range(n)]}},
        [{}] + [{f"p{i}": 1} for i in some(n)]),
    "prefixItems": lambda n: (
        {"type": "array", "prefixItems": [const(i) for i in range(n)], "items": False},
        [[*range(i)] for i in some(n)] + [[0, 0], [*range(n + 1)]]),
    "contains": lambda n: (
        {"type": "array", "allOf": [{"contains": const(i)} for i in range(n)]},
        [[*range(n)], [*range(n - 1)], []]),
    "unique values": lambda n: (
        {"type": "array", "uniqueItems": True, "items": {"enum": [*range(n)]},
         "minItems": n - 1},
        [[*range(n)], [*range(n - 1)], [*range(n - 2)], [*range(n - 1), 0]]),
    "minItems": lambda n: (
        {"type": "array", "minItems": n, "maxItems": n + 1},
        [[1] * i for i in (n - 1, n, n + 1, n + 2)]),
    "minContains": lambda n: (
        {"type": "array", "contains": const(1), "minContains": n, "maxContains": n + 1},
        [[1] * i + [2] for i in (n - 1, n, n + 1, n + 2)]),
    "minProperties": lambda n: (
        {"type": "object", "minProperties": n, "maxProperties": n + 1},
        [{f"p{i}": 1 for i in range(j)} for j in (n - 1, n, n + 1, n + 2)]),
    "minLength": lambda n: (
        {"type": "string", "minLength": n, "maxLength": n + 1, "pattern": "^[ab]*$"},
        ["a" * i for i in (n - 1, n, n + 1, n + 2)] + ["c" * n]),
    "counted pattern": lambda n: (
        {"type": "string", "pattern": f"^(ab){{{n}}}$"},
        ["ab" * i for i in (n - 1, n, n + 1)]),
    "depth": lambda n: (
        nested(n, lambda inner: {"type": "array", "items": inner}, {"type": "integer"}),
        [nested(i, lambda inner: [inner], 1) for i in (1, n - 1, n, n + 1)]),
    "chain of references": lambda n: (
        {"$ref": "#/$defs/d0", "$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"}
                                         for i in range(n)} | {f"d{n}": {"minimum": 1}}},
        [0, 1]),
    "not not": lambda n: (
        nested(2 * n, lambda inner: {"not": inner}, {"minimum": 1}), [0, 1]),
    "multiples": lambda n: (
        {"type": "integer", "anyOf": [{"multipleOf": 2 * i + 3} for i in range(n)]},
        [1, 2, 3, 5, 16, 2 * n + 1, 2 * n + 3]),
}  # fmt: skip


def nested(depth, wrap, inner):
    for _ in range(depth):
        inner = wrap(inner)
    return inner


# A schema and its values in another position.
POSITIONS = {
    "root": (lambda s: s, lambda v: v),
    "member": (
        lambda s: {"properties": {"m": s}, "required": ["m"]},
        lambda v: {"m": v},
    ),
    "item": (lambda s: {"prefixItems": [True], "items": s}, lambda v: [None, v]),
    "anyOf": (lambda s: {"anyOf": [s, {"const": "other"}]}, lambda v: v),
    "not not": (lambda s: {"not": {"not": s}}, lambda v: v),
    "not": (lambda s: {"not": s}, lambda v: v),
}


def moved(schema, position):
    """The schema in the position; its definitions stay at the root."""
    inner = {name: value for name, value in schema.items() if name != "$defs"}
    defs = {name: value for name, value in schema.items() if name == "$defs"}
    return {**POSITIONS[position][0](inner), **defs}


def positions(turn, size=0):
    """All of them; in the gate the root and, if small, another one by turns."""
    names = list(POSITIONS)
    if size > (1000 if LONG else 100):
        return ["root"]
    return names if LONG else ["root", names[1 + turn % (len(names) - 1)]]


def check(schema, values, turn, size=0, **options):
    for position in positions(turn, size):
        moved_schema = parse(write(moved(schema, position)))
        texts = [write(POSITIONS[position][1](value)) for value in values]
        message = failure(moved_schema, "2020-12", texts, 1, **options)
        assert message is None, f"{position}: {message[:2000]}"


# Beyond these sizes a text takes too long: its time grows with the square of the size,
# or faster; or the test itself, in Python, nests too deep.
GATE = {"contains": 129, "allOf unions": 257, "dependentRequired": 257}
ALWAYS = {"contains": 257, "unique values": 513, "dependentRequired": 513,
          "depth": 513, "not not": 513}  # fmt: skip


def sizes(shape):
    most = (ALWAYS if LONG else GATE).get(shape, max(SIZES))
    return [size for size in SIZES if size <= most]


@pytest.mark.parametrize("shape, size", [(s, n) for s in SHAPES for n in sizes(s)])
def test_many(shape, size):
    schema, values = SHAPES[shape](size)
    turn = list(SHAPES).index(shape) + size // 64
    check(schema, values, turn, size, walks=1, fresh=1)


# ---- Bounds --------------------------------------------------------------------

LARGE = {
    "2^31": 2**31,
    "2^32": 2**32,
    "2^53": 2**53,
    "2^63": 2**63,
    "2^64": 2**64,
    "1,000 digits": 10**999 + 7,
}
OF_NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
              "const"]  # fmt: skip
OF_SIZES = {
    "minLength": "string", "maxLength": "string",
    "minItems": "array", "maxItems": "array",
    "minProperties": "object", "maxProperties": "object",
    "minContains": "array", "maxContains": "array",
}  # fmt: skip
SMALL = {"string": ["", "a", "ab"], "array": [[], [1], [1, 1, 1]],
         "object": [{}, {"a": 1}, {"a": 1, "b": 2}]}  # fmt: skip


def digits(number):
    return Number(str(number))


@pytest.mark.parametrize("keyword", OF_NUMBERS)
@pytest.mark.parametrize("size", LARGE)
def test_numbers_of_any_size(size, keyword):
    for turn, offset in enumerate((-1, 0, 1)):
        sign = -1 if turn == 1 and keyword != "multipleOf" else 1
        bound = sign * (LARGE[size] + offset)
        near = [bound + i for i in (-1, 0, 1)] + [-bound, 2 * bound, 0, 1]
        values = [digits(n) for n in near] + [Number(f"{n}.0") for n in near]
        values += [Number(f"{bound}.5"), "x"]
        schema = {keyword: digits(bound), **({"type": "number"} if turn else {})}
        check(schema, values, turn + len(keyword), walks=1, fresh=0)


@pytest.mark.parametrize("keyword", OF_SIZES)
@pytest.mark.parametrize("size", LARGE)
def test_sizes_beyond_any_text(size, keyword):
    of = OF_SIZES[keyword]
    for turn, offset in enumerate((-1, 0, 1)):
        schema = {"type": of, keyword: digits(LARGE[size] + offset)}
        if "Contains" in keyword:
            schema["contains"] = {"const": 1}
        check(schema, SMALL[of], turn + len(keyword), walks=0, fresh=0)
