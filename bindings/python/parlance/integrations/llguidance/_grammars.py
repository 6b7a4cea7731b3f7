"""Texts of grammars, by llguidance's names: what an ``LLMatcher`` takes."""

from __future__ import annotations

import json
from typing import Literal

from ..._constraining import Grammar
from ..._errors import GrammarError, UsageError
from ..._tools import schema_of

GrammarFormat = Literal[
    "lark",
    "gbnf",
    "ebnf",
    "cfg",
    "grammar",
    "json_schema",
    "json",
    "regex",
    "choice",
    "llguidance",
]

# How a grammar of this module begins, which is JSON text.
_KEY = "parlance"


def _grammar(form, text, **options):
    return json.dumps({_KEY: [form, text, options]})


def grammar_from(format, text):
    """Returns the text of a grammar, which ``LLMatcher`` takes.

    Args:
        format: ``"regex"``, ``"choice"`` (a JSON list), ``"json_schema"`` or
            ``"json"``, ``"lark"``, ``"ebnf"``, ``"gbnf"``, ``"grammar"`` or
            ``"cfg"`` (Lark or EBNF), ``"llguidance"`` (``text`` itself).
        text: a ``str``.

    Raises:
        ValueError: there is no such format, or a choice is no list.
    """
    if format == "regex":
        return _grammar("regex", text)
    if format == "choice":
        choices = json.loads(text) if isinstance(text, str) else list(text)
        if not isinstance(choices, list) or not choices:
            raise UsageError("a choice is a JSON list with at least one text")
        words = [{"type": "const_string", "value": one} for one in choices]
        return _tag_grammar({"type": "or", "elements": words})
    if format in ("json_schema", "json"):
        return grammar_from_json_schema(text)
    if format in ("grammar", "cfg"):
        format = "ebnf" if "::=" in text else "lark"
    if format == "lark" or format == "llguidance":
        return text
    if format in ("ebnf", "gbnf"):
        return _grammar(format, text)
    raise UsageError(
        f"there is no format of grammars {format!r}; there are "
        + ", ".join(GrammarFormat.__args__)
    )


def _tag_grammar(format):
    tag = {"type": "structural_tag", "format": format}
    return _grammar("structural_tag", json.dumps(tag))


def grammar_from_json_schema(schema, defaults=None, overrides=None):
    """Returns the text of the grammar of a JSON Schema.

    Declared members come in the schema's order, as llguidance writes them.

    Args:
        schema: a ``dict``, JSON text or a model of pydantic.
        defaults, overrides: options of llguidance, before and after those of the
            schema's ``"x-guidance"``: ``whitespace_flexible``, ``lenient``, and,
            without flexible white space, ``item_separator`` and
            ``key_separator``.  ``coerce_one_of`` and
            ``json_allow_general_unicode_escapes`` have no effect: ``oneOf`` is
            exact, and strings have every escape of JSON.

    Raises:
        ValueError: the text is no JSON, or an option is another one or cannot be
            used.
    """
    schema = schema_of(schema)
    if isinstance(schema, str):
        schema = json.loads(schema)
    options = dict(defaults or {})
    if isinstance(schema, dict):
        options.update(schema.get("x-guidance") or {})
    options.update(overrides or {})
    options = {name: value for name, value in options.items() if value is not None}
    flexible = options.pop("whitespace_flexible", True)
    separators = options.pop("item_separator", ","), options.pop("key_separator", ":")
    made = {"lenient": bool(options.pop("lenient", False)), "key_order": "schema"}
    if not flexible and separators == (",", ":"):
        made["compact"] = True
    elif not flexible:
        made["separators"] = separators
    elif separators != (",", ":"):
        raise UsageError(
            "item_separator and key_separator need whitespace_flexible=False"
        )
    for without_effect in ("coerce_one_of", "json_allow_general_unicode_escapes"):
        options.pop(without_effect, None)
    if options:
        raise UsageError(
            f"there is no option {sorted(options)[0]!r}; white space is bounded by "
            "whitespace_flexible, and strings by the schema's pattern"
        )
    return _grammar("json_schema", json.dumps(schema), **made)


def recipe(grammar):
    """The form, text and options of a grammar, and grammars that it names."""
    if isinstance(grammar, str) and grammar.lstrip().startswith("{"):
        grammar = json.loads(grammar)
    if isinstance(grammar, str):
        return "lark", grammar, {}
    grammar = grammar if isinstance(grammar, dict) else {}
    if isinstance(grammar.get(_KEY), list):
        return grammar[_KEY]
    parts = grammar.get("grammars")
    if not isinstance(parts, list) or not parts:
        raise UsageError('a grammar is Lark, or JSON with "grammars", a list')
    for part in parts:
        if not isinstance(part, dict) or not {"json_schema", "lark_grammar"} & {*part}:
            raise UsageError('each of "grammars" has "json_schema" or "lark_grammar"')
    first, *others = parts
    if "json_schema" in first:
        return recipe(grammar_from_json_schema(first["json_schema"]))
    named = {}
    for other in others:
        if "json_schema" in other:
            named[other["name"]] = made_of(grammar_from_json_schema(other["json_schema"]))
        else:
            named[other["name"]] = other["lark_grammar"]
    return "lark", first["lark_grammar"], {"grammars": named} if named else {}


def made_of(grammar):
    """The ``parlance.Grammar`` of a text that names no tokens."""
    form, text, options = recipe(grammar)
    return getattr(Grammar, "from_" + form)(text, **options)


def fault_of(grammar, compiler=None):
    """Why a grammar cannot be used, or ``""``.

    Without a compiler, tokens that a grammar names are not looked up.
    """
    try:
        if compiler is None:
            made_of(grammar)
        else:
            form, text, options = recipe(grammar)
            getattr(compiler, "compile_" + form)(text, **options)
    except GrammarError as error:
        # Of a text that names tokens, and there is no compiler.
        return str(error) if compiler or error.code != "usage" else ""
    except Exception as error:  # noqa: BLE001: whatever the text is
        return str(error) or repr(error)
    return ""


class _TextCompiler:
    """An older name of ``grammar_from``: ``compile(text)`` returns its result."""

    _format = ""

    def compile(self, text, check=True):
        """The text of a grammar.

        Raises:
            ValueError: with ``check``, the grammar cannot be used.
        """
        grammar = self._made(text)
        fault = fault_of(grammar) if check else ""
        if fault:
            raise UsageError(fault)
        return grammar

    def _made(self, text):
        return grammar_from(self._format, text)


class RegexCompiler(_TextCompiler):
    __doc__ = _TextCompiler.__doc__
    _format = "regex"


class LarkCompiler(_TextCompiler):
    __doc__ = _TextCompiler.__doc__
    _format = "lark"


class JsonCompiler(_TextCompiler):
    """An older name of ``grammar_from_json_schema``, whose options are arguments
    here."""

    def __init__(
        self, separators=None, whitespace_flexible=False, coerce_one_of=False, **options
    ):
        # Where white space is flexible, llguidance's own default has none either.
        item, key = separators or ((",", ":") if whitespace_flexible else (", ", ": "))
        options["item_separator"], options["key_separator"] = item, key
        self._options = {"whitespace_flexible": whitespace_flexible, **options}

    def _made(self, text):
        return grammar_from_json_schema(text, overrides=self._options)


_ANY_TEXT = r"(.|\n)*"


class StructTag:
    """A tag for ``to_grammar``.

    Args:
        trigger: the text that begins a tag.
        begin: the whole beginning of the tag; it begins with ``trigger``.
        grammar: of what follows: a JSON Schema (``dict`` or JSON text), what
            ``grammar_from_json_schema`` returned, or Lark.
        end: the text after it.

    Raises:
        ValueError: ``begin`` does not begin with ``trigger``.
    """

    def __init__(self, *, trigger, begin, grammar, end):
        if not trigger or not begin.startswith(trigger):
            raise UsageError(f"begin {begin!r} must start with trigger {trigger!r}")
        self.trigger = trigger
        self.begin = begin
        self.grammar = grammar
        self.end = end

    def _content(self):
        form, schema, options = "json_schema", self.grammar, {}
        if isinstance(schema, str) and not schema.lstrip().startswith("{"):
            form = "lark"
        elif isinstance(schema, str):
            schema = json.loads(schema)
        if isinstance(schema, dict) and isinstance(schema.get(_KEY), list):
            form, schema, options = schema[_KEY]
            if form == "json_schema":
                schema = json.loads(schema)
        if form != "json_schema":
            made = getattr(Grammar, "from_" + form)(schema, **options)
            return {"type": "grammar", "grammar": made.to_ebnf()}
        content = {"type": "json_schema", "json_schema": schema}
        if "compact" in options or "separators" in options:
            blanks = [len(one) - len(one.strip()) for one in options.get("separators", ())]
            content["max_whitespace_cnt"] = max([1, *blanks])  # 1: the least of a tag
        return content

    @staticmethod
    def to_grammar(tags, *, assume_special=True, text_regex=_ANY_TEXT):
        """Returns the text of a grammar: any text with tags in it.

        The JSON of a tag whose grammar has no flexible white space has at most
        one character of it between two parts, or as many as the separators of the
        grammar have.  A trigger that is the spelling of a
        special token is this token.

        Raises:
            ValueError: there are no tags, a grammar cannot be used, or
                ``assume_special`` or ``text_regex`` is not what it is by default.
        """
        if not tags:
            raise UsageError("tags must not be empty")
        if not assume_special or text_regex != _ANY_TEXT:
            raise UsageError(
                "the text between tags is any text, and markers are tokens; write "
                "other languages with parlance.StructuralTag"
            )
        parts = [
            {"type": "tag", "begin": tag.begin, "content": tag._content(), "end": tag.end}
            for tag in tags
        ]
        triggers = sorted({tag.trigger for tag in tags})
        return _tag_grammar(
            {"type": "triggered_tags", "triggers": triggers, "tags": parts}
        )
