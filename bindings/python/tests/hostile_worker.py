"""Calls entry points with hostile values, one call after the other.

    hostile_worker.py FOLDER FIRST WAYS

Works through the calls of ``calls(WAYS)`` from number FIRST on, in FOLDER.  The
number of the current call is in the file ``at``, so that the parent process knows
which call this one did not survive.  A call that breaks the law is a line of JSON
in ``wrong``.
"""

import faulthandler
import itertools
import json
import linecache
import mmap
import os
import pathlib
import resource
import struct
import sys
import traceback
import warnings

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

import entry_points
import hostile_values
import parlance
from hostile_values import VALUES, Hostile

# How a value is given: as it is, and where a part of something is asked for.
PLAIN = {"plain": lambda value: value}
WRAPPED = {
    "listed": lambda value: [value],
    "twice": lambda value: (value, value),
    "second": lambda value: ["a", value],
    "member": lambda value: {"a": value},
    "fields": lambda value: {"fields": value},
    "field": lambda value: {"fields": {"a": value}},
    "open": lambda value: {"fields": {"a": {"open": value}}},
    "defaults": lambda value: {"fields": {"a": {}}, "defaults": {"b": value}},
    "format": lambda value: {"format": value},
    "type": lambda value: {"type": value},
    "properties": lambda value: {"properties": {"a": value}},
    "x_regex": lambda value: {"x-regex": value, "type": "string"},
    "parameters": lambda value: [
        {"type": "function", "function": {"name": "f", "parameters": value}}
    ],
    "name": lambda value: [{"type": "function", "function": {"name": value}}],
    "steps": lambda value: {"steps": value},
}
MEMORY = 4 << 30


def calls(ways):
    """(entry point, arguments as functions, hostile argument, value, way)"""
    ways = PLAIN if ways == "plain" else WRAPPED
    for entry in entry_points.entry_points():
        for call in entry.calls():
            for parameter, _ in entry.parameters:
                for name in VALUES:
                    for way in ways:
                        yield entry, call, parameter, name, way


def name_of(call):
    entry, arguments, parameter, name, way = call
    others = ", ".join(a for a in arguments if a != parameter)
    return f"{entry.name}({parameter}={way}:{name}; {others})"


def wrong(error, value_name):
    """Why `error` should not have come of a call, or None."""
    if isinstance(error, (parlance.Error, entry_points.jmespath.JmespathError, Hostile)):
        return None if str(error) else "an error without a message"
    if type(error) is TypeError and str(error):
        return None
    if isinstance(error, OSError):
        return None  # of a path
    # What the code of a value raises, it may: the last line is not ours.
    frames = traceback.extract_tb(error.__traceback__)
    if frames and os.path.basename(frames[-1].filename) == "hostile_values.py":
        return None
    # Values that are not written in Python have no line of their own.
    own = {ReferenceError: {"dead_proxy"}, ValueError: {"closed_file", "closed_descriptor"}}
    if value_name in own.get(type(error), ()):
        return None
    return f"{type(error).__name__}: {str(error)[:200]}"


def run(first, ways):
    at = os.open("at", os.O_RDWR | os.O_CREAT)
    os.ftruncate(at, 8)
    place = mmap.mmap(at, 8)
    report = open("wrong", "a")
    both = PLAIN | WRAPPED
    for number, call in enumerate(itertools.islice(calls(ways), first, None), first):
        struct.pack_into("q", place, 0, number)
        entry, arguments, parameter, name, way = call
        try:
            given = {n: make() for n, make in arguments.items()}
            given[parameter] = both[way](VALUES[name]())
            function = entry.find()
        except Exception as error:
            raise AssertionError(name_of(call)) from error
        try:
            if "__" in entry.name:
                function(*given.values())
            else:
                function(**given)
        except Exception as error:
            why = wrong(error, name)
            if why is not None:
                trace = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{os.path.basename(trace.filename)}:{trace.lineno}"
                line = {"call": name_of(call), "wrong": why, "where": where}
                report.write(json.dumps(line) + "\n")
                report.flush()
            linecache.clearcache()
        if number % 4096 == 0:
            for descriptor in (0, 1, 2):
                os.fstat(descriptor)  # nobody closed what is not theirs
    struct.pack_into("q", place, 0, -1)


def main():
    folder, first, ways = sys.argv[1:]
    faulthandler.enable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(pathlib.Path(folder))
    run(int(first), ways)


if __name__ == "__main__":
    main()
