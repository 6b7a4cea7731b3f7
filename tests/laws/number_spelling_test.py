"""How numbers are spelled: both spellings of a grammar against Python's `json`,
`jsonschema` and pydantic in strict mode.

For random keywords and random values near them, each value in random spellings of JSON:

* `spelling="any"` accepts a text exactly if its value is valid;
* the default accepts no others, and for an integer only what Python writes for an `int`;
* what `json.dumps` writes for a valid value the default accepts, but for what the page
  says;
* what the default accepts pydantic accepts in strict mode.

PARLANCE_SEED (default 1) is the first schema, PARLANCE_ROUNDS how many texts;
PARLANCE_LONG=1 takes a million.
"""

import json
import os
import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import pytest

jsonschema = pytest.importorskip("jsonschema")
pydantic = pytest.importorskip("pydantic")

import parlance  # noqa: E402
from schema_judge import Judge, parse, write  # noqa: E402
from schema_law import narrowed  # noqa: E402

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
LONG = os.environ.get("PARLANCE_LONG") == "1"
ROUNDS = int(os.environ.get("PARLANCE_ROUNDS", "1000000" if LONG else "4000"))
TEXTS = 40  # of one schema
BLOCKS = 20 if LONG else 2
PAGE = Path(__file__).resolve().parents[2] / "docs/reference/json-schema.md"
INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
FINE = 10**15  # doubles are exact below it, so `jsonschema` counts as exact

NUMBERS = """0 1 2 3 5 7 9 10 12 42 99 100 250 1000 65535 1e3 1e7 1e10 1e20 5e-324 1e-07
1e-05 0.001 0.01 0.1 0.25 0.3 0.5 0.75 1.5 2.5 3.14159 9.95 19.99 1e16 1e22 1.5e300
9007199254740993 0.1000000000000000055""".split()
STEPS = "1 2 3 5 7 10 0.5 0.25 0.1 0.01 2.5 1e-3 100 1e3 12 1.5 0.07".split()


def draw_number(rng):
    number = Decimal(rng.choice(NUMBERS))
    return -number if rng.random() < 0.3 else number


def as_json(number):
    """What a schema has for it: an int, or the double or digits it was."""
    whole = number == number.to_integral_value() and abs(number) < FINE
    return int(number) if whole else parse(str(number))


def draw_schema(rng):
    schema = {}
    kind = rng.choice(["integer", "number", "number", None, ["integer", "null"]])
    if kind:
        schema["type"] = kind
    low, high = sorted([draw_number(rng), draw_number(rng)])
    if rng.random() < 0.5:
        schema[rng.choice(["minimum", "exclusiveMinimum"])] = as_json(low)
    if rng.random() < 0.5:
        schema[rng.choice(["maximum", "exclusiveMaximum"])] = as_json(high)
    if rng.random() < 0.3:
        schema["multipleOf"] = as_json(Decimal(rng.choice(STEPS)))
    if rng.random() < 0.2:
        schema["enum"] = [as_json(draw_number(rng)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.15:
        schema["not"] = rng.choice(
            [
                {"const": as_json(draw_number(rng))},
                {"multipleOf": as_json(Decimal(rng.choice(STEPS)))},
                {"type": "integer"},
            ]
        )
    return schema


def numbers_in(schema):
    for value in schema.values():
        if isinstance(value, dict):
            yield from numbers_in(value)
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, (str, dict)) and one is not None:
                yield Decimal(one)


def draw_value(rng, borders):
    """A border, one beside it, or a multiple of it."""
    value = rng.choice(borders) if rng.random() < 0.7 else draw_number(rng)
    match rng.randrange(6):
        case 0:
            value *= rng.randint(-3, 12)
        case 1:
            value += Decimal(rng.choice(STEPS)) * rng.choice([1, -1])
        case 2:
            value = -value
        case 3:
            value = value.scaleb(rng.choice([-3, -1, 1, 2, 3]))
    return value


def spell(rng, value):
    """A JSON number with this value: the point anywhere, zeros, an exponent for it."""
    sign, digits, exponent = value.as_tuple()
    digits = "".join(map(str, digits)).lstrip("0")
    if rng.random() < 0.3 and digits:
        zeros = rng.randint(1, 4)
        digits, exponent = digits + "0" * zeros, exponent - zeros
    if not digits:
        digits, exponent = "0" * rng.randint(1, 4), 0
    point = rng.randint(-3, len(digits) + 3)  # digits before it
    moved = exponent + len(digits) - point  # the exponent that makes up for it
    if abs(moved) < 25 and rng.random() < 0.4:
        point, moved = point + moved, 0
    if point <= 0:
        whole, fraction = "0", "0" * -point + digits
    else:
        whole = digits[:point].ljust(point, "0")
        fraction = digits[point:]
    whole = whole.lstrip("0") or "0"
    if rng.random() < 0.3:
        fraction += "0" * rng.randint(1, 3)
    text = "-" * sign + whole + ("." + fraction if fraction else "")
    if moved or rng.random() < 0.2:
        mark = rng.choice("eE")
        plus = rng.choice(["", "+"]) if moved >= 0 else "-"
        text += mark + plus + "0" * rng.randint(0, 2) + str(abs(moved))
    return text


def written(value):
    """What `json.dumps` writes for the int or the double that has the value, if any."""
    whole = value == value.to_integral_value()
    texts = [json.dumps(int(value))] if whole and abs(value) < 10**400 else []
    number = float(value)
    if Decimal(repr(number)) == value:
        texts.append(json.dumps(number))
    return texts


def left_out(schema, text, value):
    """Whether the page says that the default leaves the text out."""
    types = schema.get("type", "number")
    if "enum" in schema:
        return True  # as the schema has it
    if "integer" in types and not INTEGER.fullmatch(text):
        return True
    if value == 0 and text.startswith("-"):
        return True  # where nothing negative is allowed
    return "e" in text and "multipleOf" in schema


def strict_type(schema):
    """The pydantic type that means the schema, if there is one without doubles."""
    if "enum" in schema or "not" in schema or schema.get("type") not in (
        "integer",
        "number",
    ):
        return None
    names = {
        "minimum": "ge",
        "exclusiveMinimum": "gt",
        "maximum": "le",
        "exclusiveMaximum": "lt",
        "multipleOf": "multiple_of",
    }
    limits = {}
    for key, name in names.items():
        if key not in schema:
            continue
        number = Decimal(schema[key])
        if number != number.to_integral_value() or abs(number) >= FINE:
            return None
        limits[name] = int(number)
    if schema["type"] == "number" and "multiple_of" in limits:
        return None  # its remainder is that of doubles
    of = int if schema["type"] == "integer" else float
    return pydantic.TypeAdapter(Annotated[of, pydantic.Field(strict=True, **limits)])


def check(seed, tally):
    rng = random.Random(seed)
    schema = draw_schema(rng)
    source = write(schema)
    judge = Judge(source, "2020-12")
    made = []
    for spelling in ("any", "canonical"):
        try:
            made.append(parlance.Grammar.from_json_schema(source, spelling=spelling))
        except parlance.SchemaError as error:
            assert error.code == "unsatisfiable", (source, error)
            made.append(None)
    lax, default = made
    assert (lax is None) == (default is None), source
    if lax is not None:
        assert not narrowed(lax) and not narrowed(default), source
    plain = json.loads(source)
    other = jsonschema.Draft202012Validator(plain)
    small = all(abs(n) < FINE and n == n.to_integral_value() for n in numbers_in(schema))
    strict = strict_type(schema)
    borders = list(numbers_in(schema)) or [Decimal(1)]
    integer = schema.get("type") in ("integer", ["integer", "null"])
    for _ in range(TEXTS):
        value = draw_value(rng, borders)
        texts = [spell(rng, value)]
        dumped = written(value)
        for text in texts + dumped:
            where = f"seed {seed}: {source} and {text}"
            valid = judge.verdict(parse(text))
            exactly = abs(value) < FINE and value == Decimal(float(value))
            if small and exactly:
                assert other.is_valid(json.loads(text)) == valid, where
            tally["texts"] += 1
            tally["valid"] += valid
            if lax is None:
                assert not valid, where
                continue
            assert lax.accepts(text) == valid, where
            if default.accepts(text):
                tally["default"] += 1
                assert valid, where
                if integer:
                    assert INTEGER.fullmatch(text) and text != "-0", where
                    assert isinstance(json.loads(text), int), where
                if strict is not None:
                    try:
                        strict.validate_json(text)
                        tally["strict"] += 1
                    except pydantic.ValidationError as error:
                        if abs(Decimal(text)) < Decimal("1e308"):
                            raise AssertionError(where) from error
            elif valid and text in dumped:
                assert left_out(schema, text, value), where
        # Each valid value has a text.
        if lax is not None and "enum" not in schema and abs(value) < 10**400:
            if judge.verdict(parse(str(value))):
                plainly = format(value, "f")
                if integer:
                    plainly = str(int(value))
                if value:
                    assert default.accepts(plainly), f"seed {seed}: {source}: {plainly}"


@pytest.mark.parametrize("block", range(BLOCKS))
def test_spellings(block):
    tally = dict.fromkeys(["texts", "valid", "default", "strict"], 0)
    seed = SEED + block
    while tally["texts"] < ROUNDS / BLOCKS:
        check(seed, tally)
        seed += BLOCKS
    print(tally)
    if ROUNDS >= 1000:
        assert tally["valid"] > tally["texts"] / 10
        assert tally["default"] > tally["texts"] / 20
        assert tally["strict"] > tally["texts"] / 100


# ---- the page ------------------------------------------------------------------


def table():
    """The rows of the table of numbers: a schema, a text, whether each takes it."""
    section = PAGE.read_text().split("\n### Numbers\n")[1].split("\n## ")[0]
    rows = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`{"):
            continue
        rows.append((cells[0].strip("`"), *(re.findall(r"`([^`]+)`", c) for c in cells[1:])))
    return rows


def test_the_table_of_the_page():
    rows = table()
    assert len(rows) >= 8
    for source, both, lax_only in rows:
        default = parlance.Grammar.from_json_schema(source)
        lax = parlance.Grammar.from_json_schema(source, spelling="any")
        for text in both:
            assert default.accepts(text) and lax.accepts(text), (source, text)
        for text in lax_only:
            assert not default.accepts(text) and lax.accepts(text), (source, text)
