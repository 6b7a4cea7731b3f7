"""The form of commits, from one commit on: `room: what it now does`."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The form holds for what comes after this commit.
SINCE = "bc24842e6cf59dbf4a63292d34aacc4579640b0f"

# A subject begins with what it is about: a folder or a file that the commit
# touches, without its ending, the path of a folder, or one of these; every page
# belongs to docs.
WORDS = {"build", "cmake", "gate", "tidy"}
LONGEST = 80

# Needs figures and how they were measured, which a subject has no room for.
CLAIM = re.compile(
    r"\b(?:fast|quick|slow|cheap)(?:er|est)?\b|\d ?(?:%|(?:ms|µs|ns|s|x)\b)"
)


def faults(subject, body, paths):
    """What is wrong with a commit, in words."""
    about, colon, what = subject.partition(": ")
    rooms = about.split(", ")
    touched = set(WORDS)
    for path in map(pathlib.PurePosixPath, paths):
        touched |= {part.lower() for part in (*path.parts, path.stem)}
        touched |= {str(parent) for parent in path.parents}
        touched |= {"docs"} if path.suffix == ".md" else set()
    if len(subject) > LONGEST:
        yield f"the subject has {len(subject)} characters, and may have {LONGEST}"
    if not colon or not what.strip() or what.endswith("."):
        yield "the subject is not `room: what it now does`"
    elif unknown := [room for room in rooms if room not in touched]:
        yield f"it touches nothing called {unknown[0]}"
    if CLAIM.search(what) and not body.strip():
        yield "it speaks of speed and has no body with the figures"


def git(*arguments):
    return subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=ROOT, capture_output=True, text=True,
    )


def test_commits_have_the_form():
    if git("cat-file", "-e", SINCE + "^{commit}").returncode:
        pytest.skip(f"commits: the history here does not reach {SINCE[:8]}")
    log = git(
        "log", "--no-merges", "--no-renames", "--name-only", f"{SINCE}..HEAD",
        "--format=%x01%h%x00%s%x00%b%x00",
    )
    wrong = []
    for entry in log.stdout.split("\x01")[1:]:
        name, subject, body, paths = entry.split("\0")
        for fault in faults(subject, body, paths.split("\n")):
            wrong.append(f"{name} {subject}\n    {fault}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "subject, body, good",
    [
        ("mask: keeps what it knows", "", True),
        ("mask, docs: keeps what it knows", "", True),
        ("src/recognition: keeps what it knows", "", True),
        ("build: one list of rooms", "", True),
        ("cmake: one list of rooms", "", True),
        ("Small: keeps what it knows", "", False),
        ("json: keeps what it knows", "", False),
        ("recognition/mask: keeps what it knows", "", False),
        ("mask: keeps what it knows.", "", False),
        ("mask keeps what it knows", "", False),
        ("mask: " + "k" * 75, "", False),
        ("mask: walks are faster", "", False),
        ("mask: walks take 20 % less", "", False),
        ("mask: walks are faster", "From 3 to 2 µs, scripts/bench masks.", True),
    ],
)
def test_the_form(subject, body, good):
    paths = ["src/recognition/mask/mask_maker.cc", "docs/tour.md"]
    assert (not list(faults(subject, body, paths))) == good
