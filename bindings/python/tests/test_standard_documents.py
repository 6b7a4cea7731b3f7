"""What the standard documents say of response templates, structural tags and
tool calling, read literally: one test for each promise that is ours to keep.
"""

import pathlib
import random

import parlance
import pytest
from parlance.chat import ChatStream

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
            },
        },
    }
]
CALL = {"type": "function", "function": {"name": "f", "arguments": {"a": "1"}}}


def read(name, text, *, tools=TOOLS, seed=None):
    parser = parlance.Format(name).parser(prefix="", tools=tools)
    cuts = random.Random(seed)
    while text:
        size = cuts.randint(1, 9) if seed else len(text)
        parser.feed(text[:size])
        text = text[size:]
    parser.finalize()
    return parser


HARMONY_CALL = (
    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
    '{"a": "1"}<|call|>'
)


def test_harmony_recipient_with_a_space_before_constrain():
    """The documents' spelling, by format, by tag and by grammar."""
    harmony = parlance.Format("harmony")
    assert read("harmony", HARMONY_CALL, seed=1).message["tool_calls"] == [CALL]
    tag = harmony.structural_tag(tools=TOOLS)
    parser = parlance.TagParser(tag)
    parser.feed(HARMONY_CALL)
    parser.finalize()
    assert parser.message["tool_calls"] == [CALL]
    assert harmony.grammar(tools=TOOLS).accepts(HARMONY_CALL)


@pytest.mark.parametrize(
    "text",
    [
        "Hello there.",
        '<|channel|>commentary to=browser.search<|message|>{"q": 1}<|call|>',
        "<|channel|>analysis to=python code<|message|>print(1)<|call|>",
    ],
)
def test_harmony_loses_no_text_silently(text):
    parser = read("gpt_oss", text)
    assert [d["code"] for d in parser.diagnostics] == ["invalid_content"]


@pytest.mark.parametrize(
    "header",
    [
        "\nto=functions.f<|channel|>commentary",
        "<|channel|>commentary\nto=functions.f",
        "<|channel|>commentary\nto=functions.f <|constrain|>json",
    ],
)
def test_harmony_recipient_after_a_line_feed(header):
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
        + header
        + '<|message|>{"a": "1"}<|call|>'
    )
    message = read("gpt_oss", text, seed=2).message
    assert message == {
        "role": "assistant",
        "thinking": "Hm.",
        "tool_calls": [CALL],
    }


@pytest.mark.parametrize("name", ["smollm3", "qwen3"])
def test_line_feeds_between_parts_are_no_content(name):
    text = (
        "<think>\nOkay.\n</think>\n\n<tool_call>\n"
        '{"name": "f", "arguments": {"a": "1"}}\n</tool_call>'
    )
    assert read(name, text, seed=3).message == {
        "role": "assistant",
        "thinking": "Okay.",
        "tool_calls": [CALL],
    }


def written(name):
    """A call as the family writes it; None if its file does not say."""
    family = parlance.Format(name)
    try:
        message = {"role": "assistant", "tool_calls": [CALL]}
        return family, family.render(message, tools=TOOLS)
    except parlance.Error:
        return family, None


@pytest.mark.parametrize("name", parlance.formats())
def test_tool_choice_none_lets_no_call_out(name):
    family, text = written(name)
    if text is None:
        pytest.skip("the family has no call that can be written")
    try:
        grammar = family.grammar(tools=TOOLS, tool_choice="none")
    except parlance.Error as error:
        assert error.code == "unsupported"  # an error says why
        return
    assert not grammar.accepts(text)


@pytest.mark.parametrize(
    "name", ["qwen3", "hermes_qwen2_5", "smollm3", "granite4"]
)
def test_parameters_in_place_of_arguments(name):
    text = '<tool_call>\n{"name": "f", "parameters": {"a": "1"}}\n</tool_call>'
    assert read(name, text).message["tool_calls"] == [CALL]


def test_a_format_constrains():
    grammar = parlance.Format("qwen3").grammar(tools=TOOLS)
    assert grammar.accepts("Hello.")


@pytest.mark.parametrize("name", ["reasoning", "thinking", "reasoning_content"])
def test_reasoning_under_each_name(name):
    family = parlance.Format("qwen3", names=name)
    parser = family.parser(prefix="")
    parser.feed("<think>\nHm.\n</think>\n\nHi.")
    parser.finalize()
    assert parser.message[name] == "Hm."
    tag = family.structural_tag(tools=TOOLS)
    by_tag = parlance.TagParser(tag)
    by_tag.feed("<think>\nHm.\n</think>\n\nHi.")
    by_tag.finalize()
    assert by_tag.message == parser.message


def test_a_page_says_how_to_use_it_in_pipelines():
    page = (ROOT / "docs" / "reference" / "integrations.md").read_text()
    assert "generate" in page and "transformers" in page


def test_a_guide_says_how_to_write_a_format():
    guide = (ROOT / "docs" / "write-a-format-file.md").read_text()
    assert guide.count("\n## ") >= 5


def test_own_response_schema_comes_before_markers():
    found = parlance.detect_format(
        {"chat_template": "<tool_call>", "response_schema": {"type": "object"}}
    )
    assert found.name == "response_schema"
    assert found.certainty == "certain"


@pytest.mark.parametrize("name", parlance.formats())
def test_a_required_call_is_accepted_as_the_family_writes_it(name):
    family, text = written(name)
    if text is None:
        pytest.skip("the file does not say how the family writes")
    grammar = family.grammar(tools=TOOLS, tool_choice="required")
    assert grammar.accepts(text)
    tag = family.structural_tag(tools=TOOLS, tool_choice="required")
    parser = parlance.TagParser(tag)
    parser.feed(text)
    parser.finalize()
    assert parser.diagnostics == []
    (call,) = parser.message["tool_calls"]
    assert call["function"] == CALL["function"]


def calls_of(message):
    return [call["function"] for call in message.get("tool_calls", [])]


@pytest.mark.parametrize("name", ["qwen3", "deepseek_v3_1", "kimi_k2", "gpt_oss"])
def test_a_listed_call_after_an_unlisted_one_is_a_call(name):
    """Read by the family's own tag, and as chunks of a chat API."""
    function = TOOLS[0]["function"]
    other = {"type": "function", "function": {**function, "name": "unlisted"}}
    family = parlance.Format(name)
    unlisted = {**CALL, "function": {**CALL["function"], "name": "unlisted"}}
    text = family.render(
        {"role": "assistant", "tool_calls": [unlisted, CALL]}, tools=[*TOOLS, other]
    )
    parser = parlance.TagParser(family.structural_tag(tools=TOOLS))
    stream = ChatStream(None)
    chunks = []
    for character in text:
        chunks += stream.feed(parser.feed(character))
    message, events = parser.finalize()
    chunks += stream.feed(events) + stream.end("stop")
    assert calls_of(message) == [CALL["function"]]
    assert "unlisted" in message["rest"]
    assert parser.diagnostics
    joined = "".join(
        choice["delta"].get("content") or ""
        for chunk in chunks
        for choice in chunk.body["choices"]
    )
    answer = stream.response["choices"][0]["message"]
    assert answer["content"] == joined
    assert "unlisted" in joined
    assert "rest" not in answer
    assert not any(
        "rest" in choice["delta"]
        for chunk in chunks
        for choice in chunk.body["choices"]
    )
    assert [call["function"]["name"] for call in answer["tool_calls"]] == ["f"]
