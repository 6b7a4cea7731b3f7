"""Registers the parsers and the backend with vLLM.  Imports vLLM."""

from __future__ import annotations

import functools
import os

from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

from ... import Format, formats

_PARSERS = "parlance.integrations.vllm.parsers"
_ON = ("1", "true", "yes", "on")


@functools.cache
def names():
    """The parsers' names, with the family of each."""
    out = {"parlance": ""}
    for family in formats():
        for one in (family, *Format(family).variants):
            out["parlance_" + one] = one
    return out


def register():
    """Registers everything; a second call changes nothing."""
    for name, family in names().items():
        ToolParserManager.register_lazy_module(name, _PARSERS, "ToolParser_" + family)
        ReasoningParserManager.register_lazy_module(
            name, _PARSERS, "ReasoningParser_" + family
        )
    if not hasattr(ParserManager._compose_parser, "of_parlance"):
        ParserManager._compose_parser = _composing(ParserManager._compose_parser)
    if os.environ.get("PARLANCE_VLLM_BACKEND", "").lower() in _ON:
        from .backend import install

        install()


def _composing(original):
    """``ParserManager._compose_parser`` that knows Parlance's parsers."""

    def compose(**options):
        chosen = [options["tool_parser_name"], options["reasoning_parser_name"]]
        own = any(name in names() for name in chosen if name)
        if not own:
            return original(**options)
        if options.get("is_harmony"):
            raise TypeError(
                "vLLM reads the responses of gpt-oss by Harmony itself: give "
                "--tool-call-parser openai and --reasoning-parser openai_gptoss"
            )
        from .parsers import parser_class

        tool_parser = ParserManager.get_tool_parser(
            options["tool_parser_name"],
            options["enable_auto_tools"],
            options.get("model_name"),
        )
        reasoning_parser = ParserManager.get_reasoning_parser(
            options["reasoning_parser_name"]
        )
        if tool_parser is None and reasoning_parser is None:
            return None
        level = options.get("tool_strict_level")
        return parser_class(
            reasoning_parser,
            tool_parser,
            strict_level=None if level is None else ToolStrictLevel.from_name(level),
            auto_tools=options["enable_auto_tools"],
        )

    compose.of_parlance = True
    return staticmethod(compose)
