"""Masks by number, applied by one kernel of Triton.

    from parlance.integrations.triton import apply_mask_ids

    apply_mask_ids(logits, ids, table, masks)

As ``parlance.apply_mask_ids``, for tensors that are on the device, numbers
included: nothing is copied and nothing waits for the device.  Importing this
module imports nothing of Triton.
"""

from __future__ import annotations

import functools

__all__ = ["apply_mask_ids"]

_BLOCK = 4096  # logits of one program


@functools.cache
def _kernel():
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(
        logits, logits_row, ids, table, table_row, masks, masks_row, columns, tokens,
        BLOCK: tl.constexpr,
    ):
        row = tl.program_id(0).to(tl.int64)
        number = tl.load(ids + row).to(tl.int64)
        if number == -1:
            return
        words = table + number * table_row
        if number == -2:
            words = masks + row * masks_row
        column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        known = column < tokens
        word = tl.load(words + column // 32, mask=known, other=0)
        allowed = (word >> (column % 32)) & 1
        tl.store(
            logits + row * logits_row + column,
            -float("inf"),
            mask=(column < columns) & (allowed == 0),
        )

    return kernel


def apply_mask_ids(logits, ids, table, masks=None):
    """Sets the logits of refused tokens to minus infinity, in place.

    Args:
        logits: a tensor of floating-point numbers of shape (rows, columns), whose
            columns lie one after another.
        ids: int32 or int64, of shape (rows,): a row of ``table``, -1 for no mask,
            or -2 for the same row of ``masks``.  The numbers are not checked.
        table: int32, of shape (any, words): rows of a ``MaskTable``.
        masks: int32, of shape (rows, words).  Default: no number is -2.

    Raises:
        ValueError: shapes or types do not fit.
        ImportError: Triton is not installed.
    """
    if logits.ndim != 2 or logits.stride(1) != 1 or not logits.is_floating_point():
        raise ValueError(
            "logits must be a tensor of floating-point numbers of shape (rows, "
            f"columns), contiguous in its rows; this one has shape "
            f"{tuple(logits.shape)} and {logits.dtype}"
        )
    rows, columns = logits.shape
    if ids.shape != (rows,) or ids.is_floating_point():
        raise ValueError(
            f"ids must be integers of shape ({rows},), one for each row of logits"
        )
    masks = table[:0] if masks is None else masks
    for name, one in (("table", table), ("masks", masks)):
        if (
            one.ndim != 2
            or one.element_size() != 4
            or one.is_floating_point()
            or one.shape[1] != table.shape[1]
            or (one.shape[1] > 1 and one.stride(1) != 1)
        ):
            raise ValueError(
                f"{name} must be 32-bit integers of shape (rows, words), as those of "
                "a MaskTable"
            )
    words = table.shape[1]
    if rows == 0 or columns == 0:
        return
    tokens = min(columns, 32 * words)
    import triton

    _kernel()[(rows, triton.cdiv(columns, _BLOCK))](
        logits,
        logits.stride(0),
        ids.contiguous(),
        table,
        table.stride(0),
        masks,
        masks.stride(0),
        columns,
        tokens,
        BLOCK=_BLOCK,
    )
