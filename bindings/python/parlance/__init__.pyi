from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from re import error
from typing import Any, TypeAlias, overload

__version__: str
__all__: list[str]

_Ids: TypeAlias = Sequence[int] | Any  # a list, a tuple, a 1-D array of integers
_Text: TypeAlias = str | bytes | bytearray
_Bytes: TypeAlias = bytes  # where a method has the name
_Spec: TypeAlias = dict[str, Any] | str | PathLike[str] | Format | ResponseSchema
_Tools: TypeAlias = Sequence[dict[str, Any] | Callable[..., Any]] | ToolSet

class Error(ValueError):
    code: str
    message: str
    path: str
    span: tuple[int, int] | None
    source: str | None
    events: list[dict[str, Any]]
    item: int | None
    def __init__(
        self,
        message: str = "",
        *,
        code: str = "usage",
        path: str = "",
        span: tuple[int, int] | None = None,
        source: str | None = None,
        events: list[dict[str, Any]] | None = None,
        item: int | None = None,
    ) -> None: ...

class UsageError(Error): ...
class StateError(Error, RuntimeError): ...
class TemplateError(Error): ...
class SchemaError(Error): ...
class GrammarError(Error): ...
class ResponseError(Error): ...
class MissingPlaceholderError(ResponseError, KeyError): ...
class ContentTypeError(ResponseError, TypeError): ...
class ContentAttributeError(ResponseError, AttributeError): ...
class TooDeepError(ResponseError, RecursionError): ...

class PatternError(ResponseError, error):
    @property
    def msg(self) -> str: ...

class Format:
    def __init__(self, spec: _Spec) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def models(self) -> list[str]: ...
    @property
    def recovers(self) -> bool: ...
    @property
    def fields(self) -> list[str]: ...
    @property
    def source(self) -> str: ...
    @property
    def template(self) -> dict[str, Any]: ...
    def lint(self) -> list[dict[str, str]]: ...
    def parser(
        self,
        prefix: _Text | _Ids = "",
        *,
        tools: _Tools | None = None,
        vocabulary: Vocabulary | None = None,
        recover: bool | None = None,
    ) -> ResponseParser: ...

class ResponseTemplate(Format):
    def __init__(self, spec: _Spec) -> None: ...

class ResponseSchema:
    def __init__(self, spec: dict[str, Any] | str | PathLike[str] | ResponseSchema) -> None: ...
    @property
    def source(self) -> str: ...
    def lint(self) -> list[dict[str, str]]: ...

class ToolSet:
    def __init__(
        self, tools: Sequence[dict[str, Any] | Callable[..., Any]]
    ) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, tool: str) -> bool: ...

class Vocabulary:
    def __init__(
        self,
        tokens: Sequence[_Bytes | None],
        *,
        special_ids: _Ids = (),
        stop_ids: _Ids = (),
    ) -> None: ...
    @staticmethod
    def from_file(path: str | PathLike[str]) -> Vocabulary: ...
    @staticmethod
    def from_text(text: str | _Bytes) -> Vocabulary: ...
    @staticmethod
    def from_tokenizer_json(text: str | _Bytes) -> Vocabulary: ...
    @staticmethod
    def from_tiktoken(
        ranks: str | _Bytes, special: Mapping[str, int] = {}
    ) -> Vocabulary: ...
    def __len__(self) -> int: ...
    def bytes(self, id: int) -> _Bytes: ...
    def special(self, text: str) -> int | None: ...
    def decode(self, ids: _Ids) -> str: ...
    @property
    def special_ids(self) -> list[int]: ...
    @property
    def stop_ids(self) -> list[int]: ...

class ResponseParser:
    def __init__(
        self,
        spec: _Spec = ...,
        prefix: _Text | _Ids | None = None,
        *,
        tools: _Tools | None = None,
        vocabulary: Vocabulary | None = None,
        recover: bool | None = None,
        response_template: _Spec = ...,
    ) -> None: ...
    def feed(self, text: _Text | _Ids) -> list[dict[str, Any]]: ...
    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]: ...
    @property
    def initial_events(self) -> list[dict[str, Any]]: ...
    @property
    def message(self) -> dict[str, Any]: ...
    @property
    def parts(self) -> list[dict[str, Any]]: ...
    @property
    def diagnostics(self) -> list[dict[str, Any]]: ...
    @property
    def complete(self) -> bool: ...
    @property
    def held(self) -> bytes: ...
    @property
    def prefix_bytes(self) -> int: ...

@overload
def parse_response(
    response: str | bytes | bytearray = ...,
    spec: _Spec = ...,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    recover: bool | None = None,
    text: _Text = ...,
    response_template: _Spec = ...,
) -> dict[str, Any]: ...
@overload
def parse_response(
    response: list[str] | list[bytes] | tuple[str, ...] | tuple[bytes, ...] = ...,
    spec: _Spec = ...,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    recover: bool | None = None,
    text: Any = ...,
    response_template: _Spec = ...,
) -> list[dict[str, Any]]: ...
@overload
def parse_response(
    response: Any = ...,
    spec: _Spec = ...,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    recover: bool | None = None,
    text: Any = ...,
    response_template: _Spec = ...,
) -> Any: ...
def formats() -> list[str]: ...
def detect_format(tokenizer_config: dict[str, Any]) -> tuple[str, str]: ...
