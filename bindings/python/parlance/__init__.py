"""Turning a language model's output into a message, while it is written.

    import parlance

    parlance.parse_response(text, "qwen3", prefix=prompt)   # -> dict

    parser = parlance.ResponseParser("qwen3", prefix=prompt)
    for chunk in stream:
        for event in parser.feed(chunk):
            show(event)
    message, events = parser.finalize()

Where a ``spec`` is asked for, it may be a response template (a ``dict`` with
``"fields"``), the file that holds one, the name of a built-in format (see
``formats()``), or a ``ResponseTemplate`` or ``Format`` made of those.
``parse_response`` also takes the older response schemas (a ``dict`` with
``x-`` keys and without ``"fields"``), and ``ResponseSchema``.

``Grammar.from_json_schema`` is the way back: which texts are valid, and, with
a vocabulary, which tokens a model may write next.  ``tool_calling`` gives the
``StructuralTag`` of responses that call tools as a model family writes them; it
constrains a model, and its ``parser()`` reads what the model wrote.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

from . import _parlance
from ._arguments import flag, is_a, items, kind, shown, unicode
from ._constraining import Compiler, Grammar, fill_bitmasks
from ._errors import (
    ContentAttributeError,
    ContentTypeError,
    Error,
    GrammarError,
    MissingPlaceholderError,
    PatternError,
    ResponseError,
    SchemaError,
    StateError,
    TemplateError,
    TooDeepError,
    UnknownNameError,
    UsageError,
)
from ._files import read_text
from ._logits import apply_bitmask
from ._parlance import Constraint, Matcher, Vocabulary
from ._structural_tags import (
    StructuralTag,
    TagParser,
    tool_calling,
    tool_calling_styles,
)
from ._tools import ToolSet, tools_of as _tools_of
from ._upstream import dict_of_template, is_loaded_template

__version__: str = _parlance.__version__

__all__ = [
    "Compiler",
    "Constraint",
    "ContentAttributeError",
    "ContentTypeError",
    "Error",
    "Format",
    "Grammar",
    "GrammarError",
    "Matcher",
    "MissingPlaceholderError",
    "ParseResult",
    "PatternError",
    "ResponseError",
    "ResponseParser",
    "ResponseSchema",
    "ResponseTemplate",
    "SchemaError",
    "StateError",
    "StructuralTag",
    "TagParser",
    "TemplateError",
    "TooDeepError",
    "ToolSet",
    "UnknownNameError",
    "UsageError",
    "Vocabulary",
    "apply_bitmask",
    "detect_format",
    "fill_bitmasks",
    "formats",
    "parse_response",
    "tool_calling",
    "tool_calling_styles",
]

_NO_PREFIX = (
    "prefix is required: the prompt that came before the response. Chat "
    "templates often write the beginning of a response, such as an opening "
    '<think>, and only the prompt tells. When there is none, pass prefix="".'
)

_MISSING = object()
_MOST_RESPONSES = 2**22  # of one batch

# ---- Formats

_Base = _parlance.Format


class Format(_Base):
    """How a model family writes its responses.

    ``Format("qwen3")`` is built in, ``Format(template)`` is a bare response
    template, ``Format("mine.json")`` a file.  Immutable and safe to share
    between threads.  A format file recovers from damage by default, a bare
    template raises as ``transformers`` does; ``recovers`` tells.
    """

    def __init__(self, spec):
        super().__init__(*_text_of(spec))

    def parser(
        self,
        prefix="",
        *,
        tools=None,
        vocabulary=None,
        markers="token",
        recover=None,
    ):
        """A ``ResponseParser`` for one response in this format."""
        return ResponseParser(
            self,
            prefix,
            tools=tools,
            vocabulary=vocabulary,
            markers=markers,
            recover=recover,
        )

    def __repr__(self):
        if self.name:
            return f"{type(self).__name__}({self.name!r})"
        return f"<{type(self).__name__} with {', '.join(self.fields)}>"

    def __reduce__(self):
        return _restore, (type(self), self.source)


class ResponseTemplate(Format):
    """A validated response template, read as strictly as upstream reads it."""

    def __init__(self, spec):
        text, named = _text_of(spec)
        if named:
            raise TemplateError(
                f"{shown(text)} is the name of a format; a ResponseTemplate is made "
                "of a dict with 'fields' or a JSON file. For a built-in format "
                f"use Format({text!r}).",
                code="wrong_type",
            )
        super(Format, self).__init__(text, False)
        if self.name:
            raise TemplateError(
                f"this is a format file ({self.name!r}), which says more than "
                "its response template; use Format, or the object under "
                "'response_template'",
                code="wrong_type",
                source=text,
            )


def _restore(cls, source):
    made = cls.__new__(cls)
    _Base.__init__(made, source, False)
    return made


def _text_of(spec):
    """What a spec says: (JSON text, False) or (name, True)."""
    if is_a(spec, str):
        if spec.lstrip()[:1] == "{":
            return unicode("spec", spec, TemplateError), False
        if not spec.endswith(".json"):
            return unicode("spec", spec, TemplateError), True
    elif isinstance(spec, os.PathLike):
        pass
    elif isinstance(spec, _Base):
        return spec.source, False
    elif is_a(spec, dict):
        if not _is_configuration(spec):
            return _parlance.template_text(spec), False
        return _text_of(_described_in(spec))
    elif is_loaded_template(spec):
        return _parlance.template_text(dict_of_template(spec)), False
    else:
        # Upstream's class for a template that is no dict, a ValueError.
        raise TemplateError(
            "spec must be a response template (dict), a path, the name of a "
            f"built-in format, or a Format, not {kind(spec)}",
            code="wrong_type",
        )
    text = read_text(spec, TemplateError)
    if '"tokenizer_class"' in text or '"chat_template"' in text:
        configuration = _object_in(text)
        if _is_configuration(configuration):
            return _text_of(_described_in(configuration))
    return text, False


def _object_in(text):
    import json  # only here: importing the package stays quick

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}  # what is wrong is told by what reads the text next
    return value if isinstance(value, dict) else {}


def _is_configuration(spec):
    """Whether it is the content of a tokenizer_config.json."""
    return (
        "tokenizer_class" in spec or "chat_template" in spec
    ) and "fields" not in spec


def _described_in(configuration):
    """The description of responses in a tokenizer's configuration."""
    for key in ("response_template", "response_schema"):
        if isinstance(configuration.get(key), dict):
            return configuration[key]
    return detect_format(configuration)[0]


# Equal texts are equal formats, so the text is the key: an object that changed
# has another one.  Errors are not kept.
@lru_cache(maxsize=128)
def _cached_format(text, named):
    try:
        return _Base(text, named)
    except TemplateError:
        if not named and _parlance.is_schema(text):
            _refuse_schema()
        raise


def _refuse_schema():
    raise TemplateError(
        "this is a response schema, which is read only when the response is "
        "complete: parse_response takes it, and 'parlance convert' makes a "
        "response template of it, which can be streamed",
        code="wrong_type",
    ) from None


# The same dicts and lists come with every call.  Looking one up by its text
# means writing the text, which takes as long as a short response; comparing it
# with what it said last time, as remembered() does, does not.
_formats_of_dicts = {}


def _format_of_dict(spec):
    return _cached_format(*_text_of(spec))


# ---- Response schemas

_BaseSchema = _parlance.ResponseSchema


class ResponseSchema(_BaseSchema):
    """The older description of a response: a JSON Schema with ``x-`` keys.

    ``ResponseSchema(schema)`` takes a ``dict``, JSON text or a file.  It is
    read as the recursive parser of ``transformers`` reads it; ``lint()`` tells
    what that would find out only when a text comes.  Immutable and safe to
    share between threads.
    """

    def __init__(self, spec):
        super().__init__(_schema_text(spec))

    def __reduce__(self):
        return type(self), (self.source,)


def _schema_text(spec):
    if isinstance(spec, _BaseSchema):
        return spec.source
    text, named = _text_of(spec)
    if named:
        raise SchemaError(
            f"{shown(text)} is the name of a format; a ResponseSchema is made of a "
            "dict or a JSON file",
            code="wrong_type",
        )
    return text


# As for formats; a text says itself which of both it is.
@lru_cache(maxsize=128)
def _cached_spec(text, named):
    if not named and _parlance.is_schema(text):
        return _BaseSchema(text)
    return _cached_format(text, named)


_specs_of_dicts = {}


def _spec_of_dict(spec):
    return _cached_spec(*_text_of(spec))


def _spec_of(spec):
    """A format or a response schema."""
    if type(spec) is dict:
        return _parlance.remembered(_specs_of_dicts, spec, _spec_of_dict)
    if isinstance(spec, (_Base, _BaseSchema)):
        return spec
    return _cached_spec(*_text_of(spec))


def _format_of(spec):
    if type(spec) is dict:
        return _parlance.remembered(_formats_of_dicts, spec, _format_of_dict)
    if isinstance(spec, _Base):
        return spec
    if isinstance(spec, _BaseSchema):
        _refuse_schema()
    return _cached_format(*_text_of(spec))


def formats():
    """The names of the built-in formats, sorted."""
    return _parlance.formats()


def detect_format(tokenizer_config):
    """``(name, why)``: the built-in format that a model needs.

    ``tokenizer_config`` is the content of ``tokenizer_config.json``.  The name
    ``"response_template"`` says that it carries its own template, which is
    then the right one to use.
    """
    if not isinstance(tokenizer_config, dict):
        raise TypeError(
            "tokenizer_config must be a dict, the content of "
            f"tokenizer_config.json, not {kind(tokenizer_config)}"
        )
    return _parlance.detect_format(tokenizer_config)


# ---- Parsing


class ResponseParser(_parlance.ResponseParser):
    """Parses one response while it comes.  One stream, one parser, one thread.

    ``prefix`` is the prompt; ``""`` says that there is none.  ``tools`` gives
    arguments the types that their schemas declare.  With ``vocabulary`` the
    parser reads token ids, and a delimiter that an added or control token
    spells is that token (``markers="token"``).  ``"either"`` reads its spelling
    in other tokens as well; with ``"text"`` all delimiters are text, however
    tokenised.  A ``prefix`` of ids has delimiters only where their ids are.
    ``recover=True`` keeps damage in its region, ``False`` raises, ``None`` does
    as the format says.
    """

    def __init__(
        self,
        spec=_MISSING,
        prefix=None,
        *,
        tools=None,
        vocabulary=None,
        markers="token",
        recover=None,
        response_template=_MISSING,
    ):
        format = _format_of(_either("spec", spec, response_template))
        if prefix is None:
            raise UsageError(_NO_PREFIX)
        super().__init__(
            format, prefix, _tools_of(tools), vocabulary, recover, markers
        )


def _either(name, value, alias):
    if value is _MISSING:
        if alias is _MISSING:
            raise TypeError(f"missing argument: {name!r}")
        return alias
    if alias is not _MISSING:
        raise TypeError(f"{name!r} is given twice, once by upstream's name")
    return value


def parse_response(
    response=_MISSING,
    spec=_MISSING,
    *,
    prefix=None,
    tools=None,
    vocabulary=None,
    markers="token",
    recover=None,
    details=False,
    text=_MISSING,
    response_template=_MISSING,
    schema=_MISSING,
):
    """Parses whole responses.

    ``response`` is a ``str``, ``bytes`` or a flat sequence of token ids and
    gives a ``dict``; or a list of those (or a 2-D array) and gives a list.
    Ids need ``vocabulary``, and are read as ``ResponseParser`` reads them by
    ``markers``.  ``prefix`` is one for all or a list with one per
    response; with a response schema there is none, nor are there ``tools``.
    ``None`` is a response without text.

    With ``details=True`` there is a ``ParseResult`` in the place of each
    message, which tells what did not fit.  A response that cannot be parsed is
    then no exception: the result of that one has it, and the others theirs.
    """
    if response is _MISSING or text is not _MISSING:
        response = _either("response", response, text)
    if schema is not _MISSING:
        spec = _either("spec", spec, schema)
    if spec is _MISSING or response_template is not _MISSING:
        spec = _either("spec", spec, response_template)
    details = flag("details", details)
    parsed = _parsed(
        response, spec, prefix, tools, vocabulary, markers, recover, details
    )
    if not details:
        return parsed
    if type(parsed) is list:
        return [ParseResult(*one) for one in parsed]
    return ParseResult(*parsed)


class ParseResult(NamedTuple):
    """What became of one response.

    Attributes:
        message: the message, or ``None`` if there is an ``error``.
        complete: whether every region that was opened was closed.
        diagnostics: what did not fit, as ``ResponseParser.diagnostics``.
        error: the exception that ``parse_response`` would have raised, or
            ``None``.
    """

    message: dict | None
    complete: bool
    diagnostics: list
    error: Exception | None


def _parsed(response, spec, prefix, tools, vocabulary, markers, recover, details):
    if type(spec) is dict:
        format = _parlance.remembered(_specs_of_dicts, spec, _spec_of_dict)
    else:
        format = _spec_of(spec)
    if isinstance(format, _BaseSchema):
        if type(response) is str and prefix is None and tools is None:
            return _parlance.parse_schema_one(
                format, response, vocabulary, details
            )
        return _parse_by_schema(
            response, format, prefix, tools, vocabulary, details
        )
    if prefix is None:
        raise UsageError(_NO_PREFIX)
    tools = _tools_of(tools)
    if isinstance(response, str) and isinstance(prefix, str):
        return _parlance.parse_one(
            format,
            response,
            prefix,
            tools,
            vocabulary,
            recover,
            markers,
            details,
        )
    responses = _batch(response)
    prefixes = _batch(prefix)
    if prefixes is not None and not prefixes:
        prefix, prefixes = "", None  # no prompt, for all of them
    if responses is None:
        if prefixes is not None:
            if len(prefixes) != 1:
                raise UsageError(_counts(1, len(prefixes)))
            prefix = prefixes[0]
        return _parlance.parse_one(
            format,
            response,
            prefix,
            tools,
            vocabulary,
            recover,
            markers,
            details,
        )
    if prefixes is None:
        prefixes = [prefix]
    elif len(prefixes) != len(responses):
        raise UsageError(_counts(len(responses), len(prefixes)))
    return _parlance.parse_many(
        format, responses, prefixes, tools, vocabulary, recover, markers, details
    )


def _counts(responses, prefixes):
    return (
        f"there are {responses} response(s) and {prefixes} prefix(es); pass "
        "one prefix for all, or a list with one per response"
    )


def _parse_by_schema(response, schema, prefix, tools, vocabulary, details):
    if prefix is not None:
        raise UsageError(
            "a response schema takes no prefix: it reads the response alone; "
            "leave prefix out, or use a response template"
        )
    if tools is not None:
        raise UsageError(
            "a response schema takes no tools: it types values itself; leave "
            "tools out, or use a response template"
        )
    responses = _batch(response)
    if responses is None:
        return _parlance.parse_schema_one(schema, response, vocabulary, details)
    return _parlance.parse_schema_many(schema, responses, vocabulary, details)


def _batch(value):
    """The items of a batch as a list, or None for a single sequence."""
    if isinstance(value, (str, bytes, bytearray)):
        return None
    try:
        dimensions = getattr(value, "ndim", None)
    except ValueError as why:  # as of a released memoryview
        raise TypeError(f"a response cannot be read: {why}") from None
    if dimensions is not None:
        if dimensions == 1:
            return None
        if dimensions == 2:
            return items("a batch", value, _MOST_RESPONSES)
        raise TypeError(
            f"an array of token ids must have 1 or 2 dimensions, not {dimensions}"
        )
    if not is_a(value, list, tuple):
        return None
    if not value:
        return []
    # Ids are integers; a list that begins with anything else is a batch, even
    # if that is no response.
    first = value[0]
    if is_a(first, int) or (
        hasattr(type(first), "__index__") and getattr(first, "ndim", 0) != 1
    ):
        return None
    return items("a batch", value, _MOST_RESPONSES)
