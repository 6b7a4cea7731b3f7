"""Two ends of a pipe: lines of JSON there, lines of JSON back.

Upstream's code can loop for ever or crash its process.  So a worker (serve)
forks a child that does the work, with a limit on processor time and memory,
and the next child takes over when one has gone.
"""

import json
import os
import resource
import signal
import subprocess


class Peer:
    """A program that answers one line of JSON with one line of JSON."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the program ended on {json.dumps(request)}"
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def serve(answer, seconds=2.0, bytes=4 << 30):
    """Answers each line of standard input by answer(request), or by
    {"gone": "hangs" or "crashes"} where that took more processor time or
    memory than allowed, or broke."""
    while True:
        child = os.fork()
        if child == 0:
            _work(answer, seconds, bytes)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return
        hangs = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF
        _write_all(json.dumps({"gone": "hangs" if hangs else "crashes"}))


def _work(answer, seconds, bytes):
    resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    while line := _read_line():
        signal.setitimer(signal.ITIMER_PROF, seconds)
        out = json.dumps(answer(json.loads(line)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write_all(out)


# One line of standard input, and not a byte more: the rest is for the next
# child, should this one go.
def _read_line():
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return None
        line += byte
    return bytes(line)


def _write_all(out):
    data = out.encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]
