"""Bitmasks that are tensors of torch."""

from __future__ import annotations

from ._bitmasks import (
    apply_token_bitmask_inplace,
    consume_token_par,
    fill_next_token_bitmask,
    fill_next_token_bitmask_par,
    fill_next_token_bitmask_par_with_draft_tokens,
    get_bitmask_shape,
)

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "apply_token_bitmask_inplace_kernel",
    "consume_token_par",
    "fill_next_token_bitmask",
    "fill_next_token_bitmask_par",
    "fill_next_token_bitmask_par_with_draft_tokens",
    "get_bitmask_shape",
]

apply_token_bitmask_inplace_kernel = apply_token_bitmask_inplace


def allocate_token_bitmask(batch_size, vocab_size):
    """Returns a bitmask with all bits set, of int32, in main memory."""
    import torch

    return torch.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=torch.int32)
