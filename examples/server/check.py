"""SmolLM2 behind the server, asked by OpenAI's client, as a test.

    python examples/server/check.py MODEL.gguf

Four requests at once; each line says what came of one.
"""

import concurrent.futures
import os
import pathlib
import socket
import sys
import threading
import time

# See docs/examples/smollm2/__main__.py.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import openai  # noqa: E402
import pydantic  # noqa: E402
import uvicorn  # noqa: E402
from app import create_app  # noqa: E402
from smollm2 import served  # noqa: E402

MODEL = "smollm2-135m-instruct"


class City(pydantic.BaseModel):
    name: str
    country: str = pydantic.Field(max_length=30)


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "maxLength": 30},
                    "unit": {"enum": ["celsius", "fahrenheit"]},
                },
                "required": ["city", "unit"],
                "additionalProperties": False,
            },
        },
    }
]


def asked(text):
    return {
        "model": MODEL,
        "messages": [{"role": "user", "content": text}],
        "temperature": 0,
        "max_tokens": 60,
    }


def text(client):
    said = ""
    for chunk in client.chat.completions.create(
        **asked("Say hello in one short sentence."), stream=True
    ):
        said += chunk.choices[0].delta.content or ""
    assert said.strip()
    return said


def call(client):
    done = client.chat.completions.create(
        **asked("What is the weather in Paris?"),
        tools=TOOLS,
        tool_choice="required",
        parallel_tool_calls=False,
    )
    function = done.choices[0].message.tool_calls[0].function
    assert done.choices[0].finish_reason == "tool_calls"
    assert function.name == "get_weather"
    return function.arguments


def schema(client):
    done = client.chat.completions.parse(
        **asked("Which city is the capital of France?"), response_format=City
    )
    assert isinstance(done.choices[0].message.parsed, City)
    return done.choices[0].message.content


def responses(client):
    done = client.responses.parse(
        model=MODEL,
        input="Which city is the capital of Italy?",
        text_format=City,
        temperature=0,
        max_output_tokens=60,
    )
    assert isinstance(done.output_parsed, City)
    return done.output_text


def main(path):
    app = create_app(served(path, pathlib.Path(path).parent), rows=4)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.05)
    failed = False
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    with (
        openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client,
        concurrent.futures.ThreadPoolExecutor(4) as pool,
    ):
        asked = (text, call, schema, responses)
        results = [(one.__name__, pool.submit(one, client)) for one in asked]
        for name, result in results:
            try:
                print(f"ok      server {name}: {result.result()!r}", flush=True)
            except Exception as error:
                failed = True
                print(f"FAILED  server {name}: {error!r}", flush=True)
    server.should_exit = True
    thread.join()
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
