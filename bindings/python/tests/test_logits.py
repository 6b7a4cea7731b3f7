"""apply_bitmask, against the two obvious lines."""

import importlib.util
import re

import numpy
import pytest

import parlance

if importlib.util.find_spec("ml_dtypes"):
    import ml_dtypes

    BFLOAT16 = [numpy.dtype(ml_dtypes.bfloat16)]
else:
    BFLOAT16 = []

DTYPES = [numpy.dtype(n) for n in ("float32", "float16", "float64")] + BFLOAT16

# Widths around words, and wider than the mask.
WIDTHS = [(1, 1), (31, 1), (32, 1), (33, 2), (95, 3), (96, 3), (100, 3), (640, 3)]


def words(generator, rows, count, kind):
    """Masks with words of all kinds: empty, full, and from sparse to dense."""
    bits = generator.random((rows, count, 32))
    share = generator.choice([0.0, 0.03, 0.4, 0.6, 0.97, 1.0], (rows, count, 1))
    packed = numpy.packbits(bits < share, axis=-1, bitorder="little")
    return packed.reshape(rows, 4 * count).copy().view(kind)


def slowly(logits, mask, rows=None):
    """The oracle: token by token."""
    rows = range(len(logits)) if rows is None else rows
    for row in rows:
        for token in range(logits.shape[1]):
            word, bit = divmod(token, 32)
            if word >= mask.shape[1] or not int(mask[row, word]) >> bit & 1:
                logits[row, token] = -numpy.inf


def same(one, other):
    return one.tobytes() == other.tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width, count", WIDTHS)
def test_every_dtype_and_width(dtype, width, count):
    generator = numpy.random.default_rng(width)
    for kind in (numpy.int32, numpy.uint32):
        logits = generator.normal(size=(7, width)).astype(dtype)
        mask = words(generator, 7, count, kind)
        expected = logits.copy()
        slowly(expected, mask)
        parlance.apply_bitmask(logits, mask)
        assert same(logits, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_strides(dtype):
    generator = numpy.random.default_rng(1)
    whole = generator.normal(size=(12, 200)).astype(dtype)
    mask = words(generator, 4, 2, numpy.int32)
    views = {
        "wider rows": lambda a: a[:4, :50],
        "every third row": lambda a: a[::3, 10:60],
        "backwards": lambda a: a[3::-1, :50],
        "every third column": lambda a: a[:4, ::3][:, :50],
    }
    for name, view in views.items():
        logits, expected = whole.copy(), whole.copy()
        slowly(view(expected), mask)
        parlance.apply_bitmask(view(logits), mask)
        assert same(logits, expected), name


def test_a_field_of_records():
    # llama-cpp-python shows the logits inside the candidates of llama.cpp.
    records = numpy.zeros(40, [("id", "i4"), ("logit", "f4"), ("p", "f4")])
    records["p"] = 0.5
    mask = numpy.array([5, 1], numpy.int32)
    parlance.apply_bitmask(records["logit"], mask)
    assert numpy.flatnonzero(records["logit"] == 0).tolist() == [0, 2, 32]
    assert (records["p"] == 0.5).all() and (records["id"] == 0).all()


def test_strided_and_read_only_masks():
    generator = numpy.random.default_rng(2)
    mask = words(generator, 6, 8, numpy.int32)
    mask.flags.writeable = False
    logits = numpy.zeros((3, 64), numpy.float32)
    expected = logits.copy()
    slowly(expected, mask[::2, :2])
    parlance.apply_bitmask(logits, mask[::2, :2])
    assert same(logits, expected)
    logits = numpy.zeros((3, 64), numpy.float32)
    slowly(expected := logits.copy(), mask[::2, ::4])
    parlance.apply_bitmask(logits, mask[::2, ::4])
    assert same(logits, expected)


def test_one_row():
    for mask in ([6], [[6]]):
        for logits in (numpy.zeros(3, "f"), numpy.zeros((1, 3), "f")):
            parlance.apply_bitmask(logits, numpy.array(mask, numpy.int32))
            assert logits.ravel().tolist() == [-numpy.inf, 0, 0]


def test_one_mask_for_all_rows():
    logits = numpy.zeros((3, 4), numpy.float32)
    parlance.apply_bitmask(logits, numpy.array([9], numpy.int32), rows=[0, 2])
    assert (logits == 0).tolist() == [
        [True, False, False, True],
        [True] * 4,
        [True, False, False, True],
    ]


@pytest.mark.parametrize("rows", [[], [1], [4, 0, 4], (2,), numpy.array([3, 1])])
def test_rows(rows):
    generator = numpy.random.default_rng(3)
    mask = words(generator, 5, 3, numpy.int32)
    logits = generator.normal(size=(5, 90)).astype(numpy.float32)
    expected = logits.copy()
    slowly(expected, mask, rows)
    parlance.apply_bitmask(logits, mask, rows)
    assert same(logits, expected)


def test_infinities_and_nan_of_allowed_tokens_stay():
    logits = numpy.array([numpy.nan, numpy.inf, -0.0, 5], numpy.float32)
    before = logits.copy()
    parlance.apply_bitmask(logits, numpy.array([7], numpy.int32))
    assert same(logits[:3], before[:3]) and logits[3] == -numpy.inf


def test_buffers_without_numpy():
    logits = memoryview(bytearray(16)).cast("f")
    parlance.apply_bitmask(logits, memoryview(bytearray(b"\x02\0\0\0")).cast("i"))
    assert list(logits) == [-numpy.inf, 0.0, -numpy.inf, -numpy.inf]


def test_a_matcher_and_its_mask():
    vocabulary = parlance.Vocabulary(
        [b"[", b"1", b"]", b"x", b"<end>"], special_ids=[4], stop_ids=[4]
    )
    schema = {"type": "array", "items": {"const": 1}, "minItems": 1, "maxItems": 1}
    grammar = parlance.Grammar.from_json_schema(schema, compact=True)
    constraint = grammar.compile(vocabulary)
    matcher = constraint.matcher()
    mask = numpy.zeros(constraint.mask_words, numpy.int32)
    chosen = []
    while not matcher.is_terminated():
        logits = numpy.arange(8, dtype=numpy.float32)  # wider: 5 tokens
        matcher.fill_bitmask(mask)
        parlance.apply_bitmask(logits, mask)
        chosen.append(int(logits.argmax()))
        assert matcher.accept_token(chosen[-1])
    assert chosen == [0, 1, 2, 4]


def zeros(*shape, dtype="f"):
    return numpy.zeros(shape, dtype)


def read_only():
    logits = zeros(4)
    logits.flags.writeable = False
    return logits


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((zeros(4, dtype="i4"), zeros(1, dtype="i4")), ValueError, "items of format 'i'"),
        ((zeros(4, dtype="u2"), zeros(1, dtype="i4")), ValueError, "items of format 'H'"),
        ((zeros(4), zeros(1, dtype="i8")), ValueError, "mask holds items of format"),
        ((zeros(4), zeros(1)), ValueError, "mask holds items of format 'f'"),
        ((zeros(32), zeros(2, dtype="i4")), ValueError, "logits has 32 columns, fewer"),
        ((zeros(2, 1), zeros(2, 2, dtype="i4")), ValueError, "2 words are for up to 64"),
        ((zeros(2, 8), zeros(3, 1, dtype="i4")), ValueError, "logits has 2 rows and mask 3"),
        ((zeros(2, 8), zeros(2, 1, dtype="i4"), [2]), ValueError, "row 2, and logits has 2 rows"),
        ((zeros(3, 8), zeros(2, 1, dtype="i4"), [2]), ValueError, "row 2, and mask has 2 rows"),
        ((zeros(3, 8), zeros(3, 1, dtype="i4"), [-1]), ValueError, "row -1, and logits has 3 rows"),
        ((zeros(1, 1, 1), zeros(1, dtype="i4")), ValueError, "logits has 3 dimensions"),
        ((zeros(8), zeros(1, 1, 1, dtype="i4")), ValueError, "mask has 3 dimensions"),
        ((numpy.float32(1), zeros(1, dtype="i4")), ValueError, "logits must be|0 dimensions"),
        ((read_only(), zeros(1, dtype="i4")), TypeError, "logits must be a writable array"),
        (([0.0], zeros(1, dtype="i4")), TypeError, "logits must be a writable array"),
        ((zeros(8), [1]), TypeError, "mask must be an array"),
        ((zeros(8, dtype=">f4"), zeros(1, dtype="i4")), ValueError, "items of format '>f'"),
    ],
)
def test_refused(arguments, error, message):
    with pytest.raises((error, TypeError), match=message):
        parlance.apply_bitmask(*arguments)


# ---- torch, where it is installed

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


@needs_torch
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("width, count", WIDTHS)
def test_torch(name, width, count):
    import torch

    generator = numpy.random.default_rng(width)
    mask = words(generator, 5, count, numpy.int32)
    start = torch.from_numpy(generator.normal(size=(5, width)))
    for rows in (None, [3, 0], []):
        expected = start.numpy().copy()
        slowly(expected, mask, rows)
        for masks in (mask, mask.view(numpy.uint32), torch.from_numpy(mask)):
            logits = start.to(getattr(torch, name)).clone()
            parlance.apply_bitmask(logits, masks, rows)
            refused = torch.isinf(logits).numpy()
            assert (refused == numpy.isinf(expected)).all()
            kept = logits[~torch.isinf(logits)]
            assert kept.equal(start.to(logits.dtype)[~torch.isinf(logits)])


@needs_torch
def test_torch_shapes_and_errors():
    import torch

    logits = torch.zeros(4)
    parlance.apply_bitmask(logits, numpy.array([6], numpy.int32))
    assert logits.tolist() == [-numpy.inf, 0, 0, -numpy.inf]
    logits = torch.zeros(3, 8)
    parlance.apply_bitmask(logits[::2, ::2], torch.tensor([1], dtype=torch.int32))
    assert torch.isinf(logits).nonzero().tolist() == [
        [row, column] for row in (0, 2) for column in (2, 4, 6)
    ]
    for arguments, message in [
        ((torch.zeros(32), zeros(2, dtype="i4")), "logits has 32 columns, fewer"),
        ((torch.zeros(2, 8), zeros(3, 1, dtype="i4")), "logits has 2 rows and mask 3"),
        ((torch.zeros(8).int(), zeros(1, dtype="i4")), "logits holds torch.int32"),
        ((torch.zeros(8), zeros(1, dtype="i8")), "and not 32-bit integers"),
        ((torch.zeros(8), torch.zeros(1)), "mask holds torch.float32"),
        ((torch.zeros(1, 1, 1), zeros(1, dtype="i4")), "3 and mask 1 dimensions"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            parlance.apply_bitmask(*arguments)
