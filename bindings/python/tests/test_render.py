"""Format.render and Format(names=): one file, other directions."""

import copy
import pathlib
import pickle
import sys

import pytest

import parlance

SUPPORT = pathlib.Path(__file__).resolve().parents[3] / "tests" / "support"
sys.path[:0] = [str(SUPPORT)]

from small_family import FAMILY  # noqa: E402


def test_parsing_what_was_rendered_gives_the_message():
    family = parlance.Format(FAMILY)
    message = {"thinking": "Hm.", "content": "Hi."}
    text = family.render({"role": "assistant", **message})
    assert text == "<think>Hm.</think>Hi."
    assert parlance.parse_response(text, family, prefix="") == message
    assert family.render(message, prefix="A:<think>") == "Hm.</think>Hi."


def test_a_message_that_would_come_back_different_is_refused():
    family = parlance.Format(FAMILY)
    with pytest.raises(parlance.TemplateError) as caught:
        family.render({"thinking": "</think>"})
    assert caught.value.path == "/thinking"
    assert family.render({"thinking": "</think>"}, verify=False)


def test_a_bare_template_cannot_render():
    bare = parlance.Format(FAMILY["response_template"])
    with pytest.raises(parlance.TemplateError, match="does not say how"):
        bare.render({})


def test_names_are_those_of_events_and_messages():
    family = parlance.Format("qwen3", names="reasoning_content")
    assert "reasoning_content" in family.fields
    for made in (
        family,
        parlance.Format(family),
        pickle.loads(pickle.dumps(family)),
        copy.deepcopy(family),
    ):
        message = parlance.parse_response(
            "<think>Hm.</think>Hi.", made, prefix=""
        )
        assert message["reasoning_content"] == "Hm."
    by_dict = parlance.Format("qwen3", names={"thinking": "why"})
    assert "why" in by_dict.fields


def test_names_that_cannot_be():
    with pytest.raises(parlance.TemplateError, match="no field 'thoughts'"):
        parlance.Format("qwen3", names={"thoughts": "x"})
    with pytest.raises(TypeError, match="names must be"):
        parlance.Format("qwen3", names=3)


@pytest.mark.parametrize("name", parlance.formats())
def test_line_feeds_that_end_content_before_a_call(name):
    """What a format reads as layout before a call, it also writes."""
    family = parlance.Format(name)
    function = {"name": "now", "arguments": {"a": "1"}}
    call = {"type": "function", "id": "call00000", "function": function}
    for content in ("Hi.", "Hi.\n", "Hi.\n\n", "Hi. \n"):
        message = {"content": content, "tool_calls": [call]}
        try:
            text = family.render(message)
        except parlance.TemplateError as error:
            assert "has no field 'tool_calls'" in str(error)
            return
        assert parlance.parse_response(text, family, prefix="")["content"] == content
