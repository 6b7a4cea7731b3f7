"""``apply_token_bitmask_inplace``, by another name."""

from __future__ import annotations

from . import _names
from ._names import apply as apply_token_bitmask_inplace_torch

__all__ = ["apply_token_bitmask_inplace_torch"]

__getattr__ = _names.absent(
    __name__,
    "apply_token_bitmask_inplace_kernel_indices_torch",
    "apply_token_bitmask_inplace_kernel_no_indices_torch",
)
