"""The structural tags of model families, by XGrammar's names.

A tag is what the family's format makes, ``Format.structural_tag``.
"""

from __future__ import annotations

import functools
import json

from ... import Format, TemplateError
from ..._arguments import shown
from .openai_tool_call_schema import (
    AllowedToolChoiceParam,
    BuiltinToolChoiceParam,
    BuiltinToolParam,
    FunctionToolParam,
    NamedToolChoiceParam,
    ToolChoiceOptionParam,
    ToolParam,
)
from .structural_tag import StructuralTag

from pydantic import TypeAdapter  # after the message of openai_tool_call_schema

__all__ = [
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "normalize_tool_choice",
    "register_model_structural_tag",
]

_tool = TypeAdapter(ToolParam)
_choice = TypeAdapter(ToolChoiceOptionParam)


def normalize_tool_choice(tools=None, tool_choice="auto"):
    """Applies a tool choice to the tools of a request.

    Args:
        tools: a list of ``FunctionToolParam``, ``BuiltinToolParam`` or their
            dicts; ``None`` for no tools.
        tool_choice: ``"auto"`` (also ``None``), ``"none"``, ``"required"``, or
            an object or dict that names one tool or the tools that are allowed.

    Returns:
        ``(functions, builtins, choice)``: the tools that may be called, two
        lists, and ``"auto"``, ``"required"`` or ``"forced"`` (the one tool must
        be called).

    Raises:
        ValueError: a tool or the choice is malformed, names a tool that is not
            there, or leaves no tool to call.
    """
    if tools is None:
        tools = []
    if not isinstance(tools, list):
        raise ValueError("tools must be a list")
    known = (FunctionToolParam, BuiltinToolParam)
    tools = [
        tool if isinstance(tool, known) else _tool.validate_python(tool)
        for tool in tools
    ]
    functions = [tool for tool in tools if isinstance(tool, FunctionToolParam)]
    builtins = [tool for tool in tools if isinstance(tool, BuiltinToolParam)]
    choice = "auto" if tool_choice is None else _choice.validate_python(tool_choice)
    if isinstance(choice, AllowedToolChoiceParam):
        functions, builtins = _allowed(functions, builtins, choice.allowed_tools)
        choice = choice.allowed_tools.mode
    elif isinstance(choice, NamedToolChoiceParam):
        name = choice.function.name
        functions = [tool for tool in functions if tool.function.name == name]
        builtins = []
        if not functions:
            raise ValueError(f"there is no function called {name!r}")
        choice = "forced"
    elif isinstance(choice, BuiltinToolChoiceParam):
        functions = []
        builtins = [tool for tool in builtins if tool.type == choice.type]
        choice = "forced"
    elif choice == "none":
        functions, builtins, choice = [], [], "auto"
    number = len(functions) + len(builtins)
    if choice == "required" and not number:
        raise ValueError("the tool choice is 'required', but there is no tool")
    if choice == "forced" and number != 1:
        raise ValueError(
            f"the tool choice selects {number} tools; it must select exactly one"
        )
    return functions, builtins, choice


def _allowed(functions, builtins, allowed):
    names, types = set(), set()
    for tool in allowed.tools:
        if tool.type != "function":
            types.add(tool.type)
        elif tool.function is None:
            raise ValueError("an allowed function has no 'function'")
        else:
            names.add(tool.function.name)
    functions = [tool for tool in functions if tool.function.name in names]
    builtins = [tool for tool in builtins if tool.type in types]
    missing = names - {tool.function.name for tool in functions}
    if missing:
        raise ValueError(f"Allowed function tools are not there: {sorted(missing)}")
    missing = types - {tool.type for tool in builtins}
    if missing:
        raise ValueError(f"Allowed builtin tools are not there: {sorted(missing)}")
    return functions, builtins


def _of_family(
    family,
    tools=None,
    builtin_tools=None,
    tool_choice="auto",
    reasoning="enabled",
    *,
    any_order=False,
    exclude_special_tokens=True,
    max_whitespace_cnt=None,
    parallel_tool_calls=True,
):
    """The tag of a family, for the tools of ``normalize_tool_choice``."""
    del exclude_special_tokens
    format = Format(family)
    if builtin_tools:
        raise ValueError(
            f"tools: {builtin_tools[0].type!r} is a builtin tool, and the tags of "
            "families have function tools: give it as a function, or write the tag "
            "with register_model_structural_tag"
        )
    functions = [tool.model_dump(exclude_none=True) for tool in tools or []]
    if tool_choice == "forced":
        tool_choice = {
            "type": "function",
            "function": {"name": functions[0]["function"]["name"]},
        }
    prompt, mode = _after(format, reasoning)
    tag = format.structural_tag(
        functions or None,
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        reasoning=mode,
        prefix=prompt,
        any_order=any_order,
        max_white_space=max_whitespace_cnt,
    )
    return StructuralTag.model_validate(tag.to_dict())


def _after(format, mode):
    """What the prompt has written of a response in XGrammar's three modes, and the
    mode's name in ``Format.structural_tag``.

    "enabled": the opener of the reasoning.  "disabled": the block that the family
    writes in place of reasoning, and the opener of what always follows it.
    "auto", and where a response is a row of messages: nothing.
    """
    write = json.loads(format.source).get("parlance", {}).get("write", {})
    if isinstance(write.get("order", [""])[0], dict):
        return "", "off" if mode == "disabled" else "allowed"
    thinking = write.get("thinking")
    if thinking is None or mode == "auto":
        return "", "allowed"
    if mode == "enabled":
        return thinking["parts"][0], "required"
    # A choice, as of an empty block that may be missing, is the model's.
    begun = [part for part in thinking.get("off") or [] if isinstance(part, str)]
    if "off" in write["content"]:
        begun.append(write["content"]["parts"][0])
    return "".join(begun), "off"


def _reasoning_mode(mode):
    """``"enabled"``, ``"disabled"`` or ``"auto"``, also of a ``bool``."""
    if isinstance(mode, bool):
        return "enabled" if mode else "disabled"
    if mode not in ("enabled", "disabled", "auto"):
        raise ValueError(
            "reasoning must be True, False, 'enabled', 'disabled' or 'auto', "
            f"not {shown(mode)}"
        )
    return mode


# From names to functions that make tags; every other name is of a family.
_registry = {}


def _maker(name):
    """The function of a model, or ``None``."""
    if name in _registry:
        return _registry[name]
    # The path or the text of a description is no name.
    if not isinstance(name, str) or "{" in name or name.endswith(".json"):
        return None
    try:
        Format(name)
    except TemplateError:
        return None
    return functools.partial(_of_family, name)


def __getattr__(name):
    """``get_NAME_structural_tag`` is the function of the model ``NAME``."""
    model = name.removeprefix("get_").removesuffix("_structural_tag")
    if name == f"get_{model}_structural_tag":
        maker = _maker(model)
        if maker is not None:
            return maker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register_model_structural_tag(name):
    """A decorator that registers a function as the one for the model ``name``.

    The function is called as ``function(functions, builtins, choice, reasoning,
    any_order=, exclude_special_tokens=, max_whitespace_cnt=,
    parallel_tool_calls=)``, with the result of ``normalize_tool_choice`` and
    ``"enabled"``, ``"disabled"`` or ``"auto"``, and returns a ``StructuralTag``.
    """

    def register(function):
        _registry[name] = function
        return function

    return register


def get_model_structural_tag(
    model,
    tools=None,
    tool_choice="auto",
    reasoning="enabled",
    force_reasoning=False,
    any_order=False,
    exclude_special_tokens=True,
    max_whitespace_cnt=None,
    parallel_tool_calls=True,
):
    """Returns the ``StructuralTag`` of a model's responses that may or must call
    tools: what ``parlance.Format(model).structural_tag`` makes.

    Args:
        model: a registered name, or the name of a built-in format.
        tools, tool_choice: as of ``normalize_tool_choice``.  Only registered
            functions take builtin tools.
        reasoning: what the prompt ends with, before which the tag does not
            begin.  ``"enabled"``, or ``True``: the opener of the reasoning.
            ``"disabled"``, or ``False``: what the family writes in place of
            reasoning.  ``"auto"``: neither; the response may begin with
            reasoning.  In families that write a response as a row of messages
            (``gpt_oss``) the prompt ends before the first, and
            ``"enabled"`` allows reasoning.
        force_reasoning: ignored.
        any_order: whether members of arguments may be in any order.
        exclude_special_tokens: ignored: free text never has the markers that
            the family reads as the opener of another part.
        max_whitespace_cnt: the most characters of white space in a row in
            arguments; ``None`` for no limit.
        parallel_tool_calls: whether a response may have several calls.

    Raises:
        ValueError: an argument cannot be used.
    """
    function = _maker(model)
    if function is None:
        raise ValueError(
            f"there is no model called {shown(model)}; there are the registered "
            "names, and those of parlance.formats()"
        )
    functions, builtins, choice = normalize_tool_choice(tools, tool_choice)
    reasoning = _reasoning_mode(reasoning)
    if not isinstance(parallel_tool_calls, bool):
        raise ValueError("parallel_tool_calls must be a bool")
    del force_reasoning
    return function(
        functions,
        builtins,
        choice,
        reasoning,
        any_order=any_order,
        exclude_special_tokens=exclude_special_tokens,
        max_whitespace_cnt=max_whitespace_cnt,
        parallel_tool_calls=parallel_tool_calls,
    )


get_builtin_structural_tag = get_model_structural_tag
