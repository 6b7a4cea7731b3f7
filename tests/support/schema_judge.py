"""A slow and obvious validator of JSON Schema: drafts 4, 6, 7, 2019-09, 2020-12.

    judge = Judge('{"multipleOf": 0.1}', "2020-12")
    judge.verdict(parse("0.30"))  # True, False, or None: not known

It shares nothing with the product and follows the standards' text.  Numbers are
decimals of their digits, equality is by value, and `unevaluated...` looks at sets
of the keys and indices that were evaluated.  A format that is not decided by a few
lines of code is an open question; the verdict is given only where every answer to
the open questions leads to it.

Left out: vocabularies, and the contents of encoded strings.
"""

import calendar
import ipaddress
import itertools
import json
import re
from decimal import Decimal, InvalidOperation
from urllib.parse import unquote, urldefrag, urljoin

import regex

DRAFTS = ["4", "6", "7", "2019-09", "2020-12"]
URLS = {
    "http://json-schema.org/draft-04/schema": "4",
    "http://json-schema.org/draft-06/schema": "6",
    "http://json-schema.org/draft-07/schema": "7",
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
}
MOST_QUESTIONS = 6  # beyond so many open ones the verdict is not known


# ---- JSON, as written ----------------------------------------------------------


class Beyond(Exception):
    """A number has an exponent of twenty digits: nothing is known of it."""


class Number(Decimal):
    """A number that knows how it was written."""

    def __new__(cls, text):
        try:
            number = super().__new__(cls, text)
        except InvalidOperation:
            raise Beyond(text) from None
        number.text = text
        return number


class Object(dict):
    """Members in the order of the text; of a repeated key the last one counts."""

    repeated = False


def object_of(pairs):
    value = Object(pairs)
    value.repeated = len(value) < len(pairs)
    return value


def no_constant(name):
    raise ValueError(name)


def parse(text):
    """The value of a JSON text; ValueError where it is none."""
    return json.loads(
        text,
        parse_int=Number,
        parse_float=Number,
        parse_constant=no_constant,
        object_pairs_hook=object_of,
    )


def write(value):
    """A JSON text of the value, with its numbers as they were written."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{write(k)}: {write(v)}" for k, v in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(write, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def is_number(value):
    return isinstance(value, (Decimal, int)) and not isinstance(value, bool)


def key_of(value):
    """What two values have in common if and only if they are equal."""
    if is_number(value):
        return "number", Decimal(value)
    if isinstance(value, list):
        return "array", tuple(map(key_of, value))
    if isinstance(value, dict):
        return "object", frozenset((k, key_of(v)) for k, v in value.items())
    return type(value).__name__, value


def number_of(digits):
    """Of any length: ``int`` of a text has a limit."""
    number = 0
    for i in range(0, len(digits), 4000):
        some = digits[i : i + 4000]
        number = number * 10 ** len(some) + int("".join(map(str, some)))
    return number


def is_multiple(number, divisor):
    """Compares digits, so that 1e1000000000 costs nothing."""
    if number == 0:
        return True
    (_, digits, exponent), (_, by, by_exponent) = number.as_tuple(), divisor.as_tuple()
    n, d = number_of(digits), number_of(by)
    shift = exponent - by_exponent
    if shift >= 0:
        return n * pow(10, shift, d) % d == 0
    return number.adjusted() >= divisor.adjusted() and n % (d * 10**-shift) == 0


def is_integral(number):
    return is_multiple(Decimal(number), Decimal(1))


# ---- Patterns ------------------------------------------------------------------


def compile_pattern(pattern):
    """ECMA 262 in the words of the package regex."""
    out, in_class, at = "", False, 0
    while at < len(pattern):
        c = pattern[at]
        if c == "\\" and at + 1 < len(pattern):
            c = pattern[at : at + 2]
            at += 1
            if c == "\\c":
                at += 1
                c = f"\\x{ord(pattern[at]) % 32:02x}"
            c = {
                "\\d": "0-9" if in_class else "[0-9]",
                "\\D": "[^0-9]",
                "\\w": "0-9A-Za-z_" if in_class else "[0-9A-Za-z_]",
                "\\W": "[^0-9A-Za-z_]",
                "\\s": "\\s\\ufeff" if in_class else "[\\s\\ufeff]",
                "\\S": "[^\\s\\ufeff]",
                "\\/": "/",
            }.get(c, c)
        elif c == "[":
            in_class = True
        elif c == "]":
            in_class = False
        elif c == "$" and not in_class:
            c = "\\Z"
        elif c == "." and not in_class:
            c = "[^\\n\\r\\u2028\\u2029]"
        out += c
        at += 1
    return regex.compile(out, regex.V0)


# ---- Formats: True, False, None ------------------------------------------------


def whole(pattern, text):
    return re.fullmatch(pattern, text, re.ASCII) is not None


def is_date(text):
    if not whole(r"\d{4}-\d\d-\d\d", text):
        return False
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:])
    days = 29 if month == 2 and calendar.isleap(year) else calendar.mdays[month % 13]
    return 1 <= month <= 12 and 1 <= day <= days


def is_time(text):
    parts = r"(\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|([+-])(\d\d):(\d\d))"
    match = re.fullmatch(parts, text, re.ASCII)
    if not match:
        return False
    hour, minute, second = (int(match[i]) for i in (1, 2, 3))
    offset = 0
    if match[6]:
        if int(match[7]) > 23 or int(match[8]) > 59:
            return False
        offset = (int(match[7]) * 60 + int(match[8])) * (1 if match[6] == "+" else -1)
    if hour > 23 or minute > 59 or second > 60:
        return False
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439


def is_date_time(text):
    return text[10:11] in ("T", "t") and is_date(text[:10]) and is_time(text[11:])


def is_address(kind, text):
    if "%" in text or "/" in text:
        return False
    try:
        kind(text)
    except ValueError:
        return False
    return True


def is_hostname(text):
    labels = text.split(".")
    if text.endswith(".") and text != ".":
        return None
    if not all(whole(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?", x) for x in labels):
        return False
    if any(len(label) > 63 for label in labels):
        return False
    if len(text) > 253 or any(x[2:4] == "--" for x in labels) or labels[-1].isdigit():
        return None
    return True


def is_email(text):
    local, at, host = text.rpartition("@")
    if not at or not local or not host:
        return False
    if whole(r"[A-Za-z0-9]{1,20}(\.[A-Za-z0-9]{1,20})?", local) and len(text) < 100:
        return True if is_hostname(host) and "." in host else None
    return None


NOT_IN_URIS = re.compile(r'[\x00-\x20"<>\\^`{|}\x7f]')


def is_reference(ascii_only):
    def check(text):
        if NOT_IN_URIS.search(text) or (ascii_only and not text.isascii()):
            return False
        return (
            True
            if whole(r"/?[a-z0-9]*(/[a-z0-9]*[a-z])*", text)
            and not text.startswith("//")
            else None
        )

    return check


def is_uri(ascii_only):
    def check(text):
        if is_reference(ascii_only)(text) is False:
            return False
        if not whole(r"(?s)[A-Za-z][A-Za-z0-9+.-]*:.*", text):
            return False
        return True if whole(r"[a-z]+://[a-z]+(\.[a-z]+)*(/[a-z0-9]+)*", text) else None

    return check


def is_regex(text):
    if text.isalnum() and text.isascii():
        return True
    return False if text in ("(", "[", "*", "a**(", "^(abc]") else None


POINTER = r"(/([^~/]|~[01])*)*"
DATES = r"(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)"
TIMES = r"T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)"
FORMATS = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "duration": lambda t: whole(rf"P({DATES}({TIMES})?|{TIMES}|\d+W)", t),
    "email": is_email,
    "idn-email": lambda t: is_email(t) if t.isascii() or "@" not in t else None,
    "hostname": is_hostname,
    "idn-hostname": lambda t: is_hostname(t) if t.isascii() and t else None,
    "ipv4": lambda t: is_address(ipaddress.IPv4Address, t),
    "ipv6": lambda t: is_address(ipaddress.IPv6Address, t),
    "uri": is_uri(True),
    "uri-reference": is_reference(True),
    "iri": is_uri(False),
    "iri-reference": is_reference(False),
    "uri-template": lambda t: True if whole(r"[a-z/]*(\{[a-z]+\})?", t) else None,
    "uuid": lambda t: whole(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", t),
    "json-pointer": lambda t: whole(f"(?s){POINTER}", t),
    "relative-json-pointer": lambda t: (
        None
        if re.search(r"^\d+[+-]", t)
        else whole(rf"(?s)(0|[1-9]\d*)(#|{POINTER})", t)
    ),
    "regex": is_regex,
}


# ---- Schemas -------------------------------------------------------------------

ONE = {
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
}
MANY = {"allOf", "anyOf", "oneOf", "prefixItems", "items"}
NAMED = {
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
}


class Judge:
    """A schema, given as JSON text, and the documents it may refer to."""

    def __init__(self, schema, draft="2020-12", documents=None, assert_formats=True):
        self.default_draft = draft
        self.assert_formats = assert_formats
        self.roots = {}  # by the URL of a resource: its schema
        self.drafts = {}  # by the same
        self.anchors = {}  # by (URL, name)
        self.dynamic = {}  # by (URL, name)
        self.patterns = {}
        for url, document in (documents or {}).items():
            self.roots[url] = document
            self.enter(document, url, None)
        self.schema = parse(schema) if isinstance(schema, str) else schema
        self.enter(self.schema, "", draft)
        self.answers = {}  # to questions about formats
        self.asked = set()

    def verdict(self, value):
        """Whether the value is valid; None where that depends on what is not known."""
        self.answers, self.asked = {}, set()
        valid = self.evaluate(self.schema, value, "", ())[0]
        # Answers may lead to further questions.
        while set(self.answers) != self.asked:
            if len(self.asked) > MOST_QUESTIONS:
                return None
            questions = sorted(self.asked)
            for answers in itertools.product([False, True], repeat=len(questions)):
                self.answers = dict(zip(questions, answers))
                if self.evaluate(self.schema, value, "", ())[0] != valid:
                    return None
        return valid

    # -- Where schemas are --

    def enter(self, schema, base, draft):
        """Finds the resources and anchors of a schema and of those within."""
        if not isinstance(schema, dict):
            self.roots.setdefault(base, schema)
            return
        named = schema.get("$schema")
        if isinstance(named, str) and urldefrag(named)[0] in URLS:
            draft = URLS[urldefrag(named)[0]]
        draft = draft or self.default_draft
        old = draft in ("4", "6", "7")
        alone = old and "$ref" in schema
        name = schema.get("id" if draft == "4" else "$id")
        if isinstance(name, str) and not alone:
            url, fragment = urldefrag(join(base, name))
            if fragment and old:
                self.anchors[url, fragment] = schema
            if url != base or not fragment:
                self.roots[url] = schema
                base = url
        if base not in self.roots:
            self.roots[base] = schema
        if self.roots[base] is schema:
            self.drafts[base] = draft
        if not old:
            for anchor in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(anchor), str):
                    self.anchors[base, schema[anchor]] = schema
            if isinstance(schema.get("$dynamicAnchor"), str) and draft == "2020-12":
                self.dynamic[base, schema["$dynamicAnchor"]] = schema
        for keyword, value in schema.items():
            if keyword in NAMED and isinstance(value, dict):
                inner = list(value.values())
            elif keyword in MANY and isinstance(value, list):
                inner = value
            elif keyword in ONE and isinstance(value, (dict, bool)):
                inner = [value]
            else:
                continue
            for each in inner:
                if isinstance(each, dict):
                    self.enter(each, base, draft)

    def base_of(self, schema, base):
        """The URL of the resource that a schema inside of `base` belongs to."""
        if isinstance(schema, dict):
            draft = self.drafts.get(base, self.default_draft)
            named = schema.get("$schema")
            if isinstance(named, str) and urldefrag(named)[0] in URLS:
                draft = URLS[urldefrag(named)[0]]
            name = schema.get("id" if draft == "4" else "$id")
            alone = draft in ("4", "6", "7") and "$ref" in schema
            if isinstance(name, str) and not alone:
                url, fragment = urldefrag(join(base, name))
                if self.roots.get(url) is schema:
                    return url
        return base

    def resolve(self, reference, base):
        """The schema that a reference leads to, and the URL of its resource."""
        url, fragment = urldefrag(join(base, reference))
        if url not in self.roots:
            raise LookupError(url)
        schema = self.roots[url]
        if not fragment or fragment.startswith("/"):
            for step in unquote(fragment).split("/")[1:]:
                url = self.base_of(schema, url)
                step = step.replace("~1", "/").replace("~0", "~")
                schema = schema[int(step)] if isinstance(schema, list) else schema[step]
            return schema, self.base_of(schema, url)
        return self.anchors[url, unquote(fragment)], url

    # -- What schemas say --

    def evaluate(self, schema, value, base, scope):
        """(valid, keys that were evaluated, indices that were evaluated)."""
        if isinstance(schema, bool):
            return schema, set(), set()
        base = self.base_of(schema, base)
        if not scope or scope[-1] != base:
            scope = (*scope, base)
        return Evaluation(self, schema, value, base, scope).run()

    def matches(self, pattern, text):
        if pattern not in self.patterns:
            self.patterns[pattern] = compile_pattern(pattern)
        return self.patterns[pattern].search(text) is not None

    def has_format(self, name, text):
        if not self.assert_formats or name not in FORMATS:
            return True
        known = FORMATS[name](text)
        if known is not None:
            return known
        self.asked.add((name, text))
        return self.answers.get((name, text), False)


def join(base, reference):
    """urljoin, which knows hierarchical schemes only."""
    if reference.startswith("#") or not reference:
        return base + reference
    if base.startswith("urn:"):
        return reference
    return urljoin(base, reference)


class Evaluation:
    """One schema and one value."""

    def __init__(self, judge, schema, value, base, scope):
        self.judge, self.schema, self.value = judge, schema, value
        self.base, self.scope = base, scope
        self.draft = DRAFTS.index(judge.drafts.get(base, judge.default_draft))
        self.keys, self.items = set(), set()

    def apply(self, schema, value=..., base=None):
        """Whether a schema holds; for the value itself, with what it evaluates."""
        in_place = value is ...
        valid, keys, items = self.judge.evaluate(
            schema, self.value if in_place else value, base or self.base, self.scope
        )
        if in_place and valid:
            self.keys |= keys
            self.items |= items
        return valid

    def run(self):
        schema, value = self.schema, self.value
        if self.draft <= 2 and isinstance(schema.get("$ref"), str):
            valid = self.refer(schema["$ref"])
            return valid, self.keys, self.items
        checks = [self.references, self.any_value, self.applicators]
        if is_number(value):
            checks.append(self.numbers)
        elif isinstance(value, str):
            checks.append(self.strings)
        elif isinstance(value, list):
            checks += [self.arrays, self.unevaluated_items]
        elif isinstance(value, dict):
            checks += [self.objects, self.unevaluated_properties]
        # Each is run: a later question about a format may be an open one.
        valid = all([check() for check in checks])
        return valid, self.keys, self.items

    def refer(self, reference):
        schema, base = self.judge.resolve(reference, self.base)
        return self.apply(schema, base=base)

    def references(self):
        schema, judge = self.schema, self.judge
        valid = "$ref" not in schema or self.refer(schema["$ref"])
        if self.draft == 3 and "$recursiveRef" in schema:
            base = self.base
            if self.recursive(base):
                base = next(filter(self.recursive, self.scope))
            valid &= self.apply(judge.roots[base], base=base)
        if self.draft == 4 and "$dynamicRef" in schema:
            reference = schema["$dynamicRef"]
            target, base = judge.resolve(reference, self.base)
            name = unquote(urldefrag(reference)[1])
            if judge.dynamic.get((base, name)) is target:
                at = [url for url in self.scope if (url, name) in judge.dynamic]
                base = at[0] if at else base
                target = judge.dynamic[base, name]
            valid &= self.apply(target, base=base)
        return valid

    def recursive(self, url):
        root = self.judge.roots[url]
        return isinstance(root, dict) and root.get("$recursiveAnchor") is True

    def any_value(self):
        schema, value = self.schema, self.value
        valid = True
        if "type" in schema:
            types = schema["type"]
            valid &= any(
                map(self.has_type, types if isinstance(types, list) else [types])
            )
        if "enum" in schema:
            key = key_of(value)
            valid &= any(key_of(each) == key for each in schema["enum"])
        if self.draft >= 1 and "const" in schema:
            valid &= key_of(schema["const"]) == key_of(value)
        return valid

    def has_type(self, name):
        value = self.value
        if name == "integer" and is_number(value):
            if self.draft == 0:  # "without a fraction or exponent part"
                return not isinstance(value, Number) or whole(r"-?\d+", value.text)
            return is_integral(value)
        return {
            "null": value is None,
            "boolean": isinstance(value, bool),
            "number": is_number(value),
            "integer": False,
            "string": isinstance(value, str),
            "array": isinstance(value, list),
            "object": isinstance(value, dict),
        }[name]

    def applicators(self):
        schema = self.schema
        valid = True
        if "allOf" in schema:
            valid &= all([self.apply(each) for each in schema["allOf"]])
        if "anyOf" in schema:
            valid &= any([self.apply(each) for each in schema["anyOf"]])
        if "oneOf" in schema:
            valid &= sum([self.apply(each) for each in schema["oneOf"]]) == 1
        if "not" in schema:
            valid &= not self.apply(schema["not"], self.value)
        if self.draft >= 2 and "if" in schema:
            branch = "then" if self.apply(schema["if"]) else "else"
            valid &= branch not in schema or self.apply(schema[branch])
        return valid

    def numbers(self):
        schema, value = self.schema, self.value
        low, high = schema.get("minimum"), schema.get("maximum")
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        if self.draft == 0:
            above = low if above is True else None
            below = high if below is True else None
        return (
            (low is None or value >= low)
            and (high is None or value <= high)
            and (above is None or value > above)
            and (below is None or value < below)
            and (
                "multipleOf" not in schema
                or is_multiple(Decimal(value), Decimal(schema["multipleOf"]))
            )
        )

    def strings(self):
        schema, value = self.schema, self.value
        return (
            self.in_bounds(len(value), "minLength", "maxLength")
            and (
                "pattern" not in schema or self.judge.matches(schema["pattern"], value)
            )
            and (
                "format" not in schema or self.judge.has_format(schema["format"], value)
            )
        )

    def in_bounds(self, count, least, most):
        schema = self.schema
        return schema.get(least, 0) <= count <= schema.get(most, count)

    def arrays(self):
        schema, value = self.schema, self.value
        valid = self.in_bounds(len(value), "minItems", "maxItems")
        if schema.get("uniqueItems") is True:
            valid &= len(set(map(key_of, value))) == len(value)
        first, rest = schema.get("prefixItems", []) if self.draft == 4 else [], None
        items = schema.get("items")
        if isinstance(items, list):
            first, rest = items, schema.get("additionalItems")
        elif items is not None:
            rest = items
        for at, item in enumerate(value):
            each = first[at] if at < len(first) else rest
            if each is not None:
                valid &= self.apply(each, item)
                self.items.add(at)
        if self.draft >= 1 and "contains" in schema:
            found = {
                i for i, x in enumerate(value) if self.apply(schema["contains"], x)
            }
            least, most = 1, None
            if self.draft >= 3:
                least, most = schema.get("minContains", 1), schema.get("maxContains")
            valid &= len(found) >= least and (most is None or len(found) <= most)
            if self.draft == 4:
                self.items |= found
        return valid

    def unevaluated_items(self):
        if self.draft < 3 or "unevaluatedItems" not in self.schema:
            return True
        left = [i for i in range(len(self.value)) if i not in self.items]
        each = self.schema["unevaluatedItems"]
        valid = all([self.apply(each, self.value[i]) for i in left])
        self.items |= set(left)
        return valid

    def objects(self):
        schema, value = self.schema, self.value
        valid = self.in_bounds(len(value), "minProperties", "maxProperties")
        valid &= all(key in value for key in schema.get("required", []))
        properties = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        found = set()
        for key, member in value.items():
            of = [properties[key]] if key in properties else []
            of += [each for p, each in patterns.items() if self.judge.matches(p, key)]
            if not of and "additionalProperties" in schema:
                of = [schema["additionalProperties"]]
            valid &= all([self.apply(each, member) for each in of])
            if of:
                found.add(key)
            if self.draft >= 1 and "propertyNames" in schema:
                valid &= self.apply(schema["propertyNames"], key)
        self.keys |= found
        for key, then in schema.get("dependencies", {}).items():
            if key in value:
                valid &= (
                    all(k in value for k in then)
                    if isinstance(then, list)
                    else self.apply(then)
                )
        if self.draft >= 3:
            for key, then in schema.get("dependentRequired", {}).items():
                valid &= key not in value or all(k in value for k in then)
            for key, then in schema.get("dependentSchemas", {}).items():
                valid &= key not in value or self.apply(then)
        return valid

    def unevaluated_properties(self):
        if self.draft < 3 or "unevaluatedProperties" not in self.schema:
            return True
        left = [key for key in self.value if key not in self.keys]
        each = self.schema["unevaluatedProperties"]
        valid = all([self.apply(each, self.value[key]) for key in left])
        self.keys |= set(left)
        return valid
