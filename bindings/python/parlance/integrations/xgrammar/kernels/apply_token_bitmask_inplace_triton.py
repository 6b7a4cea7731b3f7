"""``apply_token_bitmask_inplace``, by another name."""

from __future__ import annotations

from ... import _alias
from ..matcher import apply_token_bitmask_inplace

__getattr__ = _alias.names_of(
    __name__,
    absent=dict.fromkeys(
        (
            "apply_token_bitmask_inplace_kernel",
        ),
        "apply_token_bitmask_inplace chooses how",
    ),
)


def apply_token_bitmask_inplace_triton(logits, bitmask, vocab_size=None, indices=None):
    """As ``apply_token_bitmask_inplace``, which chooses how."""
    apply_token_bitmask_inplace(
        logits, bitmask, vocab_size=vocab_size, indices=indices
    )
