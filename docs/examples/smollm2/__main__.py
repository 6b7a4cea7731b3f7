"""Lets SmolLM2-135M-Instruct write under Parlance's masks, on this processor.

    python docs/examples/smollm2 MODEL.gguf             all scenarios, as a demo
    python docs/examples/smollm2 MODEL.gguf call free   only these
    python docs/examples/smollm2 MODEL.gguf --check     as a test: one line each

scripts/demo --model gets the model and what this needs, and runs it.  Where the
output is a terminal, each field of the message has a colour as soon as the parser
knows of it, markup is dim, and what was forced, about which the model was not
asked, is underlined.
"""

import argparse
import json
import os
import pathlib
import sys
import time

# A token is a pass over the weights: one thread reaches what memory gives, and
# more of them wait in loops.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import parlance  # noqa: E402
from chat import generate, tokenizer_of, vocabulary_of  # noqa: E402
from model import Model  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402


# Of a terminal.
_BOLD, _DIM, _UNDERLINED = 1, 2, 4
_FIELDS = {"reasoning": 33, "content": 32, "tool_calls": 36}


def painted(text, *codes):
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m"


class Run:
    """One response: what the model wrote, and how it was read meanwhile."""

    def __init__(self, scenario, model, tokenizer, vocabulary):
        self.scenario = scenario
        self._model = model
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary

    def write(self, show=lambda text, field, forced: None):
        scenario = self.scenario
        constraint = scenario.tag.grammar(self._vocabulary).compile(
            self._vocabulary
        )
        self._parser = scenario.tag.parser(vocabulary=self._vocabulary)
        prompt = self._tokenizer.encode(scenario.prompt).ids
        self._model.rewind(0)
        self.ids, self.forced, self.early = [], 0, 0
        field = None
        began = time.perf_counter()
        for step in generate(
            self._model,
            constraint,
            self._parser,
            prompt,
            choose=scenario.choose,
            max_tokens=scenario.max_tokens,
        ):
            self.ids += step.ids
            self.forced += len(step.ids) if step.forced else 0
            self.early += len(step.events)
            text = self._tokenizer.decode(step.ids, skip_special_tokens=False)
            chunks = [e for e in step.events if e["type"] == "region_chunk"]
            show(text, chunks[-1]["field"] if chunks else field, step.forced)
            for event in step.events:
                closed = event["type"] == "region_close"
                field = None if closed else event["field"]
        self.seconds = time.perf_counter() - began
        self.message, _ = self._parser.finalize()

    def check(self):
        """Raises what is wrong."""
        assert len(self.ids) < self.scenario.max_tokens, "too long"
        assert not self._parser.diagnostics, self._parser.diagnostics
        assert self._parser.complete, "the response is not complete"
        assert self.early, "no event before the end"
        for mark in self.scenario.marks:
            assert self._vocabulary.special(mark) in self.ids, f"no {mark}"
        whole = self.scenario.tag.parse(self.ids, vocabulary=self._vocabulary)
        assert whole["message"] == self.message, whole["message"]
        self.scenario.check(self.message)

    def numbers(self):
        return (
            f"{len(self.ids)} tokens, {self.forced} of them forced, in "
            f"{self.seconds:.1f} s"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="scenarios: " + ", ".join(s.name for s in SCENARIOS),
    )
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="scenario")
    parser.add_argument("--check", action="store_true", help="one line each")
    parser.add_argument(
        "--cache",
        type=pathlib.Path,
        help="folder for the dequantised weights; default: the model's",
    )
    options = parser.parse_intermixed_args()
    known = {scenario.name for scenario in SCENARIOS}
    if unknown := set(options.names) - known:
        parser.error(f"no scenario {', '.join(unknown)}; there are {known}")
    model = Model.load(options.model, options.cache or options.model.parent)
    tokenizer = tokenizer_of(model.gguf)
    vocabulary = vocabulary_of(tokenizer, options.model)
    failed = 0
    for scenario in SCENARIOS:
        if options.names and scenario.name not in options.names:
            continue
        run = Run(scenario, model, tokenizer, vocabulary)
        failed += not (check if options.check else demonstrate)(run)
    return 1 if failed else 0


def wrong_with(run):
    """What is wrong with a response, as a line; None if nothing is."""
    try:
        run.check()
    except Exception as error:  # whatever it is, it is the answer
        return f"{type(error).__name__}: {error}"
    return None


def check(run):
    run.write()
    if wrong := wrong_with(run):
        print(f"FAILED {run.scenario.name}: {wrong}\n       {run.ids}")
        return False
    print(f"ok     {run.scenario.name:8} {run.numbers()}", flush=True)
    return True


def demonstrate(run):
    """Shows a response as it comes, then what it means."""
    print(painted(f"── {run.scenario.title}", _BOLD))
    print(painted(run.scenario.question, _DIM))

    def show(text, field, forced):
        codes = [_FIELDS.get(field, _DIM)] + [_UNDERLINED] * forced
        print(painted(text, *codes), end="", flush=True)

    run.write(show)
    print("\n" + painted("the message:", _DIM))
    print(json.dumps(run.message, indent=2, ensure_ascii=False))
    wrong = wrong_with(run)
    verdict = f"WRONG: {wrong}" if wrong else "valid, and read while written"
    print(painted(f"{run.numbers()}; {verdict}\n", _DIM), flush=True)
    return not wrong


if __name__ == "__main__":
    sys.exit(main())
