"""Tables of stored responses, batch by batch, with pyarrow.

    from parlance.integrations.arrow import Parse

    parse = Parse("qwen3", column="response")
    table = parse(table)                        # with a column "message"
    batches = map(parse, batches)               # record batches of a stream

For every host that calls a function with tables or record batches of pyarrow:
``mapInArrow`` of Spark, ``Dataset.map`` of Hugging Face, readers of DuckDB.
``parlance.integrations.ray`` has the same class for Ray Data.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from functools import lru_cache

from .. import Format, Vocabulary, parse_arrow
from .._arguments import choice, count, is_a, kind, text
from .._errors import UsageError
from .._tools import ToolSet

__all__ = ["Parse"]


class Parse:
    """A function from a table with responses to a table with messages as well.

    The message is a struct column, as ``parlance.parse_arrow`` makes it; every
    row has one, in the order of the rows, and a response that is null has a
    null message.  Constants are checked here, so that a format that cannot be
    used raises where the program is written and not in a worker.  Pickles to
    the names and texts it was given; each process reads the format once.

    Args:
        format: as ``spec`` of ``Format``, for all responses.  ``None`` if
            ``format_column`` is given.
        column: the column of the responses: texts, or lists of token ids.
        output: the column of the messages.  A column of the table with this
            name is replaced.
        prefix: what the prompts already wrote of the responses, for all.
        tools: as of ``parse_response``, for all responses.
        format_column, prefix_column, tools_column: columns with a text for each
            row, as of ``parlance.parse_arrow``; they replace what is given for
            all, except where they are null.
        vocabulary: for token ids: the path of a tokenizer file or of a model's
            folder (as of ``Vocabulary.from_file``), or a function without
            arguments that returns a ``Vocabulary``.  Each process calls it once.
            A path is read here, too; where it is read again, it must hold the
            same vocabulary.
        markers: how ids write delimiters, as of ``ResponseParser``.
        keep: the columns of the table to keep, or ``None`` for all.
        threads: how many to use in each call; 0: one for each core.  Default: 0,
            and 1 where the host runs a call for each core.

    Raises:
        TemplateError: ``format`` cannot be used.
        TypeError: ``tools`` is no list of tools.
        UsageError: arguments do not fit each other.
        OSError: there is no vocabulary at the path.

    Memory: about three times that of the largest table.
    """

    _default_threads = 0

    def __init__(
        self,
        format=None,
        *,
        column="text",
        output="message",
        prefix=None,
        tools=None,
        format_column=None,
        prefix_column=None,
        tools_column=None,
        vocabulary=None,
        markers="token",
        keep=None,
        threads=None,
    ):
        if (format is None) == (format_column is None):
            raise UsageError(
                "give either format, for all responses, or format_column"
            )
        self._format = None if format is None else pickle.dumps(Format(format))
        self._column = text("column", column)
        self._output = text("output", output)
        self._prefix = None if prefix is None else text("prefix", prefix)
        self._tools = _text_of_tools(tools)
        # The arguments of parse_arrow that columns of the table replace.
        self._by_row = {
            name: text(f"{name}_column", one)
            for name, one in (
                ("format", format_column),
                ("prefix", prefix_column),
                ("tools", tools_column),
            )
            if one is not None
        }
        for name, given in (("prefix", prefix), ("tools", tools)):
            if given is not None and name in self._by_row:
                raise UsageError(f"give either {name} or {name}_column")
        if vocabulary is not None and not callable(vocabulary):
            vocabulary = os.fspath(vocabulary)
            vocabulary = vocabulary, _remember(Vocabulary.from_file(vocabulary))
        self._vocabulary = vocabulary
        self._markers = choice("markers", markers, ("token", "either", "text"))
        if keep is not None:
            if is_a(keep, str):
                raise TypeError("keep must be a list of names, not str")
            keep = [text("a name in keep", one) for one in keep]
        self._keep = keep
        if threads is None:
            threads = self._default_threads
        self._threads = count("threads", threads, 2**31 - 1)

    def __call__(self, table):
        """Returns the table, or record batch, with the column of messages.

        Raises:
            UsageError: the table lacks a column.
            TypeError: ``table`` is not of pyarrow, or a column has another type.
        """
        import pyarrow  # imported already: the argument is of its classes

        if not is_a(table, pyarrow.Table, pyarrow.RecordBatch):
            raise TypeError(
                "a table or record batch of pyarrow is needed, not "
                f"{kind(table)}; with Ray, pass batch_format=\"pyarrow\""
            )
        arguments = {"prefix": self._prefix, "tools": _tool_set(self._tools)}
        arguments["format"] = self._format and _format(self._format)
        for name, column in self._by_row.items():
            arguments[name] = _column(table, column)
        messages = pyarrow.chunked_array(
            parse_arrow(
                _column(table, self._column),
                vocabulary=_vocabulary(self._vocabulary),
                markers=self._markers,
                threads=self._threads,
                **arguments,
            )
        )
        if is_a(table, pyarrow.RecordBatch):
            messages = messages.combine_chunks()
        if self._keep is None:  # whatever their names, which may be there twice
            kept = [
                (name, table.column(i))
                for i, name in enumerate(table.column_names)
                if name != self._output
            ]
        else:
            names = [name for name in self._keep if name != self._output]
            kept = [(name, _column(table, name)) for name in names]
        names = [name for name, _ in kept]
        columns = [column for _, column in kept]
        return type(table).from_arrays(
            [*columns, messages], names=[*names, self._output]
        )

    @property
    def vocabulary_digest(self):
        """What distinguishes the vocabulary at a path from others; ``None``
        without a path."""
        known = self._vocabulary
        return None if known is None or callable(known) else known[1]

    def schema(self, schema):
        """The schema of the result for a ``pyarrow.Schema`` of the argument.

        ``pyspark.sql.pandas.types.from_arrow_schema`` makes Spark's of it.
        """
        import pyarrow

        return self(pyarrow.Table.from_batches([], schema)).schema


def _column(table, name):
    if table.column_names.count(name) > 1:
        raise UsageError(
            f"the table has {table.column_names.count(name)} columns {name!r}; it "
            "must have one"
        )
    if name not in table.column_names:
        listed = ", ".join(repr(one) for one in table.column_names[:20])
        raise UsageError(
            f"the table has no column {name!r}; it has {listed or 'none'}"
        )
    return table.column(name)


def _text_of_tools(tools):
    return None if tools is None else ToolSet(tools)._text


# What a process has read, by what Parse was pickled to.


@lru_cache(maxsize=32)
def _format(pickled):
    return pickle.loads(pickled)


@lru_cache(maxsize=32)
def _tool_set(tools):
    return None if tools is None else ToolSet(tools)


@lru_cache(maxsize=8)
def _made_vocabulary(make):
    return make()


# Files are known by what they hold: the file at a path may be another one later.
_vocabularies = {}
_MAX_VOCABULARIES = 8


def _remember(vocabulary):
    """The digest by which a vocabulary is known."""
    digest = hashlib.sha256(vocabulary.to_bytes()).hexdigest()
    if len(_vocabularies) >= _MAX_VOCABULARIES:
        _vocabularies.clear()
    _vocabularies[digest] = vocabulary
    return digest


def _vocabulary(source):
    if source is None:
        return None
    if callable(source):
        return _made_vocabulary(source)
    path, digest = source
    vocabulary = _vocabularies.get(digest)
    if vocabulary is None:
        vocabulary = Vocabulary.from_file(path)
        if _remember(vocabulary) != digest:
            raise UsageError(
                f"{path} holds another vocabulary than when this Parse was made"
            )
    return vocabulary
