"""Events in the shapes of chat APIs, while the response arrives."""

from typing import Any, Iterable, Literal, NamedTuple

from . import Format

__all__ = ["ChatChunk", "ChatStream"]

class ChatChunk(NamedTuple):
    body: dict[str, Any]
    bytes: tuple[int, int]
    tokens: tuple[int, int]

class ChatStream:
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
    ) -> None: ...
    def begin(self) -> list[ChatChunk]: ...
    def feed(self, events: Iterable[dict[str, Any]]) -> list[ChatChunk]: ...
    def end(
        self,
        reason: Literal["stop", "length", "content_filter"] = "stop",
        *,
        prompt_tokens: int = 0,
        completion_tokens: int | None = None,
    ) -> list[ChatChunk]: ...
    @property
    def response(self) -> dict[str, Any]: ...
    @property
    def tokens(self) -> dict[str, int]: ...
