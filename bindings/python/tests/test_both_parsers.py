"""Responses that the parser of a format and that of its structural tag read alike.

Whole and byte by byte; and what is left out of a text, with its diagnostic.
"""

import pytest

import parlance

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "list": {"type": "array"}},
            },
        },
    }
]
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>'


def read(parser, pieces):
    for piece in pieces:
        parser.feed(piece)
    parser.finalize()
    return parser.message, [one["message"] for one in parser.diagnostics]


def by_format(name, text, prefix=""):
    """The message and the diagnostics, which do not depend on the cut."""
    data = text.encode()
    spec = parlance.Format(name)
    whole = read(spec.parser(prefix, tools=TOOLS), [data])
    bytes_ = [data[i : i + 1] for i in range(len(data))]
    assert read(spec.parser(prefix, tools=TOOLS), bytes_) == whole
    return whole


def by_tag(name, text, **options):
    tag = parlance.Format(name).structural_tag(TOOLS, **options)
    return read(tag.parser(), [text.encode()])


@pytest.mark.parametrize("name", ["glm4_7", "deepseek_v3_1", "deepseek_v4"])
@pytest.mark.parametrize("space", ["", "\n", " \n\t "])
def test_white_space_before_an_empty_block(name, space):
    text = space + "</think>Hi."
    assert by_format(name, text) == by_tag(name, text)
    assert by_format(name, text)[0]["content"] == "Hi."


def test_items_without_a_schema():
    text = parlance.Format("minimax_m3").render(
        {"tool_calls": [{"name": "f", "arguments": {"list": ["1", "x"]}}]}
    )
    message, diagnostics = by_format("minimax_m3", text)
    assert (message, diagnostics) == by_tag("minimax_m3", text)
    arguments = message["tool_calls"][0]["function"]["arguments"]
    assert arguments == {"list": [1, "x"]}


def test_text_between_calls_announces_none():
    call = '{"name": "f", "parameters": {"a": "x"}}'
    grammar = parlance.Format("llama3_json").grammar(
        TOOLS, text_with_calls="between"
    )
    for between, accepted in [
        (" and ", True),
        ("; ", True),
        (" a; b ", True),
        ("; { ", False),
        (" ;a", False),
    ]:
        text = call + between + call
        assert grammar.accepts(text) == accepted, between
        if not accepted:
            continue
        read_ = by_format("llama3_json", text)
        assert read_ == by_tag("llama3_json", text, text_with_calls="between")
        assert len(read_[0]["tool_calls"]) == 2


@pytest.mark.parametrize("key", ["a<b", "a<", "a<esc", "a<<"])
def test_a_bare_key_has_the_first_byte_of_a_delimiter(key):
    text = f"<start_function_call>call:f{{{key}:<escape>x}}y<escape>}}"
    message, diagnostics = by_format(
        "functiongemma", text + "<end_function_call>"
    )
    assert message["tool_calls"][0]["function"]["arguments"] == {key: "x}y"}
    assert diagnostics == []
    text = text.replace(key, "a<escape>b")
    message, diagnostics = by_format(
        "functiongemma", text + "<end_function_call>"
    )
    assert "tool_calls" not in message
    assert len(diagnostics) == 1


LEFT_OUT = "is left out"
COUNTS = "counts as text"
DAMAGED = "the opening is damaged"


@pytest.mark.parametrize(
    ("name", "prefix", "text", "fields", "told"),
    [
        # The opener that the prompt has written already.
        ("qwen3", "<think>\n", "<think>\nHm.\n</think>\n\nHi.", ("Hm.", "Hi.", 0), [LEFT_OUT]),
        ("qwen3", "<think>\n", "A <think> b\n</think>\n\nHi.", ("A <think> b", "Hi.", 0), []),
        # What closes reasoning that a call has ended.
        ("qwen3", "", f"<think>\nHm.\n{CALL}\n</think>\n\nHi.", ("Hm.", "Hi.", 1), ["ends", LEFT_OUT]),
        # What begins a section of calls, as control token and as text.
        ("kimi_k2", "", "a<|tool_calls_section_begin|>b", (None, "a<|tool_calls_section_begin|>b", 0), [COUNTS]),
        ("minimax_m2", "", "a<minimax:tool_call>b", (None, "a<minimax:tool_call>b", 0), [COUNTS]),
        # What closes calls.
        ("hermes_qwen2_5", "", "a</tool_call>b", (None, "a</tool_call>b", 0), [COUNTS]),
        # An opener without its first part; in a section it stands once.
        (
            "qwen3_coder",
            "",
            "<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
            (None, None, 1),
            [DAMAGED],
        ),
        (
            "qwen3_coder",
            "",
            "<tool_call>\n"
            + "<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n" * 2
            + "</tool_call>",
            (None, None, 2),
            [],
        ),
    ],
)
def test_what_is_left_out_is_told(name, prefix, text, fields, told):
    message, diagnostics = by_format(name, text, prefix)
    calls = message.get("tool_calls", [])
    assert (message.get("thinking"), message.get("content"), len(calls)) == fields
    assert len(diagnostics) == len(told), diagnostics
    for diagnostic, part in zip(diagnostics, told, strict=True):
        assert part in diagnostic


def test_a_diagnostic_is_text_whatever_the_name():
    text = '<tool_call>{"name": "\\ud83d", "arguments": {}}</tool_call>'
    _, diagnostics = by_format("qwen3", text)
    assert ["not one of the tools" in one for one in diagnostics] == [True]
    assert all(one.encode() for one in diagnostics)


@pytest.mark.parametrize(
    ("ids", "content"),
    [
        ([72, 257], "H"),
        ([72, 257, 73], "H.\n\nI"),
        ([257], None),
        ([72, 256, 257], "H"),
        ([72, 257, 257], "H.\n\n"),
    ],
)
def test_a_stop_token_that_is_text(ids, content):
    tokens = [bytes([byte]) for byte in range(256)] + [b"<|im_end|>", b".\n\n"]
    vocabulary = parlance.Vocabulary.from_tokens(
        tokens, control_ids=[256], stop_ids=[256, 257]
    )
    for pieces in [ids], [[id] for id in ids]:
        parser = parlance.Format("qwen3").parser(vocabulary=vocabulary)
        message, diagnostics = read(parser, pieces)
        assert message.get("content") == content
        assert diagnostics == []
