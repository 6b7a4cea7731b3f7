"""Making a vocabulary of a tokenizer object.

No library is imported here: objects are distinguished by their methods.

* ``tokenizers.Tokenizer`` serialises itself as a ``tokenizer.json``;
* a fast tokenizer of ``transformers`` contains one, and names stop ids;
* a slow tokenizer has its pieces, and an attribute that tells whether they are
  spelled as in SentencePiece or as in GPT-2;
* ``tiktoken.Encoding`` has the bytes of each token;
* ``sentencepiece.SentencePieceProcessor`` serialises its model;
* a tokenizer of ``mistral_common``, and ``MistralCommonBackend`` of
  ``transformers``, which wraps one, know the file that they were read from.

The tokenizer's own ``encode`` becomes the vocabulary's.  Grammars call it for
text that is certain to come (``Matcher.forced_tokens``).
"""

from __future__ import annotations

import json
import os
from functools import lru_cache

from . import _parlance
from ._errors import UsageError

_Vocabulary = _parlance.Vocabulary


def vocabulary_of(tokenizer, stop_ids=None):
    """The vocabulary of a tokenizer object, with its ``encode``."""
    if hasattr(tokenizer, "decode_single_token_bytes"):
        vocabulary, encode = _of_tiktoken(tokenizer)
    elif _is_backend(tokenizer):
        vocabulary, encode = _of_backend(tokenizer)
    elif _is_backend(getattr(tokenizer, "backend_tokenizer", None)):
        vocabulary, encode = _of_backend(tokenizer.backend_tokenizer)
        vocabulary = _with_stops(vocabulary, tokenizer)
    elif (mistral := _mistral(tokenizer)) is not None:
        vocabulary, encode = _of_mistral(mistral)
        vocabulary = _with_stops(vocabulary, tokenizer)
    elif hasattr(tokenizer, "serialized_model_proto"):
        vocabulary = _Vocabulary.from_text(tokenizer.serialized_model_proto())
        encode = tokenizer.encode
    elif hasattr(tokenizer, "convert_ids_to_tokens"):
        vocabulary, encode = _of_slow(tokenizer)
        vocabulary = _with_stops(vocabulary, tokenizer)
    else:
        raise TypeError(
            "tokenizer must be a tokenizer of transformers, a tokenizers.Tokenizer, "
            "a tiktoken.Encoding, a SentencePieceProcessor or a tokenizer of "
            f"mistral_common, not {type(tokenizer).__name__}"
        )
    if stop_ids is not None:
        vocabulary = vocabulary.with_stop_ids(stop_ids)
    return vocabulary.with_encoder(_continuing(vocabulary, encode))


def _is_backend(value):
    return hasattr(value, "to_str") and hasattr(value, "token_to_id")


def _of_backend(backend):
    source = backend.to_str()

    @lru_cache(maxsize=None)
    def own():
        # A copy, made when it is first needed: the caller's tokenizer may
        # truncate or pad, and reads control tokens in texts.
        copy = type(backend).from_str(source)
        copy.no_truncation()
        copy.no_padding()
        copy.encode_special_tokens = True
        return copy

    def encode(text):
        return own().encode(text, add_special_tokens=False).ids

    return _Vocabulary.from_tokenizer_json(source), encode


def _of_tiktoken(encoding):
    special = {encoding.encode_single_token(s): s for s in encoding.special_tokens_set}
    tokens = []
    for token in range(encoding.n_vocab):
        try:
            tokens.append(encoding.decode_single_token_bytes(token))
        except KeyError:
            tokens.append(None)
    vocabulary = _Vocabulary(tokens, control_ids=sorted(special))
    return vocabulary, encoding.encode_ordinary


def _mistral(tokenizer):
    """The tokenizer of mistral_common that reads text, or None: it is deep inside
    its MistralTokenizer, which MistralCommonBackend has."""
    for outer in (tokenizer, getattr(tokenizer, "tokenizer", None)):
        inner = getattr(getattr(outer, "instruct_tokenizer", None), "tokenizer", None)
        if hasattr(inner, "file_path"):
            return inner
    return None


def _of_mistral(tokenizer):
    def encode(text):
        return tokenizer.encode(text, bos=False, eos=False)

    return _Vocabulary.from_file(tokenizer.file_path), encode


def _of_slow(tokenizer):
    size = len(tokenizer)
    added = getattr(tokenizer, "added_tokens_decoder", {})
    if hasattr(tokenizer, "byte_decoder"):
        kind = "byte_level"
    elif hasattr(tokenizer, "sp_model") or hasattr(tokenizer, "vocab_file"):
        kind = "byte_fallback"
    else:
        raise UsageError(
            f"{type(tokenizer).__name__} does not say how its pieces spell bytes; "
            "use its fast form, or Vocabulary.from_tokens"
        )
    size = max([size, *(i + 1 for i in added)])
    pieces = tokenizer.convert_ids_to_tokens(list(range(size)))
    for i, token in added.items():
        pieces[i] = token.content
    vocabulary = _Vocabulary.from_tokens(
        pieces,
        kind,
        added_ids=[i for i, token in added.items() if not token.special],
        control_ids=[i for i, token in added.items() if token.special],
    )

    def encode(text):
        return tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)

    return vocabulary, encode


def _with_stops(vocabulary, tokenizer):
    """Adds the stop ids of the tokenizer, and those of generation_config.json in
    its folder."""
    found = _generation_stops(getattr(tokenizer, "name_or_path", None))
    eos = getattr(tokenizer, "eos_token_id", None)
    if eos is None:
        eos = vocabulary.stop_ids if vocabulary.has_stop_ids else None
    if eos is not None:
        found = (found or []) + (list(eos) if isinstance(eos, (list, tuple)) else [eos])
    return vocabulary if found is None else vocabulary.with_stop_ids(found)


def _generation_stops(folder):
    if not isinstance(folder, (str, os.PathLike)) or not folder:
        return None
    path = os.path.join(folder, "generation_config.json")
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        ids = json.load(file).get("eos_token_id")
    return [ids] if isinstance(ids, int) else ids


def _continuing(vocabulary, encode):
    """``encode`` for a text that continues another text.

    Some tokenizers put a space before a text.  The text is then encoded after a
    line feed, and the ids of the line feed are removed.
    """

    def spelled(ids):
        return b"".join(vocabulary.bytes(i) for i in ids)

    def continued(text):
        ids = list(encode(text))
        wanted = text.encode()
        if spelled(ids) == wanted:
            return ids
        longer = list(encode("\n" + text))
        for n in range(1, min(len(longer), 4) + 1):
            if spelled(longer[n:]) == wanted:
                return longer[n:]
        return ids

    return continued
