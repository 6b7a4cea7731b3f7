"""Continuous batching: all live responses advance by one token in each step.

    engine = Engine(model, loop)
    job = Job(prompt_ids, constraint, parser, choose, max_tokens=256)
    engine.submit(job)
    async for update in job.updates():
        show(update.events)

One thread owns the model, the matchers and the parsers.  asyncio, in another
thread, sees only the queue of each job.  A step of the thread:

    1. Jobs enter while rows are free; rows of cancelled jobs leave.
    2. Forced tokens, such as the name of an argument, are appended without
       asking the model.
    3. The model computes the logits of all other rows.
    4. One call computes their masks, one call applies them.
    5. A token is chosen for each row; its matcher and its parser read it.
    6. The events go to the jobs, in one call for all of them.

A row is admitted, advanced or dropped only between two steps, so that a client
that goes away costs at most the step that is running.

What fails for one row, such as the choice of its token, ends this row.  Only a
failure of the model ends all rows of the step.
"""

import asyncio
import collections
import functools
import threading
from typing import NamedTuple

import numpy as np
import parlance


class FunctionModel:
    """A model that is one function: from the ids so far to the next logits.

    An engine needs of a model what this class has: ``vocabulary``, ``width``
    (how many logits there are), ``context`` (the most tokens of one text), and
    the three methods.  Other models keep a cache of keys and values as the
    state of a text.
    """

    def __init__(self, function, vocabulary, width, context=4096):
        self.function = function
        self.vocabulary = vocabulary
        self.width = width
        self.context = context

    def open(self):
        """Returns the state of a new text."""
        return []

    def logits(self, batch):
        """Reads new tokens of several texts.

        Args:
            batch: pairs of a state and the ids that follow.

        Returns:
            A writable float32 array with a row for each pair: the logits of
            the text's next token.
        """
        for ids, new in batch:
            ids += new
        return np.stack([self.function(ids) for ids, _ in batch]).astype("f4")

    def close(self, state):
        """The text of this state has ended."""


class Update(NamedTuple):
    """What a job has to tell its client."""

    events: list
    end: str | None = None  # "stop", "length", "cancelled" or "error"
    error: Exception | None = None  # of "error"


class Busy(Exception):
    """More jobs are waiting than the engine accepts."""


class Job:
    """One response to generate.

    Args:
        prompt: token ids.
        constraint: of the response.
        parser: a ``StoppingParser``.
        choose: a function from a row of logits to a token id.
        max_tokens: the most tokens of the response.
    """

    def __init__(self, prompt, constraint, parser, choose, max_tokens):
        self.prompt = prompt
        self.matcher = constraint.matcher()
        self.parser = parser
        self.choose = choose
        self.max_tokens = max_tokens
        self.length = 0  # of the response, in tokens
        self.cancelled = False
        self._queue = asyncio.Queue()

    def cancel(self):
        """The client is gone: the engine drops the row before its next step."""
        self.cancelled = True
        self._queue.put_nowait(Update([], "cancelled"))

    async def updates(self):
        """Yields updates; the last one has ``end``."""
        while True:
            update = await self._queue.get()
            yield update
            if update.end:
                return


class _Row:
    """A job that the model is working on."""

    def __init__(self, job, state):
        self.job = job
        self.state = state
        self.unread = list(job.prompt)  # ids that the model has not read
        self.end = None

    def take(self, ids):
        """Appends tokens to the response; returns the events they cause."""
        job = self.job
        ids = ids[: job.max_tokens - job.length]
        if job.matcher.accept_tokens(ids) < len(ids):
            raise job.matcher.error or RuntimeError(f"a token of {ids} does not fit")
        self.unread += ids
        job.length += len(ids)
        events = job.parser.feed(ids)
        if job.matcher.is_terminated() or job.parser.found is not None:
            self.end = "stop"
        elif job.length >= job.max_tokens:
            self.end = "length"
        return events

    def chosen(self, scores):
        """The token that follows, in a list; ``scores`` are masked."""
        # After an error the mask has stop tokens only: what the model would end
        # there is not a whole response.
        if self.job.matcher.error:
            raise self.job.matcher.error
        return [int(self.job.choose(scores))]


class Engine:
    """Runs jobs in a thread of its own.

    Args:
        model: see ``FunctionModel``.
        loop: the event loop that reads the jobs' updates.
        rows: how many responses are generated at once.
        waiting: how many jobs may wait for a row.
    """

    def __init__(self, model, loop, *, rows=8, waiting=256):
        self.model = model
        self.max_rows = rows
        self.max_waiting = waiting
        self.steps = 0  # how often the model was asked
        self._loop = loop
        self._rows = []
        self._waiting = collections.deque()
        self._wake = threading.Condition()
        self._closed = False
        words = (len(model.vocabulary) + 31) // 32
        self._masks = np.zeros((rows, words), np.int32)
        self._thread = threading.Thread(target=self._run, name="engine")
        self._thread.start()

    def submit(self, job):
        """Queues a job.  Raises ``Busy`` if too many are waiting."""
        with self._wake:
            if len(self._waiting) >= self.max_waiting:
                live = [one for one in self._waiting if not one.cancelled]
                self._waiting = collections.deque(live)
                if len(live) >= self.max_waiting:
                    raise Busy
            self._waiting.append(job)
            self._wake.notify()

    def close(self):
        """Ends the thread after the running step."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    @property
    def live(self):
        """How many rows the model is working on."""
        return len(self._rows)

    def _run(self):
        while (admitted := self._admit()) is not None:
            updates = []
            for job in admitted:
                self._open(updates, job)
            self._make_step(updates)
            if updates and not self._closed:
                self._loop.call_soon_threadsafe(_deliver, updates)

    def _make_step(self, updates):
        try:
            self._step(updates)
        except Exception as error:  # of the model: what has not ended is lost
            for row in self._rows:
                if not row.end:
                    self._fail(updates, row, error)
        for row in self._rows:
            if row.end:
                self._close(row)
        self._rows = [row for row in self._rows if not row.end]

    def _admit(self):
        """The jobs that get a free row; waits if nothing is to be done.  None: the
        engine ends."""
        with self._wake:
            while True:
                if self._closed:
                    return None
                jobs = []
                while self._waiting and len(self._rows) + len(jobs) < self.max_rows:
                    job = self._waiting.popleft()
                    if not job.cancelled:
                        jobs.append(job)
                if jobs or self._rows:
                    return jobs
                self._wake.wait()

    def _open(self, updates, job):
        try:
            self._rows.append(_Row(job, self.model.open()))
        except Exception as error:
            print(f"engine: {error!r}")
            updates.append((job, Update([], "error", error)))

    def _close(self, row):
        try:
            self.model.close(row.state)
        except Exception as error:  # its client has the response
            print(f"engine: {error!r}")

    def _step(self, updates):
        """One token for each row, and what is forced before it.

        ``updates`` receives what to tell the jobs.  Invariant: the model has
        read the prompt and the response of a row, except ``row.unread``.
        """
        asking = []
        for row in self._rows:
            if row.job.cancelled:
                row.end = "cancelled"
                continue
            self._advance(updates, row, row.job.matcher.forced_tokens)
            if not row.end:
                asking.append(row)
        if not asking:
            return
        logits = self.model.logits([(row.state, row.unread) for row in asking])
        self.steps += 1
        rows = range(len(asking))
        matchers = [row.job.matcher for row in asking]
        parlance.fill_bitmasks(matchers, self._masks, rows=list(rows))
        parlance.apply_bitmask(logits, self._masks[: len(asking)])
        for row, scores in zip(asking, logits):
            row.unread = []
            self._advance(updates, row, functools.partial(row.chosen, scores))

    def _advance(self, updates, row, next_ids):
        """Appends to a row the tokens that a function returns."""
        try:
            ids = next_ids()
            if not ids:
                return
            events = row.take(ids)
            if row.end:
                events += row.job.parser.finalize()[1]
        except Exception as error:  # of this response: only its row is lost
            self._fail(updates, row, error)
            return
        if events or row.end:
            updates.append((row.job, Update(events, row.end)))

    def _fail(self, updates, row, error):
        print(f"engine: {error!r}")
        row.end = "error"
        updates.append((row.job, Update([], "error", error)))


def _deliver(updates):
    for job, update in updates:
        job._queue.put_nowait(update)


def sampler(temperature=1.0, top_p=1.0, seed=None):
    """Returns a function from logits to a token id.

    A temperature of 0 takes the most probable token, and so does a ``top_p`` of 0.
    The function raises ``ValueError`` if no token is possible, or if the logits
    are no numbers.
    """
    generator = np.random.default_rng(seed)

    def choose(logits):
        best = np.argmax(logits)  # the first NaN, if there is one
        if not np.isfinite(logits[best]):
            raise ValueError(f"the most probable token has the logit {logits[best]}")
        if temperature == 0:
            return best
        # Tokens that the mask refuses have minus infinity: probability 0.  The
        # division may overflow to it, and is 0 for the most probable token
        # however small the temperature is, which a float32 may round to 0.
        with np.errstate(over="ignore"):
            weights = np.exp((logits.astype("f8") - logits[best]) / temperature)
        if top_p < 1:
            order = np.argsort(-weights)
            before = np.cumsum(weights[order]) - weights[order]
            beyond = before >= top_p * weights.sum()
            beyond[0] = False  # one token stays, whatever top_p is
            weights[order[beyond]] = 0
        return generator.choice(len(weights), p=weights / weights.sum())

    return choose
