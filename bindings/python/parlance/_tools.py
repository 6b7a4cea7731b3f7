"""The argument ``tools``: dicts, Python functions, or a ``ToolSet``."""

from __future__ import annotations

from functools import lru_cache
from types import FunctionType, MethodType

from . import _parlance
from ._arguments import is_a, items, kind
from ._errors import UsageError

MAX_TOOLS = 2**16


class ToolSet(_parlance.ToolSet):
    """Declared tools, read once.  May be passed wherever ``tools`` is expected.

    Immutable; may be shared between threads.

    Args:
        tools: the tools as chat templates take them: a list of ``dict`` or of
            Python functions, which are read by ``get_json_schema`` of
            ``transformers``.  At most 2**16 of them.

    Raises:
        Error: a tool cannot be used.
        UsageError: a function is given, and ``transformers`` is not installed.
        TypeError: ``tools`` is no list, or one of them is no dict.
    """

    def __init__(self, tools):
        import json  # not with the package: that would slow its import

        tools = items("tools", tools, MAX_TOOLS) if _is_list(tools) else tools
        text = _tools_text(tools)
        for index, tool in enumerate(json.loads(text)):
            if not isinstance(tool, dict):
                raise TypeError(
                    f"tools[{index}] must be a dict or a function, not "
                    f"{kind(tools[index])}"
                )
        super().__init__(text)
        self._text = text


def described(tools):
    """A list of tools in which a dict replaces each Python function."""
    return [
        _schema_of(tool) if is_a(tool, FunctionType, MethodType) else tool
        for tool in tools
    ]


def tools_of(tools):
    """The ``ToolSet`` of an argument ``tools``; None for None."""
    if tools is None:
        return None
    if isinstance(tools, _parlance.ToolSet):
        return tools
    if type(tools) is list:
        return _parlance.cached(_tools_of_lists, tools, _tools_of_list)
    return _cached_tools(_tools_text(tools))


def tools_of_request(tools):
    """The ``ToolSet`` of a list of tools that comes with a request.

    Every request has a list of its own, so the text alone is the key.
    """
    return _tools_of_list(tools) if tools else None


def _schema_of(function):
    try:
        from transformers.utils.chat_template_utils import get_json_schema
    except ImportError:
        raise UsageError(
            f"the tool {function.__name__!r} is a Python function, and reading "
            "those takes the package transformers, which is not installed; "
            "pass the tool's JSON schema as a dict instead"
        ) from None
    return get_json_schema(function)


def _is_list(tools):
    return not is_a(tools, str, bytes, dict)


def _tools_text(tools):
    if not _is_list(tools):
        raise TypeError(
            f"tools must be a list of tools (dicts or functions), not {kind(tools)}"
        )
    return _parlance.tools_text(described(items("tools", tools, MAX_TOOLS)))


@lru_cache(maxsize=128)
def _cached_tools(text):
    return _parlance.ToolSet(text)


_tools_of_lists = {}


def _tools_of_list(tools):
    return _cached_tools(_tools_text(tools))
