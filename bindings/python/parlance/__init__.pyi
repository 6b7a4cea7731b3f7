from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from re import error
from typing import Any, Literal, NamedTuple, TypeAlias, overload

__version__: str
__all__: list[str]

_Ids: TypeAlias = Sequence[int] | Any  # a list, a tuple, a 1-D array of integers
_Text: TypeAlias = str | bytes | bytearray
_Bytes: TypeAlias = bytes  # where a method has the name
_Spec: TypeAlias = dict[str, Any] | str | PathLike[str] | Format | ResponseSchema
_Schema: TypeAlias = dict[str, Any] | bool | str  # JSON text
_Tools: TypeAlias = Sequence[dict[str, Any] | Callable[..., Any]] | ToolSet
_Tag: TypeAlias = StructuralTag | dict[str, Any] | str | PathLike[str]
_Limits: TypeAlias = Mapping[str, int] | None
_Cancelled: TypeAlias = Callable[[], bool] | None

class Error(ValueError):
    code: str
    message: str
    path: str
    span: tuple[int, int] | None
    source: str | None
    events: list[dict[str, Any]]
    item: int | None
    @property
    def line(self) -> int | None: ...
    @property
    def column(self) -> int | None: ...
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
class UnknownNameError(ResponseError, KeyError): ...
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
        markers: Literal["token", "either", "text"] = "token",
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
        added_ids: _Ids = (),
        control_ids: _Ids = (),
        stop_ids: _Ids | None = None,
        special_ids: _Ids = (),
    ) -> None: ...
    @staticmethod
    def from_file(path: str | PathLike[str]) -> Vocabulary: ...
    @staticmethod
    def from_pretrained(folder: str | PathLike[str]) -> Vocabulary: ...
    @staticmethod
    def from_model_files(
        tokenizer_json: str | _Bytes,
        *,
        tokenizer_config: str | _Bytes = "",
        generation_config: str | _Bytes = "",
        config: str | _Bytes = "",
    ) -> Vocabulary: ...
    @staticmethod
    def from_tokenizer(
        tokenizer: object, *, stop_ids: _Ids | None = None
    ) -> Vocabulary: ...
    @staticmethod
    def from_tokens(
        tokens: Sequence[str | _Bytes | None],
        vocab_type: Literal["raw", "byte_fallback", "byte_level"] = "raw",
        *,
        vocab_size: int | None = None,
        added_ids: _Ids = (),
        control_ids: _Ids = (),
        stop_ids: _Ids | None = None,
    ) -> Vocabulary: ...
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
    def spelling(self, id: int) -> _Bytes: ...
    def kind(
        self, id: int
    ) -> Literal["ordinary", "added", "control", "unused"]: ...
    def special(self, text: str) -> int | None: ...
    def decode(self, ids: _Ids) -> str: ...
    @property
    def special_ids(self) -> list[int]: ...
    @property
    def stop_ids(self) -> list[int]: ...
    @property
    def has_stop_ids(self) -> bool: ...
    @property
    def strip_leading_space(self) -> bool: ...
    @property
    def space_after_marks(self) -> bool: ...
    @property
    def has_encoder(self) -> bool: ...
    def encode(self, text: str) -> list[int]: ...
    def with_stop_ids(self, ids: _Ids) -> Vocabulary: ...
    def with_encoder(
        self, encoder: Callable[[str], Sequence[int]] | None
    ) -> Vocabulary: ...
    def with_space_after_marks(self, space: bool) -> Vocabulary: ...

class Grammar:
    def __init__(self) -> None: ...
    @staticmethod
    def from_json_schema(
        schema: _Schema,
        *,
        max_white_space: int | None = 64,
        compact: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        key_order: Literal["any", "schema"] = "any",
        spelling: Literal["canonical", "any"] = "canonical",
        draft: str | int | None = None,
        closed: bool = False,
        lenient: bool = False,
        assert_formats: bool = True,
        documents: Mapping[str, _Schema] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar: ...
    @staticmethod
    def from_ebnf(
        text: str,
        root_rule: str = "root",
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar: ...
    @staticmethod
    def from_regex(
        pattern: str, *, limits: _Limits = None, cancelled: _Cancelled = None
    ) -> Grammar: ...
    @staticmethod
    def from_lark(
        text: str,
        vocabulary: Vocabulary | None = None,
        *,
        grammars: Mapping[str, Grammar | StructuralTag | str] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar: ...
    @staticmethod
    def from_structural_tag(
        spec: _Tag,
        vocabulary: Vocabulary | None = None,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar: ...
    @staticmethod
    def union(
        grammars: Iterable[Grammar | StructuralTag],
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar: ...
    @staticmethod
    def concat(
        grammars: Iterable[Grammar | StructuralTag],
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar: ...
    def accepts(self, text: _Text) -> bool: ...
    def explain(self, text: _Text) -> dict[str, Any] | None: ...
    def report(self) -> list[dict[str, str]]: ...
    def to_ebnf(self) -> str: ...
    def captures(
        self, text: _Text | _Ids, vocabulary: Vocabulary | None = None
    ) -> list[dict[str, Any]]: ...
    def compile(
        self,
        vocabulary: Vocabulary | Compiler,
        *,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
    ) -> Constraint: ...

class StructuralTag:
    def __init__(self, spec: _Tag) -> None: ...
    @staticmethod
    def from_tags(
        tags: Sequence[dict[str, Any]], triggers: Sequence[str]
    ) -> StructuralTag: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    @property
    def source(self) -> str: ...
    def grammar(
        self,
        vocabulary: Vocabulary | None = None,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Grammar: ...

    def parse(
        self,
        response: _Text | _Ids,
        *,
        prefix: _Text | _Ids = "",
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
        recover: bool = True,
    ) -> dict[str, Any]: ...
    def parser(
        self,
        prefix: _Text | _Ids = "",
        *,
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
        recover: bool = True,
    ) -> TagParser: ...

class TagParser:
    def __init__(
        self,
        tag: _Tag,
        prefix: _Text | _Ids = "",
        *,
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        stop_ids: _Ids | None = None,
        recover: bool = True,
    ) -> None: ...
    def feed(self, text: _Text | _Ids | None) -> list[dict[str, Any]]: ...
    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]: ...
    @property
    def initial_events(self) -> list[dict[str, Any]]: ...
    @property
    def message(self) -> dict[str, Any]: ...
    @property
    def chat_message(self) -> dict[str, Any]: ...
    @property
    def tree(self) -> dict[str, Any]: ...
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

def tool_calling(
    tools: _Tools | str | None,
    style: str,
    *,
    tool_choice: str | dict[str, Any] | None = "auto",
    parallel_tool_calls: bool = True,
    reasoning: Literal["required", "allowed", "none"] | bool = "required",
    any_order: bool = False,
    max_white_space: int | None = None,
    exclude_special_tokens: bool = True,
    xgrammar_compatible: bool = False,
) -> StructuralTag: ...
def tool_calling_styles() -> list[str]: ...

class Compiler:
    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        cache_bytes: int = ...,
        grammar_bytes: int = ...,
        stop_ids: _Ids | None = None,
        tables_file: str | PathLike[str] | None = None,
    ) -> None: ...
    def compile(
        self,
        grammar: Grammar,
        *,
        markers: Literal["token", "either", "text"] = "token",
    ) -> Constraint: ...
    def compile_json_schema(
        self,
        schema: _Schema,
        *,
        max_white_space: int | None = 64,
        compact: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        key_order: Literal["any", "schema"] = "any",
        spelling: Literal["canonical", "any"] = "canonical",
        draft: str | int | None = None,
        closed: bool = False,
        lenient: bool = False,
        assert_formats: bool = True,
        documents: Mapping[str, _Schema] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint: ...
    def compile_ebnf(
        self,
        text: str,
        root_rule: str = "root",
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint: ...
    def compile_regex(
        self, pattern: str, *, limits: _Limits = None, cancelled: _Cancelled = None
    ) -> Constraint: ...
    def compile_lark(
        self,
        text: str,
        *,
        grammars: Mapping[str, Grammar | StructuralTag | str] | None = None,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
    ) -> Constraint: ...
    def compile_structural_tag(
        self,
        spec: _Tag,
        *,
        limits: _Limits = None,
        cancelled: _Cancelled = None,
        markers: Literal["token", "either", "text"] = "token",
    ) -> Constraint: ...
    @property
    def mask_words(self) -> int: ...
    def cache_statistics(self) -> dict[str, int]: ...
    def grammar_statistics(self) -> dict[str, int]: ...
    def clear_cache(self) -> None: ...
    def save_tables(self, path: str | PathLike[str]) -> int: ...

class Constraint:
    def matcher(self, *, stop_ids: _Ids | None = None) -> Matcher: ...
    @property
    def mask_words(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...

class Matcher:
    @property
    def mask_words(self) -> int: ...
    def fill_bitmask(self, buffer: Any, row: int = 0) -> bool: ...
    def accept_token(self, id: int) -> bool: ...
    def accept_tokens(self, ids: _Ids) -> int: ...
    def accept_bytes(self, text: _Text) -> bool: ...
    def rollback(self, steps: int = 1) -> bool: ...
    def reset(self) -> None: ...
    def copy(self) -> Matcher: ...
    def steps(self) -> int: ...
    def is_terminated(self) -> bool: ...
    def can_end(self) -> bool: ...
    def forced_bytes(self, limit: int = 4096) -> bytes: ...
    def forced_tokens(self) -> list[int]: ...
    def fill_tree(
        self,
        first_child: Sequence[int],
        next_sibling: Sequence[int],
        tokens: Sequence[int],
        buffer: Any,
    ) -> bool: ...

def fill_bitmasks(
    matchers: Sequence[Matcher],
    buffer: Any,
    *,
    rows: _Ids | None = None,
    threads: int = 0,
) -> None: ...

def apply_bitmask(logits: Any, mask: Any, rows: _Ids | None = None) -> None: ...

class ResponseParser:
    def __init__(
        self,
        spec: _Spec = ...,
        prefix: _Text | _Ids | None = None,
        *,
        tools: _Tools | None = None,
        vocabulary: Vocabulary | None = None,
        markers: Literal["token", "either", "text"] = "token",
        recover: bool | None = None,
        response_template: _Spec = ...,
    ) -> None: ...
    def feed(self, text: _Text | _Ids | None) -> list[dict[str, Any]]: ...
    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]: ...
    @property
    def initial_events(self) -> list[dict[str, Any]]: ...
    @property
    def message(self) -> dict[str, Any]: ...
    @property
    def chat_message(self) -> dict[str, Any]: ...
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

class ParseResult(NamedTuple):
    message: dict[str, Any] | None
    complete: bool
    diagnostics: list[dict[str, Any]]
    error: Exception | None

@overload
def parse_response(
    response: str | bytes | bytearray = ...,
    spec: _Spec = ...,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    markers: Literal["token", "either", "text"] = "token",
    recover: bool | None = None,
    details: Literal[False] = False,
    text: _Text = ...,
    response_template: _Spec = ...,
    schema: _Spec = ...,
) -> dict[str, Any]: ...
@overload
def parse_response(
    response: list[str] | list[bytes] | tuple[str, ...] | tuple[bytes, ...] = ...,
    spec: _Spec = ...,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    markers: Literal["token", "either", "text"] = "token",
    recover: bool | None = None,
    details: Literal[False] = False,
    text: Any = ...,
    response_template: _Spec = ...,
    schema: _Spec = ...,
) -> list[dict[str, Any]]: ...
@overload
def parse_response(
    response: Any = ...,
    spec: _Spec = ...,
    *,
    prefix: Any = None,
    tools: _Tools | None = None,
    vocabulary: Vocabulary | None = None,
    markers: Literal["token", "either", "text"] = "token",
    recover: bool | None = None,
    details: bool = False,
    text: Any = ...,
    response_template: _Spec = ...,
    schema: _Spec = ...,
) -> Any: ...
def formats() -> list[str]: ...
def detect_format(tokenizer_config: dict[str, Any]) -> tuple[str, str]: ...
