"""What becomes of responses that do not fit, for every family, by text and ids.

Each rule is generated: the family's own renderer writes a call, the rule
changes the response, and the parser reads it whole and in random cuts.  The
rules are those of docs/reference/recovery.md.

    PARLANCE_SEED=7    other cuts
"""

import functools
import json
import os
import random
import re

import parlance
import pytest

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
REASONING = ("thinking", "reasoning", "reasoning_content")


def tool(name, parameter, schema):
    parameters = {
        "type": "object",
        "properties": {parameter: schema},
        "required": [parameter],
    }
    return {
        "type": "function",
        "function": {"name": name, "parameters": parameters},
    }


TOOLS = [
    tool("look_up", "word", {"type": "string"}),
    tool("add", "n", {"type": "integer"}),
]
CALL = {
    "type": "function",
    "function": {"name": "look_up", "arguments": {"word": "x y"}},
}
READ = [("look_up", {"word": "x y"})]


def families():
    for name in parlance.formats():
        yield name
        yield from parlance.Format(name).variants


class Family:
    """A family, a call as it writes it, and a vocabulary with its marks."""

    def __init__(self, name):
        self.format = parlance.Format(name)
        self.file = json.loads(self.format.source)
        self.extension = self.file.get("parlance", {})
        self.fields = self.format.template["fields"]
        self.reasoning = next(
            (field for field in self.format.fields if field in REASONING), None
        )
        # Without one, text around calls is in no field, and reported.
        self.implicit = any(
            "open" not in field and "open_pattern" not in field
            for field in self.fields.values()
        )
        self.ends = self.extension.get("turn_end", [])
        self.marks = sorted(
            {
                text
                for text in [*self.ends, *self.literals()]
                if re.fullmatch(r"[<\[]\S*[>\]]", text)
            }
        )
        self.ids = {mark: 256 + i for i, mark in enumerate(self.marks)}

    def literals(self):
        for field in self.fields.values():
            for key in ("open", "close"):
                found = field.get(key, [])
                yield from [found] if isinstance(found, str) else found

    @functools.cached_property
    def vocabulary(self):
        tokens = [bytes([i]) for i in range(256)]
        tokens += [mark.encode() for mark in self.marks]
        return parlance.Vocabulary(
            tokens, added_ids=list(range(256, len(tokens))), stop_ids=[]
        )

    @functools.cached_property
    def call(self):
        """The text of the call after text, or None if the family has none."""
        if "tool_calls" not in self.fields or "write" not in self.extension:
            return None
        if not self.implicit:
            message = {"role": "assistant", "tool_calls": [CALL]}
            return self.format.render(message, tools=TOOLS)
        message = {"role": "assistant", "content": "Q.Q", "tool_calls": [CALL]}
        try:
            text = self.format.render(message, tools=TOOLS)
        except parlance.Error:  # a call is the whole response
            del message["content"]
            return self.format.render(message, tools=TOOLS)
        return text.partition("Q.Q")[2].lstrip("\n")

    def encode(self, text):
        if not self.marks:
            return list(text.encode())
        split = re.split("(" + "|".join(map(re.escape, self.marks)) + ")", text)
        return [
            number
            for piece in split
            for number in (
                [self.ids[piece]] if piece in self.ids else piece.encode()
            )
        ]

    def read(self, text, *, ids, tools=TOOLS, prefix="", cuts=None):
        """The parser at the end of the response."""
        parser = self.format.parser(
            prefix=prefix,
            tools=tools,
            vocabulary=self.vocabulary if ids else None,
        )
        stream = self.encode(text) if ids else text
        begin = 0
        while begin < len(stream):
            size = len(stream) if cuts is None else cuts.randint(1, 7)
            parser.feed(stream[begin : begin + size])
            begin += size
        parser.finalize()
        return parser

    def reads(self, text, **options):
        """The parser after each way to cut the text."""
        for ids in (False, True):
            for cuts in (None, random.Random(SEED), random.Random(SEED + 1)):
                yield self.read(text, ids=ids, cuts=cuts, **options)


@pytest.fixture(params=list(families()))
def family(request):
    return Family(request.param)


@pytest.fixture
def calling(family):
    if family.call is None:
        pytest.skip("the family has no call that can be written")
    return family


def calls(parser):
    return [
        (call["function"]["name"], call["function"].get("arguments"))
        for call in parser.message.get("tool_calls") or ()
    ]


def codes(parser):
    return [diagnostic["code"] for diagnostic in parser.diagnostics]


def content(parser):
    return (parser.message.get("content") or "").strip()


def test_text_around_calls_is_content_in_order(calling):
    if not calling.implicit:
        # Messages have headers; what has none is reported.
        for parser in calling.reads(calling.call + "\nAfter."):
            assert calls(parser) == READ
            assert codes(parser) == ["invalid_content"]
        return
    text = "Before.\n" + calling.call + "\nAfter."
    for parser in calling.reads(text):
        assert calls(parser) == READ
        assert re.fullmatch(r"Before\.\s*After\.", content(parser))
        assert codes(parser) == []


def test_a_call_ends_reasoning_that_is_open(calling):
    if not calling.implicit or calling.reasoning is None:
        pytest.skip("no reasoning, or headers say what is what")
    message = {"role": "assistant", calling.reasoning: "Hm.", "content": "Q.Q"}
    written = calling.format.render(message)
    opened = written[: written.index("Hm.") + 3]
    if not calling.fields[calling.reasoning].get("close") and (
        not calling.fields[calling.reasoning].get("close_pattern")
    ):
        pytest.skip("nothing closes reasoning")
    # The opener of the field may come after a marker of a section, which has
    # no field: then no line begins with the opener.
    parser = calling.read(calling.call, ids=False)
    begin = next(
        part["start"] for part in parser.parts if part["field"] == "tool_calls"
    )
    starts_line = not calling.call[:begin].strip()
    for ids in (False, True):
        if not starts_line and not ids:
            continue
        for cuts in (None, random.Random(SEED)):
            parser = calling.read(
                opened + "\n" + calling.call, ids=ids, cuts=cuts
            )
            assert calls(parser) == READ, (ids, parser.message)
            assert parser.message[calling.reasoning].startswith("Hm.")


def test_a_quoted_opener_in_a_line_of_reasoning_is_text():
    """Where the template itself does not close reasoning before the opener."""
    for name in ("qwen3", "smollm3", "exaone4", "seed_oss"):
        family = Family(name)
        opened = family.fields["thinking"]["open"]
        text = f"{opened}I could write {family.call.split(chr(10))[0]} now."
        parser = family.read(text, ids=False, cuts=random.Random(SEED))
        assert calls(parser) == [], name
        assert "I could write" in parser.message["thinking"]


def test_an_undeclared_tool_is_a_call_with_a_diagnostic(calling):
    for parser in calling.reads(calling.call, tools=[TOOLS[1]]):
        assert calls(parser) == READ
        assert "unknown_name" in codes(parser)
        (found,) = [d for d in parser.diagnostics if d["code"] == "unknown_name"]
        assert "look_up" in found["message"]
        assert found["field"] == "tool_calls"
    for parser in calling.reads(calling.call, tools=None):
        assert "unknown_name" not in codes(parser)


def test_a_cut_call_is_malformed_and_never_completed(calling):
    """At each cut there is the whole call or none, and a diagnostic if it began.

    A call that shows its own end, as JSON does, is whole before its closing
    delimiter.
    """
    for ids in (False, True):
        stream = calling.encode(calling.call) if ids else calling.call
        for end in range(len(stream)):
            parser = calling.format.parser(
                prefix="",
                tools=TOOLS,
                vocabulary=calling.vocabulary if ids else None,
            )
            parser.feed(stream[:end])
            parser.finalize()
            assert calls(parser) in ([], READ)
            begun = [p for p in parser.parts if p["field"] == "tool_calls"]
            if begun and calls(parser) == []:
                assert begun[-1]["malformed"]
                assert "invalid_content" in codes(parser)


def test_ends_of_turns_never_leak(family):
    assert family.ends or not family.implicit
    bodies = ["Hello."] if family.implicit else []
    if family.call is not None:
        bodies.append(family.call)
    for end in family.ends:
        for body in bodies:
            for parser in family.reads(body + end):
                shown = json.dumps(parser.message, ensure_ascii=False)
                assert end not in shown
                if family.implicit:
                    assert codes(parser) == []


def test_a_prefix_without_a_start_anchor_is_reported(calling):
    for parser in calling.reads(calling.call, prefix="Say something."):
        assert "invalid_content" in codes(parser)
        assert calls(parser) == READ


def test_strict_reads_the_same_message(calling):
    """`recover=False` is the option that turns these reports off."""
    parser = calling.format.parser(
        prefix="", tools=[TOOLS[1]], recover=False
    )
    parser.feed(calling.call)
    parser.finalize()
    assert calls(parser) == READ
    assert "unknown_name" not in codes(parser)
