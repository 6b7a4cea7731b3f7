"""Requests of OpenAI's two APIs and of Anthropic's Messages, read into one form.

``chat_completion``, ``response`` and ``message`` take the JSON of a request and
return a ``Request``.  What is malformed, and what this server does not do or does
not know, is a ``Refused`` with a JSON pointer into the request: a client that
asks for a constraint never gets a response without it.  Tools, ``tool_choice``
and schemas are not read here: ``parlance`` reads them, and names the place itself.
"""

import dataclasses
import json
import re


class Refused(Exception):
    """A request that gets an error instead of a response."""

    def __init__(self, message, pointer=None, *, code=None, status=400):
        super().__init__(message)
        self.pointer = pointer
        self.code = code
        self.status = status

    def body(self, api=None):
        if api == "messages":
            kind = _ANTHROPIC_KINDS.get(self.status, "invalid_request_error")
            error = {"type": kind, "message": str(self)[:2000]}
            return {"type": "error", "error": error | {"param": self.pointer}}
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {
            "error": {
                "message": str(self)[:2000],
                "type": kind,
                "param": self.pointer and self.pointer[:500],
                "code": self.code,
            }
        }


_ANTHROPIC_KINDS = {
    404: "not_found_error",
    413: "request_too_large",
    500: "api_error",
    503: "overloaded_error",
}


@dataclasses.dataclass
class Request:
    """A request of any of the APIs."""

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
    stop: list = dataclasses.field(default_factory=list)  # texts
    max_reasoning_tokens: int | None = None
    # Members that the Responses API repeats in each response.
    echo: dict = dataclasses.field(default_factory=dict)
    # Patterns of pointers of ``parlance``, and what they are in this API.
    pointers: dict = dataclasses.field(default_factory=dict)

    def pointer(self, path):
        """The pointer into the request for one into parlance's arguments."""
        for ours, theirs in self.pointers.items():
            found = re.match(ours + "(?=/|$)", path)
            if found:
                return found.expand(theirs) + path[found.end() :]
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


# Members that change nothing of what is written.
_WITHOUT_EFFECT = frozenset(
    "metadata prompt_cache_key prompt_cache_retention safety_identifier service_tier "
    "store user".split()
)
_COMMON = frozenset(
    "model parallel_tool_calls stream stream_options temperature tool_choice tools "
    "top_p".split()
)
# Members that this server does not implement, and the values that ask for nothing.
_UNUSED = {
    "background": (False,),
    "frequency_penalty": (0,),
    "functions": ([],),
    "include": ([], ["reasoning.encrypted_content"]),
    "logit_bias": ({},),
    "logprobs": (False,),
    "mcp_servers": ([],),
    "modalities": (["text"],),
    "n": (1,),
    "presence_penalty": (0,),
    "top_logprobs": (0,),
    "truncation": ("disabled",),
    "verbosity": ("medium",),
}


def _check_members(owner, known, pointer=""):
    """Refuses members that are not known: what they ask for would not be done."""
    for name, value in owner.items():
        if name in known or name in _WITHOUT_EFFECT or value is None:
            continue
        if value in _UNUSED.get(name, ()):
            continue
        raise Refused(
            f"This server does not implement {name!r}.",
            f"{pointer}/{name}"[:500],
            code="unsupported",
        )


_CHAT = _COMMON | frozenset(
    "max_completion_tokens max_tokens messages reasoning_effort response_format seed "
    "stop".split()
)


def chat_completion(body):
    """Reads a request to /v1/chat/completions."""
    _check_members(body, _CHAT)
    messages = _get(body, "messages", list)
    if not messages:
        raise Refused("There is no message.", "/messages", code="missing_key")
    options = _get(body, "stream_options", dict, {})
    _check_members(options, {"include_usage", "include_obfuscation"}, "/stream_options")
    limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    return Request(
        api="chat_completions",
        messages=[
            _chat_message(message, f"/messages/{i}")
            for i, message in enumerate(messages)
        ],
        response_format=_get(body, "response_format", dict, None),
        reasoning=_reasoning(body, "reasoning_effort", ""),
        max_tokens=_limit(body, limit),
        stop=_stops(body, "stop"),
        include_usage=_get(options, "include_usage", bool, False, "/stream_options"),
        **_common(body),
    )


_RESPONSE = _COMMON | frozenset(
    "input instructions max_output_tokens reasoning text".split()
)


def response(body):
    """Reads a request to /v1/responses."""
    _check_members(body, _RESPONSE)
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
    _check_members(text, {"format"}, "/text")
    reasoning = _get(body, "reasoning", dict, {})
    _check_members(reasoning, {"effort", "summary", "generate_summary"}, "/reasoning")
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
        max_tokens=_limit(body, "max_output_tokens"),
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


_MESSAGE = frozenset(
    "max_tokens messages model output_config stop_sequences stream system temperature "
    "thinking tool_choice tools top_p".split()
)
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def message(body):
    """Reads a request to /v1/messages."""
    _check_members(body, _MESSAGE)
    given = _get(body, "messages", list)
    if not given:
        raise Refused("There is no message.", "/messages", code="missing_key")
    messages = []
    if body.get("system") is not None:
        text = _text({"content": body["system"]}, "/system")
        messages.append({"role": "system", "content": text})
    for i, one in enumerate(given):
        _add_turn(messages, one, f"/messages/{i}")
    thinking = _get(body, "thinking", dict, {})
    _check_members(thinking, {"type", "budget_tokens", "display"}, "/thinking")
    mode = _get(thinking, "type", str, "disabled", "/thinking")
    if mode not in ("enabled", "adaptive", "disabled"):
        at = "/thinking/type"
        raise Refused(f"There is no thinking {mode!r}.", at, code="unknown_name")
    output = _get(body, "output_config", dict, {})
    _check_members(output, {"format", "effort"}, "/output_config")
    wanted = _get(output, "format", dict, None, "/output_config")
    choice = _get(body, "tool_choice", dict, {"type": "auto"})
    _get(body, "max_tokens", int)  # which must be there
    common = _common(body | {"tools": None, "tool_choice": None})
    return Request(
        **common
        | {
            "tools": [
                _function(tool, f"/tools/{i}")
                for i, tool in enumerate(_get(body, "tools", list, []))
            ]
            or None,
            "tool_choice": _choice_of(choice),
            "parallel_tool_calls": not choice.get("disable_parallel_tool_use"),
        },
        api="messages",
        messages=messages,
        response_format=wanted and {"type": wanted.get("type"), "json_schema": wanted},
        reasoning="off" if mode == "disabled" else "allowed",
        max_reasoning_tokens=_count(thinking, "budget_tokens"),
        max_tokens=_limit(body, "max_tokens"),
        stop=_stops(body, "stop_sequences"),
        include_usage=True,
        pointers={
            "/tools/([0-9]+)/function/parameters": r"/tools/\1/input_schema",
            "/tools/([0-9]+)/function": r"/tools/\1",
            "/response_format/json_schema": "/output_config/format",
            "/response_format": "/output_config/format",
            "/tool_choice/function": "/tool_choice",
        },
    )


def _choice_of(choice):
    kind = _get(choice, "type", str, pointer="/tool_choice")
    if kind == "tool":
        name = _get(choice, "name", str, pointer="/tool_choice")
        return {"type": "function", "function": {"name": name}}
    if kind not in _CHOICES:
        at = "/tool_choice/type"
        raise Refused(f"There is no tool choice {kind!r}.", at, code="unknown_name")
    return _CHOICES[kind]


def _function(tool, at):
    """The function of a tool of Messages."""
    kind = _get(_typed(tool, at, dict), "type", str, "custom", at)
    if kind != "custom":
        raise Refused(
            f"This server has no tool of type {kind!r}; only functions can be given.",
            at + "/type",
            code="unsupported",
        )
    names = {"name": "name", "description": "description", "strict": "strict"}
    names["input_schema"] = "parameters"
    function = {ours: tool[name] for name, ours in names.items() if name in tool}
    return {"type": "function", "function": function}


def _add_turn(messages, turn, at):
    """Appends a message of Messages to chat messages: results of tools are messages
    of their own."""
    role = _get(_typed(turn, at, dict), "role", str, pointer=at)
    if role not in ("user", "assistant"):
        raise Refused(f"There is no role {role!r}.", at + "/role", code="unknown_name")
    content = _get(turn, "content", (str, list), pointer=at)
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    out = {"role": role, "content": ""}
    for i, block in enumerate(content):
        here = f"{at}/content/{i}"
        kind = _get(_typed(block, here, dict), "type", str, pointer=here)
        if kind == "text":
            out["content"] += _get(block, "text", str, pointer=here)
        elif kind == "tool_result" and role == "user":
            text = _text(block, here)
            messages.append({"role": "tool", "content": text})
        elif kind == "tool_use" and role == "assistant":
            arguments = _get(block, "input", dict, {}, here)
            name = _get(block, "name", str, pointer=here)
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"id": block.get("id"), "type": "function", "function": function}
            out.setdefault("tool_calls", []).append(call)
        elif kind == "thinking" and role == "assistant":
            out["reasoning_content"] = _get(block, "thinking", str, pointer=here)
        elif kind != "redacted_thinking":
            raise Refused(
                f"The model does not read {kind!r} of a message with the role {role!r}.",
                here + "/type",
                code="unsupported",
            )
    if out["content"] or role == "assistant":
        messages.append(out)


def _common(body):
    """What the APIs call the same."""
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
_KINDS = {
    str: "a string",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "an integer",
}


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


def _limit(body, name):
    value = _count(body, name)
    if value == 0:
        raise Refused(f"{name!r} must be at least 1.", f"/{name}", code="out_of_range")
    return value


_MOST_STOPS = 64  # each is looked for in each step, in which the other rows wait


def _stops(body, name):
    """The texts before which a response ends."""
    stops = _get(body, name, (str, list), [])
    stops = [stops] if isinstance(stops, str) else stops
    if len(stops) > _MOST_STOPS:
        raise Refused(
            f"{name!r} must be at most {_MOST_STOPS} texts.", f"/{name}", code="too_large"
        )
    for text in stops:
        if not isinstance(text, str) or not text:
            at = f"/{name}"
            raise Refused(f"{name!r} must be texts.", at, code="wrong_type")
    return stops


def _reasoning(owner, name, pointer):
    return "off" if _get(owner, name, str, "", pointer) == "none" else "allowed"


def _no_constant(name):
    raise ValueError(f"{name} is not a JSON value")
