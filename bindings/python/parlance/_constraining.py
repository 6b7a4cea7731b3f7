"""Grammars and masks: what the options mean, and what is shared.

    grammar = parlance.Grammar.from_json_schema(schema)
    constraint = grammar.compile(vocabulary)
    matcher = constraint.matcher()
    row = numpy.zeros(constraint.mask_words, numpy.int32)
    while not matcher.is_terminated():
        matcher.fill_bitmask(row)
        matcher.accept_token(choose(row))
"""

from __future__ import annotations

from . import _parlance
from ._arguments import choice, count, flag, is_a, items, kind, mapping, shown
from ._arguments import text as _text, unicode
from ._errors import GrammarError, SchemaError, UsageError
from ._structural_tags import StructuralTag, source_of

UNLIMITED = 2**64 - 1
_MOST_INDENT = 2**32 - 1
_MOST_PARTS = 2**20  # of a union, or matchers of a batch

# ORDER: SchemaDraft
_DRAFTS = ("4", "6", "7", "2019-09", "2020-12")
_LIMITS = ("alternatives", "steps", "depth", "bytes")


class Grammar(_parlance.Grammar):
    """A language of texts.  Immutable; may be shared between threads.

    A text that a grammar accepts is always valid under its schema;
    ``report()`` lists what the schema allows and the grammar does not let
    out, and what it does not look at.

    What makes one takes ``limits``, a dict of ``alternatives``, ``steps``,
    ``depth`` and ``bytes``, and ``cancelled``, a function without arguments:
    it is compiled for as long as that says something false, and it is asked
    about every 20 ms.
    """

    def __init__(self):
        raise TypeError(
            "a Grammar is made by Grammar.from_json_schema(schema) and the "
            "other functions that begin with from_"
        )

    @staticmethod
    def from_json_schema(
        schema,
        *,
        max_white_space=64,
        compact=False,
        indent=None,
        separators=None,
        key_order="any",
        spelling="canonical",
        draft=None,
        closed=False,
        lenient=False,
        assert_formats=True,
        documents=None,
        limits=None,
        cancelled=None,
    ):
        """The JSON texts that are valid under ``schema``.

        ``schema`` is a ``dict``, a ``bool`` or JSON text.  White space: any
        run of at most ``max_white_space`` bytes between two parts (``None``:
        of any length), none with ``compact=True``; with ``indent`` or
        ``separators`` exactly what ``json.dumps`` writes for them.
        ``key_order="schema"`` wants declared properties in their order, which
        makes smaller automata.  Names and values that the schema fixes come
        as ``json.dumps(..., ensure_ascii=False)`` writes them; with
        ``spelling="any"`` in every spelling that JSON has.
        """
        return _json_schema(
            None,
            schema,
            max_white_space=max_white_space,
            compact=compact,
            indent=indent,
            separators=separators,
            key_order=key_order,
            spelling=spelling,
            draft=draft,
            closed=closed,
            lenient=lenient,
            assert_formats=assert_formats,
            documents=documents,
            limits=limits,
            cancelled=cancelled,
        )

    @staticmethod
    def from_ebnf(text, root_rule="root", *, limits=None, cancelled=None):
        """The texts of an EBNF or GBNF grammar's rule ``root_rule``."""
        return _wrap(
            _parlance.grammar_of_ebnf(
                _text("text", text, GrammarError),
                _text("root_rule", root_rule, GrammarError),
                _limits(limits),
                _asked(cancelled),
                None,
            )
        )

    @staticmethod
    def from_regex(pattern, *, limits=None, cancelled=None):
        """The texts that ``pattern`` matches as a whole."""
        return _wrap(
            _parlance.grammar_of_regex(
                _text("pattern", pattern, GrammarError),
                _limits(limits),
                _asked(cancelled),
                None,
            )
        )

    @staticmethod
    def from_lark(
        text, vocabulary=None, *, grammars=None, limits=None, cancelled=None
    ):
        """The texts of a Lark grammar's rule ``start``.

        ``vocabulary`` is needed where the grammar names tokens by their text.
        ``grammars`` says what ``@name`` stands for: a ``Grammar``, a
        ``StructuralTag``, or the text of a Lark grammar.
        """
        return _lark(None, text, vocabulary, grammars, limits, cancelled)

    @staticmethod
    def from_structural_tag(
        spec, vocabulary=None, *, limits=None, cancelled=None
    ):
        """The texts that a structural tag describes.

        ``spec`` is a ``StructuralTag`` or what one is made of: a ``dict``, JSON
        text, the path of a file.  ``vocabulary`` is needed where the tag names
        tokens by their text.
        """
        if not isinstance(spec, StructuralTag):
            spec = StructuralTag(spec)
        _check_vocabulary(vocabulary)
        return _wrap(
            _parlance.grammar_of_tag(
                spec, vocabulary, _limits(limits), _asked(cancelled)
            )
        )

    @staticmethod
    def union(grammars, *, limits=None, cancelled=None):
        """The texts of any of ``grammars``.

        Here and in ``concat`` a ``StructuralTag`` stands for its grammar.
        """
        return _joined(grammars, False, limits, cancelled)

    @staticmethod
    def concat(grammars, *, limits=None, cancelled=None):
        """A text of each of ``grammars``, one behind the other."""
        return _joined(grammars, True, limits, cancelled)

    def compile(self, vocabulary, *, markers="token", stop_ids=None):
        """A ``Constraint`` for a ``Vocabulary`` or a ``Compiler``.

        The compiler of a vocabulary is made when it is first needed, and kept
        with it. ``stop_ids`` are the tokens that may end a text, by default
        those of the vocabulary; if it does not know any, they have to be given
        (``missing_stop_ids``), and an empty list means that a text is over
        where nothing may follow.

        ``markers`` says how texts that a structural tag itself spells are
        written where the vocabulary has a token for them: ``"token"``, as that
        token; ``"either"``, also spelled; ``"text"``, spelled, and added tokens
        are ordinary ones.
        """
        if isinstance(vocabulary, Compiler):
            if stop_ids is not None:
                raise UsageError(
                    "stop_ids= goes with a Vocabulary; a Compiler has its own"
                )
            return vocabulary.compile(self, markers=markers)
        if not isinstance(vocabulary, _parlance.Vocabulary):
            raise TypeError(
                "vocabulary must be a Vocabulary or a Compiler, not "
                + kind(vocabulary)
            )
        if stop_ids is not None:
            return Compiler(vocabulary, stop_ids=stop_ids).compile(
                self, markers=markers
            )
        compiler = getattr(vocabulary, "_compiler", None)
        if compiler is None:
            compiler = vocabulary._compiler = Compiler(vocabulary)
        return compiler.compile(self, markers=markers)


def _json_schema(
    compiler,
    schema,
    *,
    max_white_space,
    compact,
    indent,
    separators,
    key_order,
    spelling,
    draft,
    closed,
    lenient,
    assert_formats,
    documents,
    limits,
    cancelled,
):
    compact = flag("compact", compact)
    separators = _separators(max_white_space, compact, indent, separators)
    if compact:
        max_white_space = 0
    elif max_white_space is None:
        max_white_space = UNLIMITED
    if indent is not None:
        indent = count("indent", indent, _MOST_INDENT)
    made = _parlance.grammar_of_json_schema(
        _schema_text(schema),
        separators,
        indent,
        count("max_white_space", max_white_space),
        choice("key_order", key_order, ("any", "schema")) == "schema",
        choice("spelling", spelling, ("canonical", "any")) == "any",
        _draft(draft),
        flag("closed", closed),
        flag("lenient", lenient),
        flag("assert_formats", assert_formats),
        {
            url: _schema_text(document)
            for url, document in mapping("documents", documents)
        },
        _limits(limits),
        _asked(cancelled),
        compiler,
    )
    return _wrap(made)


def _lark(compiler, text, vocabulary, grammars, limits, cancelled):
    sources = {}
    made = {}
    for name, grammar in mapping("grammars", grammars):
        if is_a(grammar, str):
            sources[name] = unicode(
                f"grammars[{name!r}]", grammar, GrammarError
            )
        else:
            made[name] = _grammar_of(grammar, f"grammars[{name!r}]")
    _check_vocabulary(vocabulary)
    return _wrap(
        _parlance.grammar_of_lark(
            _text("text", text, GrammarError),
            vocabulary,
            made,
            sources,
            _limits(limits),
            _asked(cancelled),
            compiler,
        )
    )


def _grammar_of(item, what):
    if isinstance(item, StructuralTag):
        return item.grammar()
    if isinstance(item, _parlance.Grammar):
        return item
    raise TypeError(
        f"{what} must be a Grammar or a StructuralTag, not " + kind(item)
    )


def _check_vocabulary(vocabulary):
    if vocabulary is not None and not isinstance(
        vocabulary, _parlance.Vocabulary
    ):
        raise TypeError(
            f"vocabulary must be a Vocabulary, not {kind(vocabulary)}"
        )


def _joined(grammars, in_sequence, limits, cancelled):
    parts = [
        _grammar_of(item, "an item of grammars")
        for item in items("grammars", grammars, _MOST_PARTS)
    ]
    return _wrap(
        _parlance.grammar_of_parts(
            parts, in_sequence, _limits(limits), _asked(cancelled)
        )
    )


def _wrap(made):
    grammar = Grammar.__new__(Grammar)
    _parlance.Grammar.__init__(grammar, made)
    return grammar


class Compiler(_parlance.Compiler):
    """The tables of one vocabulary, the masks that constraints share, and the
    grammars that it has made.

    ``stop_ids`` are the tokens that may end a text, by default those of the
    vocabulary; if it does not know any, compiling is the error
    ``missing_stop_ids``. With an empty list a text is over where nothing may
    follow. ``tables_file`` is one that ``save_tables`` wrote for the same
    vocabulary.  Masks may take ``cache_bytes``, grammars ``grammar_bytes``.

    What its ``compile_...`` functions have made is kept: the same source and
    options give the same automata, and of what is new the schemas that were
    there before are not made again.
    """

    def __init__(
        self,
        vocabulary,
        *,
        cache_bytes=64 << 20,
        grammar_bytes=128 << 20,
        stop_ids=None,
        tables_file=None,
    ):
        super().__init__(
            vocabulary,
            count("cache_bytes", cache_bytes),
            count("grammar_bytes", grammar_bytes),
            stop_ids,
            tables_file,
        )

    def compile_json_schema(
        self,
        schema,
        *,
        max_white_space=64,
        compact=False,
        indent=None,
        separators=None,
        key_order="any",
        spelling="canonical",
        draft=None,
        closed=False,
        lenient=False,
        assert_formats=True,
        documents=None,
        limits=None,
        cancelled=None,
    ):
        """A ``Constraint``; arguments as of ``Grammar.from_json_schema``."""
        return self.compile(
            _json_schema(
                self,
                schema,
                max_white_space=max_white_space,
                compact=compact,
                indent=indent,
                separators=separators,
                key_order=key_order,
                spelling=spelling,
                draft=draft,
                closed=closed,
                lenient=lenient,
                assert_formats=assert_formats,
                documents=documents,
                limits=limits,
                cancelled=cancelled,
            )
        )

    def compile_ebnf(
        self, text, root_rule="root", *, limits=None, cancelled=None
    ):
        """A ``Constraint``; arguments as of ``Grammar.from_ebnf``."""
        made = _parlance.grammar_of_ebnf(
            _text("text", text, GrammarError),
            _text("root_rule", root_rule, GrammarError),
            _limits(limits),
            _asked(cancelled),
            self,
        )
        return self.compile(made)

    def compile_regex(self, pattern, *, limits=None, cancelled=None):
        """A ``Constraint``; arguments as of ``Grammar.from_regex``."""
        made = _parlance.grammar_of_regex(
            _text("pattern", pattern, GrammarError),
            _limits(limits),
            _asked(cancelled),
            self,
        )
        return self.compile(made)

    def compile_lark(
        self, text, *, grammars=None, limits=None, cancelled=None
    ):
        """A ``Constraint``; arguments as of ``Grammar.from_lark``."""
        return self.compile(
            _lark(self, text, None, grammars, limits, cancelled)
        )

    def compile_structural_tag(
        self, spec, *, limits=None, cancelled=None, markers="token"
    ):
        """A ``Constraint``; arguments as of ``Grammar.from_structural_tag``,
        and ``markers`` as of ``Grammar.compile``.

        JSON text is found without being read.
        """
        source = (
            spec.source if isinstance(spec, StructuralTag) else source_of(spec)
        )
        return self._compile_tag(
            _text("spec", source, GrammarError),
            _limits(limits),
            _asked(cancelled),
            markers,
        )

    def save_tables(self, path):
        """Writes the tables into a file; how many bytes it has."""
        return self._write_tables(path)


def fill_bitmasks(matchers, buffer, *, rows=None, threads=0):
    """The masks of many matchers, on threads.

    Row ``i`` is for matcher ``i``, or ``rows[i]`` where ``rows`` is given; other
    rows are left as they are.  ``threads=0`` takes as many as the machine has.
    """
    matchers = items("matchers", matchers, _MOST_PARTS)
    _parlance.fill_bitmasks(matchers, buffer, rows, threads)


def _schema_text(schema):
    if is_a(schema, str):
        return unicode("the schema", schema, SchemaError)
    if not is_a(schema, dict, bool):
        raise SchemaError(
            f"a schema must be a dict, a bool or JSON text, not {kind(schema)}",
            code="wrong_type",
        )
    return _parlance.schema_text(schema)


def _separators(max_white_space, compact, indent, separators):
    """What an exact layout writes between parts; None when it is flexible."""
    if indent is None and separators is None:
        if compact and max_white_space not in (0, 64):
            raise UsageError(
                "compact=True leaves no white space; leave max_white_space out"
            )
        return None
    if compact or max_white_space != 64:
        raise UsageError(
            "indent and separators say exactly how the text is laid out; "
            "leave compact and max_white_space out"
        )
    if separators is None:
        return (",", ": ")  # as json.dumps has it with an indent
    if not is_a(separators, tuple, list) or len(separators) != 2:
        raise TypeError(
            "separators must be a pair of str, what stands between items and "
            f"what between a name and its value, not {shown(separators)}"
        )
    return tuple(_text("an item of separators", item) for item in separators)


def _draft(draft):
    if draft is None:
        return None
    name = draft if is_a(draft, str) else shown(draft)
    name = {"2019": "2019-09", "2020": "2020-12"}.get(name, name)
    if name not in _DRAFTS:
        raise UsageError(
            f"draft must be one of {', '.join(_DRAFTS)}, not {shown(draft)}"
        )
    return _DRAFTS.index(name)


def _asked(cancelled):
    if cancelled is not None and not callable(cancelled):
        raise TypeError(
            "cancelled must be a function without arguments, not "
            + kind(cancelled)
        )
    return cancelled


def _limits(limits):
    out = {}
    for name, value in mapping("limits", limits):
        if name not in _LIMITS:
            raise UsageError(
                f"limits has {shown(name)}; there are {', '.join(_LIMITS)}"
            )
        out[name] = count(name, value)
    return out
