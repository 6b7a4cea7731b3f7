"""Tools and tool choices of chat completions as classes of pydantic, by
XGrammar's names."""

from __future__ import annotations

from typing import Any, Literal, Optional, Union

try:
    from pydantic import BaseModel
except ImportError as error:
    raise ImportError(
        "the classes of tools need pydantic 2: pip install pydantic"
    ) from error


class FunctionDefinition(BaseModel):
    """A function.  Without ``parameters``, or with ``strict=False``, its
    arguments may be any JSON."""

    name: str
    description: Optional[str] = None
    parameters: Optional[dict[str, Any]] = None
    strict: Optional[bool] = None


class FunctionToolParam(BaseModel):
    """A tool that is a function."""

    type: Literal["function"] = "function"
    function: FunctionDefinition


class BuiltinToolParam(BaseModel):
    """A tool that the server has.  Responses call it ``name``, or, without one,
    ``type``."""

    type: str
    name: Optional[str] = None
    parameters: Optional[dict[str, Any]] = None


ToolParam = Union[FunctionToolParam, BuiltinToolParam]
"""A tool."""


class NamedToolChoiceFunction(BaseModel):
    """A function, by its name."""

    name: str


class NamedToolChoiceParam(BaseModel):
    """The choice of one function."""

    type: Literal["function"] = "function"
    function: NamedToolChoiceFunction


class BuiltinToolChoiceParam(BaseModel):
    """The choice of one tool of the server, by its type."""

    type: str
    name: Optional[str] = None


class AllowedToolRef(BaseModel):
    """A function by its name, or a tool of the server by its type."""

    type: str
    function: Optional[NamedToolChoiceFunction] = None
    name: Optional[str] = None


class AllowedToolsParam(BaseModel):
    """The tools that may be called, and whether one must be."""

    mode: Literal["auto", "required"]
    tools: list[AllowedToolRef]


class AllowedToolChoiceParam(BaseModel):
    """The choice of some tools."""

    type: Literal["allowed_tools"] = "allowed_tools"
    allowed_tools: AllowedToolsParam


ToolChoiceOptionParam = Union[
    Literal["none", "auto", "required"],
    NamedToolChoiceParam,
    AllowedToolChoiceParam,
    BuiltinToolChoiceParam,
]
"""A tool choice."""
