"""Tokenizers of transformers."""

from __future__ import annotations

from ..._parlance import Vocabulary
from ._tokenizer import LLTokenizer

__all__ = ["from_tokenizer"]


def from_tokenizer(hf_tokenizer, n_vocab=None, eos_token=None, slices=None):
    """Returns the ``LLTokenizer`` of a tokenizer of transformers.

    Args:
        hf_tokenizer: the tokenizer.
        n_vocab, eos_token, slices: as of ``LLTokenizer``.

    Raises:
        ValueError: the tokenizer cannot be used.
    """
    try:
        vocabulary = Vocabulary.from_tokenizer(hf_tokenizer)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return LLTokenizer(vocabulary, n_vocab, eos_token)
