"""Random schemas of five drafts in which several keywords meet, and the law of
support/schema_law.py: accepted means valid; refused means invalid, or `report()` says
so; verdicts do not depend on what was read; masks lead to what is valid.

PARLANCE_SEED (default 1) is the first schema, PARLANCE_ROUNDS how many; PARLANCE_LONG=1
takes 100,000.  A failure shows the smallest schema that was found, and its seed.
"""

import collections
import os

import pytest

pytest.importorskip("regex")
from random_instances import Instances  # noqa: E402
from random_schemas import Schemas  # noqa: E402
from schema_law import explained, failure  # noqa: E402

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
LONG = os.environ.get("PARLANCE_LONG") == "1"
ROUNDS = int(os.environ.get("PARLANCE_ROUNDS", "100000" if LONG else "3000"))
BLOCKS = 100 if LONG else 6
TEXTS = 50


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_schemas(block):
    tally = collections.Counter()
    broken = []
    for seed in range(SEED + block, SEED + ROUNDS, BLOCKS):
        draw = Schemas(seed)
        schema = draw.schema()
        near = Instances(seed, schema)
        texts = [near.text() for _ in range(TEXTS)]
        options = {"canonical": seed % 4 == 0}
        message = failure(schema, draw.draft, texts, seed, tally=tally, **options)
        if message:
            small = explained(schema, draw.draft, texts, seed, message, **options)
            broken.append(f"PARLANCE_SEED={seed} PARLANCE_ROUNDS=1, {small}")
    print(dict(tally))
    assert not broken, "\n".join(broken)
    if ROUNDS >= 1000:
        assert tally["exact"] > tally["narrowed"]
        assert tally["accepted"] > tally["refused"] / 10
        assert tally["undecided"] + tally["too_large"] < tally["exact"] / 20
