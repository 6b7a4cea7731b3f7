"""The tables of docs/reference/real-inputs.md: what becomes of real tools, schemas
and grammars.  scripts/list-real writes them from what the library does.

And what masks let a walk write under each of the schemas is valid by the package
jsonschema.  PARLANCE_SEED (default 1) chooses the walks; PARLANCE_LONG=1 walks
more often, and under the schemas of the store, too.
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy
import pytest

from random_walk import random_walk
from real_files import Missing

from parlance import Vocabulary

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "list-real"
SEED = os.environ.get("PARLANCE_SEED", "1")
LONG = bool(os.environ.get("PARLANCE_LONG"))

loader = importlib.machinery.SourceFileLoader("list_real", str(SCRIPT))
list_real = importlib.util.module_from_spec(
    importlib.util.spec_from_loader(loader.name, loader)
)
loader.exec_module(list_real)


@pytest.mark.parametrize("table", list_real.TABLES)
def test_the_tables_are_what_the_library_does(table):
    result = subprocess.run(
        [sys.executable, SCRIPT, "--check", table],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    if "is left out" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr


PIECES = [bytes([byte]) for byte in range(128)]
PIECES += [b'{"', b'": ', b'", "', b'"}', b"[]", b"{}", b"true", b"null", b' "']
STOP = len(PIECES)


def schemas():
    try:
        rows = list_real.rows_of(ROOT / "scripts" / "schemas.tsv")
        found = [(name, list_real.folder(row) / file) for name, row, file, *_ in rows]
        return found + (list_real.store() if LONG else [])
    except Missing:
        return []


@pytest.mark.parametrize(("name", "path"), schemas(), ids=lambda one: str(one)[-40:])
def test_what_masks_let_out_is_valid(name, path):
    try:
        schema = json.loads(path.read_text("utf-8"))
    except ValueError:
        pytest.skip("the file is no JSON")
    grammar, error = list_real.compiled(schema)
    if error is not None:
        return  # why is in the table
    vocabulary = Vocabulary([*PIECES, b"</s>"], special_ids=[STOP], stop_ids=[STOP])
    constraint = grammar.compile(vocabulary)
    check = list_real.validator(schema)
    for number in range(8 if LONG else 1):
        matcher = constraint.matcher()
        row = numpy.zeros(STOP // 32 + 1, numpy.int32)

        def mask(matcher=matcher, row=row):
            matcher.fill_bitmask(row)
            assert matcher.error is None, matcher.error
            assert row.any()
            return int.from_bytes(row.tobytes(), "little")

        ids = random_walk(
            f"{SEED}-{name}-{number}", 200, PIECES, STOP, mask, matcher.accept_token
        )
        if ids is not None:
            value = json.loads(b"".join(PIECES[one] for one in ids))
            try:
                assert check.is_valid(value), value
            except re.error:
                pytest.skip("Python does not read a pattern of the schema")
