"""Bitmasks of NumPy, applied to arrays of mlx."""

from __future__ import annotations

from ..mlx import masked
from .numpy import (
    allocate_token_bitmask,
    fill_next_token_bitmask,
    get_bitmask_shape,
)

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "apply_token_bitmask_kernel",
    "fill_next_token_bitmask",
    "get_bitmask_shape",
]


def apply_token_bitmask(logits, mask_np):
    """Returns logits in which what a bitmask refuses is minus infinity, of shape
    (rows, columns).

    Args:
        logits: an array of mlx, of shape (columns,) or (rows, columns).
        mask_np: a bitmask, of shape (words,) or (rows, words).

    Raises:
        ValueError: the shapes do not fit.
    """
    logits = logits.reshape(-1, logits.shape[-1])
    masks = mask_np.reshape(-1, mask_np.shape[-1])
    if len(masks) != logits.shape[0]:
        raise ValueError(f"there are {len(masks)} masks for {logits.shape[0]} rows")
    return masked(logits, masks, range(len(masks)))


apply_token_bitmask_kernel = apply_token_bitmask
