"""One rule for tools, and one for schemas, wherever they are taken."""

import importlib
import inspect
import json

import parlance
import parlance.errors
import pytest

pydantic = pytest.importorskip("pydantic")

CALL = (
    "<tool_call>\n<function=get_weather>\n<parameter=days>\n3\n</parameter>\n"
    "</function>\n</tool_call>"
)


class get_weather(pydantic.BaseModel):
    """The weather of a city."""

    days: int


SCHEMA = {"type": "object", "properties": {"days": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}


class Function(pydantic.BaseModel):
    name: str
    parameters: dict
    strict: bool | None = None


class Tool(pydantic.BaseModel):
    type: str
    function: Function


def function_of_python():
    def get_weather(days: int):
        """The weather.

        Args:
            days: how many.
        """

    return get_weather


TOOLS = {
    "list": lambda: [TOOL],
    "tuple": lambda: (TOOL,),
    "iterator": lambda: iter([TOOL]),
    "text": lambda: json.dumps([TOOL]),
    "class": lambda: [get_weather],
    "object": lambda: [Tool.model_validate(TOOL)],
    "set": lambda: parlance.ToolSet([TOOL]),
    "text of a set": lambda: parlance.ToolSet(json.dumps([TOOL])),
    "function": lambda: [function_of_python()],
}
FORMAT = parlance.Format("qwen3_coder")


def arguments_of(message):
    return message["tool_calls"][0]["function"]["arguments"]


def of_arrow(tools):
    pyarrow = pytest.importorskip("pyarrow")
    messages = parlance.parse_arrow(pyarrow.array([CALL]), FORMAT, tools=tools)
    call = pyarrow.chunked_array(messages).to_pylist()[0]["tool_calls"][0]
    return json.loads(call["arguments"])


def of_polars(tools):
    polars = pytest.importorskip("polars")
    from parlance.integrations.polars import parse

    frame = polars.DataFrame({"r": [CALL]})
    messages = frame.select(parse("r", FORMAT, tools=tools))["r"].to_list()
    return json.loads(messages[0]["tool_calls"][0]["arguments"])


def of_parser(tools):
    parser = parlance.ResponseParser(FORMAT, prefix="", tools=tools)
    parser.feed(CALL)
    return arguments_of(parser.finalize()[0])


def of_grammar(grammar):
    assert grammar.accepts(CALL + "<|im_end|>") or grammar.accepts(CALL)
    assert not grammar.accepts(CALL.replace("3", "x"))
    return {"days": 3}


TAKERS = {
    "parse_response": lambda tools: arguments_of(
        parlance.parse_response(CALL, FORMAT, prefix="", tools=tools)
    ),
    "ResponseParser": of_parser,
    "parse_arrow": of_arrow,
    "polars": of_polars,
    "ToolSet": lambda tools: TAKERS["parse_response"](parlance.ToolSet(tools)),
    "render": lambda tools: {"days": 3}
    if FORMAT.render(
        {"tool_calls": [{"function": {"name": "get_weather", "arguments": {"days": 3}}}]},
        tools=tools,
    )
    else None,
    "view": lambda tools: arguments_of(
        parlance.view(CALL, FORMAT, tools=tools).facts["message"]
    ),
    "verify": lambda tools: {"days": 3} if FORMAT.verify(tools) == [] else None,
    "Format.grammar": lambda tools: of_grammar(FORMAT.grammar(tools, tool_choice="required")),
    "tool_calling": lambda tools: of_grammar(
        parlance.tool_calling(tools, FORMAT, tool_choice="required").grammar()
    ),
}


@pytest.mark.parametrize("form", TOOLS)
@pytest.mark.parametrize("taker", TAKERS)
def test_tools_are_taken_everywhere(taker, form):
    if form == "function":
        pytest.importorskip("transformers")
    assert TAKERS[taker](TOOLS[form]()) == {"days": 3}


def test_a_class_has_its_name_and_description():
    tag = FORMAT.structural_tag([get_weather], tool_choice="required")
    assert "get_weather" in tag.to_json()
    assert parlance.ToolSet([get_weather])._text == json.dumps(
        [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "parameters": {
                        "properties": {"days": {"title": "Days", "type": "integer"}},
                        "required": ["days"],
                        "title": "get_weather",
                        "type": "object",
                    },
                    "description": "The weather of a city.",
                },
            }
        ]
    )


@pytest.mark.parametrize("wrong", [3, b"[]", {}, object(), "[", '{"a": 1}'])
def test_what_is_no_list_of_tools(wrong):
    for take in (parlance.ToolSet, *(TAKERS[n] for n in ("parse_response", "tool_calling"))):
        with pytest.raises((TypeError, parlance.Error), match="."):
            take(wrong)


@pytest.mark.parametrize(
    "schema",
    [
        get_weather.model_json_schema(),
        json.dumps(get_weather.model_json_schema()),
        get_weather,
        pydantic.TypeAdapter(get_weather),
    ],
    ids=["dict", "text", "class", "adapter"],
)
def test_schemas_are_taken_everywhere(schema):
    from parlance.integrations import llguidance, xgrammar

    vocabulary = parlance.Vocabulary([bytes([i]) for i in range(256)], stop_ids=[])
    grammars = [
        parlance.Grammar.from_json_schema(schema),
        xgrammar.Grammar.from_json_schema(schema).parlance_grammar,
    ]
    for grammar in grammars:
        assert grammar.accepts('{"days": 3}') and not grammar.accepts('{"days": "x"}')
    assert parlance.Compiler(vocabulary).compile_json_schema(schema)
    text = llguidance.LLMatcher.grammar_from_json_schema(schema)
    assert llguidance.LLMatcher.validate_grammar(text) == ""
    if not isinstance(schema, str):
        tag = parlance.Format("qwen3").structural_tag(response_format=schema)
        assert tag.grammar().accepts('{"days": 3}')
    with pytest.raises(parlance.SchemaError, match="TypeAdapter"):
        parlance.Grammar.from_json_schema([])


def test_what_is_public():
    names = set(dir(parlance))
    assert set(parlance.__all__) < names
    submodules = {"chat", "errors", "integrations", "jmespath", "__version__"}
    assert names - set(parlance.__all__) <= submodules
    assert all(hasattr(parlance, name) for name in names)


def test_the_exceptions_are_in_errors():
    exceptions = {
        name
        for name in parlance.__all__
        if inspect.isclass(getattr(parlance, name))
        and issubclass(getattr(parlance, name), Exception)
    }
    assert exceptions | {"JmespathError"} == set(parlance.errors.__all__)
    for name in exceptions:
        assert getattr(parlance.errors, name) is getattr(parlance, name)
    assert importlib.import_module("parlance.jmespath").JmespathError is (
        parlance.errors.JmespathError
    )
