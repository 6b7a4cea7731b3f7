"""The exceptions of the package, which ``parlance`` has as well.

    from parlance.errors import TemplateError

All are subclasses of ``Error``, which is a ``ValueError``.
"""

from ._errors import (
    ContentAttributeError,
    ContentTypeError,
    Error,
    GrammarError,
    JmespathError,
    MissingPlaceholderError,
    PatternError,
    ResponseError,
    SchemaError,
    StateError,
    TemplateError,
    TooDeepError,
    UnknownNameError,
    UsageError,
)

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
