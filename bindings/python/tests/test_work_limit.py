"""Calls of a matcher that would take too long: ``limits["work"]``."""

import json

import numpy
import pytest

import parlance

STOP = 256
ONE_OF = json.dumps(
    {
        "oneOf": [
            {"required": [f"k{i}"], "properties": {f"k{i}": {"minimum": i}}}
            for i in range(300)
        ]
    }
)
LIST = '{"type": "array", "items": ' + ONE_OF + "}"


@pytest.fixture(scope="module")
def compiler():
    tokens = [bytes([byte]) for byte in range(256)] + ["</s>"]
    vocabulary = parlance.Vocabulary.from_tokens(
        tokens, control_ids=[STOP], stop_ids=[STOP]
    )
    return parlance.Compiler(vocabulary)


def allowed(matcher):
    row = numpy.zeros(matcher.mask_words, numpy.int32)
    matcher.fill_bitmask(row)
    bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
    return numpy.flatnonzero(bits).tolist()


def test_a_call_that_takes_too_much_is_an_error(compiler):
    constraint = compiler.compile_json_schema(LIST, limits={"work": 5000})
    matcher = constraint.matcher()
    assert matcher.error is None
    assert matcher.accept_bytes(b"[")
    assert allowed(matcher) == [STOP]
    error = matcher.error
    assert isinstance(error, parlance.GrammarError)
    assert error.code == "too_large"
    assert "GrammarLimits::work, which is 5000" in str(error)
    assert "byte 1" in str(error)
    assert not matcher.can_end()
    assert not matcher.accept_token(ord("]"))
    assert matcher.forced_bytes() == b""
    assert matcher.copy().error is not None
    assert matcher.accept_token(STOP)
    assert matcher.is_terminated()
    assert matcher.rollback(2)
    assert matcher.error is None
    assert matcher.accept_bytes(b"[")
    matcher.reset()
    assert matcher.error is None


def test_other_matchers_are_not_concerned(compiler):
    schema = '{"properties": {"a": {"type": "integer"}, "b": ' + LIST + "}}"
    constraint = compiler.compile_json_schema(schema, limits={"work": 5000})
    one, other = constraint.matcher(), constraint.matcher()
    assert other.accept_bytes(b'{"a":1')
    one.accept_bytes(b'{"b":[')
    allowed(one)
    assert one.error is not None
    assert other.error is None
    digits = [ord(c) for c in "0123456789"]
    assert set(digits) <= set(allowed(other))
    assert ord("}") in allowed(other)
    assert other.accept_bytes(b"23}")
    assert other.can_end()


def test_a_batch_says_which_rows_failed(compiler):
    constraint = compiler.compile_json_schema(ONE_OF, limits={"work": 100})
    batch = parlance.Batch()
    matcher = constraint.matcher()
    row = batch.add(matcher)
    masks = numpy.zeros((1, constraint.mask_words), numpy.int32)
    step = batch.step([row], [[]], masks)
    assert step.failed == [True]
    assert step.constrained == [True]


@pytest.mark.parametrize("count", [600, 3000])
def test_an_enum_may_have_thousands_of_objects(compiler, count):
    objects = [{"id": i, "name": f"n{i % 7}"} for i in range(count)]
    constraint = compiler.compile_json_schema({"enum": [*objects, objects[0]]})
    for i in (0, 17, count - 1):
        matcher = constraint.matcher()
        for byte in json.dumps(objects[i], separators=(",", ":")).encode():
            assert byte in allowed(matcher)
            assert matcher.accept_token(byte)
        assert matcher.error is None
        assert matcher.can_end()
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b'{"id":1')
    assert set(allowed(matcher)) == set(b"0123456789, \n\t\r")
    # Only the name of this object is left.
    assert matcher.accept_bytes(b'3,"name":"n')
    assert allowed(matcher) == [ord(str(13 % 7))]
    assert matcher.error is None
