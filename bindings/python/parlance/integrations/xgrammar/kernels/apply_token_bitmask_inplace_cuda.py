"""``apply_token_bitmask_inplace``, by another name."""

from __future__ import annotations

from ..matcher import apply_token_bitmask_inplace


def apply_token_bitmask_inplace_cuda(logits, bitmask, indices=None):
    """As ``apply_token_bitmask_inplace``, which chooses how."""
    apply_token_bitmask_inplace(logits, bitmask, indices=indices)
