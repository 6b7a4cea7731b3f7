"""Compiling, by XGrammar's names."""

from __future__ import annotations

import functools

from ..._constraining import Compiler
from ..._constraining import Grammar as _Grammar
from . import _serial
from .exception import (
    DeserializeFormatError,
    runtime_errors,
    structural_tag_errors,
)
from .grammar import (
    ANY_JSON,
    ANY_JSON_OPTIONS,
    Grammar,
    json_schema_arguments,
    named_grammars_of,
    structural_tag_text,
)
from .tokenizer_info import TokenizerInfo

__all__ = ["CompiledGrammar", "GrammarCompiler"]


class CompiledGrammar:
    """A grammar compiled for a vocabulary.  Immutable; may be shared between
    threads and pickled.  Made by ``GrammarCompiler``.

    ``constraint`` is the ``parlance.Constraint``.
    """

    def __init__(self):
        raise TypeError("use the functions of GrammarCompiler")

    @classmethod
    def _make(cls, constraint, info, make):
        """``make`` returns the ``Grammar``."""
        self = cls.__new__(cls)
        self.constraint = constraint
        self._info = info
        self._make_grammar = make
        return self

    @functools.cached_property
    def grammar(self):
        """The ``Grammar``."""
        return self._make_grammar()

    @property
    def tokenizer_info(self):
        """The ``TokenizerInfo``."""
        return self._info

    @property
    def memory_size_bytes(self):
        """The memory of the automata built so far, in bytes."""
        return self.constraint.memory_bytes

    def serialize_json(self):
        """Returns the grammar, and which vocabulary it is for, as JSON text."""
        text = _serial.dump_grammar(self.grammar.parlance_grammar)
        return _serial.dump(
            "CompiledGrammar",
            {"tokenizer_metadata": self._info._metadata(), "grammar": text},
        )

    @staticmethod
    def deserialize_json(json_str, tokenizer_info):
        """Makes the object that ``serialize_json`` wrote, for the vocabulary that
        it was made for.

        Raises:
            InvalidJSONError: the text is not JSON.
            DeserializeVersionError: it is of another version.
            DeserializeFormatError: it is not what ``serialize_json`` writes, or
                is for another vocabulary.
        """
        metadata, text = _serial.load(
            json_str, "CompiledGrammar", ["tokenizer_metadata", "grammar"]
        )
        if metadata != tokenizer_info._metadata():
            raise DeserializeFormatError("the grammar is for another vocabulary")
        grammar = _serial.load_grammar(text)
        with runtime_errors(DeserializeFormatError):
            constraint = grammar.compile(tokenizer_info.vocabulary, markers="text")
        return CompiledGrammar._make(
            constraint, tokenizer_info, lambda: Grammar._make(grammar)
        )

    def __reduce__(self):
        return CompiledGrammar.deserialize_json, (self.serialize_json(), self._info)


class GrammarCompiler:
    """Compiles grammars for one vocabulary, and keeps what it compiled.  May be
    shared between threads.

    Functions raise ``RuntimeError`` where a text cannot be used; its
    ``__cause__`` has the place.  ``compiler`` is the ``parlance.Compiler``.

    Args:
        tokenizer_info: a ``TokenizerInfo``.
        max_threads: ignored: a grammar is compiled on the caller's thread, and
            masks are computed when they are asked for.
        cache_enabled: whether compiled grammars are kept.
        cache_limit_bytes: the memory for them and for masks; -1 for the limits of
            ``parlance.Compiler``.
    """

    def __init__(
        self,
        tokenizer_info,
        *,
        max_threads=8,
        cache_enabled=True,
        cache_limit_bytes=-1,
    ):
        if not isinstance(tokenizer_info, TokenizerInfo):
            raise ValueError(
                "tokenizer_info must be a TokenizerInfo, not "
                + type(tokenizer_info).__name__
            )
        if max_threads < 1:
            raise RuntimeError("max_threads must be at least 1")
        sizes = {}
        if not cache_enabled:
            sizes["grammar_bytes"] = 0
        elif cache_limit_bytes >= 0:
            sizes["grammar_bytes"] = cache_limit_bytes // 2
            sizes["cache_bytes"] = cache_limit_bytes - cache_limit_bytes // 2
        with runtime_errors():
            self.compiler = Compiler(tokenizer_info.vocabulary, **sizes)
        self._info = tokenizer_info
        self._limit = cache_limit_bytes

    def _made(self, compile, make):
        """``compile`` returns the constraint, ``make`` its ``parlance.Grammar``."""
        return CompiledGrammar._make(
            compile(), self._info, lambda: Grammar._make(make())
        )

    def _of_schema(self, text, options):
        with runtime_errors():
            return self._made(
                lambda: self.compiler.compile_json_schema(text, **options),
                lambda: _Grammar.from_json_schema(text, **options),
            )

    def compile_json_schema(
        self,
        schema,
        *,
        any_whitespace=True,
        indent=None,
        separators=None,
        strict_mode=True,
        max_whitespace_cnt=None,
        any_order=False,
    ):
        """Compiles a JSON Schema.  Arguments: see ``Grammar.from_json_schema``."""
        text, options = json_schema_arguments(
            schema,
            any_whitespace,
            indent,
            separators,
            strict_mode,
            max_whitespace_cnt,
            any_order,
        )
        return self._of_schema(text, options)

    def compile_builtin_json_grammar(self):
        """Compiles the grammar of all JSON objects and arrays."""
        return self._of_schema(ANY_JSON, ANY_JSON_OPTIONS)

    def compile_regex(self, regex):
        """Compiles a regular expression, which matches a whole text."""
        with runtime_errors():
            return self._made(
                lambda: self.compiler.compile_regex(regex),
                lambda: _Grammar.from_regex(regex),
            )

    def compile_lark(self, lark_string, *, named_grammars=None):
        """Compiles a Lark text.  Arguments: see ``Grammar.from_lark``."""
        grammars = named_grammars_of(named_grammars)
        vocabulary = self._info.vocabulary
        with runtime_errors():
            return self._made(
                lambda: self.compiler.compile_lark(lark_string, grammars=grammars),
                lambda: _Grammar.from_lark(
                    lark_string, vocabulary, grammars=grammars
                ),
            )

    def compile_structural_tag(self, *args, **kwargs):
        """Compiles a structural tag.  Arguments and errors: see
        ``Grammar.from_structural_tag``."""
        text = structural_tag_text(args, kwargs)
        vocabulary = self._info.vocabulary
        with structural_tag_errors():
            return self._made(
                lambda: self.compiler.compile_structural_tag(text, markers="text"),
                lambda: _Grammar.from_structural_tag(text, vocabulary),
            )

    def compile_grammar(self, grammar, *, root_rule_name="root"):
        """Compiles a ``Grammar``, or an EBNF text."""
        if isinstance(grammar, str):
            with runtime_errors():
                return self._made(
                    lambda: self.compiler.compile_ebnf(grammar, root_rule_name),
                    lambda: _Grammar.from_ebnf(grammar, root_rule_name),
                )
        if not isinstance(grammar, Grammar):
            raise ValueError(
                "grammar must be a str or a Grammar, not " + type(grammar).__name__
            )
        with runtime_errors():
            constraint = self.compiler.compile(
                grammar.parlance_grammar, markers="text"
            )
        return CompiledGrammar._make(constraint, self._info, lambda: grammar)

    def clear_cache(self):
        """Drops the grammars and masks that are kept."""
        self.compiler.clear_cache()

    def get_cache_size_bytes(self):
        """Returns the memory of the grammars and masks that are kept, in bytes."""
        return (
            self.compiler.grammar_statistics()["bytes"]
            + self.compiler.cache_statistics()["bytes"]
        )

    @property
    def cache_limit_bytes(self):
        """The argument ``cache_limit_bytes``."""
        return self._limit
