"""The structural tags of model formats, by XGrammar's names."""

from __future__ import annotations

import functools

from . import _shapes
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


def _of_shape(
    model,
    tools=None,
    builtin_tools=None,
    tool_choice="auto",
    reasoning=None,
    *,
    any_order=False,
    exclude_special_tokens=True,
    max_whitespace_cnt=None,
    parallel_tool_calls=True,
):
    """The tag of a shape, for the tools of ``normalize_tool_choice``."""
    if reasoning is None:
        reasoning = _shapes.default_reasoning(model)
    functions = [
        (
            tool.function.name,
            True
            if tool.function.strict is False or tool.function.parameters is None
            else tool.function.parameters,
        )
        for tool in tools or []
    ]
    builtins = [
        (
            tool.name or tool.type,
            True if tool.parameters is None else tool.parameters,
        )
        for tool in builtin_tools or []
    ]
    tag = _shapes.expanded(
        model,
        functions,
        builtins,
        tool_choice,
        _shapes.reasoning_mode(reasoning),
        any_order,
        exclude_special_tokens,
        max_whitespace_cnt,
        parallel_tool_calls,
        excluding_in_arguments=True,
    )
    return StructuralTag.model_validate(tag)


# From names to the functions that make tags.
_registry = {
    name: functools.partial(_of_shape, name) for name in _shapes.upstream_shapes()
}


def __getattr__(name):
    """``get_NAME_structural_tag`` is the function of the model ``NAME``."""
    model = name.removeprefix("get_").removesuffix("_structural_tag")
    if name == f"get_{model}_structural_tag" and model in _registry:
        return _registry[model]
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
    tools.

    Args:
        model: a registered name, or one of ``upstream_shapes()``.
        tools, tool_choice: as of ``normalize_tool_choice``.
        reasoning: ``"enabled"``, ``"disabled"`` or ``"auto"``, or a ``bool``:
            whether the response begins with reasoning.
        force_reasoning: ignored.
        any_order: whether members of arguments may be in any order.
        exclude_special_tokens: whether free text excludes the markers of the
            format.
        max_whitespace_cnt: the most characters of white space in a row in
            arguments; ``None`` for no limit.
        parallel_tool_calls: whether a response may have several calls.

    Raises:
        ValueError: an argument cannot be used.
    """
    function = _registry.get(model)
    if function is None:
        raise ValueError(
            f"Unknown format type: {model!r}; there are "
            + ", ".join(sorted(_registry))
        )
    functions, builtins, choice = normalize_tool_choice(tools, tool_choice)
    reasoning = _shapes.reasoning_mode(reasoning)
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
