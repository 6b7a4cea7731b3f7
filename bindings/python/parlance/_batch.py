"""A server's step over many requests."""

from __future__ import annotations

from typing import NamedTuple

from . import _parlance
from ._arguments import count


class BatchStep(NamedTuple):
    """What a step did, with an item for each row that it was given.

    Attributes:
        accepted: how many of the row's tokens the matcher accepted.
        terminated: whether the matcher has ended.
        constrained: whether masks were written that must be applied.
        deltas: the text that became certain.
    """

    accepted: list[int]
    terminated: list[bool]
    constrained: list[bool]
    deltas: list[tuple[int, str, str, str, int]]


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


class Batch:
    """Matchers and parsers of many requests, which make their steps together.

        batch = Batch()
        row = batch.add(constraint.matcher(), ResponseParser(format, ...))
        step = batch.step([row], [token], masks)

    A step runs on several threads, without the GIL.  After ``os.fork`` the child
    must not use a batch that has made a step.

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

    def step(self, rows, tokens, buffer=None, *, mask_rows=None, drafts=None):
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

        Returns:
            A ``BatchStep``.

        Raises:
            UsageError: a row does not exist or stands twice, lengths differ, the
                buffer has too few rows, a row of the buffer is given twice, or a
                matcher or parser is in use in another thread.  Nothing was done.
            TypeError: an argument is of another kind.
        """
        return BatchStep(
            *self._batch.step(rows, tokens, buffer, mask_rows, drafts)
        )
