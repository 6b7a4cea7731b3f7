"""The plug-in for vLLM inside vLLM's own classes.

``scripts/test engines`` runs it with the Python of an environment that has vLLM
and this package.  Nothing of vLLM is replaced: registries, parsers, requests,
deltas, the detokenizer, the manager of structured outputs and its requests are
vLLM's.  There is no GPU and no model: a script, or a random choice among the
tokens of the mask, writes the responses.
"""

import copy
import json
import pathlib
import pickle
import random
import re
import subprocess
import sys

import parlance
import pytest
import transformers

vllm = pytest.importorskip("vllm")
sys.path.append(str(pathlib.Path(__file__).resolve().parent))

from recorded import (  # noqa: E402
    expected_of,
    marks_of,
    message_of,
    tokenizer_of,
    vectors,
)
from vllm.entrypoints.openai.chat_completion.protocol import (  # noqa: E402
    ChatCompletionRequest,
)
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest  # noqa: E402
from vllm.exceptions import VLLMValidationError  # noqa: E402
from vllm.parser.parser_manager import ParserManager  # noqa: E402
from vllm.plugins import load_general_plugins  # noqa: E402
from vllm.reasoning import ReasoningParserManager  # noqa: E402
from vllm.sampling_params import SamplingParams  # noqa: E402
from vllm.tool_parsers import ToolParserManager  # noqa: E402
from vllm.v1.engine import EngineCoreRequest  # noqa: E402
from vllm.v1.engine.detokenizer import IncrementalDetokenizer  # noqa: E402

load_general_plugins()

# ---- Running a response through vLLM.


def request_of(tools=None, **more):
    body = {"model": "m", "messages": [{"role": "user", "content": "?"}], **more}
    if tools:
        body["tools"] = tools
    return ChatCompletionRequest.model_validate(body)


def steps_of(tokenizer, prompt, ids, random_, request, *, stop=(), ends=True):
    """What the engine hands out: ``(text, ids, finished)`` a step.

    Steps have one to five tokens.  The last one has the stop token, as in
    vLLM, if the response ``ends``.
    """
    params = SamplingParams(
        stop=list(stop),
        skip_special_tokens=request.skip_special_tokens is not False,
        spaces_between_special_tokens=request.spaces_between_special_tokens,
    )
    engine_request = EngineCoreRequest(
        request_id="r",
        prompt_token_ids=prompt,
        mm_features=None,
        sampling_params=params,
        pooling_params=None,
        arrival_time=0.0,
        lora_request=None,
        cache_salt=None,
        data_parallel_rank=None,
    )
    detokenizer = IncrementalDetokenizer.from_new_request(tokenizer, engine_request)
    rest = list(ids)
    if ends:
        rest.append(tokenizer.eos_token_id)
    while rest:
        count = random_.randint(1, 5)
        new, rest = rest[:count], rest[count:]
        stopped = detokenizer.update(new, stop_terminated=ends and not rest)
        finished = not rest or stopped is not None
        yield detokenizer.get_next_output_text(finished, True), new, finished
        if finished:
            return


def collected(deltas):
    """The message that a client makes of deltas, checked on the way."""
    reasoning, content, calls = "", "", []
    for delta in deltas:
        if delta is None:
            continue
        delta = json.loads(delta.model_dump_json(exclude_none=True))
        reasoning += delta.get("reasoning", "")
        content += delta.get("content", "")
        for call in delta.get("tool_calls", ()):
            if call["index"] == len(calls):
                assert call["type"] == "function" and call["id"]
                calls.append([call["function"]["name"], "", call["id"]])
            else:
                assert "id" not in call and "name" not in call["function"]
            calls[call["index"]][1] += call["function"].get("arguments", "")
    assert len({call[2] for call in calls}) == len(calls)
    return reasoning or None, content or None, [call[:2] for call in calls]


def parser_of(name, tokenizer, request, **options):
    cls = ParserManager.get_parser(
        tool_parser_name=name,
        reasoning_parser_name=name,
        enable_auto_tools=True,
        tokenizer=tokenizer,
        **options,
    )
    return cls(tokenizer, request.tools)


def streamed(name, tokenizer, prompt, ids, request, random_, **how):
    parser = parser_of(name, tokenizer, request)
    parser.set_prompt_token_ids(prompt)
    request = parser.adjust_request(request)
    parser = parser_of(name, tokenizer, request)
    deltas = [
        parser.parse_delta(text, new, request, prompt, finished=finished)
        for text, new, finished in steps_of(
            tokenizer, prompt, ids, random_, request, **how
        )
    ]
    return collected(deltas)


def parsed(name, tokenizer, prompt, ids, request):
    parser = parser_of(name, tokenizer, request)
    request = parser.adjust_request(request)
    parser.set_prompt_token_ids(prompt)
    text = tokenizer.decode(ids, skip_special_tokens=False)
    reasoning, content, calls = parser.parse(
        text,
        request,
        enable_auto_tools=True,
        model_output_token_ids=[*ids, tokenizer.eos_token_id],
    )
    calls = [[call.name, call.arguments] for call in calls or ()]
    return reasoning, content, calls


# ---- Registration.


def test_entry_point_registers_every_family():
    assert {"parlance", "parlance_qwen3", "parlance_ling3"} <= set(
        ToolParserManager.list_registered()
    )
    names = {"parlance_" + name for name in parlance.formats()}
    assert names <= set(ReasoningParserManager.list_registered())
    for name in sorted(names):
        assert ToolParserManager.get_tool_parser(name).family == name[9:]
        assert ReasoningParserManager.get_reasoning_parser(name).family == name[9:]


def test_importing_the_module_imports_nothing_of_vllm():
    code = (
        "import sys, parlance.integrations.vllm as ours\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] == 'vllm'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_other_parsers_are_composed_by_vllm():
    cls = ParserManager.get_parser("hermes", None, enable_auto_tools=True)
    assert cls.tool_parser_cls.__name__ == "Hermes2ProToolParser"


@pytest.mark.parametrize(
    ("tool", "reasoning", "words"),
    [
        ("parlance_qwen3", "deepseek_r1", "cannot be combined"),
        ("hermes", "parlance_qwen3", "cannot be combined"),
        ("parlance_qwen3", "parlance_glm4_5", "two families"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(tool, reasoning, words):
    with pytest.raises(TypeError, match=words):
        ParserManager.get_parser(tool, reasoning, enable_auto_tools=True)


def test_gpt_oss_stays_vllms():
    with pytest.raises(TypeError, match="openai_gptoss"):
        ParserManager.get_parser(
            "parlance", "parlance", enable_auto_tools=True, is_harmony=True
        )


def test_family_is_detected():
    tokenizer = tokenizer_of(("<think>", "</think>", "<tool_call>", "</tool_call>"))
    found = parlance.Format("qwen3")
    tokenizer.response_template = found.template
    try:
        request = request_of()
        parser = parser_of("parlance", tokenizer, request)
        parser.set_prompt_token_ids(tokenizer.encode("<|im_start|>assistant\n"))
        ids = tokenizer.encode("<think>\nhm\n</think>\n\nHi")
        assert parser.parse(
            "", request, model_output_token_ids=ids, enable_auto_tools=True
        )[:2] == (None, None)  # ids without text are a stop string's
        parser = parser_of("parlance", tokenizer, request)
        text = tokenizer.decode(ids)
        assert parser.parse(text, request, True, ids)[:2] == ("hm", "\n\nHi")
    finally:
        del tokenizer.response_template


def test_unknown_family_is_an_error_when_vllm_starts():
    other = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_of().backend_tokenizer, eos_token="<|stop|>"
    )
    with pytest.raises(TypeError, match="parlance_qwen3"):
        parser_of("parlance", other, request_of())


# ---- Recorded streams.


# Quoted calls in reasoning.  With ids their opener is a token, and a call; the
# vectors have text.
_OPENER_IS_A_TOKEN = {
    "lfm2/fake_call_in_reasoning",
    "mistral_v11/fake_marker_in_reasoning",
    "seed_oss/format_quoted_in_reasoning",
}


@pytest.mark.parametrize("marks", [True, False], ids=["tokens", "text"])
def test_recorded_streams(marks):
    """Deltas of any cut, joined, are the message that is not streamed, which is
    the recorded one."""
    random_ = random.Random(20)
    failures = []
    for case in vectors():
        family = case["family"]
        tokenizer = tokenizer_of(marks_of(family, case["raw"]) if marks else ())
        prompt = tokenizer.encode(case.get("prefix") or "")
        ids = tokenizer.encode(case["raw"])
        request = request_of(case.get("tools"))
        name = "parlance_" + family
        whole = parsed(name, tokenizer, prompt, ids, request.model_copy())
        for _ in range(2):
            got = streamed(
                name,
                tokenizer,
                prompt,
                ids,
                request.model_copy(),
                random_,
                ends=random_.random() < 0.5,
            )
            if got != whole:
                failures.append((case["id"], got, whole))
        accepted = [case["expected"], *case.get("accept", ())]
        if (
            not case.get("tools")  # vLLM reads no calls then
            or any(one.get("malformed") for one in accepted)
            or (marks and case["id"] in _OPENER_IS_A_TOKEN)
        ):
            continue
        message = message_of(*whole)
        if message not in [expected_of(one) for one in accepted]:
            failures.append((case["id"], message, accepted))
    for one in failures[:20]:
        print(*one, sep="\n    ")
    assert not failures


QWEN = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_start|>", "<|im_end|>")
PROMPT = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
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
CLOCK = {
    "type": "function",
    "function": {
        "name": "get_time",
        "parameters": {"type": "object", "properties": {}},
    },
}


def encoded(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


@pytest.mark.parametrize("seed", range(20))
def test_stop_strings_and_broken_characters(seed):
    """The client sees vLLM's text: no stop string, nothing after it."""
    random_ = random.Random(seed)
    tokenizer = tokenizer_of(QWEN)
    prompt = encoded(tokenizer, PROMPT)
    text = "Grüße, 世界! 🙂 " * 3 + "and the end"
    ids = encoded(tokenizer, f"<think>\n{text}\n</think>\n\n{text}<STOP>and more")
    request = request_of()
    got = streamed(
        "parlance_qwen3", tokenizer, prompt, ids, request, random_, stop=["<STOP>"]
    )
    assert got == (text, text, [])
    # Tokens of the same step, after the stop string, are not read.
    late = "".join((text, "<STOP>", call("get_weather", '{"city": "Oslo"}')))
    got = streamed(
        "parlance_qwen3",
        tokenizer,
        prompt,
        encoded(tokenizer, late),
        request_of([WEATHER]),
        random_,
        stop=["<STOP>"],
    )
    assert got == (None, text, [])
    # Bytes that are no UTF-8: the rest of the response still arrives.
    bad = [tokenizer.convert_tokens_to_ids(piece) for piece in ("Ã", "¿")]
    ids = [*encoded(tokenizer, "<think>a</think>b"), *bad, *encoded(tokenizer, "c")]
    _, content, _ = streamed(
        "parlance_qwen3", tokenizer, prompt, ids, request_of(), random_
    )
    assert content[0] == "b" and content[-1] == "c"


def test_calls_stream_as_they_are_written():
    tokenizer = tokenizer_of(QWEN)
    request = request_of([WEATHER])
    parser = parser_of("parlance_qwen3", tokenizer, request)
    prompt = encoded(tokenizer, PROMPT)
    city = "Llanfairpwllgwyngyll" * 5
    call = json.dumps({"name": "get_weather", "arguments": {"city": city}})
    ids = encoded(tokenizer, f"<tool_call>\n{call}\n</tool_call>")
    pieces = []
    for id in ids:
        delta = parser.parse_delta(
            tokenizer.decode([id]), [id], request, prompt, finished=False
        )
        for piece in delta.tool_calls if delta else ():
            pieces.append(piece)
    assert pieces[0].function.name == "get_weather"
    assert all(piece.function.name is None for piece in pieces[1:])
    assert len(pieces) > 60
    arguments = "".join(piece.function.arguments or "" for piece in pieces)
    assert json.loads(arguments) == {"city": city}


def test_what_is_not_asked_for_stays_in_the_content():
    """Without a reasoning parser and with tool_choice "none" the content is the
    text, but for white space and marks that end a turn."""
    random_ = random.Random(3)
    for case in vectors():
        family = case["family"]
        tokenizer = tokenizer_of(marks_of(family, case["raw"]))
        ids = encoded(tokenizer, case["raw"])
        request = request_of(case.get("tools"), tool_choice="none")
        cls = ParserManager.get_parser(
            "parlance_" + family, None, enable_auto_tools=True, tokenizer=tokenizer
        )
        parser = cls(tokenizer, request.tools)
        request = parser.adjust_request(request)
        reasoning, content, calls = collected(
            parser.parse_delta(text, new, request, [], finished=finished)
            for text, new, finished in steps_of(tokenizer, [], ids, random_, request)
        )
        assert not reasoning and not calls
        kept = re.sub(r"\s", "", content or "")
        at = 0
        raw = re.sub(r"\s", "", case["raw"])
        for character in kept:  # in order, nothing added
            at = raw.index(character, at) + 1
        accepted = [case["expected"], *case.get("accept", ())]
        if not any(one.get("malformed") for one in accepted):
            for call in case["expected"].get("tool_calls") or ():
                assert re.sub(r"\s", "", call["name"]) in kept, case["id"]


# ---- What is constrained.


def adjusted(name, tokenizer, request, prompt=PROMPT, **options):
    parser = parser_of(name, tokenizer, request, **options)
    parser.set_prompt_token_ids(encoded(tokenizer, prompt))
    return parser.adjust_request(request)


def accepts(request, text):
    tag = request.extract_structured_outputs().structural_tag
    return parlance.StructuralTag(tag).grammar().accepts(text)


def call(name, arguments):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def test_required_and_named_calls_are_constrained_from_the_first_token():
    tokenizer = tokenizer_of(QWEN)
    good = call("get_weather", '{"city": "Oslo"}')
    for choice, clock in [
        ("required", True),
        ({"type": "function", "function": {"name": "get_weather"}}, False),
    ]:
        request = request_of([WEATHER, CLOCK], tool_choice=choice)
        request = adjusted("parlance_qwen3", tokenizer, request)
        assert request._grammar_from_parser
        assert request.skip_special_tokens is False
        assert accepts(request, good)
        assert accepts(request, "<think>\nhm\n</think>\n\n" + good)
        assert accepts(request, call("get_time", "{}")) is clock
        assert not accepts(request, call("get_weather", '{"days": 1}'))
        assert not accepts(request, "Hello")
        # The tag is XGrammar's own language: vLLM takes it as it is.
        params = request.to_sampling_params(9, {})
        assert params.structured_outputs.structural_tag
    inside = request_of([WEATHER], tool_choice="required")
    inside = adjusted("parlance_qwen3", tokenizer, inside, PROMPT + "<think>\n")
    assert accepts(inside, "hm\n</think>\n\n" + good) and not accepts(inside, good)


def test_auto_is_constrained_by_strict_tools_or_one_call_only():
    tokenizer = tokenizer_of(QWEN)
    free = adjusted("parlance_qwen3", tokenizer, request_of([WEATHER]))
    assert free.extract_structured_outputs() is None
    assert not free._grammar_from_parser
    strict = json.loads(json.dumps(WEATHER))
    strict["function"]["strict"] = True
    for request in (
        adjusted("parlance_qwen3", tokenizer, request_of([strict])),
        adjusted(
            "parlance_qwen3",
            tokenizer,
            request_of([WEATHER]),
            tool_strict_level="function",
        ),
        adjusted(
            "parlance_qwen3",
            tokenizer,
            request_of([WEATHER], parallel_tool_calls=False),
        ),
    ):
        assert accepts(request, "Hello")
        assert accepts(request, call("get_weather", '{"city": "Oslo"}'))
        assert not accepts(request, call("get_weather", '{"city": 1}'))


def test_answers_by_schema_beside_calls():
    tokenizer = tokenizer_of(QWEN)
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    wanted = {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema},
    }
    request = request_of([WEATHER], response_format=wanted)
    request = adjusted("parlance_qwen3", tokenizer, request)
    assert accepts(request, '{"n": 1}')
    assert accepts(request, call("get_weather", '{"city": "Oslo"}'))
    assert not accepts(request, "Hello")
    # Patterns and grammars stay vLLM's.
    own = request_of([WEATHER], structured_outputs={"regex": "[ab]"})
    own = adjusted("parlance_qwen3", tokenizer, own)
    assert own.extract_structured_outputs().regex == "[ab]"
    assert not own._grammar_from_parser


def test_requests_of_the_responses_api():
    tokenizer = tokenizer_of(QWEN)
    tool = {"type": "function", **WEATHER["function"]}
    request = ResponsesRequest.model_validate(
        {
            "model": "m",
            "input": "?",
            "tools": [tool],
            "tool_choice": {"type": "function", "name": "get_weather"},
        }
    )
    request = adjusted("parlance_qwen3", tokenizer, request)
    assert request._grammar_from_parser
    assert accepts(request, call("get_weather", '{"city": "Oslo"}'))
    parser = parser_of("parlance_qwen3", tokenizer, request)
    text = call("get_weather", '{"city": "Oslo"}')
    _, content, calls = parser.parse(
        text, request, True, encoded(tokenizer, text)
    )
    assert content is None and calls[0].arguments == '{"city": "Oslo"}'


def test_tags_that_xgrammar_cannot_read_are_refused_with_the_way_out():
    tokenizer = tokenizer_of(marks_of("glm4_5"))
    request = request_of([WEATHER], tool_choice="required")
    with pytest.raises(VLLMValidationError, match="PARLANCE_VLLM_BACKEND=1"):
        adjusted("parlance_glm4_5", tokenizer, request, "<|assistant|>\n")


def test_a_tool_that_cannot_be_used_is_the_clients_error():
    tokenizer = tokenizer_of(marks_of("glm4_5"))
    bad = json.loads(json.dumps(WEATHER))
    bad["function"]["name"] = "get<weather"
    request = request_of([bad], tool_choice="required")
    with pytest.raises(VLLMValidationError, match="get<weather") as caught:
        adjusted("parlance_glm4_5", tokenizer, request, "<|assistant|>\n")
    assert caught.value.parameter == "tools"


# ---- Where reasoning ends.


def test_reasoning_parser_tells_where_reasoning_ends():
    tokenizer = tokenizer_of(QWEN)
    cls = ReasoningParserManager.get_reasoning_parser("parlance_qwen3")
    parser = cls(tokenizer)

    def ids(text):
        return encoded(tokenizer, text)

    assert not parser.is_reasoning_end(ids(PROMPT))
    assert not parser.is_reasoning_end(ids(PROMPT + "<think>\n"))
    assert parser.is_reasoning_end(ids(PROMPT + "<think>\n\n</think>\n\n"))
    off = cls(tokenizer, chat_template_kwargs={"enable_thinking": False})
    assert off.is_reasoning_end(ids(PROMPT))

    # Prompts of later turns have ended reasoning; it is not this response's.
    before = ids("<think>a</think>b<|im_end|>\n" + PROMPT + "<think>")
    response = ids("so</think>\n\nyes")
    end = response.index(tokenizer.convert_tokens_to_ids("</think>"))
    for length in range(1, len(response) + 1):
        for new in range(1, min(length, 5) + 1):
            told = parser.is_reasoning_end_streaming(
                [*before, *response[:length]], response[length - new : length]
            )
            assert told is (length - new <= end < length)
    assert parser.extract_content_ids(response) == ids("\n\nyes")
    assert parser.extract_content_ids(ids("so")) == []
    assert parser.reasoning_start_str == "<think>"
    assert parser.reasoning_end_str == "</think>"
    parser.set_prompt_token_ids(before)
    assert parser.count_reasoning_tokens(response) in (end, end + 1)
    assert parser.extract_reasoning("so</think>\n\nyes", None) == ("so", "yes")
    # A call ends reasoning in families that write it so.
    glm = ReasoningParserManager.get_reasoning_parser("parlance_glm4_5")
    other = tokenizer_of(marks_of("glm4_5"))
    text = encoded(other, "<think>so<tool_call>")
    assert glm(other).is_reasoning_end_streaming(text, text[-1:])


def test_parsers_alone():
    tokenizer = tokenizer_of(QWEN)
    request = request_of([WEATHER])
    text = "a" + call("get_weather", '{"city": "Oslo"}')
    parser = ToolParserManager.get_tool_parser("parlance_qwen3")(tokenizer, request.tools)
    found = parser.extract_tool_calls(text, request)
    assert found.tools_called and found.content == "a"
    assert found.tool_calls[0].function.arguments == '{"city": "Oslo"}'
    deltas = [
        parser.extract_tool_calls_streaming("", "", piece, [], [], [], request)
        for piece in text
    ]
    assert collected([*deltas, parser.finish_streaming()]) == (
        None,
        "a",
        [["get_weather", '{"city": "Oslo"}']],
    )
    tag = parser.get_structural_tag(request_of([WEATHER], tool_choice="required"))
    assert tag.format.type == "sequence"
    reasoning = ReasoningParserManager.get_reasoning_parser("parlance_qwen3")(tokenizer)
    deltas = [
        reasoning.extract_reasoning_streaming("", "", piece, [], [], [])
        for piece in "<think>so</think>" + text
    ]
    assert collected([*deltas, reasoning.finish_streaming()]) == ("so", text, [])


# ---- Deltas that are not validated.

DELTAS = [
    {"content": "c"},
    {"reasoning": "r"},
    {"content": "c", "reasoning": "r"},
    {"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]},
    {
        "tool_calls": [
            {
                "index": 1,
                "id": "call_1",
                "type": "function",
                "function": {"name": "f", "arguments": ""},
            },
            {"index": 1, "function": {"arguments": "1"}},
        ]
    },
]


@pytest.mark.parametrize("delta", DELTAS)
def test_deltas_are_what_vllm_validates(delta):
    from parlance.integrations.vllm import parsers

    assert parsers._delta_message is parsers._constructed
    made, wanted = parsers._constructed(delta), parsers._validated(delta)
    for one in (made, copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert one == wanted
        assert one.model_fields_set == wanted.model_fields_set
        assert one.model_dump_json() == wanted.model_dump_json()
        assert one.model_dump(exclude_unset=True) == wanted.model_dump(
            exclude_unset=True
        )
    made.role = "assistant"  # as vLLM's servers may do
    made.tool_calls.append(made)
    assert not parsers._constructed({"content": "c"}).tool_calls
