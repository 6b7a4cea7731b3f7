"""Registers the parsers and the backend with SGLang.  Imports SGLang."""

from __future__ import annotations

import functools

from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.plugins.hook_registry import HookRegistry, HookType
from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices

from ... import Format, formats
from .parsers import reasoning_detector_class, tool_detector_class

_BACKEND = "parlance"
_CONTEXT = (
    "sglang.srt.entrypoints.openai.serving_chat."
    "OpenAIServingChat._set_response_parser_context"
)


@functools.cache
def names():
    """The parsers' names, with the family of each; ``None`` is to be found."""
    out = {"parlance": None}
    for family in formats():
        for one in (family, *Format(family).variants):
            out["parlance_" + one] = one
    return out


@functools.cache
def register():
    """Registers everything; a second call changes nothing."""
    for name, family in names().items():
        if family is None or "tool_calls" in Format(family).fields:
            tools = tool_detector_class(family)
            FunctionCallParser.ToolCallParserEnum[name] = tools
        ReasoningParser.DetectorMap[name] = reasoning_detector_class(family)
    if _BACKEND not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([_BACKEND])
    register_grammar_backend(_BACKEND, _new_backend)
    HookRegistry.register(_CONTEXT, _with_context, HookType.AROUND)


def _new_backend(server_args, tokenizer, vocab_size, eos_token_ids):
    from .backend import new_backend

    drafts = getattr(server_args, "speculative_algorithm", None) is not None
    return new_backend(tokenizer, vocab_size, eos_token_ids, drafts=drafts)


def _with_context(original, serving, request, adapted_request, **options):
    from ._requests import set_context

    set_context(original, serving, request, adapted_request, options)
