"""Definitions that refer to one another: as many ways to a node as there are
texts of forty bits, and forty nodes."""

import pytest

import parlance

NUMBER = 40


def chain(step):
    """Forty definitions; ``step(next)`` is what one says of the next."""
    out = {
        f"d{i}": step({"$ref": f"#/$defs/d{i + 1}"}) for i in range(NUMBER)
    }
    out[f"d{NUMBER}"] = {"type": "string", "minLength": 1}
    return out


STEPS = {
    "allOf": lambda one: {"allOf": [one, dict(one)]},
    "anyOf": lambda one: {"anyOf": [one, dict(one)]},
    "both": lambda one: {"allOf": [one, {"anyOf": [one, dict(one)]}]},
    "not": lambda one: {"not": {"not": {"allOf": [one, dict(one)]}}},
    "if": lambda one: {"if": one, "then": dict(one), "else": dict(one)},
    "not any": lambda one: {"not": {"anyOf": [{"not": one}, {"not": dict(one)}]}},
    "member": lambda one: {"type": "string", "allOf": [one, dict(one)]},
}


@pytest.mark.parametrize("step", STEPS)
def test_a_schema_is_no_tree(step):
    schema = {"$ref": "#/$defs/d0", "$defs": chain(STEPS[step])}
    grammar = parlance.Grammar.from_json_schema(schema)
    assert grammar.accepts('"x"')
    assert not grammar.accepts('""')
    assert not grammar.accepts("1")


FAMILIES = ["qwen3", "qwen3_coder", "gemma4", "glm4_7", "pythonic_llama4"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("family", FAMILIES)
def test_arguments_are_no_tree(family, step):
    parameters = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "required": ["a"],
        "$defs": chain(STEPS[step]),
    }
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": parameters}}
    ]
    family = parlance.Format(family)
    tag = family.structural_tag(tools)
    parlance.Grammar.from_structural_tag(tag)
    message = {
        "role": "assistant",
        "tool_calls": [
            {"type": "function", "function": {"name": "f", "arguments": {"a": "x"}}}
        ],
    }
    response = family.render(message)
    parser = family.parser(tools=tools)
    parser.feed(response)
    parser.finalize()
    assert parser.message["tool_calls"][0]["function"]["arguments"] == {"a": "x"}
