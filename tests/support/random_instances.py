"""Random JSON texts near the borders of a schema.

    draw = Instances(seed, schema)
    text = draw.text()

A value is made from the keywords that a schema and its parts happen to name, so that
many are valid, and most of the others almost.  A text spells it in one of many ways:
1, 1.0, 10e-1; "a", "\\u0061"; with and without white space.
"""

import json
from decimal import Context, Decimal, localcontext

from random_schemas import KEYWORDS, SAMPLES, TYPES, Schemas
from schema_judge import Number, write

ORDINARY = 40  # the largest exponent that is written out
BOUNDS = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()


def exponent_of(number):
    return number.as_tuple().exponent


def named(parts, *keywords):
    """What some parts say with one of the keywords."""
    return [part[name] for part in parts for name in keywords if name in part]


class Instances(Schemas):
    def __init__(self, seed, schema):
        super().__init__(f"instances {seed}")
        self.root = schema

    def text(self):
        return self.spelled(self.value(self.root, 4))

    # -- Values --

    def value(self, schema, depth):
        parts = self.parts_of(schema)
        if self.often(0.06):
            return self.constant()
        constants = [each for values in named(parts, "enum") for each in values]
        constants += named(parts, "const")
        if constants and self.often(0.7):
            return self.choice(constants)
        types = [name for each in named(parts, "type") for name in listed(each)]
        if not types or self.often(0.2):
            types += [kind for kind, names in KEYWORDS.items() if kind != "any"
                      for part in parts if part.keys() & set(names.split())]  # fmt: skip
        kind = self.choice(types or TYPES)
        if kind in ("integer", "number"):
            return self.number_near(parts)
        if kind == "string":
            return self.string_near(parts)
        if kind == "array" and depth:
            return self.array_near(parts, depth)
        if kind == "object" and depth:
            return self.object_near(parts, depth)
        return self.often(0.5) if kind == "boolean" else None

    def parts_of(self, schema):
        """The schemas that say something about the same value; of alternatives one."""
        if not isinstance(schema, dict):
            return []
        inner = list(schema.get("allOf", []))
        inner += [self.choice(each) for each in named([schema], "anyOf", "oneOf")]
        inner += [each for each in named([schema], "if", "then", "else", "not")
                  if self.often(0.4)]  # fmt: skip
        for members in named([schema], "dependentSchemas", "dependencies"):
            inner += [each for each in members.values() if self.often(0.5)]
        if schema.get("$ref", "").startswith("#/"):
            target = self.root
            for step in schema["$ref"].split("/")[1:]:
                target = target[step]
            inner.append(target)
        return [schema, *(part for each in inner for part in self.parts_of(each))]

    def number_near(self, parts):
        known = [each for each in named(parts, *BOUNDS) if isinstance(each, Decimal)]
        number = self.choice(known) if known and self.often(0.8) else self.number()
        step = self.choice([*named(parts, "multipleOf"), Decimal("0.1"), Decimal(1)])
        if max(abs(exponent_of(number)), abs(exponent_of(step))) < ORDINARY:
            with localcontext(Context(prec=200)):
                number = number + self.choice([0, 0, 1, -1, 2]) * step
        return Number(str(number))

    def string_near(self, parts):
        formats = [each for each in named(parts, "format") if each in SAMPLES]
        if formats and self.often(0.6):
            return self.choice(SAMPLES[self.choice(formats)])
        text = self.string()
        bounds = named(parts, "minLength", "maxLength")
        if bounds and self.often(0.5):
            text = (text + self.choice("abé") * 9)[: self.size_near(bounds)]
        return text

    def size_near(self, bounds):
        if not bounds:
            return self.randint(0, 4)
        return max(0, min(6, int(self.choice(bounds)) + self.randint(-1, 1)))

    def array_near(self, parts, depth):
        out = []
        for at in range(self.size_near(named(parts, "minItems", "maxItems"))):
            if out and self.often(0.1):
                out.append(self.choice(out))  # once more
                continue
            of = [{}] if self.often(0.1) else []
            for first in named(parts, "prefixItems", "items"):
                of += first[at : at + 1] if isinstance(first, list) else [first]
            of += named(parts, "additionalItems", "unevaluatedItems", "contains")
            out.append(self.value(self.choice(of or [{}]), depth - 1))
        return out

    def object_near(self, parts, depth):
        keys = [
            key for each in named(parts, "required") for key in each if self.often(0.9)
        ]
        more = [key for each in named(parts, "properties", "dependentRequired",
                                      "dependentSchemas", "dependencies")
                for key in each]  # fmt: skip
        keys += self.few(more, 4, 0)
        if self.often(0.4):
            keys.append(self.string_near([p for p in named(parts, "propertyNames")
                                          if isinstance(p, dict)]))  # fmt: skip
        self.shuffle(keys)
        out = {}
        for key in keys:
            of = [each[key] for each in named(parts, "properties") if key in each]
            of += [schema for each in named(parts, "patternProperties")
                   for schema in each.values() if self.often(0.5)]  # fmt: skip
            of = of or named(parts, "additionalProperties", "unevaluatedProperties")
            out[key] = self.value(self.choice(of or [{}]), depth - 1)
        return out

    # -- Texts --

    def spelled(self, value):
        if isinstance(value, dict):
            members = [f"{self.spelled(key)}:{self.space()}{self.spelled(each)}"
                       for key, each in value.items()]  # fmt: skip
            return "{" + f",{self.space()}".join(members) + "}"
        if isinstance(value, list):
            return "[" + f",{self.space()}".join(map(self.spelled, value)) + "]"
        if isinstance(value, str) and self.often(0.25):
            return '"' + "".join(map(self.escaped, value)) + '"'
        if isinstance(value, Number) and self.often(0.5):
            return self.respelled(value)
        return write(value)

    def space(self):
        return self.choice(["", "", "", " ", "\n  "])

    def escaped(self, character):
        if self.often(0.5):
            return json.dumps(character, ensure_ascii=False)[1:-1]
        units = character.encode("utf-16-be").hex()
        codes = [units[at : at + 4] for at in range(0, len(units), 4)]
        return "".join("\\u" + self.choice([code, code.upper()]) for code in codes)

    def respelled(self, number):
        """Another text of the same number."""
        sign, digits, exponent = number.as_tuple()
        head = "-" * sign + str(int("".join(map(str, digits))))
        forms = [f"{head}e{exponent}"]
        forms += [f"{head}0E{exponent - 1}"] if number else []
        if abs(exponent) < ORDINARY:
            text = format(number, "f")
            forms += [text] * 3 + [text + "0" if "." in text else text + ".0"]
        return self.choice(forms)


def listed(value):
    return value if isinstance(value, list) else [value]
