"""Structural tags and tool calling: what the binding itself adds."""

import json
import pickle

import pytest

import parlance
from parlance import Grammar, StructuralTag, tool_calling

CALL = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<call>",
        "content": {"type": "json_schema", "json_schema": {"type": "null"}},
        "end": "</call>",
    },
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
TIME = {"type": "function", "function": {"name": "time"}}
CALLED = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>'


# ---- StructuralTag


def specs(folder):
    path = folder / "tag.json"
    path.write_text(json.dumps(CALL), encoding="utf-8")
    return [CALL, json.dumps(CALL), path, str(path), StructuralTag(CALL)]


def test_specs(tmp_path):
    for spec in specs(tmp_path):
        tag = StructuralTag(spec)
        assert tag == StructuralTag(CALL)
        assert hash(tag) == hash(StructuralTag(CALL))
        assert tag.grammar().accepts("<call>null</call>")
        assert Grammar.from_structural_tag(spec).accepts("<call>null</call>")


def test_the_canonical_form_reads_back():
    tag = StructuralTag({"format": {"type": "any_text"}})
    assert tag.to_dict() == {
        "type": "structural_tag",
        "format": {
            "type": "any_text",
            "excludes": [],
            "max_tokens": None,
            "max_chars": None,
        },
    }
    assert json.loads(tag.to_json()) == tag.to_dict()
    assert StructuralTag(tag.to_json()) == tag == StructuralTag(tag.to_dict())
    assert tag != StructuralTag(CALL) and tag != "tag"
    assert repr(tag) == "<StructuralTag any_text>"


def test_pickles():
    tag = StructuralTag(CALL)
    again = pickle.loads(pickle.dumps(tag))
    assert again == tag and type(again) is StructuralTag


def test_legacy_tags():
    for schema in ({"type": "null"}, '{"type": "null"}'):
        tag = StructuralTag.from_tags(
            [{"begin": "<f>", "schema": schema, "end": "</f>"}], ["<f"]
        )
        assert tag.to_dict()["format"]["type"] == "triggered_tags"
        assert tag.grammar().accepts("a<f>null</f>b")
        assert not tag.grammar().accepts("a<f>1</f>b")
    with pytest.raises(parlance.GrammarError) as caught:
        StructuralTag.from_tags([{"begin": "<f>", "end": "</f>"}], ["<f"])
    assert caught.value.path == "/tags/0"


@pytest.mark.parametrize(
    ("spec", "code", "path"),
    [
        ("{", "invalid_json", ""),
        ({}, "missing_key", ""),
        ({"format": {"type": "anytext"}}, "unknown_name", "/format/type"),
        (
            {"format": {"type": "sequence", "elements": []}},
            "empty_value",
            "/format/elements",
        ),
        (
            {"format": {"type": "const_string", "value": b"x"}},
            "wrong_type",
            "/format/value",
        ),
        (3, "wrong_type", ""),
    ],
)
def test_errors(spec, code, path):
    with pytest.raises(parlance.GrammarError) as caught:
        StructuralTag(spec)
    assert (caught.value.code, caught.value.path) == (code, path)
    assert caught.value.message


def test_errors_of_text_have_a_place():
    text = '{"format":\n {"type": "regex", "pattern": 3}}'
    with pytest.raises(parlance.GrammarError) as caught:
        StructuralTag(text)
    error = caught.value
    assert error.path == "/format/pattern" and error.source == text
    assert text[slice(*error.span)] == "3"


def test_files_that_are_not_text(tmp_path):
    path = tmp_path / "tag.json"
    path.write_bytes(b'{"format": "\xff"}')
    with pytest.raises(parlance.GrammarError) as caught:
        StructuralTag(path)
    assert caught.value.code == "invalid_utf8"
    with pytest.raises(FileNotFoundError):
        StructuralTag(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ({"type": "regex", "pattern": "("}, "bad_pattern"),
        ({"type": "grammar", "grammar": "x ::= ("}, "bad_syntax"),
        ({"type": "json_schema", "json_schema": {"type": 1}}, "wrong_type"),
        ({"type": "token", "token": "<none>"}, "unknown_name"),
    ],
)
def test_what_is_wrong_inside_is_found_with_the_grammar(inside, code):
    vocabulary = parlance.Vocabulary([b"a"])
    tag = StructuralTag({"format": {"type": "plus", "content": inside}})
    with pytest.raises(parlance.GrammarError) as caught:
        tag.grammar(vocabulary)
    assert caught.value.code == code
    assert caught.value.path.startswith("/format/content")
    assert caught.value.source == tag.source


def test_tokens_by_their_text():
    vocabulary = parlance.Vocabulary(
        [b"a", b"<x>", b"</s>"], special_ids=[1, 2], stop_ids=[2]
    )
    tag = StructuralTag({"format": {"type": "token", "token": "<x>"}})
    with pytest.raises(parlance.GrammarError) as caught:
        tag.grammar()
    assert caught.value.code == "usage"
    matcher = tag.grammar(vocabulary).compile(vocabulary).matcher()
    assert not matcher.accept_token(0) and matcher.accept_token(1)
    assert matcher.can_end()


# ---- Grammars made of tags and of each other


def test_tags_in_unions():
    tag = StructuralTag(CALL)
    either = Grammar.union([tag, Grammar.from_regex("no")])
    assert either.accepts("<call>null</call>") and either.accepts("no")
    both = Grammar.concat([Grammar.from_regex("a"), tag])
    assert both.accepts("a<call>null</call>")
    with pytest.raises(TypeError, match="a Grammar or a StructuralTag, not str"):
        Grammar.union(["no"])


def test_lark_with_named_grammars():
    grammar = Grammar.from_lark(
        'start: @digits ":" @call @word',
        grammars={
            "digits": Grammar.from_regex("[0-9]+"),
            "call": StructuralTag(CALL),
            "word": "start: /[a-z]+/",
        },
    )
    assert grammar.accepts("12:<call>null</call>ab")
    with pytest.raises(TypeError, match=r"grammars\['x'\] must be"):
        Grammar.from_lark("start: @x", grammars={"x": 3})


# ---- Limits and cancelling


def wide(count):
    """A schema that takes a while."""
    return {
        "type": "object",
        "properties": {
            f"p{i}": {"type": "string", "pattern": f"^{i}[a-z]{{1,9}}$"}
            for i in range(count)
        },
    }


def test_limits():
    with pytest.raises(parlance.GrammarError) as caught:
        Grammar.from_ebnf('root ::= "a"*', limits={"bytes": 1})
    assert caught.value.code == "too_large"
    with pytest.raises(parlance.UsageError, match="limits has 'byte'"):
        StructuralTag(CALL).grammar(limits={"byte": 1})


def test_cancelling():
    asked = []

    def cancelled():
        asked.append(1)
        return True

    tag = tool_calling(
        [{"name": "f", "parameters": wide(3)}], "qwen_3", reasoning="none"
    )
    with pytest.raises(parlance.GrammarError, match="cancelled") as caught:
        tag.grammar(cancelled=cancelled)
    assert asked == [1] and caught.value.code == "too_large"
    with pytest.raises(parlance.SchemaError, match="cancelled"):
        Grammar.from_json_schema(wide(3), cancelled=cancelled)
    assert tag.grammar(cancelled=lambda: False).accepts("Hm.")
    with pytest.raises(ZeroDivisionError):
        tag.grammar(cancelled=lambda: 1 / 0)
    with pytest.raises(TypeError, match="cancelled must be a function"):
        tag.grammar(cancelled=True)


# ---- tool_calling


def names_of(family):
    """All names of a built-in format and of its variants, by the format."""
    format = parlance.Format(family)
    for name in [family, *format.variants]:
        yield name, [name, *parlance.Format(name).aliases]


def outcome(make):
    try:
        return make().to_dict()
    except parlance.GrammarError as error:
        return error.code, error.path, error.message


def test_families_have_the_same_names_everywhere():
    seen = []
    for family in parlance.formats():
        for format, names in names_of(family):
            tag = outcome(lambda: parlance.Format(format).structural_tag([WEATHER]))
            for name in names:
                same = outcome(lambda: tool_calling([WEATHER], name))
                assert same == tag, name
                dashed = name.replace("_", "-").upper()
                assert parlance.Format(dashed).name == format, name
            seen.append(format)
    assert len(seen) == len(set(seen)) > 60
    # What a configuration is detected as is one of them.
    detected = parlance.detect_format(
        {"chat_template": "<tool_call> <think>"}
    )
    assert detected.name in seen and detected.family in parlance.formats()


def test_names_that_xgrammar_has():
    names = """
        cohere deepseek_r1 deepseek_v3_1 deepseek_v3_2 deepseek_v4 deepseek_v4_1
        exaone glm_4_7 harmony kimi kimi_k3 llama mimo minimax minimax_m3 qwen_3
        qwen_3_5 qwen_3_coder qwen qwen_coder qwen3.5 glm47 gemma4 gemma_4 hermes
    """
    for name in names.split():
        parlance.Format(name)


def test_a_family_is_a_name_or_a_format():
    tag = tool_calling([WEATHER], "qwen3")
    assert '"tool": "weather"' in tag.to_json()
    assert tag == StructuralTag(tag.to_dict())
    assert tag == tool_calling([WEATHER], parlance.Format("qwen_3"))
    with pytest.raises(parlance.TemplateError) as caught:
        tool_calling([WEATHER], "latin")
    assert caught.value.code == "unknown_format"


@pytest.mark.parametrize(
    "tools",
    [
        [WEATHER],
        (WEATHER,),
        [WEATHER["function"]],
        json.dumps([WEATHER]),
        parlance.ToolSet([WEATHER]),
    ],
)
def test_ways_to_give_tools(tools):
    tag = tool_calling(tools, "qwen_3", reasoning="none")
    assert tag == tool_calling([WEATHER], "qwen3", reasoning=False)
    assert tag.grammar().accepts("Let me look.\n" + CALLED + "\n" + CALLED)


def test_no_tools():
    for tools in (None, [], "[]", "null"):
        grammar = tool_calling(tools, "qwen_3", reasoning="none").grammar()
        assert grammar.accepts("Hm.")


def test_functions_as_tools():
    pytest.importorskip("transformers")

    def weather(city: str):
        """Looks outside.

        Args:
            city: where
        """

    grammar = tool_calling([weather], "qwen_3", reasoning="none").grammar()
    assert grammar.accepts(CALLED)


THOUGHT = "<think>\nHm.\n</think>\n\n"
TWICE = CALLED + "\n" + CALLED


@pytest.mark.parametrize(
    ("options", "good", "bad"),
    [
        ({}, [THOUGHT, THOUGHT + TWICE, CALLED, "Hm."], []),
        ({"reasoning": True}, [THOUGHT, THOUGHT + TWICE], [CALLED, "Hm."]),
        (
            {"reasoning": True, "prefix": "<think>\n"},
            ["Hm.\n</think>\n\n" + CALLED],
            [CALLED],
        ),
        ({"reasoning": "allowed"}, [THOUGHT + CALLED, CALLED, "Hm."], []),
        ({"reasoning": "off"}, [CALLED, "Hm."], [THOUGHT]),
        (
            {"reasoning": False, "parallel_tool_calls": False},
            [CALLED, "Hm." + CALLED],
            [TWICE],
        ),
        (
            {"reasoning": False, "tool_choice": "required"},
            [CALLED, TWICE],
            ["Hm."],
        ),
        ({"reasoning": False, "tool_choice": "none"}, ["Hm."], [CALLED]),
        (
            {
                "reasoning": False,
                "tool_choice": {
                    "type": "function",
                    "function": {"name": "weather"},
                },
            },
            [CALLED],
            ["Hm.", CALLED.replace("weather", "time")],
        ),
        (
            {"reasoning": False, "tool_choice": None, "max_white_space": 1},
            [CALLED],
            [CALLED.replace("Bern", "Bern\n").replace('": {', '":   {')],
        ),
    ],
)
def test_options(options, good, bad):
    grammar = tool_calling([WEATHER, TIME], "qwen_3", **options).grammar()
    for text in good:
        assert grammar.accepts(text), text
    for text in bad:
        assert not grammar.accepts(text), text


@pytest.mark.parametrize(
    ("tools", "options", "code", "path"),
    [
        ([3], {}, "wrong_type", "/tools/0"),
        ([{"function": {}}], {}, "missing_key", "/tools/0/function"),
        (3, {}, "wrong_type", "/tools"),
        ("{}", {}, "wrong_type", "/tools"),
        ("[", {}, "invalid_json", "/tools"),
        ([{"name": {1}}], {}, "wrong_type", "/tools/0/name"),
        ([], {"tool_choice": "required"}, "conflict", "/tool_choice"),
        ([], {"tool_choice": "any"}, "unknown_name", "/tool_choice"),
        (
            [WEATHER],
            {"tool_choice": {"type": "function", "function": {"name": "x"}}},
            "unknown_name",
            "/tool_choice/function/name",
        ),
        ([], {"reasoning": "some"}, "unknown_name", "/reasoning"),
        ([], {"max_white_space": 0}, "invalid_value", "/max_white_space"),
        ([], {"max_white_space": "3"}, "wrong_type", "/max_white_space"),
    ],
)
def test_tool_calling_errors(tools, options, code, path):
    with pytest.raises(parlance.GrammarError) as caught:
        tool_calling(tools, "qwen_3", **options)
    assert (caught.value.code, caught.value.path) == (code, path)
    assert caught.value.message


# ---- Reading

THINK = {
    "format": {
        "type": "sequence",
        "elements": [
            {
                "type": "tag",
                "begin": "<think>",
                "content": {"type": "any_text"},
                "end": "</think>",
                "field": "reasoning",
            },
            {
                "type": "json_schema",
                "json_schema": {"type": "boolean"},
                "field": "verdict",
            },
        ],
    }
}


def test_parse():
    tag = StructuralTag(THINK)
    text = "<think>Hé.</think>true"
    tree = tag.parse(text)
    assert tree == tag.parse(text.encode()) == tag.parse(bytearray(text.encode()))
    assert tree["complete"] is True and tree["rest"] == ""
    assert tree["diagnostics"] == []
    assert tree["message"] == {
        "role": "assistant",
        "reasoning": "Hé.",
        "verdict": "true",
    }
    think, verdict = tree["format"]["elements"]
    assert (think["begin"], think["content"]["text"], think["end"]) == (
        "<think>", "Hé.", "</think>",
    )
    assert verdict["value"] is True and verdict["span"] == [19, 23]
    assert verdict["path"] == "/format/elements/1"
    assert tag.parse(text[9:], prefix="<think>Hé")["message"] == tree["message"]


def test_parse_what_does_not_fit():
    tag = StructuralTag(THINK)
    tree = tag.parse("<think>Hm.</think>trap")
    assert tree["complete"] is False and tree["rest"] == "ap"
    assert tree["diagnostics"][0]["span"][0] == 20
    tree = tag.parse("<think>Hm")
    assert tree["complete"] is False and tree["rest"] == ""
    assert len(tree["diagnostics"]) == 1


def test_parse_tokens():
    tokens = [bytes([byte]) for byte in range(256)]
    vocabulary = parlance.Vocabulary([*tokens, b"<x>"], special_ids=[256])
    tag = StructuralTag({"format": {"type": "token", "token": "<x>"}})
    tree = tag.parse([256], vocabulary=vocabulary)
    assert tree["complete"] and tree["format"]["token"] == 256
    # Its spelling is text, and text is no token.
    assert not tag.parse(list(b"<x>"), vocabulary=vocabulary)["complete"]
    assert not tag.parse("<x>", vocabulary=vocabulary)["complete"]
    with pytest.raises(parlance.UsageError, match="needs vocabulary="):
        StructuralTag(THINK).parse([1])
    with pytest.raises(parlance.GrammarError):
        tag.parse("x")
    thinking = StructuralTag(THINK)
    ids = list(b"<think>Hm.</think>true")
    parser = thinking.parser(vocabulary=vocabulary)
    events = parser.feed(ids[:9]) + parser.feed(ids[9:])
    message, last = parser.finalize()
    assert message == thinking.parse(bytes(ids))["message"]
    opened = (events + last)[0]
    assert opened["field"] == "reasoning" and opened["tokens"] == (0, 7)


MARKED = {
    "format": {
        "type": "triggered_tags",
        "triggers": ["<call>"],
        "tags": [
            {
                "begin": "<call>",
                "content": {"json_schema": {"type": "integer"}},
                "end": "</call>",
            }
        ],
    }
}


def marked_vocabulary():
    return parlance.Vocabulary(
        [*(bytes([byte]) for byte in range(256)), b"<call>", b"</call>", b"<end>"],
        added_ids=[256, 257],
        control_ids=[258],
        stop_ids=[258],
    )


def test_markers_that_are_tokens():
    tag = StructuralTag(MARKED)
    vocabulary = marked_vocabulary()
    tree = tag.parse([*b"a", 256, *b"12", 257, 258], vocabulary=vocabulary)
    assert tree["complete"] and tree["rest"] == ""
    assert tree["message"]["tags"][0]["content"] == 12
    spelled = list(b"a<call>12</call>")
    tree = tag.parse(spelled, vocabulary=vocabulary)
    assert not tree["complete"] and tree["rest"] == ">12</call>"
    assert "written as its token" in tree["diagnostics"][0]["message"]
    for markers in ("either", "text"):
        assert tag.parse(spelled, vocabulary=vocabulary, markers=markers)["complete"]
    parser = tag.parser(vocabulary=vocabulary, markers="either")
    parser.feed([256, *b"1</call>", 258])
    message, _ = parser.finalize()
    assert parser.complete and message["tags"][0]["content"] == 1
    # Texts spell markers.
    assert tag.parse("a<call>12</call>", vocabulary=vocabulary)["complete"]
    with pytest.raises(parlance.UsageError, match="markers is"):
        tag.parse("", vocabulary=vocabulary, markers="both")


def test_markers_are_known_by_their_text():
    class Same(str):
        __eq__ = __ne__ = lambda self, other: False
        __hash__ = str.__hash__

    tag = StructuralTag(MARKED)
    vocabulary = marked_vocabulary()
    spelled = list(b"a<call>12</call>")
    assert tag.parse(spelled, vocabulary=vocabulary, markers="text")["complete"]
    tree = tag.parse(spelled, vocabulary=vocabulary, markers=Same("token"))
    assert not tree["complete"]


def test_stop_tokens_of_a_parser():
    tag = StructuralTag(MARKED)
    vocabulary = marked_vocabulary()
    tree = tag.parse([*b"a", 258, *b"b"], vocabulary=vocabulary)
    assert not tree["complete"] and tree["rest"] == "b"
    tree = tag.parse([*b"a", 258], vocabulary=vocabulary, stop_ids=[])
    assert not tree["complete"] and tree["rest"] == "<end>"
    assert tag.parse([*b"ab"], vocabulary=vocabulary, stop_ids=[ord("b")])[
        "complete"
    ]


def test_prefixes_of_marks():
    tag = StructuralTag(MARKED)
    vocabulary = marked_vocabulary()
    for prefix in ("a<call>", [*b"a", 256]):
        tree = tag.parse([*b"12", 257], prefix=prefix, vocabulary=vocabulary)
        assert tree["complete"], prefix
    tree = tag.parse([*b"12", 257], prefix=list(b"a<call>"), vocabulary=vocabulary)
    assert not tree["complete"]
    with pytest.raises(parlance.UsageError, match="prefix of token ids needs"):
        tag.parser([1])


def joined(events):
    out = []
    for event in events:
        if (
            out
            and event["type"] == "region_chunk" == out[-1]["type"]
            and event["field"] == out[-1]["field"]
        ):
            out[-1] = {
                **out[-1],
                "text": out[-1]["text"] + event["text"],
                "end": event["end"],
            }
        else:
            out.append(event)
    return out


def test_parser_has_the_shape_of_a_response_parser():
    tag = tool_calling(
        [WEATHER], "qwen_3", reasoning="required", prefix="<think>\n"
    )
    text = "Hm.\n</think>\n\nLet me look." + CALLED
    tellings = []
    for size in (1, 3, 7, len(text)):
        parser = tag.parser()
        # It begins inside of the reasoning.
        assert [e["type"] for e in parser.initial_events] == ["region_open"]
        assert parser.prefix_bytes == 0
        events = parser.initial_events
        for at in range(0, len(text), size):
            events += parser.feed(text[at : at + size])
            assert text.encode()[: at + size].endswith(parser.held)
        message, last = parser.finalize()
        tellings.append(joined(events + last))
        assert message == parser.message == {
            "role": "assistant",
            "thinking": "Hm.",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "type": "function",
                    "function": {
                        "name": "weather",
                        "arguments": {"city": "Bern"},
                    },
                }
            ],
        }
        assert parser.complete and parser.held == b""
        assert parser.diagnostics == []
        assert [part["field"] for part in parser.parts] == [
            "thinking", "content", "tool_calls",
        ]
        assert parser.chat_message["tool_calls"] == [
            {
                "id": "call_0",
                "type": "function",
                "index": 0,
                "function": {
                    "name": "weather",
                    "arguments": '{"city": "Bern"}',
                },
            }
        ]
        assert parser.tree["message"] == message
        with pytest.raises(parlance.StateError, match="TagParser"):
            parser.feed("x")
        with pytest.raises(RuntimeError):
            parser.finalize()
    assert tellings.count(tellings[0]) == len(tellings)
    chunks = [e for e in tellings[0] if e["type"] == "region_chunk"]
    assert [(e["field"], e["dirty"]) for e in chunks] == [
        ("thinking", False), ("content", False), ("tool_calls", True),
    ]


def test_a_cut_call_is_no_call():
    tag = tool_calling([WEATHER], "qwen_3", reasoning="none")
    parser = parlance.TagParser(tag, "Let me ")
    assert parser.prefix_bytes == 7
    events = parser.feed("look." + CALLED[:50])
    message, last = parser.finalize()
    assert message["content"] == "Let me look."
    assert "tool_calls" not in message and not parser.complete
    malformed = last[-1]
    assert malformed["type"] == "region_malformed"
    assert malformed["error"]["message"]
    assert len(parser.diagnostics) == 1
    assert "tool_calls" not in parser.chat_message
    assert events


def test_parser_takes_specs_and_refuses_other_input():
    parser = parlance.TagParser(THINK, "<think>")
    assert [e["type"] for e in parser.initial_events] == ["region_open"]
    with pytest.raises(parlance.UsageError, match="vocabulary="):
        parser.feed([1, 2])
    with pytest.raises(TypeError):
        parser.feed({})


@pytest.mark.parametrize(
    ("family", "opener", "closer"),
    [
        ("qwen_3", "<think>\n", "\n</think>\n\n"),
        ("glm_4_7", "<think>", "</think>"),
        ("minimax", "<think>\n", "\n</think>\n\n"),
    ],
)
def test_the_model_or_the_prompt_opens_reasoning(family, opener, closer):
    def read(text, reasoning, prefix=""):
        tag = parlance.tool_calling(
            [], family, reasoning=reasoning, prefix=prefix
        )
        tree = tag.parse(text)
        return tree["complete"], tree["message"].get("thinking")

    rest = f"Hm.{closer}Hello."
    assert read(opener + rest, "allowed") == (True, "Hm.")
    for reasoning in ("allowed", "required"):
        assert read(rest, reasoning, opener) == (True, "Hm.")


def test_report():
    """A tag says what it leaves out of its request, without a compile."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": "f",
                "parameters": {
                    "type": "object",
                    "properties": {"x": {"enum": ["a", "</function>"]}},
                },
            },
        }
    ]
    tag = parlance.Format("qwen3_coder").structural_tag(tools)
    notes = tag.report()
    assert [note["kind"] for note in notes] == ["narrowed"] * len(notes)
    assert notes[-1]["keyword"] == "enum"
    assert notes[-1]["path"] == "/tools/0/function/parameters/properties/x"
    assert all(note in tag.grammar().report() for note in notes)
    # A tag that is read back knows nothing of its request.
    assert parlance.StructuralTag(tag.to_dict()).report() == []
    typo = parlance.StructuralTag(
        {"format": {"type": "any_text", "excludess": ["a"]}}
    )
    assert [note["path"] for note in typo.report()] == ["/format"]

    tools[0]["function"]["parameters"] |= {
        "required": ["x"],
        "properties": {"x": {"type": "string", "pattern": "^</function>$"}},
    }
    with pytest.raises(parlance.GrammarError) as caught:
        parlance.Format("qwen3_coder").structural_tag(tools).grammar()
    assert caught.value.code == "conflict"
    assert caught.value.path == "/tools/0/function/parameters"


def test_report_of_a_format_without_calls():
    tools = [{"type": "function", "function": {"name": "f"}}]
    (note,) = parlance.Format("phi3_5").structural_tag(tools).report()
    assert (note["kind"], note["path"]) == ("ignored", "/tools/0/function")
    assert "the tool 'f' cannot be called" in note["message"]


def test_errors_in_schemas_lead_into_the_request():
    schema = {"type": "object", "properties": {"city": {"pattern": "a("}}}
    tools = [
        {"type": "function", "function": {"name": "now"}},
        {"type": "function", "name": "f", "parameters": schema},
    ]
    for family in ("qwen3", "qwen3_coder"):
        tag = parlance.Format(family).structural_tag(tools)
        for compile in (tag.grammar, lambda tag=tag: parlance.TagParser(tag)):
            with pytest.raises(parlance.Error) as caught:
                compile()
            assert caught.value.path == "/tools/1/parameters/properties/city/pattern"
            assert "the tool 'f': " in str(caught.value)
    wanted = {"type": "json_schema", "json_schema": {"schema": schema}}
    with pytest.raises(parlance.GrammarError) as caught:
        parlance.Format("qwen3").structural_tag(response_format=wanted).grammar()
    assert caught.value.path == (
        "/response_format/json_schema/schema/properties/city/pattern"
    )


def test_text_with_calls():
    tools = [{"type": "function", "function": {"name": "f"}}]
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    accepted = {}
    for where in ("optional", "before", "between"):
        grammar = parlance.Format("qwen3").grammar(
            tools,
            tool_choice="required",
            reasoning="off",
            text_with_calls=where,
        )
        accepted[where] = [
            grammar.accepts(text)
            for text in (call, f"So:\n{call}", f"{call}\nAnd:\n{call}")
        ]
    assert accepted == {
        "optional": [True, False, False],
        "before": [True, True, False],
        "between": [True, True, True],
    }
    for wrong in ("after", None, 1):
        with pytest.raises(parlance.GrammarError) as caught:
            parlance.tool_calling(tools, "qwen3", text_with_calls=wrong)
        assert caught.value.path == "/text_with_calls"


def test_a_prompt_may_end_inside_arguments():
    tools = [
        {
            "type": "function",
            "function": {
                "name": "f",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                },
            },
        }
    ]
    family = parlance.Format("qwen3")
    anchor = "<|im_start|>assistant\n"
    written = '<tool_call>\n{"name": "f", "arguments": {"city": "Zü'
    rest = 'rich"}}\n</tool_call>'
    for prefix in (anchor + written, (anchor + written).encode()):
        tag = family.structural_tag(tools, prefix=prefix)
        assert tag.to_dict()["prefix"] == written
        assert tag.grammar().accepts(rest)
        assert not tag.grammar().accepts('rich", "x": 1}}\n</tool_call>')
        assert parlance.StructuralTag(tag.to_dict()).grammar().accepts(rest)
        message = tag.parse(rest)["message"]
        call = message["tool_calls"][0]["function"]
        assert call == {"name": "f", "arguments": {"city": "Zürich"}}
    inside = family.structural_tag(tools, prefix=(anchor + written).encode()[:-1])
    assert inside.to_dict()["prefix"][-1] == 0xC3
    vocabulary = parlance.Vocabulary(
        [*(bytes([b]) for b in range(256)), b"<tool_call>", b"<|im_start|>"],
        added_ids=[256, 257],
        stop_ids=[],
    )
    ids = [257, *b"assistant\n", 256, *written[len("<tool_call>") :].encode()]
    tag = family.structural_tag(tools, prefix=ids, vocabulary=vocabulary)
    matcher = tag.grammar().compile(vocabulary).matcher()
    assert matcher.accept_tokens(list(rest.encode())) == len(rest)
    assert not matcher.copy().rollback(len(rest) + 1)
    with pytest.raises(parlance.UsageError, match="prefix of token ids needs"):
        family.structural_tag(tools, prefix=ids)
    with pytest.raises(parlance.GrammarError) as caught:
        family.structural_tag(tools, tool_choice="none", prefix=anchor + written)
    assert caught.value.path == "/prefix"
