"""Tokenizers, by llguidance's names."""

from __future__ import annotations

import os
import re
from functools import cached_property

from ..._constraining import Compiler
from ..._errors import UsageError
from ..._parlance import Vocabulary

# The tokens that llguidance's tokenizer of bytes has after the 256 bytes.
_BYTE_MARKS = ("tool", "/tool", "user", "system", "assistant", "end")


class TokenizerWrapper:
    """A tokenizer object of the library guidance, for ``LLTokenizer``.

    Args:
        gtokenizer: a function from text (``bytes``, or else ``str``) to ids, with
            ``tokens`` (``bytes`` by id), ``eos_token_id``, ``bos_token_id`` and,
            if there are any, ``special_token_ids``.
    """

    def __init__(self, gtokenizer):
        self.eos_token_id = gtokenizer.eos_token_id
        self.bos_token_id = gtokenizer.bos_token_id
        self.tokens = gtokenizer.tokens
        self.special_token_ids = getattr(gtokenizer, "special_token_ids", [])
        self._gtokenizer = gtokenizer
        try:
            gtokenizer(b"test")
            self._takes_bytes = True
        except Exception:  # noqa: BLE001: whatever it raises of bytes
            self._takes_bytes = False

    def __call__(self, text):
        return self._gtokenizer(text.encode() if self._takes_bytes else text)


def _vocabulary_of(tokenizer):
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    if isinstance(tokenizer, TokenizerWrapper):
        special = {*tokenizer.special_token_ids, tokenizer.eos_token_id}
        made = Vocabulary(
            [bytes(token) or None for token in tokenizer.tokens],
            control_ids=sorted(special),
            stop_ids=[tokenizer.eos_token_id],
        )
        return made.with_encoder(tokenizer)
    if tokenizer == "byte":
        marks = [f"<|{name}|>".encode() for name in _BYTE_MARKS]
        made = Vocabulary(
            [bytes([i]) for i in range(256)] + marks,
            control_ids=range(256, 256 + len(marks)),
            stop_ids=[255 + len(marks)],
        )
        return made.with_encoder(lambda text: list(text.encode()))
    if isinstance(tokenizer, str) and tokenizer.lstrip().startswith("{"):
        return Vocabulary.from_tokenizer_json(tokenizer)
    return Vocabulary.from_file(os.fspath(tokenizer))


class LLTokenizer:
    """A vocabulary, and a compiler for it.

    ``vocabulary`` is the ``parlance.Vocabulary``.  Without an encoder of its own
    (``vocabulary.has_encoder``) the tokenizer writes texts with the longest tokens,
    from the left.

    Args:
        tokenizer: the text of a ``tokenizer.json``, the path of a file or
            folder, ``"byte"``, a ``TokenizerWrapper`` or a
            ``parlance.Vocabulary``.
        n_vocab: the number of ids that the model has.
        eos_token: the id or ids that end a text.
        slices: without effect, as everything called so: they tune llguidance's
            own masks.

    Raises:
        ValueError: the tokenizer cannot be used, or does not know which tokens
            end a text.
    """

    def __init__(self, tokenizer, n_vocab=None, eos_token=None, slices=None):
        vocabulary = _vocabulary_of(tokenizer)
        if eos_token is None:
            eos_token = vocabulary.stop_ids
        ids = [eos_token] if isinstance(eos_token, int) else list(eos_token)
        if not ids:
            raise UsageError("the tokenizer does not say what ends a text: eos_token")
        self.vocabulary = vocabulary.with_stop_ids(ids)
        self.eos_tokens = ids
        self.eos_token = ids[0]
        self.vocab_size = max(n_vocab or 0, len(vocabulary))
        # The end is the matcher's business: see LLMatcher.
        self.compiler = Compiler(self.vocabulary, stop_ids=[])

    @staticmethod
    def from_tiktoken(
        encoder, special_tokens, pattern, eos_token, n_vocab=None, slices=None
    ):
        """The tokenizer of tiktoken's tables: ids by ``bytes``, and control tokens
        by ``str``.  ``pattern`` has no effect: see ``has_encoder`` above."""
        tokens = [None] * (1 + max([*encoder.values(), *special_tokens.values()]))
        for token, id in encoder.items():
            tokens[id] = token
        for text, id in special_tokens.items():
            tokens[id] = text.encode()
        made = Vocabulary(tokens, control_ids=sorted(special_tokens.values()))
        return LLTokenizer(made, n_vocab, eos_token)

    @property
    def is_canonical(self):
        """Whether texts are written as the model's own tokenizer writes them."""
        return self.vocabulary.has_encoder

    def with_slices(self, slices):
        """The tokenizer itself: see ``slices``."""
        return self

    @staticmethod
    def general_slices():
        """``[]``: see ``slices``."""
        return []

    json_slices = general_slices

    @cached_property
    def _ids(self):
        """The lowest ids of ordinary tokens by their bytes."""
        of = self.vocabulary
        ids = {}
        for id in range(len(of)):
            if of.kind(id) == "ordinary":
                ids.setdefault(of.bytes(id), id)
        return ids

    @cached_property
    def _lengths(self):
        """The lengths of the tokens that begin with two bytes, the largest first."""
        lengths = {}
        for token in self._ids:
            lengths.setdefault(token[:2], set()).add(len(token))
        return {two: sorted(found, reverse=True) for two, found in lengths.items()}

    @cached_property
    def _marks(self):
        """A pattern of the spellings of added and control tokens."""
        of = self.vocabulary
        texts = {of.spelling(id) for id in of.special_ids} - {b""}
        # A longer spelling before one that begins it.
        ordered = sorted(texts, key=lambda text: (-len(text), text))
        return re.compile(b"|".join(map(re.escape, ordered)) or rb"(?!)")

    def _greedy(self, text, begin=0):
        """The longest tokens from the left, as ``(id, end)``."""
        ids, lengths = self._ids, self._lengths
        while begin < len(text):
            for length in (*lengths.get(text[begin : begin + 2], ()), 1):
                id = ids.get(text[begin : begin + length])
                if id is not None:
                    break
            else:
                raise UsageError(f"no token writes the byte {text[begin : begin + 1]!r}")
            begin = min(begin + length, len(text))
            yield id, begin

    def greedy_tokenize(self, text):
        """The ids of the longest tokens of a ``str``, from the left.

        Complexity: for each token, as many look-ups as there are lengths of tokens
        with its first two bytes.
        """
        return [id for id, _ in self._greedy(text.encode())]

    def tokenize_bytes(self, utf8bytes, *, parse_special=False):
        """The ids of a text, ``bytes``; what is not UTF-8 at its end is written by
        the longest tokens.

        Args:
            parse_special: spellings of added and control tokens are these tokens.
        """
        if not parse_special:
            return self._plain(utf8bytes)
        ids, begin = [], 0
        for mark in self._marks.finditer(utf8bytes):
            ids += self._plain(utf8bytes[begin : mark.start()])
            ids.append(self.vocabulary.special(mark[0]))
            begin = mark.end()
        return ids + self._plain(utf8bytes[begin:])

    def _plain(self, text):
        ids, begin = [], 0
        if self.vocabulary.has_encoder:
            try:
                known = text.decode()
            except UnicodeDecodeError as error:
                known = text[: error.start].decode()
            ids = list(self.vocabulary.encode(known)) if known else []
            begin = len(known.encode())
        return ids + [id for id, _ in self._greedy(text, begin)]

    def tokenize_str(self, text, *, parse_special=False):
        """``tokenize_bytes`` of a ``str``."""
        return self.tokenize_bytes(text.encode(), parse_special=parse_special)

    def tokenize_partial(self, new_bytes, recent_tokens=None):
        """The ids that a text begins with whatever follows it, and the bytes after
        them.

        Of a tokenizer with an encoder of its own, which may read any distance ahead,
        there are ids only where every ordinary token is one byte.
        """
        ids, done = [], 0
        longest = max(map(len, self._ids), default=0)
        if longest == 1 or not self.vocabulary.has_encoder:
            for id, end in self._greedy(new_bytes):
                if done + longest > len(new_bytes):
                    break
                ids.append(id)
                done = end
        return ids, new_bytes[done:]

    def decode_bytes(self, tokens):
        """The bytes of ids, added and control tokens as they are spelled."""
        return b"".join(map(self.vocabulary.spelling, tokens))

    def decode_str(self, tokens):
        """The text of ids; what is not UTF-8 is U+FFFD."""
        return self.decode_bytes(tokens).decode(errors="replace")

    def test_trace_tokens(self, tokens):
        """The texts of ids, with ``‧`` between them."""
        return "‧".join(self.decode_str([token]) for token in tokens)

    def dbg_tokens(self, tokens):
        """``test_trace_tokens`` in brackets."""
        return f"⟦{self.test_trace_tokens(tokens)}⟧"

    def is_special_token(self, token):
        """Whether an id is an added or a control token."""
        return self.vocabulary.kind(token) in ("added", "control")
