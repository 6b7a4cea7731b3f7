"""``patch`` in the classes of transformers: tokenizers, pipelines, ``serve``.

There is no torch here.  The handlers, generation managers, streamers and the
HTTP application of ``transformers serve`` are its own; the model is the script
of tests/support/script_model.py, and arrays are NumPy's.
"""

import asyncio
import contextlib
import importlib
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time
import types

import numpy as np
import openai
import parlance
import pydantic
import pytest
import tokenizers
import transformers
import uvicorn
from parlance.integrations import transformers as ours
from transformers import PreTrainedTokenizerFast

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "support"))

from script_model import END, MARKERS, ids_of, scores_of  # noqa: E402

TEMPLATE = {
    "start_anchor": "<|im_start|>assistant\n",
    "defaults": {"role": "assistant"},
    "fields": {
        "reasoning_content": {
            "open": "<think>",
            "close": "</think>",
            "content": "text",
        },
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|im_end|>", "content": "text"},
    },
}
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}"
    "<|im_start|>assistant\n{% endif %}"
)
PREFIX = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
WRITTEN = (
    "<think>Hm.</think>Hello."
    '<tool_call>{"name": "f", "arguments": {"a": "1"}}</tool_call><|im_end|>'
)
BROKEN = 'Hello.<tool_call>{"name": f}</tool_call><|im_end|>'
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
        },
    }
]


class Inputs(dict):
    def to(self, device):
        return self


class Tokenizer(PreTrainedTokenizerFast):
    """Arrays of NumPy in the place of tensors."""

    def apply_chat_template(self, messages, return_tensors=None, **options):
        kind = "np" if return_tensors == "pt" else return_tensors
        options.pop("load_audio_from_video", None)
        made = super().apply_chat_template(messages, return_tensors=kind, **options)
        return Inputs(made) if options.get("return_dict") else made


@pytest.fixture(scope="module")
def tokenizer():
    # The byte of id i is spelled as in GPT-2.
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    plain = {ord(c): c for c in alphabet if ord(c) < 256}
    others = iter(sorted(c for c in alphabet if ord(c) >= 256))
    spelled = {plain[i] if i in plain else next(others): i for i in range(256)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(spelled, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    made.decoder = tokenizers.decoders.ByteLevel()
    for text in MARKERS:
        token = tokenizers.AddedToken(
            text, special=text.startswith("<|"), normalized=False
        )
        (made.add_special_tokens if token.special else made.add_tokens)([token])
    out = Tokenizer(tokenizer_object=made, eos_token="<|im_end|>")
    out.chat_template = CHAT_TEMPLATE
    out.response_template = TEMPLATE
    assert out.encode("é" + WRITTEN) == ids_of("é" + WRITTEN)
    return out


@pytest.fixture(autouse=True)
def unpatched():
    yield
    ours.unpatch()


def places():
    return [
        getattr(importlib.import_module(module), name)
        for module, name, _ in ours._PLACES
    ]


def test_the_places():
    before = places()
    assert all(found.__module__.startswith("transformers.") for found in before)
    ours.patch()
    found = places()
    assert all(a is not b for a, b in zip(before, found))
    assert all(
        issubclass(c, parlance.ResponseParser) for c in found if isinstance(c, type)
    )
    ours.patch(recover=True)
    assert all(a is not b for a, b in zip(before, places()))
    ours.unpatch()
    assert places() == before
    ours.unpatch()
    assert places() == before


def test_a_module_that_is_imported_later():
    name = "transformers.cli.serving.utils"
    before = importlib.import_module(name)
    try:
        ours.patch()
        del sys.modules[name]
        later = importlib.import_module(name)
        assert issubclass(later.ResponseParser, parlance.ResponseParser)
        ours.unpatch()
        assert later.ResponseParser is before.ResponseParser
    finally:
        sys.modules[name] = before
        sys.modules["transformers.cli.serving"].utils = before


def test_it_is_used_nowhere_else():
    """Every module of transformers that names the parser is known."""
    folder = pathlib.Path(transformers.__file__).parent
    found = set()
    for path in folder.rglob("*.py"):
        inside = str(path.relative_to(folder))
        text = path.read_text(errors="replace")
        if "chat_parsing import" in text and "utils/chat_parsing" not in inside:
            found.add("transformers." + inside[:-3].replace("/", "."))
    assert found == {module for module, *_ in ours._PLACES[4:]}


def everything(tokenizer):
    """What transformers makes of a response, in every way that it has."""
    ids = tokenizer.encode(WRITTEN)
    parser = tokenizer.get_response_parser(prefix=tokenizer.encode(PREFIX), tools=TOOLS)
    events = list(parser.initial_events)
    for id in ids:
        events += parser.feed(tokenizer.decode([id]))
    events += parser.feed(None)
    events += parser.finalize()[1]
    keys = ("type", "field", "text", "dirty", "value")
    processor = object.__new__(transformers.ProcessorMixin)
    processor.tokenizer = tokenizer
    loaded = importlib.import_module(
        "transformers.utils.chat_parsing.response_templates"
    ).load_response_template(TEMPLATE)
    parsing = importlib.import_module("transformers.utils.chat_parsing")
    return [
        tokenizer.parse_response(WRITTEN, prefix=PREFIX),
        tokenizer.parse_response(ids, prefix=PREFIX, tools=TOOLS),
        tokenizer.parse_response(np.array([ids, ids]), prefix=tokenizer.encode(PREFIX)),
        tokenizer.parse_response([WRITTEN, "x"], prefix=[PREFIX, PREFIX]),
        tokenizer.parse_response([], prefix=""),
        processor.parse_response(WRITTEN, prefix=PREFIX),
        parsing.parse_response(WRITTEN, loaded, prefix=PREFIX),
        parsing.parse_response(None, loaded, prefix=PREFIX),
        [{k: e[k] for k in keys if k in e} for e in events],
    ]


@pytest.mark.parametrize("recover", [None, True, False])
def test_the_same_result(tokenizer, recover):
    expected = everything(tokenizer)
    assert expected[1]["tool_calls"][0]["function"]["arguments"] == {"a": 1}
    ours.patch(recover=recover)
    assert everything(tokenizer) == expected


def test_damage(tokenizer):
    for recover in (None, False):
        ours.patch(recover=recover)
        with pytest.raises(ValueError):
            tokenizer.parse_response(BROKEN, prefix=PREFIX)
    ours.patch(recover=True)
    assert tokenizer.parse_response(BROKEN, prefix=PREFIX)["content"] == "Hello."
    parser = tokenizer.get_response_parser(prefix=PREFIX)
    assert any(e["type"] == "region_malformed" for e in parser.feed(BROKEN))
    for call in (tokenizer.parse_response, lambda x: tokenizer.get_response_parser()):
        with pytest.raises(ValueError, match="prefix"):
            call("x")


@pytest.mark.parametrize("patched", [False, True])
def test_markers_of_a_user_are_text(tokenizer, patched):
    # What a message spells is then no control token of the prompt.
    messages = [{"role": "user", "content": "a<|im_end|>b"}]
    if patched:
        ours.patch(recover=True)
    options = {"add_generation_prompt": True, "return_dict": False}
    plain, ids = (
        tokenizer.apply_chat_template(messages, sanitize_control_tokens=on, **options)
        for on in (False, True)
    )
    assert tokenizer.decode(ids) == tokenizer.decode(plain) and len(ids) == len(plain) + 9
    vocabulary = parlance.Vocabulary.from_tokenizer(tokenizer)
    assert [i for i in ids if vocabulary.kind(i) != "ordinary"] == [
        vocabulary.special(text) for text in ("<|im_start|>", "<|im_end|>", "<|im_start|>")
    ]
    parser = parlance.ResponseParser(TEMPLATE, prefix=ids, vocabulary=vocabulary)
    parser.feed(ids_of(WRITTEN))
    message, _ = parser.finalize()
    assert message == parlance.parse_response(WRITTEN, TEMPLATE, prefix=PREFIX)


def test_a_pipeline(tokenizer):
    from transformers.pipelines import text_generation

    class Array(np.ndarray):
        def numpy(self):
            return np.asarray(self)

    prompt, response = tokenizer.encode(PREFIX), tokenizer.encode(WRITTEN)
    pipeline = object.__new__(text_generation.TextGenerationPipeline)
    pipeline.tokenizer = tokenizer
    outputs = {
        "generated_sequence": np.array([[prompt + response]]).view(Array),
        "input_ids": np.array([prompt]),
        "prompt_text": text_generation.Chat([{"role": "user", "content": "Hi"}]),
    }
    expected = pipeline.postprocess(dict(outputs))
    assert expected[0]["generated_text"][-1]["tool_calls"]
    ours.patch()
    assert pipeline.postprocess(dict(outputs)) == expected


@pytest.mark.parametrize("continuous", [False, True])
def test_the_streamers(tokenizer, continuous):
    from transformers.cli.serving import utils

    model = types.SimpleNamespace(config=types.SimpleNamespace(model_type="script"))

    async def items(text):
        queue = asyncio.Queue()
        prompt = tokenizer.encode(PREFIX)
        parser = utils.build_response_parser(tokenizer, model, prompt, TOOLS)
        common = (asyncio.get_running_loop(), queue, parser)
        if continuous:
            streamer = utils.CBStreamer(None, "r", tokenizer._tokenizer, *common)
        else:
            streamer = utils.DirectStreamer(tokenizer._tokenizer, *common)
            streamer.put(np.array(prompt))
        out = types.SimpleNamespace(generated_tokens=[])
        for id in tokenizer.encode(text):
            out.generated_tokens = [*out.generated_tokens, id]
            streamer.put(out if continuous else np.array([id]))
        streamer.end()
        found = []
        while (item := await queue.get()) is not None:
            if found and type(item) is type(found[-1]) and isinstance(item, str):
                found[-1] = type(item)(found[-1] + item)
            else:
                found.append(item)
        return found

    expected = asyncio.run(items(WRITTEN))
    assert [type(i).__name__ for i in expected] == ["ReasoningText", "str", "ToolCall"]
    with pytest.raises(ValueError):  # a broken call kills the stream
        asyncio.run(items(BROKEN))
    ours.patch(recover=True)
    assert asyncio.run(items(WRITTEN)) == expected
    assert asyncio.run(items(BROKEN)) == ["Hello."]


def test_decoding_in_the_streamers(tokenizer):
    """The pieces are those of DecodeStream, whatever ids come."""
    from tokenizers.decoders import DecodeStream

    backend = tokenizer._tokenizer
    assert ours._is_byte_level(backend)
    texts = ours._texts_of(backend)
    assert ours._texts_of(backend) is texts
    # Tokens that end within a character are rare among all.
    parts = [i for i in range(len(tokenizer)) if "\ufffd" in tokenizer.decode([i])]
    assert parts
    random = np.random.default_rng(11)
    for _ in range(300):
        theirs, own = DecodeStream([], skip_special_tokens=False), ours._Decoder(texts)
        for _ in range(40):
            some = parts if random.random() < 0.3 else range(len(tokenizer))
            token = int(random.choice(some))
            assert own.step(backend, token) == theirs.step(backend, token)
        for token in tokenizer.encode("\N{GRINNING FACE}\ufffd日本\ufffd"):
            assert own.step(backend, token) == theirs.step(backend, token)


# ---- serve


class Model:
    """What the handlers and the generation managers use of a model."""

    device = "cpu"
    config = types.SimpleNamespace(model_type="script")

    def __init__(self):
        self.generation_config = transformers.GenerationConfig(
            eos_token_id=END, max_new_tokens=1024
        )
        self.constrained = []

    def generate(
        self, input_ids, generation_config, streamer=None, logits_processor=(), **_
    ):
        self.constrained.append(bool(logits_processor))
        ids = np.asarray(input_ids)
        if streamer:
            streamer.put(ids)
        for _ in range(generation_config.max_new_tokens):
            scores = scores_of(ids[0].tolist())[None]
            for process in logits_processor:
                scores = process(ids, scores)
            token = scores.argmax(axis=-1)
            ids = np.concatenate([ids, token[None]], axis=1)
            if streamer:
                streamer.put(token)
            if token[0] == generation_config.eos_token_id:
                break
        if streamer:
            streamer.end()
        return ids


@pytest.fixture(scope="module")
def server(tokenizer):
    from transformers.cli.serving import server as serving
    from transformers.cli.serving.chat_completion import ChatCompletionHandler
    from transformers.cli.serving.response import ResponseHandler
    from transformers.cli.serving.utils import GenerationState, Modality

    model = Model()
    manager = types.SimpleNamespace(
        force_model=None,
        process_model_name=lambda name: name,
        load_model_and_processor=lambda name, gguf_file=None: (model, tokenizer),
        get_model_modality=lambda model, processor=None: Modality.LLM,
        shutdown=lambda: None,
    )
    state = GenerationState()
    app = serving.build_server(
        manager,
        ChatCompletionHandler(manager, state),
        None,
        ResponseHandler(manager, state),
        None,
        None,
        state,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    server.base = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    server.model = model
    yield server
    server.should_exit = True
    thread.join()


@pytest.fixture
def client(server):
    ours.patch(recover=True, serve=True)
    with openai.OpenAI(base_url=server.base, api_key="none", max_retries=0) as made:
        yield made


FUNCTIONS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "maxLength": 20}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }
    for name in ("weather", "time")
]
FLAT = [{"type": "function", **tool["function"]} for tool in FUNCTIONS]


def user(text):
    return [{"role": "user", "content": "write: " + text}]


def call(name):
    return (
        f'<tool_call>{{"name": "{name}", "arguments": {{"city": "Bonn"}}}}</tool_call>'
    )


def ask(client, text, **options):
    return client.chat.completions.create(model="m", messages=user(text), **options)


class City(pydantic.BaseModel):
    name: str = pydantic.Field(max_length=20)
    people: int


def test_serve(server, client):
    done = ask(client, "Hello.")
    assert done.choices[0].message.content == "Hello."
    assert server.model.constrained[-1] is False
    parts = [
        c.choices[0].delta for c in ask(client, "One. " + call("time"), stream=True)
    ]
    assert "".join(d.content or "" for d in parts).strip() == "One."
    assert [c.function.name for d in parts for c in d.tool_calls or ()] == ["time"]


NAMED = {"type": "function", "function": {"name": "time"}}
ALLOWED = {
    "type": "allowed_tools",
    "allowed_tools": {"mode": "required", "tools": [NAMED]},
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "text, options, names",
    [
        (call("weather"), {"tool_choice": "none"}, []),
        ("Hello.", {"tool_choice": "required"}, ["weather", "time"]),
        (call("weather"), {"tool_choice": NAMED}, ["time"]),
        (call("weather"), {"tool_choice": ALLOWED}, ["time"]),
        (call("time") + call("time"), {"parallel_tool_calls": False}, ["time"]),
    ],
)
def test_serve_tool_choice(server, client, text, options, names, stream):
    found = ask(client, text, tools=FUNCTIONS, stream=stream, max_tokens=200, **options)
    messages = (
        [c.choices[0].delta for c in found] if stream else [found.choices[0].message]
    )
    calls = [c for m in messages for c in m.tool_calls or ()]
    assert server.model.constrained[-1] is True
    assert len(calls) == bool(names)
    for one in calls:
        assert one.function.name in names
        assert list(json.loads(one.function.arguments)) == ["city"]


def test_serve_response_format(client):
    done = client.chat.completions.parse(
        model="m",
        messages=user('{"name": "Bonn", "people": 3x3}'),
        response_format=City,
    )
    assert done.choices[0].message.parsed == City(name="Bonn", people=33)
    for text in ('{"name": "Bonn", "people": 1}', call("time")):
        done = client.chat.completions.parse(
            model="m",
            messages=user(text),
            response_format=City,
            tools=strict(FUNCTIONS),
        )
        message = done.choices[0].message
        assert bool(message.tool_calls) != (message.parsed is not None)


def strict(tools):
    return [
        {**tool, "function": {**tool["function"], "strict": True}} for tool in tools
    ]


def test_serve_responses(client):
    done = client.responses.parse(
        model="m",
        input='write: {"name": "Bonn", "people": 1}',
        text_format=City,
        stream=False,
    )
    assert done.output_parsed == City(name="Bonn", people=1)
    for choice, name in (
        ({"type": "function", "name": "time"}, "time"),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "time"}],
            },
            "time",
        ),
    ):
        events = client.responses.create(
            model="m",
            input="write: " + call("weather"),
            tools=FLAT,
            tool_choice=choice,
            parallel_tool_calls=False,
            stream=True,
            max_output_tokens=200,
        )
        last = list(events)[-1].response
        assert [i.name for i in last.output if i.type == "function_call"] == [name]


def test_serve_refuses(server, client, tokenizer):
    for options, pointer in (
        (
            {
                "tools": FUNCTIONS,
                "tool_choice": {"type": "function", "function": {"name": "fly"}},
            },
            "/tool_choice/function/name",
        ),
        ({"tool_choice": "required"}, "/tool_choice"),
        ({"response_format": {"type": "json_schema"}}, "/response_format"),
    ):
        for stream in (False, True):
            with pytest.raises(openai.BadRequestError) as caught:
                ask(client, "x", stream=stream, **options)
            detail = caught.value.response.json()["detail"]
            assert detail["param"].startswith(pointer) and detail["message"]
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(
            model="m",
            input="x",
            stream=False,
            tools=FLAT,
            tool_choice={
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "fly"}],
            },
        )
    assert (
        caught.value.response.json()["detail"]["param"] == "/tool_choice/tools/0/name"
    )


@contextlib.contextmanager
def having(tokenizer, template):
    tokenizer.response_template = template
    try:
        yield
    finally:
        tokenizer.response_template = TEMPLATE


def forced(client):
    done = ask(client, "x", tools=FUNCTIONS, tool_choice="required", max_tokens=200)
    return done.choices[0].message.tool_calls[0].function.name


def test_serve_without_a_template(client, tokenizer):
    # The format is found by the tokenizer.
    with having(tokenizer, None):
        assert forced(client) in ("weather", "time")
        said = ask(client, "Hi." + call("time")).choices[0].message
        assert said.content == "Hi." + call("time") and not said.tool_calls
        # It is also given.
        ours.patch(recover=True, serve=True, default="hermes")
        assert forced(client) in ("weather", "time")
        said = ask(client, "Hi." + call("time")).choices[0].message
        assert said.content.strip() == "Hi." and len(said.tool_calls) == 1


def test_serve_with_a_template_that_cannot_be_inverted(client, tokenizer, monkeypatch):
    fields = {
        **TEMPLATE["fields"],
        "tool_calls": {**TEMPLATE["fields"]["tool_calls"], "transform": "{content}"},
    }
    with having(tokenizer, {**TEMPLATE, "fields": fields}):
        assert forced(client) in ("weather", "time")
        found = importlib.import_module("parlance.integrations._transformers_serve")
        monkeypatch.setattr(found, "_detected", lambda tokenizer: None)
        with pytest.raises(openai.BadRequestError) as caught:
            forced(client)
        assert "--format" in caught.value.response.json()["detail"]["message"]


def test_continuous_batching_is_refused():
    from fastapi import HTTPException
    from parlance.integrations import _transformers_serve
    from transformers.cli.serving.utils import CBGenerateManager

    ours.patch(serve=True)
    body = {"tools": TOOLS, "tool_choice": "required"}

    async def one():
        _transformers_serve._request.set(_transformers_serve._chat_request(body))
        manager = CBGenerateManager()
        with pytest.raises(HTTPException, match="continuous batching"):
            manager.generate_streaming(None, None, {}, None, request_id="r")
        with pytest.raises(HTTPException, match="continuous batching"):
            await manager.generate_non_streaming(None, None, {}, None, request_id="r")

    asyncio.run(one())


def test_unpatched_serve_ignores_them(server):
    with openai.OpenAI(base_url=server.base, api_key="none", max_retries=0) as client:
        done = ask(client, "Hello.", tools=FUNCTIONS, tool_choice="required")
        assert done.choices[0].message.content == "Hello."
        assert server.model.constrained[-1] is False


@pytest.mark.parametrize(
    "types",
    list(
        __import__(
            "transformers.cli.serving.utils", fromlist=["x"]
        )._RESPONSE_TEMPLATE_FALLBACKS
    ),
)
def test_the_templates_of_serve_can_be_constrained(types):
    from transformers.cli.serving.utils import _RESPONSE_TEMPLATE_FALLBACKS

    format = parlance.Format(_RESPONSE_TEMPLATE_FALLBACKS[types])
    for choice in ("auto", "required", "none"):
        format.structural_tag(FUNCTIONS, tool_choice=choice).grammar()
    format.structural_tag(response_format={"type": "json_object"}).grammar()


def test_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "parlance.integrations.transformers", "serve", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "force_model" in done.stdout.lower() or "serve" in done.stdout


def test_what_patch_refuses():
    with pytest.raises(parlance.TemplateError):
        ours.patch(default="no such format")
    before = places()
    assert all(found.__module__.startswith("transformers.") for found in before)
