"""Masks inside llama-cpp-python.

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
    """Refuses the tokens that the constraint does not let through."""

    def __call__(self, input_ids, scores):
        begin = self._response_begin(len(input_ids))
        masks, rows = self._follow([input_ids[begin:].tolist()])
        if rows:
            # In place: the array is a view of the candidates of llama.cpp.
            apply_bitmask(scores, masks)
        return scores
