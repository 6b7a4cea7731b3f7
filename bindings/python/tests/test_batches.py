"""What parse_response takes as a batch: the messages are those of the list."""

import io
import itertools

import numpy
import pytest

import parlance

RESPONSES = ["<think>Hm.</think>Hi.", "", None, "<think>cut", "Zürich 🙂"]
VOCABULARY = parlance.Vocabulary(
    [bytes([b]) for b in range(256)] + [b"<think>", b"</think>"],
    control_ids=[256, 257],
)


def parse(batch, **options):
    return parlance.parse_response(batch, "qwen3", **{"prefix": "", **options})


def test_iterators():
    expected = parse(RESPONSES)
    assert len(expected) == len(RESPONSES)
    assert parse(one for one in RESPONSES) == expected
    assert parse(iter(RESPONSES)) == expected
    assert parse(map(str, ["a", "b"])) == parse(["a", "b"])
    assert parse(iter([])) == []
    with pytest.raises(TypeError):  # always a batch
        parse(iter([72, 105]), vocabulary=VOCABULARY)
    assert parse(iter([[72], [105]]), vocabulary=VOCABULARY) == parse(["H", "i"])


def test_iterators_are_bounded():
    with pytest.raises(parlance.UsageError, match="more than"):
        parse(itertools.repeat(""))
    with pytest.raises(TypeError):
        parse(io.StringIO("a file is no batch"))


def test_errors_of_an_iterator_are_passed_on():
    def broken():
        yield "a"
        raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        parse(broken())


@pytest.mark.parametrize(
    "texts",
    [
        numpy.array(RESPONSES, object),
        numpy.array(["a", "Zürich"]),
        numpy.array([b"a", b"b"]),
        numpy.array(["a", "b" * 100], numpy.dtypes.StringDType()),
        numpy.array([], object),
    ],
)
def test_arrays_of_texts(texts):
    assert parse(texts) == parse(list(texts.tolist()))


def test_missing_values_of_an_array():
    texts = numpy.array(["a", float("nan"), None], object)
    assert parse(texts) == parse(["a", None, None])
    with pytest.raises(TypeError):
        parse(["a", float("nan")])  # a list says None


def test_arrays_of_ids():
    ids = numpy.array([256, 72, 257, 73])
    expected = parse("<think>H</think>I")
    assert parse(ids, vocabulary=VOCABULARY) == expected
    assert parse(ids.astype(object), vocabulary=VOCABULARY) == expected
    assert parse(ids[None], vocabulary=VOCABULARY) == [expected]
    ragged = numpy.empty(2, object)
    ragged[:] = [ids, ids[:0]]
    assert parse(ragged, vocabulary=VOCABULARY) == [expected, parse("")]
    with pytest.raises(TypeError, match="1 or 2 dimensions"):
        parse(numpy.zeros((1, 1, 1), int), vocabulary=VOCABULARY)


def test_prefixes_are_batches_as_well():
    texts = ["a</think>b", "c</think>d"]
    prefixes = ["<think>", ""]
    expected = parse(texts, prefix=prefixes)
    assert parse(texts, prefix=numpy.array(prefixes)) == expected
    assert parse(iter(texts), prefix=iter(prefixes)) == expected
    with pytest.raises(parlance.UsageError, match="2 response"):
        parse(texts, prefix=iter(["<think>"] * 3))
