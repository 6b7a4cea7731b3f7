"""A logits processor for ``model.generate`` of transformers.

    from parlance.integrations.transformers import LogitsProcessor

    processor = LogitsProcessor(constraint)
    output = model.generate(**inputs, logits_processor=[processor])

A batch may have one constraint for all prompts or a list with one for each;
beams and ``num_return_sequences`` are supported.  A processor is for one call
of ``generate``; ``reset()`` makes it ready for the next.
"""

from __future__ import annotations

from .._logits import apply_bitmask
from ._follow import Follower, Mismatch

__all__ = ["LogitsProcessor", "Mismatch"]


class LogitsProcessor(Follower):
    """Sets the scores of tokens that the constraint refuses to minus infinity.

    Arguments, attributes and methods are those of ``Follower``.
    """

    # In continuous batching, a row may be another request in every call.
    supports_continuous_batching = False

    def __call__(self, input_ids, scores):
        begin = self._response_begin(input_ids.shape[-1])
        masks, rows = self._follow(input_ids[:, begin:].tolist())
        if not rows:
            return scores
        # generate() keeps its own array for output_logits, so it is copied.
        scores = scores.clone() if hasattr(scores, "clone") else scores.copy()
        apply_bitmask(scores, masks, rows)
        return scores
