"""Structural tags: what a response may look like, piece by piece.

    tag = parlance.tool_calling(tools, "qwen_3", tool_choice="required")
    matcher = tag.grammar().compile(vocabulary).matcher()   # write
    parser = tag.parser()                                   # and read
"""

from __future__ import annotations

import os

from . import _parlance
from ._arguments import flag, is_a, items, kind, shown, text, unicode
from ._errors import GrammarError
from ._files import read_text
from ._tools import MOST_TOOLS, ToolSet, described

# ORDER: ReasoningMode
_REASONING = ("required", "allowed", "none")


class StructuralTag(_parlance.StructuralTag):
    """A description of responses.  Immutable; may be shared between threads.

    ``spec`` is ``{"type": "structural_tag", "format": {...}}`` as a ``dict``,
    JSON text, the path of a file that holds it, or a ``StructuralTag``.  What
    can be known to be wrong without a vocabulary, and without looking into
    schemas, patterns and grammars, raises ``GrammarError``; its ``path`` is the
    JSON pointer of the place in ``spec``.

    Two are equal when their canonical forms are.
    """

    def __init__(self, spec):
        if isinstance(spec, _parlance.StructuralTag):
            super().__init__(spec)
        else:
            super().__init__(source_of(spec))

    @staticmethod
    def from_tags(tags, triggers):
        """The older pair: free text, and tags that ``triggers`` begin.

        ``tags`` is a list of ``{"begin", "schema", "end"}``, ``schema`` being a
        JSON Schema as a ``dict`` or as JSON text; ``triggers`` is a list of
        strings.  Pointers of errors begin with ``/tags`` or ``/triggers``.
        """
        return StructuralTag(
            _parlance.tag_of_legacy(
                _parlance.tag_text(tags, "/tags"),
                _parlance.tag_text(triggers, "/triggers"),
            )
        )

    def grammar(self, vocabulary=None, *, limits=None, cancelled=None):
        """The ``Grammar`` of these responses.

        As ``Grammar.from_structural_tag(self, ...)``.
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
        """How a whole response is read: the tree, a ``dict``.

        ``response`` is text, bytes or, with ``vocabulary``, token ids.
        ``"complete"`` says whether all of it fits, ``"format"`` is what the
        outermost format has read, ``"rest"`` the text that does not fit,
        ``"diagnostics"`` why, and ``"message"`` the message.  ``markers``,
        ``stop_ids`` and ``recover``: see ``TagParser``.
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
    ):
        """A ``TagParser`` for one response."""
        return TagParser(
            self,
            prefix,
            vocabulary=vocabulary,
            markers=markers,
            stop_ids=stop_ids,
            recover=recover,
        )

    def _compiled(self, vocabulary, markers="token"):
        # One is kept without a vocabulary, and one for the last vocabulary.
        kept = self.__dict__.setdefault("_kept", {})
        last, kind, compiled = kept.get(vocabulary is None, (None, None, None))
        if compiled is None or last is not vocabulary or kind != markers:
            # With the schemas that grammars of this vocabulary have.
            compiler = getattr(vocabulary, "_compiler", None)
            compiled = _parlance.compile_tag(
                self, vocabulary, markers, {}, None, compiler
            )
            kept[vocabulary is None] = (vocabulary, markers, compiled)
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
    """Reads one response by a structural tag, while it comes.

    One stream, one parser, one thread; events, message and the rest are those of
    a ``ResponseParser``.  ``tag`` is a ``StructuralTag`` or what one is made
    of; ``prefix`` is what the prompt already wrote of the response, as text or
    token ids.

    With ``vocabulary`` the parser reads token ids, by the rule of the masks: a
    marker of the tag for which the vocabulary has an added or control token is
    that token (``markers="token"``).  ``"either"`` reads its spelling in other
    tokens as well; with ``"text"`` all markers are text, and added tokens
    ordinary.  One of ``stop_ids`` (default: the vocabulary's) that the tag does
    not name ends the response and is no text.

    Where a tag of ``triggered_tags`` does not fit, such as a call of a tool that
    is not listed, reading goes on behind it; with ``recover=False`` all that
    follows is the rest.

    ``tree`` tells format by format what has been read.
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
    ):
        if not isinstance(tag, StructuralTag):
            tag = StructuralTag(tag)
        super().__init__(
            tag._compiled(vocabulary, markers),
            prefix,
            vocabulary is not None,
            stop_ids,
            recover,
        )


def tool_calling(
    tools,
    style,
    *,
    tool_choice="auto",
    parallel_tool_calls=True,
    reasoning="required",
    any_order=False,
    max_white_space=None,
    exclude_special_tokens=True,
    xgrammar_compatible=False,
):
    """The ``StructuralTag`` of a response that may or must call tools.

    Args:
        tools: a list of tools as chat templates take them (dicts, or Python
            functions), its JSON text, a ``ToolSet``, or ``None`` for no tools.
            Arguments of a tool without ``"parameters"``, or with
            ``"strict": False``, may be any JSON.
        style: how the model family writes calls, one of
            ``tool_calling_styles()``; ``-``, ``_`` and ``.`` are the same.
        tool_choice: ``"auto"``, ``"none"``, ``"required"``, or, as a dict, the
            one tool that must be called or the tools that are allowed, as in
            requests to chat-completion servers.  ``None`` is ``"auto"``.
        parallel_tool_calls: whether several calls may come.
        reasoning: whether the response begins inside a block of reasoning:
            ``"required"`` (or ``True``), ``"allowed"``, ``"none"`` (or
            ``False``).  Families without reasoning ignore it.
        any_order: members of arguments may come in any order.
        max_white_space: the most characters of white space between two parts
            of JSON; ``None`` for no such bound.
        exclude_special_tokens: keep the model's markers of reasoning out of
            free text.
        xgrammar_compatible: exactly what XGrammar makes: without the keys
            ``"field"`` and ``"tool"``, which say how a response is read, and
            in harmony with a required call that need not come.

    Raises:
        GrammarError: ``path`` begins with the argument's name, as in
            ``/tools/0/function/name``.
    """
    return StructuralTag(
        _parlance.tool_calling(
            text("style", style, GrammarError),
            _tools_text(tools),
            _parlance.tag_text(tool_choice, "/tool_choice"),
            flag("parallel_tool_calls", parallel_tool_calls),
            _reasoning(reasoning),
            flag("any_order", any_order),
            _white_space(max_white_space),
            flag("exclude_special_tokens", exclude_special_tokens),
            flag("xgrammar_compatible", xgrammar_compatible),
        )
    )


def tool_calling_styles():
    """The names of the styles of ``tool_calling``, sorted."""
    return _parlance.tool_calling_styles()


def source_of(spec):
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


def _tools_text(tools):
    if is_a(tools, ToolSet):
        text_of_tools = getattr(tools, "_text", None)
        if text_of_tools is None:  # of one whose constructor did not run
            raise TypeError("tools is a ToolSet that has not been made")
        return text_of_tools
    if is_a(tools, str):
        return unicode("tools", tools, GrammarError)
    if is_a(tools, list, tuple):
        tools = described(items("tools", tools, MOST_TOOLS))
    return _parlance.tag_text(tools, "/tools")


def _reasoning(mode):
    if isinstance(mode, bool):
        mode = "required" if mode else "none"
    if not is_a(mode, str) or mode not in _REASONING:
        raise GrammarError(
            f"reasoning must be one of {', '.join(_REASONING)}, True or "
            f"False, not {shown(mode)}",
            code="unknown_name",
            path="/reasoning",
        )
    return _REASONING.index(mode)


def _white_space(most):
    if most is None:
        return None
    if isinstance(most, bool) or not isinstance(most, int):
        code = "wrong_type"
    elif not 1 <= most < 2**31:
        code = "invalid_value"
    else:
        return most
    raise GrammarError(
        "max_white_space must be None or a number from 1 on, not "
        + shown(most),
        code=code,
        path="/max_white_space",
    )
