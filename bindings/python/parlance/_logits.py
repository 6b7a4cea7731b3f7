"""Applying a mask to logits."""

from __future__ import annotations

import operator
import sys

from . import _parlance
from ._arguments import items
from ._errors import UsageError


def apply_bitmask(logits, mask, rows=None):
    """Sets the logits of the tokens that a mask refuses to minus infinity, in
    place.

    Args:
        logits: a writable array of float32, float16, bfloat16 or float64 in
            main memory, of shape (columns,) or (rows, columns), with any
            strides; or a torch tensor on any device, which stays there.
            Columns are token ids; columns beyond the mask are refused.
        mask: 32-bit integers as ``Matcher.fill_bitmask`` writes them, of shape
            (words,), one mask for all rows, or (rows, words).
        rows: the indices of the rows of ``logits`` and ``mask`` to use; other
            rows are left unchanged.  Default: all.

    Raises:
        TypeError: an argument is no such array.
        UsageError: the types of items or the shapes do not fit, or a row does
            not exist.

    Complexity: O(rows * columns / 32) plus the number of logits written.
    """
    # If ``logits`` is a tensor, torch has been imported.
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(logits, getattr(torch, "Tensor", ())):
        _apply_torch(torch, logits, mask, rows)
        return
    # NumPy exports no buffer of ml_dtypes' bfloat16, but one of uint16.
    dtype = getattr(logits, "dtype", None)
    bfloat16 = getattr(dtype, "name", None) == "bfloat16"
    if bfloat16 and hasattr(logits, "view"):
        logits = logits.view("uint16")
    _parlance.apply_bitmask(logits, mask, rows, bfloat16)


def apply_mask_ids(logits, ids, table, masks=None):
    """Sets the logits of refused tokens to minus infinity, in place, by the
    numbers of masks.

    Args:
        logits: as in ``apply_bitmask``, of shape (rows, columns).
        ids: for each row of ``logits`` the number of its mask
            (``BatchStep.mask_ids``, ``MaskTable.id_of``): a row of ``table``, -1 for
            no mask, or -2 for the same row of ``masks``.
        table: the rows of a ``MaskTable`` (``MaskTable.copy_rows``), of shape
            (rows, words); a torch tensor on the device of ``logits``, if these
            are one.
        masks: the buffer with the masks that have no number.  Default: none of
            the numbers is -2.

    Raises:
        TypeError: an argument is no such array.
        UsageError: types or shapes do not fit, or a number is out of range.

    Complexity: O(rows * columns), in one pass over the logits of the rows that
    have a mask.
    """
    numbers = [operator.index(one) for one in items("ids", ids, 1 << 20)]
    rows, listed = _rows_of("logits", logits), _rows_of("table", table)
    others = 0 if masks is None else _rows_of("masks", masks)
    if len(numbers) != rows:
        raise UsageError(f"ids has {len(numbers)} items and logits {rows} rows")
    for row, number in enumerate(numbers):
        if number < -2 or number >= listed:
            raise UsageError(
                f"ids[{row}] is {number}, and the table has {listed} rows"
            )
        if number == -2 and row >= others:
            raise UsageError(
                f"ids[{row}] is -2, so masks needs a row {row}, which it has not"
            )
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(logits, getattr(torch, "Tensor", ())):
        _apply_ids_torch(torch, logits, numbers, table, masks)
        return
    for row, number in enumerate(numbers):
        if number != -1:
            words = masks[row] if number == -2 else table[number]
            apply_bitmask(logits[row], words)


def _rows_of(name, array):
    """The number of rows of an array or tensor."""
    try:
        return len(array)
    except (TypeError, ValueError) as why:  # for example a released memoryview
        raise TypeError(f"{name} cannot be read: {why}") from None


def _apply_ids_torch(torch, logits, numbers, table, masks):
    """``apply_mask_ids`` by torch's operations, on the device of ``logits``."""

    def apply(rows, source, places):
        if not rows:
            return
        index = torch.tensor(rows, device=logits.device)
        words = _words_of(torch, source).to(logits.device)
        part = logits[index]  # a copy, which is written back
        _apply_torch(torch, part, words[torch.tensor(places, device=words.device)], None)
        logits[index] = part

    listed = [row for row, number in enumerate(numbers) if number >= 0]
    apply(listed, table, [numbers[row] for row in listed])
    others = [row for row, number in enumerate(numbers) if number == -2]
    apply(others, masks, others)


def _apply_torch(torch, logits, mask, rows):
    """``apply_bitmask`` by torch's operations, on the device of ``logits``."""
    words = _words_of(torch, mask).to(logits.device)
    if logits.ndim not in (1, 2) or words.ndim not in (1, 2):
        raise UsageError(
            f"logits has {logits.ndim} and mask {words.ndim} dimensions; one "
            "row has 1, a batch has 2"
        )
    if not logits.is_floating_point():
        raise UsageError(f"logits holds {logits.dtype}, which are no logits")
    width = logits.shape[-1]
    if words.shape[-1] and width <= 32 * (words.shape[-1] - 1):
        raise UsageError(
            f"logits has {width} columns, fewer than the tokens of the mask, "
            f"whose {words.shape[-1]} words are for up to "
            f"{32 * words.shape[-1]} tokens; the model's vocabulary is not the "
            "constraint's, or mask is wider than mask_words"
        )
    one_for_all = words.ndim == 1
    if logits.ndim == 1:
        logits = logits.unsqueeze(0)  # shares its memory
    if one_for_all:
        words = words.unsqueeze(0)
    elif rows is None and words.shape[0] != logits.shape[0]:
        raise UsageError(
            f"logits has {logits.shape[0]} rows and mask {words.shape[0]}; "
            "pass rows=, or as many of one as of the other"
        )
    target = logits
    if rows is not None:
        index = torch.as_tensor(rows, dtype=torch.long, device=logits.device)
        target = logits[index]  # a copy, which is written back below
        words = words if one_for_all else words[index]
    # Token t is bit t % 32 of word t // 32.  A right shift of a negative word
    # repeats the sign, which does not affect the lowest bit.
    bits = torch.arange(32, dtype=torch.int32, device=logits.device)
    refused = ((words.unsqueeze(-1) >> bits) & 1).eq(0).flatten(-2)
    known = min(width, refused.shape[-1])
    minus_infinity = float("-inf")
    target[:, :known].masked_fill_(refused[:, :known], minus_infinity)
    target[:, known:].fill_(minus_infinity)
    if rows is not None:
        logits[index] = target


def _words_of(torch, mask):
    """A mask, any array or tensor, as a tensor of int32."""
    if not isinstance(mask, torch.Tensor):
        view = memoryview(mask)
        if view.itemsize != 4:
            raise UsageError(
                f"mask holds items of format '{view.format}' and not 32-bit "
                "integers, as fill_bitmask writes them"
            )
        # A copy, because torch rejects uint32 and read-only arrays.
        words = torch.frombuffer(bytearray(view), dtype=torch.int32)
        return words.reshape(view.shape)
    if mask.is_floating_point() or mask.element_size() != 4:
        raise UsageError(
            f"mask holds {mask.dtype} and not 32-bit integers, as fill_bitmask "
            "writes them"
        )
    return mask.view(torch.int32)
