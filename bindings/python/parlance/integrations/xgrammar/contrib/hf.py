"""A logits processor for ``generate`` of transformers, by XGrammar's name."""

from __future__ import annotations

from ...transformers import LogitsProcessor as _LogitsProcessor

__all__ = ["LogitsProcessor"]


class LogitsProcessor(_LogitsProcessor):
    """``parlance.integrations.transformers.LogitsProcessor`` for a
    ``CompiledGrammar``, or a list with one for each prompt.

    Unlike XGrammar's it follows beams, may be used again after ``reset()``, and
    leaves a row alone whose token does not fit.
    """

    def __init__(self, compiled_grammar):
        if isinstance(compiled_grammar, list):
            constraints = [grammar.constraint for grammar in compiled_grammar]
            if len(constraints) == 1:
                constraints = constraints[0]
        else:
            constraints = compiled_grammar.constraint
        super().__init__(constraints)
