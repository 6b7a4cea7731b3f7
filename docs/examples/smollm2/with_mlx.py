"""The same model inside mlx-lm, held to a constraint by Parlance's processor.

    python docs/examples/smollm2/with_mlx.py MODEL.gguf

mlx-lm builds the model, keeps its state, samples and stops; what is added is
one element of ``logits_processors``.  Needs mlx and mlx-lm (on Linux also
mlx-cpu), which scripts/setup puts beside the environment: PARLANCE_PEERS names
the folder.
"""

import argparse
import json
import os
import pathlib
import sys
import time

if os.environ.get("PARLANCE_PEERS"):
    sys.path.append(os.environ["PARLANCE_PEERS"])

import mlx.core as mx
import mlx_lm
import numpy as np
from mlx_lm.models import llama
from mlx_lm.tokenizer_utils import TokenizerWrapper
from parlance.integrations.mlx import LogitsProcessor
from transformers import PreTrainedTokenizerFast

from chat import IM_END, tokenizer_of, vocabulary_of
from model import Gguf
from scenarios import SCENARIOS

_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
}


def _name(name):
    """mlx-lm's name of a tensor of the file."""
    if name in _OUTER:
        return _OUTER[name]
    _, layer, part, _ = name.split(".")
    return f"model.layers.{layer}.{_LAYER[part]}.weight"


def model_of(gguf):
    facts = gguf.metadata
    model = llama.Model(
        llama.ModelArgs(
            model_type="llama",
            hidden_size=facts["llama.embedding_length"],
            num_hidden_layers=facts["llama.block_count"],
            intermediate_size=facts["llama.feed_forward_length"],
            num_attention_heads=facts["llama.attention.head_count"],
            num_key_value_heads=facts["llama.attention.head_count_kv"],
            rms_norm_eps=facts["llama.attention.layer_norm_rms_epsilon"],
            rope_theta=facts["llama.rope.freq_base"],
            rope_traditional=True,  # pairs of neighbours, as in the file
            vocab_size=facts["llama.vocab_size"],
            tie_word_embeddings=True,
        )
    )
    model.load_weights(
        [
            (_name(name), mx.array(np.ascontiguousarray(gguf.tensor(name))))
            for name in gguf.shapes()
        ]
    )
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--scenario", default="call")
    options = parser.parse_args()
    scenario = next(s for s in SCENARIOS if s.name == options.scenario)

    gguf = Gguf(options.model)
    model = model_of(gguf)
    tokenizer = tokenizer_of(gguf)
    vocabulary = vocabulary_of(tokenizer, options.model)
    wrapped = TokenizerWrapper(
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=IM_END)
    )
    processor = LogitsProcessor(
        scenario.tag.grammar(vocabulary).compile(vocabulary)
    )
    # Read while it is written, by the same description.
    reader = scenario.tag.parser(vocabulary=vocabulary)
    began, ids = time.perf_counter(), []
    for response in mlx_lm.stream_generate(
        model,
        wrapped,
        tokenizer.encode(scenario.prompt).ids,
        max_tokens=scenario.max_tokens,
        logits_processors=[processor],
    ):
        ids.append(response.token)
        reader.feed([response.token])
    message, _ = reader.finalize()
    print(json.dumps(message, ensure_ascii=False))
    try:
        assert not processor.mismatches, processor.mismatches
        assert not reader.diagnostics, reader.diagnostics
        assert reader.complete, "the response is not complete"
        scenario.check(message)
    except Exception as error:  # whatever it is, it is the answer
        print(f"FAILED mlx: {type(error).__name__}: {error}\n       {ids}")
        return 1
    print(
        f"ok     mlx      {len(ids)} tokens in "
        f"{time.perf_counter() - began:.1f} s, by mlx-lm {mlx_lm.__version__}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
