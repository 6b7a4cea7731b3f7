"""Compiling, by XGrammar's names."""

from __future__ import annotations

from ..._constraining import Compiler
from . import _serial
from .exception import (
    DeserializeFormatError,
    runtime_errors,
    structural_tag_errors,
)
from .grammar import (
    JSON_RECIPE,
    Grammar,
    json_schema_recipe,
    lark_recipe,
    structural_tag_recipe,
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
    def _make(cls, constraint, info, recipe, grammar=None):
        """``grammar`` is the ``Grammar``, or None: that of ``recipe``."""
        self = cls.__new__(cls)
        self.constraint = constraint
        self._info = info
        self._recipe = recipe
        self._grammar = grammar
        return self

    @property
    def grammar(self):
        """The ``Grammar``."""
        if self._grammar is None:
            made = _serial.build(self._recipe, self._info.vocabulary)
            # Only this vocabulary may have the tokens that a recipe names.
            named = self._recipe["kind"] in ("lark", "structural_tag")
            self._grammar = Grammar._make(made, None if named else self._recipe)
        return self._grammar

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
        recipe = self._recipe or self.grammar._recipe_or_text()
        return _serial.dump(
            "CompiledGrammar",
            {"tokenizer_metadata": self._info._metadata(), "grammar": recipe},
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
        metadata, recipe = _serial.load(
            json_str, "CompiledGrammar", ["tokenizer_metadata", "grammar"]
        )
        if metadata != tokenizer_info._metadata():
            raise DeserializeFormatError("the grammar is for another vocabulary")
        vocabulary = tokenizer_info.vocabulary
        grammar = _serial.build_checked(recipe, vocabulary)
        with runtime_errors(DeserializeFormatError):
            constraint = grammar.compile(vocabulary, markers="text")
        return CompiledGrammar._make(constraint, tokenizer_info, recipe)

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

    def _made(self, compile, recipe, *args, context=runtime_errors, **options):
        with context():
            constraint = compile(recipe["text"], *args, **options)
        return CompiledGrammar._make(constraint, self._info, recipe)

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
        recipe = json_schema_recipe(
            schema,
            any_whitespace,
            indent,
            separators,
            strict_mode,
            max_whitespace_cnt,
            any_order,
        )
        compile = self.compiler.compile_json_schema
        return self._made(compile, recipe, **_serial.json_options(recipe))

    def compile_builtin_json_grammar(self):
        """Compiles the grammar of all JSON objects and arrays."""
        compile = self.compiler.compile_json_schema
        return self._made(compile, JSON_RECIPE, **_serial.json_options(JSON_RECIPE))

    def compile_regex(self, regex):
        """Compiles a regular expression, which matches a whole text."""
        recipe = {"kind": "regex", "text": regex}
        return self._made(self.compiler.compile_regex, recipe)

    def compile_lark(self, lark_string, *, named_grammars=None):
        """Compiles a Lark text.  Arguments: see ``Grammar.from_lark``."""
        recipe = lark_recipe(lark_string, named_grammars)
        with runtime_errors():
            grammars = _serial.named_grammars(recipe)
        return self._made(self.compiler.compile_lark, recipe, grammars=grammars)

    def compile_structural_tag(self, *args, **kwargs):
        """Compiles a structural tag.  Arguments and errors: see
        ``Grammar.from_structural_tag``."""
        recipe = structural_tag_recipe(args, kwargs)
        compile = self.compiler.compile_structural_tag
        return self._made(
            compile, recipe, context=structural_tag_errors, markers="text"
        )

    def compile_grammar(self, grammar, *, root_rule_name="root"):
        """Compiles a ``Grammar``, or an EBNF text."""
        if isinstance(grammar, str):
            recipe = {"kind": "ebnf", "text": grammar, "root": root_rule_name}
            return self._made(self.compiler.compile_ebnf, recipe, root_rule_name)
        if not isinstance(grammar, Grammar):
            raise ValueError(
                "grammar must be a str or a Grammar, not " + type(grammar).__name__
            )
        with runtime_errors():
            constraint = self.compiler.compile(
                grammar.parlance_grammar, markers="text"
            )
        return CompiledGrammar._make(
            constraint, self._info, grammar._recipe, grammar
        )

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
