"""Applying bitmasks to arrays of mlx, by XGrammar's name."""

from __future__ import annotations

from ...mlx import masked


def apply_token_bitmask_mlx(bitmask, logits, vocab_size):
    """Returns the first ``vocab_size`` columns of logits, in which what a bitmask
    refuses is minus infinity.

    Args:
        bitmask: of int32, of shape (rows, words).
        logits: of shape (rows, columns).
    """
    return masked(logits[..., :vocab_size], bitmask, range(bitmask.shape[0]))
