"""The structural tags that XGrammar's builder makes for its model formats.

    from parlance.integrations.xgrammar import get_model_structural_tag

    tag = get_model_structural_tag("qwen_3", tools, tool_choice="required")

For programs that send these tags on, or compare with them.  A program that
constrains and parses uses ``parlance.tool_calling``: its tags say what each part
means, follow the prompt, and exist for every family of ``parlance.formats()``.

The module needs no XGrammar.
"""

from __future__ import annotations

from ._shapes import get_model_structural_tag, upstream_shapes

__all__ = ["get_model_structural_tag", "upstream_shapes"]
