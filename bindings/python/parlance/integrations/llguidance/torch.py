"""Bitmasks that are tensors of torch."""

from __future__ import annotations

__all__ = [
    "allocate_token_bitmask",
    "fill_next_token_bitmask",
    "get_bitmask_shape",
]


def get_bitmask_shape(batch_size, vocab_size):
    """Returns ``(batch_size, words)``: a word has the bits of 32 tokens."""
    return batch_size, (vocab_size + 31) // 32


def allocate_token_bitmask(batch_size, vocab_size):
    """Returns a bitmask with all bits set, of int32, in main memory."""
    import torch

    return torch.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=torch.int32)


def fill_next_token_bitmask(interp, bitmask, index=0):
    """Writes the mask of the next token into a row of a bitmask.

    Args:
        interp: an ``LLMatcher``.
        bitmask: of int32, in main memory, of shape (rows, words).
        index: the index of the row.
    """
    interp.fill_row(bitmask.numpy()[index])
