"""Where the conformance vectors are, and what is in them: conformance/README.md.

tests/support/conformance.h is the same for C++.
"""

import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def added_folders():
    """The folders that PARLANCE_VECTORS adds to conformance/."""
    names = os.environ.get("PARLANCE_VECTORS", "").split(":")
    added = [pathlib.Path(name) for name in names if name]
    for folder in added:
        # A relative path would mean another folder to each program of a gate.
        assert folder.is_absolute() and folder.is_dir(), (
            f"PARLANCE_VECTORS names {folder}, which is not the absolute path of a folder"
        )
    return added


def folders():
    return [ROOT / "conformance", *added_folders()]


def files(folder):
    """The names in one folder of vectors, such as "formats", in order and without
    ".json"."""
    names = {path.stem for root in folders() for path in (root / folder).glob("*.json")}
    assert names, f"no vectors in conformance/{folder}"
    return sorted(names)


def read(file):
    """The vectors in one file, such as "grammar/ebnf.json".  A list has the rows of
    all folders without repetitions, an object the members of all."""
    paths = [root / file for root in folders() if (root / file).is_file()]
    assert paths, f"no vectors conformance/{file}"
    first, *others = [json.loads(path.read_text("utf-8")) for path in paths]
    for other in others:
        if isinstance(first, dict):
            first |= other
        else:
            known = {json.dumps(row) for row in first}
            first += [row for row in other if json.dumps(row) not in known]
    return first


def decode(value):
    """{"$float": ...}, {"$int": ...} and {"$utf16": ...} as what they stand for,
    which JSON cannot hold."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, inner), = value.items()
        if key == "$float":
            return float(inner)
        if key == "$int":
            return int(inner)
        if key == "$utf16":
            data = b"".join(unit.to_bytes(2, "little") for unit in inner)
            return data.decode("utf-16-le", "surrogatepass")
    return {key: decode(item) for key, item in value.items()}


def suite_outside(name):
    """A suite that is not in the repository, because it has no licence; without it
    the test is skipped."""
    places = [place / name for f in added_folders() for place in (f, f.parent)]
    for place in [*places, ROOT.parent / "shared" / name]:
        if place.is_dir():
            return place
    pytest.skip(f"{name} has no licence, is not in the repository and not beside it")
