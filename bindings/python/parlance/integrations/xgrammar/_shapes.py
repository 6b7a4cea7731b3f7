"""Expands ``shapes.json`` with the tools of a request.

A shape is one object of that file.  Its ``"layout"`` says how the parts of a
response follow each other:

    "text"      (the default) reasoning, then free text with calls in it.  With
                a ``"section"``, the calls are in one section of the text.
    "blocks"    reasoning, response, section of calls and end, in this order
    "messages"  any number of messages with separators between them; reasoning,
                each call and the answer are messages

``"%N"`` in a text stands for the name of the tool.  A call is ``"begin"``, the
arguments in ``"style"``, whose strings contain none of ``"excludes"``, and
``"end"``; with ``"after_number"``, a number and
that text precede the arguments.  A section with ``"required"`` is written as
constants where a call is required, beginning with this text.  A section with
``"triggered"`` is a tag, before which text may stand unless a call is forced.
A section without both is a tag where a call is required, and for a forced call
a tag that joins both markers.

Reasoning that the prompt has opened begins with ``"begin"``; where the model
decides whether it reasons, it writes ``"open"``, or ``"skipped"`` in place of
all reasoning.  XGrammar's function of the shape alone, ``get_NAME_structural_tag``,
has the default ``"default"`` for ``reasoning``, which is else ``"enabled"``.

``"same_as"`` names the shape that a name shares.
"""

from __future__ import annotations

import functools
import json
import pathlib

from ..._arguments import flag, kind, shown
from ..._errors import GrammarError
from ..._structural_tags import StructuralTag
from ._tools import select

# The largest value of "max_whitespace_cnt".
_MOST_WHITE_SPACE = 2**31 - 1


@functools.cache
def _shapes():
    path = pathlib.Path(__file__).with_name("shapes.json")
    shapes = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: shapes[shape.get("same_as", name)]
        for name, shape in sorted(shapes.items())
    }


def upstream_shapes():
    """Returns the names that ``upstream_structural_tag`` accepts, a sorted
    list of ``str``."""
    return list(_shapes())


def upstream_structural_tag(
    model,
    tools=None,
    tool_choice="auto",
    reasoning=True,
    force_reasoning=False,
    any_order=False,
    exclude_special_tokens=True,
    max_whitespace_cnt=None,
    parallel_tool_calls=True,
):
    """Returns the ``StructuralTag`` that XGrammar makes for the same arguments.

    Args:
        model: one of ``upstream_shapes()``, as it is written there.
        tools: a list of ``{"type": "function", "function": {"name",
            "parameters", "strict"}}`` and of builtin tools ``{"type", "name",
            "parameters"}``, or ``None`` for no tools.  The arguments of a tool
            without ``"parameters"``, or with ``"strict": False``, may be any
            JSON.  ``harmony`` writes builtin tools; ``mimo`` and
            ``minimax_m3`` refuse them, and the others ignore them.
        tool_choice: ``"auto"``, ``"none"``, ``"required"``, or, as a dict, the
            one tool that must be called or the tools that are allowed.
            ``None`` is ``"auto"``.
        reasoning: whether the response begins with reasoning: a ``bool``,
            ``"enabled"`` or ``"disabled"``; ``"auto"`` leaves it to the model,
            which writes the marker that opens it.
        force_reasoning: ignored, as by XGrammar.
        any_order: whether members of arguments may be in any order.
        exclude_special_tokens: whether free text excludes the markers of the
            shape.
        max_whitespace_cnt: the largest number of characters of white space
            between two parts of JSON, from 1 on; ``None`` for no limit.
        parallel_tool_calls: whether a response may have several calls.

    Raises:
        GrammarError: the model is unknown, an argument has another type, a tool
            or choice is malformed, the choice names a tool that is not in the
            list, or it leaves no tool to call.  ``path`` begins with the
            argument's name.
    """
    _shape(model)
    functions, builtins, choice = select(tools, tool_choice)
    del force_reasoning
    return StructuralTag(
        expanded(
            model,
            functions,
            builtins,
            choice,
            reasoning_mode(reasoning),
            any_order,
            exclude_special_tokens,
            max_whitespace_cnt,
            parallel_tool_calls,
        )
    )


def expanded(
    model,
    functions,
    builtins,
    choice,
    reasoning,
    any_order,
    exclude_special_tokens,
    max_whitespace_cnt,
    parallel_tool_calls,
    excluding_in_arguments=False,
):
    """The tag of a shape as a ``dict``.

    Args:
        functions, builtins, choice: what ``select`` returns.
        reasoning: ``"enabled"``, ``"disabled"`` or ``"auto"``.
        excluding_in_arguments: whether strings in arguments exclude the
            ``"excludes"`` of a call.

    The others, and what is raised, are as of ``upstream_structural_tag``.
    """
    shape = _shape(model)
    request = _Request(
        functions,
        builtins,
        choice,
        reasoning,
        flag("any_order", any_order),
        flag("exclude_special_tokens", exclude_special_tokens),
        _white_space(max_whitespace_cnt),
        flag("parallel_tool_calls", parallel_tool_calls),
        excluding_in_arguments,
    )
    expand = _LAYOUTS[shape.get("layout", "text")]
    if builtins and shape.get("refuses_builtins"):
        raise GrammarError(
            f"tools: the shape {model} has no builtin tools",
            code="unsupported",
            path="/tools",
        )
    if choice != "auto" and not functions and expand is not _messages:
        raise GrammarError(
            f"tool_choice: a builtin tool must be called, and the shape {model} "
            "has none; harmony has",
            code="conflict",
            path="/tool_choice",
        )
    return {"type": "structural_tag", "format": expand(shape, request)}


def default_reasoning(model):
    """What ``reasoning`` is for a shape if it is not given."""
    reasoning = _shape(model).get("reasoning")
    if not isinstance(reasoning, dict):
        return "enabled"
    return reasoning.get("default", "enabled")


def _shape(model):
    if not isinstance(model, str):
        raise GrammarError(
            f"model must be a str, not {kind(model)}",
            code="wrong_type",
            path="/model",
        )
    shape = _shapes().get(model)
    if shape is None:
        raise GrammarError(
            f"model: there is no shape called {shown(model)}; there are "
            + ", ".join(_shapes()),
            code="unknown_name",
            path="/model",
        )
    return shape


def reasoning_mode(mode):
    """``"enabled"``, ``"disabled"`` or ``"auto"``, also of a ``bool``."""
    if isinstance(mode, bool):
        return "enabled" if mode else "disabled"
    if mode not in ("enabled", "disabled", "auto"):
        raise GrammarError(
            "reasoning must be True, False, 'enabled', 'disabled' or 'auto', "
            "not " + shown(mode),
            code="unknown_name",
            path="/reasoning",
        )
    return mode


def _white_space(most):
    if most is None:
        return None
    if isinstance(most, bool) or not isinstance(most, int):
        code = "wrong_type"
    elif not 1 <= most <= _MOST_WHITE_SPACE:
        code = "invalid_value"
    else:
        return most
    raise GrammarError(
        "max_whitespace_cnt must be None or a number from 1 on, not "
        + shown(most),
        code=code,
        path="/max_whitespace_cnt",
    )


# ---- Nodes, in the canonical form of StructuralTag.to_dict().


def _text(excludes):
    return {
        "type": "any_text",
        "excludes": excludes,
        "max_tokens": None,
        "max_chars": None,
    }


def _constant(value):
    return {"type": "const_string", "value": value}


def _sequence(*elements):
    return {"type": "sequence", "elements": list(elements)}


def _optional(content):
    return {"type": "optional", "content": content}


def _or(*elements):
    return {"type": "or", "elements": list(elements)}


def _tag(begin, content, end):
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def _list(separator, tags, at_least_one, stop_after_first):
    return {
        "type": "tags_with_separator",
        "tags": tags,
        "separator": separator,
        "at_least_one": at_least_one,
        "stop_after_first": stop_after_first,
    }


# ---- Layouts.


class _Request:
    """The arguments of a request, and the nodes that depend on nothing else."""

    def __init__(
        self,
        functions,
        builtins,
        choice,
        reasoning,
        any_order,
        excluding,
        white_space,
        parallel,
        excluding_in_arguments,
    ):
        self.functions = functions  # list of (name, schema)
        self.builtins = builtins
        self.choice = choice  # "auto", "required" or "forced"
        self.reasoning = reasoning  # "enabled", "disabled" or "auto"
        self.parallel = parallel
        self._any_order = any_order
        self._excluding = excluding
        self._excluding_in_arguments = excluding and excluding_in_arguments
        self._white_space = white_space

    def excludes(self, texts):
        return list(texts) if self._excluding else []

    def arguments(self, schema, style="json", excludes=()):
        node = {
            "type": "json_schema",
            "json_schema": schema,
            "style": style,
            "any_order": self._any_order,
            "max_whitespace_cnt": self._white_space,
        }
        if excludes and self._excluding_in_arguments:
            node["excludes"] = list(excludes)
        return node


def _call(shape, request, tool, before="", after=""):
    """One call.  Its begin marker follows ``before``; ``after`` follows its end
    marker."""
    name, schema = tool
    call = shape["call"]
    content = request.arguments(
        schema, call.get("style", "json"), call.get("excludes", ())
    )
    if "after_number" in call:
        content = _sequence(
            {"type": "regex", "pattern": "\\d+"},
            _constant(call["after_number"].replace("%N", name)),
            content,
        )
    begin = before + call["begin"].replace("%N", name)
    return _tag(begin, content, call["end"] + after)


def _calls(shape, request):
    """All calls of a section, without the markers of the section."""
    tags = [_call(shape, request, tool) for tool in request.functions]
    separator = shape["section"].get("separator", "")
    return _list(separator, tags, True, not request.parallel)


def _section(shape, request):
    section = shape["section"]
    return _tag(section["begin"], _calls(shape, request), section["end"])


def _section_of_constants(shape, request):
    section = shape["section"]
    if request.choice == "forced":
        calls = _call(shape, request, request.functions[0])
    else:
        calls = _calls(shape, request)
    return _sequence(
        _constant(section["required"]), calls, _constant(section["end"])
    )


def _text_and_calls(shape, request):
    if "section" in shape:
        tags = [_section(shape, request)]
    else:
        tags = [_call(shape, request, tool) for tool in request.functions]
    return {
        "type": "triggered_tags",
        "triggers": [shape["trigger"]],
        "tags": tags,
        "at_least_one": request.choice == "required",
        "stop_after_first": not request.parallel,
        "excludes": request.excludes(shape["excludes"]),
    }


def _body(shape, request):
    """The response without its reasoning."""
    if not request.functions:
        texts = shape.get("excludes_without_tools", shape["excludes"])
        always = shape.get("always_excludes_without_tools", [])
        return _text(request.excludes(texts) + always)
    if request.choice == "auto":
        return _text_and_calls(shape, request)
    section = shape.get("section")
    triggered = section is None or section.get("triggered")
    if triggered and request.choice == "required":
        return _text_and_calls(shape, request)
    if section is None:
        return _call(shape, request, request.functions[0])
    if triggered:
        call = _call(shape, request, request.functions[0])
        return _tag(section["begin"], call, section["end"])
    if "required" in section:
        return _section_of_constants(shape, request)
    if request.choice == "required":
        return _section(shape, request)
    return _call(
        shape, request, request.functions[0], section["begin"], section["end"]
    )


def _thought(shape, request):
    """The reasoning without the text after it."""
    reasoning = shape["reasoning"]
    excludes = reasoning.get("excludes", ())
    begin = reasoning["begin"]
    if request.reasoning == "auto":
        excludes = reasoning.get("open_excludes", excludes)
        begin = reasoning["open"]
    return _tag(begin, _text(request.excludes(excludes)), reasoning["end"])


def _texts(shape, request):
    body = _body(shape, request)
    reasoning = shape.get("reasoning")
    if reasoning is None:
        return body
    if request.reasoning != "disabled":
        before = [_thought(shape, request)]
    elif "disabled" in reasoning:
        before = [_constant(reasoning["disabled"])]
    else:
        return body
    if "after" in reasoning:
        before.append(_constant(reasoning["after"]))
    if request.reasoning == "auto":
        block = before[0] if len(before) == 1 else _sequence(*before)
        if "skipped" in reasoning:
            block = _or(block, _constant(reasoning["skipped"]))
        return _sequence(_optional(block), body)
    # Reasoning and the text after it are one element, or two.
    if reasoning.get("grouped"):
        before = [_sequence(*before)]
    return _sequence(*before, body)


def _blocks(shape, request):
    blocks = []
    if request.reasoning == "auto":
        blocks.append(_optional(_thought(shape, request)))
    elif request.reasoning == "enabled":
        blocks.append(_thought(shape, request))
    response = shape["response"]
    blocks.append(
        _tag(
            "" if request.reasoning == "disabled" else response["begin"],
            _text(request.excludes(shape["excludes"])),
            response["end"],
        )
    )
    if request.functions and request.choice == "auto":
        blocks.append(_optional(_section(shape, request)))
    elif request.functions:
        blocks.append(_section_of_constants(shape, request))
    return _sequence(*blocks, _constant(shape["end"]))


def _messages(shape, request):
    groups = [
        (shape["function_calls"], request.functions),
        (shape["builtin_calls"], request.builtins),
    ]
    if request.choice == "required":
        groups.reverse()
    calls = [
        _tag(
            begin.replace("%N", name),
            request.arguments(schema),
            shape["call_end"],
        )
        for begins, tools in groups
        for name, schema in tools
        for begin in begins
    ]
    begins = [shape["final"]] if request.choice == "auto" else []
    if request.reasoning != "disabled":
        begins.append(shape["reasoning"])
    others = [_tag(begin, _text([]), shape["message_ends"]) for begin in begins]
    separator = shape["separator"]
    if request.parallel or not calls:
        return _list(separator, calls + others, False, False)
    # At most one call, after any number of other messages.
    one = _list(separator, calls, True, True)
    if not others:
        return _optional(one)
    return _or(
        _list(separator, others, False, False),
        one,
        _sequence(
            _list(separator, others, True, False), _constant(separator), one
        ),
    )


_LAYOUTS = {"text": _texts, "blocks": _blocks, "messages": _messages}
