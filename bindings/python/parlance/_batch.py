"""A server's step over many requests."""

from __future__ import annotations

from typing import NamedTuple

from . import _parlance
from ._arguments import Uncopied, count, is_a, items, kind
from ._errors import UsageError

_MAX_ROWS = 1 << 20  # of a step of texts that is no list


class BatchStep(NamedTuple):
    """What a step did, with an item for each row that it was given.

    Attributes:
        accepted: how many of the row's tokens the matcher accepted.
        terminated: whether the matcher has ended.
        constrained: whether masks were written that must be applied.
        deltas: the text that became certain.
        mask_ids: with a ``MaskTable``, the numbers of the masks.
        filled: how many masks it got.
        failed: whether the matcher has an ``error``.
    """

    accepted: list[int]
    terminated: list[bool]
    constrained: list[bool]
    deltas: list[tuple[int, str, str, str, int]]
    mask_ids: list[int]
    filled: list[int]
    failed: list[bool]


BatchStep.accepted.__doc__ = (
    "How many of the row's tokens the matcher accepted; without a matcher, all. "
    "The parser has read these and no others."
)
BatchStep.terminated.__doc__ = (
    "Whether the row's matcher has ended; false without a matcher."
)
BatchStep.constrained.__doc__ = (
    "Whether masks were written for the row that must be applied."
)
BatchStep.deltas.__doc__ = """\
``(row, kind, field, text, call)`` for each piece of text that became certain.

These are the events of the parsers, in order, without the openings and closings
of regions.  ``kind`` is ``"region_chunk"``, ``"region_malformed"`` or
``"text_unclaimed"``, or, from parsers with ``stream_calls=True``, ``"call_open"``
(the text is the name), ``"call_arguments"`` or ``"call_close"`` with the number of
the call; ``call`` is -1 otherwise.
"""
BatchStep.mask_ids.__doc__ = (
    "The number of the row's mask in the ``MaskTable``; -1 if the mask excludes "
    "nothing; -2 if the mask, if one was asked for, is in the buffer."
)
BatchStep.filled.__doc__ = (
    "How many masks the row got, in the buffer or by number: 1, or 0 where none was "
    "asked for; for a draft tree what ``Matcher.fill_tree`` returns."
)
BatchStep.failed.__doc__ = (
    "Whether the row's matcher has an ``error``; false without a matcher."
)


class MaskTable(Uncopied):
    """Masks by number, for engines that keep masks on their device.

        table = MaskTable(compiler)
        step = batch.step(rows, tokens, masks, table=table)
        sent += table.copy_rows(staging, sent)     # rows that are new

    Thousands of requests need few distinct masks.  A mask gets a row of the
    table when it is first needed, and then its number is all that a step sends.
    ``apply_mask_ids`` applies them.  Several batches may share a table.

    Args:
        compiler: the ``Compiler`` of the matchers; the masks of others have no
            row.
        rows: the largest number of rows, at most 1,048,576, of ``mask_words`` words
            of 4 bytes each.  Memory is used as rows are added.

    Raises:
        UsageError: ``rows`` is out of range.
    """

    def __init__(self, compiler, rows=1024):
        if count("rows", rows, 1 << 20) == 0:
            raise UsageError("rows must be at least 1")
        self._table = _parlance.MaskTable(compiler, rows)

    def id_of(self, matcher):
        """The number of the mask of a matcher's next token.

        Args:
            matcher: a ``Matcher``.

        Returns:
            The row of the table, which is added if it is new; -1 if the mask
            excludes nothing; -2 if it has no row, because the table is full or
            the compiler does not keep the mask.

        Raises:
            TypeError: the matcher is none.
            UsageError: the matcher is in use.
        """
        return self._table.id_of(matcher)

    def copy_rows(self, buffer, begin=0):
        """Copies the rows from ``begin`` on to a buffer.

        Args:
            buffer: as of ``Matcher.fill_bitmask``; row ``begin`` goes to its first
                row.
            begin: the first row to copy, for example the number of rows that
                the device has.

        Returns:
            How many rows were copied.

        Raises:
            UsageError: the table has fewer rows than ``begin``, or the buffer has
                too few.
            TypeError: the buffer is none.
        """
        return self._table.copy_rows(buffer, count("begin", begin, 1 << 20))

    def __len__(self):
        """The number of rows so far.  A row never changes, until ``clear``."""
        return self._table.size()

    @property
    def max_rows(self):
        """The largest number of rows."""
        return self._table.max_rows()

    @property
    def mask_words(self):
        """The 32-bit words of a row."""
        return self._table.mask_words()

    @property
    def version(self):
        """How often the table was cleared.  Numbers of another version mean
        nothing."""
        return self._table.version()

    def clear(self):
        """Removes all rows, for example when the table is full.

        Raises:
            UsageError: the table is in use.
        """
        self._table.clear()


class Batch(Uncopied):
    """Matchers and parsers of many requests, which make their steps together.

        batch = Batch()
        row = batch.add(constraint.matcher(), ResponseParser(format, ...))
        step = batch.step([row], [token], masks)

    A step runs on several threads, without the GIL: on fewer if the system has no
    more to give.  After ``os.fork`` the child may use the batch, unless a step was
    being made.

    Args:
        threads: the threads of a step at most; 0 means one for each core.
    """

    def __init__(self, *, threads=0):
        self._batch = _parlance.Batch(count("threads", threads, 256))

    def add(self, matcher=None, parser=None):
        """Adds a row and returns its number.

        Args:
            matcher: a ``Matcher``, which constrains the row; ``None`` for a row
                without a constraint.
            parser: a ``ResponseParser`` or ``TagParser`` made with a
                vocabulary, which reads the row's tokens; ``None`` for none.

        Between two steps both can be used as ever, for example to read the
        message or to undo steps.

        Returns:
            The number, the smallest that is free or new.

        Raises:
            TypeError: an argument is of another class.
            UsageError: the parser reads text.
        """
        return self._batch.add(matcher, parser)

    def remove(self, row):
        """Removes a row.  Its number may be given to a later one.

        Raises:
            UsageError: there is no such row.
        """
        self._batch.remove(row)

    def __len__(self):
        """The number of rows."""
        return self._batch.size()

    def step(
        self,
        rows,
        tokens,
        buffer=None,
        *,
        mask_rows=None,
        drafts=None,
        table=None,
        temperatures=None,
        time_limit=None,
    ):
        """Accepts the tokens of rows, feeds their parsers, fills their masks.

        Args:
            rows: the rows that take part, each once.
            tokens: what was generated for each of them since the last step: one
                id a row, in a list or an array, or a list of lists of ids (none,
                or several where draft tokens were accepted).
            buffer: receives the masks of the next tokens, as of
                ``Matcher.fill_bitmask``.  ``None``: no masks are needed.
            mask_rows: the row of the buffer for each row; -1 for none.  Default:
                one after another.
            drafts: for each row ``None`` or a draft tree ``(first_child,
                next_sibling, tokens)``, as of ``Matcher.fill_tree``; its masks
                take as many rows of the buffer as the tree has nodes.
            table: a ``MaskTable``.  Masks that it has, or can take, are given by
                ``BatchStep.mask_ids`` and not written to the buffer, except those
                of draft trees.
            temperatures: an array of float32 in main memory with an item for each
                row of the buffer, which gets ``Matcher.temperature`` of the token
                that the mask is for; NaN where that is ``None``, where the row has
                no matcher, and where a token of a draft does not fit.
            time_limit: seconds that each draft tree may take, as of
                ``Matcher.fill_tree``.

        Returns:
            A ``BatchStep``.

        Raises:
            UsageError: a row does not exist or stands twice, lengths differ, a
                draft is no tree, the buffer has too few rows, a row of the buffer
                is given twice, a matcher or parser is in use, or a parser is
                finalized.  Nothing was done.
            TypeError: an argument is of another kind.
        """
        if table is not None:
            if not is_a(table, MaskTable):
                raise TypeError(f"table must be a MaskTable, not {kind(table)}")
            table = table._table
        return BatchStep(
            *self._batch.step(
                rows,
                tokens,
                buffer,
                mask_rows,
                drafts,
                table,
                temperatures,
                time_limit,
            )
        )


@_parlance.with_list_shortcut
def feed_deltas(parsers, texts):
    """Feeds a piece of text to each of many parsers.

        for row, kind, field, text, call in feed_deltas(parsers, pieces):
            ...

    The same as ``feed_deltas`` of each parser, for servers whose requests make
    their steps together: one call costs a third less than one for each.  Where
    there are token ids, ``Batch.step`` feeds them.

    Args:
        parsers: ``ResponseParser`` and ``TagParser`` made without a vocabulary.
        texts: for each of them a ``str``, ``bytes`` or ``bytearray``, or
            ``None`` for no text.  Iterators give at most 1,048,576.

    Returns:
        A list of ``(row, kind, field, text, call)``, as ``BatchStep.deltas``;
        ``row`` is the index of the parser.

    Raises:
        UsageError: the lengths differ, or a parser has a vocabulary, is
            finalized, or is in use.  Nothing was fed.
        TypeError: an item is of another class.  Nothing was fed.

    A response that does not fit, without recovery, ends its own row: ``finalize``
    of its parser raises the error.
    """
    if type(parsers) is not list:
        parsers = items("parsers", parsers, _MAX_ROWS)
    if type(texts) is not list:
        texts = items("texts", texts, _MAX_ROWS)
    return _parlance.feed_deltas(parsers, texts)
