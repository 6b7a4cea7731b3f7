"""Events in the shapes of chat APIs, while the response arrives.

    import parlance
    from parlance.chat import ChatStream

    parser = parlance.ResponseParser("qwen3", prefix=prompt, stream_calls=True)
    stream = ChatStream("qwen3", model="Qwen3-8B")
    for text in generated:
        for chunk in stream.feed(parser.feed(text)):
            send(chunk.body)
    message, events = parser.finalize()
    for chunk in stream.feed(events) + stream.end("stop", parser=parser):
        send(chunk.body)
    log(stream.response)

The chunks joined are the response, wherever the stream was cut.
"""

from __future__ import annotations

from typing import NamedTuple

from . import Format, _parlance
from ._arguments import Uncopied, choice, count, flag, text

__all__ = ["ChatChunk", "ChatStream"]

_APIS = ("chat_completions", "responses", "messages")
_ENDS = ("stop", "length", "content_filter")
_MAX_COUNT = 2**63 - 1


class ChatChunk(NamedTuple):
    """One object to send, and what of the response is in it."""

    body: dict
    bytes: tuple
    tokens: tuple


ChatChunk.body.__doc__ = (
    'The chunk of chat completions, or the event, whose name is ``"type"``.'
)
ChatChunk.bytes.__doc__ = (
    "The bytes of the response whose text is in the chunk: begin and end."
)
ChatChunk.tokens.__doc__ = (
    "The tokens likewise, with which log probabilities are aligned."
)


class ChatStream(Uncopied):
    """Converts the events of one response to the chunks of a chat API.

    Args:
        format: the format of the parser (a ``Format`` or its name); ``None``
            for the parser of a structural tag.
        api: ``"chat_completions"`` (OpenAI's ``chat.completion.chunk``),
            ``"responses"`` (OpenAI's Responses) or ``"messages"`` (Anthropic's
            Messages).
        id: the id of the response; ``""`` for a random one.
        model: the name of the model.
        created: the time, in seconds.
        choice: the index of the choice, for requests with several.
        reasoning_name: for chat completions, the member that has the reasoning.
        call_id_prefix: the id of call ``i`` is this prefix and ``i``; ``""``
            for random ids.
        model_call_ids: pass on the ids that the model wrote.
        extras: add what the APIs have no member for, if ``end`` is given the
            parser: ``"turn_ended"``, ``"attempted_calls"`` and
            ``"prefix_bytes"`` (as of ``ResponseParser``), of the choice of chat
            completions, else of the response or message, and of the last chunk
            that has one.

    Raises:
        UsageError: there is no such ``api``.
        TemplateError: there is no such format.
    """

    def __init__(
        self,
        format,
        *,
        api="chat_completions",
        id="",
        model="",
        created=0,
        choice=0,
        reasoning_name="reasoning_content",
        call_id_prefix="",
        model_call_ids=True,
        extras=False,
    ):
        if format is not None and not isinstance(format, Format):
            format = Format(format)
        self._stream = _parlance.ChatStream(
            format,
            _index("api", api, _APIS),
            text("id", id),
            text("model", model),
            count("created", created, _MAX_COUNT),
            count("choice", choice, _MAX_COUNT),
            text("reasoning_name", reasoning_name),
            text("call_id_prefix", call_id_prefix),
            flag("model_call_ids", model_call_ids),
            flag("extras", extras),
        )

    def begin(self):
        """Returns the chunks that come before all events.

        ``feed`` returns them otherwise.
        """
        return _chunks(self._stream.begin())

    def feed(self, events):
        """Returns the chunks that the events of a parser cause.

        Args:
            events: what ``feed``, ``finalize`` or ``initial_events`` of a
                parser returned.
        """
        return _chunks(self._stream.feed(list(events)))

    def end(
        self, reason="stop", *, prompt_tokens=0, completion_tokens=None, parser=None
    ):
        """Returns the chunks that come after all events.

        Args:
            reason: why the engine stopped: ``"stop"``, ``"length"`` or
                ``"content_filter"``.  A response that has a complete call and
                stopped ends with ``"tool_calls"``.
            prompt_tokens: the tokens of the prompt, for the usage.
            completion_tokens: the tokens of the response.  Default: all that
                were fed to ``parser``, or, without it, those up to the end of
                the last event; 0 if the parser reads text.
            parser: the ``ResponseParser`` or ``TagParser`` whose events were
                fed, after its ``finalize``.

        Raises:
            UsageError: there is no such ``reason``.
        """
        if completion_tokens is not None:
            completion_tokens = count(
                "completion_tokens", completion_tokens, _MAX_COUNT
            )
        return _chunks(
            self._stream.end(
                _index("reason", reason, _ENDS),
                count("prompt_tokens", prompt_tokens, _MAX_COUNT),
                completion_tokens,
                parser,
            )
        )

    @property
    def response(self):
        """The whole response, as for a request without streaming: a ``dict``.

        It has the complete calls only.  The stream may have sent the beginnings
        of others, whose arguments are never JSON.
        """
        return self._stream.response()

    @property
    def tokens(self):
        """How many tokens each kind of part has so far.

        A ``dict`` with ``"reasoning"``, ``"content"``, ``"tool_calls"`` and
        ``"markup"``, as ``ResponseParser.tokens``; all zero if the parser reads
        text.  Tokens that the parser holds are not in them yet.  After ``end``
        they add up to the completion tokens, unless the host gave fewer.
        """
        return self._stream.tokens()


def _chunks(list_):
    return [ChatChunk(*chunk) for chunk in list_]


def _index(name, value, known):
    return known.index(choice(name, value, known))
