"""Settings of the process, by XGrammar's names.

Parlance reads, compiles and matches without recursion, so that the depth bounds
nothing: it is checked and kept for programs that set it.  What bounds a grammar
is ``limits`` of ``parlance.Grammar``.
"""

from __future__ import annotations

import contextlib
import operator
import os

from ._serial import VERSION

__all__ = [
    "get_max_recursion_depth",
    "get_serialization_version",
    "max_recursion_depth",
    "set_max_recursion_depth",
]

_DEFAULT = 10_000
_MOST = 1_000_000
_VARIABLE = "XGRAMMAR_MAX_RECURSION_DEPTH"


def _initial():
    text = os.environ.get(_VARIABLE, "")
    if text.isascii() and text.isdigit() and 1 <= int(text[:8]) <= _MOST:
        return int(text[:8])
    return _DEFAULT


_depth = _initial()


def get_max_recursion_depth():
    """Returns the depth that was set last, an ``int``; first that of the
    environment variable ``XGRAMMAR_MAX_RECURSION_DEPTH``, or 10,000."""
    return _depth


def set_max_recursion_depth(max_recursion_depth):
    """Sets the depth, an ``int`` from 1 to 1,000,000.

    Raises:
        RuntimeError: the number is not in this range.
    """
    global _depth
    depth = operator.index(max_recursion_depth)
    if not 1 <= depth <= _MOST:
        raise RuntimeError(
            f"the depth must be a number from 1 to {_MOST}, not {depth}"
        )
    _depth = depth


@contextlib.contextmanager
def max_recursion_depth(temp_depth):
    """A context in which the depth is ``temp_depth``."""
    before = get_max_recursion_depth()
    set_max_recursion_depth(temp_depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)


def get_serialization_version():
    """Returns the version of serialised objects, a ``str``."""
    return VERSION
