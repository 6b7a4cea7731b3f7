"""Requests of OpenAI's two APIs, read into one form.

``chat_completion`` and ``response`` take the JSON of a request and return a
``Request``.  What is malformed, and what this server does not do, is a
``Refused`` with a JSON pointer into the request.  Tools, ``tool_choice`` and
schemas are not read here: ``parlance`` reads them, and names the place itself.
"""

import dataclasses
import json


class Refused(Exception):
    """A request that gets an error instead of a response."""

    def __init__(self, message, pointer=None, *, code=None, status=400):
        super().__init__(message)
        self.pointer = pointer
        self.code = code
        self.status = status

    def body(self):
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {
            "error": {
                "message": str(self)[:2000],
                "type": kind,
                "param": self.pointer and self.pointer[:500],
                "code": self.code,
            }
        }


@dataclasses.dataclass
class Request:
    """A request of either API."""

    api: str  # of ChatStream
    model: str
    messages: list  # in the shape of chat completions, contents being text
    tools: list | None
    tool_choice: object
    parallel_tool_calls: bool
    response_format: dict | None
    reasoning: str  # of Format.structural_tag
    max_tokens: int | None
    temperature: float
    top_p: float
    seed: int | None
    stream: bool
    include_usage: bool
    # Members that the Responses API repeats in each response.
    echo: dict = dataclasses.field(default_factory=dict)
    # Where the pointers of ``parlance`` point to in this API.
    pointers: dict = dataclasses.field(default_factory=dict)

    def pointer(self, path):
        """The pointer into the request for one into parlance's arguments."""
        for ours, theirs in self.pointers.items():
            if path == ours or path.startswith(ours + "/"):
                return theirs + path[len(ours) :]
        return path


def parse_json(body):
    """The object that a body contains."""
    try:
        value = json.loads(body, parse_constant=_no_constant)
        # Neither lone surrogates nor numbers beyond a double: a response may have
        # to repeat them.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refused(f"The body is not JSON: {error}", "", code="bad_json") from error
    return _typed(value, "", dict)


def chat_completion(body):
    """Reads a request to /v1/chat/completions."""
    _refuse(body, ("n", 1), ("logprobs", False), ("stop", []), ("functions", []))
    _refuse(body, ("function_call", None), ("audio", None), ("modalities", ["text"]))
    messages = _get(body, "messages", list)
    if not messages:
        raise Refused("There is no message.", "/messages", code="missing_key")
    options = _get(body, "stream_options", dict, {})
    limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    return Request(
        api="chat_completions",
        messages=[
            _chat_message(message, f"/messages/{i}")
            for i, message in enumerate(messages)
        ],
        response_format=_get(body, "response_format", dict, None),
        reasoning=_reasoning(body, "reasoning_effort", ""),
        max_tokens=_count(body, limit),
        include_usage=_get(options, "include_usage", bool, False, "/stream_options"),
        **_common(body),
    )


def response(body):
    """Reads a request to /v1/responses."""
    _refuse(body, ("previous_response_id", None), ("background", False))
    _refuse(body, ("conversation", None), ("prompt", None))
    messages = []
    instructions = _get(body, "instructions", str, None)
    if instructions:
        messages.append({"role": "system", "content": instructions})
    given = _get(body, "input", (str, list))
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    for i, item in enumerate(given):
        _add_item(messages, item, f"/input/{i}")
    text = _get(body, "text", dict, {})
    reasoning = _get(body, "reasoning", dict, {})
    common = _common(body)
    pointers = {"/response_format": "/text/format"}
    choice = common["tool_choice"]
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        # Chat completions have the same object one level deeper.
        common["tool_choice"] = {"type": "allowed_tools", "allowed_tools": choice}
        pointers["/tool_choice/allowed_tools"] = "/tool_choice"
    return Request(
        api="responses",
        messages=messages,
        response_format=_get(text, "format", dict, None, "/text"),
        reasoning=_reasoning(reasoning, "effort", "/reasoning"),
        max_tokens=_count(body, "max_output_tokens"),
        include_usage=True,
        echo={
            "instructions": instructions,
            "tools": body.get("tools") or [],
            "tool_choice": choice,
            "parallel_tool_calls": common["parallel_tool_calls"],
            "text": text or {"format": {"type": "text"}},
            "temperature": common["temperature"],
            "top_p": common["top_p"],
            "max_output_tokens": body.get("max_output_tokens"),
            "metadata": body.get("metadata") or {},
        },
        pointers=pointers,
        **common,
    )


def _common(body):
    """What both APIs call the same."""
    choice = body.get("tool_choice")
    tools = _get(body, "tools", list, None)
    for i, tool in enumerate(tools or ()):
        # The model could call a tool of another type, but nobody runs it.
        kind = tool.get("type", "function") if isinstance(tool, dict) else "function"
        if kind != "function":
            raise Refused(
                f"This server has no tool of type {kind!r}; only functions can be "
                "given.",
                f"/tools/{i}/type",
                code="unsupported",
            )
    return {
        "model": _get(body, "model", str),
        "tools": tools,
        "tool_choice": "auto" if choice is None else choice,
        "parallel_tool_calls": _get(body, "parallel_tool_calls", bool, True),
        "temperature": _number(body, "temperature", 1.0, 2.0),
        "top_p": _number(body, "top_p", 1.0, 1.0),
        "seed": _count(body, "seed"),
        "stream": _get(body, "stream", bool, False),
    }


# ---- Messages


def _chat_message(message, at):
    role = _get(_typed(message, at, dict), "role", str, pointer=at)
    if role == "developer":
        role = "system"
    if role not in ("system", "user", "assistant", "tool"):
        raise Refused(f"There is no role {role!r}.", at + "/role", code="unknown_name")
    out = {"role": role, "content": _text(message, at)}
    if role == "assistant":
        calls = _get(message, "tool_calls", list, None, at)
        if calls:
            out["tool_calls"] = calls
        for name in ("reasoning_content", "reasoning"):
            if isinstance(message.get(name), str):
                out["reasoning_content"] = message[name]
    return out


def _text(message, at):
    """The content of a message: text, or a list of parts of text."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for i, part in enumerate(_typed(content, at + "/content", list)):
        here = f"{at}/content/{i}"
        kind = _get(_typed(part, here, dict), "type", str, pointer=here)
        if kind not in ("text", "input_text", "output_text"):
            raise Refused(
                f"The model reads text, and not {kind!r}.",
                here + "/type",
                code="unsupported",
            )
        texts.append(_get(part, "text", str, pointer=here))
    return "".join(texts)


def _add_item(messages, item, at):
    """Appends an input item of the Responses API to chat messages."""
    kind = _get(_typed(item, at, dict), "type", str, "message", at)
    if kind == "message":
        messages.append(_chat_message(item, at))
    elif kind == "function_call":
        call = {
            "id": item.get("call_id"),
            "type": "function",
            "function": {
                "name": _get(item, "name", str, pointer=at),
                "arguments": _get(item, "arguments", str, pointer=at),
            },
        }
        # Calls follow the text of the same turn.
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": ""})
        messages[-1].setdefault("tool_calls", []).append(call)
    elif kind == "function_call_output":
        output = _text({"content": item.get("output")}, at)
        messages.append({"role": "tool", "content": output})
    elif kind != "reasoning":
        raise Refused(
            f"This server does not read items of type {kind!r}.",
            at + "/type",
            code="unsupported",
        )


# ---- Members


_MISSING = object()
_KINDS = {str: "a string", list: "a list", dict: "an object", bool: "true or false"}


def _typed(value, at, types):
    if isinstance(value, types):
        return value
    types = types if isinstance(types, tuple) else (types,)
    wanted = " or ".join(_KINDS[one] for one in types)
    raise Refused(f"{at or 'The body'} must be {wanted}.", at, code="wrong_type")


def _get(owner, name, types, default=_MISSING, pointer=""):
    value = owner.get(name)
    if value is not None:
        return _typed(value, f"{pointer}/{name}", types)
    if default is _MISSING:
        raise Refused(f"{name!r} is missing.", pointer, code="missing_key")
    return default


def _number(body, name, default, most):
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refused(f"{name!r} must be a number.", f"/{name}", code="wrong_type")
    if not 0 <= value <= most:
        raise Refused(
            f"{name!r} must be from 0 to {most:g}.", f"/{name}", code="out_of_range"
        )
    return value


def _count(body, name):
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Refused(
            f"{name!r} must be an integer from 0 on.", f"/{name}", code="wrong_type"
        )
    return value


def _reasoning(owner, name, pointer):
    return "off" if _get(owner, name, str, "", pointer) == "none" else "allowed"


def _refuse(body, *defaults):
    """Members that would change the response and are not implemented."""
    for name, default in defaults:
        if body.get(name) not in (None, default):
            raise Refused(
                f"This server does not implement {name!r}.",
                f"/{name}",
                code="unsupported",
            )


def _no_constant(name):
    raise ValueError(f"{name} is not a JSON value")
