"""The grammar backend for SGLang under SGLang's own classes.

Requests go the way they go in the engine: keyed, compiled and awaited by
``GrammarManager``, masked by ``SamplingBatchInfo`` or, with draft tokens, by
``generate_token_bitmask``, advanced and ended as the scheduler does it.  The
``Scheduler`` has only what ``GrammarManager`` reads of it, because a whole one
loads a model.  A random choice among the tokens of the mask is the model.
"""

import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import time

import numpy
import parlance
import pytest

pytest.importorskip("sglang")
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def test_backend(tmp_path):
    """SGLang's configuration is one a process, so this runs in its own."""
    for mode in ("plain", "reasoning", "strict"):
        folder = tmp_path / mode
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, __file__, str(folder), mode],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout.splitlines()[-1] == "ok"


class Engine:
    """What an engine does with grammars."""

    def __init__(self, folder, mode):
        import torch
        from check_sglang import write_model
        from sglang.srt.configs.model_config import ModelConfig
        from sglang.srt.constrained.grammar_manager import GrammarManager
        from sglang.srt.distributed.parallel_state import (
            get_pp_group,
            init_distributed_environment,
            initialize_model_parallel,
        )
        from sglang.srt.layers.dp_attention import get_dp_tp_group
        from sglang.srt.managers.scheduler import Scheduler
        from sglang.srt.parser.reasoning_parser import ReasoningParser
        from sglang.srt.runtime_context import SpawnRanks, publish
        from sglang.srt.server_args import ServerArgs
        from sglang.srt.utils.hf_transformers_utils import get_tokenizer

        write_model(pathlib.Path(folder))
        options = {}
        if mode != "plain":
            options["reasoning_parser"] = "parlance_qwen3"
        if mode == "strict":
            options["enable_strict_thinking"] = True
            os.environ["SGLANG_MAX_THINK_TOKENS"] = "50"
        args = ServerArgs(
            model_path=str(folder),
            device="cpu",
            grammar_backend="parlance",
            **options,
        )
        args.resolve_once()
        publish(args, role="scheduler", ranks=SpawnRanks(world_rank=0))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        init_distributed_environment(
            world_size=1,
            rank=0,
            distributed_init_method=f"tcp://127.0.0.1:{port}",
            local_rank=0,
            backend="gloo",
        )
        initialize_model_parallel(backend="gloo")
        self.tokenizer = get_tokenizer(str(folder))
        scheduler = object.__new__(Scheduler)
        scheduler.server_args = args
        scheduler.tokenizer = self.tokenizer
        scheduler.model_config = ModelConfig.from_server_args(args)
        if mode != "plain":
            detector = ReasoningParser("parlance_qwen3").detector
            scheduler.model_config.think_end_ids = detector.get_think_end_token_ids(
                self.tokenizer
            )
        scheduler.dp_tp_group = get_dp_tp_group()
        scheduler.dp_tp_cpu_group = scheduler.dp_tp_group.cpu_group
        scheduler.pp_group = get_pp_group()
        self.torch = torch
        self.manager = GrammarManager(scheduler)
        self.width = scheduler.model_config.vocab_size
        self.eos = scheduler.model_config.hf_eos_token_id
        self.random = random.Random(5)
        self.running = []
        self.done = []
        self.script = {}  # by request, what it writes before it is constrained
        self.rows = self.accepted = self.drafted = 0

    def add(self, reasoning=False, max_tokens=200, custom=None, **constraint):
        from sglang.srt.managers.schedule_batch import Req
        from sglang.srt.sampling.sampling_params import SamplingParams

        params = SamplingParams(
            max_new_tokens=max_tokens, custom_params=custom, **constraint
        )
        params.normalize(self.tokenizer)
        number = len(self.running) + len(self.done) + len(self.manager)
        req = Req(
            f"r{number}",
            "",
            [1, 2, 3],
            params,
            require_reasoning=reasoning,
            eos_token_ids=self.eos,
            vocab_size=self.width,
        )
        req.tokenizer = self.tokenizer
        if not self.manager.process_req_with_grammar(req):
            self.admit(req)
        return req

    def admit(self, req):
        (self.done if req.to_finish or req.finished() else self.running).append(req)

    def poll(self):
        if self.manager.has_waiting_grammars():
            for req in self.manager.get_ready_grammar_requests():
                self.admit(req)

    def masks(self):
        """The rows of all requests, as ``SamplingBatchInfo`` makes them."""
        from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo

        ones = self.torch.ones(len(self.running))
        info = SamplingBatchInfo(
            temperatures=ones,
            top_ps=ones,
            top_ks=ones,
            min_ps=ones,
            is_all_greedy=False,
            is_any_greedy=False,
            need_top_p_sampling=False,
            need_top_k_sampling=False,
            need_min_p_sampling=False,
            vocab_size=self.width,
            grammars=[req.grammar for req in self.running],
            device="cpu",
        )
        info.update_regex_vocab_mask()
        logits = self.torch.zeros(len(self.running), self.width)
        info.grammar_mask.apply(logits)
        words = info.grammar_mask.vocab_mask.numpy()
        bits = numpy.unpackbits(words.view(numpy.uint8), axis=1, bitorder="little")
        bits = bits[:, : self.width].astype(bool)
        assert (self.torch.isfinite(logits).numpy() == bits).all()
        return bits

    def choice(self, row, best=None):
        allowed = numpy.flatnonzero(row)
        assert len(allowed)
        if best is not None and row[best] and self.random.random() < 0.8:
            return best
        if self.tokenizer.eos_token_id in allowed and self.random.random() < 0.3:
            return self.tokenizer.eos_token_id
        return int(self.random.choice(allowed))

    def accept(self, req, tokens):
        """As the scheduler does it."""
        from sglang.srt.managers.scheduler_components.batch_result_processor import (
            SchedulerBatchResultProcessor,
        )

        kept = SchedulerBatchResultProcessor._accept_grammar_tokens(None, req, tokens)
        assert len(kept) == len(tokens) or req.grammar.is_terminated()
        req.output_ids.extend(kept)
        req.update_finish_state(len(kept))
        req.grammar.finished = req.finished()

    def step(self, drafts=0):
        self.poll()
        self.running = [req for req in self.running if not self.moved(req)]
        if not self.running:
            return
        if drafts:
            self.tree_step(drafts)
            return
        for req, row in zip(self.running, self.masks()):
            script = self.script.get(req.rid)
            if script:
                assert row.all()
                token = script.pop(0)
            else:
                self.check(req, [], row)
                token = self.choice(row)
            self.accept(req, [token])

    def moved(self, req):
        if req.finished():
            self.done.append(req)
        return req.finished()

    def tree_step(self, drafts):
        """A step with a tree of draft tokens: a chain, and a sibling of its first."""
        from sglang.srt.speculative.spec_utils import generate_token_bitmask

        torch = self.torch
        size = drafts + 2
        tokens, children, siblings = [], [], []
        for req in self.running:
            chain = self.draft(req, drafts)
            tokens.append([0, *chain, self.random.randrange(300)])
            children.append([1, *range(2, drafts + 1), -1, -1])
            siblings.append([-1, drafts + 1] + [-1] * drafts)
        words, _ = generate_token_bitmask(
            self.running,
            torch.tensor(children),
            torch.tensor(siblings),
            torch.tensor(tokens),
            self.width,
        )
        for i, req in enumerate(self.running):
            rows = words[i * size : (i + 1) * size].numpy()
            bits = numpy.unpackbits(rows.view(numpy.uint8), axis=1, bitorder="little")
            bits = bits[:, : self.width].astype(bool)
            script = self.script.get(req.rid)
            out = []
            for node in range(drafts + 1):
                best = tokens[i][node + 1] if node < drafts else None
                if script and len(out) < len(script):
                    token = script[len(out)]
                else:
                    self.check(req, out, bits[node])
                    token = self.choice(bits[node], best)
                out.append(token)
                if token != best or token in self.eos:
                    break
            if script:
                del script[: len(out)]
            self.drafted += drafts
            self.accepted += len(out) - 1
            self.accept(req, out)

    def draft(self, req, drafts):
        """Tokens that the grammar may or may not take."""
        if self.script.get(req.rid):
            return [*self.script[req.rid], *([97] * drafts)][:drafts]
        matcher = self.inner(req).matcher.copy()
        words = numpy.zeros(matcher.mask_words, numpy.int32)
        out = []
        for _ in range(drafts):
            if matcher.is_terminated() or self.random.random() < 0.2:
                out.append(self.random.randrange(300))
                continue
            matcher.fill_bitmask(words)
            bits = numpy.unpackbits(words.view(numpy.uint8), bitorder="little")
            out.append(self.choice(bits.astype(bool)))
            matcher.accept_token(out[-1])
        return out

    def inner(self, req):
        return getattr(req.grammar, "grammar", req.grammar)

    def check(self, req, more, row):
        """A row is the mask of a matcher that has read this response alone."""
        self.rows += 1
        matcher = self.inner(req).matcher.copy()
        matcher.reset()
        ids = [*req.output_ids, *more]
        if req.rid in self.script and not getattr(
            req.grammar, "reasoning_in_grammar", False
        ):
            end = self.tokenizer.convert_tokens_to_ids("</think>")
            ids = ids[ids.index(end) + 1 :]
        assert matcher.accept_tokens(ids) == len(ids)
        if matcher.is_terminated():
            return
        words = numpy.zeros(matcher.mask_words, numpy.int32)
        matcher.fill_bitmask(words)
        bits = numpy.unpackbits(words.view(numpy.uint8), bitorder="little")[: self.width]
        known = min(len(bits), len(row))
        assert (bits[:known].astype(bool) == row[:known]).all()
        assert not row[len(self.manager.grammar_backend_vocabulary) :].any()

    def run(self, drafts=0, steps=3000):
        for _ in range(steps):
            self.step(drafts)
            if not self.running and not self.manager.has_waiting_grammars():
                return
            if not self.running:
                time.sleep(0.001)
        raise AssertionError("the requests do not end")

    def text(self, req):
        ids = [id for id in req.output_ids if id not in self.eos]
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def stopped(self, req):
        from sglang.srt.managers.schedule_batch import FINISH_ABORT, FINISH_LENGTH

        assert not isinstance(req.finished_reason, FINISH_ABORT), req.finished_reason
        return not isinstance(req.finished_reason, FINISH_LENGTH)


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12, "pattern": "^[a-z]+$"},
        "count": {"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 99},
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
    "type": "structural_tag",
    "structures": [{"begin": "<f>", "schema": {"enum": [1, 2]}, "end": "</f>"}],
    "triggers": ["<f"],
    "at_least_one": True,
}
CONSTRAINTS = [
    ({"json_schema": json.dumps(SCHEMA)}, lambda t: json.loads(t)["count"] % 7 == 0),
    ({"json_schema": '{"enum": ["yes", 1]}'}, lambda t: json.loads(t) in ("yes", 1)),
    ({"json_schema": "$$ANY$$"}, lambda t: [json.loads(t)]),
    ({"regex": r"\d{3}-[a-f]+|nothing"}, parlance.Grammar.from_regex(r"\d{3}-[a-f]+|nothing").accepts),
    ({"ebnf": 'root ::= "(" root ")" | "x"'}, lambda t: t.strip("()") == "x"),
    ({"structural_tag": json.dumps(TAG)}, lambda t: t[2:13] == "<tool_call>"),
    ({"structural_tag": json.dumps(OLD_TAG)}, lambda t: "<f>" in t),
]


def schedule(engine, drafts):
    """Batches that change, cached grammars, aborted requests."""
    from sglang.srt.managers.schedule_batch import FINISH_ABORT

    added = []
    aborted = set()
    for _ in range(4):
        for constraint, check in CONSTRAINTS:
            added.append((engine.add(**constraint), check))
            for _ in range(engine.random.randint(0, 3)):
                engine.step(drafts)
        live = [req for req in engine.running if not req.finished()]
        for req in engine.random.sample(live, min(2, len(live))):
            req.to_finish = FINISH_ABORT("Aborted by AbortReq.")
            req.update_finish_state()
            aborted.add(req.rid)
    engine.run(drafts)
    ended = 0
    for req, check in added:
        if req.rid not in aborted and engine.stopped(req):
            ended += 1
            assert check(engine.text(req)), engine.text(req)
    assert ended > 8, ended
    assert engine.rows > 100
    if drafts:
        assert engine.accepted > 20 and engine.drafted > engine.accepted


def main(folder, mode):
    from sglang.srt.plugins import load_plugins

    load_plugins()
    from parlance.integrations.sglang import backend as ours

    engine = Engine(folder, mode)
    backend = engine.manager.grammar_backend
    inner = backend if mode == "plain" else backend.grammar_backend
    assert isinstance(inner, ours.ParlanceGrammarBackend)
    engine.manager.grammar_backend_vocabulary = inner.vocabulary
    schedule(engine, 0)
    schedule(engine, 4)
    {"plain": plain, "reasoning": reasoning, "strict": strict}[mode](engine, inner)
    print("ok")


def plain(engine, backend):
    # What cannot be compiled ends its request with the reason, twice: the
    # second one comes from the cache.
    for bad, words in (
        ({"json_schema": '{"type": "strin"}'}, "/type"),
        ({"json_schema": "{"}, "no JSON"),
        ({"regex": "(a"}, ""),
        ({"ebnf": "root ::= other"}, "other"),
        ({"structural_tag": '{"structures": 1}'}, "cannot be read"),
        ({"structural_tag": '{"type": "structural_tag", "format": {"type": "no"}}'}, ""),
    ):
        for _ in range(2):
            req = engine.add(**bad)
            while engine.manager.has_waiting_grammars():
                engine.poll()
            assert "Failed to compile" in req.to_finish.message, req.to_finish
            assert words in req.to_finish.message, req.to_finish.message
    # Jump-forward: what must follow, in the tokens of the whole text.
    grammar = backend.dispatch_regex('\\{"name": "[a-z]+", "city": 1\\}')
    assert grammar.grammar_stats.dispatch_type == "regex"
    encode = engine.tokenizer.encode
    old = encode('{"')
    for token in old:
        grammar.accept_token(token)
    text, state = grammar.jump_forward_str_state(
        grammar.try_jump_forward(engine.tokenizer)
    )
    assert text == 'name": "'
    new = encode('{"' + text)
    grammar.jump_and_retokenize(old, new, state)
    assert grammar.try_jump_forward(engine.tokenizer) is None
    # A copy goes its own way.
    twin = grammar.copy()
    assert twin.grammar_stats.is_cache_hit
    for token in encode('a", "city": 1}'):
        grammar.accept_token(token)
    grammar.accept_token(engine.tokenizer.eos_token_id)
    assert grammar.is_terminated() and not twin.is_terminated()
    grammar.rollback(2)
    assert not grammar.is_terminated()
    with pytest.raises(ValueError, match="does not fit"):
        grammar.accept_token(encode("a")[0])
    # White space of JSON is what the server was started with.
    compact = type(backend)(
        engine.tokenizer, engine.width, engine.eos, any_whitespace=False
    )
    grammar = compact.dispatch_json('{"const": {"a": 1}}')
    assert grammar.try_jump_forward(engine.tokenizer)[1] == '{"a":1}'
    framed = backend.compile_framed_grammar(
        backend.dispatch_regex("[ab]"),
        lambda content: {
            "type": "structural_tag",
            "format": {"type": "tag", "begin": "<a>", "content": content, "end": "</a>"},
        },
    )
    for token in encode("<a>b</a>"):
        framed.accept_token(token)


def reasoning(engine, backend):
    """Grammars begin where the reasoning ends, or, if they have it in them, at
    the first token."""
    end = engine.tokenizer.convert_tokens_to_ids("</think>")
    thought = engine.tokenizer.encode("so the weather")
    for drafts in (0, 3):
        added = []
        for _ in range(8):
            req = engine.add(reasoning=True, regex="[ab]{3,9}")
            engine.script[req.rid] = [*thought, end]
            added.append(req)
        engine.run(drafts)
        for req in added:
            before, _, after = engine.text(req).partition("</think>")
            assert before == "so the weather"
            assert not engine.stopped(req) or set(after) <= {"a", "b"}
        tag = parlance.Format("qwen3").structural_tag(
            response_format={"type": "json_schema", "json_schema": {"schema": {"const": 7}}},
            max_white_space=1,
        )
        added = [
            engine.add(
                reasoning=True,
                structural_tag=tag.to_json(),
                custom={"__sglang_reasoning_in_grammar": True},
            )
            for _ in range(8)
        ]
        engine.run(drafts)
        texts = [engine.text(req) for req in added if engine.stopped(req)]
        assert texts
        for text in texts:
            before, _, answer = text.rpartition("</think>\n\n")
            assert answer.removesuffix("<|im_end|>").removesuffix("<|endoftext|>") == "7"
            assert before.startswith("<think>\n") or not before


def strict(engine, backend):
    """A budget of reasoning is kept by masks."""
    end = engine.tokenizer.convert_tokens_to_ids("</think>")
    req = engine.add(reasoning=True, regex="[ab]{3}", custom={"thinking_budget": 4})
    while engine.manager.has_waiting_grammars():
        engine.poll()
    for i in range(4):
        assert engine.masks()[0].sum() > 200
        engine.accept(req, [100 + i])
    (row,) = engine.masks()
    assert numpy.flatnonzero(row).tolist() == [end]
    engine.accept(req, [end])
    engine.script[req.rid] = []
    engine.run()
    assert not engine.stopped(req) or set(engine.text(req)[-3:]) <= {"a", "b"}


if __name__ == "__main__":
    main(*sys.argv[1:])
