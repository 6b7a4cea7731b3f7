"""``python -m parlance`` and the script: the command, inside the module.

tests/cli tests what the command does; with PARLANCE_CLI set to the script of an
installed package, through this way in.  With pyarrow: tests/tables/check_parquet.py.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import parlance


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "parlance", *arguments],
        capture_output=True,
        text=True,
        **options,
    )


def python(code, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        **options,
    )


def test_help_and_version():
    assert run("--version").stdout == f"parlance {parlance.__version__}\n"
    assert "--format" in run("parse", "--help").stdout
    assert run().returncode == 2


def test_the_version_needs_only_the_module():
    done = python("""
        import sys
        from parlance.__main__ import main
        assert main(["--version"]) == 0
        print(*sorted(name for name in sys.modules if name.startswith("parlance")))
        print("typing" in sys.modules, "re" in sys.modules)
    """)
    assert done.stdout.splitlines()[1:] == [
        "parlance parlance.__main__ parlance._parlance",
        "False False",
    ], done


def test_calls_are_independent(tmp_path):
    """Of one process: arguments, errors, and the files that were read."""
    (tmp_path / "a.txt").write_text("<think>Hm.</think>Bern.")
    (tmp_path / "rows.jsonl").write_text('{"response": "Bern."}\n' * 3)
    (tmp_path / "bad.jsonl").write_text('{"response": 1}\n')
    done = python(
        """
        from parlance.__main__ import main

        def shown(*arguments):
            print(main(list(arguments)))

        QWEN = ["parse", "-f", "qwen3"]
        shown(*QWEN, "a.txt")
        shown(*QWEN, "no.txt")
        shown("parse", "--nonsense")
        shown(*QWEN, "a.txt", "--compact")
        shown("--version")
        shown(*QWEN, "--jsonl", "bad.jsonl", "-o", "bad.out")
        shown(*QWEN, "--jsonl", "rows.jsonl", "-o", "out.jsonl")
        # What changes between two calls has not changed during one.
        with open("a.txt", "a") as file: file.write("Genf.")
        shown(*QWEN, "a.txt")
        shown("mask", "--vocabulary", "none")
        shown(*QWEN)  # standard input, and its end
        shown(*QWEN)
        """,
        cwd=tmp_path,
        input="<think>Hm.</think>Zürich.",
    )
    assert done.returncode == 0, done
    statuses = [line for line in done.stdout.splitlines() if line.isdigit()]
    assert statuses == list("02200100200"), done
    assert "Genf" in done.stdout and "Zürich" in done.stdout
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3


def test_a_failure_while_input_may_still_come(tmp_path):
    """The process goes on, and threads that read are not left behind."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent("""
            from parlance.__main__ import main
            arguments = ["parse", "-f", "qwen3", "--jsonl", "-o", "/dev/full"]
            print(main(arguments), flush=True)
        """)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write('{"response": "Bern."}\n')
    process.stdin.flush()
    assert process.stdout.readline() == "2\n", process.stderr.read()
    assert process.wait(20) == 0
    process.stdin.close()
    assert "/dev/full" in process.stderr.read()


def test_what_python_has_written_comes_first():
    done = python("""
        from parlance.__main__ import main
        print("first")
        main(["--version"])
        print("last")
    """)
    first, version, last = done.stdout.splitlines()
    assert (first, last) == ("first", "last") and version.startswith("parlance ")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_signals_are_as_they_were():
    done = python("""
        import signal
        from parlance.__main__ import main

        signal.signal(signal.SIGINT, signal.default_int_handler)
        names = [signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ]
        before = [signal.getsignal(name) for name in names]
        main(["--version"])
        main(["nonsense"])
        assert [signal.getsignal(name) for name in names] == before
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert done.stdout.endswith("interrupted\n"), done


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("ignored", [False, True])
def test_an_interrupt_ends_the_command(ignored):
    """At once, as it ends others; not if the shell has it ignored."""
    process = subprocess.Popen(
        [sys.executable, "-m", "parlance", "watch", "-f", "qwen3", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL
        ),
    )
    process.stdin.write(b"<think>Hm.")
    process.stdin.flush()
    process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(b"</think>Bern.", 20)
    assert process.returncode == (0 if ignored else -signal.SIGINT)
    assert said == b""


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_goes(tmp_path):
    (tmp_path / "rows").write_text('{"response": "%s"}\n' % ("x" * 999) * 2000)
    process = subprocess.Popen(
        [sys.executable, "-m", "parlance", "parse", "-f", "qwen3", "--jsonl", "rows"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) in (-signal.SIGPIPE, 128 + signal.SIGPIPE)
    assert process.stderr.read() == b""


def test_threads_take_turns(tmp_path):
    """Calls of several threads: one after the other, and others may run."""
    done = python("""
        import threading
        from parlance.__main__ import main
        threads = [
            threading.Thread(target=main, args=(["formats", "--help"],))
            for _ in range(8)
        ]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """)
    assert done.returncode == 0, done
    one = run("formats", "--help").stdout
    assert done.stdout == one * 8


def test_arguments_that_are_no_text():
    from parlance import _parlance

    for wrong, error in ((["--version"], TypeError), ([b"a\0b"], ValueError)):
        with pytest.raises(error):
            _parlance.run_command(wrong)


@pytest.mark.skipif(os.name != "posix", reason="names of POSIX")
def test_a_name_that_is_no_utf_8(tmp_path):
    name = os.fsdecode(b"a\xff.txt")
    (tmp_path / name).write_text("Bern.")
    done = run("parse", "-f", "qwen3", "--compact", name, cwd=tmp_path)
    assert json.loads(done.stdout)["content"] == "Bern."


@pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is installed"
)
def test_parquet_without_pyarrow(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.parquet").write_text("")
    for name in ("a.parquet", tmp_path / "in"):
        done = run("parse", str(name), "-f", "qwen3", "-o", str(tmp_path / "out"))
        assert done.returncode == 2
        assert done.stderr == (
            "parlance: reading and writing Parquet takes the package pyarrow, which "
            "is not installed: pip install pyarrow\n"
        )
    assert not (tmp_path / "out").exists()
