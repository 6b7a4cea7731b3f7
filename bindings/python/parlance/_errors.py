"""What is raised, and of which classes.

Every error is an ``Error``, which is a ``ValueError``.  Under ``ResponseError``
some are, in addition, of the class that ``transformers`` raises in the same
place, so that an ``except`` written for it goes on working.
"""

from __future__ import annotations

import re


class Error(ValueError):
    """Something a person wrote cannot be used, and why.

    Attributes:
        code: a stable name, such as ``"unknown_key"``.
        message: what was found, and what would be accepted.
        path: JSON pointer into the source, ``""`` for its root.
        span: ``(begin, end)`` in the UTF-8 bytes of ``source``, or ``None``.
        source: the text that path and span refer to, or ``None``.
        line, column: of the span's beginning in ``source``, counting from 1,
            columns in characters; ``None`` without a span or a source.
        events: the events of the call that failed.
        item: index of the failed response in a batch, or ``None``.
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
        place = self._place()
        return None if place is None else place[0]

    @property
    def column(self):
        place = self._place()
        return None if place is None else place[1]

    def _place(self):
        if self.span is None or self.source is None:
            return None
        from . import _parlance  # loads this module when it raises

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
    """Arguments that are missing or do not fit each other."""


class StateError(Error, RuntimeError):
    """A parser was used after ``finalize``."""


class TemplateError(Error):
    """A response template or format that cannot be used."""


class SchemaError(Error):
    """A schema that cannot be used."""


class GrammarError(Error):
    """A grammar that cannot be used."""


class JmespathError(Error):
    """A JMESPath expression that is malformed, or fails on its value.

    ``source`` is the expression, and ``span`` is in its UTF-8 bytes.
    """


class ResponseError(Error):
    """A response that does not fit its template, read without recovery."""


class MissingPlaceholderError(ResponseError, KeyError):
    """A transform names a value that is not there."""


class UnknownNameError(ResponseError, KeyError):
    """A content parser that the template names does not exist, and a value
    came to it."""


class ContentTypeError(ResponseError, TypeError):
    """A value has a type that the field cannot use."""


class ContentAttributeError(ResponseError, AttributeError):
    """A value lacks what the field does with it."""


class TooDeepError(ResponseError, RecursionError):
    """A value in the response is nested too deeply."""


class PatternError(ResponseError, re.error):
    """A response schema has an invalid pattern, and a text came to it."""

    pattern = pos = lineno = colno = None

    @property
    def msg(self):
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
