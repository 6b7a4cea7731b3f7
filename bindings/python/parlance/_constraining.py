"""Grammars, compilers and masks.

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
from ._arguments import (
    check_vocabulary,
    choice,
    count,
    flag,
    is_a,
    items,
    kind,
    mapping,
    plain,
    shown,
)
from ._arguments import text as _text, unicode
from ._errors import GrammarError, SchemaError, UsageError
from ._structural_tags import StructuralTag, source_of
from ._tools import schema_of

UNLIMITED = 2**64 - 1
_MAX_INDENT = 2**32 - 1
_MAX_PARTS = 2**20  # of a union, or matchers of a batch

# ORDER: SchemaDraft
_DRAFTS = ("4", "6", "7", "2019-09", "2020-12")
# ORDER: JsonSpelling
_SPELLINGS = ("canonical", "any", "raw")
_LIMITS = _parlance.limit_names


class Grammar(_parlance.Grammar):
    """A language of texts.  Immutable; may be shared between threads.

    Made by the functions that begin with ``from_``, by ``union`` and
    ``concat``, and by ``StructuralTag.grammar``.  Every text that the grammar
    of a JSON Schema accepts is valid under the schema; ``report()`` lists where
    the grammar accepts fewer texts, and which keywords have no effect.

    All of these functions take two arguments that bound the compile:

    * ``limits``, a mapping with any of ``"alternatives"`` (how many
      combinations of alternatives one value may have to follow at once, 512 by
      default), ``"steps"`` (of reasoning about a schema, 4,000,000),
      ``"depth"`` (levels of arrays and objects of the text, 1000),
      ``"bytes"`` (of automata, 256 MiB) and ``"work"`` (steps of one call of a
      ``Matcher``, 4,000,000).  A grammar beyond a limit is an error with the
      code ``"too_large"``; for the work, and for the steps of one call, see
      ``Matcher.error``.
    * ``cancelled``, a function without arguments that is called about every
      20 ms.  When it returns a true value, the compile ends with an error
      (``"too_large"``).  Ctrl-C ends it with ``KeyboardInterrupt``.
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
        """Returns the grammar of the JSON texts that are valid under a schema.

        Args:
            schema: a JSON Schema: a ``dict``, a ``bool``, JSON text, or a class or
                ``TypeAdapter`` of pydantic, which stands for its schema.
            max_white_space: the largest number of bytes of white space between
                two parts of the text; ``None`` for no limit.
            compact: no white space at all.
            indent, separators: the layout is exactly the one that
                ``json.dumps`` writes for these arguments.  Excludes
                ``compact`` and ``max_white_space``.
            key_order: ``"any"``, or ``"schema"``: declared properties in the
                order of the schema, which makes smaller automata.  One
                whose turn is over cannot come any more.
            spelling: how names and values that the schema fixes are written:
                ``"canonical"``, as ``json.dumps(..., ensure_ascii=False)``
                does, so that an integer is digits; ``"any"``, in every
                spelling that JSON has; ``"raw"``: the texts are the strings of
                the schema, without quotes and escapes.
            draft: ``"4"``, ``"6"``, ``"7"``, ``"2019-09"`` or ``"2020-12"``.
                Default: what ``"$schema"`` says, otherwise 2020-12.
            closed: properties and items that the schema does not list are
                forbidden unless it says otherwise.
            lenient: keywords that cannot be enforced are ignored and reported
                instead of being an error.
            assert_formats: enforce ``"format"`` for the known names.
            documents: a mapping from absolute URLs to the schemas that
                ``"$ref"`` may refer to.
            limits, cancelled: see the class.

        Raises:
            SchemaError: the schema is malformed, cannot be enforced, has no
                valid text (``"unsatisfiable"``), or exceeds a limit
                (``"too_large"``).  ``path`` is the JSON pointer.
            UsageError: the options do not fit each other.
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
        """Returns the grammar of an EBNF text.

        Args:
            text: the EBNF, a ``str``, in the dialect of XGrammar.  For the
                GBNF of llama.cpp see ``from_gbnf``.
            root_rule: the name of the rule that a whole text matches.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the text is malformed or cannot be used; ``span`` is
                in the UTF-8 bytes of ``text``.
        """
        return _wrap(
            _parlance.grammar_of_ebnf(
                _text("text", text, GrammarError),
                _text("root_rule", root_rule, GrammarError),
                _limits(limits),
                _checked_callback(cancelled),
                None,
            )
        )

    @staticmethod
    def from_gbnf(
        text, vocabulary=None, root_rule="root", *, limits=None, cancelled=None
    ):
        """Returns the grammar of a GBNF text, as llama.cpp reads it.

        Args:
            text: the GBNF, a ``str``.
            vocabulary: a ``Vocabulary``.  Required if the grammar names tokens
                by their text (``<think>``).
            root_rule: the name of the rule that a whole text matches.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the text is malformed or cannot be used; ``span`` is
                in the UTF-8 bytes of ``text``.
        """
        return _gbnf(None, text, vocabulary, root_rule, limits, cancelled)

    @staticmethod
    def from_regex(pattern, *, limits=None, cancelled=None):
        """Returns the grammar of the texts that a pattern matches as a whole.

        Args:
            pattern: a regular expression, a ``str``.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the pattern is malformed (``"bad_pattern"``) or not
                supported (``"unsupported_pattern"``).
        """
        return _wrap(
            _parlance.grammar_of_regex(
                _text("pattern", pattern, GrammarError),
                _limits(limits),
                _checked_callback(cancelled),
                None,
            )
        )

    @staticmethod
    def from_lark(
        text,
        vocabulary=None,
        *,
        start="start",
        grammars=None,
        limits=None,
        cancelled=None,
    ):
        """Returns the grammar of a Lark text.

        Args:
            text: the grammar, a ``str``, as Lark and llguidance read it.
            vocabulary: a ``Vocabulary``.  Required if the grammar names tokens
                by their text.
            start: the name of the rule that a whole text matches.
            grammars: a mapping from ``name`` to what ``@name`` stands for: a
                ``Grammar``, a ``StructuralTag``, or a Lark text.
                ``%import name.X`` imports from a Lark text.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the text is malformed or cannot be used; ``span`` is
                in the UTF-8 bytes of ``text``.
        """
        return _lark(
            None, text, vocabulary, start, grammars, limits, cancelled
        )

    @staticmethod
    def from_structural_tag(
        spec, vocabulary=None, *, limits=None, cancelled=None
    ):
        """Returns the grammar of the texts that a structural tag describes.

        Args:
            spec: a ``StructuralTag``, or a ``dict``, JSON text or the path of
                a file to make one of.
            vocabulary: a ``Vocabulary``.  Required if the tag names tokens by
                their text.
            limits, cancelled: see the class.

        Raises:
            GrammarError: the tag, or a schema, pattern or grammar in it, cannot
                be used; ``path`` is the JSON pointer into ``spec``.
        """
        if not isinstance(spec, StructuralTag):
            spec = StructuralTag(spec)
        check_vocabulary(vocabulary)
        return _wrap(
            _parlance.grammar_of_tag(
                spec, vocabulary, _limits(limits), _checked_callback(cancelled)
            )
        )

    @staticmethod
    def union(grammars, *, limits=None, cancelled=None):
        """Returns the grammar of the texts of any of ``grammars``.

        Args:
            grammars: an iterable of ``Grammar`` or ``StructuralTag`` (which
                stands for its grammar), at least one and at most 2**20.
            limits, cancelled: see the class.

        Raises:
            GrammarError: there are no grammars, or the union exceeds a limit.
        """
        return _joined(grammars, False, limits, cancelled)

    @staticmethod
    def concat(grammars, *, limits=None, cancelled=None):
        """Returns the grammar of concatenations: a text of each of ``grammars``,
        one after the other.

        Args:
            grammars, limits, cancelled: as of ``union``.

        Raises:
            GrammarError: as of ``union``.
        """
        return _joined(grammars, True, limits, cancelled)

    @staticmethod
    def from_bytes(data, *, limits=None, cancelled=None):
        """Makes a grammar of what ``to_bytes`` returned.

        Args:
            data: ``bytes``.
            limits: the largest limits that the grammar may have been made with.
                Default: those that grammars have by default.
            cancelled: see the class.

        Raises:
            GrammarError: the bytes are damaged or no grammar
                (``"invalid_value"``), or of another version
                (``"unsupported_version"``); the grammar was made with a limit
                beyond ``limits`` (``"too_large"``); and the errors of the
                function that made the grammar.
        """
        return _wrap(
            _parlance.grammar_of_bytes(
                data, _limits(limits), _checked_callback(cancelled)
            )
        )

    def __reduce__(self):
        return _load_grammar, (self.to_bytes(),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def compile(self, vocabulary, *, markers="token", stop_ids=None):
        """Returns the ``Constraint`` of this grammar for a vocabulary.

        Args:
            vocabulary: a ``Vocabulary``, or a ``Compiler``.  The compiler of a
                vocabulary is made when it is first needed, and cached in the
                vocabulary.
            markers: how a text that a structural tag itself spells is written
                if the vocabulary has a token for it: ``"token"``, as this
                token; ``"either"``, also spelled by other tokens; ``"text"``,
                spelled by any tokens, added tokens being ordinary text.
            stop_ids: ids of the tokens that may end a text.  Default: those of
                the vocabulary.  With an empty list a text ends where nothing
                may follow.  Not allowed with a ``Compiler``.

        Raises:
            Error: the vocabulary does not know its stop ids, and none are given
                (``"missing_stop_ids"``), or the name of a tool cannot be
                written (``"conflict"``).
            UsageError: ``stop_ids`` with a compiler, or not in the vocabulary.

        What masks need is built when masks are asked for.
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


# Who loads a pickle trusts it.
_UNBOUNDED = dict.fromkeys(_LIMITS, UNLIMITED)


def _load_grammar(data):
    return Grammar.from_bytes(data, limits=_UNBOUNDED)


def _load_compiler(vocabulary, options):
    return Compiler(vocabulary, **options)


def _load_constraint(compiler, data):
    return compiler.constraint_from_bytes(data, limits=_UNBOUNDED)


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
        indent = count("indent", indent, _MAX_INDENT)
    made = _parlance.grammar_of_json_schema(
        _schema_text(schema),
        separators,
        indent,
        count("max_white_space", max_white_space),
        choice("key_order", key_order, ("any", "schema")) == "schema",
        _SPELLINGS.index(choice("spelling", spelling, _SPELLINGS)),
        _draft(draft),
        flag("closed", closed),
        flag("lenient", lenient),
        flag("assert_formats", assert_formats),
        {
            url: _schema_text(document)
            for url, document in mapping("documents", documents)
        },
        _limits(limits),
        _checked_callback(cancelled),
        compiler,
    )
    return _wrap(made)


def _gbnf(compiler, text, vocabulary, root_rule, limits, cancelled):
    check_vocabulary(vocabulary)
    return _wrap(
        _parlance.grammar_of_gbnf(
            _text("text", text, GrammarError),
            vocabulary,
            _text("root_rule", root_rule, GrammarError),
            _limits(limits),
            _checked_callback(cancelled),
            compiler,
        )
    )


def _lark(compiler, text, vocabulary, start, grammars, limits, cancelled):
    sources = {}
    made = {}
    for name, grammar in mapping("grammars", grammars):
        if is_a(grammar, str):
            sources[name] = unicode(
                f"grammars[{name!r}]", grammar, GrammarError
            )
        else:
            made[name] = _grammar_of(grammar, f"grammars[{name!r}]")
    check_vocabulary(vocabulary)
    return _wrap(
        _parlance.grammar_of_lark(
            _text("text", text, GrammarError),
            vocabulary,
            _text("start", start, GrammarError),
            made,
            sources,
            _limits(limits),
            _checked_callback(cancelled),
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


def _joined(grammars, in_sequence, limits, cancelled):
    parts = [
        _grammar_of(item, "an item of grammars")
        for item in items("grammars", grammars, _MAX_PARTS)
    ]
    return _wrap(
        _parlance.grammar_of_parts(
            parts, in_sequence, _limits(limits), _checked_callback(cancelled)
        )
    )


def _wrap(made):
    grammar = Grammar.__new__(Grammar)
    _parlance.Grammar.__init__(grammar, made)
    return grammar


class Compiler(_parlance.Compiler):
    """Compiles grammars for one vocabulary, and caches grammars and masks.

    The ``compile_...`` functions cache what they compile: the same source and
    options give the same automata at no cost, and in a new source the schemas
    that were compiled before are not compiled again.  May be shared between
    threads.

    Args:
        vocabulary: a ``Vocabulary``.
        cache_bytes: memory for the masks that constraints share, in bytes
            (default 32 MiB).  Beyond it, the least recently used masks are
            evicted, and computed again when they are needed.
        grammar_bytes: memory for cached grammars, in bytes (default 128 MiB);
            0 caches none.
        stop_ids: ids of the tokens that may end a text.  Default: those of the
            vocabulary; if it does not know them, compiling raises
            ``"missing_stop_ids"``.  With an empty list a text ends where
            nothing may follow.

    The tables of the vocabulary are those of the file that it was loaded from
    (``Vocabulary.load``); else they are built, in about 0.1 s for 128,000
    tokens.

    A compiler that is pickled takes its vocabulary and options along, without
    what it has cached.

    Raises:
        UsageError: a stop id is not in the vocabulary, or a size is negative.
        Error: the tables of the vocabulary would be too large
            (``"too_large"``).
    """

    def __init__(
        self,
        vocabulary,
        *,
        cache_bytes=32 << 20,
        grammar_bytes=128 << 20,
        stop_ids=None,
    ):
        # The caller's list may change later.
        if stop_ids is not None:
            stop_ids = tuple(_parlance.read_ids(stop_ids, "stop_ids"))
        options = {
            "cache_bytes": count("cache_bytes", cache_bytes),
            "grammar_bytes": count("grammar_bytes", grammar_bytes),
            "stop_ids": stop_ids,
        }
        super().__init__(vocabulary, *options.values())
        # Who uses the compiler may need it when the vocabulary is gone.
        self._encoder = getattr(vocabulary, "_encoder", None)
        self._options = options

    def __reduce__(self):
        return _load_compiler, (self._vocabulary(), self._options)

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
        """Compiles a JSON Schema into a ``Constraint``, using the cache.

        Arguments and errors: see ``Grammar.from_json_schema`` and ``compile``.
        """
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
        """Compiles an EBNF text into a ``Constraint``, using the cache.

        Arguments and errors: see ``Grammar.from_ebnf`` and ``compile``.
        """
        made = _parlance.grammar_of_ebnf(
            _text("text", text, GrammarError),
            _text("root_rule", root_rule, GrammarError),
            _limits(limits),
            _checked_callback(cancelled),
            self,
        )
        return self.compile(made)

    def compile_regex(self, pattern, *, limits=None, cancelled=None):
        """Compiles a regular expression into a ``Constraint``, using the cache.

        Arguments and errors: see ``Grammar.from_regex`` and ``compile``.
        """
        made = _parlance.grammar_of_regex(
            _text("pattern", pattern, GrammarError),
            _limits(limits),
            _checked_callback(cancelled),
            self,
        )
        return self.compile(made)

    def compile_gbnf(
        self, text, root_rule="root", *, limits=None, cancelled=None
    ):
        """Compiles a GBNF text into a ``Constraint``, using the cache.

        Tokens that the text names are looked up in the compiler's vocabulary.
        Arguments and errors: see ``Grammar.from_gbnf`` and ``compile``.
        """
        return self.compile(
            _gbnf(self, text, None, root_rule, limits, cancelled)
        )

    def compile_lark(
        self,
        text,
        *,
        start="start",
        grammars=None,
        limits=None,
        cancelled=None,
    ):
        """Compiles a Lark text into a ``Constraint``, using the cache.

        Tokens that the text names are looked up in the compiler's vocabulary.
        Arguments and errors: see ``Grammar.from_lark`` and ``compile``.
        """
        return self.compile(
            _lark(self, text, None, start, grammars, limits, cancelled)
        )

    def compile_structural_tag(
        self, spec, *, limits=None, cancelled=None, markers="token"
    ):
        """Compiles a structural tag into a ``Constraint``, using the cache.

        Tokens that the tag names are looked up in the compiler's vocabulary.
        JSON text that is in the cache is not read again.

        Args:
            spec, limits, cancelled: as of ``Grammar.from_structural_tag``.
            markers: as of ``Grammar.compile``.

        Raises:
            GrammarError: the tag cannot be used or compiled.
        """
        tag = spec if isinstance(spec, StructuralTag) else None
        source = source_of(spec) if tag is None else tag.source
        return self._compile_tag(
            _text("spec", source, GrammarError),
            tag,
            _limits(limits),
            _checked_callback(cancelled),
            markers,
        )

    def constraint_from_bytes(self, data, *, limits=None, cancelled=None):
        """Compiles what ``Constraint.to_bytes`` returned.

        Args:
            data: ``bytes``.
            limits, cancelled: as of ``Grammar.from_bytes``.

        Raises:
            Error: the constraint was compiled for another vocabulary
                (``"bad_vocabulary"``), the bytes are damaged or no constraint
                (``"invalid_value"``), and as of ``Grammar.from_bytes``.
        """
        return self._constraint_from_bytes(
            data, _limits(limits), _checked_callback(cancelled)
        )


def fill_bitmasks(matchers, buffer, *, rows=None, threads=0):
    """Writes the next masks of many matchers, on several threads.

    Args:
        matchers: ``Matcher`` objects, each at most once.
        buffer: as of ``Matcher.fill_bitmask``, with a row for each matcher.
        rows: the index of the row of each matcher.  Default: row ``i`` for
            matcher ``i``.  Other rows are left unchanged.
        threads: how many threads to use; 0 means one for each core.

    Raises:
        UsageError: a matcher or row is given twice, a row does not exist, the
            numbers of rows and matchers differ, or a matcher is in use.
        TypeError: ``buffer`` is no such array.
    """
    matchers = items("matchers", matchers, _MAX_PARTS)
    threads = count("threads", threads, 2**31 - 1)
    _parlance.fill_bitmasks(matchers, buffer, rows, threads)


def _schema_text(schema):
    schema = schema_of(schema)
    if is_a(schema, str):
        return unicode("the schema", schema, SchemaError)
    if not is_a(schema, dict, bool):
        raise SchemaError(
            "a schema must be a dict, a bool, JSON text, or a class or TypeAdapter "
            f"of pydantic, not {kind(schema)}",
            code="wrong_type",
        )
    return _parlance.schema_text(schema)


def _separators(max_white_space, compact, indent, separators):
    """The two separators of an exact layout; None for a flexible one."""
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
        return (",", ": ")  # the default of json.dumps with an indent
    if not is_a(separators, tuple, list) or len(separators) != 2:
        raise TypeError(
            "separators must be a pair of str, what stands between items and "
            f"what between a name and its value, not {shown(separators)}"
        )
    return tuple(_text("an item of separators", item) for item in separators)


def _draft(draft):
    if draft is None:
        return None
    name = plain(draft) if is_a(draft, str) else shown(draft)
    name = {"2019": "2019-09", "2020": "2020-12"}.get(name, name)
    if name not in _DRAFTS:
        raise UsageError(
            f"draft must be one of {', '.join(_DRAFTS)}, not {shown(draft)}"
        )
    return _DRAFTS.index(name)


def _checked_callback(cancelled):
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
