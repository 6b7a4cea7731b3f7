"""`parlance parse --jsonl` loses no file: which names may be one file, runs at
the same time, runs that are killed, and journals that are damaged."""

import gzip
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys

import pytest

QWEN = ("parse", "-f", "qwen3", "--jsonl")


def jsonl(count, begin=0):
    """Rows of which every tenth is damaged."""
    return "".join(
        json.dumps({"id": i, "response": f"<think>t{i}</think>{i}" if i % 10
                    else f"<tool_call>{{oops</tool_call>{i}"}) + "\n"
        for i in range(begin, begin + count)
    )


def contents(folder):
    """What is in a folder, by name: bytes, or where a link leads."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def run(command, folder, *arguments, **options):
    return subprocess.run(
        [command, *map(str, arguments)], cwd=folder, capture_output=True,
        timeout=60, **options,
    )


# ---- Names

# How a name is written for the file `to`, which may not exist yet.
SPELLINGS = {
    "same": lambda folder, to: to,
    "dotted": lambda folder, to: f"./{to}",
    "around": lambda folder, to: f"sub/../{to}",
    "absolute": lambda folder, to: str(folder / to),
    "link": lambda folder, to: link(folder, to),
    "folder": lambda folder, to: f"here/{to}",
    "hard": lambda folder, to: hard_link(folder, to),
}


def link(folder, to):
    (folder / "link").symlink_to(to)
    return "link"


def hard_link(folder, to):
    if not (folder / to).exists():
        pytest.skip("no file yet")
    os.link(folder / to, folder / "hard")
    return "hard"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "here").symlink_to(".")
    (tmp_path / "in.jsonl").write_text(jsonl(20))
    (tmp_path / "format.json").write_text(
        '{"start_anchor": "<s>", "fields": {"content": {"content": "text"}}}')
    (tmp_path / "tools.json").write_text("[] ")
    (tmp_path / "prefix.txt").write_text("x ")
    return tmp_path


READ = ["in.jsonl", "format.json", "tools.json", "prefix.txt"]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("option", ["-o", "--errors"])
@pytest.mark.parametrize("end", ["", ".part", ".journal"])
def test_no_input_is_written_over(command, folder, spelling, option, end):
    """Each file that is read, under each name that a run makes."""
    if end == ".journal" and option == "--errors":
        pytest.skip("there is none")
    for read in READ:
        here = folder / f"of-{read}"
        here.mkdir()
        for name in [*READ, "sub", "here"]:
            if (folder / name).is_symlink():
                (here / name).symlink_to(".")
            elif (folder / name).is_dir():
                (here / name).mkdir()
            else:
                shutil.copy(folder / name, here / name)
        # The input is called as what the run would make of the output's name.
        (here / read).rename(here / f"x{end}")
        names = [f"x{end}" if name == read else name for name in READ]
        if end:
            (here / "link").symlink_to(f"x{end}")
            os.link(here / f"x{end}", here / "hard")
            names = [
                {"link": "link", "hard": "hard"}.get(
                    spelling, SPELLINGS[spelling](here, name)
                    if spelling not in ("link", "hard") else name)
                if name == f"x{end}" else name for name in names]
            written = "x"
        else:
            written = SPELLINGS[spelling](here, "x")
        arguments = [
            "parse", "--jsonl", names[0], "-t", names[1], "--tools", names[2],
            "--prefix-file", names[3], option, written,
        ]
        if option == "--errors":
            arguments += ["-o", "other"]
        before = contents(here)
        for extra in ([], ["--resume"]):
            result = run(command, here, *arguments, *extra)
            assert result.returncode == 2, result
            assert b"is the same file as" in result.stderr
            assert contents(here) == before


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("first, second", [
    (a, b) for a, b in itertools.product(
        ["x", "x.part", "x.journal"], repeat=2) if a == "x" or b == "x"
])
def test_no_two_outputs_are_one_file(command, folder, spelling, first, second):
    """-o X with --errors of a name that X, or the errors, are written to."""
    if spelling == "hard":
        pytest.skip("a new file has one name")
    if (first, second) == ("x.journal", "x"):
        pytest.skip("errors have no journal")
    before = contents(folder)
    name = SPELLINGS[spelling](folder, second)
    after = contents(folder)
    result = run(command, folder, *QWEN, "in.jsonl", "-o", first, "--errors", name)
    assert result.returncode == 2, result
    assert b"is the same file as" in result.stderr or spelling == "link"
    assert contents(folder) == after and set(before) <= set(after)


@pytest.mark.parametrize("kind", ["file", "link", "dangling"])
@pytest.mark.parametrize("name", ["out", "out.part", "out.journal", "errors",
                                  "errors.part"])
@pytest.mark.parametrize("options", [[], ["--resume"]])
@pytest.mark.parametrize("piped", [False, True])
def test_what_exists_stays(command, folder, kind, name, options, piped):
    """A file of somebody else under a name that a run makes."""
    if piped and options:
        pytest.skip("standard input cannot be read again")
    (folder / "precious").write_text("of somebody else\n")
    if kind == "file":
        (folder / name).write_text("of somebody else, too\n")
    else:
        (folder / name).symlink_to("precious" if kind == "link" else "nowhere")
    before = contents(folder)
    arguments = [*QWEN, "-o", "out", "--errors", "errors", *options]
    if piped:
        result = run(command, folder, *arguments, input=jsonl(5).encode())
    else:
        result = run(command, folder, *arguments, "in.jsonl")
    if name == "out.journal" and piped:  # there is no journal
        assert result.returncode == 0
        return
    if name == "out" and options and kind == "file":
        assert result.returncode == 0 and b"is complete" in result.stderr
    elif not (name == "out" and options):
        assert result.returncode == 2, result
    assert contents(folder) == before


def test_standard_output_is_no_input(command, folder):
    with open(folder / "in.jsonl", "ab") as out:
        result = subprocess.run([command, *QWEN, "in.jsonl"], cwd=folder,
                                stdout=out, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert b"standard output (-o) is the same file as in.jsonl" in result.stderr
    assert (folder / "in.jsonl").read_text() == jsonl(20)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "-"])
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_a_name_of_standard_output(command, folder, name, mode):
    (folder / "out").write_text("before\n")
    with open(folder / "out", mode) as out:
        result = subprocess.run([command, *QWEN, "in.jsonl", "-o", name],
                                cwd=folder, stdout=out, stderr=subprocess.PIPE)
    assert result.returncode == 0, result
    lines = (folder / "out").read_text().splitlines()
    assert len(lines) == (20 if mode == "wb" else 21)
    # The same twice would be mixed.
    with open(folder / "two", "wb") as out:
        result = subprocess.run(
            [command, *QWEN, "in.jsonl", "--errors", name], cwd=folder,
            stdout=out, stderr=subprocess.PIPE)
    assert result.returncode == 2 and (folder / "two").read_bytes() == b""


@pytest.mark.parametrize("arguments", [
    (*QWEN, "-o", "out", "--errors"), (*QWEN, "--errors"), (*QWEN, "-o"),
    ("explain", "-f", "qwen3", "--json", "-o"),
])
def test_a_number_that_is_not_open(command, folder, arguments):
    """A file of the run could get the number afterwards, such as its journal."""
    before = contents(folder)
    for number in range(3, 8):
        result = run(command, folder, *arguments, f"/dev/fd/{number}", "in.jsonl")
        assert result.returncode == 2 and result.stdout == b"", number
        assert result.stderr == (
            f"parlance: cannot write to /dev/fd/{number}: "
            "Bad file descriptor\n").encode()
        assert contents(folder) == before


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_explain_goes_on_with_standard_output(command, folder, name):
    (folder / "log").write_text("before\n")
    with open(folder / "log", "ab") as out:
        result = subprocess.run(
            [command, "explain", "-f", "qwen3", "--json", "-o", name, "in.jsonl"],
            cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
    assert result.returncode == 0
    before, after = (folder / "log").read_text().splitlines()
    assert before == "before" and json.loads(after)["name"] == "qwen3"


@pytest.mark.parametrize("end, program", [(".gz", "gzip"), (".zst", "zstd")])
def test_a_compressed_file_without_rows(command, folder, end, program):
    """It is one that programs read, as a file of no bytes is not."""
    if shutil.which(program) is None:
        pytest.skip(f"takes {program}")
    (folder / "none").write_text("\n")
    names = [f"out{end}", f"errors{end}"]
    result = run(command, folder, *QWEN, "none", "-o", names[0], "--errors",
                 names[1])
    if b"was built without" in result.stderr:
        pytest.skip("takes a library")
    assert result.returncode == 0, result
    for name in names:
        result = run(program, folder, "-d", "-c", name)
        assert result.returncode == 0 and result.stdout == b"", result
        assert run(command, folder, *QWEN, name).stdout == b""


@pytest.mark.parametrize("name", ["out", "errors"])
@pytest.mark.parametrize("end", ["", ".part"])
def test_a_finished_run_whose_files_are_not_whole(command, folder, name, end):
    """The journal of a run that was killed before the names were given."""
    need_strace()
    arguments = [*QWEN, "in.jsonl", "-o", "out", "--errors", "errors"]
    # Each file gets its name by the first or second call.
    when = {("errors", ".part"): 1, ("errors", ""): 2, ("out", ".part"): 2,
            ("out", ""): 2}[name, end]
    subprocess.run([*TRACE, "-e", "trace=link", "-e",
                    f"inject=link:signal=KILL:when={when}", command, *arguments],
                   cwd=folder, capture_output=True)
    assert (folder / "out.journal").exists()
    if (name, end) == ("out", ""):
        (folder / "out.part").rename(folder / "out")
    whole = (folder / (name + end)).read_bytes()
    (folder / "elsewhere").write_bytes(whole)

    def shorten(path):
        path.write_bytes(whole[:-1])

    def lengthen(path):
        path.write_bytes(whole + b"x")

    def replace(path):
        path.unlink()
        path.symlink_to("elsewhere")

    for change in (shorten, lengthen, replace):
        change(folder / (name + end))
        before = contents(folder)
        result = run(command, folder, *arguments, "--resume")
        assert result.returncode == 2, (change, result)
        assert b"is not what the run wrote" in result.stderr
        assert contents(folder) == before
    (folder / (name + end)).unlink()
    (folder / (name + end)).write_bytes(whole)
    assert run(command, folder, *arguments, "--resume").returncode == 0
    assert (folder / name).read_bytes() == whole


def test_a_complete_run_is_not_continued(command, folder):
    arguments = [*QWEN, "in.jsonl", "-o", "out", "--errors", "errors"]
    assert run(command, folder, *arguments).returncode == 0
    before = contents(folder)
    result = run(command, folder, *arguments, "--resume")
    assert (result.returncode, b"is complete" in result.stderr) == (0, True)
    assert contents(folder) == before


def test_a_closed_pipe(command, folder):
    big = "".join(f'"{"x" * 9000}"\n' for _ in range(300))
    (folder / "big.jsonl").write_text(big)
    shell = f"{command} parse --jsonl -f qwen3 big.jsonl; echo $? >&2"
    result = subprocess.run(["bash", "-c", f"({shell}) | true"], cwd=folder,
                            capture_output=True)
    assert result.stderr == b"141\n"


def test_a_run_that_fails_says_what_is_left(command, folder):
    (folder / "bad.gz").write_bytes(gzip.compress(jsonl(3).encode())[:-9])
    bad = (folder / "bad.gz").read_bytes()
    result = run(command, folder, *QWEN, "in.jsonl", "bad.gz", "-o", "out")
    assert result.returncode == 2 and result.stderr.endswith(
        b"parlance: what was written is in out.part; --resume continues the run\n")
    result = run(command, folder, *QWEN, "in.jsonl", "-o", "out", "--resume")
    assert result.returncode == 2 and result.stderr.endswith(
        b"To begin anew, remove it and out.journal\n")
    result = run(command, folder, *QWEN, "-o", "piped", input=bad)
    assert result.returncode == 2 and result.stderr.endswith(
        b"what was written is in piped.part; move it away before the next run\n")
    assert (folder / "piped.part").read_text().count("\n") >= 2
    assert b"what was written" not in run(command, folder, *QWEN, "bad.gz").stderr


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_explain_writes_over_no_input(command, folder, spelling):
    (folder / "text").write_text("hello")
    name = SPELLINGS[spelling](folder, "text")
    result = run(command, folder, "explain", "-f", "qwen3", "--html", "-o", name,
                 "text")
    assert result.returncode == 2 and b"is the same file as" in result.stderr
    assert (folder / "text").read_text() == "hello"


def test_explain_writes_over_no_vocabulary(command, folder, vocabulary):
    (folder / "model").mkdir()
    (folder / "model" / "tokenizer.json").write_text("{}")
    before = contents(folder)
    for given, name in ((vocabulary, vocabulary), ("model", "model/tokenizer.json")):
        result = run(command, folder, "explain", "-f", "qwen3", "--ids",
                     "--vocabulary", given, "--html", "-o", f"./{name}",
                     input=b"[65, 66]")
        assert result.returncode == 2
        assert contents(folder) == before
    assert b"is the same file as" in run(
        command, folder, "explain", "-f", "qwen3", "--ids", "--vocabulary",
        vocabulary, "--html", "-o", f"./{vocabulary}", input=b"[65]").stderr


def test_modes_are_those_of_the_process(command, folder):
    old = os.umask(0o077)
    try:
        run(command, folder, *QWEN, "in.jsonl", "-o", "out", "--errors", "e")
    finally:
        os.umask(old)
    for name in ("out", "e"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600


# ---- Runs at the same time


@pytest.mark.parametrize("piped", [False, True])
def test_two_runs_at_once(command, tmp_path, piped):
    (tmp_path / "in").write_text(jsonl(30000))
    arguments = [command, *QWEN, "-o", "out", "--errors", "e"]
    if not piped:
        arguments.append("in")
    runs = []
    for _ in range(4):
        with open(tmp_path / "in", "rb") as text:
            source = subprocess.Popen(["cat"], stdin=text, stdout=subprocess.PIPE)
        runs.append(subprocess.Popen(
            arguments, cwd=tmp_path, stdin=source.stdout,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        source.stdout.close()
    results = [(process.communicate()[1], process.returncode) for process in runs]
    assert sorted(status for _, status in results) == [0, 2, 2, 2], results
    for error, status in results:
        if status:
            assert re.search(rb"another run is writing|exists", error), error
    assert (tmp_path / "out").read_text().count("\n") == 30000
    assert len((tmp_path / "e").read_text().splitlines()) == 3000
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob("*.journal"))


def test_a_second_run_says_so(command, tmp_path):
    process = subprocess.Popen(
        [command, *QWEN, "-o", "out"], cwd=tmp_path, stdin=subprocess.PIPE)
    process.stdin.write(b'"a"\n')
    process.stdin.flush()
    part = tmp_path / "out.part"
    while not part.exists() or part.stat().st_size == 0:
        assert process.poll() is None
    second = run(command, tmp_path, *QWEN, "-o", "out", input=b'"b"\n')
    assert second.returncode == 2
    assert second.stderr == b"parlance: another run is writing out\n"
    process.communicate()
    assert json.loads((tmp_path / "out").read_text())["content"] == "a"


# ---- Killed runs

CALLS = ["openat", "write", "ftruncate", "fsync", "link", "unlink", "flock", "close",
         "lseek", "newfstatat"]
SAVE_CALLS = ["openat", "write", "fchown", "fchmod", "fsync", "close", "rename"]
TRACE = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "signal=none"]


def need_strace():
    if shutil.which("strace") is None:
        pytest.skip("takes strace")
    works = subprocess.run(
        [*TRACE, "-e", "inject=openat:signal=KILL:when=1", "true"],
        capture_output=True)
    if works.returncode != -signal.SIGKILL:
        pytest.skip("strace may not trace here")


def killed(calls, step, run):
    """Kills `run` at each `step`-th of its calls of each name, until it ends.

    Yields after each.  strace counts the calls of each name and thread.
    """
    for call in calls:
        for when in itertools.count(1, step):
            result = run([*TRACE, "-e", f"trace={call}", "-e",
                          f"inject={call}:signal=KILL:when={when}"])
            yield call, when
            if result.returncode != -signal.SIGKILL:
                break


def calls_of(run, folder):
    """The names of all system calls that are made by `run`."""
    log = folder / "log"
    run(["strace", "-f", "-qq", "-e", "signal=none", "-o", str(log)])
    names = set(re.findall(r"^\d+ (\w+)\(", log.read_text(), re.MULTILINE))
    log.unlink()
    # A run that is killed at these has not begun, or has ended.
    return sorted(names - {"execve", "exit_group", "exit"})


def check_killed_runs(command, tmp_path, calls, step):
    """Kills a run, and continues it; nothing is lost."""
    (tmp_path / "a").write_text(jsonl(1500))
    with gzip.open(tmp_path / "b", "wt") as out:
        out.write(jsonl(1500, 1500))
    inputs = {name: (tmp_path / name).read_bytes() for name in ("a", "b")}
    arguments = [*QWEN, "a", "b", "-j", "1", "--checkpoint", "0", "--errors",
                 "e", "-o", "out"]

    def start(tracer):
        return subprocess.run([*tracer, command, *arguments], cwd=tmp_path,
                              capture_output=True)

    calls = calls or calls_of(start, tmp_path)
    for name in ("out", "e"):
        (tmp_path / name).unlink(missing_ok=True)
    assert run(command, tmp_path, *arguments).returncode == 0
    want = {name: (tmp_path / name).read_bytes() for name in ("out", "e")}
    for name in want:
        (tmp_path / name).unlink()
    count = 0
    for point in killed(calls, step, start):
        count += 1
        # What has its name is complete.
        for name in ("out", "e"):
            if (tmp_path / name).exists():
                assert (tmp_path / name).read_bytes() == want[name], point
        again = run(command, tmp_path, *arguments, "--resume")
        assert again.returncode == 0, (point, again.stderr)
        assert {name: (tmp_path / name).read_bytes() for name in want} == want, point
        assert {n: (tmp_path / n).read_bytes() for n in inputs} == inputs, point
        assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "e", "out"]
        for name in want:
            (tmp_path / name).unlink()
    assert count > 30


def test_killed_at_system_calls(command, tmp_path):
    need_strace()
    check_killed_runs(command, tmp_path, CALLS, 3)


@pytest.mark.skipif("PARLANCE_LONG" not in os.environ, reason="long")
def test_killed_at_every_system_call(command, tmp_path):
    need_strace()
    check_killed_runs(command, tmp_path, None, 1)


SAVE = """
import sys, parlance
v = parlance.Vocabulary.from_file(sys.argv[1]).with_stop_ids([int(sys.argv[2])])
v.save(sys.argv[3])
"""
def python(*arguments, before=(), **options):
    return subprocess.run([*before, sys.executable, "-c", *map(str, arguments)],
                          capture_output=True, text=True, **options)


@pytest.mark.parametrize("step", [
    2, pytest.param(1, marks=pytest.mark.skipif(
        "PARLANCE_LONG" not in os.environ, reason="long"))])
def test_a_save_is_killed_at_system_calls(tmp_path, vocabulary, step):
    """Then the file is the old one or the whole new one."""
    parlance = pytest.importorskip("parlance")
    need_strace()
    saved = tmp_path / "saved"
    source = tmp_path / vocabulary
    assert python(SAVE, source, 1, saved).returncode == 0
    saved.chmod(0o600)
    old = saved.read_bytes()
    log = tmp_path / "log"

    def save(tracer):
        return python(SAVE, source, 2, saved, before=tracer)

    # Only from the first call on that writes it.
    save(["strace", "-qq", "-o", log])
    before = log.read_text().partition(".new-")[0].rpartition("\n")[0]
    log.unlink()
    new = saved.read_bytes()
    assert old != new
    assert list(parlance.Vocabulary.load(saved).stop_ids) == [2]
    seen = set()
    for call in SAVE_CALLS:
        first = len(re.findall(rf"^{call}\(", before, re.MULTILINE))
        for when in itertools.count(first + 1, step):
            saved.write_bytes(old)
            result = save([*TRACE, "-e", f"trace={call}", "-e",
                           f"inject={call}:signal=KILL:when={when}"])
            assert saved.read_bytes() in (old, new), (call, when)
            assert saved.stat().st_mode & 0o777 == 0o600
            seen.add(saved.read_bytes() == new)
            if result.returncode != -signal.SIGKILL or when > first + 20:
                break
    assert len(seen) == 2  # kills before the renaming, and after


# ---- Journals


def interrupt(command, folder, arguments, names):
    """Runs to the end, then again until the end is near; what is whole."""
    done = run(command, folder, *arguments)
    assert done.returncode == 0, done
    want = {name: (folder / name).read_bytes() for name in names}
    for name in names:
        (folder / name).unlink()
    limit = max(map(len, want.values())) - 1
    stopped = run(
        command, folder, *arguments,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert stopped.returncode == -signal.SIGXFSZ
    assert (folder / "out.journal").read_bytes().count(b"\n") >= 2
    return want


@pytest.mark.parametrize("seed", range(20 if "PARLANCE_LONG" in os.environ else 1))
def test_a_damaged_journal(command, tmp_path, seed):
    (tmp_path / "in").write_text(jsonl(30000))
    arguments = [*QWEN, "in", "--checkpoint", "0", "--errors", "e", "-o", "out"]
    want = interrupt(command, tmp_path, arguments, ["out", "e"])
    random.seed(seed)
    whole = (tmp_path / "out.journal").read_bytes()
    lines = whole.splitlines(keepends=True)
    before = contents(tmp_path)
    last = lines[-1]
    damages = [b"", b"\n", b"x" * 100 + b"\n", lines[0] + b"{}\n",
               lines[0] + b"\xff\n", whole + b"[]\n", whole[1:], lines[1]]
    # Each number of the last line as another one.
    for match in re.finditer(rb'": (\d+)', last):
        for number in (b"0", b"-1", b"1", b"99999999", str(2**63).encode(),
                       b"1e9", str(int(match[1]) + 1).encode()):
            if number != match[1]:
                damages.append(b"".join(lines[:-1]) + last[: match.start(1)]
                               + number + last[match.end(1):])
    for _ in range(12):
        at = random.randrange(len(whole) - len(last), len(whole) - 1)
        damages.append(whole[:at] + bytes([whole[at] ^ 1 << random.randrange(7)])
                       + whole[at + 1:])
    for damage in damages:
        if damage == whole:
            continue
        (tmp_path / "out.journal").write_bytes(damage)
        result = run(command, tmp_path, *arguments, "--resume")
        if result.returncode == 0:
            # The last line was none any more: an earlier place is one, too.
            assert damage.count(b"\n") < len(lines) or damage.endswith(b"\n\n")
            assert {n: (tmp_path / n).read_bytes() for n in want} == want
            return
        assert result.returncode == 2, (damage, result)
        assert b"out" in result.stderr
        (tmp_path / "out.journal").write_bytes(whole)
        assert contents(tmp_path) == before, damage
    # With its own bytes the run goes on.
    assert run(command, tmp_path, *arguments, "--resume").returncode == 0
    assert {n: (tmp_path / n).read_bytes() for n in want} == want


def test_resume_notices_what_changed(command, folder):
    (folder / "in").write_text(jsonl(20000))
    arguments = ["parse", "--jsonl", "in", "-t", "format.json", "--tools",
                 "tools.json", "--prefix-file", "prefix.txt", "--checkpoint", "0",
                 "-o", "out"]
    interrupt(command, folder, arguments, ["out"])
    before = contents(folder)
    for name, what in (("in", "the input files"), ("format.json", "--template"),
                       ("tools.json", "--tools"),
                       ("prefix.txt", "--prefix-file")):
        path = folder / name
        facts, text = path.stat(), path.read_bytes()
        # In place, of the same size, at its end, with the same times.
        changed = {"tools.json": b" []", "format.json": text.replace(b" ", b"\n"),
                   "prefix.txt": b"y ", "in": text[:-3] + b" \n\n"}[name]
        assert changed != text and len(changed) == len(text)
        with open(path, "r+b") as file:
            file.write(changed)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        result = run(command, folder, *arguments, "--resume")
        assert result.returncode == 2, (name, result)
        assert what.encode() in result.stderr, (name, result.stderr)
        with open(path, "r+b") as file:
            file.write(text)
        assert contents(folder) == before
    # The times alone say nothing.
    os.utime(folder / "in", ns=(1, 1))
    assert run(command, folder, *arguments, "--resume").returncode == 0


# ---- Inputs that change


@pytest.mark.parametrize("change", ["cut", "grow", "overwrite"])
@pytest.mark.parametrize("packed", [False, True])
def test_an_input_that_changes_while_it_is_read(command, tmp_path, change, packed):
    path = tmp_path / "in"
    text = jsonl(150_000).encode()
    path.write_bytes(gzip.compress(text, 0) if packed else text)
    process = subprocess.Popen(
        [command, *QWEN, "in", "-j", "1"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(100)  # now it waits for room in the pipe
    if change == "cut":
        os.truncate(path, 3 << 19)
    else:
        with open(path, "r+b") as file:
            file.seek(0, os.SEEK_END if change == "grow" else os.SEEK_SET)
            file.write(b" ")
    _, error = process.communicate()
    assert process.returncode == 2, error
    assert b"in has changed while it was read" in error or (
        packed and b"in the middle of its gzip data" in error)


def rows_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


DAMAGES = {
    "cut": (lambda data: data[:-30], "in the middle of its gzip data", False),
    "sum": (lambda data: data[:-6] + bytes([data[-6] ^ 1]) + data[-5:],
            "the gzip data is damaged", False),
    "garbage": (lambda data: data + b"garbage" * 10,
                "after the gzip data are bytes that are none", True),
    "half a header": (lambda data: data + b"\x1f\x8b",
                      "in the middle of its gzip data", False),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("ended", [False, True])
def test_damaged_gzip_keeps_every_whole_line(command, tmp_path, damage, piped, ended):
    make, message, all_whole = DAMAGES[damage]
    text = jsonl(3000)
    if not ended:
        text = text[:-1]
    data = make(gzip.compress(text.encode()))
    (tmp_path / "in").write_bytes(data)
    if piped:
        result = run(command, tmp_path, *QWEN, input=data)
    else:
        result = run(command, tmp_path, *QWEN, "in")
    assert result.returncode == 2
    assert message in result.stderr.decode()
    rows = rows_of(result)
    if damage == "cut":
        import zlib
        whole = zlib.decompressobj(31).decompress(data).count(b"\n")
    else:
        whole = 3000 if ended or all_whole else 2999
    assert len(rows) == whole
    assert f"what follows line {whole} is missing" in result.stderr.decode()
