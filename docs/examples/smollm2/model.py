"""SmolLM2-135M-Instruct in NumPy: a llama, read from its GGUF file.

    model = Model.load(path)
    logits = model.feed(ids)     # of the token after these
    model.rewind(length)         # forget what came after

Everything is float32.  The weights are dequantised once, into one file beside
others in the cache, and mapped into memory; a token then costs one pass over
538 MB, so that memory bandwidth is the limit, not arithmetic.
"""

import math
import os
import pathlib
import struct
import tempfile

import numpy as np

# ---- The file

_NUMBERS = {
    **{0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f"},
    **{7: "?", 10: "Q", 11: "q", 12: "d"},
}
_STRING, _ARRAY = 8, 9


class Gguf:
    """The metadata of a GGUF file (version 3), and its tensors.

    https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
    """

    def __init__(self, path):
        self._data = np.memmap(path, np.uint8, "r")
        self._at = 0
        magic, version = self._take(4), self._number("I")
        if magic != b"GGUF" or version != 3:
            raise ValueError(f"{path} is no GGUF file of version 3")
        tensors, pairs = self._number("Q"), self._number("Q")
        self.metadata = {}
        for _ in range(pairs):
            key = self._string()
            self.metadata[key] = self._value(self._number("I"))
        self._tensors = {}
        for _ in range(tensors):
            name = self._string()
            shape = [self._number("Q") for _ in range(self._number("I"))]
            kind, offset = self._number("I"), self._number("Q")
            self._tensors[name] = (tuple(reversed(shape)), kind, offset)
        step = self.metadata.get("general.alignment", 32)
        self._begin = -(-self._at // step) * step

    def tensor(self, name):
        """Dequantised, as float32."""
        shape, kind, offset = self._tensors[name]
        return _DEQUANTISE[kind](
            self._data[self._begin + offset :], math.prod(shape)
        ).reshape(shape)

    def shapes(self):
        return {name: shape for name, (shape, _, _) in self._tensors.items()}

    def _take(self, size):
        self._at += size
        return self._data[self._at - size : self._at].tobytes()

    def _number(self, code):
        return struct.unpack("<" + code, self._take(struct.calcsize(code)))[0]

    def _string(self):
        return self._take(self._number("Q")).decode()

    def _value(self, kind):
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            inner, count = self._number("I"), self._number("Q")
            return [self._value(inner) for _ in range(count)]
        return self._number(_NUMBERS[kind])


def _blocks(data, count, *fields):
    """Blocks of 32 weights with these fields."""
    kind = np.dtype(list(fields))
    return data[: count // 32 * kind.itemsize].view(kind)


def _f32(data, count):
    return data[: 4 * count].view("<f4")


def _q8_0(data, count):
    blocks = _blocks(data, count, ("scale", "<f2"), ("q", "i1", 32))
    return blocks["scale"].astype("f")[:, None] * blocks["q"]


def _q4_1(data, count):
    fields = ("scale", "<f2"), ("least", "<f2"), ("q", "u1", 16)
    blocks = _blocks(data, count, *fields)
    # The low halves of the bytes are the first 16 weights.
    q = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=1)
    scale, least = (blocks[n].astype("f")[:, None] for n in ("scale", "least"))
    return scale * q + least


_DEQUANTISE = {0: _f32, 3: _q4_1, 8: _q8_0}

# ---- The weights


def _layout(shapes, layers):
    """Names in the order in which they lie in the cached file.

    What reads the same vector lies together, and is one matrix.
    """
    yield "token_embd.weight"
    for layer in range(layers):
        for part in (
            *("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output"),
            *("ffn_norm", "ffn_gate", "ffn_up", "ffn_down"),
        ):
            yield f"blk.{layer}.{part}.weight"
    yield "output_norm.weight"


def _weights(gguf, path, folder):
    """All weights, one after the other, mapped from the cached file."""
    names = list(_layout(gguf.shapes(), gguf.metadata["llama.block_count"]))
    if unread := set(gguf.shapes()) - set(names):
        raise ValueError(f"not a llama with tied embeddings: {unread}")
    cached = folder / f"{path.stem}.float32.npy"
    size = sum(math.prod(shape) for shape in gguf.shapes().values())
    if not cached.exists() or cached.stat().st_size < 4 * size:
        folder.mkdir(parents=True, exist_ok=True)
        # Written under another name, so that no half a file is ever read.
        handle, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f4", "fortran_order": False, "shape": (size,)}
            )
            for name in names:
                file.write(np.ascontiguousarray(gguf.tensor(name)).data)
        os.replace(temporary, cached)
    flat = np.load(cached, mmap_mode="r")
    out, at = {}, 0
    for name in names:
        shape = gguf.shapes()[name]
        out[name] = flat[at : at + math.prod(shape)].reshape(shape)
        at += math.prod(shape)
    return out


def _joined(first, *others):
    """One matrix of matrices that lie one after the other."""
    rows = sum(m.shape[0] for m in (first, *others))
    return np.lib.stride_tricks.as_strided(
        first, (rows, first.shape[1]), first.strides, writeable=False
    )


# ---- The model


class Model:
    """One text at a time.  ``length`` tokens of it have been read."""

    def __init__(self, gguf, weights, context=1024):
        facts = gguf.metadata
        self.gguf = gguf
        self._weights = weights
        self.layers = facts["llama.block_count"]
        self.heads = facts["llama.attention.head_count"]
        self.kv_heads = facts["llama.attention.head_count_kv"]
        self.size = facts["llama.embedding_length"] // self.heads  # of a head
        self.epsilon = np.float32(
            facts["llama.attention.layer_norm_rms_epsilon"]
        )
        self.embedding = weights["token_embd.weight"]
        self.output_norm = weights["output_norm.weight"]
        self.blocks = []
        for layer in range(self.layers):
            part = {
                name: weights[f"blk.{layer}.{name}.weight"]
                for name in (
                    *("attn_norm", "attn_q", "attn_k", "attn_v"),
                    *("attn_output", "ffn_norm", "ffn_gate", "ffn_up"),
                    "ffn_down",
                )
            }
            part["qkv"] = _joined(
                part["attn_q"], part["attn_k"], part["attn_v"]
            )
            part["gate_up"] = _joined(part["ffn_gate"], part["ffn_up"])
            self.blocks.append(part)
        shape = (self.layers, self.kv_heads, context, self.size)
        self.keys = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        steps = np.arange(0, self.size, 2) / self.size
        angles = np.outer(
            np.arange(context), facts["llama.rope.freq_base"] ** -steps
        )
        self.cosine = np.cos(angles).astype(np.float32)
        self.sine = np.sin(angles).astype(np.float32)
        self.length = 0

    @classmethod
    def load(cls, path, folder, **options):
        """``folder`` is where the dequantised weights are kept."""
        path = pathlib.Path(path)
        gguf = Gguf(path)
        return cls(gguf, _weights(gguf, path, pathlib.Path(folder)), **options)

    def another(self):
        """A model of the same weights, for another text."""
        return Model(self.gguf, self._weights, self.keys.shape[2])

    def rewind(self, length):
        """Forgets the tokens after the first ``length``."""
        self.length = min(self.length, length)

    def feed(self, ids):
        """Reads tokens; gives the logits of the next one."""
        begin, self.length = self.length, self.length + len(ids)
        if self.length > self.keys.shape[2]:
            raise ValueError(f"more than {self.keys.shape[2]} tokens")
        x = self.embedding[ids]
        for layer, block in enumerate(self.blocks):
            h = self._norm(x, block["attn_norm"])
            x = x + self._attention(layer, h @ block["qkv"].T, begin) @ (
                block["attn_output"].T
            )
            h = self._norm(x, block["ffn_norm"]) @ block["gate_up"].T
            gate, up = np.split(h, 2, axis=-1)
            x = x + (gate / (1 + np.exp(-gate)) * up) @ block["ffn_down"].T
        return self._norm(x[-1], self.output_norm) @ self.embedding.T

    def _norm(self, x, weight):
        square = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(square + self.epsilon) * weight

    def _rotated(self, x, begin):
        """Rotary positions; a pair is two neighbours, as llama.cpp has it."""
        cosine = self.cosine[begin : begin + len(x), None]
        sine = self.sine[begin : begin + len(x), None]
        even, odd = x[..., 0::2], x[..., 1::2]
        out = np.empty_like(x)
        out[..., 0::2] = even * cosine - odd * sine
        out[..., 1::2] = even * sine + odd * cosine
        return out

    def _attention(self, layer, qkv, begin):
        count, size, kv = len(qkv), self.size, self.kv_heads
        end = begin + count
        qkv = qkv.reshape(count, -1, size)
        q = self._rotated(qkv[:, : self.heads], begin)
        k = self._rotated(qkv[:, self.heads : -kv], begin)
        keys, values = self.keys[layer], self.values[layer]
        keys[:, begin:end] = k.transpose(1, 0, 2)
        values[:, begin:end] = qkv[:, -kv:].transpose(1, 0, 2)
        # By head of keys, all queries that look at it.
        q = q.reshape(count, kv, -1, size).transpose(1, 2, 0, 3)
        q = q.reshape(kv, -1, size) * np.float32(1 / math.sqrt(size))
        scores = q @ keys[:, :end].transpose(0, 2, 1)
        if count > 1:
            later = np.arange(end) > np.arange(begin, end)[:, None]
            scores.reshape(kv, -1, count, end)[:, :, later] = -np.inf
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        out = (scores @ values[:, :end]).reshape(kv, -1, count, size)
        return out.transpose(2, 0, 1, 3).reshape(count, -1)
