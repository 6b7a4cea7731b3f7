"""Schemas and grammars that people have written, in what scripts/fetch downloads."""

import functools
import os
import pathlib
import re
import typing

import conformance
import parlance

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOWNLOADS = ROOT / "scripts" / "downloads.tsv"


class Missing(Exception):
    """A download that is not there; the text says how to get it."""


def rows_of(path):
    """The rows of a file of columns."""
    lines = path.read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@functools.cache
def folder(download):
    """Where scripts/fetch has put it."""
    cache = pathlib.Path(os.environ.get("PARLANCE_CACHE") or "~/.cache/parlance")
    version = next(row[3] for row in rows_of(DOWNLOADS) if row[0] == download)
    path = cache.expanduser() / f"{download}-{version}"
    if not path.is_dir():
        raise Missing(f"{download} is missing: scripts/fetch {download}")
    return path


class LarkFile(typing.NamedTuple):
    """A grammar in the notation of Lark."""

    package: str
    path: pathlib.Path
    name: str  # below the package's folder
    start: str  # "" if it has terminals only

    def text(self):
        return self.path.read_text("utf-8")

    def sources(self):
        """The files beside it, which it may import."""
        return {
            path.stem: path.read_text("utf-8")
            for path in self.path.parent.glob("*.lark")
            if path != self.path
        }

    def grammar(self, head=""):
        """Raises parlance.GrammarError.  Of a module, one with its terminals."""
        names = re.findall(r"^([A-Z_][A-Z_0-9]*)(?:\.\d+)?\s*:", self.text(), re.MULTILINE)
        if self.start or not names:
            return parlance.Grammar.from_lark(
                head + self.text(), start=self.start or "start", grammars=self.sources()
            )
        return parlance.Grammar.from_lark(
            f"%import .{self.path.stem} ({', '.join(names)})\nstart: " + " | ".join(names),
            grammars={**self.sources(), self.path.stem: self.text()},
        )


def lark_files():
    """The files of lark itself, if it is installed, of packages, and recorded ones."""
    folders = [("llguidance", ROOT / "conformance" / "lark")]
    try:
        import lark  # noqa: PLC0415

        folders.append(("lark", pathlib.Path(lark.__file__).parent / "grammars"))
    except ImportError:
        pass
    folders += [
        (row[2], folder(row[0]))
        for row in rows_of(DOWNLOADS)
        if row[0].startswith("grammars-")
    ]
    out = []
    for package, root in folders:
        for path in sorted(root.rglob("*.lark")):
            rules = re.findall(
                r"^[?!]*([a-z_][a-z_0-9]*)(?:\.\d+)?\s*:", path.read_text("utf-8"), re.MULTILINE
            )
            rules = [rule for rule in rules if not rule.startswith("_")] or rules
            start = "start" if "start" in rules else next(iter(rules), "")
            out.append(LarkFile(package, path, str(path.relative_to(root)), start))
    return out


def gbnf_files():
    """(source, text) of the recorded grammars in GBNF."""
    return [(row["source"], row["grammar"]) for row in conformance.read("gbnf/grammars.json")]
