"""A plug-in for SGLang: parsers for every family, and a grammar backend.

    pip install . sglang  # in a checkout of Parlance
    sglang serve --model-path Qwen/Qwen3-8B --tool-call-parser parlance \\
        --reasoning-parser parlance --grammar-backend parlance

SGLang finds the plug-in by its entry point (group ``sglang.srt.plugins``) and
calls ``register`` in each of its processes.  The parsers are ``parlance``, which
finds the family by the tokenizer, and one for each family, such as
``parlance_qwen3``.

Importing this module imports nothing of SGLang.
"""

from __future__ import annotations

__all__ = ["register"]


def register():
    """Registers the parsers and the grammar backend with SGLang.

    SGLang calls it; a program that uses SGLang's classes itself may call it, any
    number of times, and then calls ``HookRegistry.apply_hooks()``.

    Raises:
        ImportError: SGLang is not installed.
    """
    from . import _plugin

    _plugin.register()
