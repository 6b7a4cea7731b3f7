"""The base class of the logits processors: matchers that follow a host's ids.

A host, such as ``generate`` of transformers, calls a processor before each token
with all ids so far, beginning with the prompt.  It does not tell what happened
since the last call: usually one token was appended, but a beam may have replaced
another beam, or draft tokens may have been discarded.  So each call compares the
ids with the ids that the matchers have read, rolls the matchers back to the
first difference, and reads the remaining ids.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from .._arguments import count
from .._constraining import fill_bitmasks
from .._errors import UsageError

logger = logging.getLogger("parlance")


def forced_text(matcher):
    """The text that must come next; ``""`` where it is none, after a token that
    ends inside a character."""
    try:
        return matcher.forced_bytes().decode()
    except UnicodeDecodeError:
        return ""


class Appended:
    """A matcher, and the tokens that its host has appended.

    Hosts undo as many tokens as they have appended, also those that the matcher
    has not read, because they came after the end.
    """

    def __init__(self, matcher):
        self.matcher = matcher
        self.unread = 0  # tokens at the end of those appended

    def accept(self, tokens):
        """Appends tokens.  Returns how many fit; all that follow the end do."""
        matcher = self.matcher
        if self.unread:
            self.unread += len(tokens)
            return len(tokens)
        if len(tokens) == 1 and matcher.accept_token(tokens[0]):
            return 1  # most steps
        count = matcher.accept_tokens(tokens)
        ended = matcher.is_terminated() and matcher.error is None
        if count < len(tokens) and ended:
            self.unread = len(tokens) - count
            return len(tokens)
        return count

    def validate(self, tokens):
        """How many of the tokens fit, without appending them."""
        if self.unread:
            return 0
        count = self.matcher.accept_tokens(tokens)
        self.matcher.rollback(count)
        return count

    def rollback(self, count):
        """Undoes tokens; ``False`` if there are fewer."""
        if count < 0:
            return False
        unread = min(count, self.unread)
        if not self.matcher.rollback(count - unread):
            return False
        self.unread -= unread
        return True

    def reset(self):
        self.matcher.reset()
        self.unread = 0


class Mismatch(NamedTuple):
    """A token that does not fit its constraint.

    The row is not constrained from this token on.

    Attributes:
        row: the index of the row in the batch.
        position: the index of the token in the response; 0 is the first token
            after the prompt.
        token: the id of the token.
    """

    row: int
    position: int
    token: int

    def __str__(self):
        return (
            f"token {self.token} at position {self.position} of row {self.row} "
            "does not fit the constraint"
        )


Mismatch.row.__doc__ = "The index of the row in the batch."
Mismatch.position.__doc__ = (
    "The index of the token in the response; 0 is the first after the prompt."
)
Mismatch.token.__doc__ = "The id of the token."


class _Row:
    """One response: a matcher, and the ids that it has read."""

    def __init__(self, matcher, source, ids=()):
        self.matcher = matcher
        self.source = source  # the index of its constraint
        self.ids = list(ids)
        self.mismatch = None  # (position, token)
        self.is_reported = False  # its matcher's error

    def copy(self):
        out = _Row(self.matcher.copy(), self.source, self.ids)
        out.is_reported = self.is_reported
        return out

    def common(self, ids):
        """The length of the common prefix of ``ids`` and the ids read."""
        if ids[: len(self.ids)] == self.ids:
            return len(self.ids)
        return next(
            (i for i, (a, b) in enumerate(zip(self.ids, ids)) if a != b),
            min(len(self.ids), len(ids)),
        )

    def follow(self, ids):
        """Makes the matcher read ``ids``, the whole response; sets ``mismatch``."""
        common = self.common(ids)
        if common < len(self.ids):
            self.matcher.rollback(len(self.ids) - common)
            del self.ids[common:]
        fitting = 0
        if common < len(ids) and not self.matcher.is_terminated():
            fitting = self.matcher.accept_tokens(ids[common:])
            self.ids += ids[common : common + fitting]
        at = common + fitting
        # Ids after the end, such as padding, are ignored.  After an error of the
        # matcher, what it refuses says nothing about the constraint.
        fits = at == len(ids) or self.matcher.is_terminated()
        self.mismatch = None if fits or self.matcher.error else (at, ids[at])


class Follower:
    """The base class of the logits processors.

    A processor is for one response (or batch) at a time.  A call with fewer ids
    than the prompt has, or ``reset()``, begins a new response.

    Args:
        constraint: a ``Constraint``; or a ``Matcher``, which is copied, that
            has already read the part of the response that the prompt wrote; or
            a list of these and ``None`` (not constrained), one for each prompt
            of a batch.
        prompt_tokens: the number of tokens of the prompt.  Default: the number
            of ids of the first call.
        on_mismatch: a function that is called with a ``Mismatch`` for each
            token that does not fit.

    A row whose matcher has an ``error`` may only end: its mask has the stop tokens,
    a line of the log says why, and it is in ``errors``.  If it has no stop tokens,
    the call raises the error.

    Raises:
        UsageError: the list is empty, or ``prompt_tokens`` is negative.
        TypeError: ``constraint`` is none of these.
    """

    def __init__(self, constraint, *, prompt_tokens=None, on_mismatch=None):
        sources = (
            list(constraint)
            if isinstance(constraint, (list, tuple))
            else [constraint]
        )
        if not sources:
            raise UsageError("there is no constraint in the list")
        for source in sources:
            if source is not None and not hasattr(source, "mask_words"):
                raise TypeError(
                    "constraint must be a Constraint, a Matcher, or a list of "
                    f"those and None, not {type(source).__name__}"
                )
        self._sources = sources
        self._words = max(getattr(s, "mask_words", 0) for s in sources)
        if prompt_tokens is not None:
            prompt_tokens = count("prompt_tokens", prompt_tokens)
        self._given_prompt_tokens = prompt_tokens
        self._on_mismatch = on_mismatch
        self._masks = None
        self.reset()

    def reset(self):
        """Makes the next call begin a new response, with a prompt of its own."""
        self._prompt_tokens = self._given_prompt_tokens
        self._rows = []

    @property
    def matchers(self):
        """The matchers of the last call, a list by row; ``None`` for rows that are
        not constrained."""
        return [row and row.matcher for row in self._rows]

    @property
    def mismatches(self):
        """The tokens that did not fit at the last call, a list of ``Mismatch``."""
        return [
            Mismatch(index, *row.mismatch)
            for index, row in enumerate(self._rows)
            if row is not None and row.mismatch is not None
        ]

    @property
    def errors(self):
        """Why it cannot be decided how rows go on, at the last call: a list of pairs
        of the index of the row and the ``GrammarError`` of its matcher."""
        return [
            (index, row.matcher.error)
            for index, row in enumerate(self._rows)
            if row is not None and row.matcher.error is not None
        ]

    @property
    def finished(self):
        """Whether every constrained row had ended at the last call; ``False``
        before the first call."""
        return bool(self._rows) and all(
            row is None or row.matcher.is_terminated() for row in self._rows
        )

    def _response_begin(self, length):
        """The index of the first id of the response among ``length`` ids."""
        if self._prompt_tokens is None or length < self._prompt_tokens:
            self.reset()
            self._prompt_tokens = length
        return self._prompt_tokens

    def _follow(self, responses):
        """Reads the responses so far.

        Returns the masks, a buffer with one row for each response, and the
        indices of the constrained rows; the other rows have no meaning.
        """
        before = {
            index: row.mismatch
            for index, row in enumerate(self._rows)
            if row is not None
        }
        self._rows = self._matched(responses)
        constrained = []
        for index, (row, ids) in enumerate(zip(self._rows, responses)):
            if row is None:
                continue
            row.follow(ids)
            if row.mismatch is None:
                if not row.matcher.is_terminated():
                    constrained.append(index)
            elif row.mismatch != before.get(index) and self._on_mismatch:
                self._on_mismatch(Mismatch(index, *row.mismatch))
        if self._masks is None or self._masks.shape[0] != len(responses):
            shape = (len(responses), self._words)
            memory = bytearray(4 * shape[0] * shape[1])
            self._masks = memoryview(memory).cast("i", shape)
        if len(constrained) == 1:
            index = constrained[0]
            if not self._rows[index].matcher.fill_bitmask(self._masks, index):
                constrained = []  # every token may come
        elif constrained:
            fill_bitmasks(
                [self._rows[index].matcher for index in constrained],
                self._masks,
                rows=constrained,
            )
        for index, error in self.errors:
            row = self._rows[index]
            if not row.matcher.stop_ids:
                raise error
            if not row.is_reported:
                row.is_reported = True
                logger.error("row %s may only end: %s", index, error)
        return self._masks, constrained

    def _matched(self, responses):
        """For each response the row whose ids have the longest common prefix.

        No matcher is advanced here.  A row that several responses continue is
        copied, before any of them reads further ids.
        """
        each, rest = divmod(len(responses), len(self._sources))
        if rest or not each:
            raise UsageError(
                f"the batch has {len(responses)} rows, which cannot be shared "
                f"out among {len(self._sources)} constraints"
            )
        out = []
        for index, ids in enumerate(responses):
            number = index // each
            source = self._sources[number]
            if source is None:
                out.append(None)
                continue
            known = [r for r in self._rows if r and r.source == number]
            own = self._rows[index] if index < len(self._rows) else None
            if own not in known:
                own = None
            if own and (len(known) == 1 or own.common(ids) == len(own.ids)):
                out.append(own)
            elif known:
                best = max(known, key=lambda row: row.common(ids))
                out.append(best.copy())
            else:
                begin = getattr(source, "matcher", None) or source.copy
                out.append(_Row(begin(), number))
        return out
