"""Checks and conversions of arguments.

An argument may be any object.  Each of these functions returns a value that the
library can use, or raises ``TypeError`` or an ``Error``.  Exceptions of the
methods of an argument are passed on.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from . import _parlance
from ._errors import UsageError

_MAX_SHOWN = 80  # characters


class _NotGiven:
    """The default of an argument where ``None`` has a meaning of its own."""

    def __repr__(self):
        return "<not given>"


NOT_GIVEN: Any = _NotGiven()


def shown(value):
    """``value`` as error messages show it.  Never raises and is never long."""
    # The repr of other types may be infinite, or run any code.
    if type(value) not in (str, bytes, int, float, bool, type(None)):
        return f"an object of type {kind(value)}"
    try:
        text = repr(value)
    except ValueError:  # an int with thousands of digits
        return "a very large int"
    if len(text) > _MAX_SHOWN:
        text = text[: _MAX_SHOWN - 3] + "..."
    return text


_kind = type.__dict__["__name__"].__get__


def kind(value):
    """The name of the class of ``value``, even if its metaclass redefines it."""
    return _kind(type(value))


def is_a(value, *classes):
    """As ``isinstance``, by the class itself and not by ``__class__``, which an
    object may redefine."""
    return issubclass(type(value), classes)


def items(name, value, most):
    """The items of ``value``, any iterable but text and mappings, as a list.

    At most ``most`` of them: an iterable may be infinite.
    """
    if type(value) in (list, tuple) and len(value) <= most:
        return list(value)
    if is_a(value, str, bytes, bytearray, memoryview, dict) or not isinstance(
        value, Iterable
    ):
        raise TypeError(f"{name} must be a list, not {kind(value)}")
    out = []
    for item in value:
        if len(out) == most:
            raise UsageError(
                f"{name} has more than {most} items, which no call takes"
            )
        out.append(item)
    return out


def plain(value):
    """``value``, a ``str``; of a subclass its text, as a ``str`` that compares
    and hashes as others do, and may be the key of a cache."""
    return str.__str__(value)


def text(name, value, error=UsageError):
    """``value`` as a plain ``str``, if it is a ``str`` without surrogates."""
    if not is_a(value, str):
        raise TypeError(f"{name} must be a str, not {kind(value)}")
    return unicode(name, value, error)


def unicode(name, value, error=UsageError):
    """``value``, a ``str``, as a plain one, if it has no surrogates."""
    try:
        str.encode(value)
    except UnicodeEncodeError as why:
        raise error(
            f"{name} contains half of a surrogate pair at {why.start}, which "
            "is no text",
            code="invalid_utf8",
        ) from None
    return plain(value)


def choice(name, value, choices):
    """The item of ``choices`` (a tuple of ``str``) that equals ``value``."""
    if is_a(value, str):
        for one in choices:
            if str.__eq__(one, value):
                return one
    listed = " or ".join(f'"{one}"' for one in choices)
    raise UsageError(f"{name} must be {listed}, not {shown(value)}")


def flag(name, value):
    """``value`` as a ``bool``."""
    if value is True or value is False:
        return value
    try:
        return bool(value)
    except ValueError as why:  # for example an array
        raise TypeError(
            f"{name} must be True or False, not {kind(value)}"
        ) from why


def count(name, value, most=2**64 - 1):
    """``value`` as a plain ``int`` from 0 to ``most``."""
    try:
        number = int.__index__(operator.index(value))
    except TypeError:
        raise TypeError(
            f"{name} must be an integer, not {kind(value)}"
        ) from None
    if not 0 <= number <= most:
        limit = "2**64 - 1" if most == 2**64 - 1 else most
        raise UsageError(
            f"{name} must be between 0 and {limit}, not {shown(number)}"
        )
    return number


def mapping(name, value):
    """The items of a mapping whose keys are text, as a list; ``[]`` for None."""
    if value is None:
        return []
    items = getattr(value, "items", None)
    if not isinstance(value, Mapping) or not callable(items):
        raise TypeError(f"{name} must be a dict, not {kind(value)}")
    pairs = []
    for pair in items():
        if not is_a(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"an item of {name} must be a pair of a key and a value, not "
                + kind(pair)
            )
        pairs.append((text(f"a key of {name}", pair[0]), pair[1]))
    return pairs


def check_vocabulary(vocabulary):
    """Raises ``TypeError`` for what is neither a ``Vocabulary`` nor ``None``."""
    if vocabulary is not None and not isinstance(
        vocabulary, _parlance.Vocabulary
    ):
        raise TypeError(
            f"vocabulary must be a Vocabulary, not {kind(vocabulary)}"
        )


class Uncopied:
    """The base of objects that change, each for one use at a time."""

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"a {kind(self)} cannot be copied or pickled: the copy would share "
            "what changes in it"
        )
