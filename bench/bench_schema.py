"""What reading by a response schema costs from Python, beside transformers.

    PARLANCE_OLD_TRANSFORMERS=FOLDER python bench/bench_schema.py

FOLDER is what `pip install --no-deps --target FOLDER transformers==5.9.0`
makes: the recursive parser left later releases.  Prints, for the recorded
responses of published schemas (conformance/), the time of one call of each
and the ratio, with the schema as a dict, as upstream takes it, and loaded; and
the same for reasoning a hundred times as long.  All must give the same.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import sys
import types

import parlance
from bench_python import best

ROOT = pathlib.Path(__file__).resolve().parent.parent
VECTORS = ROOT / "conformance"


def upstream():
    folder = os.environ.get("PARLANCE_OLD_TRANSFORMERS")
    if not folder:
        sys.exit("PARLANCE_OLD_TRANSFORMERS is needed: see the top of this file")
    source = pathlib.Path(folder, "transformers/utils/chat_parsing_utils.py")
    # All it asks of its package.
    stand_in = types.ModuleType("transformers.utils")
    stand_in.is_jmespath_available = lambda: True
    known = sys.modules.get("transformers.utils")
    sys.modules["transformers.utils"] = stand_in
    names = {"__name__": "old_parsing"}
    exec(compile(source.read_text("utf-8"), source, "exec"), names)
    if known is not None:
        sys.modules["transformers.utils"] = known
    return names["recursive_parse"]


def main():
    theirs = upstream()
    folder = VECTORS / "response_schema"
    schemas = json.loads((folder / "schemas.json").read_text("utf-8"))
    ratios = {1: ([], []), 100: ([], [])}
    print(f"{'response':24} {'bytes':>8} {'ours':>10} {'x':>6} {'loaded':>10} "
          f"{'x':>6} {'upstream':>12}")
    for case in json.loads((folder / "upstream-models.json").read_text("utf-8")):
        if "expected" not in case:
            continue
        schema = schemas[case["schema"]]["schema"]
        loaded = parlance.ResponseSchema(schema)
        for times in ratios:
            text = case["input"]
            thinking = (case["expected"] or {}).get("thinking")
            if times > 1:
                if not thinking:
                    continue
                text = text.replace(thinking, " ".join([thinking] * times))
            expected = json.dumps(theirs(text, schema))
            for ours in (schema, loaded):
                message = parlance.parse_response(text, ours)
                assert json.dumps(message) == expected, case["id"]
            a = best(lambda: parlance.parse_response(text, schema))
            c = best(lambda: parlance.parse_response(text, loaded))
            b = best(lambda: theirs(text, schema))
            ratios[times][0].append(b / a)
            ratios[times][1].append(b / c)
            print(f"{case['id']:24} {len(text):8} {a * 1e6:7.2f} us {b / a:6.1f} "
                  f"{c * 1e6:7.2f} us {b / c:6.1f} {b * 1e6:9.2f} us")
    for times, (dicts, loaded) in ratios.items():
        print(f"geometric mean, times {times}: {statistics.geometric_mean(dicts):.1f}, "
              f"loaded {statistics.geometric_mean(loaded):.1f}")


if __name__ == "__main__":
    main()
