"""The tools of a request, and which of them may or must be called."""

from __future__ import annotations

from ..._arguments import kind, shown
from ..._errors import GrammarError


def select(tools, choice):
    """The tools that a choice leaves, and what becomes of the choice.

    Returns:
        ``(functions, builtins, choice)``: two lists of ``(name, schema)``, and
        ``"auto"``, ``"required"`` or ``"forced"``.  The schema ``True`` allows
        any JSON.  A forced choice leaves exactly one tool, a required one at
        least one.
    """
    if tools is None:
        tools = []
    if not isinstance(tools, list):
        raise _wrong_type("/tools", "tools must be a list", tools)
    loaded = [_load(tool, f"/tools/{i}") for i, tool in enumerate(tools)]
    functions = [tool for tool in loaded if tool.type == "function"]
    builtins = [tool for tool in loaded if tool.type != "function"]
    if choice is None:
        choice = "auto"
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        functions, builtins, choice = _allowed(functions, builtins, choice)
    elif isinstance(choice, dict):
        functions, builtins = _matches(
            functions, builtins, choice, "/tool_choice"
        )
        if len(functions) + len(builtins) != 1:
            raise GrammarError(
                f"tool_choice: selects {len(functions) + len(builtins)} tools; "
                "it must select exactly one",
                code="conflict",
                path="/tool_choice",
            )
        choice = "forced"
    elif choice == "none":
        functions, builtins, choice = [], [], "auto"
    elif choice not in ("auto", "required"):
        raise GrammarError(
            "tool_choice: must be 'auto', 'none', 'required' or a dict that "
            f"names a tool, not {shown(choice)}",
            code="unknown_name" if isinstance(choice, str) else "wrong_type",
            path="/tool_choice",
        )
    if choice == "required" and not functions and not builtins:
        raise GrammarError(
            "tool_choice: is 'required', but there is no tool",
            code="conflict",
            path="/tool_choice",
        )
    return [t.pair for t in functions], [t.pair for t in builtins], choice


class _Tool:
    def __init__(self, type, name, schema):
        self.type = type
        self.pair = name, schema


def _load(tool, path):
    if not isinstance(tool, dict):
        raise _wrong_type(path, "a tool must be a dict", tool)
    type = tool.get("type", "function")
    if not isinstance(type, str):
        raise _wrong_type(f"{path}/type", "'type' must be a str", type)
    if type != "function":
        name = tool.get("name")
        name = type if name is None else _name(name, f"{path}/name")
        return _Tool(type, name or type, _schema(tool, path))
    # The function, or the object of "function" without the one around it.
    if "function" in tool:
        path += "/function"
        tool = tool["function"]
        if not isinstance(tool, dict):
            raise _wrong_type(path, "'function' must be a dict", tool)
    if "name" not in tool:
        raise GrammarError(
            "tool: 'name' is missing", code="missing_key", path=path
        )
    name = _name(tool["name"], f"{path}/name")
    strict = tool.get("strict")
    if strict is not None and not isinstance(strict, bool):
        raise _wrong_type(f"{path}/strict", "'strict' must be a bool", strict)
    schema = _schema(tool, path)
    return _Tool("function", name, True if strict is False else schema)


def _name(name, path):
    if not isinstance(name, str):
        raise _wrong_type(path, "'name' must be a str", name)
    return name


def _schema(owner, path):
    schema = owner.get("parameters")
    if schema is None:
        return True
    if not isinstance(schema, dict):
        raise _wrong_type(
            f"{path}/parameters", "'parameters' must be a dict or None", schema
        )
    return schema


def _matches(functions, builtins, reference, path):
    """The tools that a reference selects: functions by name, builtin tools by
    type.  At least one."""
    if not isinstance(reference, dict):
        raise _wrong_type(path, "a tool must be a dict", reference)
    type = reference.get("type")
    if not isinstance(type, str):
        raise _wrong_type(f"{path}/type", "'type' must be a str", type)
    if type != "function":
        found = [tool for tool in builtins if tool.type == type]
        if not found:
            raise _unknown(f"{path}/type", f"builtin tool of type {shown(type)}")
        return [], found
    if "function" in reference:
        reference, path = reference["function"], f"{path}/function"
    name = reference.get("name") if isinstance(reference, dict) else None
    if not isinstance(name, str):
        raise _wrong_type(f"{path}/name", "'name' must be a str", name)
    found = [tool for tool in functions if tool.pair[0] == name]
    if not found:
        raise _unknown(f"{path}/name", f"function called {shown(name)}")
    return found, []


def _allowed(functions, builtins, choice):
    """Each tool that a reference selects, once, in the order of the tools."""
    path = "/tool_choice/allowed_tools"
    allowed = choice.get("allowed_tools")
    if not isinstance(allowed, dict):
        raise _wrong_type(path, "'allowed_tools' must be a dict", allowed)
    mode, references = allowed.get("mode"), allowed.get("tools")
    if mode not in ("auto", "required"):
        raise GrammarError(
            f"tool_choice: 'mode' must be 'auto' or 'required', not {shown(mode)}",
            code="unknown_name",
            path=f"{path}/mode",
        )
    if not isinstance(references, list):
        raise _wrong_type(f"{path}/tools", "'tools' must be a list", references)
    chosen = set()
    for i, reference in enumerate(references):
        for tools in _matches(
            functions, builtins, reference, f"{path}/tools/{i}"
        ):
            chosen.update(map(id, tools))
    return (
        [tool for tool in functions if id(tool) in chosen],
        [tool for tool in builtins if id(tool) in chosen],
        mode,
    )


def _wrong_type(path, needed, got):
    return GrammarError(
        f"{path[1:].split('/')[0]}: {needed}, not {kind(got)}",
        code="wrong_type",
        path=path,
    )


def _unknown(path, what):
    return GrammarError(
        f"tool_choice: there is no {what} among the tools",
        code="unknown_name",
        path=path,
    )
