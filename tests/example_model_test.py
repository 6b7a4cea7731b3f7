"""The model of docs/examples/smollm2, on a GGUF file of a few kilobytes.

What it computes is compared with the formulas of a llama, written out position
by position, and with itself when a text comes in pieces.
"""

import importlib.util
import math
import pathlib
import struct

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

LAYERS, HEADS, KV_HEADS, SIZE, TOKENS, INNER = 2, 4, 2, 16, 50, 96
WIDTH = HEADS * SIZE
EPSILON, BASE = 1e-5, 10000.0
F32, Q4_1, Q8_0 = 0, 3, 8


@pytest.fixture(scope="module")
def example():
    path = ROOT / "docs" / "examples" / "smollm2" / "model.py"
    spec = importlib.util.spec_from_file_location("smollm2_model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def q8_0(generator, shape):
    scale = generator.uniform(0.001, 0.01, (math.prod(shape) // 32, 1)).astype("f2")
    q = generator.integers(-128, 128, (len(scale), 32), dtype="i1")
    data = b"".join(s.tobytes() + v.tobytes() for s, v in zip(scale, q))
    return data, (scale.astype("f8") * q).reshape(shape)


def q4_1(generator, shape):
    scale = generator.uniform(0.01, 0.05, (math.prod(shape) // 32, 1)).astype("f2")
    least = generator.uniform(-0.4, -0.2, scale.shape).astype("f2")
    q = generator.integers(0, 16, (len(scale), 32), dtype="u1")
    packed = q[:, :16] | q[:, 16:] << 4
    data = b"".join(
        s.tobytes() + m.tobytes() + v.tobytes()
        for s, m, v in zip(scale, least, packed)
    )
    return data, (scale.astype("f8") * q + least).reshape(shape)


def f32(generator, shape):
    values = generator.uniform(0.5, 1.5, shape).astype("f4")
    return values.tobytes(), values.astype("f8")


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def written(path):
    """Writes a small llama; gives its weights in double precision."""
    generator = np.random.default_rng(1)
    shapes = {"token_embd.weight": ((TOKENS, WIDTH), Q8_0, q8_0)}
    for layer in range(LAYERS):
        for name, shape in {
            "attn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (KV_HEADS * SIZE, WIDTH),
            "attn_v": (KV_HEADS * SIZE, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_norm": (WIDTH,),
            "ffn_gate": (INNER, WIDTH),
            "ffn_up": (INNER, WIDTH),
            "ffn_down": (WIDTH, INNER),
        }.items():
            kind = (F32, f32) if len(shape) == 1 else (Q4_1, q4_1)
            shapes[f"blk.{layer}.{name}.weight"] = (shape, *kind)
    shapes["output_norm.weight"] = ((WIDTH,), F32, f32)
    facts = {
        "general.architecture": (8, string("llama")),
        "llama.block_count": (4, struct.pack("<I", LAYERS)),
        "llama.embedding_length": (4, struct.pack("<I", WIDTH)),
        "llama.attention.head_count": (4, struct.pack("<I", HEADS)),
        "llama.attention.head_count_kv": (4, struct.pack("<I", KV_HEADS)),
        "llama.rope.freq_base": (6, struct.pack("<f", BASE)),
        "llama.attention.layer_norm_rms_epsilon": (6, struct.pack("<f", EPSILON)),
        "tokens": (9, struct.pack("<IQ", 8, 1) + string("ab")),
    }
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(facts))
    for key, (kind, value) in facts.items():
        head += string(key) + struct.pack("<I", kind) + value
    body, weights = b"", {}
    for name, (shape, kind, make) in shapes.items():
        data, weights[name] = make(generator, shape)
        head += string(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", n) for n in reversed(shape))
        head += struct.pack("<IQ", kind, len(body))
        body += data + b"\0" * (-len(data) % 32)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + body)
    return weights


def slowly(weights, ids):
    """Logits after ``ids``, as the formulas say it, in double precision."""

    def norm(x, weight):
        return x / math.sqrt((x @ x) / len(x) + EPSILON) * weight

    def rotated(x, position):
        out = x.copy()
        for pair in range(SIZE // 2):
            angle = position * BASE ** (-2 * pair / SIZE)
            a, b = x[2 * pair], x[2 * pair + 1]
            out[2 * pair] = a * math.cos(angle) - b * math.sin(angle)
            out[2 * pair + 1] = a * math.sin(angle) + b * math.cos(angle)
        return out

    xs = [weights["token_embd.weight"][id] for id in ids]
    for layer in range(LAYERS):
        w = {
            name.split(".")[2]: value
            for name, value in weights.items()
            if name.startswith(f"blk.{layer}.")
        }
        normed = [norm(x, w["attn_norm"]) for x in xs]
        keys = [(w["attn_k"] @ h).reshape(KV_HEADS, SIZE) for h in normed]
        values = [(w["attn_v"] @ h).reshape(KV_HEADS, SIZE) for h in normed]
        out = []
        for position, h in enumerate(normed):
            heads = []
            for head, q in enumerate((w["attn_q"] @ h).reshape(HEADS, SIZE)):
                kv = head // (HEADS // KV_HEADS)
                q = rotated(q, position)
                scores = np.array(
                    [
                        q @ rotated(keys[p][kv], p) / math.sqrt(SIZE)
                        for p in range(position + 1)
                    ]
                )
                share = np.exp(scores - scores.max())
                share /= share.sum()
                heads.append(sum(s * values[p][kv] for p, s in enumerate(share)))
            out.append(w["attn_output"] @ np.concatenate(heads))
        xs = [x + y for x, y in zip(xs, out)]
        for index, x in enumerate(xs):
            h = norm(x, w["ffn_norm"])
            gate = w["ffn_gate"] @ h
            inner = gate / (1 + np.exp(-gate)) * (w["ffn_up"] @ h)
            xs[index] = x + w["ffn_down"] @ inner
    return weights["token_embd.weight"] @ norm(xs[-1], weights["output_norm.weight"])


def test_what_it_computes(example, tmp_path):
    path = tmp_path / "tiny.gguf"
    weights = written(path)
    ids = [int(i) for i in np.random.default_rng(2).integers(0, TOKENS, 12)]
    expected = slowly(weights, ids)
    gguf = example.Gguf(path)
    assert gguf.metadata["tokens"] == ["ab"]
    for name, value in weights.items():
        assert np.allclose(gguf.tensor(name), value, atol=1e-6), name
    for attempt in range(2):  # the second time from the cached weights
        model = example.Model.load(path, tmp_path / "cache", context=32)
        whole = model.feed(ids)
        assert whole.dtype == np.float32
        assert np.allclose(whole, expected, rtol=1e-3, atol=1e-3), attempt
        for cut in (0, 1, 5, 11):
            model.rewind(cut)
            for id in ids[cut:-1]:
                model.feed([id])
            assert np.allclose(model.feed(ids[-1:]), whole, atol=1e-4), cut
    model.rewind(0)
    model.feed([3, 1])
    model.rewind(0)
    assert np.allclose(model.feed(ids[:7]), slowly(weights, ids[:7]), atol=1e-3)
    with pytest.raises(ValueError, match="more than 32 tokens"):
        model.feed([0] * 32)


def test_what_it_refuses(example, tmp_path):
    path = tmp_path / "no.gguf"
    path.write_bytes(b"GGML" + b"\0" * 60)
    with pytest.raises(ValueError, match="no GGUF file of version 3"):
        example.Gguf(path)
