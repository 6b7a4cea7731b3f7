"""The exceptions, by XGrammar's names.

An error of Parlance is raised as one of these or as a plain ``RuntimeError``, as
XGrammar raises it, with the same text; its ``__cause__`` is the
``parlance.Error``, which has the code, the place and the source.
"""

from __future__ import annotations

from ..._errors import Error

__all__ = [
    "DeserializeFormatError",
    "DeserializeVersionError",
    "InvalidJSONError",
    "InvalidStructuralTagError",
]


class DeserializeFormatError(RuntimeError):
    """A serialised object has parts that it cannot have."""


class DeserializeVersionError(RuntimeError):
    """A serialised object is of another version, or says none."""


class InvalidJSONError(RuntimeError):
    """A text that should be JSON is not."""


class InvalidStructuralTagError(RuntimeError):
    """A structural tag is malformed or cannot be used."""


class runtime_errors:
    """A context in which an ``Error`` becomes the exception ``kind``."""

    def __init__(self, kind=RuntimeError):
        self._kind = kind

    def __enter__(self):
        return self

    def __exit__(self, type, error, trace):
        if isinstance(error, Error):
            raise self._kind(str(error)) from error


class structural_tag_errors:
    """A context in which the errors of a structural tag become XGrammar's."""

    def __enter__(self):
        return self

    def __exit__(self, type, error, trace):
        if isinstance(error, Error):
            # Of the tag itself and not of a grammar in it.
            if error.code == "invalid_json" and not error.path:
                raise InvalidJSONError(str(error)) from error
            raise InvalidStructuralTagError(str(error)) from error
