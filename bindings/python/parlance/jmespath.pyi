from typing import Any

from . import Error

__all__: list[str]

class JmespathError(Error):
    """A JMESPath expression is malformed, or fails on its value.

    ``source`` is the expression, and ``span`` is in its UTF-8 bytes.
    """

class Expression:
    """A compiled expression.  Immutable; may be shared between threads.

    Args:
        expression: the text of the expression, a ``str``.

    Raises:
        JmespathError: the expression is malformed, or calls a function that
            does not exist.
    """

    def __init__(self, expression: str) -> None: ...
    def search(self, value: Any) -> Any:
        """Returns what the expression finds in a value; ``None`` where it finds nothing.

        Args:
            value: made of ``dict``, ``list``, ``tuple``, ``str``, ``int``, ``float``,
                ``bool`` and ``None``.  The result consists of parts of it, not copies.

        Raises:
            JmespathError: a function got an argument of the wrong type, or the value
                is nested more than 990 levels deep.
            TypeError: a part of the value is of another type.
        """

    @property
    def expression(self) -> str:
        """The text of the expression."""

def compile(expression: str) -> Expression:
    """Returns the ``Expression`` of a text, from a cache of the last few hundred.

    Args:
        expression: the text of the expression, a ``str``.

    Raises:
        JmespathError: the expression is malformed.
    """

def search(expression: str, value: Any) -> Any:
    """Returns what an expression finds in a value; ``None`` if it finds nothing.

    The last few hundred expressions are cached in compiled form.

    Args:
        expression: the text of the expression, a ``str``.
        value: see ``Expression.search``.

    Raises:
        JmespathError: the expression is malformed, or fails on the value.
        TypeError: a part of the value has a type that JSON does not have.
    """
