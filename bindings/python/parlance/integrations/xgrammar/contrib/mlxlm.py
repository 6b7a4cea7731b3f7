"""A logits processor for mlx-lm, by XGrammar's name."""

from __future__ import annotations

from ...mlx import LogitsProcessor as _LogitsProcessor

__all__ = ["XGrammarLogitsProcessor"]


class XGrammarLogitsProcessor(_LogitsProcessor):
    """``parlance.integrations.mlx.LogitsProcessor`` for a ``CompiledGrammar``.

    Args:
        max_rollback_tokens: without effect.
    """

    def __init__(self, grammar, max_rollback_tokens=16):
        super().__init__(grammar.constraint)
