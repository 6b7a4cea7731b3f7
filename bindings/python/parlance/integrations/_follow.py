"""What the logits processors share: matchers that follow what a host writes.

A host calls a processor before each token, with all ids so far, the prompt
first.  It does not say what happened since the last call: usually one token was
appended, but a beam may have taken another beam's place, or tokens of a draft
may have been thrown away.  So nothing is assumed: each call compares the ids
with those that the matchers have read, goes back to where they part, and reads
the rest.
"""

from __future__ import annotations

from typing import NamedTuple

from .._constraining import fill_bitmasks
from .._errors import UsageError


class Mismatch(NamedTuple):
    """A token that does not fit; from there on its row is not constrained."""

    row: int  # of the batch
    position: int  # in the response: 0 is the first token after the prompt
    token: int

    def __str__(self):
        return (
            f"token {self.token} at position {self.position} of row {self.row} "
            "does not fit the constraint"
        )


class _Row:
    """One response: a matcher, and the ids that it has read."""

    def __init__(self, matcher, source, ids=()):
        self.matcher = matcher
        self.source = source  # index of the constraint it was made from
        self.ids = list(ids)
        self.mismatch = None  # (position, token)

    def copy(self):
        return _Row(self.matcher.copy(), self.source, self.ids)

    def common(self, ids):
        """How many ids the matcher has read that ``ids`` begin with."""
        if ids[: len(self.ids)] == self.ids:
            return len(self.ids)
        return next(
            (i for i, (a, b) in enumerate(zip(self.ids, ids)) if a != b),
            min(len(self.ids), len(ids)),
        )

    def follow(self, ids):
        """Reads ``ids``, all of the response; sets ``mismatch``."""
        common = self.common(ids)
        if common < len(self.ids):
            self.matcher.rollback(len(self.ids) - common)
            del self.ids[common:]
        fitting = 0
        if common < len(ids) and not self.matcher.is_terminated():
            fitting = self.matcher.accept_tokens(ids[common:])
            self.ids += ids[common : common + fitting]
        at = common + fitting
        # What comes after the end, such as padding, is no concern of ours.
        fits = at == len(ids) or self.matcher.is_terminated()
        self.mismatch = None if fits else (at, ids[at])


class Follower:
    """The base of the logits processors.

    ``constraint`` is a ``Constraint``, or a ``Matcher`` that has read what the
    prompt already holds of the response; or a list of these and ``None`` (not
    constrained), one for each prompt of a batch.

    The first call says how long the prompt is, unless ``prompt_tokens`` does.
    A call with fewer ids than that, and ``reset()``, begin a new response.

    ``on_mismatch`` is called with a ``Mismatch`` for each token that does not
    fit; ``mismatches`` has those of the last call.
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
        self._given_prompt_tokens = prompt_tokens
        self._on_mismatch = on_mismatch
        self._masks = None
        self.reset()

    def reset(self):
        """The next call begins a new response, with a prompt of its own."""
        self._prompt_tokens = self._given_prompt_tokens
        self._rows = []

    @property
    def matchers(self):
        """By row, as of the last call; ``None`` where nothing constrains."""
        return [row and row.matcher for row in self._rows]

    @property
    def mismatches(self):
        """The tokens that did not fit when the host last called."""
        return [
            Mismatch(index, *row.mismatch)
            for index, row in enumerate(self._rows)
            if row is not None and row.mismatch is not None
        ]

    @property
    def finished(self):
        """Whether every constrained row had ended when the host last called."""
        return bool(self._rows) and all(
            row is None or row.matcher.is_terminated() for row in self._rows
        )

    def _response_begin(self, length):
        """Where the response begins among ``length`` ids."""
        if self._prompt_tokens is None or length < self._prompt_tokens:
            self.reset()
            self._prompt_tokens = length
        return self._prompt_tokens

    def _follow(self, responses):
        """Reads the responses so far.

        Gives the masks, a buffer with one row for each, and the rows that are
        constrained; the others hold nothing.
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
                constrained = []  # anything may come
        elif constrained:
            fill_bitmasks(
                [self._rows[index].matcher for index in constrained],
                self._masks,
                rows=constrained,
            )
        return self._masks, constrained

    def _matched(self, responses):
        """For each response the row that has read most of it.

        The rows are as they were; those that two responses go on from are
        copied here, before any of them reads on.
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
