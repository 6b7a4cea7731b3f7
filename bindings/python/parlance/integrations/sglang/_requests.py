"""What a request to SGLang asks of its response, as a structural tag."""

from __future__ import annotations

import functools
import json
import logging

from sglang.srt.entrypoints.openai.protocol import ToolChoice
from sglang.srt.environ import ToolStrictLevel, envs
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.sampling.sampling_params import set_request_reasoning_in_grammar

from ..._errors import Error
from .parsers import (
    ParlanceReasoningDetector,
    ParlanceToolDetector,
    Prompt,
    model_of,
    tool_dicts,
)

logger = logging.getLogger("sglang.parlance")

_MAX_WHITE_SPACE = 16


def set_context(original, serving, request, adapted_request, options):
    """``OpenAIServingChat._set_response_parser_context`` that knows Parlance.

    It tells the parsers of a request their prompt, and puts the structural tag
    of the request into its sampling parameters.

    Args:
        original: the method of SGLang.
        serving: an ``OpenAIServingChat``.
        request: a request of chat completions or of the Responses API.
        adapted_request: the ``GenerateReqInput`` made of it.
        options: the keyword arguments of the method.

    Raises:
        ValueError: the request cannot be constrained as it asks.
    """
    original(serving, request, adapted_request, **options)
    tool_class = FunctionCallParser.ToolCallParserEnum.get(serving.tool_call_parser)
    reads_calls = tool_class is not None and issubclass(
        tool_class, ParlanceToolDetector
    )
    reads_reasoning = isinstance(
        serving._reasoning_detector, ParlanceReasoningDetector
    )
    if not reads_calls and not reads_reasoning:
        return
    prompt = Prompt(request._response_parser_prefix)
    prompt.has_reasoning = not (
        serving.reasoning_parser and getattr(request, "separate_reasoning", True)
    )
    prompt.is_paired = reads_calls and reads_reasoning
    request._response_parser_prefix = prompt
    if reads_calls:
        family = tool_class.family
    else:
        family = type(serving._reasoning_detector).family
    model = model_of(serving.tokenizer_manager.tokenizer, family)
    tools = options.get("tools") or () if reads_calls else ()
    params = adapted_request.sampling_params
    backend = serving.tokenizer_manager.config_value("grammar_backend")
    tag = _tag_of(request, params, model, prompt, tool_dicts(tools), backend)
    if tag is None:
        return
    params["structural_tag"] = tag
    params.pop("json_schema", None)
    set_request_reasoning_in_grammar(params, adapted_request.require_reasoning)
    request._response_parser_grammar_start = None
    request._response_parser_json_response_format = False


def _choice_of(request):
    """The ``tool_choice`` of a request, as chat completions have it."""
    if hasattr(request, "effective_tool_choice"):  # of the Responses API
        choice = request.effective_tool_choice()
    else:
        choice = request.tool_choice
    if isinstance(choice, ToolChoice):
        return {"type": "function", "function": {"name": choice.function.name}}
    if isinstance(choice, dict) and "function" not in choice and "name" in choice:
        return {"type": "function", "function": {"name": choice["name"]}}
    return choice or "auto"


def _tag_of(request, params, model, prompt, tools, backend):
    """The JSON text of the tag, or None to leave the request as it is."""
    choice = _choice_of(request) if tools else "none"
    forced = bool(tools) and choice != "auto"
    document = None
    if params.get("json_schema"):
        try:
            schema = json.loads(params["json_schema"])
        except RecursionError as error:
            raise ValueError("the JSON Schema is nested too deeply") from error
        document = {"type": "json_schema", "json_schema": {"schema": schema}}
    foreign = any(params.get(key) for key in ("regex", "ebnf", "structural_tag"))
    if forced and (document or foreign):
        raise ValueError(
            "tool_choice forces a call, which cannot be combined with "
            "response_format, regex or ebnf"
        )
    level = envs.SGLANG_TOOL_STRICT_LEVEL.get()
    parallel = request.parallel_tool_calls is not False
    asked = forced or document is not None
    if tools and not asked:
        asked = (
            level >= ToolStrictLevel.FUNCTION
            or not parallel
            or any(tool["function"].get("strict") for tool in tools)
        )
    if foreign or not asked:
        return None
    if level >= ToolStrictLevel.PARAMETER:
        tools = [
            {**tool, "function": {**tool["function"], "strict": True}}
            for tool in tools
        ]
    try:
        tag = model.format.structural_tag(
            tools or None,
            tool_choice=choice,
            parallel_tool_calls=parallel,
            response_format=document,
            prefix=str(prompt),
            max_white_space=_MAX_WHITE_SPACE,
        ).to_json()
    except Error as error:
        path = error.path or ""
        place = f"{path}: " if path.count("/") > 1 else ""
        raise ValueError(f"{place}{error.message}") from error
    reason = _unreadable(tag, backend)
    if reason is None:
        return tag
    message = (
        f"the grammar backend {backend} cannot read the structural tag of "
        f"{model.format.name} ({reason}); start SGLang with --grammar-backend parlance"
    )
    if forced:
        raise ValueError(message)
    _warn_once(message)
    return None


@functools.lru_cache(maxsize=256)
def _warn_once(message):
    logger.warning(message)


def _unreadable(tag, backend):
    """Why a backend cannot execute a tag, or None."""
    if backend == "parlance":
        return None
    if backend != "xgrammar":
        return "it has no tags of this kind"
    import xgrammar

    try:
        xgrammar.Grammar.from_structural_tag(tag)
    except Exception as error:  # noqa: BLE001: its exceptions are many
        return str(error).strip().splitlines()[-1]
    return None
