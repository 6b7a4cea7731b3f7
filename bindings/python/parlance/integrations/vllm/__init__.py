"""A plug-in for vLLM: parsers for every family, and masks.

    pip install . vllm  # in a checkout of Parlance
    vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice \\
        --tool-call-parser parlance --reasoning-parser parlance

vLLM finds the plug-in by its entry point (group ``vllm.general_plugins``) and
calls ``register`` in each of its processes.  The parsers are ``parlance``, which
finds the family by the tokenizer, and one for each family, such as
``parlance_qwen3``.

    PARLANCE_VLLM_BACKEND=1 vllm serve ...

makes the masks of structured outputs Parlance's: the backends ``xgrammar``,
``guidance`` and ``auto`` are then ``parlance.integrations.vllm.backend``.

Importing this module imports nothing of vLLM.
"""

from __future__ import annotations

__all__ = ["register"]


def register():
    """Registers the parsers with vLLM and, if ``PARLANCE_VLLM_BACKEND`` is
    ``1``, the backend.

    vLLM calls it; a program that uses vLLM's classes itself may call it, any
    number of times.

    Raises:
        ImportError: vLLM is not installed.
    """
    from . import _plugin

    _plugin.register()
