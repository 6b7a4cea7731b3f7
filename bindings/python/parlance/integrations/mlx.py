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
        import mlx.core as mx  # imported already: the arguments are its arrays

        begin = self._response_begin(tokens.size)
        masks, rows = self._follow([tokens[begin:].tolist()])
        if not rows:
            return logits
        width = logits.shape[-1]
        count = masks.shape[-1]
        if width <= 32 * (count - 1):
            raise UsageError(
                f"logits has {width} columns, and the constraint's vocabulary "
                f"more than {32 * (count - 1)} tokens; they do not belong "
                "together"
            )
        # Arrays of mlx cannot be changed in place.  Token t is bit t % 32 of
        # word t // 32; columns beyond the words are refused.
        words = mx.array(masks).flatten()
        bits = (words[:, None] >> mx.arange(32, dtype=mx.int32)) & 1
        allowed = bits.flatten().astype(mx.bool_)[:width]
        beyond = mx.zeros(width - allowed.size, mx.bool_)
        allowed = mx.concatenate([allowed, beyond])
        return mx.where(allowed, logits, -mx.inf)
