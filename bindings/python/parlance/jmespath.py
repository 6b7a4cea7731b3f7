"""JMESPath: queries on JSON values.

    from parlance import jmespath

    jmespath.search("people[?age > `20`].name", value)

    names = jmespath.compile("people[*].name")
    names.search(value)

The language is the whole language of the package ``jmespath``.  Values are made
of ``dict``, ``list`` (or ``tuple``), ``str``, ``int``, ``float``, ``bool`` and
``None``.  Results consist of parts of the value, not of copies.
"""

from __future__ import annotations

from . import _parlance
from ._errors import JmespathError

__all__ = ["Expression", "JmespathError", "compile", "search"]


class Expression(_parlance.Jmespath):
    """A compiled expression.  Immutable; may be shared between threads.

    Args:
        expression: the text of the expression, a ``str``.

    Raises:
        JmespathError: the expression is malformed, or calls a function that
            does not exist.
    """

    def __repr__(self):
        return f"Expression({self.expression!r})"

    def __eq__(self, other):
        if not isinstance(other, Expression):
            return NotImplemented
        return self.expression == other.expression

    def __hash__(self):
        return hash(self.expression)

    def __reduce__(self):
        return Expression, (self.expression,)


# From text to Expression.  Errors are not cached.
_known = {}


def compile(expression):
    """Returns the ``Expression`` of a text, from a cache of the last few hundred.

    Args:
        expression: the text of the expression, a ``str``.

    Raises:
        JmespathError: the expression is malformed.
    """
    return _parlance.jmespath_compiled(_known, Expression, expression)


def search(expression, value):
    """Returns what an expression finds in a value; ``None`` if it finds nothing.

    The last few hundred expressions are cached in compiled form.

    Args:
        expression: the text of the expression, a ``str``.
        value: see ``Expression.search``.

    Raises:
        JmespathError: the expression is malformed, or fails on the value.
        TypeError: a part of the value has a type that JSON does not have.
    """
    return _parlance.jmespath_search(_known, Expression, expression, value)
