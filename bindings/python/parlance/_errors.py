"""The classes of exceptions.

Every error is an ``Error``, which is a ``ValueError``.  Some subclasses of
``ResponseError`` are, in addition, subclasses of the exception that
``transformers`` raises in the same case, so that an ``except`` clause written
for it keeps working.
"""

from __future__ import annotations

import re

# What ``parlance.errors`` has.
__all__ = [
    "ContentAttributeError",
    "ContentTypeError",
    "Error",
    "GrammarError",
    "JmespathError",
    "MissingPlaceholderError",
    "PatternError",
    "ResponseError",
    "SchemaError",
    "StateError",
    "TemplateError",
    "TooDeepError",
    "UnknownNameError",
    "UsageError",
]


class Error(ValueError):
    """The base class of all errors of the package: an input cannot be used.

    Attributes:
        code: a stable name of the error, such as ``"unknown_key"``.
        message: what was found, and what would be accepted.
        path: the JSON pointer into the source, ``""`` for its root.
        span: ``(begin, end)`` in the UTF-8 bytes of ``source`` (of the stream
            for a response), half-open, or ``None``.
        source: the text that ``path`` and ``span`` refer to, or ``None``.
        events: the events of the call that failed, a list of ``dict``.
        item: the index of the failed response in a batch, or ``None``.

    ``line`` and ``column`` are computed from ``span`` and ``source``.
    """

    def __init__(
        self,
        message="",
        *,
        code="usage",
        path="",
        span=None,
        source=None,
        events=None,
        item=None,
    ):
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        self.span = span
        self.source = source
        self.events = [] if events is None else events
        self.item = item

    @property
    def line(self):
        """The line in ``source`` where ``span`` begins, counted from 1.

        ``None`` without a span or a source.
        """
        place = self._place()
        return None if place is None else place[0]

    @property
    def column(self):
        """The column where ``span`` begins, in characters, counted from 1.

        ``None`` without a span or a source.
        """
        place = self._place()
        return None if place is None else place[1]

    def _place(self):
        if self.span is None or self.source is None:
            return None
        from . import _parlance  # here: _parlance imports this module

        source = self.source.encode("utf-8", "surrogatepass")
        return _parlance.line_column(source, self.span[0])

    def __str__(self):
        place = []
        if self.item is not None:
            place.append(f"response {self.item} of the batch")
        if self.path:
            place.append(f"at {self.path}")
        at = self._place()
        if at is not None and not self.path:
            place.append(f"line {at[0]}, column {at[1]}")
        elif at is None and self.span is not None:
            place.append(f"bytes {self.span[0]}..{self.span[1]}")
        return f"{self.message} ({', '.join(place)})" if place else self.message

    def __reduce__(self):
        return _rebuild, (type(self), self.message, self.__dict__)


def _rebuild(cls, message, attributes):
    error = cls(message)
    error.__dict__.update(attributes)
    return error


class UsageError(Error):
    """An argument is missing, or arguments do not fit each other."""


class StateError(Error, RuntimeError):
    """A parser was used after ``finalize``.  Also a ``RuntimeError``."""


class TemplateError(Error):
    """A response template or format cannot be used, or no format has the name."""


class SchemaError(Error):
    """A JSON Schema or a response schema cannot be used."""


class GrammarError(Error):
    """A grammar or a structural tag cannot be used."""


class JmespathError(Error):
    """A JMESPath expression is malformed, or fails on its value.

    ``source`` is the expression, and ``span`` is in its UTF-8 bytes.
    """


class ResponseError(Error):
    """A response that is parsed without recovery does not fit its template.

    ``span`` is in bytes of the stream.
    """


class MissingPlaceholderError(ResponseError, KeyError):
    """A transform names a value that does not exist.  Also a ``KeyError``."""


class UnknownNameError(ResponseError, KeyError):
    """A value needs an unknown content parser.  Also a ``KeyError``."""


class ContentTypeError(ResponseError, TypeError):
    """A value has a type that the field cannot use.  Also a ``TypeError``."""


class ContentAttributeError(ResponseError, AttributeError):
    """A value lacks a method that is needed.  Also an ``AttributeError``."""


class TooDeepError(ResponseError, RecursionError):
    """A value is nested too deeply.  Also a ``RecursionError``."""


class PatternError(ResponseError, re.error):
    """A response schema has an invalid pattern, and a text had to be matched.

    Also an ``re.error``.
    """

    pattern = pos = lineno = colno = None

    @property
    def msg(self):
        """The message, under the name that ``re.error`` has for it."""
        return self.message


_RESPONSE_CLASSES = {
    "bad_pattern": PatternError,
    "missing_placeholder": MissingPlaceholderError,
    "unknown_name": UnknownNameError,
    "content_type": ContentTypeError,
    "content_attribute": ContentAttributeError,
    "too_deep": TooDeepError,
}
_OTHER_CLASSES = {"usage": UsageError, "finalized": StateError}


def make(domain, code, message, path, span, source, events, item):
    """The exception for an error of the library."""
    if domain == "response":
        cls = _RESPONSE_CLASSES.get(code, ResponseError)
    elif domain == "template":
        cls = TemplateError
    elif domain == "schema":
        cls = SchemaError
    elif domain == "grammar":
        cls = GrammarError
    else:
        cls = _OTHER_CLASSES.get(code, Error)
    return cls(
        message,
        code=code,
        path=path,
        span=span,
        source=source,
        events=events,
        item=item,
    )


def make_jmespath(code, message, span, expression):
    """The exception for an error of an expression."""
    return JmespathError(message, code=code, span=span, source=expression)
