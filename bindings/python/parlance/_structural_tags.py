"""Structural tags: descriptions of responses, for constraining and parsing.

    tag = parlance.tool_calling(tools, "qwen3", tool_choice="required")
    matcher = tag.grammar().compile(vocabulary).matcher()   # constrain
    parser = tag.parser()                                   # parse
"""

from __future__ import annotations

import os

from . import _parlance
from ._arguments import (
    check_vocabulary,
    flag,
    is_a,
    kind,
    plain,
    shown,
    unicode,
)
from ._errors import GrammarError
from ._files import read_text
from ._tools import ToolSet, schema_of, tools_text

# ORDER: ReasoningMode
_REASONING = ("required", "allowed", "off")
# ORDER: TextWithCalls
_TEXT_WITH_CALLS = ("optional", "before", "between")


class StructuralTag(_parlance.StructuralTag):
    """A description of responses, both for constraining a model and for parsing.

    Immutable; may be shared between threads and pickled.  Tags are equal, and
    have the same hash, when their canonical forms are equal.

    Args:
        spec: ``{"type": "structural_tag", "format": {...}}`` as a ``dict``,
            JSON text, the path of a file, or a ``StructuralTag``.

    Raises:
        GrammarError: the tag is malformed; ``path`` is the JSON pointer into
            ``spec``.  Schemas, patterns and grammars inside, and names of
            tokens, are checked when the tag is compiled.
        OSError: the file cannot be opened.
    """

    def __init__(self, spec):
        if isinstance(spec, _parlance.StructuralTag):
            super().__init__(spec)
        else:
            super().__init__(source_of(spec))

    @staticmethod
    def from_tags(tags, triggers):
        """Makes a tag of the older pair of lists: free text, and tags in it.

        Args:
            tags: a list of ``{"begin", "schema", "end"}``; ``"schema"`` is a
                JSON Schema as a ``dict`` or JSON text.
            triggers: a list of ``str`` with which the tags begin.

        Raises:
            GrammarError: ``path`` begins with ``/tags`` or ``/triggers``.
        """
        return StructuralTag(
            _parlance.tag_of_legacy(
                _parlance.tag_text(tags, "/tags"),
                _parlance.tag_text(triggers, "/triggers"),
            )
        )

    def grammar(self, vocabulary=None, *, limits=None, cancelled=None):
        """Returns the ``Grammar`` of these responses.

        The same as ``Grammar.from_structural_tag(self, ...)``, which see for
        arguments and errors.
        """
        from ._constraining import Grammar

        return Grammar.from_structural_tag(
            self, vocabulary, limits=limits, cancelled=cancelled
        )

    def parse(
        self,
        response,
        *,
        prefix="",
        vocabulary=None,
        markers="token",
        stop_ids=None,
        recover=True,
    ):
        """Parses a whole response and returns its tree, a ``dict``.

        Args:
            response: ``str``, ``bytes``, ``bytearray``, or, with
                ``vocabulary``, token ids.
            prefix, vocabulary, markers, stop_ids, recover: as of
                ``TagParser``.

        Returns:
            The tree as of ``TagParser.tree``: ``"complete"`` (whether the tag
            fits the whole response), ``"format"`` (what the outermost format
            has read), ``"rest"`` (the text that does not fit),
            ``"diagnostics"`` (why it does not) and ``"message"``.

        Raises:
            GrammarError: the tag cannot be compiled.
            UsageError: ids without a vocabulary.
        """
        return self._compiled(vocabulary, markers).parse(
            response, prefix, stop_ids, recover
        )

    def parser(
        self,
        prefix="",
        *,
        vocabulary=None,
        markers="token",
        stop_ids=None,
        recover=True,
        stream_calls=False,
        attempts=False,
    ):
        """Returns a ``TagParser`` for one response.

        Arguments and errors: see ``TagParser``.
        """
        return TagParser(
            self,
            prefix,
            vocabulary=vocabulary,
            markers=markers,
            stop_ids=stop_ids,
            recover=recover,
            stream_calls=stream_calls,
            attempts=attempts,
        )

    def _compiled(self, vocabulary, markers="token"):
        check_vocabulary(vocabulary)
        if is_a(markers, str):
            markers = plain(markers)
        # Cached: one without a vocabulary, and one for the last vocabulary.
        cache = self.__dict__.setdefault("_cache", {})
        last, kind, compiled = cache.get(vocabulary is None, (None, None, None))
        if compiled is None or last is not vocabulary or kind != markers:
            # Shares compiled schemas with the grammars of this vocabulary.
            compiler = getattr(vocabulary, "_compiler", None)
            compiled = _parlance.compile_tag(
                self, vocabulary, markers, {}, None, compiler
            )
            cache[vocabulary is None] = (vocabulary, markers, compiled)
        return compiled

    def __eq__(self, other):
        if not isinstance(other, StructuralTag):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self):
        return hash(self.to_json())

    def __repr__(self):
        return f"<{type(self).__name__} {self.to_dict()['format']['type']}>"

    def __reduce__(self):
        return type(self), (self.source,)


class TagParser(_parlance.TagParser):
    """Parses one response by a structural tag, while a model writes it.

    Events and messages are those of a ``ResponseParser``; ``tree`` has in
    addition what each format has read.  A response is never an error: text that
    does not fit is in the field ``"rest"``, with a diagnostic.  One stream, one
    parser, one thread.

    Args:
        tag: a ``StructuralTag``, or a ``dict``, JSON text or the path of a file
            to make one of.
        prefix: the part of the response that the prompt already wrote, as text
            or token ids; ``""`` for none.
        vocabulary: a ``Vocabulary``.  The parser then reads token ids, and
            without it, text.
        markers: how ids write a marker of the tag for which the vocabulary has
            an added or control token: ``"token"``, as this token; ``"either"``,
            also spelled by other tokens; ``"text"``, spelled by any tokens,
            added tokens being ordinary text.
        stop_ids: ids of the tokens that end the response.  Such a token is no
            text, unless the tag names it.  Default: those of the vocabulary.
        recover: if a tag of ``triggered_tags`` does not fit, such as a call of
            a tool that is not listed, parsing continues after it.  ``False``:
            all text that follows is the rest.
        stream_calls: whether ``feed`` returns the events of calls while they
            are written, as of ``ResponseParser``.
        attempts: as of ``ResponseParser``.

    Raises:
        GrammarError: the tag cannot be used or compiled.
        UsageError: a prefix of ids without a vocabulary.
    """

    def __init__(
        self,
        tag,
        prefix="",
        *,
        vocabulary=None,
        markers="token",
        stop_ids=None,
        recover=True,
        stream_calls=False,
        attempts=False,
    ):
        if not isinstance(tag, StructuralTag):
            tag = StructuralTag(tag)
        super().__init__(
            tag._compiled(vocabulary, markers),
            prefix,
            vocabulary is not None,
            stop_ids,
            recover,
            stream_calls,
            attempts,
        )


def tag_of_format(
    described_by,
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
):
    """The content of ``Format.structural_tag``."""
    check_vocabulary(vocabulary)
    if is_a(prefix, str):
        prefix = unicode("prefix", prefix, GrammarError)
    return StructuralTag(
        _parlance.tag_of_format(
            described_by,
            request_tools(tools),
            _parlance.tag_text(tool_choice, "/tool_choice"),
            flag("parallel_tool_calls", parallel_tool_calls),
            _text_with_calls(text_with_calls),
            _reasoning(reasoning),
            _parlance.tag_text(schema_of(response_format), "/response_format"),
            prefix,
            vocabulary,
            _most("max_reasoning_tokens", max_reasoning_tokens, 0),
            flag("any_order", any_order),
            _most("max_white_space", max_white_space, 1),
        )
    )


def source_of(spec):
    if is_a(spec, str):
        spec = plain(spec)
    if is_a(spec, dict):
        return _parlance.tag_text(spec, "")
    if is_a(spec, str) and not spec.endswith(".json"):
        return unicode("a structural tag", spec, GrammarError)
    if is_a(spec, str) or isinstance(spec, os.PathLike):
        return read_text(spec, GrammarError)
    raise GrammarError(
        "a structural tag is a dict, JSON text, the path of a file or a "
        f"StructuralTag, not {kind(spec)}",
        code="wrong_type",
    )


def request_tools(tools):
    """The JSON text of the tools of a request, whose errors point into it."""
    if is_a(tools, bytes, dict) or not hasattr(type(tools), "__iter__"):
        if not is_a(tools, ToolSet):  # it is none, or an error
            return _parlance.tag_text(tools, "/tools")
    return tools_text(tools, lambda list_: _parlance.tag_text(list_, "/tools"))


def _reasoning(mode):
    if isinstance(mode, bool):
        mode = "required" if mode else "off"
    if is_a(mode, str):
        mode = plain(mode)
        mode = "off" if mode == "none" else mode  # another name
    if not is_a(mode, str) or mode not in _REASONING:
        raise GrammarError(
            f"reasoning must be one of {', '.join(_REASONING)}, True or "
            f"False, not {shown(mode)}",
            code="unknown_name",
            path="/reasoning",
        )
    return _REASONING.index(mode)


def _text_with_calls(where):
    if is_a(where, str):
        where = plain(where)
    if not is_a(where, str) or where not in _TEXT_WITH_CALLS:
        raise GrammarError(
            f"text_with_calls must be one of {', '.join(_TEXT_WITH_CALLS)}, "
            f"not {shown(where)}",
            code="unknown_name",
            path="/text_with_calls",
        )
    return _TEXT_WITH_CALLS.index(where)


def _most(name, most, least):
    if most is None:
        return None
    if isinstance(most, bool) or not isinstance(most, int):
        code = "wrong_type"
    elif not least <= most < 2**31:
        code = "invalid_value"
    else:
        return most
    raise GrammarError(
        f"{name} must be None or a number from {least} on, not " + shown(most),
        code=code,
        path=f"/{name}",
    )
