"""interface.txt, for the programs that make files of it: bindings/*/generate.

A type is as C writes it, without a space before `*`: `const char*`.
"""

import argparse
import pathlib
import re
import sys

PATH = pathlib.Path(__file__).resolve().parent / "interface.txt"


class Record:
    def __init__(self):
        self.constants = {}  # name to (value, whether it is unsigned)
        self.callbacks = []  # (name, result, parameters)
        self.functions = []  # (name, result, parameters)
        self.structs = {}  # name to [(member, type, place, narrow place)]
        self.sizes = {}  # name to (size, narrow size)
        for line in PATH.read_text().splitlines():
            kind, _, rest = line.partition(" ")
            getattr(self, "_read_" + kind, lambda rest: None)(rest)

    def _read_constant(self, rest):
        name, value = rest.split(" ", 1)
        number = re.fullmatch(r"\(?(-?\d+)(u?)\)?", value)
        if not number:
            sys.exit(f"{PATH.name}: no number: {rest}")
        self.constants[name] = (int(number[1]), number[2] == "u")

    def _read_callback(self, rest):
        result, name, given = re.match(r"(.+?) ?\(\*(\w+)\)\((.*)\)$", rest).groups()
        self.callbacks.append((name, type_of(result), parameters_of(given)))

    def _read_function(self, rest):
        result, name, given = re.match(r"(.+?)\b(parlance_\w+)\((.*)\)$", rest).groups()
        self.functions.append((name, type_of(result), parameters_of(given)))

    def _read_layout(self, rest):
        name, kind, *places = re.match(r"(\S+) (.+) (\d+) (\d+)$", rest).groups()
        struct, _, member = name.partition(".")
        if member:
            self.structs.setdefault(struct, []).append((member, kind, *places))
        else:
            self.sizes[struct] = tuple(places)

    def grouped(self, groups, alone):
        """For each group the constants that it has, each with its name in the group.

        A group is what its constants begin with, or the first and the last of them.
        A constant that is in no group and not in `alone` is an error, so that none is
        forgotten.
        """
        names = list(self.constants)
        left = set(names) - alone
        out = []
        for which in groups:
            if isinstance(which, str):
                begin, members = which, [n for n in names if n.startswith(which)]
            else:
                first, last = map(names.index, which)
                begin, members = "PARLANCE_", names[first : last + 1]
            left -= set(members)
            out.append([(name, name.removeprefix(begin)) for name in members])
        if left:
            sys.exit(f"generate: no group has {sorted(left)}")
        return out


def type_of(text):
    return text.replace(" *", "*").strip()


def parameters_of(text):
    """`const char *text, size_t size` to [(type, name)].  A parameter that is a
    function has the type `void (*)(void *user)`."""
    out = []
    for piece in re.split(r",\s*(?![^()]*\))", "" if text == "void" else text):
        if function := re.match(r"(\w+ \(\*)(\w+)(\)\(.*\))$", piece):
            out.append((function[1] + function[3], function[2]))
        elif piece:
            kind, name = re.match(r"(.*?)(\w+)$", piece).groups()
            out.append((type_of(kind), name))
    return out


def keep(folder, about, files):
    """Writes files below `folder` (name to text), or checks that they are what would
    be written, as the arguments of the program say.  Returns whether it checked."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--write", action="store_true")
    way.add_argument("--check", action="store_true")
    if parser.parse_args().write:
        for name, text in files.items():
            (folder / name).write_text(text)
        return False
    old = [
        name
        for name, text in files.items()
        if not (folder / name).exists() or (folder / name).read_text() != text
    ]
    if old:
        sys.exit(
            f"not what the C interface says: {', '.join(old)}; "
            f"bindings/{folder.name}/generate --write"
        )
    return True
