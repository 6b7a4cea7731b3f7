"""What a request to vLLM asks of its response, as a structural tag."""

from __future__ import annotations

import json

import vllm.envs as envs
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.exceptions import VLLMValidationError
from vllm.logger import init_logger
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
from vllm.tool_parsers.utils import iter_response_function_tool_dicts

from ..._errors import Error

logger = init_logger("vllm.parlance")

# Set by _plugin when the masks are Parlance's.
own_masks = False

_MAX_WHITE_SPACE = 16


_MEMBERS = ("name", "description", "parameters", "strict")


def tool_dicts(tools):
    """The function tools of a request, as chat completions have them."""
    out = []
    flat = []
    for tool in tools or ():
        if isinstance(tool, dict):
            function = tool.get("function")
        else:
            function = getattr(tool, "function", None)
        if function is None:
            flat.append(tool)
        else:
            out.append(_function(function))
    if flat:  # of the Responses API, where tools may be in name spaces
        out += map(_function, iter_response_function_tool_dicts(flat))
    return out


def _function(function):
    # Attributes: model_dump() of a request's tools takes milliseconds.
    read = function.get if isinstance(function, dict) else vars(function).get
    members = {name: read(name) for name in _MEMBERS if read(name) is not None}
    return {"type": "function", "function": members}


def tool_choice_of(request):
    """The ``tool_choice`` of a request, as chat completions have it."""
    choice = getattr(request, "tool_choice", None)
    if hasattr(choice, "model_dump"):
        choice = choice.model_dump(exclude_none=True)
    if not isinstance(choice, dict):
        return choice or "auto"
    if choice.get("type") == "allowed_tools" and "allowed_tools" not in choice:
        return {"type": "allowed_tools", "allowed_tools": choice}
    if "function" not in choice and "name" in choice:
        return {"type": "function", "function": {"name": choice["name"]}}
    return choice


def reads_calls(request, auto_tools):
    """Whether calls in the response of a request are calls, and not text."""
    choice = tool_choice_of(request)
    if choice == "none" or not getattr(request, "tools", None):
        return False
    return auto_tools or not _is_auto(choice)


def markers_of(request):
    """How the response of a request writes delimiters, as of ``ResponseParser``.

    XGrammar's masks take a delimiter also when it is spelled by other tokens
    than its own.
    """
    by_tag = getattr(request, "_grammar_from_parser", False)
    return "either" if by_tag and not own_masks else "token"


def _is_auto(choice):
    if isinstance(choice, dict):
        allowed = choice.get("allowed_tools") or {}
        return allowed.get("mode") == "auto"
    return choice == "auto"


def constrain(request, model, prompt, *, calls, strict_level=None):
    """Puts the structural tag of a request into it.

    A request is constrained if it forces a call, has a strict tool, allows one
    call only, or wants JSON; otherwise it is left as it is.  The tag begins
    where the prompt ends, and has the reasoning in it.

    Args:
        request: a request of chat completions or of the Responses API.
        model: a ``Model``.
        prompt: the token ids of the prompt, or ``None``.
        calls: whether calls are read.
        strict_level: vLLM's ``ToolStrictLevel``.

    Raises:
        VLLMValidationError: the request cannot be constrained as it asks.
    """
    tag = _tag_of(request, model, prompt, calls, strict_level)
    if tag is None:
        return request
    params = StructuredOutputsParams(structural_tag=tag)
    if isinstance(request, ChatCompletionRequest):
        request.structured_outputs = params
        request.response_format = None
    else:
        request._parser_structured_outputs = params
    request._grammar_from_parser = True
    return request


def _tag_of(request, model, prompt, calls, strict_level):
    """The JSON text of the tag, or None to leave the request as it is."""
    level = ToolStrictLevel.AUTO if strict_level is None else strict_level
    calls = calls and model.has_calls
    tools = tool_dicts(request.tools) if calls else []
    choice = tool_choice_of(request) if tools else "none"
    forced = bool(tools) and not _is_auto(choice)
    output = request.extract_structured_outputs()
    document = _document(output)
    if forced:
        if output is not None:
            logger.warning_once("tool_choice forces a call: response_format is ignored")
        document = None
    elif output is not None and document is None:
        return None  # a pattern, a grammar, a tag: vLLM's, after the reasoning
    elif not tools and (document is None or not own_masks):
        return None
    elif tools and document is None:
        asked = (
            level > ToolStrictLevel.AUTO
            or request.parallel_tool_calls is False
            or isinstance(choice, dict)
            or any(tool["function"].get("strict") for tool in tools)
        )
        if not asked or not envs.VLLM_ENFORCE_STRICT_TOOL_CALLING:
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
            parallel_tool_calls=request.parallel_tool_calls is not False,
            response_format=document,
            prefix=model.text(prompt) if prompt else "",
            max_white_space=_MAX_WHITE_SPACE,
        ).to_json()
    except Error as error:
        raise refused(error) from error
    reason = None if own_masks else _foreign(tag)
    if reason is None:
        return tag
    if forced:
        raise VLLMValidationError(
            f"XGrammar cannot read the structural tag of {model.format.name} "
            f"({reason}); start vLLM with PARLANCE_VLLM_BACKEND=1",
            parameter="tool_choice",
        )
    logger.warning_once(
        "XGrammar cannot read the structural tag of %s, so calls are not "
        "constrained; start vLLM with PARLANCE_VLLM_BACKEND=1",
        model.format.name,
    )
    return None


def _document(output):
    """The response_format of structured outputs that are JSON, or None."""
    if output is None:
        return None
    if output.json is not None:
        schema = output.json
        if isinstance(schema, str):
            try:
                schema = json.loads(schema)
            except (ValueError, RecursionError) as error:
                raise VLLMValidationError(
                    f"the JSON Schema is no JSON: {error}", parameter="response_format"
                ) from error
        return {"type": "json_schema", "json_schema": {"schema": schema}}
    return {"type": "json_object"} if output.json_object else None


def _foreign(tag):
    """Why XGrammar cannot read a tag, or None."""
    import xgrammar

    try:
        xgrammar.Grammar.from_structural_tag(tag)
    except Exception as error:  # noqa: BLE001: its exceptions are many
        return str(error).strip().splitlines()[-1]
    return None


def refused(error, parameter=None):
    """vLLM's exception for an ``Error``: a 400 that says where and why."""
    path = error.path or ""
    if parameter is None and path.startswith("/"):
        parameter = path.split("/")[1]
    place = f"{path}: " if path.count("/") > 1 else ""
    return VLLMValidationError(f"{place}{error.message}", parameter=parameter)
