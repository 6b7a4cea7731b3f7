"""The hooks of LiteLLM's proxy.  Imports LiteLLM."""

from __future__ import annotations

import logging

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import (
    ChatCompletionMessageToolCall,
    Delta,
    ModelResponse,
    ModelResponseStream,
)

from .. import ToolSet
from .._errors import Error
from ._stream import Model, Stream, joined

logger = logging.getLogger("parlance.litellm")


class Parser(CustomLogger):
    """Parses the text of chat completions; see ``litellm.response_parser``."""

    def __init__(self, formats, prefixes=None):
        super().__init__()
        self._models = None
        self._model = None  # of all names
        if hasattr(formats, "items") and "fields" not in formats:
            self._models = {
                name: Model(None, format, by_text=True)
                for name, format in formats.items()
            }
        else:
            self._model = Model(None, formats, by_text=True)
        self._prefixes = prefixes or {}

    async def async_post_call_success_hook(self, data, user_api_key_dict, response):
        request = self._request(data)
        if request is None or not isinstance(response, ModelResponse):
            return response
        for choice in response.choices:
            message = choice.message
            if not isinstance(message.content, str) or message.tool_calls:
                continue
            before = getattr(message, "reasoning_content", None)
            stream = request.stream(has_reasoning=bool(before))
            deltas = stream.feed(message.content, finished=True)
            reasoning, content, calls = joined(deltas)
            message.content = content
            if reasoning:
                message.reasoning_content = (before or "") + reasoning
            if calls:
                message.tool_calls = [
                    ChatCompletionMessageToolCall(
                        id=id,
                        type="function",
                        function={"name": name, "arguments": arguments},
                    )
                    for _, id, name, arguments in calls
                ]
                choice.finish_reason = _reason(choice.finish_reason, stream)
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict, response, request_data
    ):
        request = self._request(request_data)
        if request is None:
            async for chunk in response:
                yield chunk
            return
        choices = {}  # by index
        last = None
        async for chunk in response:
            if not isinstance(chunk, ModelResponseStream):
                yield chunk
                continue
            if _parse(chunk, choices, request):
                yield chunk
            if chunk.choices:
                last = chunk
        # A stream that ends without a finish reason.
        for choice in choices.values():
            rest = choice.finish()
            if rest is not None:
                chunk = last.model_copy(deep=True)
                chunk.choices = chunk.choices[:1]
                chunk.choices[0].index = choice.index
                chunk.choices[0].delta = rest
                chunk.choices[0].finish_reason = None
                yield chunk

    def _request(self, data):
        """What is known of a request, or ``None`` for a model that is not ours."""
        name = data.get("model")
        model = self._model if self._models is None else self._models.get(name)
        if model is None:
            return None
        prefix = self._prefixes
        if not isinstance(prefix, str):
            prefix = prefix.get(name) or ""
        return _Request(model, prefix, data)


class _Request:
    def __init__(self, model, prefix, data):
        self._model = model
        self._prefix = prefix
        self._tools = data.get("tools") or None
        self._calls = (
            model.has_calls
            and self._tools is not None
            and data.get("tool_choice") != "none"
        )
        if self._tools is not None:
            try:
                ToolSet(self._tools)
            except (Error, TypeError) as error:
                logger.warning("the tools of a request cannot be read: %s", error)
                self._tools = None

    def stream(self, *, has_reasoning=False):
        """Reads one choice.  Its reasoning may have been taken out before."""
        prefix = "" if has_reasoning else self._prefix
        return Stream(self._model, prefix, self._tools, calls=self._calls)


class _Choice:
    """Reads one choice of a stream."""

    def __init__(self, index, request):
        self.index = index
        self.stream = None  # until there is text to read
        self._request = request
        self._has_reasoning = False  # of the server's own
        self.has_calls = False
        self.is_done = False

    def read(self, delta, finished):
        """Puts what a delta's text says into the delta."""
        if self.stream is None:
            if getattr(delta, "reasoning_content", None):
                self._has_reasoning = True
            if not delta.content:
                self.is_done = finished
                return
            self.stream = self._request.stream(has_reasoning=self._has_reasoning)
        deltas = self.stream.feed(delta.content or "", finished=finished)
        reasoning, content, calls = joined(deltas)
        delta.content = content
        if reasoning:
            before = getattr(delta, "reasoning_content", None)
            delta.reasoning_content = (before or "") + reasoning
        if calls:
            self.has_calls = True
            delta.tool_calls = _calls(calls)
        self.is_done = finished

    def finish(self):
        """What is left at the end, or ``None``."""
        if self.is_done or self.stream is None:
            return None
        delta = Delta()
        self.read(delta, True)
        return delta if _says_something(delta) else None


def _calls(calls):
    out = []
    for index, id, name, arguments in calls:
        function = {"arguments": arguments, "name": name}
        call = {"index": index, "function": function, "type": "function"}
        if name is not None:
            call["id"] = id
        out.append(call)
    return Delta(tool_calls=out).tool_calls


def _parse(chunk, choices, request):
    """Changes a chunk; whether it is to be sent."""
    sent = not chunk.choices or getattr(chunk, "usage", None) is not None
    for one in chunk.choices:
        if one.delta.tool_calls:  # the server's own
            sent = True
            continue
        choice = choices.get(one.index)
        if choice is None:
            choice = choices[one.index] = _Choice(one.index, request)
        had_text = bool(one.delta.content)
        choice.read(one.delta, bool(one.finish_reason))
        if one.finish_reason and choice.has_calls:
            one.finish_reason = _reason(one.finish_reason, choice.stream)
        sent = (
            sent
            or not had_text
            or bool(one.finish_reason)
            or bool(one.delta.role)
            or _says_something(one.delta)
        )
    return sent


def _says_something(delta):
    return bool(
        delta.content or delta.tool_calls or getattr(delta, "reasoning_content", None)
    )


def _reason(reason, stream):
    """The finish reason of a response with calls."""
    return "tool_calls" if reason == "stop" and not stream.open_calls else reason
