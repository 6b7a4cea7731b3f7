"""A step of vLLM with 256 constrained requests: masks, tokens, parsing.

    scripts/install vllm
    .venv-engines/vllm/bin/python bench/bench_vllm.py "$(scripts/fetch tokenizer-qwen3)"

Each request writes the arguments of a tool under the tool's JSON Schema, token
by token of Qwen3's tokenizer; when it ends, another takes its row.  Timed are
the calls that vLLM's scheduler makes in a step, in vLLM's own classes:

    fill    StructuredOutputManager.grammar_bitmask, all rows
    accept  StructuredOutputManager.accept_tokens, each row
    parse   Parser.parse_delta, each row, of the same arguments as a tool call

The times are of the processor, over all threads.  Each engine runs in a process
of its own.  What a row writes is the same in all of them.  No mask is computed
before the measured steps but those of the first steps, which are not counted.
"""

import argparse
import json
import logging
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROWS = 256
WARM = 50
STEPS = 200

# Name, backend of masks, parser.
ENGINES = [
    ("parlance", "xgrammar", "parlance_qwen3"),
    ("xgrammar", "xgrammar", "hermes"),
    ("llguidance", "guidance", "qwen3_json"),
]

WORDS = (
    "the quick brown fox jumps over a lazy dog while Zürich sleeps and nobody "
    "writes code in C:\\work or \"quotes\" anything about 東京 today"
).split()


def tools():
    """Sixteen tools: strings, numbers, enumerations, arrays, objects."""
    out = []
    for i in range(16):
        properties = {
            "query": {"type": "string"},
            f"limit_{i}": {"type": "integer", "minimum": 1, "maximum": 500},
            "mode": {"enum": ["fast", "exact", f"mode {i}"]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 6},
            "place": {
                "type": "object",
                "properties": {
                    "latitude": {"type": "number"},
                    "name": {"type": "string"},
                },
                "required": ["latitude", "name"],
                "additionalProperties": False,
            },
        }
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        function = {"name": f"tool_{i}", "parameters": schema}
        out.append({"type": "function", "function": function})
    return out


def arguments_of(i, random_):
    def text(low, high):
        return " ".join(random_.choices(WORDS, k=random_.randint(low, high)))

    return {
        "query": text(5, 40),
        f"limit_{i}": random_.randint(1, 500),
        "mode": random_.choice(["fast", "exact", f"mode {i}"]),
        "tags": [text(1, 2) for _ in range(random_.randint(0, 6))],
        "place": {"latitude": round(random_.uniform(-90, 90), 4), "name": text(1, 3)},
    }


class Row:
    """A row of the batch: the request in it, and what it writes."""

    def __init__(self, bench, number):
        self.bench = bench
        self.random = random.Random(number)
        self.count = 0
        self.name = f"row{number}"
        self.begin()

    def begin(self):
        bench = self.bench
        self.count += 1
        tool = self.random.randrange(16)
        function = bench.tools[tool]["function"]
        text = json.dumps(arguments_of(tool, self.random), ensure_ascii=False)
        self.ids = bench.encode(text) + [bench.tokenizer.eos_token_id]
        call = f'<tool_call>\n{{"name": "{function["name"]}", "arguments": {text}}}\n</tool_call>'
        self.call = bench.encode(call)
        self.at = 0
        self.read = 0
        self.request = bench.request(function["parameters"])
        self.parser = bench.parser_cls(bench.tokenizer, bench.chat.tools)


class Bench:
    def __init__(self, folder, backend, parser):
        from vllm.config import (
            DeviceConfig,
            ModelConfig,
            SchedulerConfig,
            StructuredOutputsConfig,
            VllmConfig,
        )
        from vllm.entrypoints.openai.chat_completion.protocol import (
            ChatCompletionRequest,
        )
        from vllm.parser.parser_manager import ParserManager
        from vllm.plugins import load_general_plugins
        from vllm.v1.structured_output import StructuredOutputManager

        load_general_plugins()
        logging.disable(logging.WARNING)
        self.config = VllmConfig(
            model_config=ModelConfig(
                model=folder, tokenizer=folder, dtype="float16", max_model_len=4096
            ),
            scheduler_config=SchedulerConfig(
                max_num_seqs=ROWS,
                max_num_batched_tokens=4096,
                max_model_len=4096,
                is_encoder_decoder=False,
            ),
            device_config=DeviceConfig("cpu"),
            structured_outputs_config=StructuredOutputsConfig(backend=backend),
        )
        self.manager = StructuredOutputManager(self.config)
        self.tokenizer = self.manager.tokenizer
        self.parser_cls = ParserManager.get_parser(
            parser, None, enable_auto_tools=True, tokenizer=self.tokenizer
        )
        self.tools = tools()
        self.chat = ChatCompletionRequest.model_validate(
            {
                "model": "m",
                "messages": [{"role": "user", "content": "?"}],
                "tools": self.tools,
            }
        )
        self.made = 0
        self.rows = [Row(self, i) for i in range(ROWS)]

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False)

    def request(self, schema):
        from vllm.sampling_params import SamplingParams, StructuredOutputsParams
        from vllm.v1.request import Request

        params = SamplingParams(structured_outputs=StructuredOutputsParams(json=schema))
        params.update_from_generation_config({}, self.tokenizer.eos_token_id)
        params._validate_structured_outputs(
            self.config.model_config, self.config.structured_outputs_config, self.tokenizer
        )
        self.made += 1
        request = Request(f"r{self.made}", [1], params, None)
        self.manager.grammar_init(request)
        return request

    def run(self):
        for row in self.rows:
            while not row.request.structured_output_request.is_grammar_ready:
                time.sleep(0.001)
            row.request.structured_output_request.grammar.is_terminated()
        spent = {"fill": [], "accept": [], "parse": []}
        for step in range(WARM + STEPS):
            times = self.step(step)
            if step >= WARM:
                for name, seconds in times.items():
                    spent[name].append(seconds)
        return {name: statistics.mean(times) for name, times in spent.items()}

    def step(self, step):
        rows = self.rows
        requests = {row.name: row.request for row in rows}
        names = list(requests)
        clock = time.process_time
        begin = clock()
        masks = self.manager.grammar_bitmask(requests, names, {})
        filled = clock()
        for row in rows:
            if not self.manager.accept_tokens(row.request, [row.ids[row.at]]):
                raise SystemExit(f"refused: {self.tokenizer.decode(row.ids[: row.at + 1])}")
        accepted = clock()
        for i, row in enumerate(rows):
            id = row.ids[row.at]
            assert masks[i, id // 32] >> (id % 32) & 1
        texts = []
        for row in rows:
            id = row.call[min(row.read, len(row.call) - 1)]
            texts.append((id, self.tokenizer.decode([id])))
        parsing = clock()
        for row, (id, text) in zip(rows, texts):
            row.parser.parse_delta(text, [id], self.chat, [1], finished=False)
        parsed = clock()
        for row in rows:
            row.at += 1
            row.read += 1
            if row.at == len(row.ids):
                row.begin()
        for row in rows:
            while not row.request.structured_output_request.is_grammar_ready:
                time.sleep(0.0001)
        return {
            "fill": filled - begin,
            "accept": accepted - filled,
            "parse": parsed - parsing,
        }


def model_folder(tokenizer, folder):
    """A model's folder with this tokenizer, and no weights."""
    source = pathlib.Path(tokenizer)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (pathlib.Path(folder) / name).write_bytes((source / name).read_bytes())
    configuration = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "vocab_size": 151936,
        "max_position_embeddings": 4096,
        "torch_dtype": "float16",
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "bos_token_id": 151643,
        "eos_token_id": 151645,
    }
    (pathlib.Path(folder) / "config.json").write_text(json.dumps(configuration))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("tokenizer", help="a folder with Qwen3's tokenizer.json")
    options.add_argument("--engine", help=argparse.SUPPRESS)
    options = options.parse_args()
    if options.engine:
        _, backend, parser = next(e for e in ENGINES if e[0] == options.engine)
        print("RESULT", json.dumps(Bench(options.tokenizer, backend, parser).run()))
        return
    print(f"microseconds of processor time for a row, {ROWS} rows")
    print(f"{'':12}{'fill':>8}{'accept':>8}{'parse':>8}{'together':>10}")
    with tempfile.TemporaryDirectory() as folder:
        model_folder(options.tokenizer, folder)
        for name, _, _ in ENGINES:
            environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
            environment["PARLANCE_VLLM_BACKEND"] = str(int(name == "parlance"))
            done = subprocess.run(
                [sys.executable, __file__, folder, "--engine", name],
                capture_output=True,
                text=True,
                env=environment,
            )
            lines = [l for l in done.stdout.splitlines() if l.startswith("RESULT")]
            if done.returncode or not lines:
                raise SystemExit(done.stderr[-3000:])
            result = json.loads(lines[0][7:])
            cells = [1e6 * result[part] / ROWS for part in ("fill", "accept", "parse")]
            print(f"{name:12}" + "".join(f"{c:8.2f}" for c in cells) + f"{sum(cells):10.2f}")


if __name__ == "__main__":
    main()
