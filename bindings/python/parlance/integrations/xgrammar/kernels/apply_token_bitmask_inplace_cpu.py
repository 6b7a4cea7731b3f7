"""``apply_token_bitmask_inplace``, by another name."""

from __future__ import annotations

from ._names import apply as apply_token_bitmask_inplace_cpu

__all__ = ["apply_token_bitmask_inplace_cpu"]
