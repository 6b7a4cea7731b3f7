"""Random schemas of five drafts in which several keywords meet.

    draw = Schemas(seed)
    draw.schema()                     # values as schema_judge.parse makes them
    draw.schema(["format", "not"])    # with these keywords at the root

Negations (`not`, `if`, `oneOf`, `maxContains`) are frequent, over formats, patterns,
numbers and unique lists: there an approximation of a keyword becomes a wrong verdict.
"""

import random

from schema_judge import DRAFTS, URLS, Number, key_of

KEYS = "a b ab kind x-1 é".split()
STRINGS = ["", "a b", "a\n"]
STRINGS += r"a b ab abc aab ba 12 a1 x-1 x- é 日 😀 q\" A now a/b \ ".split()
PATTERNS = r"^a b$ ^[a-c]+$ ^(ab)*$ [0-9]{2} ^x- a.?b ^.{2,3}$ ^[^a]*$ ^$".split()
PATTERNS += ["", *r"\d ^\S+$ ^(?!ab) ^(a|b|kind)$ é ^.?$".split()]
NUMBERS = "0 1 2 3 5 -1 -2 10 12 100 0.5 1.5 -0.25 0.1 0.3 1.0 2.50 1e2 10e-1".split()
DIVISORS = "1 2 3 0.5 0.1 0.25 7 10 1.5 0.01 400000".split()
EXTREME = """
2147483647 2147483648 4294967295 4294967296 9007199254740992 9007199254740993
9007199254740993.0 9223372036854775807 9223372036854775808 18446744073709551615
18446744073709551616 -9223372036854775809 1e19 1e400 1e-400 2e18 7e20
1.0000000000000000000000001""".split()
EXTREME_DIVISORS = "2e18 7e20 1e-19 1000000007 4294967297".split()
TYPES = "null boolean integer number string array object".split()

# By format, some texts that have it and some that almost have it.
SAMPLES = {
    "date": "2024-02-29 2023-02-29 2024-1-01 1999-12-31".split(),
    "time": "23:59:60Z 12:00:00Z 24:00:00Z 12:00:00+01:00 12:00:00".split(),
    "date-time": "2024-02-29T00:00:00Z 2024-02-30T00:00:00Z 2024-02-29".split(),
    "duration": "P1D P1W P P1Y2M PT1H P1DT".split(),
    "email": "a@b.de a@ a a.b@c.de".split(),
    "hostname": ["a", "a.b", "-a", "a_b", "a" * 63, "a" * 64],
    "idn-email": "a@b.de a@ a".split(),
    "idn-hostname": "a a.b -a a_b".split(),
    "ipv4": "1.2.3.4 1.2.3 1.2.3.256 01.2.3.4 127.0.0.1".split(),
    "ipv6": ":: ::1 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7 ::ffff:1.2.3.4 :::".split(),
    "iri": ["http://a.de/x", "a b", "a"],
    "iri-reference": ["a/b", "a b", "\\"],
    "uri": ["http://a.de/x", "a b", "a", "http://é"],
    "uri-reference": ["a/b", "a b", "\\"],
    "uri-template": ["a{b}", "a", ""],
    "uuid": "01234567-89ab-cdef-0123-456789abcdef 01234567-89ab-cdef-0123 0".split(),
    "json-pointer": ["", "/a", "/a~0", "/~2", "a"],
    "relative-json-pointer": "0 1# 0/a 01 -1".split(),
    "regex": ["ab", "("],
}

# What schemas of one type say, the more often the more interesting.
KEYWORDS = {
    "string": "minLength maxLength pattern format format format enum const",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf enum const",
    "array": "items prefixItems additionalItems unevaluatedItems minItems maxItems"
    " contains contains minContains maxContains uniqueItems uniqueItems uniqueItems",
    "object": "properties properties patternProperties additionalProperties required"
    " minProperties maxProperties propertyNames dependencies dependentRequired"
    " dependentSchemas unevaluatedProperties",
    "any": "enum const type type",
}
NEGATIONS = "not not oneOf oneOf anyOf allOf if then else".split()
# The first draft that has a keyword, where that is not draft 4.
SINCE = {
    "6": "const contains propertyNames",
    "7": "if then else",
    "2019-09": "minContains maxContains unevaluatedItems unevaluatedProperties"
    " dependentRequired dependentSchemas",
    "2020-12": "prefixItems",
}
UNTIL = {"additionalItems": "2019-09", "dependencies": "7"}


def in_draft(keyword, draft):
    level = DRAFTS.index(draft)
    since = [at for at, names in SINCE.items() if keyword in names.split()]
    until = UNTIL.get(keyword, "2020-12")
    return DRAFTS.index((since or ["4"])[0]) <= level <= DRAFTS.index(until)


class Schemas(random.Random):
    """Draws schemas.  With `extreme`, some numbers are at the limits of machines."""

    def __init__(self, seed, draft=None, extreme=True):
        super().__init__(str(seed))
        self.draft = draft or self.choice(DRAFTS[2:] * 2 + DRAFTS)
        self.level = DRAFTS.index(self.draft)
        self.extreme = extreme

    def often(self, probability):
        return self.random() < probability

    def few(self, pool, most=3, least=1):
        return self.sample(pool, min(len(pool), self.randint(least, most)))

    # -- A whole one --

    def schema(self, keywords=()):
        schema = self.of(self.choice([*KEYWORDS, *list(KEYWORDS)[:-1]]), 2)
        if keywords:
            schema = {name: schema[name] for name in ["type"] if name in schema}
            for keyword in keywords:
                schema.update(self.saying(keyword, 2))
        if self.often(0.15):
            schema = self.with_definition(schema)
        if self.level < 4:
            urls = [url for url, draft in URLS.items() if draft == self.draft]
            schema = {"$schema": urls[0] + "#" * (self.level < 3), **schema}
        return schema

    def with_definition(self, schema):
        """Moves the schema of a property into a definition."""
        name = "$defs" if self.level >= 3 else "definitions"
        for keyword in ("properties", "patternProperties"):
            members = dict(schema.get(keyword, {}))
            if members:
                key = self.choice(list(members))
                moved, members[key] = members[key], {"$ref": f"#/{name}/d"}
                return {**schema, keyword: members, name: {"d": moved}}
        return schema

    def of(self, about, depth):
        """A schema with keywords about one type, and negations of such."""
        if depth == 0 and self.level and self.often(0.3):
            return self.often(0.8)
        schema = {}
        if about != "any" and self.often(0.75):
            schema["type"] = self.type_of(about)
        keywords = KEYWORDS[about].split()
        for keyword in self.few(keywords, [2, 2, 4][depth], [0, 1, 2][depth]):
            if not (keyword in ("enum", "const") and {"enum", "const"} & schema.keys()):
                schema.update(self.saying(keyword, depth, about))
        if depth and self.often(0.7 if depth > 1 else 0.2):
            for keyword in self.few(NEGATIONS, 2):
                schema.update(self.saying(keyword, depth, about))
        return schema

    def type_of(self, about):
        name = self.choice(["integer", "number"]) if about == "number" else about
        if self.often(0.15):
            return [name, *(t for t in self.few(TYPES, 2) if t != name)]
        return name

    # -- One keyword, with what it needs --

    def saying(self, keyword, depth, about=None):
        if not in_draft(keyword, self.draft):
            return {}
        about = about if about and self.often(0.85) else self.choice(list(KEYWORDS))
        draw = getattr(self, "say_" + keyword, None)
        if draw:
            return draw(depth, about)
        if keyword.startswith(("min", "max")):
            return {keyword: self.count(keyword)}
        return {keyword: self.below(depth)}

    def below(self, depth, about=None):
        return self.of(about or self.choice(list(KEYWORDS)), max(depth - 2, 0))

    def say_type(self, depth, about):
        return {"type": self.few(TYPES)}

    def say_enum(self, depth, about):
        size = self.randint(1, 4)
        return {"enum": distinct(self.constant(1, about) for _ in range(size))}

    def say_const(self, depth, about):
        return {"const": self.constant(1, about)}

    def say_pattern(self, depth, about):
        return {"pattern": self.choice(PATTERNS)}

    def say_format(self, depth, about):
        return {"format": self.choice(list(SAMPLES))}

    def say_minimum(self, depth, about):
        return {"minimum": self.bound("minimum")}

    def say_maximum(self, depth, about):
        return {"maximum": self.bound("maximum")}

    def say_exclusiveMinimum(self, depth, about, of="Minimum"):
        if self.level:
            return {"exclusive" + of: self.bound(of)}
        return {of.lower(): self.bound(of), "exclusive" + of: self.often(0.8)}

    def say_exclusiveMaximum(self, depth, about):
        return self.say_exclusiveMinimum(depth, about, "Maximum")

    def say_multipleOf(self, depth, about):
        extreme = self.extreme and self.often(0.05)
        pool = EXTREME_DIVISORS if extreme else DIVISORS
        return {"multipleOf": Number(self.choice(pool))}

    def say_items(self, depth, about):
        if self.level < 4 and self.often(0.4):
            return self.say_prefixItems(depth, about)
        return {"items": self.below(depth)}

    def say_prefixItems(self, depth, about):
        name = "prefixItems" if self.level == 4 else "items"
        return {name: [self.below(depth) for _ in range(self.randint(1, 3))]}

    def say_additionalItems(self, depth, about):
        rest = self.below(depth) if self.often(0.5) else False
        return {**self.say_prefixItems(depth, about), "additionalItems": rest}

    def say_uniqueItems(self, depth, about):
        if self.often(0.15):
            return {"uniqueItems": self.often(0.9)}
        items = self.choice([
            {"type": "integer", "minimum": Number("0"), "maximum": Number("3")},
            {"enum": distinct(self.constant(0) for _ in range(4))},
            {"type": "boolean"},
            {"type": "string", "maxLength": Number("1")},
            {"type": ["string", "number", "null"]},
            {"type": "array", "items": {"enum": [0, 1]}, "maxItems": Number("2")},
            {"type": "object", "properties": {"a": {"type": "boolean"}}},
            {"type": "object", "properties": {"a": {"enum": [0, 1]},
                                              "b": {"enum": ["x"]}},
             "additionalProperties": False},
        ])  # fmt: skip
        return {"uniqueItems": True, "items": items}

    def say_minContains(self, depth, about):
        count = self.count("minContains")
        return {**self.say_contains(depth, about), "minContains": count}

    def say_maxContains(self, depth, about):
        count = self.count("maxContains")
        return {**self.say_contains(depth, about), "maxContains": count}

    def say_contains(self, depth, about):
        return {"contains": self.below(depth)}

    def say_properties(self, depth, about):
        return {"properties": {key: self.below(depth) for key in self.few(KEYS)}}

    def say_patternProperties(self, depth, about):
        patterns = self.few(PATTERNS, 2)
        return {"patternProperties": {each: self.below(depth) for each in patterns}}

    def say_additionalProperties(self, depth, about):
        rest = self.below(depth) if self.often(0.4) else False
        return {**self.say_properties(depth, about), "additionalProperties": rest}

    def say_unevaluatedProperties(self, depth, about):
        rest = self.below(depth) if self.often(0.4) else False
        return {**self.say_properties(depth, about), "unevaluatedProperties": rest}

    def say_required(self, depth, about):
        return {"required": self.few(KEYS, 2)}

    def say_propertyNames(self, depth, about):
        return {"propertyNames": self.below(depth, "string")}

    def say_dependentRequired(self, depth, about):
        return {"dependentRequired": {self.choice(KEYS): self.few(KEYS, 2)}}

    def say_dependentSchemas(self, depth, about):
        return {"dependentSchemas": {self.choice(KEYS): self.below(depth, "object")}}

    def say_dependencies(self, depth, about):
        of = self.few(KEYS, 2) if self.often(0.5) else self.below(depth, "object")
        return {"dependencies": {self.choice(KEYS): of}}

    def say_not(self, depth, about):
        return {"not": self.of(about, depth - 1)}

    def say_if(self, depth, about, names=("then", "else")):
        names = ["if", *self.few(names, len(names))]
        return {name: self.of(about, depth - 1) for name in names}

    def say_then(self, depth, about):
        return self.say_if(depth, about, ["then"])

    def say_else(self, depth, about):
        return self.say_if(depth, about, ["else"])

    def say_allOf(self, depth, about, keyword="allOf"):
        size = self.choice([1, 2, 2, 3])
        return {keyword: [self.of(about, depth - 1) for _ in range(size)]}

    def say_anyOf(self, depth, about):
        return self.say_allOf(depth, about, "anyOf")

    def say_oneOf(self, depth, about):
        return self.say_allOf(depth, about, "oneOf")

    # -- Values in schemas --

    def count(self, keyword):
        """A bound; few lower ones are above their upper one."""
        return Number(self.choice("00112" if keyword.startswith("min") else "112334"))

    def bound(self, of):
        """As count()."""
        numbers = sorted(self.number() for _ in range(3))
        return numbers[0 if of.lower() == "minimum" else -1]

    def number(self):
        extreme = self.extreme and self.often(0.08)
        return Number(self.choice(EXTREME if extreme else NUMBERS))

    def string(self):
        if self.often(0.3):
            return self.choice(self.choice(list(SAMPLES.values())))
        return self.choice(STRINGS)

    def constant(self, depth=1, about=None):
        kind = self.choice("ssnnnbzao" if depth else "snbz")
        if about in ("string", "number") and self.often(0.8):
            kind = about[0]
        if kind == "s":
            return self.string()
        if kind == "n":
            return self.number()
        if kind == "a":
            return [self.constant(0) for _ in range(self.randint(0, 2))]
        if kind == "o":
            return {key: self.constant(0) for key in self.few(KEYS, 2, 0)}
        return self.often(0.5) if kind == "b" else None


def distinct(values):
    return list({key_of(each): each for each in values}.values())
