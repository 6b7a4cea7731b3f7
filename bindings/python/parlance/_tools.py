"""What describes tools and schemas: JSON text, dicts, and Python's own objects.

Every function that takes ``tools`` takes what ``tools_text`` takes, and every one
that takes a schema what ``schema_of`` takes.
"""

from __future__ import annotations

from functools import lru_cache
from types import FunctionType, MethodType

from . import _parlance
from ._arguments import is_a, items, kind, plain, unicode
from ._errors import UsageError

MAX_TOOLS = 2**16


class ToolSet(_parlance.ToolSet):
    """Declared tools, read once.  May be passed wherever ``tools`` is expected.

    Immutable; may be shared between threads.

    Args:
        tools: the tools as chat templates take them: a list, its JSON text, or
            a ``ToolSet``.  A tool is a ``dict``; a class of pydantic, whose name
            is the tool's and whose schema that of the arguments; an object of
            pydantic that is such a dict; or a Python function, which is read by
            ``get_json_schema`` of ``transformers``.  At most 2**16 of them.

    Raises:
        Error: a tool cannot be used, or the text is no JSON.
        UsageError: a function is given, and ``transformers`` is not installed.
        TypeError: ``tools`` is no list, or one of them is none of these.
    """

    def __init__(self, tools):
        import json  # not with the package: that would slow its import

        text = tools_text(tools)
        super().__init__(text)
        for index, tool in enumerate(json.loads(text)):
            if not isinstance(tool, dict):
                raise TypeError(
                    f"tools[{index}] must be a dict, a function or a model of "
                    f"pydantic, not {kind(tool)}"
                )
        self._text = text


def schema_of(value):
    """The JSON Schema of a class or a ``TypeAdapter`` of pydantic, a ``dict``; any
    other value itself."""
    if _is_model(value):
        return value.model_json_schema()
    if hasattr(type(value), "validate_python") and hasattr(type(value), "json_schema"):
        return value.json_schema()
    return value


def _is_model(value):
    return is_a(value, type) and hasattr(value, "model_json_schema")


def _described(tool):
    """A tool as a dict, if a Python object stands for it."""
    if is_a(tool, dict):
        return tool
    if is_a(tool, FunctionType, MethodType):
        return _schema_of_function(tool)
    if _is_model(tool):
        schema = tool.model_json_schema()
        function = {"name": tool.__name__, "parameters": schema}
        if "description" in schema:
            function["description"] = schema.pop("description")
        return {"type": "function", "function": function}
    if hasattr(type(tool), "model_json_schema"):
        return tool.model_dump(exclude_none=True)
    return tool


def tools_text(tools, write=_parlance.tools_text):
    """The JSON text of tools.

    Args:
        tools: a ``ToolSet``, a list or JSON text: see ``ToolSet``.
        write: makes the text of a list of dicts.
    """
    if is_a(tools, ToolSet):
        text = getattr(tools, "_text", None)
        if text is None:  # its constructor did not run
            raise TypeError("tools is a ToolSet that has not been made")
        return text
    if is_a(tools, str):
        return unicode("tools", plain(tools), UsageError)
    if is_a(tools, bytes, dict):
        raise TypeError(
            "tools must be a list of tools (dicts, functions or models of pydantic) "
            f"or its JSON text, not {kind(tools)}"
        )
    return write([_described(one) for one in items("tools", tools, MAX_TOOLS)])


def tools_of(tools):
    """The ``ToolSet`` of an argument ``tools``; None for None."""
    if tools is None:
        return None
    if isinstance(tools, _parlance.ToolSet):
        return tools
    if type(tools) is list:
        return _parlance.cached(_tools_of_lists, tools, _tools_of_list)
    return _cached_tools(tools_text(tools))


def tools_of_request(tools):
    """The ``ToolSet`` of a list of tools that comes with a request.

    Every request has a list of its own, so the text alone is the key.
    """
    return _tools_of_list(tools) if tools else None


def _schema_of_function(function):
    try:
        from transformers.utils.chat_template_utils import get_json_schema
    except ImportError:
        raise UsageError(
            f"the tool {function.__name__!r} is a Python function, and reading "
            "those takes the package transformers, which is not installed; "
            "pass the tool's JSON schema as a dict instead"
        ) from None
    return get_json_schema(function)


@lru_cache(maxsize=128)
def _cached_tools(text):
    return _parlance.ToolSet(text)


_tools_of_lists = {}


def _tools_of_list(tools):
    return _cached_tools(tools_text(tools))
