"""``python -m parlance parse``: Parquet files of stored responses.

    python -m parlance parse --format qwen3 --key text --keep '*' in/*.parquet -o out

Every row group of an input file becomes a file of the output folder, its
*shard*, with one row for each row.  A shard is written under another name, and
renamed when it is whole and on the disk:

    out/_parlance.json             what the shards are made from: digests of the
                                   inputs, the format, the tools, the vocabulary
    out/_lock                      locked by the run that writes here
    out/generations-00000.parquet  row group 0 of generations.parquet
    out/_errors/generations-00000.jsonl
                                   digests of the shard and of the lines below,
                                   and its damaged rows; whole before the shard

``--resume`` makes the shards that are missing, or are not what their digests say.
Readers of data sets skip names that begin with an underscore.  Memory: some
batches, whatever the row groups.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import math
import os
import pathlib
import secrets
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from . import Format, ToolSet, __version__
from ._errors import UsageError
from ._files import digest_of
from .integrations.arrow import Parse

_BATCH = 8192  # rows
_MANIFEST = "_parlance.json"
_LOCK = "_lock"
_ERRORS = "_errors"
_STATUSES = ("invalid_arguments", "unknown_tool", "no_name", "malformed", "cut_off")
_PART = "_part-"  # how names of files begin that are not whole

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
        with _locked(pathlib.Path(options.output)):
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
    return 2


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
        help="write a JSON line for each row that is cut off or damaged, or has an "
        "attempted call that is not ok")
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
        self._errors = options.errors and _errors_file(
            options.errors, self._files, self._out
        )
        self._states = {path: _state(path) for path in self._files}
        self._footers = {}
        for path in self._files:
            try:
                self._footers[path] = parquet.read_metadata(path)
            except ValueError as why:
                raise UsageError(f"{path} is no Parquet file: {why}") from None
        # What is read here is what the shards are made with, and what the manifest
        # has the digests of.
        self._format = None if options.format is None else Format(options.format)
        tools = None
        if options.tools is not None:
            tools = ToolSet(pathlib.Path(options.tools).read_text("utf-8"))
        self._tools = tools
        self._schemas = {path: parquet.read_schema(path) for path in self._files}
        schema = self._schemas[self._files[0]]
        self._keep = _kept(options, schema)
        self._parse = Parse(
            self._format,
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
        left = [shard for shard in shards if not self._is_whole(shard)]
        progress = _Progress(
            self._options.progress, sum(self._rows(shard) for shard in left)
        )
        try:
            for shard in left:
                self._make(shard, progress)
        finally:
            progress.clear()
        for shard in shards:
            self._total.update(shard.head()["counts"])
        if self._errors is not None:
            self._write_errors(shards)
        # Where none has an end of turn, it was removed from all of them.
        if self._total["ended"]:
            self._total["unended"] = (
                self._total["rows"] - self._total["null"] - self._total["ended"]
            )
        _say(
            f"{_grouped(self._total['rows'])} rows in {len(shards)} files"
            + (f" ({len(shards) - len(left)} were there)" if len(left) < len(shards) else "")
            + "".join(
                f", {_grouped(self._total[name])} {what}"
                for name, what in (
                    ("null", "null"), ("cut", "cut off"), ("damaged", "damaged"),
                    ("unended", "without end of turn"),
                )
                if self._total[name]
            )
            + "".join(
                f", calls {status.replace('_', ' ')}: {_grouped(self._total[name])}"
                for status in _STATUSES
                if self._total[name := f"{status}_calls"]
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
                if schema.names.count(name) > 1:
                    raise UsageError(
                        f"{path} has {schema.names.count(name)} columns {name!r}; a "
                        "column that is read or kept must be there once"
                    )
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
        manifest = {
            "version": __version__,
            "options": {
                name: options[name]
                for name in (
                    "key", "message_key", "format_key", "prefix", "prefix_key",
                    "tools_key", "markers", "id",
                )
            }
            | {
                "format": _digest(
                    self._format and [self._format.source, self._format._made[2]]
                ),
                "tools": _digest(None if self._tools is None else self._tools._text),
                "vocabulary": self._parse.vocabulary_digest,
                "keep": self._keep,
                "errors": self._errors and str(self._errors),
            },
            "files": [
                {
                    "name": path.name,
                    "digest": digest_of(path),
                    "rows": self._footers[path].num_rows,
                    "row_groups": self._footers[path].num_row_groups,
                }
                for path in self._files
            ],
        }
        for path in self._files:
            self._check_unchanged(path)
        file = self._out / _MANIFEST
        if _has_content(self._out):
            if not self._options.resume:
                raise UsageError(
                    f"{self._out} has the output of a run; continue it with "
                    "--resume, or name another folder"
                )
            before = _object(file.read_text("utf-8"))
            if before is None:
                raise UsageError(f"{file} is damaged, so the run cannot be continued")
            now = json.loads(json.dumps(manifest))
            for part, now in now.items():
                if before.get(part) != now:
                    changed = part
                    if part == "options" and isinstance(before.get(part), dict):
                        changed = ", ".join(
                            "--" + name.replace("_", "-")
                            for name in now
                            if before[part].get(name) != now[name]
                        )
                    raise UsageError(
                        f"{self._out} was begun with other {part} ({changed}); "
                        "only the same run can be continued"
                    )
            # The lock is held: no run writes these any more.
            for folder in (self._out, self._out / _ERRORS):
                for part in folder.glob(_PART + "*"):
                    part.unlink(missing_ok=True)
        else:
            if self._errors is not None and _is_file(self._errors):
                raise UsageError(
                    f"--errors: {self._errors} exists; remove it, or name another file"
                )
            (self._out / _ERRORS).mkdir(exist_ok=True)
            with _complete(file) as out:
                out.write(json.dumps(manifest, indent=1).encode())

    def _check_unchanged(self, path):
        if _state(path) != self._states[path]:
            raise UsageError(f"{path} has changed while it was read")

    def _is_whole(self, shard):
        """Whether a shard and its errors are what their digests say."""
        head = shard.head()
        return (
            head is not None
            and head["counts"].get("rows") == self._rows(shard)
            and _is_file(shard.file)
            and digest_of(shard.file) == head["shard"]
        )

    def _make(self, shard, progress):
        """Writes the damaged rows of a shard, then the shard."""
        source = self._parquet.ParquetFile(shard.path)
        footer = self._footers[shard.path]
        groups = [shard.group] if footer.num_row_groups > 0 else []
        first = sum(footer.row_group(i).num_rows for i in range(shard.group))
        counts = collections.Counter(rows=0)
        damaged = []
        whole = _complete(shard.file)
        with whole as out:
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
            self._check_unchanged(shard.path)
            # The shard is complete when it has its name, and so are its errors.
            out.flush()
            lines = b"".join(map(_line, damaged))
            head = {
                "counts": dict(counts),
                "shard": digest_of(whole.part),
                "lines": _digest_of(lines),
            }
            with _complete(shard.errors) as errors:
                errors.write(_line(head) + lines)

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
        ended = compute.struct_field(messages, "turn_ended")
        attempts = compute.struct_field(messages, "attempted_calls")
        statuses = compute.struct_field(compute.list_flatten(attempts), "status")
        for status in compute.value_counts(statuses).to_pylist():
            counts[f"{status['values']}_calls"] += status["counts"]
        failed = compute.filter(  # rows
            compute.list_parent_indices(attempts), compute.not_equal(statuses, "ok")
        )
        for name, flags in (
            ("null", nulls), ("cut", cut), ("damaged", broken), ("ended", ended)
        ):
            counts[name] += compute.sum(flags).as_py() or 0
        ids = None if self._options.id is None else parsed.column(self._options.id)
        unsound = compute.indices_nonzero(
            compute.fill_null(compute.or_(cut, broken), False)
        )
        for row in sorted({*unsound.to_pylist(), *failed.to_pylist()}):
            message = messages[row].as_py()
            line = {"file": shard.path.name, "row": first + row}
            if ids is not None:
                line["id"] = _plain(ids[row].as_py())
            line["complete"] = message["complete"]
            line["diagnostics"] = message["diagnostics"]
            line["turn_ended"] = message["turn_ended"]
            line["attempted_calls"] = [
                {
                    "status": call["status"],
                    "id": call["id"],
                    "name": call["name"],
                    "arguments": call["arguments"],
                    "text": call["text"],
                    "bytes": [call["offset"], call["end"]],
                    "tokens": [call["token_offset"], call["token_end"]],
                    "why": call["why"],
                }
                for call in message["attempted_calls"]
            ]
            line["prefix_bytes"] = message["prefix_bytes"]
            damaged.append(line)

    def _write_errors(self, shards):
        with _complete(self._errors) as out:
            for shard in shards:
                with open(shard.errors, "rb") as lines:
                    next(lines)  # the head
                    out.writelines(lines)


class _Shard:
    """A row group of an input file, and where its rows go."""

    def __init__(self, path, group, out):
        name = f"{path.stem}-{group:05}"
        self.path = path
        self.group = group
        self.file = out / f"{name}.parquet"
        self.errors = out / _ERRORS / f"{name}.jsonl"


    def head(self):
        """The first line of the errors; None if they are not there, or not what its
        digest of them says."""
        try:
            line, _, lines = self.errors.read_bytes().partition(b"\n")
        except OSError:
            return None
        head = _object(line)
        if (
            head is None
            or not isinstance(head.get("counts"), dict)
            or head.get("lines") != _digest_of(lines)
        ):
            return None
        return head


class _locked:
    """The folder of a run, which no other run writes to meanwhile.

    The lock ends with the process, however that ends.
    """

    def __init__(self, folder):
        self._folder = folder

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        if _has_content(self._folder) and not (self._folder / _MANIFEST).exists():
            raise UsageError(
                f"{self._folder} is not empty, and not the output of such a run"
            )
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(self._folder / _LOCK, flags, 0o666)
        try:
            _lock(self._file)
        except OSError:
            os.close(self._file)
            raise UsageError(
                f"another run writes to {self._folder}; wait for it, or name another "
                "folder"
            ) from None

    def __exit__(self, *_):
        os.close(self._file)


def _lock(file):
    """Locks an open file, or raises ``OSError`` if another process has."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class _complete:
    """A file that has its name only when all of it is written and on the disk.

    A file of that name keeps its permissions.  What is no regular file, such as
    ``/dev/stdout`` or a pipe, is written in place.

    Attributes:
        part: its path until then.
    """

    def __init__(self, path):
        self._path = path
        self.part = None
        if not _is_device(path):
            self.part = path.with_name(f"{_PART}{secrets.token_hex(8)}-{path.name}")

    def __enter__(self):
        if self.part is None:
            self._file = open(self._path, "wb")
            return self._file
        # A new file: one of that name, or a link, is never written to.
        self._file = open(self.part, "xb")
        if _is_file(self._path):
            os.chmod(self.part, stat.S_IMODE(os.stat(self._path).st_mode))
        return self._file

    def __exit__(self, kind, *_):
        if self.part is None:
            self._file.close()
            return
        if kind is None:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()
        if kind is None:
            os.replace(self.part, self._path)
            _sync_folder(self._path.parent)
        else:
            self.part.unlink(missing_ok=True)


def _sync_folder(path):
    """Brings a name to the disk, where a folder can be opened."""
    try:
        folder = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(folder)
    except OSError:
        pass
    finally:
        os.close(folder)


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
    same = {}
    for path in files:
        if os.path.exists(path):
            other = same.setdefault(_identity(path), path)
            if other is not path:
                raise UsageError(f"{path} and {other} are the same file")
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
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def _digest_of(data):
    return hashlib.sha256(data).hexdigest()


def _digest(value):
    return _digest_of(json.dumps(value).encode())


def _has_content(folder):
    return any(one.name != _LOCK for one in folder.iterdir())


def _line(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _object(text):
    """The JSON object in a text, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _identity(path):
    """What tells a file from others, whatever it is called."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _state(path):
    """What changes when somebody writes to a file."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _is_file(path):
    """Whether there is a regular file, which is not a link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_device(path):
    """Whether a path is for a stream that is open, a pipe, or the like."""
    if os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def _errors_file(name, inputs, out):
    """The path of ``--errors``, links followed.

    Raises:
        UsageError: it is an input, or lies in the output folder.
    """
    path = pathlib.Path(name)
    if path.is_file() and not _is_device(path):
        path = pathlib.Path(os.path.realpath(name))
    for one in inputs:
        if path.exists() and one.exists() and _identity(one) == _identity(path):
            raise UsageError(f"--errors: {name} is the input {one}")
    if path.is_dir():
        raise UsageError(f"--errors: {name} is a folder")
    folders = pathlib.Path(os.path.realpath(path.parent)) / path.name
    if pathlib.Path(os.path.realpath(out)) in folders.parents:
        raise UsageError(f"--errors: {name} lies in the output folder {out}")
    return path


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
