"""Events in the shapes of chat APIs, while the response arrives."""

from typing import Any, Iterable, Literal, NamedTuple

from . import Format, ResponseParser, TagParser

__all__ = ["ChatChunk", "ChatStream"]

class ChatChunk(NamedTuple):
    """One object to send, and what of the response is in it."""

    body: dict[str, Any]
    bytes: tuple[int, int]
    tokens: tuple[int, int]

class ChatStream:
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
        format: Format | str | dict[str, Any] | None,
        *,
        api: Literal["chat_completions", "responses", "messages"] = "chat_completions",
        id: str = "",
        model: str = "",
        created: int = 0,
        choice: int = 0,
        reasoning_name: str = "reasoning_content",
        call_id_prefix: str = "",
        model_call_ids: bool = True,
        extras: bool = False,
    ) -> None: ...
    def begin(self) -> list[ChatChunk]:
        """Returns the chunks that come before all events.

        ``feed`` returns them otherwise.
        """

    def feed(self, events: Iterable[dict[str, Any]]) -> list[ChatChunk]:
        """Returns the chunks that the events of a parser cause.

        Args:
            events: what ``feed``, ``finalize`` or ``initial_events`` of a
                parser returned.
        """

    def end(
        self,
        reason: Literal["stop", "length", "content_filter"] = "stop",
        *,
        prompt_tokens: int = 0,
        completion_tokens: int | None = None,
        parser: ResponseParser | TagParser | None = None,
    ) -> list[ChatChunk]:
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

    @property
    def response(self) -> dict[str, Any]:
        """The whole response, as for a request without streaming: a ``dict``.

        It has the complete calls only.  The stream may have sent the beginnings
        of others, whose arguments are never JSON.
        """

    @property
    def tokens(self) -> dict[str, int]:
        """How many tokens each kind of part has so far.

        A ``dict`` with ``"reasoning"``, ``"content"``, ``"tool_calls"`` and
        ``"markup"``, as ``ResponseParser.tokens``; all zero if the parser reads
        text.  Tokens that the parser holds are not in them yet.  After ``end``
        they add up to the completion tokens, unless the host gave fewer.
        """
