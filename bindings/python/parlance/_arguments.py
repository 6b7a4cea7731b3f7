"""What arguments may be, and what is raised for those that may not.

Arguments come from anywhere.  Each of these functions returns what the library
can use or raises ``TypeError`` or an ``Error``; what the methods of an argument
themselves raise is passed on.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

from ._errors import UsageError

_LONGEST = 80


def shown(value):
    """What a message says of ``value``: never an error, never long."""
    # The repr of anything else may have no end, or run any code.
    if type(value) not in (str, bytes, int, float, bool, type(None)):
        return f"an object of type {kind(value)}"
    try:
        text = repr(value)
    except ValueError:  # an int with thousands of digits
        return "a very large int"
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 3] + "..."
    return text


_kind = type.__dict__["__name__"].__get__


def kind(value):
    """The name of the class of ``value``, whatever its metaclass says."""
    return _kind(type(value))


def is_a(value, *classes):
    """``isinstance`` that looks at the class itself and not at ``__class__``,
    which an object may have as it likes."""
    return issubclass(type(value), classes)


def items(name, value, most):
    """What ``value``, any iterable but text and mappings, has, as a list.

    At most ``most``: an iterable may have no end.
    """
    if type(value) in (list, tuple) and len(value) <= most:
        return list(value)
    if is_a(value, str, bytes, bytearray, memoryview, dict) or not isinstance(
        value, Iterable
    ):
        raise TypeError(f"{name} must be a list, not {kind(value)}")
    out = []
    try:
        for item in value:
            if len(out) == most:
                raise UsageError(
                    f"{name} has more than {most} items, which no call takes"
                )
            out.append(item)
    except UsageError:
        raise
    except ValueError as why:  # as of a closed file
        raise TypeError(f"{name} cannot be read as a list: {why}") from None
    return out


def text(name, value, error=UsageError):
    """A ``str`` that is Unicode text."""
    if not is_a(value, str):
        raise TypeError(f"{name} must be a str, not {kind(value)}")
    return unicode(name, value, error)


def unicode(name, value, error=UsageError):
    """``value``, a ``str``, if it has no half of a surrogate pair."""
    try:
        str.encode(value)
    except UnicodeEncodeError as why:
        raise error(
            f"{name} contains half of a surrogate pair at {why.start}, which "
            "is no text",
            code="invalid_utf8",
        ) from None
    return value


def choice(name, value, choices):
    """One of ``choices``, which are str."""
    if is_a(value, str):
        for one in choices:
            if str.__eq__(one, value):
                return one
    listed = " or ".join(f'"{one}"' for one in choices)
    raise UsageError(f"{name} must be {listed}, not {shown(value)}")


def flag(name, value):
    """A truth value."""
    if value is True or value is False:
        return value
    try:
        return bool(value)
    except ValueError:  # as of an array
        raise TypeError(
            f"{name} must be True or False, not {kind(value)}"
        ) from None


def count(name, value, most=2**64 - 1):
    """An integer from 0 to ``most``."""
    try:
        number = operator.index(value)
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
    """The pairs of a mapping whose keys are text; of None, none."""
    if value is None:
        return []
    items = getattr(value, "items", None)
    if not isinstance(value, Mapping) or not callable(items):
        raise TypeError(f"{name} must be a dict, not {kind(value)}")
    pairs = list(items())
    for key, _ in pairs:
        text(f"a key of {name}", key)
    return pairs
