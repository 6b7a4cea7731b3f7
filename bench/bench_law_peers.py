"""How often what a grammar generates is read as a valid message.

    python bench/bench_law_peers.py [--walks 50] [--family qwen3 ...]
                                    [--engine parlance|vllm|llama.cpp ...]
                                    [--failures]

An engine that constrains a model's tool calls, and then reads them, makes a
promise: whatever its grammar generates, its parser reads.  A random walk
through the engine's own grammar, of tokens that its masks allow, is read by the
engine's own parser.  It counts as held if

  * the parser accepts it, without an error or a diagnostic,
  * with tool_choice "required": it has a call,
  * every call names a declared tool, and its arguments are valid under the
    tool's JSON Schema (checked by the package jsonschema).

Walks that are not finished after 1,000 tokens do not count.  All engines get
the same tools, and draw from the same tokens with the same weights: characters,
the family's markers, and beginnings and ends of calls, for most random texts
would call nothing.

  parlance    Format.structural_tag() and parse_response()
  vllm        response_template_grammar.py on the family's response template,
              as vLLM's Beam parser calls it; XGrammar for masks; vLLM's parser
              of response templates.  "-": it derives no grammar.
  llama.cpp   its server (xllamacpp), on chat templates of the family; the
              server samples from a model of which every token is as likely, so
              that the walk, the grammar and the parser are its own.  "-": there
              is no chat template at hand.

The engines come from `scripts/fetch vllm-parser xllamacpp llama-cpp-python`;
PARLANCE_PEERS names the folder that xgrammar lies in.
"""

import argparse
import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import json
import logging
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import types
import urllib.error
import urllib.request

import jsonschema
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "support"))
ENGINES = ("parlance", "vllm", "llama.cpp")
CHOICES = ("required", "auto")
MOST_TOKENS = 1000
SECONDS = 900  # of a family in one engine
# The weight of tokens that are drawn where nothing else is allowed.
UNLIKELY = 1e-11

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "",
            "parameters": {
                "type": "object",
                "required": required,
                "properties": properties,
                "additionalProperties": False,
            },
        },
    }
    for name, required, properties in (
        (
            "get_weather",
            ["city"],
            {
                "city": {"type": "string"},
                "units": {"type": "string", "enum": ["celsius", "kelvin"]},
                "days": {"type": "integer"},
                "options": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["hourly"],
                    "properties": {
                        "hourly": {"type": "boolean"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                    },
                },
            },
        ),
        ("now", [], {}),
        (
            "set_alarm",
            ["on"],
            {"on": {"type": "boolean"}, "level": {"type": "number"}},
        ),
    )
]
SCHEMAS = {
    tool["function"]["name"]: jsonschema.Draft202012Validator(
        tool["function"]["parameters"]
    )
    for tool in TOOLS
}


def why_invalid(calls, choice):
    """Why a list of (name, arguments) breaks the promise; "" if it holds."""
    if choice == "required" and not calls:
        return "no call"
    for name, arguments in calls:
        if name not in SCHEMAS:
            return "a tool that is not declared"
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                return "arguments are no JSON"
        if not SCHEMAS[name].is_valid(arguments):
            return "arguments are not valid"
    return ""


# ---- Tokens


def family_strings(value):
    """All texts of a family file that may contain markers."""
    if isinstance(value, str):
        # Of patterns, what they match literally.
        yield re.sub(r"\\(.)", r"\1", value)
    elif isinstance(value, list):
        for item in value:
            yield from family_strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("why", "detect", "variants"):
                yield from family_strings(item)


@dataclasses.dataclass
class Tokens:
    """The tokens of a family, by id, and how likely each is drawn."""

    texts: list
    weights: np.ndarray
    markers: int  # how many of the last are markers

    @property
    def end(self):
        """The id of the token that ends a response."""
        return len(self.texts)


def phrases_of(family):
    """Beginnings and ends of calls, as the family writes them."""
    import parlance

    format_ = parlance.Format(family)
    found = set()
    for message in (
        {"tool_calls": [{"name": "now", "id": "call00000", "arguments": {}}]},
        {
            "tool_calls": [
                {
                    "name": "get_weather",
                    "id": "call00000",
                    "arguments": {"city": "XX"},
                }
            ]
        },
        {"thinking": "XX", "content": "YY"},
    ):
        with contextlib.suppress(parlance.Error):
            text = format_.render(message, verify=False)
            parts = re.split("XX|YY", text)
            found.update(parts if len(parts) > 1 else [text])
    return sorted(text for text in found if len(text) > 1)


@functools.cache
def tokens_of(family):
    import parlance

    source = json.loads(parlance.Format(family).source)
    markers = sorted(
        {
            marker
            for text in family_strings(source)
            for marker in re.findall(
                r"<[^<>\s\"'{}\\,=()?*+]+>|\[[^\[\]\s\"'{}\\,=()?*+]+\]", text
            )
        }
    )
    words = ["get_weather", "now", "set_alarm", "city", "celsius", "true"]
    # Long phrases are rare in texts, and what ends a text is not.
    phrases = [p for p in phrases_of(family) if p not in markers]
    texts = [bytes([byte]) for byte in range(256)]
    weights = [UNLIKELY] * 256
    for characters, weight in (
        ("abcxyz", 1),
        ("012", 1),
        (" \n", 2),
        ("{[,:\\<>/=", 1.5),
        ("\"'}])", 12),
        ("-._()|&#", 0.3),
    ):
        for character in characters:
            weights[ord(character)] = weight
    # Other characters are there where a grammar asks for them.
    for byte in range(32, 127):
        weights[byte] = max(weights[byte], 0.02)
    rare = {c for text in [*markers, *phrases] for c in text if c > "\x7f"}
    for text in [*words, "é", "東京", *sorted(rare)]:
        texts.append(text.encode())
        weights.append(0.5)
    for text in phrases:
        texts.append(text.encode())
        weights.append(6)
    for text in markers:
        texts.append(text.encode())
        weights.append(6)
    weights.append(20)
    return Tokens(texts, np.array(weights), len(markers))


def allowed_of(row, size):
    return np.unpackbits(row.view(np.uint8), bitorder="little")[:size]


def walk(tokens, rng, fill, accept, is_over):
    """The text of a random walk; None if it does not end."""
    out = []
    for _ in range(MOST_TOKENS):
        weights = tokens.weights * allowed_of(fill(), len(tokens.weights))
        sums = np.cumsum(weights)
        id_ = int(np.searchsorted(sums, rng.random() * sums[-1], "right"))
        if not accept(id_):
            raise RuntimeError("a token of the mask is not accepted")
        if id_ == tokens.end:
            return b"".join(out)
        out.append(tokens.texts[id_])
        if is_over():
            return b"".join(out)
    return None


# ---- Engines: each yields (choice, outcome, text); outcome is "held",
# "unfinished", or why the promise is broken.


class NoGrammar(Exception):
    """The engine derives none; the text says why."""


def walks_of_parlance(family, count):
    import parlance

    tokens = tokens_of(family)
    vocabulary = parlance.Vocabulary(
        [*tokens.texts, b"<end>"],
        control_ids=[tokens.end],
        stop_ids=[tokens.end],
    )
    compiler = parlance.Compiler(vocabulary)
    format_ = parlance.Format(family)
    row = np.zeros((len(tokens.weights) + 31) // 32, np.int32)
    for choice in CHOICES:
        try:
            tag = format_.structural_tag(TOOLS, tool_choice=choice)
        except parlance.Error as error:
            raise NoGrammar(str(error)) from error
        constraint = compiler.compile_structural_tag(tag)
        for seed in range(count):
            matcher = constraint.matcher()

            def fill(matcher=matcher):
                matcher.fill_bitmask(row)
                return row

            text = walk(
                tokens,
                random.Random(seed),
                fill,
                matcher.accept_token,
                matcher.is_terminated,
            )
            if text is None:
                yield choice, "unfinished", ""
                continue
            text = text.decode()
            result = parlance.parse_response(
                text, format_, prefix="", tools=TOOLS, details=True
            )
            if result.error or result.diagnostics:
                yield choice, "diagnostic", text
                continue
            calls = [
                (call["function"]["name"], call["function"]["arguments"])
                for call in result.message.get("tool_calls", [])
            ]
            yield choice, why_invalid(calls, choice) or "held", text


def package(name, folder):
    """Imports the package that lies in a folder of any name."""
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def vllm_modules():
    """vLLM's two modules, without vLLM."""
    folder = fetched("vllm-parser")
    for name, path in (("vllm", folder.parent), ("vllm.parser", folder)):
        module = types.ModuleType(name)
        module.__path__ = [str(path)]
        sys.modules[name] = module
    logger = types.ModuleType("vllm.logger")
    logger.init_logger = logging.getLogger
    sys.modules["vllm.logger"] = logger
    return (
        importlib.import_module("vllm.parser.response_template_grammar"),
        importlib.import_module("vllm.parser.chat_parsing"),
    )


def walks_of_vllm(family, count):
    import parlance
    import xgrammar_alone

    if xgrammar_alone.missing():
        raise NoGrammar(xgrammar_alone.missing())
    xgrammar = xgrammar_alone.load()
    grammar, parsing = vllm_modules()
    template = parlance.Format(family).template
    try:
        spec = parsing.response_parser.load_response_template(template)
    except (KeyError, TypeError, ValueError) as error:
        raise NoGrammar(f"the template is refused: {error}") from error
    tokens = tokens_of(family)
    compiler = xgrammar.GrammarCompiler(
        xgrammar.TokenizerInfo(
            [*tokens.texts, b"<end>"], stop_token_ids=[tokens.end]
        ),
        max_threads=1,
    )
    rows = np.zeros((1, (len(tokens.weights) + 31) // 32), np.int32)
    fields = spec.fields
    refusals = set()
    for choice in CHOICES:
        tag = None
        with contextlib.suppress(ValueError):
            tag = grammar.tool_call_structural_tag(
                fields.get("tool_calls"),
                [tool["function"] for tool in TOOLS],
                parallel_tool_calls=True,
                thinking=fields.get("thinking"),
                answer=None if choice == "required" else fields.get("content"),
                message_start=grammar.message_start_anchors(spec),
                requires_reasoning=False,
                sorted_arguments=True,
                strict_arguments=True,
            )
        if tag is None:
            refusals.add("no grammar is derived")
            continue
        try:
            compiled = compiler.compile_structural_tag(json.dumps(tag))
        except RuntimeError as error:
            refusals.add(f"XGrammar refuses the derived tag: {error}")
            continue
        for seed in range(count):
            matcher = xgrammar.GrammarMatcher(compiled)

            def fill(matcher=matcher):
                # Without a bit that is not set, the row may be left as it was.
                if not matcher.fill_next_token_bitmask(rows, 0):
                    rows.fill(-1)
                return rows[0]

            text = walk(
                tokens,
                random.Random(seed),
                fill,
                matcher.accept_token,
                matcher.is_terminated,
            )
            if text is None:
                yield choice, "unfinished", ""
                continue
            text = text.decode("utf-8", "replace")
            parser = parsing.ResponseParser(template, prefix="", tools=TOOLS)
            events = parser.feed(text)
            message, last = parser.finalize()
            if any(e["type"] == "region_malformed" for e in [*events, *last]):
                yield choice, "malformed region", text
                continue
            found = message.get("tool_calls", [])
            calls = [
                (call["function"]["name"], call["function"]["arguments"])
                for call in (found if isinstance(found, list) else [found])
            ]
            yield choice, why_invalid(calls, choice) or "held", text
    if refusals:
        raise NoGrammar("; ".join(sorted(refusals)))


def walks_of_llama_cpp(template, family, count):
    """`template` is the path of a chat template."""
    import uniform_model

    tokens = tokens_of(family)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        model = pathlib.Path(folder, "uniform.gguf")
        first_marker = len(tokens.texts) - tokens.markers
        uniform_model.write(
            model,
            tokens.texts[:first_marker],
            [text.decode() for text in tokens.texts[first_marker:]],
            context=16384,
        )
        # The log tells how a response ended that the server could not read.
        log = stack.enter_context(open(pathlib.Path(folder, "log"), "w+b"))
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        module = package("xllamacpp", fetched("xllamacpp"))
        parameters = module.CommonParams()
        parameters.model.path = str(model)
        parameters.chat_template = template.read_text("utf-8")
        parameters.use_jinja = True
        parameters.n_ctx = 16384
        parameters.n_parallel = 1
        parameters.warmup = False
        parameters.verbosity = 20
        parameters.cpuparams.n_threads = 1
        server = module.Server(parameters)
        bias = [
            [id_, math.log(weight)] for id_, weight in enumerate(tokens.weights)
        ]
        for choice in CHOICES:
            for seed in range(count):
                request = {
                    "messages": [{"role": "user", "content": "Hi."}],
                    "tools": TOOLS,
                    "tool_choice": choice,
                    "parallel_tool_calls": True,
                    "max_tokens": MOST_TOKENS,
                    "seed": seed,
                    "temperature": 1,
                    "samplers": ["temperature"],
                    "logit_bias": bias,
                    "cache_prompt": False,
                }
                start = log.seek(0, os.SEEK_END)
                status, body = post(server.listening_address, request)
                log.seek(start)
                said = log.read().decode("utf-8", "replace")
                os.ftruncate(log.fileno(), 0)
                ids = re.findall(r"slot decode token, id=(\d+)", said)
                text = b"".join(
                    tokens.texts[int(id_)]
                    for id_ in ids
                    if int(id_) < tokens.end
                ).decode("utf-8", "replace")
                if "stopped by limit" in said:
                    yield choice, "unfinished", text
                elif status != 200:
                    if not ids:
                        raise NoGrammar(body)
                    yield choice, "error 500", text
                else:
                    answer = json.loads(body)["choices"][0]["message"]
                    calls = [
                        (call["function"]["name"], call["function"]["arguments"])
                        for call in answer.get("tool_calls") or []
                    ]
                    yield choice, why_invalid(calls, choice) or "held", text


def post(address, request):
    """Status and body of a chat completion."""
    try:
        with urllib.request.urlopen(
            urllib.request.Request(
                address + "/v1/chat/completions",
                json.dumps(request).encode(),
                {"Content-Type": "application/json"},
            )
        ) as response:
            return 200, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


# ---- The table


def fetched(name):
    import chat_templates

    return chat_templates.fetched(name)


def templates_of(family):
    """The chat templates of a family, as paths."""
    import chat_templates

    folder = fetched("llama-cpp-python") / "templates"
    names = {
        template.name
        for template in chat_templates.TEMPLATES
        if same_family(template.format, family)
    }
    return sorted(p for p in folder.glob("*.jinja") if p.stem in names)


@functools.cache
def family_of(name):
    import parlance

    return json.loads(parlance.Format(name).source)["name"]


def same_family(name, family):
    return name == family or family_of(name) == family


def run_worker(engine, family, count, template):
    """Prints an outcome a line, as JSON."""
    make = {
        "parlance": lambda: walks_of_parlance(family, count),
        "vllm": lambda: walks_of_vllm(family, count),
        "llama.cpp": lambda: walks_of_llama_cpp(
            pathlib.Path(template), family, count
        ),
    }[engine]
    # An engine may write to the standard output.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        try:
            for outcome in make():
                print(json.dumps(outcome), file=out, flush=True)
        except NoGrammar as error:
            print(json.dumps(["", "no grammar", str(error)]), file=out)
    # A server's threads need not be waited for.
    os._exit(0)


def outcomes_of(engine, family, count):
    """All outcomes of a family, from processes of their own."""
    runs = [None] if engine != "llama.cpp" else templates_of(family)
    for template in runs:
        command = [sys.executable, __file__, "--worker", engine]
        command += ["--family", family, "--walks", str(count)]
        if template is not None:
            command += ["--template", str(template)]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                out, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                out, _ = process.communicate()
        found = False
        for line in out.splitlines():
            found = True
            yield template, *json.loads(line)
        if process.returncode != 0 or not found:
            yield template, "", "no grammar", f"status {process.returncode}"


@dataclasses.dataclass
class Cell:
    """What a family's walks with one tool_choice came to."""

    held: int = 0
    finished: int = 0
    unfinished: int = 0

    def __str__(self):
        if self.finished == 0:
            return "-"
        if self.held == self.finished:
            return f"{self.finished}"
        return f"**{self.held}** of {self.finished}"


def main():
    options = arguments()
    if options.worker:
        run_worker(
            options.worker, options.family[0], options.walks, options.template
        )
    import parlance

    families = options.family or [
        name
        for name in parlance.formats()
        if "tool_calls" in parlance.Format(name).fields
    ]
    engines = options.engine or ENGINES
    heads = [f"{engine}, {choice}" for engine in engines for choice in CHOICES]
    print("| family | " + " | ".join(heads) + " |")
    print("| --- |" + " --- |" * len(heads))
    totals = {(engine, choice): Cell() for engine in engines for choice in CHOICES}
    whole = dict.fromkeys(totals, 0)
    covered = dict.fromkeys(totals, 0)
    failures = {}
    for family in families:
        row = []
        for engine in engines:
            cells = {choice: Cell() for choice in CHOICES}
            for template, choice, outcome, text in outcomes_of(
                engine, family, options.walks
            ):
                if outcome == "no grammar":
                    failures[engine, family, outcome, text[:200]] = 0
                    continue
                cell = cells[choice]
                if outcome == "unfinished":
                    cell.unfinished += 1
                    continue
                cell.finished += 1
                if outcome == "held":
                    cell.held += 1
                    continue
                name = template.stem if template else family
                key = (engine, name, f"{outcome} ({choice})")
                shown, times = failures.get(key, (text, 0))
                failures[key] = (min(shown, text, key=len), times + 1)
            for choice, cell in cells.items():
                total = totals[engine, choice]
                total.held += cell.held
                total.finished += cell.finished
                total.unfinished += cell.unfinished
                covered[engine, choice] += cell.finished > 0
                whole[engine, choice] += 0 < cell.finished == cell.held
                row.append(str(cell))
        print(f"| {family} | " + " | ".join(row) + " |", flush=True)
    print()
    for (engine, choice), total in totals.items():
        share = 100 * total.held / total.finished if total.finished else 0
        print(
            f"{engine}, {choice}: {total.held} of {total.finished} walks held "
            f"({share:.2f} %); {whole[engine, choice]} of "
            f"{covered[engine, choice]} families without a failure; "
            f"{total.unfinished} walks were not finished"
        )
    if options.failures:
        print()
        for key, value in failures.items():
            if value == 0:
                print(": ".join(key))
            else:
                print(f"{': '.join(key)}, {value[1]} times: {value[0]!r}")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--walks", type=int, default=50)
    parser.add_argument("--family", action="append")
    parser.add_argument("--engine", action="append", choices=ENGINES)
    parser.add_argument(
        "--failures", action="store_true", help="print the shortest of each"
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--template", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
