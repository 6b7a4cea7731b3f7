"""Casts of tool arguments, against those of transformers.

Random texts under random types: whatever transformers makes of an argument, the
package makes, type and digits included.
"""

import json
import random

import pytest

parlance = pytest.importorskip("parlance")
upstream = pytest.importorskip("transformers.utils.chat_parsing")

SEED = 20261122
CALLS = 60
ARGUMENTS = 250

TEMPLATE = {
    "start_anchor": "<A>",
    "fields": {
        "calls": {
            "open": "<call>",
            "close": "</call>",
            "content": "json",
            "transform": {"function": {"name": "f", "arguments": "{content}"}},
        }
    },
}
NAMES = ["integer", "number", "boolean", "null", "object", "array", "string", "date"]
PIECES = [
    *"0123456789", "+", "-", "_", ".", "e", "E", " ", "\t", "\n", "00", "1e3", "e-2",
    "3.0", "1e308", "inf", "nan", "Infinity", "true", "True", "FALSE", "null", "None",
    "[]", "{}", "[1]", '{"a": 1}', "0x10", "٣", "\u00a0", "9" * 20, "9" * 400,
]  # fmt: skip


def texts(rng):
    pick = rng.random()
    if pick < 0.25:
        return str(rng.choice([rng.randrange(-50, 50), rng.getrandbits(70)]))
    if pick < 0.5:
        number = rng.choice([rng.randrange(-50, 50), rng.uniform(-1e6, 1e6), 1e22, 1e23])
        made = rng.choice(["{:.1f}", "{:e}", "{:.0f}.", " {:g} ", "{:E}"]).format(number)
        return made
    return "".join(rng.choice(PIECES) for _ in range(rng.choice([0, 1, 1, 2, 3, 5])))


def types(rng):
    if rng.random() < 0.5:
        return {"type": rng.choice(NAMES)}
    some = rng.sample(NAMES, rng.randrange(1, 4))
    schema = rng.choice(
        [{"type": some}, {"anyOf": [{"type": t} for t in some]}, {"type": some[0]}]
    )
    return schema | rng.choice([{}, {"nullable": True}])


def test_casts():
    rng = random.Random(SEED)
    seen = set()
    for _ in range(CALLS):
        given = {f"p{i}": texts(rng) for i in range(ARGUMENTS)}
        tools = [{"name": "f", "parameters": {"properties": {p: types(rng) for p in given}}}]
        text = f"<call>{json.dumps(given)}</call>"
        theirs = upstream.parse_response(text, TEMPLATE, prefix="<A>", tools=tools)
        ours = parlance.parse_response(text, TEMPLATE, prefix="<A>", tools=tools)
        theirs = theirs["calls"]["function"]["arguments"]
        ours = ours["calls"]["function"]["arguments"]
        for name, raw in given.items():
            schema = tools[0]["parameters"]["properties"][name]
            assert repr(ours[name]) == repr(theirs[name]), (raw, schema)
            seen.add(type(theirs[name]))
    assert seen == {int, float, bool, type(None), dict, list, str}


@pytest.mark.parametrize(
    ("text", "types", "value"),
    [
        ("3.0", "integer", 3),
        ("1e3", "integer", 1000),
        ("-0.0", "integer", 0),
        ("3.5", "integer", "3.5"),
        ("1e400", "integer", "1e400"),
        ("3.0", ["integer", "number"], 3),
        ("3.0", ["number", "integer"], 3.0),
        ("1e23", "integer", 99999999999999991611392),
    ],
)
def test_whole_numbers(text, types, value):
    tools = [{"name": "f", "parameters": {"properties": {"n": {"type": types}}}}]
    call = f"<call>{json.dumps({'n': text})}</call>"
    message = parlance.parse_response(call, TEMPLATE, prefix="<A>", tools=tools)
    assert repr(message["calls"]["function"]["arguments"]["n"]) == repr(value)
