"""The hooks for LiteLLM in LiteLLM's own proxy.

The proxy runs as its users run it, with a configuration file that names the
hooks.  Behind it is an HTTP server that streams raw text as an OpenAI-compatible
server without parsers does; before it is the client of OpenAI.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import random
import re
import secrets
import socket
import subprocess
import sys
import threading
import time

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytest.importorskip("litellm")
sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import openai  # noqa: E402
import uvicorn  # noqa: E402
from fastapi import FastAPI, Request  # noqa: E402
from fastapi.responses import JSONResponse, StreamingResponse  # noqa: E402
from recorded import ROOT, expected_of, message_of, vectors  # noqa: E402

PAGES = ROOT / "docs" / "guide"

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


# The prefix of a response belongs to a model, so that each pair is one.
PAIRS = sorted({(case["family"], case.get("prefix") or "") for case in vectors()})


def model_of(family, prefix):
    return f"recorded_{PAIRS.index((family, prefix))}"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# ---- A server that writes raw text.  The user's message says what.


def body_of(delta, finish, key="delta", index=0):
    return {
        "id": "c",
        "object": "chat.completion.chunk" if key == "delta" else "chat.completion",
        "created": 1,
        "model": "raw",
        "choices": [{"index": index, key: delta, "finish_reason": finish}],
    }


def delta_of(piece):
    return piece if isinstance(piece, dict) else {"content": piece}


def upstream():
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def completions(request: Request):
        asked = await request.json()
        said = json.loads(asked["messages"][-1]["content"])
        usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": ""}
            for one in said["pieces"]:
                for key, text in delta_of(one).items():
                    message[key] = message.get(key, "") + text
            body = body_of(
                message,
                said["finish"] or "stop",
                "message",
            )
            return JSONResponse({**body, "usage": usage})

        async def events():
            first = {"role": "assistant", "content": ""}
            bodies = [body_of(first, None)]
            bodies += [body_of(delta_of(one), None) for one in said["pieces"]]
            if said["finish"]:
                bodies.append(body_of({}, said["finish"]))
            for one in bodies:
                yield f"data: {json.dumps(one)}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    return app


@pytest.fixture(scope="module")
def server():
    """The address of the server that writes raw text."""
    port = free_port()
    one = uvicorn.Server(uvicorn.Config(upstream(), port=port, log_level="warning"))
    thread = threading.Thread(target=one.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}/v1"
    one.should_exit = True
    thread.join()


@contextlib.contextmanager
def proxy(folder):
    """Runs the proxy on the files of a folder; yields a client."""
    port = free_port()
    key = "sk-" + secrets.token_hex(32)
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": key,
    }
    log = folder / "log"
    with open(log, "w") as file:
        process = subprocess.Popen(
            [
                os.path.join(os.path.dirname(sys.executable), "litellm"),
                *("--config", str(folder / "config.yaml")),
                *("--host", "127.0.0.1", "--port", str(port)),
            ],
            stdout=file,
            stderr=file,
            cwd=folder,
            env=environment,
        )
    try:
        for _ in range(600):
            assert process.poll() is None, log.read_text()[-3000:]
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    break
            except OSError:
                time.sleep(0.2)
        else:
            raise AssertionError(log.read_text()[-3000:])
        yield openai.AsyncOpenAI(
            base_url=f"http://127.0.0.1:{port}/v1", api_key=key, max_retries=0
        )
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def client(tmp_path_factory, server):
    folder = tmp_path_factory.mktemp("proxy")
    formats = {"qwen3": "qwen3", "qwen3_thinking": "qwen3"}
    prefixes = {"qwen3_thinking": "<think>\n"}
    for family, prefix in PAIRS:
        formats[model_of(family, prefix)] = family
        prefixes[model_of(family, prefix)] = prefix
    (folder / "parlance_parser.py").write_text(
        "from parlance.integrations.litellm import response_parser\n"
        f"parser = response_parser({formats!r}, prefixes={prefixes!r})\n"
    )
    models = [
        {
            "model_name": name,
            "litellm_params": {
                "model": "openai/raw",
                "api_base": server,
                "api_key": "none",
            },
        }
        for name in [*formats, "plain"]
    ]
    settings = {"callbacks": ["parlance_parser.parser"]}
    (folder / "config.yaml").write_text(
        json.dumps({"model_list": models, "litellm_settings": settings})
    )
    with proxy(folder) as made:
        yield made


_loop = asyncio.new_event_loop()


def ask(client, model, pieces, *, finish="stop", stream=False, **more):
    return _loop.run_until_complete(
        _ask(client, model, pieces, finish, stream, more)
    )


async def _ask(client, model, pieces, finish, stream, more):
    said = json.dumps({"pieces": pieces, "finish": finish})
    messages = [{"role": "user", "content": said}]
    made = await client.chat.completions.create(
        model=model, messages=messages, stream=stream, **more
    )
    if not stream:
        (choice,) = made.choices
        message = choice.message
        calls = [
            [one.function.name, one.function.arguments]
            for one in message.tool_calls or ()
        ]
        reasoning = getattr(message, "reasoning_content", None) or None
        return reasoning, message.content or None, calls, choice.finish_reason
    reasoning, content, calls, ids, reason = "", "", [], set(), None
    async for chunk in made:
        for choice in chunk.choices:
            delta = choice.delta
            reasoning += getattr(delta, "reasoning_content", None) or ""
            content += delta.content or ""
            for one in delta.tool_calls or ():
                if one.index == len(calls):
                    calls.append([one.function.name, ""])
                    assert one.id and one.id not in ids
                    ids.add(one.id)
                else:
                    assert not one.id and not one.function.name
                calls[one.index][1] += one.function.arguments or ""
            reason = choice.finish_reason or reason
    return reasoning or None, content or None, calls, reason


def cut(text, random_):
    pieces = []
    while text:
        count = random_.choice([1, 2, 3, 5, 8, 20])
        pieces.append(text[:count])
        text = text[count:]
    return pieces


def test_messages(client):
    raw = f"<think>\nhm\n</think>\n\nHi\n{CALL}"
    expected = ("hm", "Hi", ["get_weather", '{"city": "Oslo"}'])
    for model, text in (("qwen3", raw), ("qwen3_thinking", raw.removeprefix("<think>\n"))):
        for stream in (False, True):
            pieces = list(text) if stream else [text]
            got = ask(client, model, pieces, stream=stream, tools=[WEATHER])
            assert (got[0].strip(), got[1].strip(), got[2][0]) == expected
            assert got[3] == "tool_calls"
            got = ask(client, model, pieces, stream=stream)
            assert got[0].strip() == "hm" and CALL in got[1] and got[2:] == ([], "stop")
            got = ask(
                client, model, pieces, stream=stream, tools=[WEATHER], tool_choice="none"
            )
            assert CALL in got[1] and got[2:] == ([], "stop")


def test_the_example_of_the_guide(tmp_path, server):
    page = (PAGES / "litellm.md").read_text()
    (parser,) = re.findall(r"^```text\n(from .*?)^```$", page, re.M | re.S)
    (config,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    there = "http://127.0.0.1:8000/v1"
    assert there in config
    (tmp_path / "parlance_parser.py").write_text(parser)
    (tmp_path / "config.yaml").write_text(config.replace(there, server))
    with proxy(tmp_path) as client:
        for stream in (False, True):
            pieces = ["<think>hm</think>", CALL]
            got = ask(client, "my-model", pieces, stream=stream, tools=[WEATHER])
            assert got[0] == "hm" and got[3] == "tool_calls"
            assert got[2] == [["get_weather", '{"city": "Oslo"}']]


def test_other_models_are_left_alone(client):
    for stream in (False, True):
        got = ask(client, "plain", [CALL], stream=stream, tools=[WEATHER])
        assert got == (None, CALL, [], "stop")


def test_reasoning_that_the_server_took_out(client):
    """The text is then what follows the reasoning, whatever the prompt began."""
    pieces = [{"reasoning_content": "h"}, {"reasoning_content": "m"}, "Hi\n", CALL]
    for stream in (False, True):
        got = ask(client, "qwen3_thinking", pieces, stream=stream, tools=[WEATHER])
        assert (got[0], got[1].strip(), got[3]) == ("hm", "Hi", "tool_calls")
        assert got[2] == [["get_weather", '{"city": "Oslo"}']]


def test_calls_that_are_cut_off(client):
    pieces = list(CALL[:-20])
    for stream in (False, True):
        got = ask(client, "qwen3", pieces, finish="length", stream=stream, tools=[WEATHER])
        assert got[2] and got[3] == "length"
    # An upstream that just stops.
    got = ask(client, "qwen3", ["Hi <tool_"], finish=None, stream=True, tools=[WEATHER])
    assert got[1] == "Hi <tool_"


def test_arguments_stream_as_they_are_written(client):
    city = "Llanfairpwllgwyngyll" * 5
    text = CALL.replace("Oslo", city)

    async def run():
        said = json.dumps({"pieces": list(text), "finish": "stop"})
        made = await client.chat.completions.create(
            model="qwen3",
            messages=[{"role": "user", "content": said}],
            stream=True,
            tools=[WEATHER],
        )
        return [
            call.function.arguments
            async for chunk in made
            for choice in chunk.choices
            for call in choice.delta.tool_calls or ()
        ]

    pieces = _loop.run_until_complete(run())
    assert len(pieces) > 90 and json.loads("".join(pieces)) == {"city": city}


def test_recorded_streams(client):
    """Deltas of any cut, joined, are the recorded message; what is not streamed
    is, too."""
    random_ = random.Random(20)
    failures = []
    cases = [case for case in vectors() if case.get("tools")]
    for case in random_.sample(cases, min(200, len(cases))):
        accepted = [case["expected"], *case.get("accept", ())]
        if any(one.get("malformed") for one in accepted):
            continue
        wanted = [expected_of(one) for one in accepted]
        for stream in (False, True):
            got = ask(
                client,
                model_of(case["family"], case.get("prefix") or ""),
                cut(case["raw"], random_),
                stream=stream,
                tools=case["tools"],
            )
            if message_of(*got[:3]) not in wanted:
                failures.append((case["id"], stream, message_of(*got[:3]), wanted))
    for one in failures[:20]:
        print(*(str(part)[:300] for part in one), sep="\n    ")
    assert not failures, len(failures)
