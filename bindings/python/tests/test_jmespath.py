"""parlance.jmespath: its answers, its errors, and what it reads of a value."""

import copy
import pickle
import random

import pytest

import parlance
from parlance import jmespath


def test_search():
    value = {"people": [{"name": "a", "age": 30}, {"name": "b", "age": 9}]}
    before = copy.deepcopy(value)
    assert jmespath.search("people[?age > `20`].name", value) == ["a"]
    assert jmespath.compile("people[-1].name").search(value) == "b"
    assert jmespath.search("nothing", value) is None
    assert value == before
    assert list(jmespath.search("{z: @, a: @}", 1)) == ["z", "a"]
    assert jmespath.search("@", {"b": 1, "a": [10**30, 1.5, "é\ud800", None]}) == {
        "b": 1,
        "a": [10**30, 1.5, "é\ud800", None],
    }
    assert jmespath.search("[1]", (1, 2)) == 2


def test_expression():
    expression = jmespath.compile("a.b")
    assert expression is jmespath.compile("a.b")
    assert expression.expression == "a.b"
    assert repr(expression) == "Expression('a.b')"
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert copy.deepcopy(expression) == expression


@pytest.mark.parametrize(
    "text, value, code, span",
    [
        ("a[", {}, "bad_expression", (2, 2)),
        ("'é' é", {}, "bad_expression", (5, 7)),
        ("b || f(@)", {}, "unknown_function", (5, 9)),
        ("abs()", {}, "invalid_arity", (0, 5)),
        ("abs(@)", {}, "invalid_type", (0, 6)),
        ("[::0]", [], "invalid_value", (0, 5)),
        ("(" * 1000, [], "too_deep", (250, 251)),
    ],
)
def test_errors(text, value, code, span):
    with pytest.raises(jmespath.JmespathError) as caught:
        jmespath.search(text, value)
    error = caught.value
    assert isinstance(error, parlance.Error) and isinstance(error, ValueError)
    assert (error.code, error.span, error.source) == (code, span, text)


def test_values_that_do_not_fit():
    for value in ({1: 2}, {"a": {1, 2}}, object()):
        with pytest.raises(TypeError):
            jmespath.search("@", value)
    with pytest.raises(TypeError):
        jmespath.search(3, {})
    # What the expression cannot see is not read.
    assert jmespath.search("a", {"a": 1, "b": object(), 2: 3}) == 1
    circle = []
    circle.append(circle)
    with pytest.raises(jmespath.JmespathError) as caught:
        jmespath.search("@", circle)
    assert caught.value.code == "too_deep"
    assert jmespath.search("[0][0][0][1]", circle) is None


STEPS = [".a", ".b", "[0]", "[-1]", "[1:]", "[*]", ".*", "[]", "[?a]", "[?a == `1`]",
         " | [0]", " | length(@)", " | keys(@)", " | type(@)", " | sort_by(@, &a)",
         " | max_by(@, &b)", " | map(&a, @)", ".[a, b]", ".{x: a, y: @}", " || b",
         " && a", " | values(@)", " | not_null(a, b, @)", " | to_array(@)",
         " | reverse(@)", " == `1`", " | [1] || [0]", " | b.a || a[0]"]  # fmt: skip


def random_value(rng, depth=0):
    kind = rng.randrange(8 if depth < 4 else 3)
    if kind < 3:
        return rng.choice([None, True, 0, 1, 2, 1.5, "", "a", "b"])
    if kind < 5:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    keys = rng.sample(["a", "b", "c"], rng.randrange(4))
    return {key: random_value(rng, depth + 1) for key in keys}


def test_reads_enough_of_a_value():
    """Searching what is read of a value is searching the value."""
    package = pytest.importorskip("jmespath")
    rng = random.Random(1)
    answers = 0
    for _ in range(20000):
        text = rng.choice("ab@") + "".join(rng.choices(STEPS, k=rng.randrange(1, 6)))
        if rng.random() < 0.2:
            text = f"[{text}, a[0], b[].a]"
        value = random_value(rng)
        try:
            right = "ok", package.search(text, value)
        except package.exceptions.JMESPathTypeError:
            right = "invalid_type", None
        except TypeError:
            continue  # of the package itself
        try:
            found = "ok", jmespath.search(text, value)
        except jmespath.JmespathError as error:
            found = error.code, None
        assert repr(found) == repr(right), (text, value)
        answers += right[1] not in (None, [])
    assert answers > 3000
