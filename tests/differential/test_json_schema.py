"""Grammars of JSON Schemas against the package `jsonschema`.

Random schemas in which three to eight keywords meet in one place, and values of
the same small world (tests/support/dense_schemas.h).  A grammar without notes
accepts exactly what the package finds valid; one that says it is narrower, at
most that; and where a schema is called unsatisfiable no value is valid.  The
same with the option `closed`, whose meaning closed_schemas.py writes as a schema.

Needs the program dense_probe, built with the tests; PARLANCE_PROBE_DIR names
the directory it is in.  PARLANCE_SEED (default 1) is the first schema,
PARLANCE_ROUNDS (default 1500) how many; PARLANCE_LONG=1 takes 100,000.
"""

import collections
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from closed_schemas import closed  # noqa: E402

jsonschema = pytest.importorskip("jsonschema")

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
LONG = os.environ.get("PARLANCE_LONG") == "1"
ROUNDS = int(os.environ.get("PARLANCE_ROUNDS", "100000" if LONG else "1500"))
VALUES = 30


def words_of(schema):
    return set(re.findall(r"\w+", json.dumps(schema)))


def answers(*more):
    directory = os.environ.get("PARLANCE_PROBE_DIR")
    if not directory:
        pytest.skip("PARLANCE_PROBE_DIR is not set: no dense_probe to ask")
    path = Path(directory) / "dense_probe"
    if not path.exists():
        pytest.skip(f"{path} does not exist: build the tests first")
    words = [path, str(SEED), str(SEED + ROUNDS - 1), str(VALUES), *more]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as probe:
        for line in probe.stdout:
            yield json.loads(line)
    assert probe.returncode == 0


@pytest.mark.parametrize("is_closed", [False, True], ids=["open", "closed"])
def test_dense_schemas(is_closed):
    tally = collections.Counter()
    for answer in answers(*["closed"] * is_closed):
        schema, state = answer["schema"], answer["state"]
        tally[state] += 1
        if is_closed and state == "conflict":
            continue  # it refers to itself in place: so would what it means
        meant = closed(schema) if is_closed else schema
        if is_closed and {"contains", "unevaluatedItems"} <= words_of(schema):
            continue  # closed() hides from the latter what the former finds
        validator = jsonschema.Draft202012Validator(meant)
        for value, bit in zip(answer["values"], answer["accepted"]):
            valid, accepted = validator.is_valid(value), bit == "1"
            tally["valid" if valid else "invalid"] += 1
            if accepted == valid:
                continue
            place = f"PARLANCE_SEED={answer['seed']}, {json.dumps(schema)}"
            assert not accepted, f"accepted, not valid: {value} under {place}"
            assert state == "narrowed", f"valid, refused: {value} under {place}"
            tally["left out"] += 1
    print(dict(tally))
    assert set(tally) <= {"exact", "narrowed", "unsatisfiable", "unsupported",
                          "too_large", "conflict", "valid", "invalid",
                          "left out"}
    assert tally["exact"] > ROUNDS // 4
    assert tally["valid"] > tally["invalid"] // 20
