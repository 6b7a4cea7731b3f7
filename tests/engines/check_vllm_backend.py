"""The backend for vLLM under vLLM's own scheduler.

Requests go the way they go in the engine: validated as at the front end,
compiled by ``StructuredOutputManager``, scheduled, masked and advanced by
``Scheduler``, with draft tokens, aborts and batches that change.  The model is a
random choice among the tokens of the mask.
"""

import json
import os
import pathlib
import random
import sys
import time

import numpy
import parlance
import pytest

pytest.importorskip("vllm")
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402
import vllm.v1.structured_output as manager_module  # noqa: E402
from check_vllm import (  # noqa: E402
    PROMPT,
    QWEN,
    WEATHER,
    accepts,
    adjusted,
    call,
    encoded,
    marks_of,
    parser_of,
    request_of,
    tokenizer_of,
)
from parlance.integrations.vllm import _requests, backend  # noqa: E402
from vllm.config import (  # noqa: E402
    CacheConfig,
    DeviceConfig,
    ModelConfig,
    SchedulerConfig,
    SpeculativeConfig,
    StructuredOutputsConfig,
    VllmConfig,
)
from vllm.exceptions import VLLMValidationError  # noqa: E402
from vllm.sampling_params import SamplingParams, StructuredOutputsParams  # noqa: E402
from vllm.v1.core.sched.scheduler import Scheduler  # noqa: E402
from vllm.v1.kv_cache_interface import (  # noqa: E402
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
)
from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput  # noqa: E402
from vllm.v1.request import Request, RequestStatus  # noqa: E402
from vllm.v1.structured_output import (  # noqa: E402
    StructuredOutputManager,
    backend_guidance,
    backend_xgrammar,
)


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """``install()``, undone after the test."""
    for owner, name in (
        (manager_module, "XgrammarBackend"),
        (manager_module, "GuidanceBackend"),
        (backend_xgrammar, "validate_xgrammar_grammar"),
        (backend_guidance, "validate_guidance_grammar"),
        (backend_guidance, "has_guidance_unsupported_json_features"),
        (StructuredOutputManager, "grammar_bitmask"),
        (_requests, "own_masks"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    backend.install()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    write_model(path)
    return path


def write_model(path, marks=QWEN):
    """A model's folder: a configuration and a tokenizer."""
    tokenizer = tokenizer_of(marks)
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


class Engine:
    """The scheduler and the manager of an engine, without workers."""

    def __init__(
        self,
        folder,
        *,
        seed=0,
        rows=8,
        drafts=0,
        backend="auto",
        reasoning="",
        compared=True,
    ):
        model = ModelConfig(
            model=str(folder), tokenizer=str(folder), dtype="float16", max_model_len=4096
        )
        speculative = None
        if drafts:
            speculative = SpeculativeConfig(
                method="ngram",
                num_speculative_tokens=drafts,
                prompt_lookup_max=2,
                prompt_lookup_min=1,
            )
        self.config = VllmConfig(
            model_config=model,
            scheduler_config=SchedulerConfig(
                max_num_seqs=rows,
                max_num_batched_tokens=4096,
                max_model_len=4096,
                is_encoder_decoder=False,
                async_scheduling=False,
            ),
            cache_config=CacheConfig(block_size=16, enable_prefix_caching=False),
            device_config=DeviceConfig("cpu"),
            speculative_config=speculative,
            structured_outputs_config=StructuredOutputsConfig(
                backend=backend, reasoning_parser=reasoning
            ),
        )
        self.config.cache_config.num_gpu_blocks = 4096
        self.manager = StructuredOutputManager(self.config)
        spec = FullAttentionSpec(
            block_size=16, num_kv_heads=4, head_size=16, dtype=torch.float16
        )
        self.scheduler = Scheduler(
            self.config,
            KVCacheConfig(4096, [], [KVCacheGroupSpec(["layer"], spec)]),
            self.manager,
            block_size=16,
        )
        self.tokenizer = self.manager.tokenizer
        self.random = random.Random(seed)
        self.drafts = drafts
        self.compared = compared  # whether every row is compared
        self.requests = {}
        self.rows = 0
        self.drafted = self.accepted = 0
        self.script = {}  # by request, what it writes before it is constrained

    def params(self, max_tokens=300, **constraint):
        params = SamplingParams(
            max_tokens=max_tokens, structured_outputs=StructuredOutputsParams(**constraint)
        )
        params.update_from_generation_config({}, self.tokenizer.eos_token_id)
        params._validate_structured_outputs(
            self.config.model_config, self.config.structured_outputs_config, self.tokenizer
        )
        return params

    def add(self, params, prompt=(1, 2, 3)):
        request = Request(f"r{len(self.requests)}", list(prompt), params, None)
        self.manager.grammar_init(request)
        self.requests[request.request_id] = request
        self.scheduler.add_request(request)
        return request

    def choice(self, row, best=None):
        """A token of a mask; ``best`` if it is one, most of the time."""
        bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
        allowed = numpy.flatnonzero(bits[: self.config.model_config.get_vocab_size()])
        assert len(allowed)
        if best is not None and bits[best] and self.random.random() < 0.8:
            return best
        if self.tokenizer.eos_token_id in allowed and self.random.random() < 0.3:
            return self.tokenizer.eos_token_id
        return int(self.random.choice(allowed))

    def draft(self, request):
        """Tokens that the grammar may or may not take."""
        if self.script.get(request.request_id):
            return [*self.script[request.request_id], 97, 98, 97][: self.drafts]
        if not self.compared:
            return [self.random.randrange(300) for _ in range(self.drafts)]
        matcher = request.structured_output_request.grammar.matcher.copy()
        words = numpy.zeros(matcher.mask_words, numpy.int32)
        out = []
        for _ in range(self.drafts):
            if matcher.is_terminated() or self.random.random() < 0.2:
                out.append(self.random.randrange(300))
                continue
            matcher.fill_bitmask(words)
            out.append(self.choice(words))
            matcher.accept_token(out[-1])
        return out

    def step(self):
        """One step of the engine; whether anything was scheduled."""
        scheduled = self.scheduler.schedule()
        names = list(scheduled.num_scheduled_tokens)
        if not names:
            return False
        output = self.scheduler.get_grammar_bitmask(scheduled)
        stride = self.drafts + 1
        masks = {}
        if output is not None:
            for i, name in enumerate(output.structured_output_request_ids):
                masks[name] = output.grammar_bitmask[i * stride : (i + 1) * stride]
        sampled = []
        for name in names:
            request = self.requests[name]
            drafts = [t for t in scheduled.scheduled_spec_decode_tokens.get(name, ())]
            tokens = []
            for i in range(len(drafts) + 1):
                row = masks[name][i]
                if self.script.get(name):
                    assert (row == -1).all()
                    tokens.append(self.script[name].pop(0))
                    if i == len(drafts) or tokens[-1] != drafts[i]:
                        break
                    continue
                self.check(request, [*tokens], row)
                best = drafts[i] if i < len(drafts) else None
                tokens.append(self.choice(row, best))
                if tokens[-1] != best:
                    break
            self.drafted += len(drafts)
            self.accepted += len(tokens) - 1
            sampled.append(tokens)
        index = {name: i for i, name in enumerate(names)}
        self.scheduler.update_from_output(
            scheduled, ModelRunnerOutput(names, index, sampled_token_ids=sampled)
        )
        if self.drafts:
            live = [n for n in names if not self.requests[n].is_finished()]
            drafts = [self.draft(self.requests[name]) for name in live]
            self.scheduler.update_draft_token_ids(DraftTokenIds(live, drafts))
        return True

    def check(self, request, drafts, row):
        """A row is the mask of a matcher that has read this response alone."""
        self.rows += 1
        if not self.compared:
            return
        matcher = request.structured_output_request.grammar.matcher.copy()
        matcher.reset()
        ids = [*request.output_token_ids, *drafts]
        end = self.tokenizer.convert_tokens_to_ids("</think>")
        if request.request_id in self.script:
            ids = ids[ids.index(end) + 1 :]
        assert matcher.accept_tokens(ids) == len(ids)
        if matcher.is_terminated():
            return
        words = numpy.zeros(row.shape, numpy.int32)
        matcher.fill_bitmask(words)
        assert (words == row).all()

    def run(self, steps=2000):
        waited = 0
        for _ in range(steps):
            if not self.step():
                if all(r.is_finished() for r in self.requests.values()):
                    return
                waited += 1
                time.sleep(0.001)  # grammars are compiled in a thread
                assert waited < 5000
        raise AssertionError("the requests do not end")

    def text(self, request):
        ids = [i for i in request.output_token_ids if i != self.tokenizer.eos_token_id]
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def close(self):
        self.manager.clear_backend()


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12, "pattern": "^[a-z]+$"},
        "count": {"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 99},
        "kinds": {
            "type": "array",
            "items": {"enum": ["a", "b", "c"]},
            "uniqueItems": True,
            "maxItems": 3,
        },
    },
    "required": ["name", "count"],
    "additionalProperties": False,
}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "sequence",
        "elements": [
            {"type": "regex", "pattern": "[ab]{2}"},
            {"type": "const_string", "value": "<tool_call>"},
            {"type": "json_schema", "json_schema": {"enum": [1, "x"]}},
        ],
    },
}
OLD_TAG = {
    "structures": [{"begin": "<f>", "schema": {"enum": [1, 2]}, "end": "</f>"}],
    "triggers": ["<f"],
}
CONSTRAINTS = [
    ({"json": SCHEMA}, lambda text: json.loads(text)["count"] % 7 == 0),
    ({"json": json.dumps({"enum": ["yes", 1]})}, lambda t: json.loads(t) in ("yes", 1)),
    ({"json_object": True}, lambda text: isinstance(json.loads(text), dict)),
    ({"regex": r"\d{3}-[a-f]+|nothing"}, None),
    ({"choice": ["the", "they", 'a "quoted" one\n', "ü"]}, None),
    ({"grammar": 'root ::= "(" root ")" | "x"'}, None),
    ({"grammar": 'start: A "." A\nA: /[a-c]{2,3}/'}, None),
    ({"structural_tag": json.dumps(TAG)}, lambda text: text[2:13] == "<tool_call>"),
    ({"structural_tag": json.dumps(OLD_TAG)}, None),
]


@pytest.mark.parametrize("backend_name", ["auto", "xgrammar", "guidance"])
@pytest.mark.parametrize("drafts", [0, 4])
def test_schedule_of_requests(folder, drafts, backend_name):
    engine = Engine(folder, seed=drafts, drafts=drafts, backend=backend_name)
    ended = []
    for round_ in range(4):
        for constraint, _ in CONSTRAINTS:
            request = engine.add(engine.params(**constraint))
            ended.append((request, constraint))
            for _ in range(engine.random.randint(0, 3)):
                engine.step()
        live = [n for n, r in engine.requests.items() if not r.is_finished()]
        for name in engine.random.sample(live, min(2, len(live))):
            engine.scheduler.finish_requests(name, RequestStatus.FINISHED_ABORTED)
    engine.run()
    assert isinstance(engine.manager.backend, backend.ParlanceBackend)
    assert engine.rows > 100
    if drafts:
        assert engine.accepted > 20 and engine.drafted > engine.accepted
    checks = {json.dumps(c): check for c, check in CONSTRAINTS}
    stopped = 0
    for request, constraint in ended:
        assert request.status != RequestStatus.FINISHED_ERROR
        if request.status != RequestStatus.FINISHED_STOPPED:
            continue
        stopped += 1
        text = engine.text(request)
        check = checks[json.dumps(constraint)]
        assert check is None or check(text), text
        if "choice" in constraint:
            assert text in constraint["choice"]
        if constraint.get("regex"):
            assert parlance.Grammar.from_regex(constraint["regex"]).accepts(text)
    assert stopped > 10
    engine.close()


@pytest.mark.parametrize("drafts", [0, 3])
def test_constraints_of_the_request_begin_where_reasoning_ends(folder, drafts):
    engine = Engine(folder, seed=7, drafts=drafts, reasoning="parlance_qwen3")
    prompt = encoded(engine.tokenizer, PROMPT + "<think>\n")
    end = engine.tokenizer.convert_tokens_to_ids("</think>")
    thought = encoded(engine.tokenizer, "so the weather")
    for _ in range(12):
        engine.add(engine.params(regex="[ab]{3,9}"), prompt)
    # The model thinks, ends its reasoning, and then takes tokens of the mask.
    engine.script = {name: [*thought, end] for name in engine.requests}
    engine.run()
    for request in engine.requests.values():
        assert request.status == RequestStatus.FINISHED_STOPPED
        reasoning, answer = engine.text(request).split("</think>")
        assert reasoning == "so the weather"
        assert parlance.Grammar.from_regex("[ab]{3,9}").accepts(answer)
    engine.close()


def test_rows_of_a_large_batch(folder):
    """More rows than those for which vLLM begins to use threads."""
    engine = Engine(folder, rows=200)
    params = [engine.params(max_tokens=20, **c) for c, _ in CONSTRAINTS]
    for i in range(200):
        engine.add(params[i % len(params)])
    engine.run()
    assert engine.rows > 1000
    engine.close()


def test_a_token_that_does_not_fit_ends_its_request_only(folder):
    engine = Engine(folder)
    good = engine.add(engine.params(regex="[ab]{5}"))
    while not engine.step():
        time.sleep(0.001)
    grammar = good.structured_output_request.grammar
    assert not grammar.accept_tokens("r0", encoded(engine.tokenizer, "x"))
    assert grammar.validate_tokens([*encoded(engine.tokenizer, "abx"), -1]) == encoded(
        engine.tokenizer, "ab"
    )
    engine.run()
    assert len(engine.text(good)) == 5
    grammar.reset()
    assert not grammar.is_terminated()
    engine.close()


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ({"json": {"type": "strin"}}, "type"),
        ({"json": {"minLength": 3, "maxLength": 2, "type": "string"}}, ""),
        ({"json": "{"}, ""),
        ({"regex": "(a"}, ""),
        ({"regex": "a(?=b)"}, ""),
        ({"grammar": "root ::= x"}, "x"),
        ({"grammar": "start: x"}, "x"),
        ({"structural_tag": '{"type": "structural_tag", "format": {"type": "nope"}}'}, "nope"),
        ({"structural_tag": "[]"}, ""),
        ({"structural_tag": '{"structures": [{}], "triggers": []}'}, ""),
    ],
)
@pytest.mark.parametrize("backend_name", ["auto", "xgrammar", "guidance"])
def test_what_cannot_be_compiled_is_the_clients_error(
    folder, constraint, words, backend_name
):
    engine = Engine(folder, backend=backend_name)
    with pytest.raises(VLLMValidationError, match=words):
        engine.params(**constraint)
    engine.close()


def test_schemas_that_other_backends_turn_away(folder):
    engine = Engine(folder)
    for schema in (
        {"type": "integer", "multipleOf": 3},
        {"type": "array", "contains": {"const": 1}, "maxItems": 3},
        {"type": "string", "pattern": "^a", "maxLength": 4},
        {"type": "object", "patternProperties": {"^a": {"const": 1}}, "maxProperties": 2},
    ):
        params = engine.params(json=schema)
        assert params.structured_outputs._backend in ("xgrammar", "auto")
        engine.add(params)
    engine.run()
    engine.close()


def test_white_space_and_additional_properties(folder):
    engine = Engine(folder)
    engine.config.structured_outputs_config.disable_any_whitespace = True
    engine.config.structured_outputs_config.disable_additional_properties = True
    engine.add(
        engine.params(json={"type": "object", "properties": {"a": {"const": 1}}})
    )
    engine.run()
    assert engine.text(engine.requests["r0"]) in ("{}", '{"a":1}')
    engine.close()


@pytest.mark.parametrize("own", [True, False], ids=["parlance", "xgrammar"])
def test_every_family_reads_what_its_masks_allow(tmp_path, monkeypatch, own):
    """Random responses under the masks are calls of the tool, for the parser."""
    if not own:
        monkeypatch.undo()
    tool = json.loads(json.dumps(WEATHER))
    tool["function"]["parameters"] = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "pattern": "^[a-z ]{1,8}$"},
            "days": {"type": "integer", "minimum": 0, "maximum": 99},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    body = {"tool_choice": "required", "parallel_tool_calls": False}
    prompt = [1, 2]
    read = refused = 0
    for family in parlance.formats():
        if "tool_calls" not in parlance.Format(family).fields:
            continue
        folder = tmp_path / family
        folder.mkdir()
        write_model(folder, marks_of(family))
        engine = Engine(folder, seed=1, compared=own)
        name = "parlance_" + family
        try:
            for _ in range(4):
                request = request_of([tool], **body)
                parser = parser_of(name, engine.tokenizer, request)
                parser.set_prompt_token_ids(prompt)
                request = parser.adjust_request(request)
                params = request.to_sampling_params(300, {})
                params.update_from_generation_config({}, engine.tokenizer.eos_token_id)
                params._validate_structured_outputs(
                    engine.config.model_config,
                    engine.config.structured_outputs_config,
                    engine.tokenizer,
                )
                engine.add(params, prompt)
        except VLLMValidationError as error:
            assert not own and "PARLANCE_VLLM_BACKEND" in str(error)
            refused += 1
            engine.close()
            continue
        engine.run(5000)
        for done in engine.requests.values():
            if done.status != RequestStatus.FINISHED_STOPPED:
                assert done.status == RequestStatus.FINISHED_LENGTH_CAPPED
                continue
            parser = parser_of(name, engine.tokenizer, request)
            parser.set_prompt_token_ids(prompt)
            text = engine.text(done)
            ids = list(done.output_token_ids)
            _, _, calls = parser.parse(text, request, True, ids)
            assert calls and len(calls) == 1, (family, text)
            assert calls[0].name == "get_weather", (family, text)
            assert isinstance(json.loads(calls[0].arguments)["city"], str)
            read += 1
        engine.close()
    assert read > 60
    assert refused == (0 if own else 21)


def test_every_family_is_constrained_by_its_own_masks():
    for family in parlance.formats():
        if "tool_calls" not in parlance.Format(family).fields:
            continue
        tokenizer = tokenizer_of(marks_of(family))
        request = request_of([WEATHER], tool_choice="required")
        request = adjusted("parlance_" + family, tokenizer, request, "")
        params = request.to_sampling_params(9, {})
        backend.validate(params)
        assert request._grammar_from_parser and not accepts(request, "Hello")


def test_answers_are_constrained_by_the_familys_tag():
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"const": 1}}}
    tokenizer = tokenizer_of(QWEN)
    request = adjusted("parlance_qwen3", tokenizer, request_of(response_format=wanted))
    assert accepts(request, "1") and accepts(request, "<think>\nhm\n</think>\n\n1")
    assert not accepts(request, call("get_weather", "{}"))
