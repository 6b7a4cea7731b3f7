"""No argument makes an entry point fail in an undefined way.

Law.  Any function, constructor or method of the package, called with any
arguments, ends: with a result, with ``TypeError``, with one of the package's own
errors (``OSError`` for a path), or with an exception that a method of an argument
raised.  It does not crash, hang, use unbounded memory, or raise an exception that
indicates an oversight: ``AttributeError``, ``SystemError``, ``RuntimeError`` of a
C++ exception, a bare ``ValueError``.

The entry points are found by introspection (entry_points.py), the values are a
table (hostile_values.py), and the calls are made by a process that may die
(hostile_worker.py).
"""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import pytest

import entry_points
import hostile_values
import hostile_worker

# No call takes a second; a machine may be busy.
PATIENCE = 60.0


def at(folder):
    try:
        return struct.unpack("q", (folder / "at").read_bytes())[0]
    except (OSError, struct.error):
        return None


def work(folder, first, ways):
    """Makes the calls from number `first` on.  Returns None, or the number of
    the call that the process did not survive and its output."""
    (folder / "at").unlink(missing_ok=True)
    path = pathlib.Path(hostile_worker.__file__)
    with open(folder / "log", "w+") as log:
        process = subprocess.Popen(
            [sys.executable, str(path), str(folder), str(first), ways],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        before, since = None, time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            now = at(folder)
            if now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                process.send_signal(signal.SIGABRT)  # shows where it hangs
                process.wait()
        log.seek(0)
        said = log.read()
    number = at(folder)
    if process.returncode == 0 and number == -1:
        return None
    return number, f"ended by {process.returncode}: {said[-3000:]}"


def broken(folder, ways):
    """The calls that break the law."""
    hostile_values.make_files(folder)
    found = []
    first = 0
    names = None
    while len(found) < 20:  # enough to report
        end = work(folder, first, ways)
        if end is None:
            break
        number, said = end
        if number is None:
            pytest.fail(said)
        names = names or [
            hostile_worker.name_of(call) for call in hostile_worker.calls(ways)
        ]
        found.append(f"{names[number]} {said}")
        first = number + 1
    path = folder / "wrong"
    if path.exists():
        for line in path.read_text().splitlines():
            said = json.loads(line)
            found.append(f"{said['call']} {said['wrong']} at {said['where']}")
    return found


def test_valid_calls_of_every_entry_point(tmp_path, monkeypatch):
    """The valid calls succeed; otherwise hostile values would reach little."""
    hostile_values.make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    unmade = {"ArrowMessages", "Constraint", "Grammar", "Matcher", "View"}  # TypeError
    encoder = {"Vocabulary.encode"}  # needs a vocabulary with an encoder
    # A bare template does not say how a response is written.
    unwritten = {"ResponseTemplate.render"}
    seen = set()
    for entry in entry_points.entry_points():
        seen.add(entry.name)
        for call in entry.calls():
            if entry.name in unmade | encoder | unwritten:
                continue
            given = {name: make() for name, make in call.items()}
            if "__" in entry.name:
                entry.find()(*given.values())
            else:
                entry.find()(**given)
    assert len(seen) > 90
    assert {"parse_response", "Matcher.fill_bitmask", "search"} <= seen


@pytest.mark.skipif(
    "PARLANCE_REDUCED" in os.environ,
    reason="takes a minute; scripts/test --all runs it",
)
def test_hostile_values(tmp_path):
    found = broken(tmp_path, "plain")
    assert not found, f"{len(found)} calls:\n" + "\n".join(found[:50])


@pytest.mark.skipif(
    "PARLANCE_LONG" not in os.environ,
    reason="takes many minutes; PARLANCE_LONG=1 runs it",
)
def test_hostile_parts(tmp_path):
    """The same with each value as a part of another."""
    found = broken(tmp_path, "wrapped")
    assert not found, f"{len(found)} calls:\n" + "\n".join(found[:50])
