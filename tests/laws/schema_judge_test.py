"""The validator that judges grammars (support/schema_judge.py), judged itself: by the
official test suite of JSON Schema, and by the package jsonschema on random schemas.
"""

import json
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("regex")
import jsonschema_specifications  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
from random_instances import Instances  # noqa: E402
from random_schemas import Schemas  # noqa: E402
from schema_judge import Judge, Number, key_of, parse, write  # noqa: E402

SUITE = ROOT / "conformance/json-schema-test-suite"
DRAFTS = {
    "4": jsonschema.Draft4Validator,
    "6": jsonschema.Draft6Validator,
    "7": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}

# Groups of the suite on which it goes another way.
CONTENT = "the contents of encoded strings are annotations"
VOCABULARY = "vocabularies are left out"
DIFFERENT = {
    ("7", "optional/content.json"): CONTENT,
    ("2019-09", "vocabulary.json"): VOCABULARY,
    ("2020-12", "vocabulary.json"): VOCABULARY,
}
# Only formats leave a question open, and of the suite's tests of formats at most so
# many: rules of scripts and of Punycode, and what an address or template may contain.
MOST_OPEN = 0.35


def documents():
    found = parse((SUITE / "remotes.json").read_text())
    registry = jsonschema_specifications.REGISTRY
    return found | {
        url.rstrip("#"): parse(json.dumps(registry[url].contents)) for url in registry
    }


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_official_suite(draft):
    others, different, open_ones, formats = documents(), set(), 0, 0
    files = parse((SUITE / f"draft{draft}.json").read_text())["files"]
    for file, groups in files.items():
        is_format = file.startswith("optional/format")
        for group in groups:
            judge = Judge(write(group["schema"]), draft, others, is_format)
            for test in group["tests"]:
                verdict = judge.verdict(test["data"])
                formats += is_format
                if verdict is None and is_format:
                    open_ones += 1
                elif verdict is not test["valid"]:
                    place = (file, group["description"], test["description"])
                    assert (draft, file) in DIFFERENT, place
                    different.add(file)
    assert different == {file for of, file in DIFFERENT if of == draft}
    assert open_ones <= MOST_OPEN * max(formats, 1)


def is_beyond_jsonschema(text, draft):
    """What it gets wrong: `unevaluated...` of 2019-09, and within `unevaluated...`;
    `additionalItems` beside a bool."""
    return text.count('"unevaluated') > (0 if draft == "2019-09" else 1) or (
        '"additionalItems"' in text and re.search('"items": (true|false)', text)
    )


def exact(value, draft):
    """The value with fractions, by which jsonschema divides exactly."""
    if isinstance(value, Number):
        if value == value.to_integral_value() and (
            draft != "4" or value.text.lstrip("-").isdigit()
        ):
            return int(value)
        return Fraction(value)
    if isinstance(value, list):
        return [exact(each, draft) for each in value]
    if isinstance(value, dict):
        return {key: exact(each, draft) for key, each in value.items()}
    return value


@pytest.mark.parametrize("block", range(4))
def test_random_schemas(block):
    tally = {True: 0, False: 0}
    for seed in range(block * 200, block * 200 + 200):
        draw = Schemas(seed, extreme=False)
        schema = draw.schema()
        if is_beyond_jsonschema(write(schema), draw.draft):
            continue
        judge = Judge(write(schema), draw.draft, assert_formats=False)
        validator = DRAFTS[draw.draft](exact(schema, draw.draft))
        near = Instances(seed, schema)
        for _ in range(20):
            text = near.text()
            value = parse(text)
            if "\\n" in text or "\\u000" in text:
                continue  # "$" of Python matches before a line feed
            verdict = judge.verdict(value)
            tally[verdict] += 1
            assert verdict is validator.is_valid(exact(value, draw.draft)), (
                f"seed {seed}: {write(schema)}: {text}"
            )
    assert tally[True] > tally[False] / 10


@pytest.mark.parametrize(
    "one, other, equal",
    [
        ("1", "10e-1", True),
        ("0", "-0.0", True),
        ("1", "true", False),
        ("9007199254740993", "9007199254740992", False),
        ("1e2000000000", "1e3000000000", False),
        ('{"a": [1.0], "b": 2}', '{"b": 2.0, "a": [1]}', True),
    ],
)
def test_values_are_equal_by_their_digits(one, other, equal):
    assert (key_of(parse(one)) == key_of(parse(other))) is equal
    assert isinstance(parse("1.50"), Decimal)
    judge = Judge(f'{{"const": {one}}}')
    assert judge.verdict(parse(other)) is equal


@pytest.mark.parametrize(
    "divisor, multiple, valid",
    [
        ("0.1", "0.3", True),
        ("0.01", "4.02", True),
        ("1e-19", "1", True),
        ("7e20", "7e21", True),
        ("7e20", "1", False),
        ("3", "1e1000000000", False),
        ("2e1000000000", "4e1000000000", True),
        ("1e1000000000", "0", True),
    ],
)
def test_multiples_of_any_size(divisor, multiple, valid):
    assert Judge(f'{{"multipleOf": {divisor}}}').verdict(parse(multiple)) is valid


def test_open_questions_count_only_where_they_matter():
    asks = '{"format": "hostname"}'  # of "xn--a"
    assert Judge(asks).verdict("xn--a") is None
    assert Judge(f'{{"anyOf": [{asks}, {{"not": {asks}}}]}}').verdict("xn--a") is True
    assert Judge(f'{{"allOf": [{asks}, {{"minLength": 9}}]}}').verdict("xn--a") is False
