"""Prompts that end inside a response, as the tokenizers of models write them.

Wherever the ids of a response are cut, the tag of the prompt takes the rest of
them, token by token, and the parser of the format reads the whole.

The files come from scripts/fetch; what is not there is skipped with its reason.
"""

import functools

import pytest

parlance = pytest.importorskip("parlance")
tokenizers = pytest.importorskip("tokenizers")

import tokenizers_at_hand  # noqa: E402
from chat_templates import Missing  # noqa: E402

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "required": ["city"],
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    }
]
CALL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "arguments": {"city": 'Zü"r\\ich 🙂', "days": 12, "tags": ["é", "b\n"]},
    },
}
# The tokenizer, the format, and what comes before a response.
MODELS = [
    ("tokenizer-qwen3", "qwen3", "<|im_start|>assistant\n"),
    ("tokenizer-qwen3", "qwen3_coder", "<|im_start|>assistant\n"),
    ("tokenizer-qwen3", "hermes_qwen2_5", "<|im_start|>assistant\n"),
    ("tokenizer-gptoss", "gpt_oss", "<|start|>assistant"),
    (
        "tokenizer-llama3_1",
        "llama3_json",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    ("tokenizer-deepseek_v3", "deepseek_v3_1", "<｜Assistant｜>"),
]


@functools.cache
def tokenizer_of(name):
    try:
        return tokenizers_at_hand.at_hand(name, ())
    except Missing as missing:
        pytest.skip(str(missing))


def response_of(family):
    for message in (
        {"thinking": "Hm.", "tool_calls": [CALL]},
        {"tool_calls": [CALL]},
    ):
        try:
            return family.render(message, tools=TOOLS)
        except parlance.Error:
            continue
    raise AssertionError(family)


@pytest.mark.parametrize("name, family, anchor", MODELS)
def test_every_cut_is_continued(name, family, anchor):
    tokenizer = tokenizer_of(name)
    family = parlance.Format(family)
    text = response_of(family)
    ids = tokenizer.encode(text)
    before = tokenizer.encode(anchor)
    vocabulary = tokenizer.vocabulary
    compiler = parlance.Compiler(vocabulary, stop_ids=[])
    message = parlance.parse_response(text, family, prefix="", tools=TOOLS)
    for cut in range(1, len(ids)):
        tag = family.structural_tag(
            TOOLS, prefix=before + ids[:cut], vocabulary=vocabulary
        )
        matcher = compiler.compile_structural_tag(tag).matcher()
        assert matcher.accept_tokens(ids[cut:]) == len(ids) - cut, (
            vocabulary.decode(ids[:cut])
        )
        read = parlance.parse_response(
            ids[cut:],
            family,
            prefix=before + ids[:cut],
            tools=TOOLS,
            vocabulary=vocabulary,
        )
        # A message of its own may have come before (gpt_oss).
        assert read["tool_calls"] == message["tool_calls"]


def test_a_prompt_may_end_inside_a_character():
    vocabulary = parlance.Vocabulary(
        [bytes([byte]) for byte in range(256)], stop_ids=[]
    )
    compiler = parlance.Compiler(vocabulary)
    family = parlance.Format("qwen3")
    anchor = b"<|im_start|>assistant\n"
    data = response_of(family).encode()
    for cut in range(1, len(data), 3):
        tag = family.structural_tag(TOOLS, prefix=anchor + data[:cut])
        matcher = compiler.compile_structural_tag(tag).matcher()
        assert matcher.accept_bytes(data[cut:]), data[:cut]
