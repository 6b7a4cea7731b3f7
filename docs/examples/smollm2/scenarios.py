"""What SmolLM2 is asked to do, and how each answer is checked.

The model is tiny.  What it says is often silly; that it is well-formed, of the
declared types and read back without a diagnostic is not up to the model.
"""

import json
from typing import Any, Callable, NamedTuple

import jsonschema
import parlance

from chat import greedy, prompt_of, sampler


class Scenario(NamedTuple):
    name: str
    title: str
    tag: parlance.StructuralTag
    system: str
    question: str
    check: Callable[[dict], None]  # of the message; raises what is wrong
    choose: Callable[[Any], int] = greedy
    marks: tuple = ()  # tokens that the response must hold
    max_tokens: int = 200

    @property
    def prompt(self):
        return prompt_of(self.system, self.question)


def _object(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(length):
    # Letters and plain punctuation: what a person would fill into a form.
    return {"type": "string", "pattern": f"^[A-Za-z][A-Za-z ,.]{{1,{length - 1}}}$"}


WEATHER = {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": _object(
        city=_text(20),
        unit={"enum": ["celsius", "fahrenheit"]},
        days={"type": "integer", "minimum": 1, "maximum": 7},
    ),
}
MEETING = {
    "name": "create_meeting",
    "description": "Puts a meeting into the calendar",
    "parameters": _object(
        title=_text(24),
        when=_object(
            day={"enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]},
            hour={"type": "integer", "minimum": 8, "maximum": 18},
        ),
        attendees={
            "type": "array",
            "items": _text(12),
            "minItems": 1,
            "maxItems": 3,
        },
    ),
}
TOOLS = [WEATHER, MEETING]


def _functions(tools):
    return [{"type": "function", "function": tool} for tool in tools]


def _tools_in_words(tools):
    return "You can call these tools:\n" + "\n".join(
        f"{tool['name']}({', '.join(tool['parameters']['properties'])}): "
        f"{tool['description']}"
        for tool in tools
    )


def _check_calls(tools, least, most):
    schemas = {tool["name"]: tool["parameters"] for tool in tools}

    def check(message):
        calls = message.get("tool_calls", [])
        assert least <= len(calls) <= most, f"{len(calls)} calls"
        for call in calls:
            function = call["function"]
            jsonschema.validate(
                function["arguments"], schemas[function["name"]]
            )

    return check


def _check_answer(schema):
    def check(message):
        jsonschema.validate(json.loads(message["content"]), schema)

    return check


def _required_call():
    return Scenario(
        "call",
        "call one of several tools, required; arguments nested and enumerated",
        parlance.tool_calling(
            _functions(TOOLS),
            "hermes",
            tool_choice="required",
            parallel_tool_calls=False,
            reasoning="none",
            max_white_space=1,
        ),
        _tools_in_words(TOOLS),
        "Create a meeting with Ada and Grace on Friday at 10: Budget review.",
        _check_calls(TOOLS, 1, 1),
    )


CURIE = _object(
    name=_text(20),
    born={"type": "integer", "minimum": 1500, "maximum": 2000},
    fields={
        "type": "array",
        "items": {"enum": ["physics", "chemistry", "biology", "literature"]},
        "minItems": 1,
        "maxItems": 2,
        "uniqueItems": True,
    },
    nobel_prizes={"type": "integer", "minimum": 0, "maximum": 3},
)


def _json(schema, **more):
    return {
        "type": "json_schema",
        "json_schema": schema,
        "max_whitespace_cnt": 1,
        **more,
    }


def _schema():
    return Scenario(
        "schema",
        "answer under a JSON Schema",
        parlance.StructuralTag({"format": _json(CURIE, field="content")}),
        "You answer in JSON.",
        "Who was Marie Curie? Give name, year of birth, fields of science "
        "and number of Nobel prizes.",
        _check_answer(CURIE),
    )


def _free():
    def check(message):
        _check_calls(TOOLS, 0, 1)(message)
        # The one answer that is checked for what it says: were it not there,
        # the arithmetic of the model would be wrong.
        assert "Bern" in message.get("content", ""), "the model is not itself"

    return Scenario(
        "free",
        "answer freely, with a call allowed",
        parlance.tool_calling(
            _functions(TOOLS),
            "hermes",
            parallel_tool_calls=False,
            reasoning="none",
            max_white_space=1,
        ),
        "You are a helpful assistant.",
        "What is the capital of Switzerland? Answer in one sentence.",
        check,
    )


def _reason():
    schema = _object(
        animal={"enum": ["spider", "ant", "cat"]},
        legs={"type": "integer", "minimum": 0, "maximum": 100},
    )

    def check(message):
        assert message["reasoning"], "no reasoning"
        _check_answer(schema)(message)

    thought = {
        "type": "tag",
        "begin": "<think>",
        "content": {"type": "any_text", "max_tokens": 32},
        "end": "</think>\n",
        "field": "reasoning",
    }
    return Scenario(
        "reason",
        "reason first (32 tokens at most), then answer by schema",
        parlance.StructuralTag(
            {
                "format": {
                    "type": "sequence",
                    "elements": [thought, _json(schema, field="content")],
                }
            }
        ),
        "Think first, then answer in JSON.",
        "Which of these has eight legs: a cat, an ant or a spider?",
        check,
        sampler(seed=7, temperature=0.6),
    )


def _made_up():
    """A family that no model has: its markers are control tokens of this one."""
    call = {
        "type": "tag",
        "begin": f"<issue_start>{WEATHER['name']}<issue_comment>",
        "content": _json(WEATHER["parameters"]),
        "end": "<issue_closed>",
        "tool": WEATHER["name"],
    }
    thought = {
        "type": "tag",
        "begin": "<jupyter_start>",
        "content": {"type": "any_text", "max_tokens": 24},
        "end": "<jupyter_output>",
        "field": "reasoning",
    }
    def check(message):
        assert message["reasoning"], "no reasoning"
        _check_calls([WEATHER], 1, 1)(message)

    return Scenario(
        "markers",
        "a made-up family, whose markers are tokens of this very tokenizer",
        parlance.StructuralTag(
            {"format": {"type": "sequence", "elements": [thought, call]}}
        ),
        _tools_in_words([WEATHER]),
        "What will the weather be like in Zurich in the next three days?",
        check,
        marks=(
            *("<jupyter_start>", "<jupyter_output>", "<issue_start>"),
            *("<issue_comment>", "<issue_closed>"),
        ),
    )


SCENARIOS = [make() for make in (_required_call, _schema, _free, _reason, _made_up)]
