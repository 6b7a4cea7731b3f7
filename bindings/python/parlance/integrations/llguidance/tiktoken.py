"""Tokenizers of tiktoken."""

from __future__ import annotations

from ..._parlance import Vocabulary
from ._tokenizer import LLTokenizer

__all__ = ["lltokenizer_from_encoding"]


def lltokenizer_from_encoding(encoding, *, n_vocab=None, eos_token=None, slices=None):
    """Returns the ``LLTokenizer`` of a ``tiktoken.Encoding``.

    Args:
        n_vocab, eos_token, slices: as of ``LLTokenizer``.
    """
    if eos_token is None:
        eos_token = encoding.eot_token
    return LLTokenizer(Vocabulary.from_tokenizer(encoding), n_vocab, eos_token)
