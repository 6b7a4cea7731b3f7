"""Following a text and masking its next token, by XGrammar's names.

Bitmasks and logits are tensors of torch where torch is installed, and arrays of
NumPy otherwise; every function takes both.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import math
import operator
import warnings

from ..._arguments import Uncopied
from ..._constraining import fill_bitmasks
from ..._errors import Error
from ..._logits import apply_bitmask
from .._follow import forced_text
from .compiler import CompiledGrammar
from .exception import runtime_errors

__all__ = [
    "BatchGrammarMatcher",
    "GrammarMatcher",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]

logger = logging.getLogger("parlance.xgrammar")

_BACKENDS = ("auto", "cpu", "cuda", "triton", "torch_compile", "torch_native")


@functools.cache
def _torch():
    """The module torch, or None if it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch


def __getattr__(name):
    if name != "bitmask_dtype":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _torch() is not None:
        return _torch().int32
    import numpy

    return numpy.dtype(numpy.int32)


# ---- Bitmasks.


def get_bitmask_shape(batch_size, vocab_size):
    """Returns ``(batch_size, words)``, the shape of a bitmask: a word has the
    bits of 32 tokens."""
    return batch_size, math.ceil(vocab_size / 32)


def allocate_token_bitmask(batch_size, vocab_size):
    """Returns a bitmask with all bits set, of int32, in main memory."""
    shape = get_bitmask_shape(batch_size, vocab_size)
    torch = _torch()
    if torch is not None:
        return torch.full(shape, -1, dtype=torch.int32)
    import numpy

    return numpy.full(shape, -1, numpy.int32)


def reset_token_bitmask(bitmask):
    """Sets all bits of a bitmask."""
    fill = getattr(bitmask, "fill_", None) or bitmask.fill
    fill(-1)


def apply_token_bitmask_inplace(
    logits, bitmask, *, vocab_size=None, indices=None, backend="auto"
):
    """Sets the logits of the tokens that a bitmask refuses to minus infinity, in
    place.

    Args:
        logits: an array or tensor of floating-point numbers, of shape (columns,)
            or (rows, columns), on any device.
        bitmask: a bitmask on the same device, of shape (words,) or (rows, words).
        vocab_size: the number of columns to change.  Default: those of the
            logits that the bitmask has bits for.
        indices: the indices of the rows of both to use.  Default: all.
        backend: one of XGrammar's names.  Whatever it is, arrays in main memory
            are changed by the library, and tensors by torch's operations.

    Raises:
        ValueError: the shapes, types, devices or rows do not fit.

    A warning says where logits have more columns than the bitmask has bits.
    """
    if backend not in _BACKENDS:
        raise ValueError(f"backend is {backend!r}; it may be {', '.join(_BACKENDS)}")
    torch = _torch()
    if torch is not None and isinstance(logits, torch.Tensor):
        if isinstance(bitmask, torch.Tensor) and bitmask.device != logits.device:
            raise ValueError(
                f"logits are on {logits.device} and the bitmask on {bitmask.device}; "
                "both must be on one device"
            )
    bits = 32 * bitmask.shape[-1]
    if vocab_size is None:
        columns = min(logits.shape[-1], bits)
        if columns < logits.shape[-1]:
            warnings.warn(
                f"the bitmask has {bits} bits and the logits {logits.shape[-1]} "
                "columns: the last ones are left unmasked.  Allocate it for all, or "
                "pass vocab_size",
                stacklevel=2,
            )
    else:
        columns = operator.index(vocab_size)
        if not 0 <= columns <= min(logits.shape[-1], bits):
            raise ValueError(
                f"vocab_size is {columns}, and there are {logits.shape[-1]} columns "
                f"of logits and {bits} bits"
            )
    if columns == 0:
        return
    masks = bitmask[..., : math.ceil(columns / 32)]
    if logits.ndim == 1 and masks.ndim == 2 and len(masks) == 1:
        masks = masks[0]
    elif logits.ndim == 2 and masks.ndim == 1:
        masks = masks.reshape(1, -1)
    if indices is not None:
        indices = _list(indices)
        rows = [len(array) for array in (logits, masks) if array.ndim == 2]
        if any(not 0 <= i < min(rows, default=1) for i in indices):
            raise ValueError(
                f"there are {min(rows, default=1)} rows, and indices has {indices}"
            )
    if logits.ndim == 1 and indices is not None:
        if not indices:
            return
        indices = None
    try:
        apply_bitmask(logits[..., :columns], masks, indices)
    except TypeError as error:
        raise ValueError(str(error)) from error


# ---- Matchers.


class GrammarMatcher(Uncopied):
    """Follows one text while a model writes it, and tells which tokens may come
    next.  ``matcher`` is the ``parlance.Matcher``.

    Where it takes too long to decide what may follow, ``matcher.error`` says why, and
    so does a line of the log.  The text then may only end: the mask has the stop
    tokens, which are accepted, and the text is not completed.

    Args:
        compiled_grammar: a ``CompiledGrammar``.
        override_stop_tokens: an id or a list of the ids that end the text,
            instead of the vocabulary's.
        terminate_without_stop_token: the text ends where it is whole; no stop
            token is accepted.
        max_rollback_tokens: ignored: any number of steps can be undone.
        default_temperature: the value of ``temperature`` where no rule sets one.

    Raises:
        RuntimeError: a stop token is not in the vocabulary, there is none in the
            list, or ``default_temperature`` is no temperature.
    """

    def __init__(
        self,
        compiled_grammar,
        *,
        override_stop_tokens=None,
        terminate_without_stop_token=False,
        max_rollback_tokens=-1,
        default_temperature=None,
    ):
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise ValueError(
                "compiled_grammar must be a CompiledGrammar, not "
                + type(compiled_grammar).__name__
            )
        if max_rollback_tokens != -1:
            warnings.warn(
                "max_rollback_tokens has no effect: any number can be undone",
                DeprecationWarning,
                stacklevel=2,
            )
        if default_temperature is not None:
            default_temperature = float(default_temperature)
            if not 0 <= default_temperature < math.inf:
                raise RuntimeError(
                    "default_temperature must be finite non-negative, not "
                    f"{default_temperature}"
                )
        stops = override_stop_tokens
        if stops is None:
            stops = compiled_grammar.tokenizer_info.stop_token_ids
        else:
            stops = [stops] if isinstance(stops, int) else list(stops)
            if not stops:
                raise RuntimeError("override_stop_tokens must not be empty")
        with runtime_errors():
            self.matcher = compiled_grammar.constraint.matcher(
                stop_ids=stops, default_temperature=default_temperature
            )
        self._stops = stops
        self._without_stop = bool(terminate_without_stop_token)
        self._refused = frozenset(stops) if self._without_stop else ()
        self._is_reported = False  # the matcher's error

    def _has_failed(self):
        """Whether the text may only end, wherever it is."""
        error = self.matcher.error
        if error is None:
            return False
        if not self._is_reported:
            self._is_reported = True
            logger.error("the text may only end: %s", error)
        return True

    def accept_token(self, token_id, *, debug_print=False):
        """Appends a token to the text if it fits; returns whether it does."""
        if token_id in self._refused and not self._has_failed():
            return False
        return self.matcher.accept_token(token_id)

    def accept_string(self, input_str, *, debug_print=False):
        """Appends a ``str`` or ``bytes`` to the text as one step, or nothing;
        returns whether it fits."""
        return self.matcher.accept_bytes(input_str)

    def fill_next_token_bitmask(self, bitmask, index=0, *, debug_print=False):
        """Writes the mask of the next token into a row of a bitmask.

        Args:
            bitmask: int32 in main memory, of shape (words,) or (rows, words): a
                tensor, a NumPy array or anything with DLPack's or the buffer
                protocol.
            index: the index of the row.

        Returns:
            Whether the mask refuses any token, so that it must be applied.

        Raises:
            RuntimeError: a stop token has been accepted, or the bitmask does not
                fit.
        """
        try:
            if self.matcher.fill_bitmask(bitmask, index):
                self._has_failed()
                return True
        except (Error, TypeError) as error:
            raise RuntimeError(str(error)) from error
        return self._constrains(bitmask, index)

    def _constrains(self, bitmask, index):
        """What a mask that refuses nothing means, at the end of the text."""
        if not self.matcher.is_terminated():
            return False
        self._has_failed()
        if self._stops:
            raise RuntimeError("a stop token has been accepted: the text has ended")
        # Nothing may follow, and there is no token that says so.
        row = bitmask if len(bitmask.shape) == 1 else bitmask[index]
        row[:] = 0
        return True

    def traverse_draft_tree(
        self,
        retrieve_next_token,
        retrieve_next_sibling,
        draft_tokens,
        token_bitmask,
        time_threshold=-1.0,
        temperatures=None,
    ):
        """Writes the masks of a tree of draft tokens.

        Node ``i`` is token ``draft_tokens[i]``; node 0 is the root, whose token
        has been accepted.  Row ``i`` gets the mask after node ``i``, or no bit if
        a token on the way from the root does not fit or ends the text.

        Args:
            retrieve_next_token: by node, the index of its first child, or -1: a
                list, or a tensor or array of int64.
            retrieve_next_sibling: by node, the index of its next sibling, or -1.
            draft_tokens: by node, its token.
            token_bitmask: a bitmask with a row for each node.
            time_threshold: seconds after which the call returns and leaves the
                other rows as they are; 0 or less for no limit.
            temperatures: float32 in main memory, one for each node: gets
                ``temperature`` after the node, or -1.

        Returns:
            Whether all masks were written in time.

        Raises:
            RuntimeError: the lists are no tree, or the bitmask does not fit.
        """
        tree = (retrieve_next_token, retrieve_next_sibling, draft_tokens)
        _check_integers(tree)
        size = len(draft_tokens)
        if len(token_bitmask.shape) != 2 or len(token_bitmask) < size:
            raise RuntimeError(
                f"token_bitmask has the shape {tuple(token_bitmask.shape)}; it needs "
                f"a row for each of {size} nodes"
            )
        if temperatures is not None:
            _check_temperatures(temperatures, size)
        try:
            filled = self.matcher.fill_tree(
                *tree,
                token_bitmask,
                temperatures=temperatures,
                time_limit=time_threshold if time_threshold > 0 else None,
                clear_ended=True,
            )
        except (Error, TypeError) as error:
            raise RuntimeError(str(error)) from error
        if temperatures is not None:
            temperatures = temperatures[:size]
            temperatures[temperatures != temperatures] = -1  # NaN
        return filled == size

    def find_jump_forward_string(self):
        """Returns the text that must come next, a ``str``; ``""`` after a token that
        ends inside a character."""
        return forced_text(self.matcher)

    def rollback(self, num_tokens=1):
        """Undoes the last ``num_tokens`` steps.

        Raises:
            RuntimeError: there are fewer steps.
        """
        if num_tokens < 0 or not self.matcher.rollback(num_tokens):
            raise RuntimeError(
                f"cannot undo {num_tokens} steps; there are {self.matcher.steps()}"
            )

    def get_captures(self, *, deduplicate=True):
        """Returns the parts of the text that rules with a capture matched.

        A call reads only what was accepted since the last one.  An ambiguous part
        is as long as it can be.

        Args:
            deduplicate: must be true: there is one part for each capture.

        Returns:
            A list of ``(name, bytes)``, in the order of their ends.
        """
        if not deduplicate:
            raise NotImplementedError(
                "captures are found in the text and not by events: "
                "deduplicate=False is not supported"
            )
        with runtime_errors():
            found = self.matcher.captures()
        return [(capture["name"], capture["text"]) for capture in found]

    def is_terminated(self):
        """Returns whether a stop token was accepted; with
        ``terminate_without_stop_token``, whether the text is whole."""
        if self._without_stop and (self.matcher.can_end() or self._has_failed()):
            return True
        return self.matcher.is_terminated()

    def is_completed(self):
        """Returns whether the text is whole."""
        whole = self.matcher.can_end() or self.matcher.is_terminated()
        return whole and not self._has_failed()

    def reset(self):
        """Returns to the beginning of the text."""
        self.matcher.reset()

    def fork(self):
        """Returns an independent matcher in the same state."""
        other = GrammarMatcher.__new__(GrammarMatcher)
        other.__dict__.update(self.__dict__)
        other.matcher = self.matcher.copy()
        return other

    @property
    def max_rollback_tokens(self):
        """-1: any number of steps can be undone."""
        return -1

    @property
    def temperature(self):
        """The temperature at which to sample the next token: that of the innermost
        open rule that sets one, else ``default_temperature``, or ``None``."""
        return self.matcher.temperature

    @property
    def stop_token_ids(self):
        """The ids of the tokens that end the text, a list of ``int``."""
        return list(self._stops)


def _list(values):
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _check_integers(tree):
    """Raises RuntimeError unless the parts of a tree are lists, or tensors or
    arrays of int64."""
    names = ("retrieve_next_token", "retrieve_next_sibling", "draft_tokens")
    for name, values in zip(names, tree):
        if not str(getattr(values, "dtype", "int64")).endswith("int64"):
            raise RuntimeError(f"{name} holds {values.dtype} and not int64")


def _check_temperatures(temperatures, size):
    """Raises RuntimeError unless ``temperatures`` is an array of float32 with at
    least ``size`` elements."""
    shape = tuple(temperatures.shape)
    if len(shape) != 1 or not str(temperatures.dtype).endswith("float32"):
        raise RuntimeError("the temperatures tensor must be 1-D and of float32")
    if shape[0] < size:
        raise RuntimeError(
            f"the temperatures tensor has {shape[0]} elements for {size} nodes"
        )


class BatchGrammarMatcher:
    """Fills the masks of many matchers, on several threads.

    Args:
        max_threads: the number of threads, or ``"auto"``: one for each core.
    """

    def __init__(self, max_threads="auto"):
        if max_threads != "auto" and max_threads < 1:
            raise RuntimeError("max_threads must be at least 1, or 'auto'")
        self._threads = 0 if max_threads == "auto" else max_threads

    def batch_fill_next_token_bitmask(
        self, matchers, bitmask, indices=None, debug_print=False
    ):
        """Writes the mask of each matcher into a row of a bitmask.

        Args:
            matchers: a list of ``GrammarMatcher``.
            bitmask: as of ``GrammarMatcher.fill_next_token_bitmask``, of shape
                (rows, words).
            indices: the index of the row of each.  Default: row ``i`` for
                matcher ``i``.

        Raises:
            RuntimeError: a matcher has accepted a stop token, or an argument does
                not fit.
        """
        try:
            fill_bitmasks(
                [matcher.matcher for matcher in matchers],
                bitmask,
                rows=indices,
                threads=self._threads,
            )
        except (Error, TypeError) as error:
            raise RuntimeError(str(error)) from error
        for i, matcher in enumerate(matchers):
            matcher._has_failed()
            if matcher.matcher.is_terminated():
                matcher._constrains(bitmask, i if indices is None else indices[i])

    @staticmethod
    def batch_fill_temperature(matchers, temperatures, indices=None):
        """Writes ``temperature`` of each matcher, or -1, into an array of float32
        in main memory.

        Raises:
            RuntimeError: the array or ``indices`` does not fit.
        """
        rows = range(len(matchers)) if indices is None else _list(indices)
        if len(rows) != len(matchers):
            raise RuntimeError(
                f"the indices size is {len(rows)}, and there are {len(matchers)} "
                "matchers"
            )
        _check_temperatures(temperatures, 0)
        if any(not 0 <= row < len(temperatures) for row in rows):
            raise RuntimeError(
                f"an index is out of bounds: the temperatures tensor has "
                f"{len(temperatures)} elements"
            )
        for row, matcher in zip(rows, matchers):
            temperatures[row] = _or_minus_one(matcher.temperature)

    @staticmethod
    def batch_accept_token(matchers, tokens, debug_print=False):
        """Appends a token to each matcher's text if it fits; returns a list of
        ``bool``."""
        _same_length(matchers, tokens, "tokens")
        return [m.accept_token(token) for m, token in zip(matchers, tokens)]

    @staticmethod
    def batch_accept_string(matchers, strings, debug_print=False):
        """Appends a string to each matcher's text if it fits; returns a list of
        ``bool``."""
        _same_length(matchers, strings, "strings")
        return [m.accept_string(text) for m, text in zip(matchers, strings)]

    @staticmethod
    def batch_rollback(matchers, num_tokens=1):
        """Undoes steps of each matcher: a number, or a list with one for each."""
        if isinstance(num_tokens, int):
            num_tokens = [num_tokens] * len(matchers)
        _same_length(matchers, num_tokens, "num_tokens")
        for matcher, number in zip(matchers, num_tokens):
            matcher.rollback(number)


def _or_minus_one(temperature):
    return -1 if temperature is None else temperature


def _same_length(matchers, values, name):
    if len(matchers) != len(values):
        raise RuntimeError(
            f"there are {len(matchers)} matchers and {len(values)} {name}"
        )
