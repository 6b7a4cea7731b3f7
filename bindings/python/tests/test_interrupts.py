"""Ctrl-C ends every call that may take long.

Each function gets work for a minute or more, and a signal shortly after it begins,
in a process of its own, which is ended when it does not hear it.  Compiles and
captures ask ``cancelled`` and signals alike; test_constraint.py has those.
"""

import os
import subprocess
import sys
import textwrap

import pytest

# Python texts: what is prepared, and the call.  `big` has 30 MB.
PRELUDE = """
import signal
import parlance, parlance.jmespath

QWEN = parlance.Format("qwen3")
VOCABULARY = parlance.Vocabulary([bytes([b]) for b in range(256)], stop_ids=[0])
TEXT = "<think>a</think>" + "b " * 500_000
IDS = list(TEXT[:100_000].encode())
AMBIGUOUS = parlance.Grammar.from_ebnf('root ::= root root root | root root | "a" | ""')
"""

CALLS = {
    # The same text over and over takes no memory.
    "parse_response, many": (
        'parlance.parse_response([TEXT] * 100_000, QWEN, prefix="")'
    ),
    "parse_response, details": (
        'parlance.parse_response([TEXT] * 100_000, QWEN, prefix="", details=True)'
    ),
    "parse_response, ids": (
        "parlance.parse_response([IDS] * 400, QWEN, prefix='', "
        "vocabulary=VOCABULARY)"
    ),
    "parse_response, schema": (
        "parlance.parse_response([TEXT] * 100_000, {'type': 'object', "
        "'properties': {'a': {'type': 'string', 'x-regex': '(?s)</think>(.*)'}}})"
    ),
    "ResponseParser.feed": (
        "parser = QWEN.parser()\nwhile True: parser.feed(TEXT * 100)"
    ),
    "StructuralTag.parse": (
        "parlance.StructuralTag({'format': {'type': 'regex', "
        "'pattern': '(a|b|[^c])*'}}).parse(TEXT * 50)"
    ),
    "Grammar.accepts": "AMBIGUOUS.accepts('a' * 100_000_000)",
    "Grammar.explain": "AMBIGUOUS.explain('a' * 100_000_000)",
    "view, a grammar": "parlance.view('a' * 100_000_000, AMBIGUOUS)",
    "view, masks": (
        "parlance.view([98] * 20_000_000, parlance.Grammar.from_regex('[ab]*'), "
        "vocabulary=VOCABULARY)"
    ),
    "view, a format": "while True: parlance.view(TEXT * 20, QWEN)",
    "jmespath.search": (
        "parlance.jmespath.search('[*][?a > `5`]', [[{'a': 1}] * 10_000] * 100_000)"
    ),
    "Vocabulary": (
        "while True: parlance.Vocabulary([b'%d' % i for i in range(1_000_000)])"
    ),
}

# The call has a frame of its own: a signal that comes between two rounds of its
# loop is raised at the jump, which a `try` around the loop need not cover.
BODY = """
def heard(*_):
    raise KeyboardInterrupt

def call():
{call}

signal.signal(signal.SIGALRM, heard)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    call()
except KeyboardInterrupt:
    print("interrupted")
else:
    print("done before the signal")
"""


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c(name):
    call = textwrap.indent(CALLS[name], "    ")
    process = subprocess.run(
        [sys.executable, "-c", PRELUDE + BODY.format(call=call)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.stdout == "interrupted\n", process.stderr[-2000:]


NO_THREADS = """
import resource

import parlance

format = parlance.Format("qwen3")
texts = [f"<think>{i}</think>" + "b" * 4000 for i in range(64)]
wanted = [parlance.parse_response(text, format, prefix="") for text in texts]
schema = parlance.ResponseSchema({"x-regex": "(?P<content>.*)", "type": "object",
                                  "properties": {"content": {"type": "string"}}})
contents = [parlance.parse_response(text, schema) for text in texts]
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (6 << 20),) * 2)  # no stack fits
for _ in range(3):
    assert parlance.parse_response(texts, format, prefix="") == wanted
    assert parlance.parse_response(texts, schema) == contents
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_batch_without_threads():
    done = subprocess.run(
        [sys.executable, "-c", NO_THREADS], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
