"""Serialised objects: JSON objects with the version of their form.

A grammar stands in them as the text of ``parlance.Grammar.to_bytes``: what it
was made of.  It is compiled again when it is read.
"""

from __future__ import annotations

import json

from ..._errors import Error
from ..._constraining import Grammar
from .exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
)

# Another form of any object has another version.
VERSION = "parlance-2"


def dump(type, members):
    """The text of an object of a type."""
    return json.dumps(
        {"__VERSION__": VERSION, "__TYPE__": type, **members}, ensure_ascii=False
    )


def load(text, type, names):
    """The members ``names`` of the object in ``text``.

    Raises:
        InvalidJSONError, DeserializeVersionError, DeserializeFormatError.
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise TypeError("the serialised object must be a str")
    try:
        value = json.loads(text)
    except RecursionError:
        raise DeserializeFormatError("the text is nested too deeply") from None
    except ValueError as error:
        raise InvalidJSONError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise DeserializeFormatError("a serialised object is a JSON object")
    if value.get("__VERSION__") != VERSION:
        found = json.dumps(value.get("__VERSION__"))[:40]
        raise DeserializeVersionError(
            f"the version is {found}, and this is {json.dumps(VERSION)}"
            if "__VERSION__" in value
            else "there is no __VERSION__"
        )
    if value.get("__TYPE__") != type:
        raise DeserializeFormatError(f"this is no serialised {type}")
    missing = [name for name in names if name not in value]
    if missing:
        raise DeserializeFormatError(f"{missing[0]!r} is missing")
    return [value[name] for name in names]


def dump_grammar(grammar):
    """The text of a ``parlance.Grammar``: that of ``to_bytes``."""
    return grammar.to_bytes().decode()


def load_grammar(text):
    """The ``parlance.Grammar`` that ``dump_grammar`` wrote.

    Raises:
        DeserializeVersionError, DeserializeFormatError.
    """
    if not isinstance(text, str):
        raise DeserializeFormatError("'grammar' must be a string")
    try:
        return Grammar.from_bytes(text.encode())
    except UnicodeEncodeError:
        raise DeserializeFormatError("'grammar' is not text") from None
    except Error as error:
        if error.code == "unsupported_version":
            raise DeserializeVersionError(str(error)) from error
        raise DeserializeFormatError(f"the grammar cannot be used: {error}") from error
