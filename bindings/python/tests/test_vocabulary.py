"""Vocabularies from files, folders, lists and tokenizer objects."""

import copy
import json
import os
import pickle
import struct

import pytest

import parlance
from parlance import Vocabulary

TOKENIZER = {
    "added_tokens": [
        {"id": 2, "content": "</s>", "special": True},
        {"id": 3, "content": "<think>", "special": False},
    ],
    "model": {"type": "BPE", "vocab": {"a": 0, "\u0120b": 1}},
    "decoder": {"type": "ByteLevel"},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(TOKENIZER), "utf-8")
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [2, 0]}')
    (tmp_path / "config.json").write_text('{"vocab_size": 8}')
    return tmp_path


def kinds(vocabulary):
    return [vocabulary.kind(i) for i in range(len(vocabulary))]


@pytest.mark.parametrize("make", [Vocabulary.from_pretrained, Vocabulary.from_file])
@pytest.mark.parametrize("form", [str, os.fspath, lambda path: path])
def test_folder(folder, make, form):
    vocabulary = make(form(folder))
    assert len(vocabulary) == 8
    assert kinds(vocabulary) == ["ordinary"] * 2 + ["control", "added"] + ["unused"] * 4
    assert vocabulary.stop_ids == [2, 0]
    assert vocabulary.bytes(1) == b" b"
    file = Vocabulary.from_file(folder / "tokenizer.json")
    assert (len(file), file.stop_ids, file.has_stop_ids) == (4, [], False)


def test_files_in_memory(folder):
    vocabulary = Vocabulary.from_model_files(
        json.dumps(TOKENIZER),
        tokenizer_config=b'{"eos_token": "</s>"}',
        generation_config='{"eos_token_id": 0}',
        config='{"vocab_size": 4}',
    )
    assert vocabulary.stop_ids == [0, 2]
    with pytest.raises(parlance.Error) as caught:
        Vocabulary.from_model_files(json.dumps(TOKENIZER), config='{"vocab_size": "4"}')
    assert caught.value.code == "wrong_type"
    assert caught.value.path == "/vocab_size"
    assert caught.value.message.startswith("config.json: ")


@pytest.mark.parametrize("make", [Vocabulary.from_pretrained, Vocabulary.from_file])
def test_paths(folder, make):
    for wrong in (1, True, None, 1.5, [str(folder)]):
        with pytest.raises(TypeError):
            make(wrong)
    with pytest.raises(FileNotFoundError):
        make(folder / "missing")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(parlance.Error, match="has no tokenizer.json") as caught:
        make(folder)
    assert caught.value.code == "io"


def test_half_a_surrogate_pair():
    vocabulary = Vocabulary([b"a"])
    for call in (
        vocabulary.special,
        Vocabulary.from_text,
        Vocabulary.from_tokenizer_json,
        Vocabulary.from_tiktoken,
        lambda text: Vocabulary.from_tiktoken("YQ== 0", {text: 1}),
        lambda text: Vocabulary.from_tokens([text]),
    ):
        with pytest.raises(parlance.Error) as caught:
            call("x\ud800")
        assert caught.value.code == "invalid_utf8"


def test_table():
    vocabulary = Vocabulary(
        [b"a", b"<t>", b"</s>", None, b"\n\n", b"<u>"],
        added_ids=[1, 4],
        control_ids=[2],
        special_ids=[5],
    )
    assert kinds(vocabulary) == [
        "ordinary", "added", "control", "unused", "ordinary", "control",
    ]  # fmt: skip
    assert vocabulary.special_ids == [1, 2, 5]
    assert not vocabulary.has_stop_ids
    assert Vocabulary([b"a"], stop_ids=[]).has_stop_ids
    some = vocabulary.with_stop_ids([2, 1])
    assert (some.stop_ids, vocabulary.stop_ids) == ([2, 1], [])
    with pytest.raises(parlance.Error, match="Stop id 3 has no token"):
        vocabulary.with_stop_ids([3])
    assert vocabulary.with_space_after_marks(True).space_after_marks
    assert not vocabulary.space_after_marks


def test_tokens():
    tokens = ["a", "\u2581b", "<0x0A>", b"\xc4\xa0c", None, "</s>"]
    rows = {
        "raw": [b"a", "\u2581b".encode(), b"<0x0A>", "\u0120c".encode(), b"", b"</s>"],
        "byte_fallback": [b"a", b" b", b"\n", "\u0120c".encode(), b"", b"</s>"],
        "byte_level": [b"a", "\u2581b".encode(), b"<0x0A>", b" c", b"", b"</s>"],
    }
    for kind, wanted in rows.items():
        vocabulary = Vocabulary.from_tokens(
            tokens, kind, vocab_size=7, control_ids=[5], stop_ids=[5]
        )
        assert [vocabulary.bytes(i) for i in range(6)] == wanted
        assert kinds(vocabulary)[4:] == ["unused", "control", "unused"]
        assert vocabulary.stop_ids == [5]
    assert len(Vocabulary.from_tokens(tokens, vocab_size=3)) == 3
    with pytest.raises(parlance.UsageError, match="byte_level"):
        Vocabulary.from_tokens(tokens, "wordpiece")
    with pytest.raises(TypeError, match="a list of str or bytes"):
        Vocabulary.from_tokens("abc")


def gguf(*pairs):
    def string(text):
        data = text.encode()
        return struct.pack("<Q", len(data)) + data

    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
    for key, kind, value in pairs:
        head += string(key) + struct.pack("<I", kind)
        if kind == 8:
            head += string(value)
        elif kind == 9:
            head += struct.pack("<IQ", 8, len(value)) + b"".join(map(string, value))
        else:
            head += struct.pack("<I", value)
    return head


def test_gguf(tmp_path):
    head = gguf(
        ("tokenizer.ggml.model", 8, "gpt2"),
        ("tokenizer.ggml.tokens", 9, ["a", "\u0120b"]),
        ("tokenizer.ggml.eos_token_id", 4, 1),
    )
    path = tmp_path / "model.gguf"
    path.write_bytes(head + bytes(100))
    for vocabulary in (Vocabulary.from_file(path), Vocabulary.from_text(head)):
        assert vocabulary.bytes(1) == b" b"
        assert vocabulary.stop_ids == [1]
    with pytest.raises(parlance.Error, match="cut off"):
        Vocabulary.from_text(head[:-1])


# ---- Objects, known by what they can do


class Encoding:
    """As tiktoken's: bytes by id, and a gap."""

    n_vocab = 260
    special_tokens_set = {"<|end|>"}  # noqa: RUF012

    def encode_single_token(self, text):
        return {"<|end|>": 259}[text]

    def decode_single_token_bytes(self, token):
        if 256 < token < 259:
            raise KeyError(token)
        return {256: b"ab", 259: b"<|end|>"}.get(token) or bytes([token])

    def encode_ordinary(self, text):
        out = []
        data = text.encode()
        while data:
            n = 2 if data.startswith(b"ab") else 1
            out.append(256 if n == 2 else data[0])
            data = data[n:]
        return out


def test_tiktoken():
    vocabulary = Vocabulary.from_tokenizer(Encoding(), stop_ids=[259])
    assert len(vocabulary) == 260
    assert kinds(vocabulary)[255:] == [
        "ordinary", "ordinary", "unused", "unused", "control",
    ]  # fmt: skip
    assert vocabulary.stop_ids == [259]
    assert vocabulary.encode("cab") == [99, 256]
    assert not Vocabulary.from_tokenizer(Encoding()).has_stop_ids


class Backend:
    """As tokenizers.Tokenizer, with a tokenizer that puts a space before a text."""

    def __init__(self, text):
        self.text = text
        self.encode_special_tokens = False

    def to_str(self):
        return self.text

    @classmethod
    def from_str(cls, text):
        return cls(text)

    def token_to_id(self, token):
        return None

    def no_padding(self):
        pass

    no_truncation = no_padding

    def encode(self, text, add_special_tokens):
        assert self.encode_special_tokens and not add_special_tokens

        class Encoded:
            ids = [{" ": 0, "a": 1, "\n": 2}[c] for c in " " + text]

        return Encoded


PREPENDS = {
    "normalizer": {"type": "Prepend", "prepend": "\u2581"},
    "model": {"type": "BPE", "vocab": {"\u2581": 0, "a": 1, "\n": 2}},
    "decoder": {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
}


def test_a_continuation_has_no_space_of_its_own():
    vocabulary = Vocabulary.from_tokenizer(Backend(json.dumps(PREPENDS)))
    assert vocabulary.encode("a a") == [1, 0, 1]
    assert vocabulary.encode(" a") == [0, 1]
    assert vocabulary.strip_leading_space and vocabulary.space_after_marks


class Fast:
    """As a fast tokenizer of transformers."""

    def __init__(self, text, folder, eos):
        self.backend_tokenizer = Backend(text)
        self.name_or_path = folder
        self.eos_token_id = eos


def test_stop_ids_of_an_object(folder):
    def stops(folder, eos):
        vocabulary = Vocabulary.from_tokenizer(Fast(json.dumps(TOKENIZER), folder, eos))
        return vocabulary.stop_ids if vocabulary.has_stop_ids else None

    assert stops("org/name", None) is None
    assert stops("org/name", 3) == [3]
    assert stops(str(folder), 3) == [2, 0, 3]
    assert stops(str(folder), None) == [2, 0]
    assert stops(None, [1, 2]) == [1, 2]


class Added:
    def __init__(self, content, special):
        self.content = content
        self.special = special


class Slow:
    """As a tokenizer of transformers that is written in Python."""

    eos_token_id = 2
    name_or_path = ""
    added_tokens_decoder = {2: Added("</s>", True), 3: Added("<t>", False)}  # noqa: RUF012

    def __len__(self):
        return 4

    def convert_ids_to_tokens(self, ids):
        return [["\u2581a", "<0x0A>", "x", "y"][i] for i in ids]

    def encode(self, text, add_special_tokens, split_special_tokens):
        assert split_special_tokens and not add_special_tokens
        return [0]


def test_slow_tokenizers():
    with pytest.raises(parlance.UsageError, match="its fast form"):
        Vocabulary.from_tokenizer(Slow())
    Slow.sp_model = None
    vocabulary = Vocabulary.from_tokenizer(Slow())
    assert [vocabulary.bytes(i) for i in range(4)] == [b" a", b"\n", b"</s>", b"<t>"]
    assert kinds(vocabulary) == ["ordinary", "ordinary", "control", "added"]
    assert vocabulary.stop_ids == [2]
    assert vocabulary.encode(" a") == [0]


def test_objects_that_are_none():
    for wrong in (None, 1, "gpt2", object()):
        with pytest.raises(TypeError, match=r"tokenizer must be .* not "):
            Vocabulary.from_tokenizer(wrong)


def test_encoders():
    vocabulary = Vocabulary([b"a", b"b"])
    assert not vocabulary.has_encoder
    with pytest.raises(parlance.UsageError, match="no encoder"):
        vocabulary.encode("a")
    with pytest.raises(TypeError, match="a function of a str"):
        vocabulary.with_encoder(1)
    encoding = vocabulary.with_encoder(lambda text: ["ab".index(c) for c in text])
    assert encoding.encode("abba") == [0, 1, 1, 0]
    assert not vocabulary.has_encoder
    assert not encoding.with_encoder(None).has_encoder


def same(a, b):
    assert len(a) == len(b)
    for i in range(len(a)):
        assert (a.bytes(i), a.spelling(i), a.kind(i)) == (b.bytes(i), b.spelling(i), b.kind(i))
    for name in ("stop_ids", "has_stop_ids", "special_ids", "space_after_marks"):
        assert getattr(a, name) == getattr(b, name)
    schema = parlance.Grammar.from_json_schema({"type": "array"}, limits={"depth": 4})
    masks = []
    for vocabulary in (a, b):
        matcher = schema.compile(vocabulary.with_stop_ids([2])).matcher()
        row = bytearray(4 * matcher.mask_words)
        matcher.fill_bitmask(memoryview(row).cast("i"))
        masks.append(row)
    assert masks[0] == masks[1]


def test_save_and_load(folder):
    made = Vocabulary.from_pretrained(folder)
    path = folder / "saved"
    assert made.save(path) == path.stat().st_size
    for read in (Vocabulary.load, Vocabulary.from_file):
        same(read(path), made)
    same(Vocabulary.load(str(path)), made)
    for data in (path.read_bytes(), made.to_bytes()):
        same(Vocabulary.from_bytes(data), made)
        same(Vocabulary.from_text(data), made)
    unknown = Vocabulary([b"a"])
    assert not Vocabulary.from_bytes(unknown.to_bytes()).has_stop_ids


def test_what_load_refuses(folder, tmp_path):
    with pytest.raises(OSError):
        Vocabulary.load(tmp_path / "nothing")
    with pytest.raises(parlance.Error) as caught:
        Vocabulary.load(folder / "tokenizer.json")
    assert caught.value.code == "bad_vocabulary"
    data = bytearray(Vocabulary.from_pretrained(folder).to_bytes())
    data[-1] ^= 1
    with pytest.raises(parlance.Error, match="damaged") as caught:
        Vocabulary.from_bytes(bytes(data))
    assert caught.value.code == "bad_vocabulary"
    with pytest.raises(parlance.Error) as caught:
        pickle.loads(pickle.dumps(Vocabulary.from_pretrained(folder)).replace(b"0.1.0", b"0.0.9"))
    assert caught.value.code == "unsupported_version"
    with pytest.raises(TypeError):
        Vocabulary.from_bytes("text")


def test_pickle_and_copy(folder):
    made = Vocabulary.from_pretrained(folder).with_encoder(lambda text: [0])
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        loaded = pickle.loads(pickle.dumps(made, protocol))
        same(loaded, made)
        assert not loaded.has_encoder
    # Compilers that the object keeps are not a part of it.
    parlance.Grammar.from_regex("a").compile(made)
    same(pickle.loads(pickle.dumps(made)), made)
    assert copy.copy(made) is made
    assert copy.deepcopy(made) is made
