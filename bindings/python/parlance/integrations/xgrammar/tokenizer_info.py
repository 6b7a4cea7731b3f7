"""The tokens of a model, by XGrammar's names."""

from __future__ import annotations

import enum
import json
import operator
import warnings

from ..._parlance import Vocabulary
from . import _serial
from .exception import DeserializeFormatError, runtime_errors

__all__ = ["TokenizerInfo", "VocabType"]


class VocabType(enum.Enum):
    """How the tokens of a vocabulary are spelled."""

    RAW = 0
    """As their bytes."""

    BYTE_FALLBACK = 1
    """As in SentencePiece: U+2581 is a space, ``<0x0A>`` a byte."""

    BYTE_LEVEL = 2
    """By GPT-2's characters for bytes."""


# Spellings of tokens that end a response, where a caller names none.
_STOPS = frozenset(
    text.encode()
    for text in (
        "</s>",
        "<|end_of_text|>",
        "<|eot_id|>",
        "<|endoftext|>",
        "<eos>",
        "<|eos|>",
        "<end_of_turn>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    )
)


def _ids(ids):
    return [ids] if isinstance(ids, int) else [operator.index(i) for i in ids]


class TokenizerInfo:
    """The tokens of a model, which of them end a response, and how they are
    spelled.  Immutable; may be shared between threads and pickled.

    All tokens are plain text, as in XGrammar: a control token may stand where a
    grammar allows its spelling.  ``vocabulary`` is the ``parlance.Vocabulary``.

    Args:
        encoded_vocab: a list of ``str`` or ``bytes`` by id; an empty one for an
            id without a token.
        vocab_type: how they are spelled.
        vocab_size: the number of ids of the model, not less than the number of
            tokens.  Default: this number.
        stop_token_ids: an id or a list of the ids that end a response.  Default:
            those with a usual spelling, such as ``</s>``.
        add_prefix_space: whether the tokenizer puts a space before a text.  It is
            kept, and changes nothing.

    Raises:
        RuntimeError: ``vocab_size`` is too small, or a token cannot be used.
    """

    def __init__(
        self,
        encoded_vocab,
        vocab_type=VocabType.RAW,
        *,
        vocab_size=None,
        stop_token_ids=None,
        add_prefix_space=False,
    ):
        kind = VocabType(vocab_type)
        tokens = list(encoded_vocab)
        size = len(tokens) if vocab_size is None else operator.index(vocab_size)
        if size < len(tokens):
            raise RuntimeError(
                f"vocab_size is {size}, and there are {len(tokens)} tokens"
            )
        with runtime_errors():
            vocabulary = Vocabulary.from_tokens(
                tokens, kind.name.lower(), vocab_size=size, stop_ids=[]
            )
        decoded = [vocabulary.bytes(i) for i in range(len(tokens))]
        self._init(vocabulary, decoded, kind, size, stop_token_ids, add_prefix_space)

    def _init(self, vocabulary, decoded, kind, size, stops, prefix_space):
        """Sets all members.  Stop ids beyond the vocabulary are dropped."""
        if stops is None:
            stops = [i for i, token in enumerate(decoded) if token in _STOPS]
        stops = [i for i in dict.fromkeys(_ids(stops)) if 0 <= i < size]
        silent = [i for i in stops if i >= len(decoded) or not decoded[i]]
        with runtime_errors():
            if silent:
                # A stop id must have a token; this one is in no text.
                tokens = decoded + [b""] * (size - len(decoded))
                for i in silent:
                    tokens[i] = b"<|stop token %d|>" % i
                vocabulary = Vocabulary(
                    [token or None for token in tokens],
                    control_ids=silent,
                    stop_ids=stops,
                )
            elif stops:
                vocabulary = vocabulary.with_stop_ids(stops)
        self.vocabulary = vocabulary
        self._decoded = decoded
        self._type = kind
        self._size = size
        self._stops = stops
        self._prefix_space = bool(prefix_space)

    @staticmethod
    def from_huggingface(tokenizer, *, vocab_size=None, stop_token_ids=None):
        """Makes the object of a tokenizer of ``transformers``.

        Args:
            tokenizer: the tokenizer, fast or slow.
            vocab_size: the number of ids of the model, which may be larger or
                smaller than the tokenizer's.
            stop_token_ids: an id or a list of the ids that end a response.
                Default: ``eos_token_id`` of the tokenizer.

        Raises:
            ValueError: the tokenizer has no vocabulary or is of an unknown kind,
                or ``stop_token_ids`` is empty.
        """
        if stop_token_ids is not None:
            stop_token_ids = _ids(stop_token_ids)
            if not stop_token_ids:
                raise ValueError("stop_token_ids must not be empty")
        if not hasattr(tokenizer, "get_vocab"):
            raise ValueError(
                f"{type(tokenizer).__name__} is no tokenizer: it has no get_vocab"
            )
        ids = tokenizer.get_vocab()
        size = vocab_size or max(len(ids), max(ids.values(), default=-1) + 1)
        tokens = [""] * size
        for token, i in ids.items():
            if i < size:
                tokens[i] = token
        kind, prefix_space = _spelling(tokenizer, ids)
        if stop_token_ids is None:
            stop_token_ids = getattr(tokenizer, "eos_token_id", None)
        if stop_token_ids is None:
            warnings.warn(
                "the tokenizer names no stop token: stop tokens are found by "
                "their spelling",
                stacklevel=2,
            )
        return TokenizerInfo(
            tokens,
            kind,
            vocab_size=size,
            stop_token_ids=stop_token_ids,
            add_prefix_space=prefix_space,
        )

    @staticmethod
    def _detect_vocab_type_from_vocab(vocab):
        """The ``VocabType`` that the spellings in ``vocab`` show, or ``None``."""
        return _of_tokens(vocab)

    @property
    def vocab_type(self):
        """How the tokens were spelled, a ``VocabType``."""
        return self._type

    @property
    def vocab_size(self):
        """The number of ids, an ``int``: that of the bits of a mask."""
        return self._size

    @property
    def add_prefix_space(self):
        """Whether the tokenizer puts a space before a text."""
        return self._prefix_space

    @property
    def prepend_space_in_tokenization(self):
        """The older name of ``add_prefix_space``."""
        warnings.warn(
            "prepend_space_in_tokenization is now add_prefix_space", stacklevel=2
        )
        return self._prefix_space

    @property
    def decoded_vocab(self):
        """The ``bytes`` of each token, a list by id, without ids beyond the
        tokens that the object was made of."""
        return list(self._decoded)

    @property
    def stop_token_ids(self):
        """The ids of the tokens that end a response, a list of ``int``."""
        return list(self._stops)

    @property
    def special_token_ids(self):
        """The ids without a text, a list of ``int``."""
        empty = [i for i, token in enumerate(self._decoded) if not token]
        return empty + list(range(len(self._decoded), self._size))

    def _metadata(self):
        return {
            "vocab_type": self._type.value,
            "vocab_size": self._size,
            "add_prefix_space": self._prefix_space,
            "stop_token_ids": self._stops,
        }

    def dump_metadata(self):
        """Returns all but the tokens, as JSON text for
        ``from_vocab_and_metadata``."""
        return json.dumps(self._metadata(), separators=(",", ":"))

    @staticmethod
    def from_vocab_and_metadata(encoded_vocab, metadata):
        """Makes the object of its tokens, as of the class, and the text of
        ``dump_metadata``.

        Raises:
            RuntimeError: ``metadata`` is no such text.
        """
        try:
            value = json.loads(metadata)
        except (ValueError, RecursionError) as error:
            raise RuntimeError(f"metadata is not JSON: {error}") from None
        kind, size, prefix_space, stops = _checked(value, RuntimeError)
        return TokenizerInfo(
            encoded_vocab,
            kind,
            vocab_size=size,
            stop_token_ids=stops,
            add_prefix_space=prefix_space,
        )

    @staticmethod
    def _detect_metadata_from_hf(backend_str):
        """The kind of a vocabulary, and whether the tokenizer adds a space, by
        the text of its ``tokenizer.json``."""
        kind, prefix_space = _of_backend(json.loads(backend_str))
        return {"vocab_type": kind, "add_prefix_space": prefix_space}

    def serialize_json(self):
        """Returns the object as JSON text, a ``str``."""
        tokens = [token.decode("latin-1") for token in self._decoded]
        return _serial.dump("TokenizerInfo", {**self._metadata(), "tokens": tokens})

    @staticmethod
    def deserialize_json(json_string):
        """Makes the object that ``serialize_json`` wrote.

        Raises:
            InvalidJSONError: the text is not JSON.
            DeserializeVersionError: it is of another version.
            DeserializeFormatError: it is not what ``serialize_json`` writes.
        """
        names = ["vocab_type", "vocab_size", "add_prefix_space", "stop_token_ids"]
        *members, tokens = _serial.load(
            json_string, "TokenizerInfo", [*names, "tokens"]
        )
        kind, size, prefix_space, stops = _checked(
            dict(zip(names, members)), DeserializeFormatError
        )
        try:
            decoded = [token.encode("latin-1") for token in tokens]
        except (AttributeError, TypeError, UnicodeEncodeError):
            raise DeserializeFormatError(
                "'tokens' must be a list of strings of bytes"
            ) from None
        if size < len(decoded) or size > len(decoded) + _MOST_PADDING:
            raise DeserializeFormatError("'vocab_size' does not fit the tokens")
        if any(not 0 <= i < size for i in stops):
            raise DeserializeFormatError("a stop token is not in the vocabulary")
        info = TokenizerInfo.__new__(TokenizerInfo)
        with runtime_errors(DeserializeFormatError):
            vocabulary = Vocabulary.from_tokens(
                decoded, "raw", vocab_size=size, stop_ids=[]
            )
        info._init(vocabulary, decoded, kind, size, stops, prefix_space)
        return info

    def __reduce__(self):
        return TokenizerInfo.deserialize_json, (self.serialize_json(),)


# Ids without a token that a serialised object may add to its tokens.
_MOST_PADDING = 1 << 20


def _checked(value, kind):
    """The members of metadata."""
    if not isinstance(value, dict):
        raise kind("metadata must be a JSON object")
    type, size = value.get("vocab_type"), value.get("vocab_size")
    prefix_space, stops = value.get("add_prefix_space"), value.get("stop_token_ids")
    if isinstance(type, bool) or type not in (0, 1, 2):
        raise kind("'vocab_type' must be 0, 1 or 2")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise kind("'vocab_size' must be a number")
    if not isinstance(prefix_space, bool):
        raise kind("'add_prefix_space' must be true or false")
    if not isinstance(stops, list) or any(
        isinstance(i, bool) or not isinstance(i, int) for i in stops
    ):
        raise kind("'stop_token_ids' must be a list of numbers")
    return VocabType(type), size, prefix_space, stops


# ---- How a tokenizer of transformers spells its tokens.


def _spelling(tokenizer, ids):
    """``(VocabType, whether it adds a space)`` of a tokenizer with the tokens
    ``ids``."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if hasattr(backend, "to_str"):
        found = _of_backend(json.loads(backend.to_str()))
        own = _of_tokens(ids)
        if own is None or own == found[0]:
            return found
        # A backend may have lost its decoder; the tokens tell.
        mark = "\u2581" if own == VocabType.BYTE_FALLBACK else "\u0120"
        return own, _adds(tokenizer, mark)
    files = getattr(tokenizer, "vocab_files_names", {})
    if "tiktoken" in str(files.get("vocab_file", "")) or hasattr(
        getattr(tokenizer, "tokenizer", None), "decode_single_token_bytes"
    ):
        return _of_tokens(ids) or VocabType.RAW, False
    models = (
        getattr(tokenizer, "sp_model", None),
        getattr(getattr(tokenizer, "tokenizer", None), "sp_model", None),
        getattr(tokenizer, "tok", None),
    )
    if any(model is not None for model in models):
        fallback = "<0x0A>" in ids
        return VocabType.BYTE_FALLBACK if fallback else VocabType.RAW, True
    raise ValueError(
        f"{type(tokenizer).__name__} does not say how its tokens spell bytes; "
        "make a TokenizerInfo of its tokens"
    )


def _parts(value, list_name):
    """The parts of a normalizer, pre-tokenizer or decoder of a backend."""
    if not isinstance(value, dict):
        return []
    if value.get("type") == "Sequence":
        return [part for item in value[list_name] for part in _parts(item, list_name)]
    return [value]


def _of_backend(backend):
    decoders = {part["type"] for part in _parts(backend.get("decoder"), "decoders")}
    before = _parts(backend.get("pre_tokenizer"), "pretokenizers")
    if "ByteFallback" in decoders:
        kind = VocabType.BYTE_FALLBACK
    elif "ByteLevel" in decoders:
        kind = VocabType.BYTE_LEVEL
    else:
        kind = VocabType.RAW
    adds = any(
        part["type"] == "Prepend"
        for part in _parts(backend.get("normalizer"), "normalizers")
    )
    for part in before:
        if part["type"] == "Metaspace":
            scheme = part.get("prepend_scheme")
            adds = adds or scheme in ("always", "first") or (
                scheme is None and bool(part.get("add_prefix_space"))
            )
    return kind, adds


def _byte_characters():
    """GPT-2's characters for bytes."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return {chr(byte) for byte in shown} | {
        chr(256 + n) for n in range(256 - len(shown))
    }


def _of_tokens(ids):
    """The kind that the tokens show by themselves, or None."""
    if sum(f"<0x{byte:02X}>" in ids for byte in range(256)) >= 128:
        return VocabType.BYTE_FALLBACK
    characters = _byte_characters()
    if sum(character in ids for character in characters) < 128:
        return None
    # Added tokens may have other characters.
    spelled = sum(characters.issuperset(token) for token in ids)
    return VocabType.BYTE_LEVEL if spelled >= 0.99 * len(ids) else None


def _adds(tokenizer, mark):
    try:
        tokens = tokenizer.convert_ids_to_tokens(
            tokenizer.encode("a", add_special_tokens=False)
        )
    except (AttributeError, TypeError, ValueError):
        return False
    return bool(tokens and tokens[0] and tokens[0].startswith(mark))
