"""A logits processor for llama-cpp-python.

    from llama_cpp import LogitsProcessorList
    from parlance.integrations.llama_cpp import LogitsProcessor

    processor = LogitsProcessor(constraint)
    llama(prompt, logits_processor=LogitsProcessorList([processor]))

A processor is for one completion; ``reset()`` makes it ready for the next.
The vocabulary of a model, for which constraints are compiled:

    compiler = parlance.Compiler(vocabulary_of(llama))
"""

from __future__ import annotations

import os

from .. import Vocabulary
from .._errors import UsageError
from .._logits import apply_bitmask
from ._follow import Follower, Mismatch

__all__ = ["LogitsProcessor", "Mismatch", "vocabulary_of"]


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


def vocabulary_of(llama):
    """Returns the ``Vocabulary`` of a model, as its GGUF file has it.

    Args:
        llama: a ``llama_cpp.Llama``.

    Raises:
        UsageError: the file is not there any more.
        Error: the file cannot be read (``"io"``) or used.
    """
    path = llama.model_path
    if not os.path.isfile(path):
        raise UsageError(
            f"the model's file {path} is not there; make the vocabulary with "
            "Vocabulary.from_file from another copy of it"
        )
    return Vocabulary.from_file(path)
