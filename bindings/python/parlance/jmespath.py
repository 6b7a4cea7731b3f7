"""JMESPath: asking questions of JSON values.

    from parlance import jmespath

    jmespath.search("people[?age > `20`].name", value)

    names = jmespath.compile("people[*].name")
    names.search(value)

The language is that of the package ``jmespath``, whole.  Values are made of
``dict``, ``list`` (or ``tuple``), ``str``, ``int``, ``float``, ``bool`` and
``None``; what is found are the parts of the value themselves, not copies.
"""

from __future__ import annotations

from . import _parlance
from ._errors import JmespathError

__all__ = ["Expression", "JmespathError", "compile", "search"]


class Expression(_parlance.Jmespath):
    """A compiled expression.  Immutable, safe to share between threads."""

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


# By text.  Errors are not kept.
_known = {}


def compile(expression):
    """The ``Expression`` of a text; raises ``JmespathError`` for a bad one."""
    return _parlance.jmespath_compiled(_known, Expression, expression)


def search(expression, value):
    """What ``expression`` finds in ``value``; ``None`` where it finds nothing.

    The last few hundred expressions stay compiled.
    """
    return _parlance.jmespath_search(_known, Expression, expression, value)
