"""The plug-in for SGLang inside SGLang's own classes.

``scripts/test engines`` runs it with the Python of an environment that has SGLang
and this package.  Nothing of SGLang is replaced but ``generate_request`` of its
``TokenizerManager``, which hands out what a script writes instead of what a
scheduler sends: plug-in loading, registries, server arguments, requests, the
chat endpoint and its streams are SGLang's.  There is no GPU and no model.
"""

import asyncio
import json
import os
import pathlib
import random
import subprocess
import sys

import numpy
import parlance
import pytest

pytest.importorskip("sglang")
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from recorded import (  # noqa: E402
    expected_of,
    marks_of,
    message_of,
    tokenizer_of,
    vectors,
)
from sglang.srt.entrypoints.openai.protocol import (  # noqa: E402
    ChatCompletionRequest,
)
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat  # noqa: E402
from sglang.srt.environ import envs  # noqa: E402
from sglang.srt.function_call.function_call_parser import (  # noqa: E402
    FunctionCallParser,
)
from sglang.srt.managers.tokenizer_manager import TokenizerManager  # noqa: E402
from sglang.srt.parser.reasoning_parser import ReasoningParser  # noqa: E402
from sglang.srt.parser.template_manager import TemplateManager  # noqa: E402
from sglang.srt.plugins import load_plugins  # noqa: E402
from sglang.srt.runtime_context import get_context, publish  # noqa: E402
from sglang.srt.server_args import (  # noqa: E402
    GRAMMAR_BACKEND_CHOICES,
    PortArgs,
    ServerArgs,
)

load_plugins()

QWEN = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_start|>", "<|im_end|>")
PROMPT = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
    "{% endfor %}<|im_start|>assistant\n"
)
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


def call(name, arguments):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


# ---- A server without an engine.


def write_model(path):
    """A model's folder: a configuration and a tokenizer."""
    tokenizer = tokenizer_of(QWEN)
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(path)
    configuration = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "vocab_size": 512,  # more than the tokenizer has, as in many models
        "max_position_embeddings": 4096,
        "torch_dtype": "float16",
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "bos_token_id": tokenizer.eos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    (path / "config.json").write_text(json.dumps(configuration))


class Server:
    """SGLang's tokenizer manager, and its chat endpoint."""

    def __init__(self, folder):
        write_model(folder)
        self.args = ServerArgs(
            model_path=str(folder), device="cpu", grammar_backend="parlance"
        )
        self.args.resolve_once()
        publish(self.args, role="tokenizer")
        self.loop = asyncio.new_event_loop()
        self.templates = TemplateManager()
        self.manager = self.loop.run_until_complete(self._new_manager())
        self.templates.initialize_templates(self.manager, str(folder))
        self.manager.generate_request = self._generate
        self._steps = ()

    async def _new_manager(self):
        return TokenizerManager(self.args, PortArgs.init_new(self.args))

    async def _generate(self, adapted, raw_request=None):
        text = ""
        for step, reason in self._steps:
            text += step
            if adapted.stream or reason:
                finish = reason and {"type": reason, "matched": None}
                info = {"id": "r", "prompt_tokens": 1, "completion_tokens": 1}
                info["weight_version"] = "default"
                yield {
                    "text": text,
                    "output_ids": [1],
                    "meta_info": {**info, "finish_reason": finish},
                    "index": 0,
                }

    def endpoint(self, tools, reasoning, backend="parlance", tokenizer=None):
        get_context().override(
            "tests",
            tool_call_parser=tools,
            reasoning_parser=reasoning,
            grammar_backend=backend,
        )
        self.manager.tokenizer = tokenizer or tokenizer_of(QWEN)
        self.manager.tokenizer.chat_template = CHAT_TEMPLATE
        return OpenAIServingChat(self.manager, self.templates)

    def ask(self, endpoint, request, pieces, reason="stop"):
        """What a client gets: a message and a finish reason."""
        reasons = [None] * (len(pieces) - 1) + [reason]
        self._steps = list(zip(pieces, reasons))
        return self.loop.run_until_complete(self._ask(endpoint, request))

    async def _ask(self, endpoint, request):
        response = await endpoint.handle_request(request, None)
        if not request.stream:
            body = json.loads(
                response.body if hasattr(response, "body") else response.model_dump_json()
            )
            if "choices" not in body:
                return body
            (choice,) = body["choices"]
            message = choice["message"]
            calls = [
                [one["function"]["name"], one["function"]["arguments"]]
                for one in message.get("tool_calls") or ()
            ]
            return (
                message.get("reasoning_content") or None,
                message.get("content") or None,
                calls,
                choice["finish_reason"],
            )
        reasoning, content, calls, ids, finish = "", "", [], set(), None
        async for line in response.body_iterator:
            if not line.startswith("data: {"):
                continue
            body = json.loads(line[6:])
            for choice in body["choices"]:
                delta = choice["delta"]
                reasoning += delta.get("reasoning_content") or ""
                content += delta.get("content") or ""
                for one in delta.get("tool_calls") or ():
                    function = one["function"]
                    if one["index"] == len(calls):
                        calls.append([function["name"], ""])
                        assert one["id"] not in ids
                        ids.add(one["id"])
                    else:
                        assert not one["id"] and not function["name"]
                    calls[one["index"]][1] += function["arguments"] or ""
                finish = choice["finish_reason"] or finish
        return reasoning or None, content or None, calls, finish


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return Server(tmp_path_factory.mktemp("model"))


def request_of(tools=None, **more):
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **more}
    if tools:
        body["tools"] = tools
    return ChatCompletionRequest.model_validate(body)


def cut(text, random_):
    pieces = [""]
    while text:
        count = random_.choice([1, 1, 2, 3, 5, 8, 20])
        pieces.append(text[:count])
        text = text[count:]
    if random_.random() < 0.5:
        pieces.append("")  # the last step of a stop token has no text
    return pieces


# ---- Registration.


def families(field):
    return [
        one
        for family in parlance.formats()
        if field in parlance.Format(family).fields
        for one in (family, *parlance.Format(family).variants)
    ]


def test_entry_point_registers_every_family():
    calls = families("tool_calls")
    assert len(calls) > 50
    assert {"parlance", *("parlance_" + one for one in calls)} == {
        name for name in FunctionCallParser.ToolCallParserEnum if "parlance" in name
    }
    for one in calls:
        assert FunctionCallParser([], "parlance_" + one).detector.family == one
        assert ReasoningParser("parlance_" + one).detector.family == one
    assert "parlance" in GRAMMAR_BACKEND_CHOICES


def test_names_are_choices_of_the_command_line():
    code = (
        "from sglang.srt.plugins import load_plugins; load_plugins()\n"
        "import argparse\n"
        "from sglang.srt.server_args import ServerArgs\n"
        "parser = argparse.ArgumentParser()\n"
        "ServerArgs.add_cli_args(parser)\n"
        "args = parser.parse_args(['--model-path', 'm', '--tool-call-parser',\n"
        "  'parlance_glm4_5', '--reasoning-parser', 'parlance', '--grammar-backend',\n"
        "  'parlance'])\n"
        "print(args.tool_call_parser, args.reasoning_parser, args.grammar_backend)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["parlance_glm4_5", "parlance", "parlance"]


def test_importing_the_module_imports_nothing_of_sglang():
    code = (
        "import sys, parlance.integrations.sglang as ours\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] == 'sglang'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_family_is_detected():
    tokenizer = tokenizer_of(QWEN)
    tokenizer.response_template = parlance.Format("qwen3").template
    try:
        parser = ReasoningParser("parlance", tokenizer=tokenizer)
        assert parser.detector.think_end_token == "</think>"
    finally:
        del tokenizer.response_template
    with pytest.raises(ValueError, match="parlance_qwen3"):
        ReasoningParser("parlance", tokenizer=tokenizer_of(("<other>",)))


# ---- Recorded streams.


@pytest.mark.parametrize("reasoning", [True, False], ids=["both", "calls"])
def test_recorded_streams(server, reasoning):
    """Deltas of any cut, joined, are the message that is not streamed, which is
    the recorded one."""
    random_ = random.Random(20)
    failures = []
    endpoints = {}
    for case in vectors():
        family = case["family"]
        name = "parlance_" + family
        tokenizer = tokenizer_of(marks_of(family, case["raw"], case.get("prefix") or ""))
        endpoint = server.endpoint(name, name if reasoning else None, tokenizer=tokenizer)
        ids = tokenizer.encode(case.get("prefix") or "", add_special_tokens=False)
        tools = case.get("tools")
        body = {"input_ids": ids}
        with envs.SGLANG_FORWARD_UNKNOWN_TOOLS.override(True):
            whole = server.ask(endpoint, request_of(tools, **body), [case["raw"]])
            for _ in range(2):
                pieces = cut(case["raw"], random_)
                got = server.ask(
                    endpoint, request_of(tools, stream=True, **body), pieces
                )
                if got[:3] != whole[:3]:
                    failures.append((case["id"], got, whole))
        accepted = [case["expected"], *case.get("accept", ())]
        if (
            not reasoning
            or not tools  # SGLang reads no calls then
            or any(one.get("malformed") for one in accepted)
        ):
            continue
        message = message_of(*whole[:3])
        if message not in [expected_of(one) for one in accepted]:
            failures.append((case["id"], message, accepted))
    for one in failures[:20]:
        print(*one, sep="\n    ")
    assert not failures, len(failures)


def test_delimiters_in_an_answer_stay_where_they_are(server):
    """What the first parser leaves is read as if nothing had been taken out."""
    name = "parlance_cohere_command"
    endpoint = server.endpoint(name, name)
    quoted = 'I write <|START_ACTION|>[{"tool_name": "get_weather"}]<|END_ACTION|> so'
    raw = (
        "<|START_THINKING|>hm<|END_THINKING|>"
        f"<|START_RESPONSE|>{quoted}<|END_RESPONSE|>"
    )
    for stream in (False, True):
        request = request_of([WEATHER], stream=stream)
        pieces = list(raw) if stream else [raw]
        assert server.ask(endpoint, request, pieces) == ("hm", quoted, [], "stop")


def test_calls_stream_as_they_are_written(server):
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3")
    request = request_of([WEATHER], stream=True)
    adapted, request = endpoint._convert_to_internal_request(request)
    assert adapted.sampling_params["skip_special_tokens"] is False
    parser = FunctionCallParser(
        [*request.tools], "parlance_qwen3", prefix=request._response_parser_prefix
    )
    city = "Llanfairpwllgwyngyll" * 5
    pieces = []
    for piece in call("get_weather", json.dumps({"city": city})):
        _, items = parser.parse_stream_chunk(piece)
        pieces += [item.parameters for item in items]
        assert all(item.tool_index == 0 for item in items)
    assert len(pieces) > 100
    assert json.loads("".join(pieces)) == {"city": city}
    assert parser.parse_stream_end() == ("", [])
    assert not parser.detector.incomplete_tool_call_indices


def test_calls_that_are_cut_off_are_incomplete(server):
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3")
    raw = call("get_weather", '{"city": "Oslo"}') + "\n" + call("get_weather", '{"ci')[:-14]
    got = server.ask(endpoint, request_of([WEATHER], stream=True), list(raw), "length")
    assert got[2] == [["get_weather", '{"city": "Oslo"}'], ["get_weather", '{"ci']]
    assert got[3] == "length"


def test_unknown_tools_are_left_out_as_sglang_does(server):
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3")
    raw = call("other", "{}") + "\n" + call("get_weather", '{"city": "Oslo"}')
    for stream in (False, True):
        request = request_of([WEATHER], stream=stream)
        got = server.ask(endpoint, request, list(raw) if stream else [raw])
        assert got[2] == [["get_weather", '{"city": "Oslo"}']]
        with envs.SGLANG_FORWARD_UNKNOWN_TOOLS.override(True):
            got = server.ask(endpoint, request, list(raw) if stream else [raw])
        assert [name for name, _ in got[2]] == ["other", "get_weather"]
        assert got[3] == "tool_calls"


def test_options_of_requests(server):
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3")
    raw = "<think>\nhm\n</think>\n\nHi"
    for stream in (False, True):
        pieces = list(raw) if stream else [raw]
        request = request_of(stream=stream, separate_reasoning=False)
        assert server.ask(endpoint, request, pieces)[:2] == (None, raw)
        request = request_of(stream=stream, stream_reasoning=False)
        assert server.ask(endpoint, request, pieces)[:2] == ("hm", "Hi")
        options = {"chat_template_kwargs": {"force_nonempty_content": True}}
        request = request_of(stream=stream, **options)
        assert server.ask(endpoint, request, pieces)[:2] == ("hm", "Hi")
        only = "<think>\nhm\n</think>"
        pieces = list(only) if stream else [only]
        assert server.ask(endpoint, request, pieces)[:2] == (None, "hm")
        request = request_of([WEATHER], stream=stream, tool_choice="none")
        raw_call = call("get_weather", "{}")
        pieces = list(raw_call) if stream else [raw_call]
        assert server.ask(endpoint, request, pieces)[1:3] == (raw_call, [])


@pytest.mark.parametrize("tools", ["parlance_qwen3", "qwen25", None])
@pytest.mark.parametrize("reasoning", ["parlance_qwen3", "qwen3", None])
def test_parsers_can_be_combined_with_sglangs(server, tools, reasoning):
    endpoint = server.endpoint(tools, reasoning)
    raw = "<think>\nhm\n</think>\n\nHi\n" + call("get_weather", '{"city": "Oslo"}')
    for stream in (False, True):
        request = request_of([WEATHER], stream=stream)
        pieces = cut(raw, random.Random(1)) if stream else [raw]
        got = server.ask(endpoint, request, pieces)
        assert (got[0] or "").strip() == ("hm" if reasoning else "")
        if tools != "qwen25":
            assert "Hi" in got[1] and ("</think>" in got[1]) == (not reasoning)
            assert ("<tool_call>" in got[1]) == (not tools)
        if tools:
            ((name, arguments),) = got[2]
            assert name == "get_weather" and json.loads(arguments) == {"city": "Oslo"}


# ---- What a request asks for.


def tag_of(endpoint, request):
    adapted, request = endpoint._convert_to_internal_request(request)
    params = adapted.sampling_params
    assert not (params.get("structural_tag") and params.get("json_schema"))
    return params.get("structural_tag")


def accepts(tag, text):
    return parlance.Grammar.from_structural_tag(tag).accepts(text)


def test_forced_calls_are_tags_in_the_familys_syntax(server):
    one = call("get_weather", '{"city": "Oslo"}')
    wrong = call("get_weather", '{"city": 1}')
    for reasoning in ("parlance_qwen3", "qwen3", None):
        endpoint = server.endpoint("parlance_qwen3", reasoning)
        named = {"type": "function", "function": {"name": "get_weather"}}
        for choice in ("required", named):
            tag = tag_of(endpoint, request_of([WEATHER], tool_choice=choice))
            assert accepts(tag, one) and accepts(tag, "<think>\nhm\n</think>\n\n" + one)
            assert not accepts(tag, wrong) and not accepts(tag, "Hello")
        tag = tag_of(endpoint, request_of([WEATHER], parallel_tool_calls=False))
        assert accepts(tag, "Hello") and accepts(tag, one)
        assert not accepts(tag, one + "\n" + one)
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3")
    assert tag_of(endpoint, request_of([WEATHER])) is None
    strict = json.loads(json.dumps(WEATHER))
    strict["function"]["strict"] = True
    assert not accepts(tag_of(endpoint, request_of([strict])), wrong)
    with envs.SGLANG_TOOL_STRICT_LEVEL.override(1):
        assert not accepts(tag_of(endpoint, request_of([WEATHER])), wrong)


def test_answers_by_schema_and_calls_are_one_tag(server):
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3")
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"const": 1}}}
    request = request_of([WEATHER], response_format=wanted)
    tag = tag_of(endpoint, request)
    one = call("get_weather", '{"city": "Oslo"}')
    assert accepts(tag, "1") and accepts(tag, "<think>\nhm\n</think>\n\n1")
    assert accepts(tag, one) and not accepts(tag, "Hello")
    for raw, expected in (
        ("<think>\nhm\n</think>\n\n1", ("hm", "1", [], "stop")),
        (one, (None, None, [["get_weather", '{"city": "Oslo"}']], "tool_calls")),
    ):
        assert server.ask(endpoint, request, [raw]) == expected
        streamed = request.model_copy(update={"stream": True})
        assert server.ask(endpoint, streamed, list(raw)) == expected
    # The prompt opens the reasoning.
    ids = tokenizer_of(QWEN).encode(PROMPT + "<think>\n")
    tag = tag_of(endpoint, request_of(response_format=wanted, input_ids=ids))
    assert accepts(tag, "hm\n</think>\n\n1") and not accepts(tag, "1")
    # A pattern stays as it is.
    adapted, _ = endpoint._convert_to_internal_request(request_of(regex="[ab]"))
    assert adapted.sampling_params["regex"] == "[ab]"


def test_requests_that_cannot_be_constrained_are_refused(server):
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3")
    bad = json.loads(json.dumps(WEATHER))
    bad["function"]["name"] = "get<weather"
    other = server.endpoint("parlance_glm4_5", "parlance_glm4_5")
    body = server.ask(other, request_of([bad], tool_choice="required"), [""])
    assert body["code"] == 400 and "get<weather" in body["message"]
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"const": 1}}}
    request = request_of([WEATHER], tool_choice="required", response_format=wanted)
    body = server.ask(endpoint, request, [""])
    assert body["code"] == 400 and "response_format" in body["message"]
    for family, backend in (("qwen3", "llguidance"), ("glm4_5", "xgrammar")):
        name = "parlance_" + family
        endpoint = server.endpoint(name, name, backend=backend)
        asked = request_of([WEATHER], tool_choice="required")
        body = server.ask(endpoint, asked, [""])
        assert body["code"] == 400
        assert "--grammar-backend parlance" in body["message"]
    endpoint = server.endpoint("parlance_qwen3", "parlance_qwen3", backend="xgrammar")
    assert tag_of(endpoint, asked)


def test_every_family_has_tags_that_are_read_back(server):
    """A random response that the tag of a forced call allows is a call."""
    random_ = random.Random(3)
    read = 0
    for family in parlance.formats():
        if "tool_calls" not in parlance.Format(family).fields:
            continue
        name = "parlance_" + family
        tokenizer = tokenizer_of(marks_of(family))
        endpoint = server.endpoint(name, name, tokenizer=tokenizer)
        request = request_of([WEATHER], tool_choice="required", input_ids=[1])
        tag = tag_of(endpoint, request)
        grammar = parlance.Grammar.from_structural_tag(tag)
        vocabulary = parlance.Vocabulary.from_tokenizer(tokenizer)
        for _ in range(5):
            text = walk(grammar.compile(vocabulary).matcher(), vocabulary, random_)
            if text is None:
                continue
            got = server.ask(endpoint, request, [text])
            assert got[2] and got[2][0][0] == "get_weather", (family, text, got)
            assert isinstance(json.loads(got[2][0][1])["city"], str), (family, text)
            streamed = request.model_copy(update={"stream": True})
            pieces = cut(text, random_)
            assert server.ask(endpoint, streamed, pieces)[:3] == got[:3], (family, text)
            read += 1
    assert read > 60


def walk(matcher, vocabulary, random_, steps=400):
    """A text that a matcher allows, or None if it does not end."""
    out = []
    words = numpy.zeros(matcher.mask_words, numpy.int32)
    for _ in range(steps):
        matcher.fill_bitmask(words)
        bits = numpy.unpackbits(words.view(numpy.uint8), bitorder="little")
        allowed = numpy.flatnonzero(bits).tolist()
        ends = [id for id in allowed if id in vocabulary.stop_ids]
        if ends and (len(ends) == len(allowed) or random_.random() < 0.3):
            return vocabulary.decode(out)
        rest = [id for id in allowed if id not in ends]
        closing = [id for id in rest if set(vocabulary.spelling(id)) & set(b"\"<>[|")]
        if closing and random_.random() < 0.3:
            rest = closing
        out.append(random_.choice(rest))
        assert matcher.accept_token(out[-1])
    return None
