"""What the bitmasks of NumPy and of torch have in common."""

from __future__ import annotations

from ..._logits import apply_bitmask

__all__ = [
    "apply_token_bitmask_inplace",
    "apply_token_bitmask_inplace_kernel",
    "consume_token_par",
    "fill_next_token_bitmask",
    "fill_next_token_bitmask_par",
    "fill_next_token_bitmask_par_with_draft_tokens",
    "get_bitmask_shape",
]


def get_bitmask_shape(batch_size, vocab_size):
    """Returns ``(batch_size, words)``: a word has the bits of 32 tokens."""
    return batch_size, (vocab_size + 31) // 32


def _address(bitmask):
    """Where a bitmask is, after checking that rows follow each other."""
    if len(bitmask.shape) != 2 or str(bitmask.dtype).rpartition(".")[2] != "int32":
        raise ValueError("a bitmask is of int32, of shape (rows, words)")
    if hasattr(bitmask, "data_ptr"):
        if bitmask.device.type != "cpu" or not bitmask.is_contiguous():
            raise ValueError("the bitmask must lie in main memory, without gaps")
        return bitmask.data_ptr()
    if not bitmask.flags["C_CONTIGUOUS"]:
        raise ValueError("the bitmask must lie in memory without gaps")
    return bitmask.ctypes.data


def fill_next_token_bitmask(interp, bitmask, index=0):
    """Writes the mask of the next token into a row of a bitmask.

    Args:
        interp: an ``LLMatcher``.
        bitmask: of int32, in main memory, of shape (rows, words).
        index: the index of the row.

    Raises:
        ValueError: ``bitmask`` is no such array, or has other words than the mask.
    """
    row = bitmask[index : index + 1]
    interp.unsafe_compute_mask_ptr(_address(row), 4 * row.shape[1])


def fill_next_token_bitmask_par(executor, matchers, bitmask):
    """Writes masks into the rows of a bitmask: of each pair of an ``LLMatcher`` and a
    row.  Errors are those of ``fill_next_token_bitmask``."""
    rows, words = bitmask.shape
    executor.unsafe_compute_mask_ptr(matchers, _address(bitmask), 4 * words, rows)


def fill_next_token_bitmask_par_with_draft_tokens(executor, matchers, bitmask):
    """Writes masks into the rows of a bitmask: of each ``LLMatcher``, row and list of
    draft tokens the one before, and in the next rows those after the tokens."""
    rows, words = bitmask.shape
    executor.unsafe_compute_mask_ptr_with_draft_token(
        matchers, _address(bitmask), 4 * words, rows
    )


def apply_token_bitmask_inplace(logits, mask):
    """Sets the logits of tokens that a bitmask refuses to minus infinity, in place.

    Args:
        logits: of shape (columns,) or (rows, columns); columns beyond the mask are
            refused.
        mask: of shape (words,) or (rows, words).

    Raises:
        ValueError, TypeError: the shapes or types do not fit.
    """
    if logits.ndim == 1:
        logits = logits.reshape(1, -1)
    apply_bitmask(logits, mask.reshape(1, -1) if mask.ndim == 1 else mask)


apply_token_bitmask_inplace_kernel = apply_token_bitmask_inplace


def consume_token_par(executor, matchers):
    """``executor.consume_token_par``: whether each matcher takes its token."""
    return executor.consume_token_par(matchers)
