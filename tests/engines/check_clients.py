"""The example server, with the SDKs that people use.

Each event is valid under the SDK's own type, and each SDK's helpers get tools,
schemas, streams and errors.  The AI SDK runs in node, where PARLANCE_AI_SDK names
a folder with its packages (ai 6, @ai-sdk/openai, @ai-sdk/openai-compatible,
@ai-sdk/anthropic, zod).
"""

import asyncio
import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

import pydantic
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

import server_test as example  # noqa: E402

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

KEY = "none"
COLD = {"temperature": 0}  # a member that not every SDK has
SCHEMA = example.WEATHER["function"]["parameters"]
TOOL = {"name": "get_weather", "input_schema": SCHEMA}
THOUGHT = "<think>\nHm.\n</think>\n\n"


@pytest.fixture(scope="module")
def server():
    with example.serving() as running:
        yield running


def user(text):
    return [{"role": "user", "content": "write: " + text}]


def events_of(server, path, body):
    """The events of a stream, as pairs of a name and JSON, read without an SDK."""
    request = urllib.request.Request(
        server.base + path,
        json.dumps({"model": "script", "stream": True, "temperature": 0, **body}).encode(),
        {"Content-Type": "application/json"},
    )
    out = []
    with urllib.request.urlopen(request) as answer:
        for event in answer.read().decode().strip().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in event.split("\n"))
            if fields["data"] != "[DONE]":
                out.append((fields.get("event"), json.loads(fields["data"])))
    return out


def city_call(name):
    call = {"name": name, "arguments": json.loads(example.CITY)}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


TEXTS = ["Hi.", THOUGHT + "Hi.", THOUGHT + "So. " + example.BERLIN]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_each_event_has_the_type_of_the_sdk(server, api, text):
    if api == "chat":
        kind = openai.types.chat.ChatCompletionChunk
        body = {"messages": user(text), "tools": example.TOOLS}
        body["stream_options"] = {"include_usage": True}
        path = "/chat/completions"
    elif api == "responses":
        kind = pydantic.TypeAdapter(openai.types.responses.ResponseStreamEvent)
        body, path = {"input": user(text), "tools": example.FLAT}, "/responses"
    else:
        kind = pydantic.TypeAdapter(anthropic.types.RawMessageStreamEvent)
        body = {"messages": user(text), "tools": [TOOL], "max_tokens": 500}
        body["thinking"] = {"type": "enabled", "budget_tokens": 400}
        path = "/messages"
    validate = getattr(kind, "validate_python", None) or kind.model_validate
    for name, event in events_of(server, path, body):
        validate(event)
        assert name == event.get("type")


# ---- Anthropic


@pytest.fixture(scope="module")
def claude(server):
    base = server.base.removesuffix("/v1")
    with anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0) as made:
        yield made


def ask(claude, text, **options):
    options = {"max_tokens": 500, "messages": user(text)} | options
    options["extra_body"] = COLD | options.get("extra_body", {})
    return claude.messages.create(model="script", **options)


def test_messages(claude):
    done = ask(claude, "Hi.", system=[{"type": "text", "text": "Be brief."}])
    assert [(b.type, b.text) for b in done.content] == [("text", "Hi.")]
    assert (done.stop_reason, done.usage.output_tokens) == ("end_turn", 4)
    assert done.usage.input_tokens > 10
    assert ask(claude, "Hello", max_tokens=2).stop_reason == "max_tokens"
    thinking = {"type": "enabled", "budget_tokens": 100}
    kinds = [b.type for b in ask(claude, THOUGHT + "Hi.", thinking=thinking).content]
    assert kinds == ["thinking", "text"]
    assert [b.type for b in ask(claude, THOUGHT + "Hi.").content] == ["text"]


def test_messages_with_tools(claude):
    done = ask(claude, example.BERLIN, tools=[TOOL])
    (use,) = done.content
    assert (done.stop_reason, use.name, use.input) == (
        "tool_use",
        "get_weather",
        {"city": "Berlin"},
    )
    turns = [
        *user(example.BERLIN),
        {"role": "assistant", "content": [block.model_dump() for block in done.content]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": use.id, "content": "22 °C"},
                {"type": "text", "text": "write: It is warm."},
            ],
        },
    ]
    last = ask(claude, "", messages=turns, tools=[TOOL])
    assert last.content[0].text == "It is warm."
    for choice, kinds in (
        ({"type": "none"}, {"text"}),
        ({"type": "any"}, {"tool_use"}),
        ({"type": "tool", "name": "get_weather"}, {"tool_use"}),
        ({"type": "any", "disable_parallel_tool_use": True}, {"tool_use"}),
    ):
        done = ask(claude, example.BERLIN, tools=[TOOL], tool_choice=choice)
        assert {b.type for b in done.content} == kinds, choice


def test_messages_as_a_stream(claude):
    with claude.messages.stream(
        model="script",
        max_tokens=500,
        messages=user(THOUGHT + "So. " + example.BERLIN),
        tools=[TOOL],
        thinking={"type": "enabled", "budget_tokens": 100},
        extra_body=COLD,
    ) as stream:
        kinds = [event.type for event in stream]
        done = stream.get_final_message()
    assert kinds.count("input_json") > 5 and {"text", "thinking"} < set(kinds)
    assert [b.type for b in done.content] == ["thinking", "text", "tool_use"]
    assert done.usage.output_tokens > 20


def test_messages_with_a_schema(claude):
    schema = example.City.model_json_schema()
    output = {"format": {"type": "json_schema", "schema": schema}}
    done = ask(claude, example.CITY, extra_body={"output_config": output})
    assert example.City.model_validate_json(done.content[0].text).name == "Bonn"


def test_messages_that_stop(claude):
    done = ask(claude, "one two three", stop_sequences=["zzz", " tw"])
    assert done.content[0].text == "one"
    assert (done.stop_reason, done.stop_sequence) == ("stop_sequence", " tw")
    with claude.messages.stream(
        model="script",
        max_tokens=99,
        messages=user("a b c"),
        stop_sequences=["b"],
        extra_body=COLD,
    ) as stream:
        assert "".join(stream.text_stream) == "a "
        assert stream.get_final_message().stop_sequence == "b"


@pytest.mark.parametrize(
    "body, pointer",
    [
        ({"top_k": 3}, "/top_k"),
        ({"guided_json": {}}, "/guided_json"),
        ({"tools": [TOOL | {"type": "web_search_20250305"}]}, "/tools/0/type"),
        ({"tool_choice": {"type": "must"}}, "/tool_choice/type"),
        (
            {"tools": [TOOL | {"input_schema": {"type": "strin"}}]},
            "/tools/0/input_schema/type",
        ),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "f"}}, "/tool_choice/name"),
        ({"messages": [{"role": "robot", "content": ""}]}, "/messages/0/role"),
        ({"thinking": {"type": "deep"}}, "/thinking/type"),
    ],
)
def test_messages_that_are_refused(claude, body, pointer):
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(claude, "x", extra_body=body)
    error = caught.value.body["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", pointer)


# ---- LangChain, Instructor, Pydantic AI


def test_langchain(server):
    chat = pytest.importorskip("langchain_openai").ChatOpenAI(
        model="script", base_url=server.base, api_key=KEY, temperature=0, max_retries=0
    )
    assert chat.invoke("write: Hi.").content == "Hi."
    assert "".join(part.content for part in chat.stream("write: Hi.")) == "Hi."
    bound = chat.bind_tools(example.TOOLS)
    (call,) = bound.invoke("write: " + example.BERLIN).tool_calls
    assert (call["name"], call["args"]) == ("get_weather", {"city": "Berlin"})
    whole = None
    for part in bound.stream("write: " + example.BERLIN):
        whole = part if whole is None else whole + part
    assert whole.tool_calls[0]["args"] == {"city": "Berlin"}
    for method in ("json_schema", "function_calling"):
        made = chat.with_structured_output(example.City, method=method)
        text = example.CITY
        if method == "function_calling":
            text = city_call("City")
        assert made.invoke("write: " + text).name == "Bonn"


def test_instructor(server):
    instructor = pytest.importorskip("instructor")
    plain = openai.OpenAI(base_url=server.base, api_key=KEY, max_retries=0)
    call = city_call("City")
    for mode, text in (
        (instructor.Mode.TOOLS, call),
        (instructor.Mode.JSON_SCHEMA, example.CITY),
    ):
        client = instructor.from_openai(plain, mode=mode)
        made = client.chat.completions.create(
            model="script", messages=user(text), response_model=example.City, temperature=0
        )
        assert made.rivers == ["Rhine"]


def test_pydantic_ai(server):
    pytest.importorskip("pydantic_ai")
    # Its model of Anthropic needs an older SDK than the newest.
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=server.base, api_key=KEY)
    for kind in (OpenAIChatModel, OpenAIResponsesModel):
        model = kind("script", provider=provider, settings={"extra_body": COLD})

        async def run(agent, text):
            async with agent.run_stream("write: " + text) as stream:
                return await stream.get_output()

        assert Agent(model).run_sync("write: Hi.").output == "Hi."
        assert asyncio.run(run(Agent(model), "Hi.")) == "Hi."
        typed = Agent(model, output_type=example.City)
        call = city_call("final_result")
        assert typed.run_sync("write: " + call).output.name == "Bonn"
        assert asyncio.run(run(typed, call)).name == "Bonn"


# ---- The AI SDK


AI_SDK = """
import { generateText, streamText, generateObject, tool } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAnthropic } from "@ai-sdk/anthropic";
import { z } from "zod";

const [baseURL, call, city] = JSON.parse(process.env.GIVEN);
const options = { baseURL, apiKey: "none" };
const openai = createOpenAI(options);
const models = {
  chat: openai.chat("script"),
  responses: openai.responses("script"),
  compatible: createOpenAICompatible({
    ...options, name: "parlance", supportsStructuredOutputs: true })("script"),
  messages: createAnthropic(options)("script"),
};
const schema = z.object({
  name: z.string(), people: z.number(), rivers: z.array(z.string()) });
const tools = { get_weather: tool({
  description: "w", inputSchema: z.object({ city: z.string() }) }) };
for (const [name, model] of Object.entries(models)) {
  const say = (text) => ({ model, maxRetries: 0, temperature: 0, prompt: "write: " + text });
  const text = (await generateText(say("Hi."))).text;
  const parts = [];
  const stream = streamText({ ...say("So. " + call), tools });
  for await (const part of stream.fullStream) {
    if (part.type === "error") throw part.error;
    parts.push(part.type);
  }
  const calls = (await stream.toolCalls).map((one) => [one.toolName, one.input]);
  const object = name === "messages" ? null :
    (await generateObject({ ...say(city), schema })).object.name;
  console.log(JSON.stringify({ name, text, calls, object, empty:
    parts.filter((one) => one === "text-start").length }));
}
"""


@pytest.mark.skipif(
    not os.environ.get("PARLANCE_AI_SDK") or not shutil.which("node"),
    reason="PARLANCE_AI_SDK names no folder, or there is no node",
)
def test_ai_sdk(server):
    folder = pathlib.Path(os.environ["PARLANCE_AI_SDK"])
    given = json.dumps([server.base, example.BERLIN, example.CITY])
    done = subprocess.run(
        ["node", "--input-type=module", "-e", AI_SDK],
        cwd=folder,
        env={**os.environ, "GIVEN": given},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line[0] == "{"]
    assert [one["name"] for one in found] == ["chat", "responses", "compatible", "messages"]
    for one in found:
        assert one["text"] == "Hi." and one["empty"] == 1, one
        assert one["calls"] == [["get_weather", {"city": "Berlin"}]], one
        assert one["object"] == (None if one["name"] == "messages" else "Bonn"), one
