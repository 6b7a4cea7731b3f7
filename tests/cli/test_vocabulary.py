"""--vocabulary takes a folder or a file of any kind; --stop names what ends."""

import json
import struct

import pytest

TOKENIZER = {
    "added_tokens": [
        {"id": 3, "content": "</s>", "special": True},
        {"id": 4, "content": "<stop>", "special": True},
    ],
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}},
    "decoder": {"type": "ByteLevel"},
}


@pytest.fixture
def sources(tmp_path):
    """The same tokens in a folder, a tokenizer.json and a GGUF file."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    (folder / "generation_config.json").write_text('{"eos_token_id": 3}')
    (tmp_path / "gguf").write_bytes(gguf())
    return {"folder": "model", "file": "model/tokenizer.json", "gguf": "gguf"}


def gguf():
    def string(text):
        return struct.pack("<Q", len(text)) + text.encode()

    tokens = ["a", "b", "ab", "</s>", "<stop>"]
    pairs = [
        string("tokenizer.ggml.model") + struct.pack("<I", 8) + string("gpt2"),
        string("tokenizer.ggml.tokens")
        + struct.pack("<IIQ", 9, 8, len(tokens))
        + b"".join(map(string, tokens)),
        string("tokenizer.ggml.token_type")
        + struct.pack("<IIQ5i", 9, 5, 5, 1, 1, 1, 3, 3),
        string("tokenizer.ggml.eos_token_id") + struct.pack("<II", 4, 3),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)


@pytest.mark.parametrize("source", ["folder", "gguf"])
@pytest.mark.parametrize("stop, ends", [((), 3), (("4",), 4), (("<stop>",), 4), (("b",), 1)])
def test_stops(parlance, sources, source, stop, ends):
    arguments = [word for one in stop for word in ("--stop", one)]
    out, _ = parlance(
        "mask", "--regex", "a", "--vocabulary", sources[source], *arguments, "--text", "a"
    )
    allowed = [int(line.split()[0]) for line in out.splitlines()[1:]]
    assert allowed == [ends]


def test_a_file_alone_names_no_stops(parlance, sources):
    arguments = ("sample", "--regex", "a", "--vocabulary", sources["file"])
    _, err = parlance(*arguments, status=2)
    assert "--stop" in err
    out, _ = parlance(*arguments, "--stop", "</s>")
    assert out.strip().strip('"') == "a"


def test_errors(parlance, sources, tmp_path):
    arguments = ("mask", "--regex", "a", "--vocabulary")
    for stop, message in [
        ("9", "--stop 9 is not a token of the vocabulary, which has 5 ids"),
        ("<x>", "--stop: no token of the vocabulary is spelled <x>"),
    ]:
        _, err = parlance(*arguments, sources["folder"], "--stop", stop, status=2)
        assert message in err
    _, err = parlance(*arguments, "nothing", status=2)
    assert "nothing" in err
    (tmp_path / "model" / "generation_config.json").write_text('{"eos_token_id": "x"}')
    _, err = parlance(*arguments, "model", status=2)
    assert (
        "model: wrong_type at /eos_token_id: generation_config.json: "
        "Expected an integer as token id, found string." in err
    )
    (tmp_path / "cut").write_bytes(gguf()[:100])
    _, err = parlance(*arguments, "cut", status=2)
    assert "cut off" in err
