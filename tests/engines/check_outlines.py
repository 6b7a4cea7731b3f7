"""Outlines with the backend "parlance", over a real model in each of its hosts.

SmolLM2, as one GGUF file, runs in llama.cpp, in mlx and in transformers (torch).
The model is tiny: what it says is often silly.  That it is of the type that was
asked for is not up to the model.
"""

import json
import pathlib
import re
import sys
from typing import Literal

import pytest

outlines = pytest.importorskip("outlines")
import parlance  # noqa: E402
from outlines.types import CFG, JsonSchema, Regex  # noqa: E402
from parlance.integrations import outlines as plug_in  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
from smollm2 import PROMPT, TOOLS, Weather, model_file  # noqa: E402

def of_llama_cpp(path):
    llama_cpp = pytest.importorskip("llama_cpp")
    return outlines.from_llamacpp(
        llama_cpp.Llama(model_path=str(path), n_ctx=512, verbose=False)
    )


def of_mlx(path):
    pytest.importorskip("mlx_lm")
    from chat import IM_END, tokenizer_of
    from mlx_lm.tokenizer_utils import TokenizerWrapper
    from model import Gguf
    from transformers import PreTrainedTokenizerFast
    from with_mlx import model_of

    gguf = Gguf(path)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_of(gguf), eos_token=IM_END
    )
    return outlines.from_mlxlm(model_of(gguf), TokenizerWrapper(tokenizer))


def of_transformers(path):
    pytest.importorskip("torch")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(2)
    where = {"gguf_file": path.name}
    return outlines.from_transformers(
        AutoModelForCausalLM.from_pretrained(path.parent, **where),
        AutoTokenizer.from_pretrained(path.parent, **where),
    )


HOSTS = {
    "llama_cpp": (of_llama_cpp, "max_tokens"),
    "mlx": (of_mlx, "max_tokens"),
    "transformers": (of_transformers, "max_new_tokens"),
}


@pytest.fixture(scope="session", params=HOSTS)
def host(request):
    """A model, and how to limit what it writes."""
    make, limit = HOSTS[request.param]
    return make(model_file()), {limit: 100}


@pytest.fixture(autouse=True)
def installed():
    plug_in.install()
    yield
    plug_in.uninstall()


def test_a_type_of_pydantic(host):
    model, limit = host
    generator = outlines.Generator(model, Weather, backend="parlance")
    for _ in range(2):  # a generator may be called again
        Weather.model_validate_json(generator(PROMPT, **limit))
        assert not generator.logits_processor.mismatches


def test_a_schema_that_outlines_cannot_write_as_a_pattern(host):
    model, limit = host
    schema = {
        "type": "object",
        "properties": {"price": {"type": "number", "multipleOf": 0.25, "minimum": 3}},
        "required": ["price"],
        "additionalProperties": False,
        "not": {"properties": {"price": {"const": 4}}},
    }
    generator = outlines.Generator(
        model, JsonSchema(json.dumps(schema)), backend="parlance"
    )
    price = json.loads(generator(PROMPT, **limit))["price"]
    assert price >= 3 and price % 0.25 == 0 and price != 4


@pytest.mark.parametrize(
    "kind, pattern",
    [
        (Regex("[a-z]{3} [0-9]{2}°"), "[a-z]{3} [0-9]{2}°"),
        (Literal["sunny", "rain"], "sunny|rain"),
        (bool, "(?i)true|false"),
        (CFG('start: "say " WORD ("," " " WORD)~2\nWORD: /[a-z]{2,5}/'), None),
    ],
)
def test_types_of_outlines(host, kind, pattern):
    model, limit = host
    text = outlines.Generator(model, kind, backend="parlance")(PROMPT, **limit)
    assert re.fullmatch(pattern or "say [a-z]{2,5}(, [a-z]{2,5}){2}", text)


def test_a_call_of_a_tool(host):
    """What Outlines has no type for: a family's format, with reasoning and tools."""
    model, limit = host
    family = parlance.Format("hermes_qwen2_5")
    tag = family.structural_tag(TOOLS, tool_choice="required", max_white_space=1)
    constraint = plug_in.compiler_of(model).compile_structural_tag(tag)
    processor = plug_in.LogitsProcessor(constraint)
    text = outlines.Generator(model, processor=processor)(PROMPT, **limit)
    message = parlance.parse_response(text, family, prefix="")
    assert "tool_calls" in message, text
    [call] = message["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    Weather.model_validate(call["function"]["arguments"])
    assert not processor.mismatches


def test_a_stream(host):
    model, limit = host
    generator = outlines.Generator(model, Weather, backend="parlance")
    try:
        pieces = list(generator.stream(PROMPT, **limit))
    except NotImplementedError:
        pytest.skip("Outlines does not stream from transformers")
    assert len(pieces) > 5
    Weather.model_validate_json("".join(pieces))


def test_a_batch(host):
    model, limit = host
    generator = outlines.Generator(model, Weather, backend="parlance")
    prompts = [PROMPT, PROMPT.replace("Oslo", "New York, in a long sentence"), "Bern:"]
    try:
        texts = generator.batch(prompts, **limit)
    except NotImplementedError:
        pytest.skip("Outlines has no batches of this host")
    assert len(texts) == 3
    for text in texts:
        Weather.model_validate_json(text)
    assert not generator.logits_processor.mismatches


def test_errors(host):
    model, _ = host
    with pytest.raises(parlance.SchemaError) as caught:
        outlines.Generator(
            model,
            JsonSchema('{"properties": {"a": {"$ref": "#/$defs/none"}}}'),
            backend="parlance",
        )
    assert "/properties/a/$ref" in str(caught.value)
    with pytest.raises(NotImplementedError, match="whitespace_pattern"):
        outlines.Generator(
            model, JsonSchema("{}", whitespace_pattern=" ?"), backend="parlance"
        )


def test_other_backends_stay(host):
    model, _ = host
    assert plug_in.compiler_of(model) is plug_in.compiler_of(model)
    own = outlines.Generator(model, Literal["yes", "no"])
    assert type(own.logits_processor).__module__.startswith("outlines.")
    with pytest.raises(ValueError, match="not supported"):
        outlines.Generator(model, bool, backend="parlence")
    plug_in.uninstall()
    with pytest.raises(ValueError, match="not supported"):
        outlines.Generator(model, bool, backend="parlance")
