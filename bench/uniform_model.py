"""A GGUF file with a model that knows nothing: every token is as likely.

    write("uniform.gguf", [bytes([byte]) for byte in range(256)])

One layer of zeros, so that every logit is 0.  What an engine samples from it
is a random walk through the engine's own grammar; a bias per token gives the
tokens their weights.

The ids: `tokens`, then the token that ends the response.
"""

import struct

UINT32, INT32, FLOAT32, STRING, ARRAY = 4, 5, 6, 8, 9
NORMAL, CONTROL = 1, 3
ALIGNMENT = 32
WIDTH = 32
END = "<|end of the walk|>"


def _string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _pair(key, kind, value):
    head = _string(key) + struct.pack("<I", kind)
    if kind == STRING:
        return head + _string(value)
    if kind == ARRAY:
        of, items = value
        out = head + struct.pack("<IQ", of, len(items))
        if of == STRING:
            return out + b"".join(map(_string, items))
        return out + struct.pack(f"<{len(items)}i", *items)
    return head + struct.pack("<I" if kind == UINT32 else "<f", value)


def _byte_characters():
    """GPT-2's characters for bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    out = {byte: chr(byte) for byte in shown}
    for byte in range(256):
        if byte not in out:
            out[byte] = chr(256 + len(out) - len(shown))
    return out


def write(path, tokens, context=4096):
    """Writes the file.  `tokens` are bytes, the first 256 single ones."""
    characters = _byte_characters()
    texts = ["".join(characters[byte] for byte in token) for token in tokens]
    kinds = [NORMAL] * len(texts) + [CONTROL]
    texts.append(END)
    size = len(texts)
    pairs = [
        _pair("general.architecture", STRING, "llama"),
        _pair("llama.context_length", UINT32, context),
        _pair("llama.embedding_length", UINT32, WIDTH),
        _pair("llama.block_count", UINT32, 1),
        _pair("llama.feed_forward_length", UINT32, WIDTH),
        _pair("llama.attention.head_count", UINT32, 1),
        _pair("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        _pair("llama.vocab_size", UINT32, size),
        _pair("tokenizer.ggml.model", STRING, "gpt2"),
        _pair("tokenizer.ggml.pre", STRING, "gpt-2"),
        _pair("tokenizer.ggml.tokens", ARRAY, (STRING, texts)),
        _pair("tokenizer.ggml.token_type", ARRAY, (INT32, kinds)),
        _pair("tokenizer.ggml.merges", ARRAY, (STRING, ["Ġ Ġ"])),
        _pair("tokenizer.ggml.bos_token_id", UINT32, size - 1),
        _pair("tokenizer.ggml.eos_token_id", UINT32, size - 1),
    ]
    square = [WIDTH, WIDTH]
    tensors = {
        "token_embd.weight": [WIDTH, size],
        "output.weight": [WIDTH, size],
        "output_norm.weight": [WIDTH],
        "blk.0.attn_norm.weight": [WIDTH],
        "blk.0.ffn_norm.weight": [WIDTH],
        "blk.0.attn_q.weight": square,
        "blk.0.attn_k.weight": square,
        "blk.0.attn_v.weight": square,
        "blk.0.attn_output.weight": square,
        "blk.0.ffn_gate.weight": square,
        "blk.0.ffn_up.weight": square,
        "blk.0.ffn_down.weight": square,
    }
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    out += b"".join(pairs)
    offset = 0
    for name, shape in tensors.items():
        out += _string(name) + struct.pack("<I", len(shape))
        out += struct.pack(f"<{len(shape)}Q", *shape)
        out += struct.pack("<IQ", 0, offset)  # of 32-bit numbers
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        offset += -(-4 * count // ALIGNMENT) * ALIGNMENT
    out += bytes(-len(out) % ALIGNMENT) + bytes(offset)
    with open(path, "wb") as file:
        file.write(out)
