"""What the package ``parlance`` has: see there.  Loaded when a name of it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache, partial
from io import IOBase
from typing import NamedTuple

from . import __all__, _parlance
from ._arguments import (
    NOT_GIVEN,
    check_vocabulary,
    count,
    flag,
    is_a,
    items,
    kind,
    plain,
    shown,
    unicode,
)
from ._batch import Batch, BatchStep, MaskTable, feed_deltas
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
from ._logits import apply_bitmask, apply_mask_ids
from ._parlance import (
    ArrowMessages,
    Constraint,
    HarmonyParser,
    Matcher,
    View,
    Vocabulary,
)
from ._structural_tags import (
    StructuralTag,
    TagParser,
    request_tools as _request_tools,
    tag_of_format,
)
from ._tools import ToolSet, tools_of as _tools_of
from ._upstream import dict_of_template, is_loaded_template
from ._view import format_html as _format_html, view_of as _view_of

_NO_PREFIX = (
    "prefix is required: the prompt that came before the response. Chat "
    "templates often write the beginning of a response, such as an opening "
    '<think>, and only the prompt tells. When there is none, pass prefix="".'
)

_MAX_RESPONSES = 2**22  # of one batch
_TOKEN = "token"  # the default of `markers`
_parse_text = _parlance.parse_text

# ---- Formats

_Base = _parlance.Format


class Format(_Base):
    """The description of how a model family writes its responses.

        Format("qwen3")        # a built-in format
        Format(template)       # a bare response template, a dict
        Format("mine.json")    # a file

    Parsers of a format file recover from damage by default; parsers of a bare
    template raise where ``transformers`` raises (see ``recovers``).  Immutable;
    may be shared between threads and pickled.

    Args:
        spec: a response template or format file (``dict``), its JSON text, the
            path of its file, the name of a built-in format, or a ``Format``.
        names: other names of fields in events, messages and structural tags:
            the name of the field of reasoning (``"reasoning_content"``), or a
            ``dict`` from names to new names.

    Raises:
        TemplateError: the template cannot be used, or no format has the name;
            ``names`` refers to a field that does not exist.
        OSError: the file cannot be opened.
    """

    def __init__(self, spec, *, names=None):
        text, named, pairs = _made_of(spec)
        if names is not None:
            pairs = _name_pairs(names)
        super().__init__(_cached_format(text, named), pairs)
        self._made = text, named, pairs

    def parser(
        self,
        prefix="",
        *,
        tools=None,
        vocabulary=None,
        markers="token",
        recover=None,
        stream_calls=False,
        attempts=False,
    ):
        """Returns a ``ResponseParser`` for one response in this format.

        Args:
            prefix: the prompt, as text or token ids; ``""`` for none.
            tools, vocabulary, markers, recover, stream_calls, attempts: as of
                ``ResponseParser``.
        """
        return ResponseParser(
            self,
            prefix,
            tools=tools,
            vocabulary=vocabulary,
            markers=markers,
            recover=recover,
            stream_calls=stream_calls,
            attempts=attempts,
        )

    def verify(self, tools=None, *, vocabulary=None, walks=0, seed=0):
        """Finds what the format writes and its own parser does not read.

            for finding in Format("mine.json").verify():
                print(finding["path"], finding["message"])

        Calls of the tools are written as the structural tag has them, with
        names and values at the edges of what it accepts, and are read.  With
        ``walks``, so are random responses: cut anywhere, in single bytes,
        rendered, damaged.

        Args:
            tools: the tools of a request; ``None``: a sample with arguments of
                every type.
            vocabulary: a ``Vocabulary`` in whose tokens the calls are written as
                well, and the random responses instead.
            walks: how many random responses are written, with and without
                calls, reasoning and a document, if nothing is found of calls; at
                most a million.
            seed: of the first of them.

        Returns:
            A list of ``dict`` with ``"code"``, ``"message"``, ``"path"`` (the
            JSON pointer into the format file, or into ``tools``), ``"text"`` (a
            shortest response that is misread, or ``""``), ``"meant"`` and
            ``"read"`` (the arguments of its call; of a random response, the
            messages); ``[]`` if nothing is found.
        """
        return self._verify(
            _request_tools(tools),
            vocabulary,
            count("walks", walks, 1_000_000),
            count("seed", seed, 2**32 - 1),
        )

    def render(self, message, *, tools=None, prefix="", verify=True):
        """Writes a message as models of the family write it.

            Format("qwen3").render({"content": "Hello."})

        The text has the markers, line feeds and order that the models were
        trained on.  Parsing it gives the message.

        Args:
            message: a ``dict`` as parsers return it or as the chat completions
                API has it; reasoning may be called ``"thinking"``,
                ``"reasoning"`` or ``"reasoning_content"``, and arguments may be
                a ``dict`` or its JSON text.
            tools: the tools of the request, as of ``ResponseParser``.
            prefix: the prompt; what it already wrote of this response is left
                out.
            verify: read the text back, and refuse a message that would not come
                back equal.

        Returns:
            The text, a ``str``.

        Raises:
            TemplateError: the format does not say how a response is written,
                the message is malformed (``path`` is a JSON pointer into it), or
                the format cannot express it.
        """
        return self._render(
            _parlance.template_text(message),
            _tools_of(tools),
            prefix,
            flag("verify", verify),
        )

    def structural_tag(
        self,
        tools=None,
        *,
        tool_choice="auto",
        parallel_tool_calls=True,
        text_with_calls="optional",
        reasoning="allowed",
        response_format=None,
        prefix="",
        vocabulary=None,
        max_reasoning_tokens=None,
        any_order=False,
        max_white_space=None,
    ):
        """Returns the ``StructuralTag`` of what a model may write to a request.

            tag = Format("qwen3").structural_tag(tools, prefix=prompt)
            matcher = tag.grammar().compile(vocabulary).matcher()

        Whatever the tag allows, a parser of this format reads without a
        diagnostic, as calls of these tools with valid arguments.

        Args:
            tools: as of ``ToolSet``; ``None`` for no tools.  Of a tool with
                ``"strict": False`` the arguments may be any object.
            tool_choice: ``"auto"``, ``"none"``, ``"required"``, or, as a dict,
                the one tool that must be called or the tools that are allowed,
                as in requests to chat-completion servers.
            parallel_tool_calls: whether a response may have several calls.
            text_with_calls: where text may stand beside calls: ``"optional"``,
                before calls that need not come (``tool_choice="auto"``);
                ``"before"``, also before a call that must come;
                ``"between"``, also between two calls.  It is content and has
                no opener of a call.  Formats without a place for such text
                have none.
            reasoning: ``"required"`` (or ``True``), ``"allowed"``, or ``"off"``
                (or ``False``): no reasoning, or the empty block that the family
                writes instead.  Formats without reasoning ignore it.
            response_format: the content is JSON: ``{"type": "json_schema",
                "json_schema": {"schema": ...}}``, ``{"type": "json_object"}``,
                a schema, or a model of pydantic.  With tools, the response is a
                document or calls.
            prefix: the prompt, or its end, as text or token ids.  The tag
                begins where the prompt ends: inside reasoning, or inside a
                string of an argument, a marker or a character.  What the
                prompt has written need not be what the tag would have:
                regions that have ended are as they are, and the region that
                is open goes on in its notation, without its schema where it
                cannot become valid, which ``report()`` says.  Calls that the
                request does not permit, such as a second one without
                ``parallel_tool_calls``, are an error.
            vocabulary: the ``Vocabulary`` of a prefix of ids.
            max_reasoning_tokens: the most tokens of reasoning.
            any_order: whether members of arguments may be in any order.
            max_white_space: the largest number of characters of white space
                between two parts of JSON, from 1 on; ``None`` for no limit.

        Raises:
            GrammarError: ``path`` begins with the argument's name, as in
                ``/tools/0/function/name``.  Also for a format that does not say
                how it is written and whose template cannot be inverted, and for
                a tool whose calls the format would not read back.
        """
        return tag_of_format(
            self,
            tools,
            tool_choice,
            parallel_tool_calls,
            text_with_calls,
            reasoning,
            response_format,
            prefix,
            vocabulary,
            max_reasoning_tokens,
            any_order,
            max_white_space,
        )

    def grammar(
        self,
        tools=None,
        *,
        tool_choice="auto",
        parallel_tool_calls=True,
        text_with_calls="optional",
        reasoning="allowed",
        response_format=None,
        prefix="",
        vocabulary=None,
        max_reasoning_tokens=None,
        any_order=False,
        max_white_space=None,
    ):
        """Returns the ``Grammar`` of ``structural_tag`` with these arguments."""
        return self.structural_tag(
            tools,
            tool_choice=tool_choice,
            parallel_tool_calls=parallel_tool_calls,
            text_with_calls=text_with_calls,
            reasoning=reasoning,
            response_format=response_format,
            prefix=prefix,
            vocabulary=vocabulary,
            max_reasoning_tokens=max_reasoning_tokens,
            any_order=any_order,
            max_white_space=max_white_space,
        ).grammar()

    def _repr_html_(self):
        return _format_html(self)

    def __repr__(self):
        if self.name:
            return f"{type(self).__name__}({self.name!r})"
        return f"<{type(self).__name__} with {', '.join(self.fields)}>"

    def __reduce__(self):
        return _restore, (type(self), *_made_of(self))


def tool_calling(
    tools,
    family,
    *,
    tool_choice="auto",
    parallel_tool_calls=True,
    text_with_calls="optional",
    reasoning="allowed",
    response_format=None,
    prefix="",
    vocabulary=None,
    max_reasoning_tokens=None,
    any_order=False,
    max_white_space=None,
):
    """Returns the ``StructuralTag`` of responses that may or must call tools.

    The same as ``Format(family).structural_tag(tools, ...)``.

    Args:
        tools: as of ``ToolSet``; ``None`` for no tools.
        family: the name of a built-in format, one of its aliases or variants,
            or anything else that ``Format`` takes, or a ``Format``.
        tool_choice, parallel_tool_calls, text_with_calls, reasoning,
            response_format, prefix, vocabulary, max_reasoning_tokens,
            any_order, max_white_space: as of ``Format.structural_tag``.

    Raises:
        TemplateError: there is no such family.
        GrammarError: as of ``Format.structural_tag``.
    """
    described_by = family if isinstance(family, Format) else Format(family)
    return described_by.structural_tag(
        tools,
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        text_with_calls=text_with_calls,
        reasoning=reasoning,
        response_format=response_format,
        prefix=prefix,
        vocabulary=vocabulary,
        max_reasoning_tokens=max_reasoning_tokens,
        any_order=any_order,
        max_white_space=max_white_space,
    )


class ResponseTemplate(Format):
    """A bare response template, checked as strictly as ``transformers`` does.

    Args:
        spec: the template as a ``dict``, JSON text, the path of a file, or a
            template that ``transformers`` has loaded.

    Raises:
        TemplateError: the template cannot be used, or ``spec`` is a format
            file or the name of a format.
        OSError: the file cannot be opened.
    """

    def __init__(self, spec):
        text, named = _text_of(spec)
        if named:
            raise TemplateError(
                f"{shown(text)} is the name of a format; a ResponseTemplate is made "
                "of a dict with 'fields' or a JSON file. For a built-in format "
                f"use Format({text!r}).",
                code="wrong_type",
            )
        super(Format, self).__init__(_cached_format(text, False), ())
        if self.name:
            raise TemplateError(
                f"this is a format file ({self.name!r}), which says more than "
                "its response template; use Format, or the object under "
                "'response_template'",
                code="wrong_type",
                source=text,
            )


def _restore(cls, text, named, pairs):
    made = cls.__new__(cls)
    _Base.__init__(made, _cached_format(text, named), pairs)
    made._made = text, named, pairs
    return made


def _made_of(spec):
    """The content of a spec and its names: (text, named, pairs)."""
    if isinstance(spec, Format):
        return getattr(spec, "_made", (spec.source, False, ()))
    return *_text_of(spec), ()


def _name_pairs(names):
    """The argument ``names`` as pairs."""
    if is_a(names, str):
        return (("reasoning", unicode("names", names, TemplateError)),)
    pairs = list(names.items()) if is_a(names, dict) else [(None, None)]
    if not all(is_a(text, str) for pair in pairs for text in pair):
        raise TypeError(
            f"names must be a str or a dict of str, not {kind(names)}"
        )
    return tuple(
        tuple(unicode("names", text, TemplateError) for text in pair)
        for pair in pairs
    )


def _text_of(spec, schema_first=False):
    """The content of a spec: (JSON text, False) or (name, True).

    A tokenizer's configuration, as a dict, a text or a file, stands for what it
    says of responses: its template, else its schema, else the built-in format
    that fits it.
    """
    if is_a(spec, str):
        spec = plain(spec)
        if spec.lstrip()[:1] == "{":
            return _described(unicode("spec", spec, TemplateError), schema_first)
        if not spec.endswith(".json"):
            return unicode("spec", spec, TemplateError), True
    elif isinstance(spec, os.PathLike):
        pass
    elif isinstance(spec, _Base):
        return spec.source, False
    elif is_a(spec, dict):
        described = _parlance.response_spec_of_dict(spec, schema_first)
        return described or (_parlance.template_text(spec), False)
    elif is_loaded_template(spec):
        return _parlance.template_text(dict_of_template(spec)), False
    else:
        # Upstream raises a ValueError for a template that is no dict.
        raise TemplateError(
            "spec must be a response template (dict), a path, the name of a "
            f"built-in format, or a Format, not {kind(spec)}",
            code="wrong_type",
        )
    return _described(read_text(spec, TemplateError), schema_first)


def _described(text, schema_first):
    return _parlance.response_spec(text, schema_first) or (text, False)


# Equal texts are equal formats, so the text is the key: a dict that has changed
# has another text.  Errors are not cached.
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


# Callers pass the same dicts and lists to every call.  To look one up by its
# text, the text has to be written, which takes as long as parsing a short
# response.  cached() compares it with a snapshot of its last content instead.
_formats_of_dicts = {}


def _format_of_dict(spec):
    return _cached_format(*_text_of(spec))


# ---- Response schemas

_BaseSchema = _parlance.ResponseSchema


class ResponseSchema(_BaseSchema):
    """The older description of a response: a JSON Schema with ``x-`` keys.

    It has the meaning that the recursive parser of ``transformers`` gives it;
    ``lint()`` lists problems that this parser would report only for some
    responses.  Only ``parse_response`` takes it: such a response cannot be
    streamed.  Immutable; may be shared between threads and pickled.

    Args:
        spec: the schema as a ``dict``, JSON text, the path of a file, or a
            ``ResponseSchema``.

    Raises:
        SchemaError: the schema can never work.
        OSError: the file cannot be opened.
    """

    def __init__(self, spec):
        super().__init__(_schema_text(spec))

    def __reduce__(self):
        return type(self), (self.source,)


def _schema_text(spec):
    if isinstance(spec, _BaseSchema):
        return spec.source
    text, named = _text_of(spec, schema_first=True)
    if named:
        raise SchemaError(
            f"{shown(text)} is the name of a format; a ResponseSchema is made of a "
            "dict or a JSON file",
            code="wrong_type",
        )
    return text


# As for formats.  The text itself tells whether it is a schema or a template.
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
        return _parlance.cached(_specs_of_dicts, spec, _spec_of_dict)
    if isinstance(spec, (_Base, _BaseSchema)):
        return spec
    return _cached_spec(*_text_of(spec))


def _format_of(spec):
    if type(spec) is dict:
        return _parlance.cached(_formats_of_dicts, spec, _format_of_dict)
    if isinstance(spec, _Base):
        return spec
    if isinstance(spec, _BaseSchema):
        _refuse_schema()
    return _cached_format(*_text_of(spec))


def view(
    response,
    spec,
    prefix="",
    *,
    tools=None,
    vocabulary=None,
    markers="token",
    recover=None,
    chunk=None,
    constraint=None,
    title=None,
):
    """Shows what became of a response: which bytes went where, and why.

        view(text, "qwen3")                    # a notebook shows a table
        view(text, "qwen3").save("page.html")  # a page for a browser

    Args:
        response: ``str``, ``bytes`` or ``bytearray``, or, with ``vocabulary``,
            token ids.
        spec: what it is read by: as of ``ResponseParser``, or a
            ``StructuralTag``, a ``Grammar``, or, for token ids, a
            ``Constraint``.
        prefix: the prompt, as text or token ids; ``""`` for none.
        tools, vocabulary, markers, recover: as of ``ResponseParser``.  A strict
            reading that fails is shown as such.
        chunk: feed so many bytes (or ids) at a time, and show after each chunk
            what is held back.  ``None``: all at once.
        constraint: with token ids, what the model was constrained by: a
            ``Constraint``, ``Grammar`` or ``StructuralTag``.  The page shows
            how many tokens were allowed at each token, and which were forced.
            Default: ``spec``, if it is one of these.
        title: the title of the page.

    Returns:
        A ``View``.

    Raises:
        TemplateError, GrammarError: ``spec`` or ``constraint`` cannot be used.
        UsageError: ids without a vocabulary, or a constraint without ids.
    """
    return _view_of(
        response,
        spec,
        _format_of,
        prefix,
        _tools_of(tools),
        vocabulary,
        markers,
        recover,
        chunk,
        constraint,
        title,
    )


def formats():
    """Returns the names of the built-in formats, a sorted list of ``str``."""
    return _parlance.formats()


class DetectedFormat(tuple):
    """The format that ``detect_format`` finds: the tuple ``(name, why)``.

    Attributes:
        name: the name of a built-in format or variant, or
            ``"response_template"`` or ``"response_schema"``.
        why: the reason.
        family: the name of the built-in format without its variant; ``""`` if
            the configuration has its own.
        certainty: ``"certain"`` (the configuration's own; or no other family
            reads the call that the chat template renders; or, without a
            rendered call, by added tokens that no other family has),
            ``"likely"`` (by markers in the chat template) or ``"guess"``.
        others: the names of the other families that fit, the most likely
            first.
    """

    def __new__(cls, name, why, family="", certainty="guess", others=()):
        """Makes the tuple ``(name, why)`` with its attributes."""
        self = super().__new__(cls, (name, why))
        self.family = family
        self.certainty = certainty
        self.others = list(others)
        return self

    @property
    def name(self):
        """The name of the format: the first item of the tuple."""
        return self[0]

    @property
    def why(self):
        """The reason: the second item of the tuple."""
        return self[1]

    def __getnewargs__(self):
        return self[0], self[1], self.family, self.certainty, self.others

    def __repr__(self):
        return (
            f"DetectedFormat(name={self.name!r}, why={self.why!r}, "
            f"family={self.family!r}, certainty={self.certainty!r}, "
            f"others={self.others!r})"
        )


def detection_sample():
    """The conversation that ``detect_format`` wants to see rendered.

    Returns:
        A ``dict`` with ``"messages"`` (a question and a call) and ``"tools"``,
        the variables of a chat template.
    """
    return _parlance.detection_sample()


def _rendered_sample(tokenizer):
    """The sample as the tokenizer's chat template renders it; "" if it cannot.

    Templates disagree about the arguments of a call: an object or its text.
    """
    import json  # here, so that importing the package stays fast

    for as_text in (False, True):
        sample = detection_sample()
        if as_text:
            call = sample["messages"][-1]["tool_calls"][0]["function"]
            call["arguments"] = json.dumps(call["arguments"])
        try:
            text = tokenizer.apply_chat_template(
                sample["messages"],
                tools=sample["tools"],
                tokenize=False,
                add_generation_prompt=False,
            )
        except Exception:  # noqa: BLE001, S112: whatever the template raises
            continue
        if isinstance(text, str) and "Reykjavik" in text:
            return text
    return ""


def _configuration_of(tokenizer):
    """What a tokenizer says in its tokenizer_config.json."""
    configuration = dict(getattr(tokenizer, "init_kwargs", None) or {})
    added = getattr(tokenizer, "added_tokens_decoder", None) or {}
    configuration["added_tokens_decoder"] = {
        str(number): {"content": str(token)} for number, token in added.items()
    }
    for key in ("chat_template", "response_template", "response_schema"):
        value = getattr(tokenizer, key, None)
        if value is not None:
            configuration[key] = value
    if isinstance(configuration.get("chat_template"), dict):
        configuration["chat_template"] = [
            {"name": name, "template": text}
            for name, text in configuration["chat_template"].items()
        ]
    return configuration


def detect_format(tokenizer_config, *, rendered=None):
    """Finds the built-in format that a model needs.

    Args:
        tokenizer_config: the content of the model's ``tokenizer_config.json``,
            a ``dict``; or a tokenizer of ``transformers``, whose chat template
            is then run.
        rendered: ``detection_sample()`` as the chat template renders it, a
            ``str``.  A format that fits must read the call in it.

    Returns:
        A ``DetectedFormat``, which is the tuple ``(name, why)``: the name of a
        format and the reason, both ``str``.  The name ``"response_template"``
        or ``"response_schema"`` means that the configuration has its own,
        which is the right one to use.

    Raises:
        TemplateError: no built-in format fits, or none reads the rendered call
            (``"unknown_format"``).  The message says which come near, and what
            is missing.
        TypeError: ``tokenizer_config`` is neither a ``dict`` nor a tokenizer,
            or ``rendered`` is no ``str``.
    """
    if hasattr(tokenizer_config, "apply_chat_template"):
        if rendered is None:
            rendered = _rendered_sample(tokenizer_config)
        tokenizer_config = _configuration_of(tokenizer_config)
    if rendered is not None and not isinstance(rendered, str):
        raise TypeError(f"rendered must be a str, not {kind(rendered)}")
    if not isinstance(tokenizer_config, dict):
        raise TypeError(
            "tokenizer_config must be a dict, the content of "
            f"tokenizer_config.json, not {kind(tokenizer_config)}"
        )
    return DetectedFormat(
        *_parlance.detect_format(tokenizer_config, rendered or "")
    )


class FormatReading(NamedTuple):
    """What a built-in format reads in a text: an item of ``rank_formats``.

    Attributes:
        name: the name of the format.
        calls: how many calls are complete and count as evidence.
        call: the name of the first of them; ``""`` if there is none.
        diagnostics: how much did not fit.
        region_bytes: the bytes of the regions that count as evidence, with
            their delimiters.
        span: from the first of these regions to the last, in bytes of UTF-8.
        marked: whether markup opens one of them.
    """

    name: str
    calls: int
    call: str
    diagnostics: int
    region_bytes: int
    span: tuple
    marked: bool


FormatReading.name.__doc__ = "The name of the format."
FormatReading.calls.__doc__ = "How many calls are complete and count as evidence."
FormatReading.call.__doc__ = 'The name of the first of them; ``""`` if there is none.'
FormatReading.diagnostics.__doc__ = "How much did not fit."
FormatReading.region_bytes.__doc__ = (
    "The bytes of the regions that count as evidence, with their delimiters."
)
FormatReading.span.__doc__ = (
    "From the first of these regions to the last, ``(begin, end)`` in bytes of UTF-8."
)
FormatReading.marked.__doc__ = "Whether markup opens one of the regions."


def rank_formats(text, *, tools=None):
    """Finds the built-in formats that read something in a text.

    Args:
        text: a response, ``str`` or ``bytes``.
        tools: the tools of the request, as of ``ToolSet``.  A call of one of
            them counts however it is written, and a call of another does not.

    Returns:
        A list of ``FormatReading``, the best first: by more calls, then fewer
        diagnostics, then more bytes in regions.  A region counts if markup
        opens it, and calls can be read in it or, of reasoning, a delimiter
        closes it.  The list is empty for a text without such a region.

    Complexity: O(bytes of the text), of which the first 64 KiB are read.
    """
    return [
        FormatReading(*reading)
        for reading in _parlance.rank_formats(text, _tools_of(tools))
    ]


# ---- Parsing


class ResponseParser(_parlance.ResponseParser):
    """Parses one response while a model writes it.

    Events are emitted as early as the text allows: text that may still become
    a delimiter is held back until it cannot.  One stream, one parser, one
    thread.

    Args:
        spec: the format of the response: a response template or format file
            (``dict``), its JSON text, the path of its file, the name of a
            built-in format, or a ``Format``.
        prefix: the prompt, as text or token ids.  Required, because chat
            templates write the beginning of a response; ``""`` for none.
            Delimiters in a prefix of ids are only where their ids are.
        tools: the tools of the chat template, as of ``ToolSet``.  Arguments of
            calls get the types that the schemas of the tools declare.
        vocabulary: a ``Vocabulary``.  The parser then reads token ids, and
            without it, text.
        markers: how ids write a delimiter for which the vocabulary has an
            added or control token: ``"token"``, as this token; ``"either"``,
            also spelled by other tokens; ``"text"``, spelled by any tokens.
        recover: ``True`` keeps damage in its region, ``False`` raises,
            ``None`` does what the format says.
        stream_calls: whether ``feed`` returns the events of calls while they
            are written: ``"call_open"``, ``"call_arguments"``,
            ``"call_close"``.
        attempts: whether ``attempted_calls`` has every call that the model
            attempted, and ``feed`` returns an event ``"call_attempt"`` for each,
            before the event that ends its region.
        response_template: the name of ``spec`` in ``transformers``.

    Raises:
        TemplateError: ``spec`` cannot be used.
        ResponseError: the prefix does not fit, without recovery.
        UsageError: ``prefix`` is missing, or is ids without a vocabulary.
    """

    def __init__(
        self,
        spec=NOT_GIVEN,
        prefix=None,
        *,
        tools=None,
        vocabulary=None,
        markers="token",
        recover=None,
        stream_calls=False,
        attempts=False,
        response_template=NOT_GIVEN,
    ):
        format = _format_of(_either("spec", spec, response_template))
        if prefix is None:
            raise UsageError(_NO_PREFIX)
        check_vocabulary(vocabulary)
        super().__init__(
            format,
            prefix,
            _tools_of(tools),
            vocabulary,
            recover,
            markers,
            stream_calls,
            attempts,
            self._bare_events,
        )

    # Events have the keys that transformers gives them, and no others.
    _bare_events = False


def _either(name, value, alias):
    if value is NOT_GIVEN:
        if alias is NOT_GIVEN:
            raise TypeError(f"missing argument: {name!r}")
        return alias
    if alias is not NOT_GIVEN:
        raise TypeError(f"{name!r} is given twice, once by upstream's name")
    return value


def _usual(response, spec, prefix):
    """The message for the usual arguments, or NotImplemented.

    These are a text, and a prefix if there is a template.
    """
    if type(spec) is dict:
        spec = _parlance.cached(_specs_of_dicts, spec, _spec_of_dict)
    if prefix is not None:
        return _parse_text(spec, response, prefix)
    if isinstance(spec, _BaseSchema):
        return _parlance.parse_schema_one(spec, response, None, False)
    return NotImplemented


def _parse_response(
    response=NOT_GIVEN,
    spec=NOT_GIVEN,
    *,
    prefix=None,
    tools=None,
    vocabulary=None,
    markers=_TOKEN,
    recover=None,
    details=False,
    text=NOT_GIVEN,
    response_template=NOT_GIVEN,
    schema=NOT_GIVEN,
):
    if (
        type(response) is str
        and tools is None
        and vocabulary is None
        and markers is _TOKEN
        and recover is None
        and details is False
        and text is response_template is schema is NOT_GIVEN
    ):
        parsed = _usual(response, spec, prefix)
        if parsed is not NotImplemented:
            return parsed
    if response is NOT_GIVEN or text is not NOT_GIVEN:
        response = _either("response", response, text)
    if schema is not NOT_GIVEN:
        spec = _either("spec", spec, schema)
    if spec is NOT_GIVEN or response_template is not NOT_GIVEN:
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


# A call fills in the default of each argument that is given by name alone,
# which takes longer than parsing a short text.
@partial(_parlance.with_text_shortcut, _specs_of_dicts)
def parse_response(response=NOT_GIVEN, spec=NOT_GIVEN, *, prefix=None, **options):
    """Parses whole responses: one, or a batch on all cores.

    Args:
        response: ``str``, ``bytes``, ``bytearray``, a flat sequence or 1-D
            array of token ids, or ``None`` (no text); or a batch: a list,
            tuple or iterator of these, a column of texts or of lists of ids
            (NumPy, pandas, Polars, Arrow), or a 2-D array of ids, at most 2**22
            responses.  A list or column that begins with an integer is ids.  A
            missing value of a column is ``None``.
        spec: a response template or format file (``dict``), its JSON text, the
            path of its file, the name of a built-in format, a ``Format``, or a
            response schema.
        prefix: the prompt, as text or ids: one for all responses, or a list
            with one for each.  Required with a template, because chat
            templates write the beginning of a response; ``""`` for none.  Not
            allowed with a response schema.
        tools: the tools of the chat template, as of ``ToolSet``: arguments of
            calls get the types that the schemas of the tools declare.  Not
            allowed with a response schema.
        vocabulary: a ``Vocabulary``.  Required for ids.
        markers: how ids write delimiters, as of ``ResponseParser``.
        recover: ``True`` keeps damage in its region, ``False`` raises,
            ``None`` does what the format says.
        details: return a ``ParseResult`` in the place of each message.
        text, response_template, schema: the names of ``response`` and ``spec``
            in ``transformers``.

    Returns:
        The message, a ``dict``; for a batch a list of messages, in order.

    Raises:
        ResponseError: a response does not fit, without recovery; ``item`` is
            its index in the batch.  With ``details`` such an error is in the
            result of this response, and the others are parsed.
        TemplateError, SchemaError: ``spec`` cannot be used.
        UsageError: ``prefix`` or ``vocabulary`` is missing, or arguments do
            not fit each other.

    Complexity: O(bytes of the responses), without the GIL for a batch or a
    long response.  A ``spec`` is read once and cached by its content.
    """
    if not options and type(response) is str:
        parsed = _usual(response, spec, prefix)
        if parsed is not NotImplemented:
            return parsed
    return _parse_response(response, spec, prefix=prefix, **options)


_parse_response.__name__ = _parse_response.__qualname__ = "parse_response"
parse_response.__wrapped__ = _parse_response  # its signature


class ParseResult(NamedTuple):
    """The result for one response of ``parse_response(..., details=True)``.

    Attributes:
        message: the message, or ``None`` if there is an ``error``.
        complete: whether every region that was opened was closed.
        diagnostics: what did not fit, as ``ResponseParser.diagnostics``.
        error: the exception that ``parse_response`` would have raised, or
            ``None``.
        turn_ended: whether the end of the turn was seen.
        attempted_calls: every call that the model attempted, as
            ``ResponseParser.attempted_calls``.
        prefix_bytes: where the response begins in the places of diagnostics and
            calls, as ``ResponseParser.prefix_bytes``.
    """

    message: dict | None
    complete: bool
    diagnostics: list
    error: Exception | None
    turn_ended: bool
    attempted_calls: list
    prefix_bytes: int = 0


ParseResult.message.__doc__ = (
    "The message, a ``dict``, or ``None`` if there is an ``error``."
)
ParseResult.complete.__doc__ = "Whether every region that was opened was closed."
ParseResult.diagnostics.__doc__ = (
    "What did not fit, a list of ``dict`` as ``ResponseParser.diagnostics``."
)
ParseResult.error.__doc__ = (
    "The exception that ``parse_response`` would have raised, or ``None``."
)
ParseResult.turn_ended.__doc__ = (
    "Whether the end of the turn was seen, as ``ResponseParser.turn_ended``."
)
ParseResult.attempted_calls.__doc__ = (
    "Every call that the model attempted, a list of ``dict`` as "
    "``ResponseParser.attempted_calls``."
)
ParseResult.prefix_bytes.__doc__ = (
    "Where the response begins in the places of diagnostics and calls, which are "
    "bytes of UTF-8, as ``ResponseParser.prefix_bytes``."
)


def parse_arrow(
    column,
    format,
    *,
    prefix=None,
    tools=None,
    vocabulary=None,
    markers="token",
    threads=0,
):
    """Parses a column of stored responses into a column of messages.

        messages = parlance.parse_arrow(table["response"], "qwen3")
        table = table.append_column("message", pyarrow.chunked_array(messages))

    Args:
        column: the responses: any object with ``__arrow_c_stream__`` or
            ``__arrow_c_array__``, such as arrays of pyarrow, series of Polars
            and columns of DuckDB.  Texts, or lists of token ids.
        format: as ``spec`` of ``Format``; or a column of names of built-in
            formats, or of format files as JSON text.
        prefix: what the prompt already wrote of the responses, for all of
            them; or a column of texts.
        tools: as of ``parse_response``, for all responses; or a column of JSON
            texts of lists of tools.
        vocabulary: a ``Vocabulary``.  Required for ids.
        markers: how ids write delimiters, as of ``ResponseParser``.
        threads: how many to use; 0: one for each core.

    Returns:
        ``ArrowMessages``, a column of structs: ``reasoning``, ``content``,
        ``tool_calls`` (``id``, ``name``, ``arguments`` as JSON text,
        ``complete``), ``other`` (fields with other names, as JSON text),
        ``complete``, and ``diagnostics`` (``offset`` and ``end`` in bytes of the
        response, ``code``, ``field``, ``message``).  Responses that are null are
        null.  Columns by row have a row for each response; where they are null,
        nothing is given.

    Raises:
        TypeError: an argument is no such column.
        TemplateError: ``format`` cannot be used.  A format or tools of a row
            that cannot be used are in the ``diagnostics`` of the row.
        UsageError: columns have different lengths, or ids come without a
            vocabulary.

    Complexity: that of ``parse_response``, without the GIL.  Memory: the
    messages, and less than as much again while they are put together.
    """
    if not _is_column(column):
        raise TypeError(
            "column must be an Arrow column, which has __arrow_c_stream__ or "
            f"__arrow_c_array__, not {kind(column)}; for a list of responses "
            "there is parse_response"
        )
    check_vocabulary(vocabulary)
    threads = count("threads", threads, 2**31 - 1)
    formats = prefixes = tools_by_row = None
    if _is_column(format):
        format, formats = None, format
    else:
        format = _format_of(format)
    if _is_column(prefix):
        prefix, prefixes = "", prefix
    elif prefix is None:
        prefix = ""
    elif not is_a(prefix, str):
        raise TypeError(
            "prefix must be a str for all responses, or an Arrow column of "
            f"texts, not {kind(prefix)}"
        )
    if _is_column(tools):
        tools, tools_by_row = None, tools
    else:
        tools = _tools_of(tools)
    return _parlance.parse_arrow(
        column,
        format,
        prefix,
        tools,
        vocabulary,
        markers,
        threads,
        formats,
        prefixes,
        tools_by_row,
    )


def _is_column(value):
    return hasattr(type(value), "__arrow_c_stream__") or hasattr(
        type(value), "__arrow_c_array__"
    )


def _parsed(response, spec, prefix, tools, vocabulary, markers, recover, details):
    check_vocabulary(vocabulary)
    if type(spec) is dict:
        format = _parlance.cached(_specs_of_dicts, spec, _spec_of_dict)
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
    except ValueError as why:  # for example a released memoryview
        raise TypeError(f"a response cannot be read: {why}") from why
    if dimensions is not None:
        if dimensions == 1:
            if not _holds_objects(value):
                return None
            value = _column_items(value)
        elif dimensions == 2:
            return items("a batch", value, _MAX_RESPONSES)
        else:
            raise TypeError(
                f"an array of token ids must have 1 or 2 dimensions, not {dimensions}"
            )
    elif _is_column(value):
        value = _column_items(value)
    elif is_a(value, Iterator) and not is_a(value, IOBase):
        return items("a batch", value, _MAX_RESPONSES)
    if not is_a(value, list, tuple):
        return None
    if not value:
        return []
    # Ids are integers.  A list that begins with anything else is a batch, even
    # if its items are no responses.
    first = value[0]
    if is_a(first, int) or (
        hasattr(type(first), "__index__") and getattr(first, "ndim", 0) != 1
    ):
        return None
    return items("a batch", value, _MAX_RESPONSES)


def _holds_objects(array):
    """Whether a 1-D array or series holds texts or objects, and not numbers."""
    letter = getattr(getattr(array, "dtype", None), "kind", "")
    return is_a(letter, str) and letter in ("O", "S", "T", "U")


def _column_items(column):
    """The items of an array, a series or an Arrow column, as a list.

    Where libraries of tables write that a value is missing, it is None.
    """
    for name in ("to_pylist", "to_list", "tolist"):
        method = getattr(column, name, None)
        if callable(method):
            column = method()
            break
    column = items("a batch", column, _MAX_RESPONSES)
    return [None if _is_missing(one) else one for one in column]


def _is_missing(value):
    # pandas.NA, and NaN, the only float that differs from itself.
    return kind(value) == "NAType" or (is_a(value, float) and value != value)


# To messages and pickles the names are those of the package.
for _value in map(globals().__getitem__, __all__):
    if getattr(_value, "__module__", None) == __name__:
        _value.__module__ = __package__
