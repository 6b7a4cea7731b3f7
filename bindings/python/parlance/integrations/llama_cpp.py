"""A logits processor for llama-cpp-python.

    from llama_cpp import LogitsProcessorList
    from parlance.integrations.llama_cpp import LogitsProcessor

    processor = LogitsProcessor(constraint)
    llama(prompt, logits_processor=LogitsProcessorList([processor]))

A processor is for one completion; ``reset()`` makes it ready for the next.
"""

from __future__ import annotations

from .._logits import apply_bitmask
from ._follow import Follower, Mismatch

__all__ = ["LogitsProcessor", "Mismatch"]


class LogitsProcessor(Follower):
    """Sets the scores of tokens that the constraint refuses to minus infinity,
    in place.

    Arguments, attributes and methods are those of ``Follower``.
    """

    def __call__(self, input_ids, scores):
        begin = self._response_begin(len(input_ids))
        masks, rows = self._follow([input_ids[begin:].tolist()])
        if rows:
            # In place: the array is a view of the logits of llama.cpp.
            apply_bitmask(scores, masks)
        return scores
