"""The arguments of attempted calls, with jsonschema as the judge."""

import json
import random

import pytest

import parlance

jsonschema = pytest.importorskip("jsonschema")

NAMES = ["a", "b", "c"]
VALUES = [None, True, 0, 1, 7, -1, 2.5, 3.0, "", "x", "xyz", [], [1], ["x", 1], {}]


def draw_schema(draw, depth=0):
    """A schema of one value."""
    kind = draw.choice(
        ["string", "integer", "number", "enum", "any", "union", "array", "object"]
    )
    if kind == "enum":
        return {"enum": draw.sample(VALUES, 3)}
    if kind == "any" or (depth > 1 and kind in ("array", "object", "union")):
        return draw.choice([True, {}, {"type": "boolean"}, {"type": "null"}])
    if kind == "union":
        key = draw.choice(["anyOf", "oneOf"])
        return {key: [draw_schema(draw, depth + 1) for _ in range(2)]}
    if kind == "array":
        return {"type": "array", "items": draw_schema(draw, depth + 1), "maxItems": 2}
    if kind == "object":
        return draw_object(draw, depth + 1)
    out = {"type": kind}
    if kind == "string":
        out |= draw.choice([{}, {"minLength": 2}, {"pattern": "^x"}, {"format": "date"}])
    else:
        out |= draw.choice([{}, {"minimum": 1}, {"exclusiveMaximum": 7}])
    return out


def draw_object(draw, depth=0):
    """A schema of an object."""
    names = draw.sample(NAMES, draw.randint(0, 3))
    out = {
        "type": "object",
        "properties": {name: draw_schema(draw, depth) for name in names},
    }
    if names and draw.random() < 0.5:
        out["required"] = draw.sample(names, 1)
    if draw.random() < 0.4:
        out["additionalProperties"] = draw.choice([False, {"type": "integer"}])
    return out


def draw_value(draw, depth=0):
    if depth < 2 and draw.random() < 0.3:
        names = draw.sample(NAMES, draw.randint(0, 2))
        return {name: draw_value(draw, depth + 1) for name in names}
    return draw.choice(VALUES)


def draw_arguments(draw):
    if draw.random() < 0.1:
        return draw.choice([None, [], 1, True])
    names = draw.sample(NAMES, draw.randint(0, 3))
    return {name: draw_value(draw) for name in names}


@pytest.mark.parametrize("family", ["hermes", "mistral_v3"])
def test_validity_is_that_of_jsonschema(family):
    draw = random.Random(7)
    seen = {}
    for _ in range(300):
        schema = draw_object(draw)
        tools = [
            {"type": "function", "function": {"name": "f", "parameters": schema}}
        ]
        calls = [{"name": "f", "arguments": draw_arguments(draw)} for _ in range(4)]
        if family == "hermes":
            text = "".join(f"<tool_call>{json.dumps(c)}</tool_call>" for c in calls)
        else:
            text = "[TOOL_CALLS]" + json.dumps(calls)
        parser = parlance.ResponseParser(family, "", tools=tools, attempts=True)
        parser.feed(text)
        parser.finalize()
        attempts = parser.attempted_calls
        assert len(attempts) == len(calls)
        judge = jsonschema.Draft202012Validator(schema)
        for attempt in attempts:
            # A text that a schema of numbers declares may have become a number.
            arguments = json.loads(attempt["arguments"])
            valid = isinstance(arguments, dict) and judge.is_valid(arguments)
            expected = "ok" if valid else "invalid_arguments"
            assert attempt["status"] == expected, (schema, attempt)
            seen[expected] = seen.get(expected, 0) + 1
    assert min(seen.values()) > 200, seen
