"""parlance.jmespath: its answers, its errors, and the objects it gives back."""

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


def test_what_is_found_is_the_very_object():
    inner = {"c": [1, 2.5, "x" * 40]}
    value = {"a": [inner, {"b": 2}], "t": (1, inner)}
    search = jmespath.search
    assert search("@", value) is value
    assert search("a[0]", value) is inner
    assert search("a[].c[] | [2]", value) is inner["c"][2]
    assert search("[a[0], t]", value)[1] is value["t"]
    assert search("{x: t[1]}", value)["x"] is inner
    assert search("a[?c] | [0]", value) is inner
    assert search("max_by(a, &length(@))", value) is inner
    assert search("values(@)[0][0] || b", value) is inner
    # What is new shares nothing: neither with the value nor with a later answer.
    assert search("a[:]", value) is not value["a"]
    merged = search("merge(a[0], a[1])", value)
    assert merged == {**inner, "b": 2} and merged is not inner
    assert inner == {"c": [1, 2.5, "x" * 40]}
    search("`[1]`", None).append(2)
    assert search("`[1]`", None) == [1]


def test_values_that_do_not_fit():
    odd = object()
    with pytest.raises(TypeError):
        jmespath.search(3, {})
    # What is only passed on may be anything, what is looked at may not.
    assert jmespath.search("a.b", {"a": {"b": odd, 1: 2}, "b": odd, 2: 3}) is odd
    assert jmespath.search("[a, b]", {"a": odd}) == [odd, None]
    for text in ("@.a", "type(@)", "@ || `1`", "[@][?@]", "to_string(@)", "@ == `1`"):
        with pytest.raises(TypeError, match="made of dict, list, str"):
            jmespath.search(text, odd)
    for value in ({1: 2}, {"a": {1, 2}}):
        with pytest.raises(TypeError):
            jmespath.search("to_string(@)", value)
    circle = []
    circle.append(circle)
    assert jmespath.search("@[0][0]", circle) is circle
    with pytest.raises(jmespath.JmespathError) as caught:
        jmespath.search("to_string(@)", circle)
    assert caught.value.code == "too_deep"
    assert jmespath.search("[0][0][0][1]", circle) is None


def test_what_a_value_raises_comes_out():
    class Key(str):
        def __hash__(self):
            return hash("a")

        def __eq__(self, other):
            raise LookupError("no")

    with pytest.raises(LookupError):
        jmespath.search("[a, keys(@), {x: b}]", {Key("a"): 1})


def test_a_list_may_shrink_under_the_search():
    values = list(range(100))

    class Key(str):
        def __hash__(self):
            return hash("a")

        def __eq__(self, other):
            values.clear()
            return False

    values[0] = {Key("a"): 1}
    assert jmespath.search("[*].a", values) == []


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


def test_finds_what_the_package_finds():
    """Random expressions over random values, and the very same objects."""
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
