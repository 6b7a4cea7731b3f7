"""The parts of structural tags as classes of pydantic, by XGrammar's names.

A part that is written as a ``dict`` needs no class: what a structural tag can
say is in docs/reference/structural-tags.md, and ``parlance.StructuralTag`` reads
it.  These classes are for programs that build or check tags with XGrammar's.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional, Union

try:
    from pydantic import BaseModel, Field
except ImportError as error:
    raise ImportError(
        "the classes of structural tags need pydantic 2: pip install pydantic"
    ) from error

from .grammar import tag_of_items

__all__ = [
    "AnyTextFormat",
    "AnyTokensFormat",
    "ConstStringFormat",
    "DispatchFormat",
    "ExcludeTokenFormat",
    "Format",
    "GrammarFormat",
    "JSONSchemaFormat",
    "OptionalFormat",
    "OrFormat",
    "PlusFormat",
    "QwenXMLParameterFormat",
    "RegexFormat",
    "RepeatFormat",
    "SequenceFormat",
    "StarFormat",
    "StructuralTag",
    "StructuralTagItem",
    "TagFormat",
    "TagsWithSeparatorFormat",
    "TokenDispatchFormat",
    "TokenFormat",
    "TokenTriggeredTagsFormat",
    "TriggeredTagsFormat",
]

_Token = Union[int, str]
_Budget = Annotated[int, Field(ge=0, le=2**31 - 1)]


class _Part(BaseModel, extra="allow"):
    """A part keeps the keys that only Parlance has, such as ``"field"``."""


class ConstStringFormat(_Part):
    """The text ``value``."""

    type: Literal["const_string"] = "const_string"
    value: str


class JSONSchemaFormat(_Part):
    """A value that is valid under ``json_schema``, written in ``style``."""

    type: Literal["json_schema"] = "json_schema"
    json_schema: Union[bool, dict[str, Any]]
    style: Literal[
        "json",
        "qwen_xml",
        "minimax_xml",
        "minimax_m3_xml",
        "deepseek_xml",
        "glm_xml",
        "cohere_xml",
        "kimi_k3_xml",
        "deepseek_v4_1_xml",
        "python",
        "delimited",
        "elements",
    ] = "json"
    any_order: bool = False
    max_whitespace_cnt: Optional[int] = None
    excludes: list[str] = []


class AnyTextFormat(_Part):
    """Text in which none of ``excludes`` occurs."""

    type: Literal["any_text"] = "any_text"
    excludes: list[str] = []
    max_tokens: Optional[_Budget] = None
    max_chars: Optional[_Budget] = None


class TokenFormat(_Part):
    """One token, by its id or its spelling."""

    type: Literal["token"] = "token"
    token: _Token


class ExcludeTokenFormat(_Part):
    """One token that is none of ``exclude_tokens``."""

    type: Literal["exclude_token"] = "exclude_token"
    exclude_tokens: list[_Token] = []


class AnyTokensFormat(_Part):
    """Any number of tokens that are none of ``exclude_tokens``."""

    type: Literal["any_tokens"] = "any_tokens"
    exclude_tokens: list[_Token] = []
    max_tokens: Optional[_Budget] = None


class GrammarFormat(_Part):
    """A text of an EBNF grammar."""

    type: Literal["grammar"] = "grammar"
    grammar: str


class RegexFormat(_Part):
    """A text that ``pattern`` matches."""

    type: Literal["regex"] = "regex"
    pattern: str


class QwenXMLParameterFormat(_Part):
    """The older name of a ``JSONSchemaFormat`` in the style ``qwen_xml``."""

    type: Literal["qwen_xml_parameter"] = "qwen_xml_parameter"
    json_schema: Union[bool, dict[str, Any]]


class SequenceFormat(_Part):
    """The elements in a row."""

    type: Literal["sequence"] = "sequence"
    elements: list[Format]


class OrFormat(_Part):
    """One of the elements."""

    type: Literal["or"] = "or"
    elements: list[Format]


class TagFormat(_Part):
    """``content`` between ``begin`` and ``end`` (one of several, if a list)."""

    type: Literal["tag"] = "tag"
    begin: Union[str, TokenFormat]
    content: Format
    end: Union[str, list[str], TokenFormat]


class TriggeredTagsFormat(_Part):
    """Free text, in which a trigger begins one of the tags."""

    type: Literal["triggered_tags"] = "triggered_tags"
    triggers: list[str]
    tags: list[TagFormat]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: list[str] = []


class TokenTriggeredTagsFormat(_Part):
    """Free text, in which a trigger, a token, begins one of the tags."""

    type: Literal["token_triggered_tags"] = "token_triggered_tags"
    trigger_tokens: list[_Token]
    tags: list[TagFormat]
    exclude_tokens: list[_Token] = []
    at_least_one: bool = False
    stop_after_first: bool = False


class TagsWithSeparatorFormat(_Part):
    """Tags with a separator between them, and no other text."""

    type: Literal["tags_with_separator"] = "tags_with_separator"
    tags: list[TagFormat]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False


class OptionalFormat(_Part):
    """``content`` or nothing."""

    type: Literal["optional"] = "optional"
    content: Format


class PlusFormat(_Part):
    """``content`` once or more often."""

    type: Literal["plus"] = "plus"
    content: Format


class StarFormat(_Part):
    """``content`` any number of times."""

    type: Literal["star"] = "star"
    content: Format


class RepeatFormat(_Part):
    """``content`` from ``min`` to ``max`` times; -1 for no limit."""

    type: Literal["repeat"] = "repeat"
    min: int
    max: int
    content: Format


class DispatchFormat(_Part):
    """Free text, in which each of some patterns is followed by its content."""

    type: Literal["dispatch"] = "dispatch"
    rules: list[tuple[str, Format]]
    loop: bool = True
    excludes: list[str] = []


class TokenDispatchFormat(_Part):
    """Free text, in which each of some tokens is followed by its content."""

    type: Literal["token_dispatch"] = "token_dispatch"
    rules: list[tuple[_Token, Format]]
    loop: bool = True
    exclude_tokens: list[_Token] = []


Format = Annotated[
    Union[
        AnyTextFormat,
        AnyTokensFormat,
        ConstStringFormat,
        DispatchFormat,
        ExcludeTokenFormat,
        GrammarFormat,
        JSONSchemaFormat,
        OptionalFormat,
        OrFormat,
        PlusFormat,
        QwenXMLParameterFormat,
        RegexFormat,
        RepeatFormat,
        SequenceFormat,
        StarFormat,
        TagFormat,
        TagsWithSeparatorFormat,
        TokenDispatchFormat,
        TokenFormat,
        TokenTriggeredTagsFormat,
        TriggeredTagsFormat,
    ],
    Field(discriminator="type"),
]
"""Any part of a structural tag; ``type`` says which."""


class StructuralTagItem(_Part):
    """A tag of the older form of structural tags."""

    begin: str
    schema_: Union[str, type[BaseModel], dict[str, Any]] = Field(alias="schema")
    end: str


class StructuralTag(_Part):
    """A structural tag."""

    type: Literal["structural_tag"] = "structural_tag"
    format: Format

    @staticmethod
    def from_legacy_structural_tag(tags, triggers):
        """Returns the tag of a list of ``StructuralTagItem`` and a list of
        triggers."""
        return StructuralTag.model_validate(tag_of_items(tags, triggers))

    @staticmethod
    def from_json(json_str):
        """Returns the tag of JSON text or a ``dict``."""
        if isinstance(json_str, str):
            return StructuralTag.model_validate_json(json_str)
        if isinstance(json_str, dict):
            return StructuralTag.model_validate(json_str)
        raise ValueError(
            f"a structural tag is JSON text or a dict, not {type(json_str).__name__}"
        )


for _class in (
    SequenceFormat,
    OrFormat,
    TagFormat,
    TriggeredTagsFormat,
    TokenTriggeredTagsFormat,
    TagsWithSeparatorFormat,
    OptionalFormat,
    PlusFormat,
    StarFormat,
    RepeatFormat,
    DispatchFormat,
    TokenDispatchFormat,
    StructuralTag,
):
    _class.model_rebuild()
del _class
