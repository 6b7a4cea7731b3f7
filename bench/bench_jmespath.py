"""What a JMESPath search costs from Python, beside the package `jmespath`.

    python bench/bench_jmespath.py

Both search the same Python values in the same process, and both have the
expression compiled.  The answers must be the same.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys

from bench_python import best

from parlance import jmespath as ours

try:
    import jmespath as theirs
except ImportError:
    sys.exit("the package jmespath is needed as the peer: scripts/setup")

CALL = {
    "name": "get_weather",
    "parameters": {"city": "Ulaanbaatar", "days": 7, "units": "metric"},
}
CALLS = [CALL] * 3
PEOPLE = {
    "people": [
        {"name": f"person {i}", "age": i * 37 % 90, "state": {"name": "WA"}}
        for i in range(100)
    ]
}
NESTED = {"a": {"b": {"c": {"d": {"e": [1, 2, {"f": "found"}]}}}}}
FIXED = json.loads('{"foo": [{"bar": [1, 2, 3]}, {"bar": [4]}], "baz": null}')

# (what it shows, expression, value)
CASES = [
    ("one field", "name", CALL),
    ("deep field", "a.b.c.d.e[2].f", NESTED),
    (
        "tool call renamed",
        "{type: 'function', function: {name: name, arguments: parameters}}",
        CALL,
    ),
    (
        "tool calls renamed",
        "[*].{type: 'function', function: {name: name, arguments: parameters}}",
        CALLS,
    ),
    ("either of two", "parameters || arguments || `{}`", CALL),
    ("flatten", "foo[].bar[]", FIXED),
    ("filter", "people[?age > `20`].name", PEOPLE),
    ("filter, two sides", "people[?age > `20` && state.name == 'WA'].age", PEOPLE),
    ("sort_by, slice", "sort_by(people, &age)[:5].name", PEOPLE),
    ("functions", "[length(people), max(people[].age), sum(people[].age)]", PEOPLE),
    ("object of lists", "{names: people[].name, ages: people[].age}", PEOPLE),
    ("first of many", "people[0].name", PEOPLE),
    ("everything", "@", PEOPLE),
]


def main():
    print(f"python {platform.python_version()}, {platform.machine()}, "
          f"jmespath {theirs.__version__}")
    print(f"{'':20} {'compiled':>10} {'package':>10} {'x':>6}   "
          f"{'search()':>10} {'package':>10} {'x':>6}")
    compiled, cached = [], []
    for name, text, value in CASES:
        a = ours.compile(text)
        b = theirs.compile(text)
        assert json.dumps(a.search(value)) == json.dumps(b.search(value)), name
        times = [
            best(lambda: a.search(value)),
            best(lambda: b.search(value)),
            best(lambda: ours.search(text, value)),
            best(lambda: theirs.search(text, value)),
        ]
        compiled.append(times[1] / times[0])
        cached.append(times[3] / times[2])
        print(f"{name:20} {times[0] * 1e6:7.2f} us {times[1] * 1e6:7.2f} us "
              f"{compiled[-1]:6.1f}   {times[2] * 1e6:7.2f} us "
              f"{times[3] * 1e6:7.2f} us {cached[-1]:6.1f}")
    print(f"{'geometric mean':20} {'':10} {'':10} "
          f"{statistics.geometric_mean(compiled):6.1f}   {'':10} {'':10} "
          f"{statistics.geometric_mean(cached):6.1f}")


if __name__ == "__main__":
    main()
