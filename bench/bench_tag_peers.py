"""What structural tags and grammars cost from Python, beside XGrammar.

    python bench/bench_tag_peers.py --vocab V.vocab --data bench/grammars
                                    [--schemas MASKBENCH] [--rounds N]

Tool calling of 1, 16 and 128 functions of BFCL, the first of which every engine
reads a call, in the style of Qwen3; arguments are JSON by their schemas:

    first       tag JSON -> compiled -> first mask
    in call     then the bytes up to a call's arguments -> mask

    from nothing    with empty caches; the tables of the vocabulary are there
    again           the same tag in the same compiler
    changed         then a tag with another tool in the place of one, which is
                    called

Grammars: the texts beside them, token by token.  A step is: fill the mask, look
the token up, commit it.  "1st" is the first text of a grammar that was just
compiled with empty caches, "2nd" the same text again.  A text is left after 20
seconds; "tokens" counts those that were read the first time.

Each engine runs on one thread, in a process of its own.  PARLANCE_PEERS names
the folder that xgrammar lies in.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time

import bench_mask_peers
from bench_mask_peers import Peer, Vocabulary, commit, feed, problems, serve

COUNTS = (1, 16, 128)
GRAMMARS = ("json", "sql", "c", "python")
# Of processor time; a request that takes longer is given up.
SECONDS = 120
# A text that takes longer is left where it is.
SECONDS_A_TEXT = 20


class Parlance(bench_mask_peers.Parlance):
    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        import parlance

        self._parlance = parlance
        saved = tempfile.NamedTemporaryFile(suffix=".vocabulary")
        vocabulary.of_parlance().save(saved.name)
        self._vocabulary = parlance.Vocabulary.load(saved.name)

    def empty_caches(self):
        self._compiler = self._parlance.Compiler(self._vocabulary)

    def compile_tag(self, tag):
        return self._compiler.compile_structural_tag(tag)

    def compile_ebnf(self, source):
        return self._compiler.compile_ebnf(source)

    def accept_text(self, matcher, text):
        return matcher.accept_bytes(text.encode())


class Xgrammar(bench_mask_peers.Xgrammar):
    def empty_caches(self):
        self._compiler = self._module.GrammarCompiler(self._info, max_threads=1)

    def compile_tag(self, tag):
        return self._compiler.compile_structural_tag(tag)

    def compile_ebnf(self, source):
        return self._compiler.compile_grammar(source)

    def accept_text(self, matcher, text):
        return matcher.accept_string(text)


PEERS = {"parlance": Parlance, "xgrammar": Xgrammar}


class Worker(bench_mask_peers.Worker):
    """An engine at the other end of a pipe.

    {"tag", "text", "fresh"}  -> {"first", "in call", "fits"} | {"error"}
    {"ebnf", "ids"}           -> {"first", "passes", "fits"} | {"error"}

    Times are in nanoseconds.  "fits": no token was refused.
    """

    peers = PEERS

    def answer(self, peer, request):
        clock = time.perf_counter_ns
        if request.get("fresh", True):
            peer.empty_caches()
        begin = clock()
        try:
            if "tag" in request:
                compiled = peer.compile_tag(request["tag"])
            else:
                compiled = peer.compile_ebnf(request["ebnf"])
        except Exception as error:  # each engine has errors of its own
            return {"error": str(error)}
        matcher = peer.matcher(compiled)
        peer.fill(matcher)
        out = {"first": clock() - begin}
        if "tag" in request:
            begin = clock()
            out["fits"] = bool(peer.accept_text(matcher, request["text"]))
            peer.fill(matcher)
            return out | {"in call": clock() - begin}
        passes = [[], []]
        out["fits"] = all(
            [
                feed(peer, compiled, request["ids"], times, SECONDS_A_TEXT)
                for times in passes
            ]
        )
        return out | {"passes": passes}


def call_begin(name):
    return f'<tool_call>\n{{"name": {json.dumps(name)}, "arguments": '


CALL_END = "}\n</tool_call>"
REASONED = "</think>\n\n"


def tag_of(tools):
    """As parlance's and XGrammar's builders make it for qwen_3."""
    marks = ["<think>", "</think>"]
    return json.dumps({"type": "structural_tag", "format": {
        "type": "sequence", "elements": [
            {"type": "tag", "begin": "", "end": "</think>",
             "content": {"type": "any_text", "excludes": marks}},
            {"type": "const_string", "value": "\n\n"},
            {"type": "triggered_tags", "triggers": ["<tool_call>"],
             "excludes": marks, "tags": [
                {"type": "tag", "begin": call_begin(name), "end": CALL_END,
                 "content": {"type": "json_schema", "json_schema": schema}}
                for name, schema in tools]}]}})  # fmt: skip


def functions(folder):
    """Name, schema, and the text of a call: a schema of BFCL has one property
    for each function that is called."""
    seen = set()
    for problem in problems(folder, None, "BFCL"):
        calls = [test["data"] for test in problem["tests"] if test["valid"]]
        for name, schema in problem["schema"].get("properties", {}).items():
            if name in seen:
                continue
            seen.add(name)
            for call in calls:
                if isinstance(call.get(name), dict):
                    arguments = json.dumps(call[name], ensure_ascii=False)
                    yield name, schema, call_begin(name) + arguments + CALL_END
                    break


def read_tools(peers, folder, count):
    """The first `count` that every engine takes."""
    tools, refused = [], dict.fromkeys(peers, 0)
    for name, schema, text in functions(folder):
        request = {"tag": tag_of([(name, schema)]), "text": REASONED + text,
                   "fresh": False}  # fmt: skip
        takes = {p: peer.ask(request).get("fits") for p, peer in peers.items()}
        for p in peers:
            refused[p] += not takes[p]
        if all(takes.values()):
            tools.append((name, schema))
        if len(tools) == count:
            break
    counts = ", ".join(f"{p} {n}" for p, n in refused.items())
    print(f"functions left out because an engine reads no call of them: {counts}")
    return tools


def why_not(answer):
    if "gone" in answer:
        return f"it {answer['gone']}"
    if "error" in answer:
        return "refused: " + answer["error"].strip().splitlines()[0]
    return None if answer["fits"] else "refuses the text"


def time_tags(peer, tools, count, rounds):
    """For each state of the caches a list of answers; or why there are none."""
    first, changed = tools[:count], tools[:count]
    called, other = count // 2, tools[count]
    changed[called] = other
    steps = {
        "from nothing": (tag_of(first), first[called][0], True),
        "again": (tag_of(first), first[called][0], False),
        "changed": (tag_of(changed), other[0], False),
    }
    out = {name: [] for name in steps}
    for _ in range(rounds):
        for step, (tag, name, fresh) in steps.items():
            answer = peer.ask(
                {"tag": tag, "text": REASONED + call_begin(name), "fresh": fresh}
            )
            if why_not(answer):
                return f"{step}: {why_not(answer)}"
            out[step].append(answer)
    return out


def tags_table(peers, names, tools, rounds):
    print(f"\nTool calling: compile and first mask, then up to a call's arguments "
          f"and mask; milliseconds, median of {rounds}")  # fmt: skip
    steps = ("from nothing", "again", "changed")
    print(f"{'':<27}" + "".join(f"{step:>22}" for step in steps))
    print(f"{'tools':<7}{'':<20}" + f"{'first':>12}{'in call':>10}" * len(steps))
    for count in COUNTS:
        for p, peer in peers.items():
            times = time_tags(peer, tools, count, rounds)
            head = f"{count:<7}{names[p]:<20}"
            if isinstance(times, str):
                print(f"{head}  left out, {times}")
                continue
            cells = ""
            for step in steps:
                for what, width in (("first", 12), ("in call", 10)):
                    ns = statistics.median(one[what] for one in times[step])
                    cells += f"{ns / 1e6:>{width}.3f}"
            print(head + cells, flush=True)


def at(ns, percent):
    """REQUIRES: `ns` is sorted."""
    return ns[min(int(len(ns) * percent / 100), len(ns) - 1)]


def grammars_table(peers, names, data, vocabulary):
    print("\nGrammars: compile and first mask, milliseconds; steps, microseconds")
    print(f"{'':<40}{'1st':>35}{'2nd':>35}")
    print(f"{'grammar':<8}{'':<20}{'compile':>12}"
          + f"{'p50':>11}{'p99':>12}{'max':>12}" * 2 + f"{'tokens':>8}")  # fmt: skip
    for name in GRAMMARS:
        source = (data / f"{name}.ebnf").read_text()
        text = (data / f"{name}.txt").read_bytes()
        ids = [*vocabulary.encode(text), vocabulary.stop[-1]]
        for p, peer in peers.items():
            answer = peer.ask({"ebnf": source, "ids": ids})
            head = f"{name:<8}{names[p]:<20}"
            if why_not(answer):
                where = ""
                if "passes" in answer:
                    where = f" at step {len(answer['passes'][0])} of {len(ids)}"
                print(f"{head}  left out, {why_not(answer)}{where}")
                continue
            cells = f"{answer['first'] / 1e6:>12.3f}"
            for times in map(sorted, answer["passes"]):
                for percent, width in ((50, 11), (99, 12), (100, 12)):
                    cells += f"{at(times, percent) / 1e3:>{width}.2f}"
            done = len(answer["passes"][0])
            of = f" of {len(ids)}" if done < len(ids) else ""
            print(f"{head}{cells}{done:>8}{of}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vocab", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--schemas", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if os.environ.get("PARLANCE_PEERS"):
        sys.path.append(os.environ["PARLANCE_PEERS"])
    vocabulary = Vocabulary(arguments.vocab)
    if arguments.serve:
        serve(Worker(arguments.serve, vocabulary), SECONDS, bytes=16 << 30)
        return

    def start(name):
        return Peer(sys.executable, *sys.argv, "--serve", name)

    print(f"Python {platform.python_version()}, {platform.machine()}, commit "
          f"{commit()}: {' '.join(sys.argv)}")  # fmt: skip
    peers, names = {}, {}
    for name in PEERS:
        peer = start(name)
        hello = peer.ask({})
        if "missing" in hello:
            print(f"{name}: left out, {hello['missing']}")
            peer.close()
        else:
            peers[name], names[name] = peer, hello["name"]
    if arguments.schemas:
        tools = read_tools(peers, arguments.schemas, max(COUNTS) + 1)
        if len(tools) <= max(COUNTS):
            sys.exit(f"{arguments.schemas}: too few functions with calls")
        # Drop the caches that choosing the tools has filled.
        for name in peers:
            peers[name].close()
            peers[name] = start(name)
            peers[name].ask({})
        tags_table(peers, names, tools, arguments.rounds)
    else:
        print("tool calling: left out, there are no schemas")
    grammars_table(peers, names, arguments.data, vocabulary)
    for peer in peers.values():
        peer.close()


if __name__ == "__main__":
    main()
