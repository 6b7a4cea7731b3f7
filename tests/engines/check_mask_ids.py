"""Masks by number, in torch's operations and by the kernel of Triton, which its
interpreter runs without a GPU."""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import pytest

torch = pytest.importorskip("torch")

import parlance


def drawn(seed, width, rows=7):
    generator = torch.Generator().manual_seed(seed)
    table = torch.randint(-(2**31), 2**31, (5, 40), generator=generator).int()
    masks = torch.randint(-(2**31), 2**31, (rows, 40), generator=generator).int()
    ids = torch.randint(-2, 5, (rows,), generator=generator).int()
    logits = torch.randn((rows, width), generator=generator)
    return logits, ids, table, masks


def expected(logits, ids, table, masks):
    """The oracle: each row by apply_bitmask."""
    out = logits.clone()
    for row, number in enumerate(ids.tolist()):
        if number != -1:
            words = masks[row] if number == -2 else table[number]
            parlance.apply_bitmask(out[row], words)
    return out


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("width", [1250, 1280, 5000])
def test_both(dtype, width):
    triton_masks = pytest.importorskip("parlance.integrations.triton")
    pytest.importorskip("triton")
    for seed in range(5):
        logits, ids, table, masks = drawn(seed, width)
        logits = logits.to(getattr(torch, dtype))
        wanted = expected(logits, ids, table, masks)
        by_torch = logits.clone()
        parlance.apply_mask_ids(by_torch, ids, table, masks)
        assert torch.equal(by_torch, wanted)
        by_triton = logits.clone()
        triton_masks.apply_mask_ids(by_triton, ids, table, masks)
        assert torch.equal(by_triton, wanted)


def test_what_does_not_fit():
    triton_masks = pytest.importorskip("parlance.integrations.triton")
    logits, ids, table, masks = drawn(1, 1280)
    for arguments in (
        (logits[0], ids, table, masks),
        (logits.int(), ids, table, masks),
        (logits, ids[:3], table, masks),
        (logits, ids, table.long(), masks),
        (logits, ids, table, masks[:, :3]),
    ):
        with pytest.raises(ValueError):
            triton_masks.apply_mask_ids(*arguments)
