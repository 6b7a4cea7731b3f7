"""``python -m parlance parse``: Parquet files of stored responses.

    python -m parlance parse --format qwen3 --key text --keep '*' in/*.parquet -o out

Every row group of an input file becomes a file of the output folder, its
*shard*, with one row for each row.  A shard is written under another name and
renamed when it is complete, so what has its name is never written again:

    out/_parlance.json             what the shards are made from
    out/generations-00000.parquet  row group 0 of generations.parquet
    out/_errors/generations-00000.jsonl
                                   its damaged rows, complete before the shard

``--resume`` makes the shards that are missing.  Readers of data sets skip names
that begin with an underscore.  Memory: some batches, whatever the row groups.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import pathlib
import pickle
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from . import Format, ToolSet, __version__
from ._errors import UsageError
from ._files import digest_of
from .integrations.arrow import Parse

_BATCH = 8192  # rows
_MANIFEST = "_parlance.json"
_ERRORS = "_errors"

_EPILOG = """\
examples:
  python -m parlance parse --format qwen3 --key text generations.parquet -o parsed
  python -m parlance parse --format qwen3 --keep '*' in/*.parquet -o out --resume

For JSON lines there is: parlance parse --jsonl
"""


def main(arguments=None):
    """Runs the command and returns its exit status."""
    options = _options().parse_args(arguments)
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return _fail(
            "reading and writing Parquet takes the package pyarrow, which is not "
            "installed: pip install pyarrow"
        )
    try:
        return _Run(options).run()
    except KeyboardInterrupt:
        print(
            "\nparlance: interrupted; with --resume the run continues",
            file=sys.stderr,
        )
        return 130
    except (ValueError, OSError, TypeError) as why:
        return _fail(str(why))


def _fail(message):
    print(f"parlance: {message}", file=sys.stderr)
    return 1


def _options():
    parser = argparse.ArgumentParser(
        prog="python -m parlance",
        description="Stored generations in Parquet files.",
    )
    parser.add_argument(
        "--version", action="version", version=f"parlance {__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    parse = commands.add_parser(
        "parse",
        help="parse the responses of Parquet files into messages",
        description="Parses the responses of Parquet files: a row with a message "
        "for every row.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parse.add_argument
    add("files", nargs="+", metavar="FILE", help="Parquet files, or folders of them")
    add("-o", "--output", required=True, metavar="FOLDER",
        help="where to write; one file for each row group")
    add("-f", "--format", metavar="NAME",
        help="a built-in format, or the path of a format file")
    add("--format-key", metavar="NAME", help="the column with the format of a row")
    add("--key", default="response", metavar="NAME",
        help="the column of the responses [response]")
    add("--message-key", default="message", metavar="NAME",
        help="the column to write the messages to [message]")
    add("--id", metavar="NAME",
        help="a column to copy, which also names the rows in --errors")
    add("--keep", metavar="NAMES",
        help="the columns to copy, separated by commas; '*' for all [none]")
    add("-p", "--prefix", metavar="TEXT", help="what the prompt already wrote")
    add("--prefix-key", metavar="NAME", help="the column with the prompt of a row")
    add("--tools", metavar="FILE", help="the tools of all responses (JSON list)")
    add("--tools-key", metavar="NAME", help="the column with the tools of a row (JSON)")
    add("--vocabulary", metavar="PATH",
        help="for token ids: a model's folder or tokenizer file")
    add("--markers", default="token", choices=("token", "either", "text"),
        help="how ids write delimiters [token]")
    add("--errors", metavar="FILE",
        help="write a JSON line for each row that is cut off or damaged")
    add("--resume", action="store_true",
        help="make what an interrupted run of the same command left out")
    add("--threads", type=int, default=0, metavar="N", help="[one per core]")
    add("--progress", default="auto", choices=("auto", "always", "never"),
        help="show the progress: auto (on a terminal), always, never")
    return parser


class _Run:
    """One run of the command."""

    def __init__(self, options):
        from pyarrow import parquet

        self._parquet = parquet
        self._options = options
        self._out = pathlib.Path(options.output)
        self._files = _inputs(options.files)
        self._footers = {}
        for path in self._files:
            try:
                self._footers[path] = parquet.read_metadata(path)
            except ValueError as why:
                raise UsageError(f"{path} is no Parquet file: {why}") from None
        tools = None
        if options.tools is not None:
            tools = ToolSet(json.loads(pathlib.Path(options.tools).read_text("utf-8")))
        self._schemas = {path: parquet.read_schema(path) for path in self._files}
        schema = self._schemas[self._files[0]]
        self._keep = _kept(options, schema)
        self._parse = Parse(
            options.format,
            column=options.key,
            output=options.message_key,
            prefix=options.prefix,
            tools=tools,
            format_column=options.format_key,
            prefix_column=options.prefix_key,
            tools_column=options.tools_key,
            vocabulary=options.vocabulary,
            markers=options.markers,
            keep=self._keep,
            threads=options.threads,
        )
        used = [options.key, options.format_key, options.prefix_key, options.tools_key]
        self._read = list(
            dict.fromkeys([*self._keep, *(name for name in used if name is not None)])
        )
        self._check_schemas()
        import pyarrow

        self._schema = self._parse.schema(
            pyarrow.schema([schema.field(name) for name in self._read])
        )
        self._total = collections.Counter()

    def run(self):
        shards = [
            _Shard(path, group, self._out)
            for path in self._files
            for group in range(max(1, self._footers[path].num_row_groups))
        ]
        self._check_manifest()
        left = [shard for shard in shards if not shard.file.exists()]
        progress = _Progress(
            self._options.progress, sum(self._rows(shard) for shard in left)
        )
        try:
            for shard in left:
                self._make(shard, progress)
        finally:
            progress.clear()
        for shard in shards:
            self._total.update(json.loads(shard.errors.read_text("utf-8").splitlines()[0]))
        if self._options.errors is not None:
            self._write_errors(shards)
        _say(
            f"{_grouped(self._total['rows'])} rows in {len(shards)} files"
            + (f" ({len(shards) - len(left)} were there)" if len(left) < len(shards) else "")
            + "".join(
                f", {_grouped(self._total[name])} {what}"
                for name, what in (
                    ("null", "null"), ("cut", "cut off"), ("damaged", "damaged")
                )
                if self._total[name]
            )
            + f", {progress.spent()}"
        )
        return 0

    def _rows(self, shard):
        footer = self._footers[shard.path]
        if footer.num_row_groups == 0:
            return 0
        return footer.row_group(shard.group).num_rows

    def _check_schemas(self):
        """Every file has the columns; those to copy have the types of the first."""
        first = self._schemas[self._files[0]]
        for path, schema in self._schemas.items():
            for name in self._read:
                if name not in schema.names:
                    raise UsageError(
                        f"{path} has no column {name!r}; it has "
                        + ", ".join(repr(one) for one in schema.names)
                    )
                if name not in self._keep:
                    continue
                if schema.field(name).type != first.field(name).type:
                    raise UsageError(
                        f"the column {name!r} is {schema.field(name).type} in "
                        f"{path} and {first.field(name).type} in {self._files[0]}"
                    )

    def _check_manifest(self):
        """Begins a folder, or makes sure that this run continues it."""
        options = vars(self._options)
        format = self._options.format
        manifest = {
            "version": __version__,
            "options": {
                name: options[name]
                for name in (
                    "key", "message_key", "format_key", "prefix", "prefix_key",
                    "tools_key", "markers",
                )
            }
            | {
                "vocabulary": self._parse.vocabulary_digest,
                "format": format and _digest(pickle.dumps(Format(format)._made)),
                "tools": options["tools"]
                and _digest(pathlib.Path(options["tools"]).read_bytes()),
                "keep": self._keep,
                "id": options["id"],
            },
            "files": [
                {
                    "name": path.name,
                    "bytes": path.stat().st_size,
                    "digest": digest_of(path),
                    "rows": self._footers[path].num_rows,
                    "row_groups": self._footers[path].num_row_groups,
                }
                for path in self._files
            ],
        }
        file = self._out / _MANIFEST
        if self._out.exists() and any(self._out.iterdir()):
            if not file.exists():
                raise UsageError(
                    f"{self._out} is not empty, and not the output of such a run"
                )
            if not self._options.resume:
                raise UsageError(
                    f"{self._out} has the output of a run; continue it with "
                    "--resume, or name another folder"
                )
            before = json.loads(file.read_text("utf-8"))
            for part, now in manifest.items():
                if before.get(part) != now:
                    changed = part
                    if part == "options":
                        changed = ", ".join(
                            "--" + name.replace("_", "-")
                            for name in now
                            if before[part].get(name) != now[name]
                        )
                    raise UsageError(
                        f"{self._out} was begun with other {part} ({changed}); "
                        "only the same run can be continued"
                    )
        else:
            (self._out / _ERRORS).mkdir(parents=True, exist_ok=True)
            with _complete(file) as out:
                out.write(json.dumps(manifest, indent=1).encode())

    def _make(self, shard, progress):
        """Writes the damaged rows of a shard, then the shard."""
        source = self._parquet.ParquetFile(shard.path)
        footer = self._footers[shard.path]
        groups = [shard.group] if footer.num_row_groups > 0 else []
        first = sum(footer.row_group(i).num_rows for i in range(shard.group))
        counts = collections.Counter(rows=0)
        damaged = []
        with _complete(shard.file) as out:
            # A batch is written while the next one is read and parsed.
            with (
                self._parquet.ParquetWriter(
                    out, self._schema, compression="zstd"
                ) as writer,
                ThreadPoolExecutor(1) as other,
            ):
                written = None
                for batch in source.iter_batches(
                    batch_size=_BATCH, row_groups=groups, columns=self._read
                ):
                    parsed = self._parse(batch.select(self._read))
                    if written is not None:
                        written.result()
                    written = other.submit(writer.write_batch, parsed)
                    self._judge(shard, first + counts["rows"], parsed, counts, damaged)
                    counts["rows"] += batch.num_rows
                    progress.advance(batch.num_rows)
                if written is not None:
                    written.result()
            # The shard is complete when it has its name, and so are its errors.
            with _complete(shard.errors) as errors:
                for line in [dict(counts), *damaged]:
                    errors.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def _judge(self, shard, first, parsed, counts, damaged):
        """Counts a batch, and describes its rows that are not sound."""
        from pyarrow import compute

        messages = parsed.column(self._options.message_key)
        nulls = messages.is_null()
        cut = compute.invert(compute.struct_field(messages, "complete"))
        lengths = compute.list_value_length(
            compute.struct_field(messages, "diagnostics")
        )
        broken = compute.greater(lengths, 0)
        for name, flags in (("null", nulls), ("cut", cut), ("damaged", broken)):
            counts[name] += compute.sum(flags).as_py() or 0
        ids = None if self._options.id is None else parsed.column(self._options.id)
        unsound = compute.indices_nonzero(
            compute.fill_null(compute.or_(cut, broken), False)
        )
        for row in unsound.to_pylist():
            message = messages[row].as_py()
            line = {"file": shard.path.name, "row": first + row}
            if ids is not None:
                line["id"] = _plain(ids[row].as_py())
            line["complete"] = message["complete"]
            line["diagnostics"] = message["diagnostics"]
            damaged.append(line)

    def _write_errors(self, shards):
        with _complete(pathlib.Path(self._options.errors)) as out:
            for shard in shards:
                with open(shard.errors, "rb") as lines:
                    next(lines)  # the counts
                    out.writelines(lines)


class _Shard:
    """A row group of an input file, and where its rows go."""

    def __init__(self, path, group, out):
        name = f"{path.stem}-{group:05}"
        self.path = path
        self.group = group
        self.file = out / f"{name}.parquet"
        self.errors = out / _ERRORS / f"{name}.jsonl"


class _complete:
    """A file that has its name only when all of it is written."""

    def __init__(self, path):
        self._path = path
        self._part = path.with_name(f"_part-{path.name}")

    def __enter__(self):
        self._file = open(self._part, "wb")
        return self._file

    def __exit__(self, kind, *_):
        if kind is None:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()
        if kind is None:
            os.replace(self._part, self._path)
        else:
            self._part.unlink(missing_ok=True)


class _Progress:
    """A line on standard error with the rate and the time that is left."""

    def __init__(self, when, rows):
        self._shown = when == "always" or (when == "auto" and sys.stderr.isatty())
        self._rows = rows
        self._done = 0
        self._began = self._last = time.monotonic()
        self._drawn = False

    def advance(self, rows):
        self._done += rows
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.1 and self._done < self._rows):
            return
        self._last = now
        rate = self._done / max(now - self._began, 1e-9)
        left = _duration((self._rows - self._done) / max(rate, 1e-9))
        sys.stderr.write(
            f"\r{100 * self._done // max(self._rows, 1):3}%  "
            f"{_grouped(self._done)} rows  {_grouped(int(rate))}/s  {left} left\x1b[K"
        )
        sys.stderr.flush()
        self._drawn = True

    def clear(self):
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
        self._drawn = False

    def spent(self):
        spent = time.monotonic() - self._began
        rate = f", {_grouped(int(self._done / max(spent, 1e-9)))}/s" if self._done else ""
        return _duration(spent) + rate


def _inputs(names):
    """The files of the arguments: files, and those of folders in order."""
    files = []
    for name in names:
        path = pathlib.Path(name)
        if path.is_dir():
            found = sorted(
                one
                for one in path.glob("*.parquet")
                if not one.name.startswith(("_", "."))
            )
            if not found:
                raise UsageError(f"{name} has no files *.parquet")
            files += found
        elif path.suffix in (".jsonl", ".json", ".gz", ".zst"):
            raise UsageError(
                f"{name} is no Parquet file; for JSON lines there is: "
                "parlance parse --jsonl"
            )
        else:
            files.append(path)
    stems = collections.Counter(path.stem for path in files)
    for path in files:
        if stems[path.stem] > 1:
            raise UsageError(
                f"several files are called {path.name}, and would be written to "
                "the same file; parse them in several runs"
            )
    return files


def _kept(options, schema):
    """The columns to copy."""
    names = [] if options.id is None else [options.id]
    if options.keep == "*":
        names += schema.names
    elif options.keep:
        names += options.keep.split(",")
    return [name for name in dict.fromkeys(names) if name != options.message_key]


def _plain(value):
    """A value as JSON has it."""
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def _digest(data):
    return hashlib.sha256(data).hexdigest()


def _grouped(number):
    return f"{number:,}"


def _duration(seconds):
    seconds = int(seconds + 0.5)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60}:{seconds % 60:02} min"
    return f"{seconds // 3600}:{seconds // 60 % 60:02} h"


def _say(text):
    print(text, file=sys.stderr)
