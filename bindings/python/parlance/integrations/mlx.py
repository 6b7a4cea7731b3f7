"""A logits processor for mlx-lm.

    from parlance.integrations.mlx import LogitsProcessor

    processor = LogitsProcessor(constraint)
    mlx_lm.generate(model, tokenizer, prompt, logits_processors=[processor])

A processor is for one response; in a batch each request has its own.
``reset()`` makes it ready for the next response.
"""

from __future__ import annotations

from .._errors import UsageError
from ._follow import Follower, Mismatch

__all__ = ["LogitsProcessor", "Mismatch"]


class LogitsProcessor(Follower):
    """Sets the logits of tokens that the constraint refuses to minus infinity.

    Arguments, attributes and methods are those of ``Follower``.
    """

    def __call__(self, tokens, logits):
        begin = self._response_begin(tokens.size)
        masks, rows = self._follow([tokens[begin:].tolist()])
        return masked(logits, masks, rows) if rows else logits


def masked(logits, masks, rows):
    """Returns logits in which what the masks refuse is minus infinity.

    Args:
        logits: an array of mlx of shape (rows, columns), or (columns) if there is
            one row.  It is not changed: arrays of mlx cannot be.
        masks: a buffer of ``int32`` of shape (rows, words).
        rows: the indices of the rows whose masks are to be applied.

    Raises:
        UsageError: there are fewer columns than tokens.
    """
    import mlx.core as mx  # imported already: the arguments are its arrays

    width = logits.shape[-1]
    count = masks.shape[-1]
    if width <= 32 * (count - 1):
        raise UsageError(
            f"logits has {width} columns, and the constraint's vocabulary "
            f"more than {32 * (count - 1)} tokens; they do not belong "
            "together"
        )
    # Token t is bit t % 32 of word t // 32; columns beyond the words are refused.
    number = masks.shape[0]
    words = mx.array(masks).reshape(number, count, 1)
    bits = (words >> mx.arange(32, dtype=mx.int32)) & 1
    allowed = bits.reshape(number, 32 * count).astype(mx.bool_)[:, :width]
    beyond = mx.zeros((number, width - allowed.shape[-1]), mx.bool_)
    allowed = mx.concatenate([allowed, beyond], axis=-1)
    if len(rows) < number:
        taken = set(rows)
        free = mx.array([row not in taken for row in range(number)])
        allowed = allowed | free[:, None]
    return mx.where(allowed.reshape(logits.shape), logits, -mx.inf)
