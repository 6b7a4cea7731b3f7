"""Prompts in ChatML, with functions described as the family hermes has them.

A server with the model's own chat template would call ``apply_chat_template``
here.  Two rules hold for any template:

* Text of the client must not become markers: ``<|im_end|>`` in a message is
  ten letters or so, not the token.  So markers and text are encoded apart.
* What the template writes of the response itself, such as an opened
  ``<think>``, is the ``prefix`` of parser and structural tag.
"""

import json
from typing import NamedTuple

import parlance
from api import Refused

IM_START, IM_END = "<|im_start|>", "<|im_end|>"


class Prompt(NamedTuple):
    ids: list
    prefix: str  # where the response begins


class ChatMl:
    """Writes prompts.

    Args:
        format: how the model writes its responses.
        marker: a function from a marker's text to its id.
        encode: a function from text without markers to ids.
    """

    def __init__(self, format, marker, encode):
        self.format = format
        self.marker = marker
        self.encode = encode

    def __call__(self, request):
        """Returns the ``Prompt`` of a ``Request``."""
        system = _system_text(request)
        messages = request.messages
        if messages and messages[0]["role"] == "system":
            system = "\n\n".join(filter(None, (messages[0]["content"], system)))
            messages = messages[1:]
        ids = self._turn("system", system) if system else []
        for index, message in enumerate(messages):
            role, text = message["role"], message["content"]
            if role == "assistant":
                text = self._rendered(message, index)
            elif role == "tool":
                role, text = "user", f"<tool_response>\n{text}\n</tool_response>"
            ids += self._turn(role, text)
        prefix = f"{IM_START}assistant\n"
        ids += [self.marker(IM_START), *self.encode("assistant\n")]
        return Prompt(ids, prefix)

    def _turn(self, role, text):
        return [
            self.marker(IM_START),
            *self.encode(f"{role}\n{text}"),
            self.marker(IM_END),
            *self.encode("\n"),
        ]

    def _rendered(self, message, index):
        """An earlier response, as the model would have written it."""
        try:
            return self.format.render(message, prefix=f"{IM_START}assistant\n")
        except parlance.Error as error:
            raise Refused(
                f"The assistant's message {index} cannot be written: {error}",
                "/messages",
                code=error.code,
            ) from error


def _system_text(request):
    """What the request asks for beside the conversation, in words."""
    parts = []
    if request.tools and request.tool_choice != "none":
        parts.append(
            "You can call these functions:\n<tools>\n"
            + "\n".join(json.dumps(tool) for tool in request.tools)
            + "\n</tools>\nA call is written as\n<tool_call>\n"
            '{"name": <the function>, "arguments": <an object>}\n</tool_call>'
        )
    wanted = request.response_format or {}
    schema = wanted.get("json_schema", wanted)
    if isinstance(schema, dict) and "schema" in schema:
        parts.append("Answer with JSON of this schema: " + json.dumps(schema["schema"]))
    elif wanted.get("type") == "json_object":
        parts.append("Answer with a JSON object.")
    return "\n\n".join(parts)
