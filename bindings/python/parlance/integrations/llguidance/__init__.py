"""The part of llguidance's interface that engines call, on Parlance.

    import parlance.integrations.llguidance

    parlance.integrations.llguidance.install()
    import llguidance                        # this module

It has what the backend ``guidance`` of vLLM uses: making grammars of JSON
Schemas, patterns, choices, EBNF, Lark and structural tags, following a text, and
masks.  Names and arguments are llguidance's, and so is how errors are reported:
a matcher never raises, it has an error.
"""

from __future__ import annotations

import json
import os

from ..._arguments import Uncopied
from ..._constraining import Compiler, Grammar
from ..._errors import Error, GrammarError, UsageError
from ..._parlance import Vocabulary
from .. import _alias

__all__ = [
    "LLMatcher",
    "LLTokenizer",
    "StructTag",
    "grammar_from",
    "install",
    "uninstall",
]

# How a grammar of this module begins, which is JSON text.
_KEY = "parlance"


class LLTokenizer:
    """A vocabulary, and a compiler for it.

    Args:
        tokenizer: the text of a ``tokenizer.json``, the path of a file or
            folder, or a ``parlance.Vocabulary``.
        n_vocab: the number of ids that the model has.
        eos_token: the id or ids that end a text.
        slices: ignored.

    Raises:
        ValueError: the tokenizer cannot be used, or does not know which tokens
            end a text.
    """

    def __init__(self, tokenizer, n_vocab=None, eos_token=None, slices=None):
        if isinstance(tokenizer, Vocabulary):
            vocabulary = tokenizer
        elif tokenizer.lstrip().startswith("{"):
            vocabulary = Vocabulary.from_tokenizer_json(tokenizer)
        else:
            vocabulary = Vocabulary.from_file(os.fspath(tokenizer))
        if eos_token is None:
            eos_token = vocabulary.stop_ids
        ids = [eos_token] if isinstance(eos_token, int) else list(eos_token)
        if not ids:
            raise UsageError("the tokenizer does not say what ends a text: eos_token")
        self.vocabulary = vocabulary.with_stop_ids(ids)
        self.eos_tokens = ids
        self.eos_token = ids[0]
        self.vocab_size = max(n_vocab or 0, len(vocabulary))
        # The end is the matcher's business: see LLMatcher.
        self.compiler = Compiler(self.vocabulary, stop_ids=[])


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
        tag = {"type": "structural_tag", "format": {"type": "or", "elements": words}}
        return _grammar("structural_tag", json.dumps(tag))
    if format in ("json_schema", "json"):
        return LLMatcher.grammar_from_json_schema(text)
    if format in ("grammar", "cfg"):
        format = "ebnf" if "::=" in text else "lark"
    if format in ("ebnf", "gbnf", "lark"):
        return _grammar(format, text)
    if format == "llguidance":
        return text
    raise UsageError(f"there is no format of grammars {format!r}")


def _recipe(grammar):
    """The form, text and options of a grammar, and grammars that it names."""
    if isinstance(grammar, str) and grammar.lstrip().startswith("{"):
        grammar = json.loads(grammar)
    if isinstance(grammar, str):
        return "lark", grammar, {}
    if isinstance(grammar.get(_KEY), list):
        form, text, options = grammar[_KEY]
        return form, text, options
    parts = grammar.get("grammars")
    if not isinstance(parts, list) or not parts:
        raise UsageError('a grammar as JSON has "grammars", a list')
    first, *others = parts
    if "json_schema" in first:
        return "json_schema", json.dumps(first["json_schema"]), {}
    named = {}
    for other in others:
        if "json_schema" in other:
            named[other["name"]] = Grammar.from_json_schema(other["json_schema"])
        else:
            named[other["name"]] = other["lark_grammar"]
    return "lark", first["lark_grammar"], {"grammars": named} if named else {}


class LLMatcher(Uncopied):
    """Follows one text while a model writes it.

    It does not raise: a grammar that cannot be used, a token that does not fit, and
    a text for which it takes too long to decide what may follow leave the matcher
    with an error for good.

    Args:
        tokenizer: an ``LLTokenizer``.
        grammar: the text of a grammar: what ``grammar_from`` and
            ``grammar_from_json_schema`` return, or Lark.
        log_level, limits: ignored.
    """

    def __init__(self, tokenizer, grammar, *, log_level=1, limits=None):
        self._tokenizer = tokenizer
        self._error = ""
        self._matcher = None
        self._ended = 0  # tokens that ended the text, or came after
        try:
            form, text, options = _recipe(grammar)
            compile = getattr(tokenizer.compiler, "compile_" + form)
            self._matcher = compile(text, **options).matcher()
        except Exception as error:  # noqa: BLE001: whatever the text is
            self._error = str(error) or repr(error)

    @staticmethod
    def grammar_from_json_schema(schema, defaults=None, overrides=None):
        """Returns the text of the grammar of a JSON Schema.

        Args:
            schema: a ``dict``, or JSON text.
            defaults, overrides: options of llguidance, of which
                ``whitespace_flexible`` and ``lenient`` have their meaning.

        Raises:
            ValueError: the text is no JSON.
        """
        if isinstance(schema, str):
            schema = json.loads(schema)
        options = dict(defaults or {})
        if isinstance(schema, dict):
            options.update(schema.get("x-guidance") or {})
        options.update(overrides or {})
        return _grammar(
            "json_schema",
            json.dumps(schema),
            compact=not options.get("whitespace_flexible", True),
            lenient=bool(options.get("lenient", False)),
        )

    @staticmethod
    def validate_grammar(grammar, tokenizer=None, *, limits=None):
        """Returns why a grammar cannot be used, or ``""``.

        Without a tokenizer, tokens that a grammar names are not looked up.
        """
        try:
            form, text, options = _recipe(grammar)
            if tokenizer is not None:
                getattr(tokenizer.compiler, "compile_" + form)(text, **options)
            else:
                getattr(Grammar, "from_" + form)(text, **options)
        except GrammarError as error:
            # Of a text that names tokens, and there is no tokenizer.
            return str(error) if tokenizer or error.code != "usage" else ""
        except Exception as error:  # noqa: BLE001: whatever the text is
            return str(error) or repr(error)
        return ""

    def is_error(self):
        """Whether there is an error."""
        return bool(self.get_error())

    def get_error(self):
        """The error, or ``""``."""
        if not self._error and self._matcher.error is not None:
            return str(self._matcher.error)
        return self._error

    def is_accepting(self):
        """Whether the text may end here."""
        ends = bool(self._ended) or (not self._error and self._matcher.can_end())
        return ends and not self.is_error()

    def is_stopped(self):
        """Whether nothing may follow but a token that ends the text."""
        if self.is_error() or self._ended:
            return True
        return self._matcher.is_terminated()

    def validate_tokens(self, tokens):
        """How many of the tokens fit, one after the other."""
        if self.is_error():
            return 0
        count = self._consumed(tokens)
        self._undo(count)
        return count

    def try_consume_tokens(self, tokens):
        """Appends tokens up to the first that does not fit; returns how many."""
        return 0 if self.is_error() else self._consumed(tokens)

    def consume_tokens(self, tokens):
        """Appends tokens; returns whether all fit.  If not, there is an error."""
        if self.is_error():
            return False
        count = self._consumed(tokens)
        if count < len(tokens) and not self.is_error():
            self._error = f"token {tokens[count]} does not fit the grammar"
        return count == len(tokens)

    def consume_token(self, token):
        """Appends a token; see ``consume_tokens``."""
        return self.consume_tokens([token])

    def _consumed(self, tokens):
        # Invariant: the text is what _matcher has read and then _ended tokens
        # that end it.
        ends = self._tokenizer.eos_tokens
        for count, token in enumerate(tokens):
            if token in ends and self.is_accepting():
                self._ended += 1
            elif self._ended or not self._matcher.accept_token(token):
                return count
        return len(tokens)

    def _undo(self, count):
        ended = min(count, self._ended)
        self._ended -= ended
        return self._matcher.rollback(count - ended)

    def rollback(self, num_tokens):
        """Undoes tokens; ``False`` if there are fewer."""
        if self.is_error() or not (
            0 <= num_tokens <= self._ended + self._matcher.steps()
        ):
            return False
        return self._undo(num_tokens)

    def reset(self):
        """Returns to the beginning of the text."""
        if self.is_error():
            return False
        self._ended = 0
        self._matcher.reset()
        return True

    def deep_copy(self):
        """A matcher in the same state."""
        copy = LLMatcher.__new__(LLMatcher)
        copy.__dict__.update(self.__dict__)
        if self._matcher is not None:
            copy._matcher = self._matcher.copy()
        return copy

    def fill_row(self, row):
        """Writes the mask of the next token into an array of int32."""
        if not self.is_stopped():
            self._matcher.fill_bitmask(row)
            if not (self._matcher.can_end() or self.is_error()):
                return
        if self.is_stopped():  # also if making the mask took too long
            row[:] = 0
        bits = row.view("uint32")
        for id in self._tokenizer.eos_tokens:
            bits[id >> 5] |= 1 << (id & 31)


class StructTag:
    """A tag for ``to_grammar``.

    Args:
        trigger: the text that begins a tag.
        begin: the whole beginning of the tag; it begins with ``trigger``.
        grammar: of what follows: a JSON Schema (``dict`` or JSON text), or what
            ``grammar_from_json_schema`` returned.
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

    @staticmethod
    def to_grammar(tags):
        """Returns the text of a grammar: any text with tags in it.

        The JSON of a tag whose grammar has no flexible white space has at most
        one character of it between two parts.  A trigger that is the spelling of a special token is this token.

        Raises:
            ValueError: there are no tags, or a grammar is no JSON Schema.
        """
        if not tags:
            raise UsageError("tags must not be empty")
        parts = []
        for tag in tags:
            schema = tag.grammar
            if isinstance(schema, str):
                schema = json.loads(schema)
            content = {"type": "json_schema", "json_schema": schema}
            if isinstance(schema, dict) and isinstance(schema.get(_KEY), list):
                form, text, options = schema[_KEY]
                if form != "json_schema":
                    raise UsageError(f"tag {tag.begin!r} needs a JSON Schema")
                content["json_schema"] = json.loads(text)
                if options.get("compact"):
                    content["max_whitespace_cnt"] = 1  # the least a tag can say
            parts.append(
                {"type": "tag", "begin": tag.begin, "content": content, "end": tag.end}
            )
        format = {
            "type": "triggered_tags",
            "triggers": sorted({tag.trigger for tag in tags}),
            "tags": parts,
        }
        return _grammar(
            "structural_tag", json.dumps({"type": "structural_tag", "format": format})
        )


# ---- import llguidance


def install():
    """Makes ``import llguidance`` find this module, in this process.

    Raises:
        UsageError: llguidance has been imported.
    """
    _alias.install("llguidance", __name__)


def uninstall():
    """Undoes ``install``.  Names that were imported stay as they are."""
    _alias.uninstall("llguidance")
