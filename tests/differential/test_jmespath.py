"""The jmespath room against the package `jmespath` and the compliance suite.

Needs the program jmespath_probe, built with the tests; PARLANCE_PROBE_DIR names
the directory it is in.  The compliance suite is the folder jmespath-tests, outside
the repository (conformance/README.md).  PARLANCE_SEED (default 1) chooses the cases,
PARLANCE_CASES (default 6000) how many.
"""

import json
import os
import random
import subprocess
import warnings
from pathlib import Path

import pytest

import conformance

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
CASES = int(os.environ.get("PARLANCE_CASES", "6000"))


def probe_path():
    directory = os.environ.get("PARLANCE_PROBE_DIR")
    if not directory:
        pytest.skip("PARLANCE_PROBE_DIR is not set: no jmespath_probe to compare")
    path = Path(directory) / "jmespath_probe"
    if not path.exists():
        pytest.skip(f"{path} does not exist: build the tests first")
    return path


def ask(questions):
    """What the room says to (expression, values): a list per question, of
    ("ok", value) or ("error", code)."""
    lines = [json.dumps({"expression": e, "values": v}) for e, v in questions]
    out = subprocess.run(
        [probe_path()], input="\n".join(lines), text=True,
        stdout=subprocess.PIPE, check=True,
    ).stdout.splitlines()
    assert len(out) == len(questions)
    answers = []
    for (expression, values), line in zip(questions, out):
        answer = json.loads(line)
        if "code" in answer:
            begin, end = answer["span"]
            assert 0 <= begin <= end <= len(expression.encode("utf-8"))
            assert answer["message"].endswith("."), answer
            answers.append([("error", answer["code"])] * len(values))
            continue
        answers.append(
            [
                ("ok", a["ok"]) if "ok" in a else ("error", a["code"])
                for a in answer["answers"]
            ]
        )
    return answers


# ---- The compliance suite

ERRORS = {
    "syntax": "bad_expression",
    "invalid-type": "invalid_type",
    "invalid-arity": "invalid_arity",
    "invalid-value": "invalid_value",
    "unknown-function": "unknown_function",
}


def compliance_cases():
    folder = conformance.suite_outside("jmespath-tests")
    for file in sorted(folder.glob("*.json")):
        for suite in json.loads(file.read_text("utf-8")):
            for case in suite["cases"]:
                yield file.name, suite["given"], case


def test_compliance():
    cases = list(compliance_cases())
    assert len(cases) > 900
    answers = ask([(case["expression"], [given]) for _, given, case in cases])
    for (file, _, case), [(status, answer)] in zip(cases, answers):
        if "error" in case:
            assert (status, answer) == ("error", ERRORS[case["error"]]), (file, case)
        elif "result" in case:
            assert status == "ok" and same(answer, case["result"]), (file, case)
        else:
            assert status == "ok", (file, case)


# ---- The package

def same(a, b):
    """Equal with types (1, 1.0 and true differ); keys in any order."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def expected(package, compiled, value):
    try:
        found = compiled.search(value)
    except package.exceptions.UnknownFunctionError:
        return "error", "unknown_function"
    except package.exceptions.ArityError:
        return "error", "invalid_arity"
    except package.exceptions.JMESPathTypeError:
        return "error", "invalid_type"
    except OverflowError:
        return "error", "invalid_value"
    except ValueError as error:
        if "dictionary update sequence" in str(error):
            return "escaped", str(error)  # merge({}, 'ab')
        # A slice with step 0, ceil(NaN).
        return "error", "invalid_value"
    except TypeError as error:
        # Exceptions that escape the package: 'a' < `1` is null here, and
        # merge({}, `1`) and contains('a', `1`) are wrong types.
        return "escaped", str(error)
    try:
        json.dumps(found)
    except TypeError:
        # An &expression as a value; a syntax or type error here.
        return "reference", ""
    return "ok", found


def check(questions):
    jmespath = pytest.importorskip("jmespath")
    answers = ask(questions)
    counts = {"ok": 0, "error": 0, "null": 0, "other": 0}
    for (expression, values), results in zip(questions, answers):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                jmespath.parser.Parser.purge()
                compiled = jmespath.compile(expression)
        except jmespath.exceptions.JMESPathError:
            assert results == [("error", "bad_expression")] * len(values), expression
            counts["error"] += 1
            continue
        for value, (status, answer) in zip(values, results):
            kind, right = expected(jmespath, compiled, value)
            where = (expression, value, (status, answer), right)
            if kind == "escaped":
                # Null or an error, and whatever the rest makes of a null.
                counts["other"] += 1
            elif kind == "reference" or (
                status == "error" and answer == "bad_expression"
            ):
                # & away from an argument.
                assert "&" in expression, where
                counts["other"] += 1
            elif kind == "error":
                assert (status, answer) == ("error", right), where
                counts["error"] += 1
            else:
                if (status, answer) == ("error", "invalid_type"):
                    # type(&a), not_null(`1`, &a), merge({}, []).
                    assert "&" in expression or "merge" in expression, where
                    counts["other"] += 1
                    continue
                assert status == "ok" and json.dumps(answer) == json.dumps(right), where
                counts["null" if right is None else "ok"] += 1
    return counts


STRINGS = ["", "a", "b", "ab", "é", "中文", "😀x", "10", " 7 ", "1e3", "nan", "x'y"]
NUMBERS = [0, 1, -1, 2, 3, 7.5, 1.0, -0.0, 0.1, 1e300, 2**53, 2**53 + 1, 2**63,
           -(2**64), 10**30, 9007199254740993.0]  # fmt: skip
NAMES = ["a", "b", "c", "foo", "x y", "é"]


def random_value(rng, depth=0):
    kind = rng.randrange(9 if depth < 4 else 5)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind in (1, 2):
        return rng.choice(NUMBERS)
    if kind in (3, 4):
        return rng.choice(STRINGS)
    if kind == 5:
        return [rng.choice(NUMBERS) for _ in range(rng.randrange(5))]
    if kind == 6:
        return [rng.choice(STRINGS) for _ in range(rng.randrange(5))]
    if kind == 7:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    keys = rng.sample(NAMES, rng.randrange(5))
    return {key: random_value(rng, depth + 1) for key in keys}


def random_document(rng):
    return {
        "a": random_value(rng),
        "b": [random_value(rng, 2) for _ in range(rng.randrange(4))],
        "c": rng.choice(STRINGS + NUMBERS),
        "foo": [
            {"a": rng.choice(NUMBERS), "b": rng.choice(STRINGS), "c": random_value(rng, 2)}
            for _ in range(rng.randrange(4))
        ],
    }


FUNCTIONS = {
    "abs": "v", "avg": "v", "ceil": "v", "contains": "vv", "ends_with": "vv",
    "floor": "v", "join": "vv", "keys": "v", "length": "v", "map": "ev",
    "max": "v", "max_by": "ve", "merge": "vv", "min": "v", "min_by": "ve",
    "not_null": "vv", "reverse": "v", "sort": "v", "sort_by": "ve",
    "starts_with": "vv", "sum": "v", "to_array": "v", "to_number": "v",
    "to_string": "v", "type": "v", "values": "v", "unknown": "v",
}  # fmt: skip


def random_name(rng):
    name = rng.choice(NAMES)
    return name if name.isascii() and name.isalnum() else json.dumps(name)


def random_slice(rng):
    part = lambda: rng.choice(["", "", "0", "1", "-1", "2", "-2", "99"])  # noqa: E731
    out = f"[{part()}:{part()}"
    return out + (f":{part()}]" if rng.random() < 0.5 else "]")


def random_expression(rng, depth=0):
    again = lambda: random_expression(rng, depth + 1)  # noqa: E731
    if depth > 3:
        return rng.choice([random_name(rng), "@", "*", "[]", "`1`"])
    kind = rng.randrange(20)
    if kind < 4:
        return random_name(rng)
    if kind == 4:
        return rng.choice(["@", "*", "[*]", "[]", f"[{rng.randrange(-3, 4)}]"])
    if kind == 5:
        return "`" + json.dumps(random_value(rng, 3)).replace("`", "\\`") + "`"
    if kind == 6:
        return "'" + rng.choice(STRINGS).replace("'", "\\'") + "'"
    if kind == 7:
        return f"{again()} {rng.choice(['||', '&&', '|'])} {again()}"
    if kind == 8:
        op = rng.choice(["==", "!=", "<", "<=", ">", ">="])
        return f"{again()} {op} {again()}"
    if kind == 9:
        return rng.choice(["!", "(", "(("]) .replace("((", "(") + again() + (
            ")" if rng.random() < 0.9 else ""
        )
    if kind == 10:
        return f"{again()}[?{again()}]"
    if kind == 11:
        return again() + rng.choice(["[*]", "[]", ".*", f"[{rng.randrange(-2, 3)}]"])
    if kind == 12:
        return again() + random_slice(rng)
    if kind == 13:
        return f"[{', '.join(again() for _ in range(rng.randrange(1, 4)))}]"
    if kind == 14:
        pairs = (f"{random_name(rng)}: {again()}" for _ in range(rng.randrange(1, 4)))
        return "{" + ", ".join(pairs) + "}"
    if kind in (15, 16):
        name = rng.choice(list(FUNCTIONS))
        arguments = [
            ("&" if k == "e" else "") + again() for k in FUNCTIONS[name]
        ]
        if rng.random() < 0.05:
            arguments.pop()
        return f"{name}({', '.join(arguments)})"
    return f"{again()}.{again()}"


def test_random_expressions():
    rng = random.Random(SEED)
    questions = [
        (random_expression(rng), [random_document(rng) for _ in range(3)])
        for _ in range(CASES)
    ]
    counts = check(questions)
    # The comparison is about something.
    assert counts["ok"] > CASES / 4 and counts["error"] > CASES / 20, counts


def test_functions():
    """Every function on values of every type."""
    rng = random.Random(SEED + 1)
    keys = ["&@", "&a", "&b", "&length(@)", "&to_string(@)", "@"]
    questions = []
    for name, kinds in FUNCTIONS.items():
        for _ in range(60 * len(kinds)):
            arguments = [
                rng.choice(keys) if k == "e" else f"[{i}]"
                for i, k in enumerate(kinds)
            ]
            expression = f"{name}({', '.join(arguments)})"
            values = [
                [random_value(rng, 1), random_value(rng, 1)] for _ in range(4)
            ] + [
                [random_document(rng)["foo"]] * 2,
                [[rng.choice(STRINGS) for _ in range(3)]] * 2,
            ]
            questions.append((expression, values))
    check(questions)


def test_comparisons():
    scalars = NUMBERS + STRINGS + [None, True, False, [], {}, [1], [True], [1.0]]
    values = [[a, b] for a in scalars for b in scalars]
    operators = ["==", "!=", "<", "<=", ">", ">="]
    check(
        [(f"[0] {op} [1]", values) for op in operators]
        + [("contains([[0]][], [1])", values), ("!([0])", values)]
        + [("sort([*])", values), ("max([*])", values), ("min([*])", values)]
        + [("sum([*])", values), ("avg([*])", values)]
    )


def test_slices():
    parts = ["", "0", "1", "2", "-1", "-2", "-9", "9", "99999999999999999999",
             "-99999999999999999999"]  # fmt: skip
    questions = [
        (f"[{a}:{b}:{c}]", [[], [1], [1, 2, 3], "abc", None])
        for a in parts for b in parts for c in parts
    ]
    check(questions)


def test_broken_expressions():
    """Pieces of expressions in any order: mostly syntax errors, the same ones."""
    rng = random.Random(SEED + 2)
    pieces = ["a", "b", ".", "[", "]", "*", "(", ")", "{", "}", ":", ",", "@", "|",
              "||", "&&", "!", "==", "<", "1", "-1", "`1`", "'x'", '"q"', "[]", "[?",
              "[*]", "[0]", "[1:2]", "length(", " ", "=", "-", "#", "é", "'", "`", '"',
              "\\"]  # fmt: skip
    value = {"a": [1, [2, {"b": 3}], {"a": {"b": [0]}}], "b": {"a": "x", "b": None}}
    questions = [
        ("".join(rng.choices(pieces, k=rng.randrange(1, 8))), [value])
        for _ in range(2 * CASES)
    ]
    check(questions)


def test_literals():
    rng = random.Random(SEED + 3)
    pieces = ["a", "1", '"', "\\", "`", "\\`", "'", "\\'", " ", "\u00a0", "\n", "[",
              "]", "{", "}", ":", "\\u00e9", "\\n", "é", "null", "true"]  # fmt: skip
    questions = []
    for _ in range(CASES):
        inside = "".join(rng.choices(pieces, k=rng.randrange(0, 6)))
        quote = rng.choice("`'\"")
        questions.append((quote + inside + quote, [{"a": 1}]))
    check(questions)
