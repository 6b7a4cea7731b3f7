"""Response schemas: random schemas and texts, read by ours and by upstream's.

The recursive parser left `transformers` with response templates; it is taken
from the last kind of release that has it (5.9.0), from the folder that
PARLANCE_OLD_TRANSFORMERS names (what `pip install --no-deps --target FOLDER
transformers==5.9.0` makes).  Without it the tests are skipped.

Values must be the same, order of keys and types of numbers included; errors of
the same kind.
"""

import importlib.util
import json
import math
import os
import pathlib
import random
import re
import subprocess
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBES = os.environ.get("PARLANCE_PROBE_DIR", ROOT / "build" / "dev" / "probes")
PROBE = pathlib.Path(PROBES) / "schema_probe"
OLD = pathlib.Path(os.environ.get("PARLANCE_OLD_TRANSFORMERS", ""))
MODULE = OLD / "transformers" / "utils" / "chat_parsing_utils.py"
SEED = int(os.environ.get("PARLANCE_SEED", "1"))
COUNT = int(os.environ.get("PARLANCE_CASES", "3000"))

pytestmark = [
    pytest.mark.skipif(not PROBE.exists(), reason="schema_probe is not built"),
    pytest.mark.skipif(
        not os.environ.get("PARLANCE_OLD_TRANSFORMERS") or not MODULE.exists(),
        reason="no PARLANCE_OLD_TRANSFORMERS with the recursive parser",
    ),
]


@pytest.fixture(scope="module")
def upstream():
    # The file asks one question of its package, which is not installed.
    import sys

    stand_in = types.ModuleType("transformers.utils")
    stand_in.is_jmespath_available = lambda: True
    kept = {
        name: sys.modules.get(name) for name in ("transformers", "transformers.utils")
    }
    sys.modules["transformers"] = types.ModuleType("transformers")
    sys.modules["transformers.utils"] = stand_in
    try:
        spec = importlib.util.spec_from_file_location("old_parsing", MODULE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name, known in kept.items():
            if known is None:
                del sys.modules[name]
            else:
                sys.modules[name] = known
    return module.recursive_parse


@pytest.fixture(scope="module")
def probe():
    process = subprocess.Popen(
        [PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    process.wait()


def encoded(value):
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else {"$int": str(value)}
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {"$float": "nan" if value != value else "inf" if value > 0 else "-inf"}
    if isinstance(value, list):
        return [encoded(v) for v in value]
    if isinstance(value, dict):
        return {k: encoded(v) for k, v in value.items()}
    return value


def kind(error):
    import jmespath.exceptions

    if isinstance(error, re.error):
        return "bad_pattern"
    if isinstance(error, jmespath.exceptions.JMESPathError):
        return "transform"
    if isinstance(error, RecursionError):
        return "too_deep"
    # \g<name> of a group that is not there.
    if isinstance(error, IndexError):
        return "bad_pattern"
    return "content_type" if isinstance(error, TypeError) else "invalid_content"


EXTRACTS = [
    "(.)", "(.*)", "(.*?)$", "<a>(.*?)</a>", "<a>(.*?)(?:</a>|$)", "a(b)?",
    "(?P<k>\\w+)=(?P<v>\\w*)", "(?P<k>a)|(?P<v>b)", "(\\d+)", "a", "(a)(b)",
    "(['\"]).*?\\1", "(?<=a)(b)", "^\\s*(.+?)\\s*$", "(", "(?m)^(.*)$", "()",
    "(?P<k>x)(y)", "(\\w+),", "\\{(.*)\\}", "(\\{.*\\})", "(?:^|<a>)(.*?)<",
]
PAIRS = [
    "(?P<key>\\w+)=(?P<value>\\w*)", "(?P<key>\\w)(?P<value>=\\w)?",
    "(?P<key>\\w+)", "(\\w)=(\\w)", "<(?P<key>\\w)>(?P<value>.*?)</",
]
SUBSTITUTIONS = [
    ["a", "b"], ["(a)(b)?", "<\\1\\2>"], ["x*", "-"], ["(?P<n>\\w)=", "\\g<n>:"],
    ["a", "\\1"], ["\\s+", ""], ["(.)", "\\g<0>\\g<1>"], ["b", "\\101\\n"],
    ["^", "> "], ["(?=a)", "|"], ["a", "\\q"], ["(", ""], ["<(/?)a>", "{\\1}"],
    ["(?<=\\d)", "_"],
]
TRANSFORMS = [
    None, "@", "a", "[*].a", "{t: 'x', f: @}", "[{t: 'x', f: @}]", "a[0]",
    "keys(@)", "length(@)", "nope(@)", "[", "[?a==`1`]", "to_string(@)", "a || b",
]
TYPES = [
    None, None, "any", "object", "object", "object", "array", "array", "string",
    "string", "integer", "number", "boolean", "null", ["string"],
]
VALUES = [None, 1, 1.5, "d", [], {"a": 1}, True]
WORDS = [
    "a", "b", "ab", "x", "<a>", "</a>", "=", " ", "\n", "1", "42", "-7", "1.5",
    "true", "False", "null", "{", "}", '{"a":1}', '{"a":"x","b":[1,2]}', "[1,2]",
    '[{"a":1},{"a":null}]', '"q"', ",", "k=v", "'", "é", "²", "{a:1}",
    '{a:<|"|>x<|"|>}', "1e400", "NaN", "[", "\x00", "0",
]


def random_node(r, depth=0):
    node = {}
    if r.random() < 0.05:
        node["const"] = r.choice(VALUES)
    node_type = r.choice(TYPES)
    if node_type is not None:
        node["type"] = node_type
    if r.random() < 0.15:
        node["x-regex-substitutions"] = [
            r.choice(SUBSTITUTIONS) for _ in range(r.randint(0, 3))
        ]
    if r.random() < 0.35:
        node["x-regex"] = r.choice([*EXTRACTS, None])
    if r.random() < (0.4 if node_type == "array" else 0.03):
        node["x-regex-iterator"] = r.choice(EXTRACTS)
    if r.random() < (0.25 if node_type == "object" else 0.03):
        node["x-regex-key-value"] = r.choice(PAIRS)
    if r.random() < 0.25:
        node["x-parser"] = r.choice(["json"] * 6 + ["gemma4-tool-call"] * 3 + ["yaml", None])
    if r.random() < 0.2:
        node["x-parser-args"] = {}
        if r.random() < 0.5:
            node["x-parser-args"]["allow_non_json"] = r.choice([True, True, False])
        if r.random() < 0.5:
            node["x-parser-args"]["transform"] = r.choice(TRANSFORMS)
    if r.random() < 0.15:
        node["default"] = r.choice(VALUES)
    if depth < 3:
        if r.random() < (0.8 if node_type == "object" else 0.1):
            node["properties"] = {
                k: random_node(r, depth + 1)
                for k in r.sample(["k", "v", "a", "b", "key"], r.randint(0, 3))
            }
        if r.random() < 0.3:
            node["additionalProperties"] = r.choice(
                [True, False, {}, random_node(r, depth + 1)]
            )
        if r.random() < (0.8 if node_type == "array" else 0.05):
            node["items"] = random_node(r, depth + 1)
        if r.random() < (0.3 if node_type == "array" else 0.05):
            node["prefixItems"] = [
                random_node(r, depth + 1) for _ in range(r.randint(1, 2))
            ]
        if node_type == "object" and r.random() < 0.2:
            node["required"] = r.sample(["k", "v", "a"], r.randint(0, 2))
    return node


def random_text(r):
    if r.random() < 0.25:
        return r.choice(WORDS)
    return "".join(r.choice(WORDS) for _ in range(r.randint(0, 8)))


def expected(upstream, schema, text):
    try:
        return {"value": encoded(upstream(text, schema))}
    except Exception as error:
        return {"code": kind(error)}


def test_random_schemas(upstream, probe):
    r = random.Random(SEED)
    wrong = []
    values = 0
    for _ in range(COUNT):
        schema = random_node(r)
        texts = [random_text(r) for _ in range(6)]
        answer = probe({"schema": schema, "texts": texts})
        assert "results" in answer, (schema, answer)
        for text, ours in zip(texts, answer["results"]):
            theirs = expected(upstream, schema, text)
            values += "value" in theirs
            mine = {k: ours[k] for k in ("value", "code") if k in ours}
            # A dump tells 1 from 1.0 and true, and keeps the order of keys.
            if json.dumps(mine) != json.dumps(theirs):
                wrong.append((schema, text, mine, theirs))
    report = "\n".join(map(repr, wrong[:5]))
    assert not wrong, f"seed {SEED}: {len(wrong)} differ\n{report}"
    assert values > COUNT // 2
