"""Mistral's Tekken files and SentencePiece's models against the packages that
read them: `mistral_common`, with the files that it comes with, and
`sentencepiece`, which also trains small models here.

The bytes of each token are what the package decodes for it alone, the ids of a
text spell the text, and an object of the package, or of `transformers`, is the
vocabulary of its file.
"""

import base64
import io
import json
import os
import pathlib
import random
import warnings

import pytest

parlance = pytest.importorskip("parlance")
sentencepiece = pytest.importorskip("sentencepiece")
mistral_common = pytest.importorskip("mistral_common")

from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy  # noqa: E402
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer  # noqa: E402
from mistral_common.tokens.tokenizers.tekken import Tekkenizer  # noqa: E402

DATA = pathlib.Path(mistral_common.__file__).parent / "data"
# The largest takes mistral_common half a minute.
TEKKEN = sorted(p.name for p in DATA.glob("tekken*.json"))[
    0 if os.environ.get("PARLANCE_LONG") == "1" else -1 :
]
MODELS = sorted(p.name for p in DATA.glob("*.model.*"))
TEXTS = [
    '{"city": "Paris", "unit": "celsius"}',
    " leading and trailing ",
    "a\n\n\nb\t c  d",
    "[TOOL_CALLS]get{}",
    "é世界🙂\x00\x7f",
    "x" * 50,
]


def test_the_package_has_files():
    assert len(TEKKEN) >= 1 and len(MODELS) >= 4


def check_texts(vocabulary, texts=TEXTS):
    for text in texts:
        ids = vocabulary.encode(text)
        assert b"".join(map(vocabulary.bytes, ids)) == text.encode(), text
        assert all(vocabulary.kind(i) == "ordinary" for i in ids), text


def same(one, other):
    assert one.to_bytes() == other.to_bytes()


# ---- Tekken ----


def check_tekken(tekken, vocabulary):
    assert len(vocabulary) == tekken.n_words
    for i in range(tekken.n_words):
        if tekken.is_special(i):
            assert vocabulary.spelling(i).decode() == tekken.id_to_piece(i)
            assert vocabulary.kind(i) in ("control", "added")
        else:
            assert vocabulary.kind(i) == "ordinary"
            data = tekken.id_to_byte_piece(i, SpecialTokenPolicy.KEEP)
            assert vocabulary.bytes(i) == data, i
    assert vocabulary.stop_ids == [tekken.eos_id]
    assert not vocabulary.strip_leading_space
    for text in TEXTS:
        ids = tekken.encode(text, bos=False, eos=False)
        assert vocabulary.decode(ids) == text


@pytest.mark.parametrize("name", TEKKEN)
def test_tekken(name):
    outer = MistralTokenizer.from_file(str(DATA / name))
    vocabulary = parlance.Vocabulary.from_file(DATA / name)
    check_tekken(outer.instruct_tokenizer.tokenizer, vocabulary)
    wrapped = parlance.Vocabulary.from_tokenizer(outer)
    same(wrapped, vocabulary)
    check_texts(wrapped)


def small_tekken(rng):
    """A Tekken file of random sizes, versions and tokens."""
    version = rng.choice(["v3", "v7", "v11", "v13"])
    listed = version in ("v11", "v13") or rng.random() < 0.5
    special = ["<unk>", "<s>", "</s>"] + [f"[T{i}]" for i in range(rng.randrange(20))]
    least = len(special) if listed else 20
    count = least + rng.randrange(5)
    tokens = [bytes([i]) for i in range(256)]
    more = {bytes(rng.choices(range(256), k=rng.randrange(2, 6))) for _ in range(40)}
    tokens += sorted(more - set(tokens))
    size = count + 256 + rng.randrange(len(tokens) - 255)
    file = {
        "config": {
            "pattern": r"\s*\w+|.",
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": size,
            "default_num_special_tokens": count,
            "version": version,
        },
        "vocab": [
            {
                "rank": i,
                "token_bytes": base64.b64encode(token).decode(),
                "token_str": None,
            }
            for i, token in enumerate(tokens)
        ],
    }
    if listed:
        file["special_tokens"] = [
            {"rank": i, "token_str": text, "is_control": True} for i, text in enumerate(special)
        ]
    return file


def test_small_tekken_files(tmp_path):
    rng = random.Random(7)
    for _ in range(20):
        path = tmp_path / "tekken.json"
        path.write_text(json.dumps(small_tekken(rng)))
        tekken = Tekkenizer.from_file(path)
        check_tekken(tekken, parlance.Vocabulary.from_file(path))
        same(
            parlance.Vocabulary.from_pretrained(tmp_path),
            parlance.Vocabulary.from_file(path),
        )


# ---- SentencePiece ----


def check_model(model, vocabulary):
    assert len(vocabulary) == len(model)
    before = model.piece_to_id("<think>")
    for i in range(len(model)):
        piece = model.id_to_piece(i)
        if model.is_unused(i):
            assert vocabulary.kind(i) == "unused"
        elif model.is_control(i) or model.is_unknown(i):
            assert vocabulary.kind(i) == "control"
            assert vocabulary.spelling(i).decode() == piece
        elif model.is_byte(i):
            assert vocabulary.kind(i) == "ordinary"
            assert vocabulary.bytes(i) == bytes([int(piece[3:5], 16)])
        else:
            wanted = piece.replace("▁", " ")
            assert vocabulary.bytes(i).decode() == wanted
            # After another piece the decoder removes no space.
            assert model.decode([before, i]) == "<think>" + wanted, piece
    end = model.eos_id()
    assert vocabulary.stop_ids == ([] if end < 0 else [end])


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    model = sentencepiece.SentencePieceProcessor(model_file=str(DATA / name))
    vocabulary = parlance.Vocabulary.from_file(DATA / name)
    assert len(vocabulary) == len(model)
    letter = model.piece_to_id("x")
    texts = model.decode([[letter, i] for i in range(len(model))])
    for i, text in enumerate(texts):
        if vocabulary.kind(i) == "control":
            assert model.is_control(i) or model.is_unknown(i)
            assert vocabulary.spelling(i).decode() == model.id_to_piece(i)
        elif model.is_byte(i):
            assert vocabulary.bytes(i) == bytes([int(model.id_to_piece(i)[3:5], 16)])
        else:
            assert vocabulary.bytes(i).decode() == text.removeprefix("x")
    assert vocabulary.stop_ids == [model.eos_id()]
    assert vocabulary.strip_leading_space
    for text in TEXTS:
        read = vocabulary.decode(model.encode(text))
        assert read == " " + text, "the space that the decoder removes"
    check_texts(parlance.Vocabulary.from_tokenizer(model))
    same(parlance.Vocabulary.from_tokenizer(model), vocabulary)
    wrapped = parlance.Vocabulary.from_tokenizer(MistralTokenizer.from_file(str(DATA / name)))
    same(wrapped, vocabulary)
    check_texts(wrapped)


SENTENCES = [
    "the quick brown fox jumps over the lazy dog",
    "pack my box with five dozen liquor jugs",
    "él niño come piña, y el pingüino también",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z",
]


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("trims", [True, False])
@pytest.mark.parametrize("suffix", [True, False])
def test_trained_models(kind, prefix, trims, suffix):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=out,
        model_type=kind,
        vocab_size=340,
        hard_vocab_limit=False,
        byte_fallback=kind in ("unigram", "bpe"),
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=trims,
        treat_whitespace_as_suffix=suffix,
        user_defined_symbols=["<think>", "▁▁"],
        control_symbols=["<call>"],
        eos_piece="<|end|>",
        pad_id=3,
        minloglevel=5,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    vocabulary = parlance.Vocabulary.from_text(out.getvalue())
    check_model(model, vocabulary)
    # A text begins with a space that the decoder removes, or it does not.
    for i in range(len(model)):
        piece = model.id_to_piece(i)
        if piece.startswith("▁") and vocabulary.kind(i) == "ordinary":
            removed = model.decode([i]) != piece.replace("▁", " ")
            assert vocabulary.strip_leading_space == removed, piece
    for text in SENTENCES:
        ids = model.encode(text)
        if model.unk_id() not in ids:
            assert vocabulary.decode(ids).strip(" ") == text


# ---- transformers ----


@pytest.mark.parametrize("name", MODELS[-1:])
def test_the_backend_of_transformers(name):
    transformers = pytest.importorskip("transformers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        backend = transformers.MistralCommonBackend(DATA / name)
    vocabulary = parlance.Vocabulary.from_tokenizer(backend)
    same(vocabulary, parlance.Vocabulary.from_file(DATA / name))
    assert vocabulary.stop_ids == [backend.eos_token_id]
    check_texts(vocabulary)
