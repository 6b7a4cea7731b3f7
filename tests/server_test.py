"""The example server, with the clients that people use.

The model is the script of tests/support/script_model.py.
"""

import asyncio
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import openai
import parlance
import pydantic
import pytest
import uvicorn

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "examples" / "server"))
sys.path.append(str(ROOT / "tests" / "support"))

from app import Served, create_app  # noqa: E402
from engine import Engine, FunctionModel, sampler  # noqa: E402
from prompt import ChatMl  # noqa: E402
from script_model import END, IDS, SIZE, scores_of, vocabulary  # noqa: E402

FORMAT = parlance.Format("qwen3")


class Script(FunctionModel):
    """Walks towards the text after "write: "; sleeps in each step."""

    def __init__(self, pause=0.0):
        super().__init__(scores_of, vocabulary(), SIZE)
        self.pause = pause
        self.prompts = []
        self.fail = False

    def open(self):
        self.prompts.append([])
        return self.prompts[-1]

    def logits(self, batch):
        time.sleep(self.pause)
        if self.fail:
            raise RuntimeError("the model is broken")
        return super().logits(batch)


@contextlib.contextmanager
def serving(model=None, **options):
    """Runs a server in a thread; yields it with its ``base`` URL."""
    model = model or Script()
    prompt = ChatMl(FORMAT, IDS.get, lambda text: list(text.encode()))
    app = create_app(Served("script", model, FORMAT, prompt), **options)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    server.base = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    server.app, server.model = app, model
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.base, api_key="none", max_retries=0) as made:
        yield made


def user(text):
    return [{"role": "user", "content": "write: " + text}]


def ask(client, text, **options):
    return client.chat.completions.create(
        **{"model": "script", "messages": user(text), "temperature": 0, **options}
    )


def function(name, properties, strict=True):
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "parameters": schema, "strict": strict},
    }


WEATHER = function("get_weather", {"city": {"type": "string"}})
TIME = function("get_time", {"zone": {"enum": ["UTC", "CET"]}})
TOOLS = [WEATHER, TIME]
FLAT = [{"type": "function", **tool["function"]} for tool in TOOLS]


def call(name, **arguments):
    return (
        "<tool_call>\n"
        + json.dumps({"name": name, "arguments": arguments})
        + "\n</tool_call>"
    )


BERLIN = call("get_weather", city="Berlin")
UTC = call("get_time", zone="UTC")


def post(server, data, path="/chat/completions", *options):
    out = subprocess.run(
        ["curl", "-sN", "-w", "\n%{http_code}", "-H", "Content-Type: application/json"]
        + [*options, "--data-binary", "@-", server.base + path],
        input=data if isinstance(data, bytes) else json.dumps(data).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    ).stdout.decode()
    body, _, status = out.rpartition("\n")
    return int(status), body


needs_curl = pytest.mark.skipif(
    not shutil.which("curl"), reason="curl is not installed"
)


class City(pydantic.BaseModel):
    name: str
    people: int
    rivers: list[str]


CITY = '{"name": "Bonn", "people": 330000, "rivers": ["Rhine"]}'


def calls_of(message):
    return [
        (c.function.name, json.loads(c.function.arguments))
        for c in message.tool_calls or ()
    ]


# ---- Chat completions


def test_models(client):
    assert [m.id for m in client.models.list()] == ["script"]
    assert client.models.retrieve("script").object == "model"
    with pytest.raises(openai.NotFoundError, match="no model 'gpt'"):
        ask(client, "x", model="gpt")


def test_text_and_usage(client):
    done = ask(client, "Grüße, Köln! 🌊")
    choice = done.choices[0]
    assert choice.message.content == "Grüße, Köln! 🌊"
    assert choice.finish_reason == "stop"
    assert done.usage.completion_tokens == len("Grüße, Köln! 🌊".encode()) + 1
    done = ask(client, "Hello there", max_tokens=5)
    assert (done.choices[0].message.content, done.choices[0].finish_reason) == (
        "Hello",
        "length",
    )


def test_reasoning(client):
    text = "<think>\nHm.\n</think>\n\nYes."
    message = ask(client, text).choices[0].message
    assert (message.content, message.reasoning_content) == ("Yes.", "Hm.")
    message = ask(client, text, reasoning_effort="none").choices[0].message
    assert getattr(message, "reasoning_content", None) is None


def test_streaming(client):
    chunks = list(
        ask(
            client,
            "One. " + BERLIN,
            tools=TOOLS,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    assert chunks[-1].usage.total_tokens > 0 and chunks[-1].choices == []
    deltas = [c.choices[0].delta for c in chunks[:-1]]
    assert "".join(d.content or "" for d in deltas).strip() == "One."
    calls = [c for d in deltas for c in d.tool_calls or ()]
    assert calls[0].function.name == "get_weather" and calls[0].id
    assert len(calls) > 10  # the arguments come as they are written
    assert json.loads("".join(c.function.arguments or "" for c in calls)) == {
        "city": "Berlin"
    }
    assert chunks[-2].choices[0].finish_reason == "tool_calls"
    plain = list(ask(client, "One.", stream=True))
    assert all(c.usage is None for c in plain)


def test_streaming_helper(client):
    kinds = set()
    with client.chat.completions.stream(
        model="script", messages=user(f"{BERLIN}\n{UTC}"), tools=TOOLS, temperature=0
    ) as stream:
        for event in stream:
            kinds.add(event.type)
        done = stream.get_final_completion()
    assert "tool_calls.function.arguments.delta" in kinds
    parsed = [c.function.parsed_arguments for c in done.choices[0].message.tool_calls]
    assert parsed == [{"city": "Berlin"}, {"zone": "UTC"}]


NAMED = {"type": "function", "function": {"name": "get_time"}}


def allowed(mode, *names):
    tools = [{"type": "function", "function": {"name": n}} for n in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


@pytest.mark.parametrize(
    "text, choice, names",
    [
        ("Hi.", "auto", []),
        (BERLIN, "auto", ["get_weather"]),
        (BERLIN, "none", []),
        (f"{BERLIN}\n{UTC}", "required", ["get_weather", "get_time"]),
        (UTC, NAMED, ["get_time"]),
        (BERLIN, NAMED, ["get_time"]),
        (BERLIN, allowed("auto", "get_weather"), ["get_weather"]),
        ("Hi.", allowed("auto", "get_weather"), []),
        (UTC, allowed("required", "get_time"), ["get_time"]),
    ],
)
def test_tool_choice(client, text, choice, names):
    done = ask(client, text, tools=TOOLS, tool_choice=choice, max_tokens=300)
    message = done.choices[0].message
    assert [name for name, _ in calls_of(message)] == names
    if names:
        assert done.choices[0].finish_reason == "tool_calls"
    if text == "Hi.":
        assert message.content == "Hi."


def test_a_required_call_is_a_valid_call(client):
    # The model only wants to talk; what it writes is a call all the same.
    done = ask(client, "No!", tools=TOOLS, tool_choice="required", max_tokens=200)
    ((name, arguments),) = calls_of(done.choices[0].message)[:1]
    assert name in ("get_weather", "get_time") and len(arguments) == 1


def test_parallel_tool_calls(client):
    for parallel, names in (
        (True, ["get_weather", "get_time"]),
        (False, ["get_weather"]),
    ):
        done = ask(
            client, f"{BERLIN}\n{UTC}", tools=TOOLS, parallel_tool_calls=parallel
        )
        assert [n for n, _ in calls_of(done.choices[0].message)] == names


def test_response_format(client):
    done = ask(client, '{"a": [1, 2]}', response_format={"type": "json_object"})
    assert json.loads(done.choices[0].message.content) == {"a": [1, 2]}
    schema = {
        "type": "array",
        "items": {"type": "integer"},
        "minItems": 2,
        "maxItems": 2,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "pair", "schema": schema}}
    done = ask(client, "[7, x, 8, 9]", response_format=wanted)
    assert json.loads(done.choices[0].message.content) == [7, 8]


def test_pydantic(client):
    done = client.chat.completions.parse(
        model="script", messages=user(CITY), response_format=City, temperature=0
    )
    assert done.choices[0].message.parsed == City.model_validate_json(CITY)
    with client.chat.completions.stream(
        model="script", messages=user(CITY), response_format=City, temperature=0
    ) as stream:
        done = stream.get_final_completion()
    assert done.choices[0].message.parsed.rivers == ["Rhine"]


def test_members_that_ask_for_nothing(client):
    nothing = {"n": 1, "frequency_penalty": 0, "logit_bias": {}, "logprobs": False}
    harmless = {"user": "u", "metadata": {"a": "b"}, "store": False, "top_logprobs": None}
    done = ask(client, "Hi.", extra_body=nothing | harmless)
    assert done.choices[0].message.content == "Hi."


@pytest.mark.parametrize("stop", ["d t", ["zz", "d t", "e"], ["o three", "nd t"], "\n"])
def test_stop(client, stop):
    text = "one and two three"
    stops = [stop] if isinstance(stop, str) else stop
    ends = [text.find(one) for one in stops if one in text]
    wanted = text[: min(ends)] if ends else text
    done = ask(client, text, stop=stop)
    assert (done.choices[0].message.content, done.choices[0].finish_reason) == (
        wanted,
        "stop",
    )
    chunks = list(ask(client, text, stop=stop, stream=True))
    said = "".join(c.choices[0].delta.content or "" for c in chunks)
    assert (said, chunks[-1].choices[0].finish_reason) == (wanted, "stop")


def test_stops_are_looked_for_in_the_content(client):
    text = f"<think>\nparis\n</think>\n\nIn paris. {BERLIN}"
    done = ask(client, text, tools=TOOLS, stop="Berlin").choices[0]
    assert calls_of(done.message) == [("get_weather", {"city": "Berlin"})]
    done = ask(client, text, tools=TOOLS, stop="paris").choices[0]
    assert (done.message.content, done.message.reasoning_content) == ("In ", "paris")
    assert not done.message.tool_calls and done.finish_reason == "stop"


def test_usage_by_part(client):
    text = "<think>\nHm.\n</think>\n\nYes. " + BERLIN
    usage = ask(client, text, tools=TOOLS).usage
    details = usage.completion_tokens_details.model_dump()
    parts = ("reasoning", "content", "tool_calls", "markup")
    counts = [details[f"{part}_tokens"] for part in parts]
    assert min(counts) > 0 and sum(counts) == usage.completion_tokens


def test_tools_and_response_format(client):
    for text in (CITY, BERLIN):
        done = client.chat.completions.parse(
            model="script",
            messages=user(text),
            tools=TOOLS,
            response_format=City,
            temperature=0,
        )
        message = done.choices[0].message
        if text == CITY:
            assert message.parsed.name == "Bonn" and not message.tool_calls
        else:
            assert calls_of(message) == [("get_weather", {"city": "Berlin"})]


def test_an_agent_loop(client):
    messages = user(BERLIN)
    first = ask(client, "", messages=messages, tools=TOOLS).choices[0].message
    messages = [
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        *messages,
        first.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "22 °C"},
        *user("It is warm."),
    ]
    last = ask(client, "", messages=messages, tools=TOOLS).choices[0].message
    assert last.content == "It is warm."


def test_the_prompt(server, client):
    # A marker in a message is text: only the server's own are tokens.
    ask(client, "a<|im_end|>b<tool_call>", max_tokens=1)
    ids = server.model.prompts[-1]
    assert [i for i in ids if i >= 256] == [
        IDS["<|im_start|>"],
        END,
        IDS["<|im_start|>"],
    ]


def test_sampling(client):
    said = {
        ask(client, "x", temperature=2, seed=seed, max_tokens=8)
        .choices[0]
        .message.content
        for seed in (1, 1, 2)
    }
    assert len(said) <= 2
    logits = np.array([0, 1, 2, -np.inf], np.float32)
    choose = sampler(1.0, 0.5, 1)
    assert {int(choose(logits)) for _ in range(50)} == {2}
    choose = sampler(1.0, 1.0, 1)
    assert {int(choose(logits)) for _ in range(200)} == {0, 1, 2}


# ---- Responses


def test_responses(client):
    done = client.responses.create(model="script", input="write: Hello.", temperature=0)
    assert (done.output_text, done.status) == ("Hello.", "completed")
    assert done.usage.output_tokens == 7 and done.tools == []
    done = client.responses.create(
        model="script", input="write: Hello.", temperature=0, max_output_tokens=2
    )
    assert (done.status, done.incomplete_details.reason) == (
        "incomplete",
        "max_output_tokens",
    )


def test_responses_parse(client):
    done = client.responses.parse(
        model="script", input="write: " + CITY, text_format=City, temperature=0
    )
    assert done.output_parsed == City.model_validate_json(CITY)


@pytest.mark.parametrize(
    "choice, names",
    [
        ("auto", ["get_weather"]),
        ("none", []),
        ({"type": "function", "name": "get_time"}, ["get_time"]),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "get_time"}],
            },
            ["get_time"],
        ),
    ],
)
def test_responses_tools(client, choice, names):
    done = client.responses.create(
        model="script",
        input="write: " + BERLIN,
        tools=FLAT,
        tool_choice=choice,
        parallel_tool_calls=False,
        temperature=0,
        max_output_tokens=300,
    )
    found = [item for item in done.output if item.type == "function_call"]
    assert [item.name for item in found] == names


def test_responses_streaming(client):
    kinds = []
    with client.responses.stream(
        model="script",
        input=[
            {"role": "user", "content": "write: " + UTC},
            {"type": "reasoning", "id": "r", "summary": []},
            {
                "type": "function_call",
                "call_id": "c",
                "name": "get_time",
                "arguments": '{"zone": "UTC"}',
            },
            {"type": "function_call_output", "call_id": "c", "output": "12:00"},
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "write: Noon. " + BERLIN}],
            },
        ],
        instructions="Be brief.",
        tools=FLAT,
        temperature=0,
    ) as stream:
        for event in stream:
            kinds.append(event.type)
        done = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert kinds.count("response.function_call_arguments.delta") > 10
    assert done.output_text.strip() == "Noon."
    assert done.output[-1].parsed_arguments == {"city": "Berlin"}
    assert done.instructions == "Be brief."


@needs_curl
def test_events_have_the_types_of_the_sdk(server):
    text = user("<think>\nHm.\n</think>\n\nSo. " + BERLIN)
    of_responses = pydantic.TypeAdapter(openai.types.responses.ResponseStreamEvent)
    of_chat = pydantic.TypeAdapter(openai.types.chat.ChatCompletionChunk)
    for path, kind, body in (
        ("/responses", of_responses, {"input": text, "tools": FLAT}),
        ("/chat/completions", of_chat, {"messages": text, "tools": TOOLS}),
    ):
        given = {"model": "script", "stream": True, "temperature": 0, **body}
        _, answer = post(server, given, path)
        events = [one for one in answer.split("\n") if one.startswith("data: {")]
        assert len(events) > 20
        for event in events:
            kind.validate_json(event.removeprefix("data: "))


# ---- Refusals


def schema_in_tool(schema):
    return {
        "tools": [
            WEATHER,
            {"type": "function", "function": {"name": "f", "parameters": schema}},
        ]
    }


REFUSED = [
    ({"messages": []}, "/messages", "missing_key"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        "/messages/0/content/0/type",
        "unsupported",
    ),
    (
        {"messages": [{"role": "robot", "content": ""}]},
        "/messages/0/role",
        "unknown_name",
    ),
    ({"temperature": 3}, "/temperature", "out_of_range"),
    ({"stream": "yes"}, "/stream", "wrong_type"),
    ({"n": 2}, "/n", "unsupported"),
    ({"max_tokens": 0}, "/max_tokens", "out_of_range"),
    ({"frequency_penalty": 0.5}, "/frequency_penalty", "unsupported"),
    ({"presence_penalty": -1}, "/presence_penalty", "unsupported"),
    ({"logit_bias": {"7": 1}}, "/logit_bias", "unsupported"),
    ({"logprobs": True}, "/logprobs", "unsupported"),
    ({"guided_json": {"type": "object"}}, "/guided_json", "unsupported"),
    ({"structured_outputs": {"regex": "a"}}, "/structured_outputs", "unsupported"),
    ({"grammar": "root ::= a"}, "/grammar", "unsupported"),
    ({"top_k": 3}, "/top_k", "unsupported"),
    ({"stop": [""]}, "/stop", "wrong_type"),
    ({"stop": ["a"] * 65}, "/stop", "too_large"),
    ({"stream_options": {"x": 1}}, "/stream_options/x", "unsupported"),
    ({"tools": [{"type": "web_search"}]}, "/tools/0/type", "unsupported"),
    (
        {"tools": [WEATHER, {"type": "function", "function": {}}]},
        "/tools/1/function",
        "missing_key",
    ),
    (
        {
            "tools": TOOLS,
            "tool_choice": {"type": "function", "function": {"name": "fly"}},
        },
        "/tool_choice/function/name",
        "unknown_name",
    ),
    ({"tool_choice": "required"}, "/tool_choice", "conflict"),
    (
        schema_in_tool({"type": "object", "properties": {"a": {"type": "strin"}}}),
        "/tools/1/function/parameters/properties/a/type",
        "unknown_name",
    ),
    (
        schema_in_tool({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}),
        "/tools/1/function/parameters/properties/a/$ref",
        "bad_reference",
    ),
    ({"response_format": {"type": "xml"}}, "/response_format/type", "unknown_name"),
    (
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"schema": {"type": "string", "pattern": "("}},
            }
        },
        "/response_format/json_schema/schema/pattern",
        "bad_pattern",
    ),
    (
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"schema": {"$ref": "#"}},
            }
        },
        "/response_format/json_schema/schema",
        "conflict",
    ),
]


@pytest.mark.parametrize("body, pointer, code", REFUSED)
def test_refused(client, body, pointer, code):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, "x", extra_body=body)
    error = caught.value.body
    assert (error["param"], error["code"]) == (pointer, code), error
    assert error["type"] == "invalid_request_error" and error["message"]


def test_refused_responses(client):
    for body, pointer in (
        ({"input": [{"type": "computer_call"}]}, "/input/0/type"),
        ({"previous_response_id": "resp_1"}, "/previous_response_id"),
        ({"stop": "x"}, "/stop"),
        ({"text": {"verbosity": "low"}}, "/text/verbosity"),
        ({"reasoning": {"budget": 1}}, "/reasoning/budget"),
        (
            {
                "text": {
                    "format": {
                        "type": "json_schema",
                        "name": "x",
                        "schema": {"type": "strin"},
                    }
                }
            },
            "/text/format/schema/type",
        ),
        (
            {
                "tools": FLAT,
                "tool_choice": {
                    "type": "allowed_tools",
                    "mode": "auto",
                    "tools": [{"type": "function", "name": "fly"}],
                },
            },
            "/tool_choice/tools/0/name",
        ),
    ):
        with pytest.raises(openai.BadRequestError) as caught:
            client.responses.create(model="script", input="x", extra_body=body)
        assert caught.value.body["param"] == pointer, caught.value.body


def nested(levels):
    return '{"items":' * levels + "true" + "}" * levels


HOSTILE = {
    "levels": nested(900),
    "more levels": nested(50_000),
    "branches": {
        "allOf": [
            {"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]}
            for i in range(40)
        ]
    },
    "counts": {"type": "array", "items": {"maxItems": 10**8}, "minItems": 10**9},
    "pattern": {"type": "string", "pattern": "^(a|b)*a(a|b){400}$"},
    "backtracking": {"type": "string", "pattern": "^(?=(a+)+$)(a|aa)+$"},
    "names": {
        "type": "object",
        "properties": {f"p{i}": {"type": "string"} for i in range(9000)},
    },
    "values": {"enum": [f"v{i}" for i in range(50_000)]},
    "unique": {
        "type": "array",
        "uniqueItems": True,
        "items": {"enum": list(range(3000))},
    },
}


@needs_curl
def test_hostile_schemas():
    """Each is served or refused in bounded time, and the server goes on."""
    body = json.dumps(
        {
            "model": "script",
            "messages": user("x"),
            "max_tokens": 20,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "schema": "SCHEMA"},
            },
        }
    )
    with serving(compile_seconds=1.0) as server:

        def one(schema):
            text = schema if isinstance(schema, str) else json.dumps(schema)
            begin = time.monotonic()
            status, answer = post(server, body.replace('"SCHEMA"', text).encode())
            assert status in (200, 400, 413), answer
            assert status == 200 or len(answer) < 4000
            return status, time.monotonic() - begin

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            results = dict(zip(HOSTILE, pool.map(one, HOSTILE.values())))
        assert max(seconds for _, seconds in results.values()) < 10, results
        assert {status for status, _ in results.values()} == {200, 400}, results
        client = openai.OpenAI(base_url=server.base, api_key="none", max_retries=0)
        with client:
            said = ask(client, "Still here.").choices[0].message.content
            assert said == "Still here."


@needs_curl
def test_curl(server):
    body = {
        "model": "script",
        "messages": user(BERLIN),
        "tools": TOOLS,
        "temperature": 0,
    }
    status, text = post(server, body)
    message = json.loads(text)["choices"][0]["message"]
    assert (
        status == 200 and message["tool_calls"][0]["function"]["name"] == "get_weather"
    )
    status, text = post(server, {**body, "stream": True})
    events = text.strip().split("\n\n")
    assert events[-1] == "data: [DONE]"
    assert all(json.loads(e.removeprefix("data: "))["id"] for e in events[:-1])
    status, text = post(
        server, {"model": "script", "input": "write: x", "stream": True}, "/responses"
    )
    first = text.split("\n")[:2]
    assert first[0] == "event: response.created"
    assert json.loads(first[1].removeprefix("data: "))["type"] == "response.created"


@needs_curl
@pytest.mark.parametrize(
    "data, status, pointer",
    [
        (b"{", 400, ""),
        (b"[]", 400, ""),
        (b'{"model": NaN}', 400, ""),
        (b"\xff\xfe", 400, ""),
        (b'{"model": "\\ud800"}', 400, ""),
        (b'{"model": "script", "metadata": {"a": 1e999}}', 400, ""),
        (b"[" * 100_000, 400, ""),
        (b"{}", 400, ""),
        (b" " * (40 << 20), 413, None),
    ],
)
def test_bodies(server, data, status, pointer):
    found, text = post(server, data)
    assert found == status, text
    assert json.loads(text)["error"]["param"] == pointer


LITELLM = """
import json, sys
import litellm
litellm.suppress_debug_info = True
base, tools, write = json.loads(sys.argv[1])
options = dict(model="openai/script", api_base=base, api_key="none", temperature=0)
done = litellm.completion(messages=write, tools=tools, **options)
parts = list(litellm.completion(messages=write, tools=tools, stream=True, **options))
whole = litellm.stream_chunk_builder(parts)
for one in done, whole:
    (call,) = one.choices[0].message.tool_calls
    print(call.function.name, call.function.arguments, one.choices[0].finish_reason)
"""


@pytest.mark.skipif(
    not os.environ.get("PARLANCE_LITELLM"),
    reason="PARLANCE_LITELLM names no Python with litellm",
)
def test_litellm(server):
    given = json.dumps([server.base, TOOLS, user(BERLIN)])
    done = subprocess.run(
        [os.environ["PARLANCE_LITELLM"], "-c", LITELLM, given],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": os.environ["PATH"], "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ['get_weather {"city": "Berlin"} tool_calls'] * 2


# ---- Many clients, and clients that go away


def test_64_clients(server):
    """All at once, streaming; each gets its own text, and rows share steps."""
    texts = [f"Client {i}: " + "wave " * (i % 7) + "bye." for i in range(64)]
    before = server.app.state.engine.steps

    async def one(client, i):
        options = {"tools": TOOLS} if i % 2 else {}
        text, said = texts[i], ""
        if i % 4 == 3:
            text = call("get_weather", city=f"City {i}")
        stream = await client.chat.completions.create(
            model="script", messages=user(text), temperature=0, stream=True, **options
        )
        async for chunk in stream:
            delta = chunk.choices[0].delta
            said += delta.content or ""
            for c in delta.tool_calls or ():
                said += c.function.arguments or ""
        if i % 4 == 3:
            assert json.loads(said) == {"city": f"City {i}"}
        else:
            assert said == texts[i]
        return len(text)

    async def all_of_them():
        async with openai.AsyncOpenAI(
            base_url=server.base, api_key="none", max_retries=0
        ) as client:
            return await asyncio.gather(*(one(client, i) for i in range(64)))

    tokens = sum(asyncio.run(all_of_them()))
    steps = server.app.state.engine.steps - before
    assert steps < tokens / 3, (steps, tokens)


def connect(server, body, close=False, cut=False):
    """Sends a request on a socket of its own, or with ``cut`` half of one."""
    host, port = server.base.removeprefix("http://").removesuffix("/v1").split(":")
    data = json.dumps(body).encode()
    connection = socket.create_connection((host, int(port)))
    connection.sendall(
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
        + (b"Connection: close\r\n" if close else b"")
        + b"Content-Length: %d\r\n\r\n" % len(data)
        + (data[: len(data) // 2] if cut else data)
    )
    return connection


def until(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "too late"
        time.sleep(0.01)


def read_slowly(connection, pause):
    """The text of a stream, read in small pieces."""
    data = b""
    while piece := connection.recv(512):
        data += piece
        time.sleep(pause)
    connection.close()
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    said, ended = "", False
    for line in body.split(b"\n"):
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                said += choice["delta"].get("content") or ""
        ended = ended or line.startswith(b"data: [DONE]")
    assert ended
    return said


def test_thirty_clients_some_slow_some_gone(capfd):
    """Ten read at once, ten slowly, ten leave: in their body, in the queue, while
    they read.  Nothing is lost, nothing is printed, and memory stays flat."""
    with serving(Script(pause=0.001), rows=8) as server:
        engine = server.app.state.engine

        def one(i):
            text = f"Client {i}: " + "wave " * 40
            body = {"model": "script", "messages": user(text), "temperature": 0}
            if i % 3 < 2:
                connection = connect(server, body | {"stream": True}, close=True)
                return read_slowly(connection, 0.01 * (i % 3)) == text
            connection = connect(server, body | {"stream": i % 2 == 0}, cut=i % 4 == 1)
            time.sleep(0.02 * (i % 5))
            connection.close()
            return True

        sizes = []
        with concurrent.futures.ThreadPoolExecutor(30) as pool:
            for _ in range(3):
                assert all(pool.map(one, range(30)))
                until(lambda: engine.live == 0 and not engine._waiting)
                sizes.append(resident())
    assert max(sizes[1:]) - sizes[0] < 16 << 20, sizes
    assert capfd.readouterr().err == ""


def resident():
    """The memory of this process, in bytes."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@needs_curl
def test_a_large_body(server):
    body = {"model": "script", "messages": user("x" * (8 << 20) + " write: y")}
    status, answer = post(server, body)
    error = json.loads(answer)["error"]
    assert (status, error["code"]) == (400, "context_length_exceeded")


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away(stream):
    with serving(Script(pause=0.005), rows=2) as server:
        engine = server.app.state.engine
        body = {
            "model": "script",
            "messages": user("long " * 600),
            "temperature": 0,
            "stream": stream,
        }
        # Two are generated; the third waits for a row.
        clients = [connect(server, body) for _ in range(3)]
        until(lambda: engine.live == 2)
        if stream:
            assert clients[0].recv(10_000).startswith(b"HTTP/1.1 200")
        clients[2].close()
        clients[1].close()
        until(lambda: engine.live == 1)
        clients[0].close()
        until(lambda: engine.live == 0)
        stopped = engine.steps
        time.sleep(0.1)
        assert engine.steps == stopped < 2000
        assert not engine._waiting
        client = openai.OpenAI(base_url=server.base, api_key="none", max_retries=0)
        with client:
            assert ask(client, "Hi.").choices[0].message.content == "Hi."


def test_too_many_wait():
    with serving(Script(pause=0.005), rows=1, waiting=1) as server:
        body = {"model": "script", "messages": user("long " * 600), "temperature": 0}
        clients = []
        for live, waiting in ((1, 0), (1, 1)):
            clients.append(connect(server, body))
            engine = server.app.state.engine
            until(lambda: (engine.live, len(engine._waiting)) == (live, waiting))
        client = openai.OpenAI(base_url=server.base, api_key="none", max_retries=0)
        with client, pytest.raises(openai.InternalServerError) as caught:
            ask(client, "Hi.")
        assert (caught.value.status_code, caught.value.body["code"]) == (503, "busy")
        for one in clients:
            one.close()


def test_a_model_that_fails(capsys):
    with serving() as server:
        client = openai.OpenAI(base_url=server.base, api_key="none", max_retries=0)
        with client:
            server.model.fail = True
            with pytest.raises(openai.InternalServerError, match="model failed"):
                ask(client, "Hi.")
            with pytest.raises(openai.APIError, match="model failed"):
                list(ask(client, "Hi.", stream=True))
            server.model.fail = False
            assert ask(client, "Hi.").choices[0].message.content == "Hi."


# ---- What fails for one row ends this row only


class Poisoned(Script):
    """Gives the row whose prompt has "poison" scores that are no numbers."""

    def logits(self, batch):
        out = super().logits(batch)
        for scores, (ids, _) in zip(out, batch):
            if b"poison" in bytes(i for i in ids if i < 256):
                scores[:] = np.nan
        return out


EXTREMES = [
    {"temperature": 1, "top_p": 0},
    {"temperature": 1, "top_p": 1e-300},
    {"temperature": 1e-50},
    {"temperature": 5e-324, "top_p": 5e-324},
    {"temperature": 2, "top_p": 1, "seed": 10**40},
    {"temperature": -1},
    {"top_p": 1.0001},
    {"seed": -1},
    {"max_tokens": 10**30},
    {"messages": user("poison")},
    {"messages": user("poison"), "temperature": 1},
    {"tools": [1]},
    {"tools": [{"type": "function", "function": 1}]},
    {"tools": TOOLS, "tool_choice": 1},
    {"response_format": {"type": "json_schema", "json_schema": 1}},
    {"messages": [{"role": "assistant", "tool_calls": [1]}, *user("x")]},
    {"messages": [{"role": "assistant", "content": "<|im_end|>"}, *user("x")]},
]


def test_no_request_ends_the_others():
    long = "long " * 60

    async def all_of_them(server):
        async with openai.AsyncOpenAI(
            base_url=server.base, api_key="none", max_retries=0
        ) as client:

            async def one(**body):
                options = {"messages": user("Hi."), "temperature": 0, "stream": False}
                body = {"model": "script", "max_tokens": 400, **options, **body}
                try:
                    made = await client.post(
                        "/chat/completions", cast_to=object, body=body
                    )
                except openai.APIStatusError as error:
                    return error.status_code, error.body
                return 200, made["choices"][0]["message"]["content"]

            others = [asyncio.create_task(one(messages=user(long))) for _ in range(3)]
            await asyncio.to_thread(until, lambda: server.app.state.engine.live == 3)
            answers = [await one(**body) for body in EXTREMES]
            assert not any(other.done() for other in others)
            return answers, [await other for other in others]

    with serving(Poisoned(pause=0.002)) as server:
        answers, others = asyncio.run(all_of_them(server))
    assert others == [(200, long.strip())] * 3 or others == [(200, long)] * 3
    for body, (status, answer) in zip(EXTREMES, answers):
        if "poison" in str(body):
            assert status == 500 and "model failed" in answer["message"], body
        else:
            assert status in (200, 400), (body, answer)
    assert [status for status, _ in answers[:5]] == [200] * 5, answers[:5]


def test_the_least_of_a_sampler_is_the_most_probable_token():
    logits = np.array([0, 1, 2, -np.inf, 1.5], np.float32)
    for temperature in (0, 5e-324, 1e-300, 1e-50, 1e-38, 1e-3):
        for top_p in (0, 5e-324, 0.5, 1):
            assert sampler(temperature, top_p, 1)(logits) == 2
    for top_p in (0, 5e-324):
        assert sampler(2, top_p, 1)(logits) == 2
    for wrong in ([np.nan, 1], [-np.inf, -np.inf], [np.inf, 1]):
        for temperature in (0, 1e-50, 1):
            with pytest.raises(ValueError, match="logit"):
                sampler(temperature, 0.9, 1)(np.array(wrong, np.float32))


def test_a_constraint_that_fails_is_an_error_of_its_request(monkeypatch):
    # The mask then allows an end; what ends there is no answer of the grammar.
    import app

    schema = {"oneOf": [{"required": [f"k{i}"], "minProperties": i} for i in range(80)]}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    monkeypatch.setattr(app, "LIMITS", {**app.LIMITS, "work": 2000})
    with serving() as server:
        client = openai.OpenAI(base_url=server.base, api_key="none", max_retries=0)
        with client:
            for stream in (False, True):
                with pytest.raises(openai.APIError, match="GrammarLimits::work") as got:
                    list(ask(client, "{}", response_format=wanted, stream=stream))
                assert got.value.body["code"] == "too_large"
            assert ask(client, "Hi.").choices[0].message.content == "Hi."


class Failing(Script):
    """Fails where a test says so."""

    def __init__(self):
        super().__init__()
        self.fails_at = set()

    def open(self):
        if "open" in self.fails_at:
            raise RuntimeError("no room")
        return super().open()

    def close(self, state):
        if "close" in self.fails_at:
            raise RuntimeError("closed twice")


@pytest.mark.parametrize("where", ["open", "close"])
def test_a_model_whose_states_fail(where):
    with serving(Failing()) as server:
        client = openai.OpenAI(base_url=server.base, api_key="none", max_retries=0)
        with client:
            server.model.fails_at = {where}
            if where == "open":
                with pytest.raises(openai.InternalServerError, match="model failed"):
                    ask(client, "Hi.")
            else:
                assert ask(client, "Hi.").choices[0].message.content == "Hi."
            server.model.fails_at = set()
            assert ask(client, "Hi.").choices[0].message.content == "Hi."


class Job:
    """A job whose matcher forces tokens, or fails to."""

    found = None

    def __init__(self, forced=(), error=None):
        self.matcher, self.parser = self, self
        self.forced, self.cause = list(forced), error
        self.error = None
        self.prompt, self.max_tokens, self.length = [0], 9, 0
        self.cancelled = False
        self.told = []

    def forced_tokens(self):
        if self.cause is not None:
            raise self.cause
        return self.forced

    def accept_tokens(self, ids):
        return len(ids)

    def is_terminated(self):
        return bool(self.length and self.forced)

    def feed(self, ids):
        return [("fed", ids)]

    def finalize(self):
        return None, []


def stepped(jobs, model):
    """One step of an engine whose thread does not run; what it tells each job."""
    one = Engine.__new__(Engine)
    one.model, one.max_rows, one.steps = model, 8, 0
    one._rows = []
    updates = []
    for job in jobs:
        one._open(updates, job)
    one._make_step(updates)
    return [[u for j, u in updates if j is job] for job in jobs]


def test_forced_tokens_that_fail_and_a_model_that_fails():
    class Broken:
        vocabulary = ()

        def open(self):
            return []

        def logits(self, batch):
            raise RuntimeError("the model is broken")

        def close(self, state):
            pass

    jobs = [Job([7]), Job(error=ValueError("inside a character")), Job()]
    ended, wrong, lost = stepped(jobs, Broken())
    # A response that had ended before the model failed is whole.
    assert [(u.events, u.end) for u in ended] == [([("fed", [7])], "stop")]
    assert [(u.end, str(u.error)) for u in wrong] == [("error", "inside a character")]
    assert [(u.end, str(u.error)) for u in lost] == [("error", "the model is broken")]
