"""Bitmasks that are arrays of NumPy."""

from __future__ import annotations

from . import _bitmasks
from ._bitmasks import *  # noqa: F403
from ._bitmasks import get_bitmask_shape

__all__ = ["allocate_token_bitmask", *_bitmasks.__all__]


def allocate_token_bitmask(batch_size, vocab_size):
    """Returns a bitmask with all bits set, of int32."""
    import numpy

    return numpy.full(get_bitmask_shape(batch_size, vocab_size), -1, numpy.int32)
