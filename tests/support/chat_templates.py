"""Chat templates of models, and what they let an assistant turn look like.

A model's chat template renders an assistant turn as the model was trained to
write it.  So a conversation that ends with an assistant message, rendered,
less the prompt that is rendered for generation, is a response that the
model's authors wrote: the canonical response of the message.

    for template in TEMPLATES:
        for case in cases(template, seed=1, count=10):
            case.prompt, case.response, case.end, case.message

TEMPLATES says for each template which built-in format is meant for its model,
and what of a conversation the template can write at all.  Rendering is transformers' `render_jinja_template`; a few
templates that its sandbox refuses are rendered with plain Jinja.

The templates come from scripts/fetch: `llama-cpp-python` and the tokenizers.
"""

import dataclasses
import functools
import json
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Missing(Exception):
    """Data that is not in the cache; the text says how to get it."""


@functools.cache
def fetched(name):
    """The folder of a download, or Missing."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "fetch"), "--cached", name],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Missing(done.stderr.strip())
    return pathlib.Path(done.stdout.strip())


# Shapes of a message, as a template can write them: reasoning, content, one
# call, two calls.
EVERYTHING = ("c", "rc", "t", "rt", "ct", "rct", "T", "rT", "cT", "rcT")
NO_REASONING = ("c", "t", "ct", "T", "cT")


@dataclasses.dataclass(frozen=True)
class Template:
    """What is meant for a template, and how its turns are cut.

    header   the end of the prompt up to which a turn and the prompt for
             generation agree, where the template opens reasoning in the
             prompt and writes a turn without reasoning otherwise
    opener   what opens reasoning: a grammar begins after it
    splice   for templates that drop reasoning: how the model ends it, after
             a prompt that opens it
    empty    how the model skips reasoning that the prompt opens, where the
             template leaves reasoning out of turns without it
    ends     markers that end the turn, the longest first
    drop     what the template writes after the turn, which is no part of it
    shapes   the messages that the template can write
    python   kinds of values that it spells as Python literals
    arguments  how calls are given to the template: "object" or "json"
    tokenizers  names of tokenizers for the law of tokens; "made up" is
             o200k's tokens and `marks`
    marks    added tokens of the made-up tokenizer: control, visible
    plain_jinja  transformers refuses the template
    turns    the shapes that it can write after a call and its result;
             None: the same
    one_type   the template cannot write schemas that allow null
    closed   what ends calls, where the template forgets it after a single one
    ascii_json  the template escapes what is not ASCII in JSON
    variables  what else the template is given
    """

    name: str
    format: str
    header: str | None = None
    opener: str = ""
    splice: str | None = None
    empty: str = ""
    ends: tuple = ("<|im_end|>",)
    drop: str = ""
    shapes: tuple = EVERYTHING
    python: tuple = ()
    arguments: str = "object"
    content_of_calls: str | None = ""
    tokenizers: tuple = ("made up",)
    control: tuple = ()
    visible: tuple = ()
    plain_jinja: bool = False
    turns: tuple | None = None
    closed: str = ""
    one_type: bool = False
    ascii_json: bool = False
    variables: tuple = ()

    def __str__(self):
        return self.name


CHATML = "<|im_start|>assistant\n"
CHATML_CONTROL = ("<|im_start|>", "<|im_end|>")
THINK = ("<think>", "</think>")
TOOL_CALL = ("<tool_call>", "</tool_call>")
DEEPSEEK_MARKS = (
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
)
DEEPSEEK_CONTROL = (
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<｜User｜>",
    "<｜Assistant｜>",
)
DEEPSEEK_END = ("<｜end▁of▁sentence｜>",)
GLM_MARKS = (
    *THINK,
    *TOOL_CALL,
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
)
GLM_CONTROL = ("<|assistant|>", "<|user|>", "<|observation|>")
KIMI_MARKS = (
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
LLAMA_CONTROL = (
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|python_tag|>",
)
QWEN_TOKENIZERS = ("tokenizer-qwen3", "tokenizer-gemma3")

TEMPLATES = (
    Template(
        "Qwen-Qwen3-0.6B",
        "qwen3",
        opener="<think>\n",
        tokenizers=QWEN_TOKENIZERS,
    ),
    Template(
        "Qwen-QwQ-32B",
        "qwq",
        header=CHATML,
        opener="<think>\n",
        splice="\n</think>\n\n",
        tokenizers=QWEN_TOKENIZERS,
    ),
    Template(
        "Bielik-11B-v3.0-Instruct",
        "bielik",
        header=CHATML,
        opener="<think>\n",
        turns=(),
    ),
    Template(
        "Reka-Edge",
        "reka_edge",
        opener="<think>\n",
        ascii_json=True,
        ends=("\n\n<sep>",),
    ),
    Template(
        "HuggingFaceTB-SmolLM3-3B",
        "smollm3",
        shapes=("c",),
        turns=(),
    ),
    Template(
        "Qwen-Qwen2.5-7B-Instruct",
        "hermes_qwen2_5",
        shapes=NO_REASONING,
        tokenizers=QWEN_TOKENIZERS,
    ),
    Template(
        "MiMo-VL",
        "hermes_qwen2_5",
        shapes=NO_REASONING,
        tokenizers=QWEN_TOKENIZERS,
    ),
    Template(
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
        "hermes_qwen2_5",
        header=CHATML,
        one_type=True,
        shapes=("c", "t", "T"),
        control=CHATML_CONTROL,
        visible=TOOL_CALL,
    ),
    Template(
        "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
        "hermes_qwen2_5",
        header=CHATML,
        one_type=True,
        shapes=("c", "t", "T"),
        control=CHATML_CONTROL,
        visible=TOOL_CALL,
    ),
    Template(
        "Qwen3-Coder",
        "qwen3_coder",
        shapes=NO_REASONING,
        python=("boolean", "null"),
        tokenizers=QWEN_TOKENIZERS,
    ),
    Template(
        "Qwen3.5-4B",
        "qwen3_5",
        opener="<think>\n",
        python=("boolean", "null"),
        tokenizers=QWEN_TOKENIZERS,
    ),
    Template(
        "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        "nemotron_3_nano",
        header=CHATML,
        opener="<think>\n",
        python=("boolean", "null"),
    ),
    Template(
        "StepFun3.5-Flash",
        "step3_5",
        opener="<think>\n",
        python=("boolean", "null"),
    ),
    Template(
        "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
        "deepseek_v3_r1",
        header="<｜Assistant｜>",
        opener="<think>\n",
        splice="\n</think>\n\n",
        ends=DEEPSEEK_END,
        shapes=("c", "rc", "t", "T"),
        content_of_calls=None,
        turns=("c",),
        tokenizers=("tokenizer-deepseek_v3", "made up"),
        control=DEEPSEEK_CONTROL,
        visible=THINK + DEEPSEEK_MARKS,
    ),
    Template(
        "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
        "deepseek_v3_r1",
        header="<｜Assistant｜>",
        opener="<think>\n",
        splice="\n</think>\n\n",
        ends=DEEPSEEK_END,
        shapes=("c", "rc", "t", "T"),
        arguments="json",
        closed="<｜tool▁calls▁end｜>",
        turns=("c",),
        content_of_calls=None,
        control=DEEPSEEK_CONTROL,
        visible=THINK + DEEPSEEK_MARKS,
    ),
    Template(
        "llama-cpp-deepseek-r1",
        "deepseek_v3_r1",
        header="<｜Assistant｜>",
        opener="<think>\n",
        splice="\n</think>\n\n",
        ends=DEEPSEEK_END,
        shapes=("c", "rc", "t", "T"),
        control=DEEPSEEK_CONTROL,
        visible=THINK + DEEPSEEK_MARKS,
        plain_jinja=True,
    ),
    Template(
        "deepseek-ai-DeepSeek-V3.1",
        "deepseek_v3_1",
        opener="<think>",
        ends=DEEPSEEK_END,
        shapes=NO_REASONING,
        tokenizers=("tokenizer-deepseek_v3", "made up"),
        control=DEEPSEEK_CONTROL,
        visible=THINK + DEEPSEEK_MARKS,
    ),
    Template(
        "deepseek-ai-DeepSeek-V3.2",
        "deepseek_v3_2",
        opener="<think>",
        ends=DEEPSEEK_END,
        tokenizers=("tokenizer-deepseek_v3", "made up"),
        control=DEEPSEEK_CONTROL,
        visible=(*THINK, "｜DSML｜"),
    ),
    Template(
        "deepseek-ai-DeepSeek-V4",
        "deepseek_v4",
        opener="<think>",
        ends=DEEPSEEK_END,
        tokenizers=("tokenizer-deepseek_v3", "made up"),
        control=DEEPSEEK_CONTROL,
        visible=(*THINK, "｜DSML｜"),
    ),
    Template(
        "deepseek-ai-DeepSeek-V4-Flash-0731",
        "deepseek_v4",
        opener="<think>",
        ends=DEEPSEEK_END,
        control=DEEPSEEK_CONTROL,
        visible=(*THINK, "｜DSML｜"),
    ),
    Template(
        "GLM-4.6",
        "glm4_5",
        opener="\n<think>",
        ends=("<|user|>", "<|observation|>"),
        control=GLM_CONTROL,
        visible=GLM_MARKS,
    ),
    Template(
        "GLM-4.7-Flash",
        "glm4_7",
        header="<|assistant|>",
        opener="<think>",
        ends=("<|user|>", "<|observation|>"),
        control=GLM_CONTROL,
        visible=GLM_MARKS,
    ),
    Template(
        "Spark2.5",
        "spark2_5",
        header="<|Bot|>",
        opener="<think>",
        ends=DEEPSEEK_END,
    ),
    Template(
        "inclusionai-ling-3.0-flash",
        "ling3",
        opener="<think>",
        ends=("<|role_end|>",),
    ),
    Template(
        "openai-gpt-oss-120b",
        "gpt_oss",
        ends=("<|return|>", "<|call|>"),
        shapes=("c", "rc", "t", "rt"),
        tokenizers=("tokenizer-gptoss",),
    ),
    Template(
        "moonshotai-Kimi-K2",
        "kimi_k2",
        shapes=NO_REASONING,
        control=("<|im_end|>", "<|im_assistant|>", "<|im_middle|>", *KIMI_MARKS),
        visible=THINK,
    ),
    Template(
        "Kimi-K2-Instruct",
        "kimi_k2",
        shapes=NO_REASONING,
        control=("<|im_end|>", "<|im_assistant|>", "<|im_middle|>", *KIMI_MARKS),
        visible=THINK,
        plain_jinja=True,
    ),
    Template(
        "Kimi-K2-Thinking",
        "kimi_k2_thinking",
        opener="<think>",
        shapes=tuple(s for s in EVERYTHING if s != "rc"),
        control=("<|im_end|>", "<|im_assistant|>", "<|im_middle|>", *KIMI_MARKS),
        visible=THINK,
        plain_jinja=True,
    ),
    Template(
        "Kimi-K3",
        "kimi_k3",
        ends=("<|end_of_msg|>",),
        control=("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"),
    ),
    Template(
        "meta-llama-Llama-3.1-8B-Instruct",
        "llama3_json",
        ends=("<|eot_id|>", "<|eom_id|>"),
        shapes=("c", "t"),
        tokenizers=("tokenizer-llama3_1", "made up"),
        control=LLAMA_CONTROL,
    ),
    Template(
        "meta-llama-Llama-3.2-3B-Instruct",
        "llama3_json",
        ends=("<|eot_id|>", "<|eom_id|>"),
        shapes=("c", "t"),
        tokenizers=("tokenizer-llama3_1",),
        control=LLAMA_CONTROL,
    ),
    Template(
        "meta-llama-Llama-3.3-70B-Instruct",
        "llama3_json",
        ends=("<|eot_id|>", "<|eom_id|>"),
        shapes=("c", "t"),
        tokenizers=("tokenizer-llama3_1",),
        control=LLAMA_CONTROL,
    ),
    Template(
        "meetkai-functionary-medium-v3.1",
        "llama_custom_function",
        ends=("<|eot_id|>", "<|eom_id|>"),
        shapes=NO_REASONING,
        tokenizers=("tokenizer-llama3_1",),
        control=LLAMA_CONTROL,
    ),
    Template(
        "MiniMax-M2",
        "minimax_m2",
        header="]~b]ai\n",
        opener="<think>\n",
        empty="\n</think>\n\n",
        ends=("[e~[",),
        control=("]~b]", "[e~["),
        visible=("<minimax:tool_call>", "</minimax:tool_call>", *THINK),
    ),
    Template(
        "MiniMax-M1",
        "minimax_m1",
        ends=("<end_of_sentence>",),
        shapes=("c", "t", "T"),
    ),
    Template(
        "MiniMax-M3",
        "minimax_m3",
        header="]~b]ai\n",
        ends=("[e~[",),
        one_type=True,
    ),
    Template(
        "Apertus-8B-Instruct",
        "apertus",
        ends=("<|assistant_end|>",),
        shapes=NO_REASONING,
        turns=(),
    ),
    # The first writes no calls, the second strings without escapes.
    Template("LFM2-8B-A1B", "lfm2", shapes=("c",)),
    Template("LFM2.5-8B-A1B", "lfm2", shapes=("c",)),
    Template(
        "mistralai-Mistral-Nemo-Instruct-2407",
        "mistral_v3",
        ends=("</s>",),
        shapes=("c", "t", "T"),
    ),
    Template(
        "Mistral-Small-3.2-24B-Instruct-2506",
        "mistral_small_3_2",
        ends=("</s>",),
        shapes=("c", "t", "T"),
    ),
    Template(
        "unsloth-mistral-Devstral-Small-2507",
        "mistral_v11",
        ends=("</s>",),
        shapes=NO_REASONING,
    ),
    Template(
        "mistralai-Ministral-3-14B-Reasoning-2512",
        "mistral_v11",
        ends=("</s>",),
        shapes=NO_REASONING,
    ),
    Template(
        "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
        "cohere_command",
        ends=("<|END_OF_TURN_TOKEN|>",),
        drop="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        shapes=("c", "t", "rt", "T", "rT"),
    ),
    Template(
        "Cohere2MoE",
        "cohere2_moe",
        header="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        opener="<|START_THINKING|>",
        ends=("<|END_OF_TURN_TOKEN|>",),
        shapes=("c", "rc", "t", "rt", "T", "rT"),
    ),
    Template(
        "google-gemma-4-31B-it",
        "gemma4",
        ends=("<turn|>", "<|tool_response>"),
        python=("null",),
        shapes=("c", "t", "rt", "T", "rT"),
    ),
    Template(
        "google-gemma-4-31B-it-interleaved",
        "gemma4",
        ends=("<turn|>", "<|tool_response>"),
        python=("null",),
        shapes=("c", "t", "rt", "T", "rT"),
    ),
    Template(
        "GigaChat3-10B-A1.8B",
        "gigachat3",
        ends=("<|message_sep|>", "</s>"),
        shapes=("c", "t", "ct"),
    ),
    Template(
        "GigaChat3.1-10B-A1.8B",
        "gigachat3_1",
        ends=("<|message_sep|>", "</s>"),
        shapes=("c", "t", "ct"),
    ),
    Template(
        "ibm-granite-granite-3.3-2B-Instruct",
        "granite",
        ends=("<|end_of_text|>",),
        shapes=("c",),
        turns=(),
    ),
    Template(
        "ibm-granite-granite-4.0",
        "granite4",
        ends=("<|end_of_text|>",),
        shapes=NO_REASONING,
        control=("<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"),
        visible=TOOL_CALL,
    ),
    Template(
        "ibm-granite-granite-4.1",
        "granite4",
        ends=("<|end_of_text|>",),
        shapes=NO_REASONING,
        control=("<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"),
        visible=TOOL_CALL,
    ),
    Template(
        "openbmb-MiniCPM5-1B",
        "minicpm5",
        header=CHATML,
        opener="<think>\n",
        python=("boolean", "null", "array", "object"),
    ),
    Template(
        "ByteDance-Seed-OSS",
        "seed_oss",
        ends=("<seed:eos>",),
        python=("boolean", "null", "array", "object"),
    ),
    Template(
        "tencent-Hy3",
        "hunyuan_v3",
        ends=("<｜hy_eos:opensource｜>",),
        header="<｜hy_Assistant:opensource｜>",
    ),
    Template(
        "NVIDIA-Nemotron-Nano-v2",
        "nemotron_nano_v2",
        header="<SPECIAL_11>Assistant\n",
        opener="<think>\n",
        empty="\n</think>\n\n",
        ends=("<SPECIAL_12>",),
        shapes=("c", "t", "T"),
    ),
    Template(
        "unsloth-Apriel-1.5",
        "apriel",
        ends=("<|end|>",),
        drop="<eos>",
        variables=(("eos_token", "<eos>"),),
        shapes=NO_REASONING,
    ),
    Template(
        "Apriel-1.6-15b-Thinker-fixed",
        "apriel",
        header="<|begin_assistant|>\n",
        ends=("<|end|>",),
        shapes=NO_REASONING,
    ),
    Template(
        "fireworks-ai-llama-3-firefunction-v2",
        "firefunction_v2",
        ends=("<|eot_id|>",),
        drop="<|start_header_id|>assistant<|end_header_id|>\n\n",
        shapes=("c", "t", "T"),
        variables=(("functions", "[]"), ("datetime", "now")),
    ),
    Template(
        "poolside-Laguna-S-2.1",
        "laguna",
        header="<assistant>",
        ends=("</assistant>",),
    ),
    Template(
        "poolside-Laguna-XS-2.1",
        "laguna_xs",
        header="<assistant>\n",
        ends=("</assistant>",),
    ),
    Template(
        "poolside-Laguna-XS.2",
        "laguna_xs",
        header="<assistant>\n",
        ends=("</assistant>",),
    ),
    Template(
        "upstage-Solar-Open-100B",
        "solar_open",
        ends=("<|calls|>", "<|end|>"),
        header="<|begin|>assistant",
        shapes=("c", "t", "T"),
    ),
    Template(
        "muse-glimmer",
        "muse_glimmer",
        ends=("<|eot|>",),
        header="<|start|>assistant",
        shapes=("c", "rc", "t", "rt", "T", "rT"),
    ),
    Template(
        "meetkai-functionary-medium-v3.2",
        "functionary_v3_2",
        ends=("<|eot_id|>",),
        header=">>>",
        arguments="json",
        shapes=NO_REASONING,
    ),
    Template(
        "google-gemma-2-2b-it",
        "gemma3",
        ends=("<end_of_turn>",),
        shapes=("c",),
        turns=(),
    ),
    Template(
        "microsoft-Phi-3.5-mini-instruct",
        "phi3_5",
        ends=("<|end|>",),
        drop="<eos>",
        variables=(("eos_token", "<eos>"),),
        shapes=("c",),
        turns=(),
    ),
    Template(
        "tokenizer-qwen3",
        "qwen3",
        opener="<think>\n",
        tokenizers=("tokenizer-qwen3",),
    ),
    Template(
        "tokenizer-llama3_1",
        "llama3_json",
        ends=("<|eot_id|>", "<|eom_id|>"),
        shapes=("c",),
        tokenizers=("tokenizer-llama3_1",),
        turns=(),
    ),
    Template(
        "tokenizer-deepseek_v3",
        "deepseek_v3_r1",
        ends=DEEPSEEK_END,
        shapes=("c", "t", "T"),
        content_of_calls=None,
        arguments="json",
        closed="<｜tool▁calls▁end｜>",
        turns=("c",),
        tokenizers=("tokenizer-deepseek_v3",),
    ),
)


@functools.cache
def source(name):
    """The text of a template."""
    if name.startswith("tokenizer-"):
        path = fetched(name) / "tokenizer_config.json"
        return json.loads(path.read_text("utf-8"))["chat_template"]
    return (
        fetched("llama-cpp-python") / "templates" / f"{name}.jinja"
    ).read_text("utf-8")


@functools.cache
def plain_environment():
    import jinja2.ext
    import jinja2.sandbox

    environment = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[jinja2.ext.loopcontrols],
    )

    def tojson(value, indent=None, **_):
        if not isinstance(value, (dict, list, str, int, float, type(None))):
            value = list(value)
        return json.dumps(value, ensure_ascii=False, indent=indent)

    def refuse(text):
        raise jinja2.exceptions.TemplateError(text)

    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda _: "2026-01-01"
    return environment


def render(template, messages, tools, generate, thinking=True):
    variables = {
        "bos_token": "<bos>",
        "eos_token": template.ends[0],
        "thinking": thinking,
        "enable_thinking": thinking,
        **dict(template.variables),
    }
    if template.plain_jinja:
        return (
            plain_environment()
            .from_string(source(template.name))
            .render(
                messages=messages,
                tools=tools,
                add_generation_prompt=generate,
                **variables,
            )
        )
    from transformers.utils import chat_template_utils

    return chat_template_utils.render_jinja_template(
        [messages],
        tools=tools,
        chat_template=source(template.name),
        add_generation_prompt=generate,
        **variables,
    )[0][0]


@dataclasses.dataclass(frozen=True)
class Case:
    """A canonical response.

    prompt    what the model was given
    response  what it writes, without the end of the turn
    end       the marker that ends the turn, possibly empty
    message   {"reasoning", "content", "calls": [(name, arguments), …]}
    tools     the tools of the request
    seed      makes this case again
    """

    prompt: str
    response: str
    end: str
    message: dict
    tools: list
    seed: str


# Words that no template takes for markup, in several scripts.
WORDS = (
    "ok fine Bern Zürich naïve 東京 Привет مرحبا 🌦 3 4.5 -1 true null a_b "
    "(x) [y] {z} 50% it's \"so\" back\\slash tab\tbed line\nfeed <b> a<b & c>d"
).split(" ")

SCALARS = {
    "string": {"type": "string"},
    "enum": {"type": "string", "enum": ["celsius", "fahrenheit", "it's \"K\"", "€ 5"]},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "null": {"type": ["string", "null"]},
}
NESTED = {
    "array": {"type": "array", "items": {"type": "string"}},
    "object": {
        "type": "object",
        "properties": {
            "x": {"type": "string"},
            "n": {"type": "integer"},
            "deep": {"type": "array", "items": {"type": "boolean"}},
        },
        "required": ["x"],
        "additionalProperties": False,
    },
}


def text_of(rng, least=1, most=6):
    return " ".join(rng.choices(WORDS, k=rng.randint(least, most))).strip()


def tool(name, properties, required=()):
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"What {name} does.",
            "parameters": {
                "type": "object",
                "properties": {
                    key: {**schema, "description": f"The {key}."}
                    for key, schema in properties.items()
                },
                "required": list(required),
                "additionalProperties": False,
            },
        },
    }


# Four tools between them have every kind of argument, among them none.
KINDS = {
    "get_weather": ("string", "enum", "integer"),
    "now": (),
    "set-alarm": ("boolean", "number", "null", "string"),
    "search_2": ("array", "object", "string"),
}


def tools_of(one_type):
    schemas = {**SCALARS, **NESTED}
    if one_type:
        schemas["null"] = {"type": "string"}
    return [
        tool(
            name,
            {f"{kind}_{i}": schemas[kind] for i, kind in enumerate(kinds)},
            [f"{kind}_{i}" for i, kind in enumerate(kinds)][:1],
        )
        for name, kinds in KINDS.items()
    ]


# By whether the template cannot write schemas that allow null.
TOOLS = {one_type: tools_of(one_type) for one_type in (False, True)}


def value_of(rng, kind):
    match kind:
        case "string":
            return text_of(rng)
        case "enum":
            return rng.choice(SCALARS["enum"]["enum"])
        case "integer":
            return rng.choice([0, 7, -12, 123456])
        case "number":
            return rng.choice([0.5, -3, 2.25, 10])
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return rng.choice([None, text_of(rng)])
        case "array":
            return [text_of(rng, 1, 2) for _ in range(rng.randint(0, 3))]
        case "object":
            return {
                "x": text_of(rng, 1, 2),
                **({"n": rng.randint(0, 9)} if rng.random() < 0.5 else {}),
                **({"deep": [True, False]} if rng.random() < 0.3 else {}),
            }
    raise AssertionError(kind)


def spelled_as_python(template, name, arguments):
    """If the template writes some of the arguments as Python would."""
    kinds = {
        bool: "boolean",
        type(None): "null",
        list: "array",
        dict: "object",
    }
    return any(kinds.get(type(v)) in template.python for v in arguments.values())


def call_of(rng, template, python):
    """A call whose arguments are, or are not, spelled as Python."""
    while True:
        name = rng.choice(list(KINDS))
        arguments = {}
        for i, kind in enumerate(KINDS[name]):
            if i == 0 or rng.random() < 0.6:
                if kind == "null" and template.one_type:
                    kind = "string"
                arguments[f"{KINDS[name][i]}_{i}"] = value_of(rng, kind)
                if kind == "enum" and template.ascii_json:
                    # A grammar has enumerations in UTF-8 alone.
                    arguments[f"enum_{i}"] = "celsius"
        if spelled_as_python(template, name, arguments) == python:
            return name, arguments


def as_chat(template, message, rng):
    """The message as the template is given it."""
    chat = {"role": "assistant", "content": message["content"]}
    if message["reasoning"] and template.splice is None:
        chat["reasoning_content"] = message["reasoning"]
    if message["calls"]:
        if not message["content"]:
            chat["content"] = template.content_of_calls
        chat["tool_calls"] = [
            {
                "type": "function",
                "id": "".join(rng.choices("abcdef0123456789", k=9)),
                "function": {
                    "name": name,
                    "arguments": json.dumps(arguments, ensure_ascii=False)
                    if template.arguments == "json"
                    else arguments,
                },
            }
            for name, arguments in message["calls"]
        ]
    return chat


def message_of(rng, template, shape, python=False):
    return {
        "reasoning": text_of(rng, 1, 12) if "r" in shape else "",
        "content": text_of(rng, 1, 12) if "c" in shape else "",
        "calls": [
            call_of(rng, template, python)
            for _ in range({"t": 1, "T": 2}.get(shape[-1], 0))
        ],
    }


def turn(template, rng, history, message):
    """(prompt, response, end) of the message after a history."""
    tools = TOOLS[template.one_type]
    prompt = render(template, history, tools, True)
    full = render(
        template, history + [as_chat(template, message, rng)], tools, False
    )
    if template.drop and full.endswith(template.drop):
        full = full[: -len(template.drop)]
    spliced = ""
    if message["reasoning"] and template.splice is not None:
        # The prompt opens reasoning, and the template drops it from turns.
        spliced = message["reasoning"] + template.splice
        assert prompt.endswith(template.opener), (template, prompt)
        start = prompt.rindex(template.header) + len(template.header)
        assert full.startswith(prompt[:start]), (template, prompt, full)
    elif template.empty and not message["reasoning"]:
        assert prompt.endswith(template.opener), (template, prompt)
        spliced = template.empty
        start = len(prompt)
        if not full.startswith(prompt):
            start = full.rindex(template.header) + len(template.header)
    elif full.startswith(prompt):
        start = len(prompt)
    elif not message["reasoning"] and full.startswith(
        without := render(template, history, tools, True, thinking=False)
    ):
        prompt = without
        start = len(prompt)
    else:
        start = prompt.rindex(template.header) + len(template.header)
        prompt = prompt[:start]
        if not full.startswith(prompt):
            # White space before the header depends on what follows.
            start = full.rindex(template.header) + len(template.header)
    response = spliced + full[start:]
    for end in template.ends:
        if response.rstrip().endswith(end):
            return prompt, response.rstrip()[: -len(end)], end
    if message["calls"] and template.closed:
        return prompt, response + template.closed, template.ends[0]
    return prompt, response, ""


# What ends or begins calls, by the format of models that write arguments as
# JSON: inside a string of the arguments it means nothing.
IN_STRINGS = {
    "qwen3": TOOL_CALL[::-1],
    "hermes_qwen2_5": TOOL_CALL[::-1],
    "granite4": TOOL_CALL[::-1],
    "deepseek_v3_r1": ("<｜tool▁call▁end｜>", "<｜tool▁calls▁begin｜>"),
    "deepseek_v3_1": ("<｜tool▁call▁end｜>", "<｜tool▁calls▁begin｜>"),
    "kimi_k2": ("<|tool_call_end|>", "<|tool_calls_section_begin|>"),
    "llama3_json": ("<|eot_id|>", "<|eom_id|>"),
    "llama_custom_function": ("</function>", "<function=now>"),
    "gpt_oss": ("<|call|>", "<|end|>", "<|message|>"),
    "mistral_v3": ("</s>", "[TOOL_CALLS]"),
    "mistral_v11": ("</s>", "[TOOL_CALLS]", "[ARGS]"),
    "cohere_command": ("<|END_ACTION|>", "<|START_ACTION|>"),
    "nemotron_nano_v2": ("</TOOLCALL>", "<TOOLCALL>"),
    "gigachat3": ("<|message_sep|>", "<|function_call|>"),
    "solar_open": ("<|tool_call:end|>", "<|tool_call:begin|>", "<|calls|>"),
    "functionary_v3_2": ("<|eot_id|>",),
    "apriel": ("</tool_calls>", "<tool_calls>", "[BEGIN FINAL RESPONSE]"),
}
for family, variants in {
    "qwen3": ("bielik", "reka_edge", "qwq"),
    "kimi_k2": ("kimi_k2_thinking",),
    "mistral_v11": ("mistral_small_3_2",),
    "cohere_command": ("cohere2_moe",),
    "gigachat3": ("gigachat3_1",),
}.items():
    IN_STRINGS |= dict.fromkeys(variants, IN_STRINGS[family])


def cases(
    template, seed, count, *, turns=False, python=False, in_strings=False
):
    """`count` cases of a template, its shapes in turn.

    turns       after a call and its result
    python      with values that the template spells as Python literals
    in_strings  calls with markers in strings of their arguments
    """
    shapes = template.shapes
    if turns and template.turns is not None:
        shapes = template.turns
    if python or in_strings:
        shapes = [shape for shape in shapes if shape[-1] in "tT"]
    for number in range(count):
        # Every shape comes when there are enough cases; which comes first
        # depends on the template, so that few cases still have them all.
        shape = shapes[(number + len(template.name)) % len(shapes)]
        name = f"{seed}/{template.name}/{number}/{turns}/{python}"
        name += "/in strings" if in_strings else ""
        rng = random.Random(name)
        history = [{"role": "user", "content": text_of(rng)}]
        if turns:
            before = message_of(rng, template, "t")
            chat = as_chat(template, before, rng)
            history += [
                chat,
                {
                    "role": "tool",
                    "name": before["calls"][0][0],
                    "tool_call_id": chat["tool_calls"][0]["id"],
                    "content": text_of(rng),
                },
            ]
        message = message_of(rng, template, shape, python)
        if in_strings:
            markers = IN_STRINGS[template.format]
            marker = markers[number % len(markers)]
            message["calls"] = [
                ("get_weather", {"string_0": f"{text_of(rng)} {marker} b"})
                for _ in message["calls"]
            ]
        if turns and template.splice is not None:
            # No prompt of these opens reasoning after the result of a tool.
            message["reasoning"] = ""
        prompt, response, end = turn(template, rng, history, message)
        yield Case(
            prompt, response, end, message, TOOLS[template.one_type], name
        )
