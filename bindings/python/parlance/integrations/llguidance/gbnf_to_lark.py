"""llguidance's name of what reads GBNF: here GBNF is a grammar itself."""

from __future__ import annotations

from .. import _alias
from ._grammars import grammar_from

__all__ = ["any_to_lark", "gbnf_to_lark", "is_lark_syntax"]


def gbnf_to_lark(text):
    """``grammar_from("gbnf", text)``, a text of a grammar that is no Lark."""
    return grammar_from("gbnf", text)


def is_lark_syntax(text):
    """Whether a grammar is Lark, and not GBNF."""
    return "::=" not in text


def any_to_lark(text):
    """``text`` if it is Lark, else ``gbnf_to_lark(text)``."""
    return text if is_lark_syntax(text) else gbnf_to_lark(text)


__getattr__ = _alias.names_of(
    __name__,
    absent=dict.fromkeys(
        ("GbnfToLarkError", "GrammarParser", "main", "resolve"),
        "parlance.Grammar.from_gbnf and `parlance` read GBNF",
    ),
)
