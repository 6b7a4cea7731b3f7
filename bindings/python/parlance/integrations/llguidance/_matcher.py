"""Matchers, by llguidance's names."""

from __future__ import annotations

import ctypes
import os

from ..._arguments import Uncopied
from ..._constraining import fill_bitmasks
from ..._errors import UsageError
from . import _grammars

_LIMITS = {
    "max_items_in_row": 2000,
    "initial_lexer_fuel": 1_000_000,
    "step_lexer_fuel": 200_000,
    "step_max_items": 50_000,
    "max_lexer_states": 250_000,
    "max_grammar_size": 500_000,
    "precompute_large_lexemes": True,
    "verbose_errors": True,
}


class LLParserLimits:
    """llguidance's limits, as attributes.  They have no effect: they count the steps
    of llguidance's own parser.  A grammar has Parlance's limits."""

    def __init__(self, *values, **limits):
        given = {**dict(zip(_LIMITS, values)), **limits}
        unknown = given.keys() - _LIMITS.keys()
        if unknown or len(values) > len(_LIMITS):
            raise TypeError(f"there is no limit {sorted(unknown)}; there are {[*_LIMITS]}")
        for name, default in _LIMITS.items():
            value = given.get(name)
            setattr(self, name, default if value is None else value)


class LLMatcher(Uncopied):
    """Follows one text while a model writes it.

    It does not raise: a grammar that cannot be used, a token that does not fit, and
    a text for which it takes too long to decide what may follow leave the matcher
    with an error for good.

    Args:
        tokenizer: an ``LLTokenizer``.
        grammar: the text of a grammar: what ``grammar_from`` and the functions
            ``grammar_from_…`` return, or Lark.
        log_level, limits: without effect; see ``LLParserLimits``.
    """

    def __init__(self, tokenizer, grammar, *, log_level=1, limits=None):
        self._tokenizer = tokenizer
        self._grammar = grammar
        self._error = ""
        self._matcher = None
        self._ended = 0  # tokens that ended the text, or came after
        try:
            form, text, options = _grammars.recipe(grammar)
            compile = getattr(tokenizer.compiler, "compile_" + form)
            self._matcher = compile(text, **options).matcher()
        except Exception as error:  # noqa: BLE001: whatever the text is
            self._error = str(error) or repr(error)

    grammar_from_json_schema = staticmethod(_grammars.grammar_from_json_schema)

    @staticmethod
    def grammar_from_lark(lark):
        """Returns the text of the grammar of a Lark text: the text itself."""
        return _grammars.grammar_from("lark", lark)

    @staticmethod
    def grammar_from_regex(regex):
        """Returns the text of the grammar of a regular expression."""
        return _grammars.grammar_from("regex", regex)

    @staticmethod
    def validate_grammar(grammar, tokenizer=None, *, limits=None):
        """Returns why a grammar cannot be used, or ``""``.

        Without a tokenizer, tokens that a grammar names are not looked up.
        """
        return _grammars.fault_of(grammar, tokenizer and tokenizer.compiler)

    @staticmethod
    def validate_grammar_with_warnings(grammar, tokenizer=None, *, limits=None):
        """Returns whether a grammar cannot be used, and a list: why, or else the
        texts of ``get_grammar_warnings``."""
        fault = LLMatcher.validate_grammar(grammar, tokenizer)
        return bool(fault), [fault] if fault else _warnings(grammar)

    def get_grammar_warnings(self):
        """What the grammar does not enforce, or narrows: a list of ``str``."""
        return [] if self._matcher is None else _warnings(self._grammar)

    def is_error(self):
        """Whether there is an error."""
        return bool(self.get_error())

    def get_error(self):
        """The error, or ``""``."""
        if not self._error and self._matcher.error is not None:
            return str(self._matcher.error)
        return self._error

    def is_accepting(self):
        """Whether the text may end here."""
        ends = bool(self._ended) or (not self._error and self._matcher.can_end())
        return ends and not self.is_error()

    def is_stopped(self):
        """Whether nothing may follow but a token that ends the text."""
        if self.is_error() or self._ended:
            return True
        return self._matcher.is_terminated()

    def stop_reason(self):
        """Why nothing may follow: ``"EndOfSentence"``, a token ended the text;
        ``"NoExtension"``; ``"ParserTooComplex"``, a limit of work;
        ``"InternalError"``, any other error; else ``"NotStopped"``."""
        if self.is_error():
            return "InternalError" if self._error else "ParserTooComplex"
        if self._ended:
            return "EndOfSentence"
        return "NoExtension" if self._matcher.is_terminated() else "NotStopped"

    def validate_tokens(self, tokens):
        """How many of the tokens fit, one after the other."""
        if self.is_error():
            return 0
        count = self._consumed(tokens)
        self._undo(count)
        return count

    def try_consume_tokens(self, tokens):
        """Appends tokens up to the first that does not fit; returns how many."""
        return 0 if self.is_error() else self._consumed(tokens)

    def consume_tokens(self, tokens):
        """Appends tokens; returns whether all fit.  If not, there is an error."""
        if self.is_error():
            return False
        count = self._consumed(tokens)
        if count < len(tokens) and not self.is_error():
            self._error = f"token {tokens[count]} does not fit the grammar"
        return count == len(tokens)

    def consume_token(self, token):
        """Appends a token; see ``consume_tokens``."""
        return self.consume_tokens([token])

    def _consumed(self, tokens):
        # Invariant: the text is what _matcher has read and then _ended tokens
        # that end it.
        ends = self._tokenizer.eos_tokens
        for count, token in enumerate(tokens):
            if token in ends and self.is_accepting():
                self._ended += 1
            elif self._ended or not self._matcher.accept_token(token):
                return count
        return len(tokens)

    def _undo(self, count):
        ended = min(count, self._ended)
        self._ended -= ended
        return self._matcher.rollback(count - ended)

    def rollback(self, num_tokens):
        """Undoes tokens; ``False`` if there are fewer."""
        if self.is_error() or not (
            0 <= num_tokens <= self._ended + self._matcher.steps()
        ):
            return False
        return self._undo(num_tokens)

    def reset(self):
        """Returns to the beginning of the text."""
        if self.is_error():
            return False
        self._ended = 0
        self._matcher.reset()
        return True

    def deep_copy(self):
        """A matcher in the same state."""
        copy = LLMatcher.__new__(LLMatcher)
        copy.__dict__.update(self.__dict__)
        if self._matcher is not None:
            copy._matcher = self._matcher.copy()
        return copy

    def compute_ff_tokens(self):
        """The tokens that must come next."""
        return [] if self.is_stopped() else self._matcher.forced_tokens()

    def compute_ff_bytes(self):
        """The text that must come next, ``bytes``."""
        return b"" if self.is_stopped() else self._matcher.forced_bytes()

    def get_captures(self):
        """The parts of the text that rules with a capture matched, as pairs of a
        name and ``bytes``, in the order of their ends."""
        if self._matcher is None:
            return []
        return [(one["name"], one["text"]) for one in self._matcher.captures()]

    def get_capture(self, name):
        """The last part of ``get_captures`` with a name, or ``None``."""
        return dict(self.get_captures()).get(name)

    # ---- Masks

    def _size(self):
        """The bytes of a mask."""
        return (self._tokenizer.vocab_size + 31) // 32 * 4

    def _fill_by_itself(self):
        """Whether the mask is the library's, which has still to be made."""
        return not self.is_stopped()

    def _add_ends(self, row):
        """Adds to a mask, ``bytes`` that can be written, what ends the text.

        REQUIRES: ``row`` has the library's mask, or ``is_stopped()`` before it.
        """
        if self.is_stopped():  # also if making the mask took too long
            row[:] = bytes(len(row))
        elif not self._matcher.can_end():
            return
        words = row.cast("I")
        for id in self._tokenizer.eos_tokens:
            words[id >> 5] |= 1 << (id & 31)

    def fill_row(self, row):
        """Writes the mask of the next token into a buffer of int32."""
        view = memoryview(row).cast("B")
        if self._fill_by_itself():
            self._matcher.fill_bitmask(view.cast("i"))
        self._add_ends(view)

    def compute_bitmask(self):
        """The mask of the next token, ``bytes``: a bit for each token, in words of
        32 bits."""
        mask = bytearray(self._size())
        self.fill_row(mask)
        return bytes(mask)

    def compute_logit_bias(self):
        """The mask of the next token, ``bytes``: 200 for each token that fits, else
        0."""
        mask = int.from_bytes(self.compute_bitmask(), "little")
        bits = format(mask, f"0{self._size() * 8}b")[::-1].encode()
        table = bytes.maketrans(b"01", b"\x00\xc8")
        return bits[: self._tokenizer.vocab_size].translate(table)

    def unsafe_compute_mask_ptr(self, trg_pointer, trg_byte_size):
        """Writes the mask of the next token to an address.

        Raises:
            ValueError: a mask has another number of bytes.
        """
        if trg_byte_size != self._size():
            raise UsageError(f"a mask has {self._size()} bytes, not {trg_byte_size}")
        self.fill_row(memory_at(trg_pointer, trg_byte_size))


def _warnings(grammar):
    try:
        report = _grammars.made_of(grammar).report()
    except Exception:  # noqa: BLE001: of a text that names tokens
        return []
    return [f"{one.get('path', '')}: {one.get('message', one)}" for one in report]


def memory_at(address, size):
    """The ``size`` bytes at an address, as a buffer that can be written."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


def fill_rows(matchers, rows, threads=0):
    """Writes the masks of matchers into a buffer, on several threads.

    Args:
        matchers: pairs of an ``LLMatcher`` and the index of its row.
        rows: bytes that can be written, of shape (rows, bytes of a mask).
    """
    making = [(one, row) for one, row in matchers if one._fill_by_itself()]
    if making:
        count, size = rows.shape
        fill_bitmasks(
            [one._matcher for one, _ in making],
            rows.cast("B").cast("i", (count, size // 4)),
            rows=[row for _, row in making],
            threads=threads,
        )
    size = rows.shape[1]
    flat = rows.cast("B")
    for one, row in matchers:
        one._add_ends(flat[row * size : (row + 1) * size])


class LLExecutor:
    """Threads that make masks of several matchers at once.

    Args:
        num_threads: how many; ``None`` for four fifths of the cores, at most 32.
    """

    def __init__(self, num_threads=None):
        cores = os.cpu_count() or 1
        self._threads = num_threads or min(32, max(1, cores * 4 // 5))

    def unsafe_compute_mask_ptr(
        self, interpreters, trg_pointer, one_mask_bytes, trg_batch_size
    ):
        """Writes masks to an address, of shape (``trg_batch_size``,
        ``one_mask_bytes``): that of each pair of a matcher and a row.

        Raises:
            ValueError: a mask has another number of bytes, a matcher or a row comes
                twice, or there is no such row.
        """
        rows = _rows_at(interpreters, trg_pointer, one_mask_bytes, trg_batch_size)
        fill_rows(interpreters, rows, self._threads)

    def unsafe_compute_mask_ptr_with_draft_token(
        self, interpreters, trg_pointer, one_mask_bytes, trg_batch_size
    ):
        """Writes, for each matcher, row and list of draft tokens, the mask before
        the first token to the row and the mask after each token to the next one, up
        to a token that does not fit.  The matchers stay where they are.

        Raises:
            ValueError: as of ``unsafe_compute_mask_ptr``.
        """
        rows = _rows_at(interpreters, trg_pointer, one_mask_bytes, trg_batch_size)
        for matcher, row, draft in interpreters:
            fill_rows([(matcher, row)], rows)
            read = 0
            for token in draft:
                if row + read + 1 >= trg_batch_size:
                    break
                if not matcher.try_consume_tokens([token]):
                    break
                read += 1
                fill_rows([(matcher, row + read)], rows)
            if read:
                matcher.rollback(read)

    def consume_token_par(self, matchers):
        """Appends a token to each matcher; returns whether it fits, for each."""
        return [matcher.consume_token(token) for matcher, token in matchers]


def _rows_at(interpreters, address, size, count):
    for matcher, row, *_ in interpreters:
        if size != matcher._size() or not 0 <= row < count:
            raise UsageError(
                f"row {row} of {count} cannot have the mask, which has "
                f"{matcher._size()} bytes and not {size}"
            )
    return memory_at(address, count * size).cast("B", (count, size))
