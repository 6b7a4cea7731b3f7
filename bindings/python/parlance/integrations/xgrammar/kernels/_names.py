"""What the modules of kernels have in common."""

from __future__ import annotations

from ... import _alias
from ..matcher import apply_token_bitmask_inplace


def apply(logits, bitmask, vocab_size=None, indices=None):
    """As ``apply_token_bitmask_inplace``, which chooses how."""
    apply_token_bitmask_inplace(
        logits, bitmask, vocab_size=vocab_size, indices=indices
    )


def absent(module, *names):
    """Returns a ``__getattr__`` for a module without these names."""
    remedy = "apply_token_bitmask_inplace chooses how"
    return _alias.names_of(module, absent=dict.fromkeys(names, remedy))
