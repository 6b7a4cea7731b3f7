"""The rooms of src/ and their public headers: no include points up or sideways.

Which room may see which is written once, in the parlance_room() calls; this
test reads it back from the #include lines.
"""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PUBLIC = ROOT / "include" / "parlance"

# Headers that every room may use: values, not algorithms.
VOCABULARY = {
    "access.h",
    "error.h",
    "json.h",
    "limit_names.h",
    "limits.h",
    "message.h",
    "schema_options.h",
    "tools.h",
}

# Includes all the others, and is included by no room.
UMBRELLA = "parlance.h"

# Other includes of such headers, each with its reason.
EXCEPTIONS = {
    ("grammar/source.h", "structural_tag.h"): "what a grammar was made from",
    ("vocab/saved_file.cc", "version.h"): "files name their version",
    ("arrow/column_reader.h", "vocabulary.h"): "reads token ids",
    ("explanation/api.cc", "grammar.h"): "reads by a grammar",
    ("detection/detect.cc", "format.h"): "loads the formats that may fit",
    ("detection/detect.cc", "response_parser.h"): "reads a rendered call",
    ("rendering/api.cc", "format.h"): "defines Format::render",
    ("rendering/api.cc", "response_parser.h"): "reads the text back",
    ("harmony/marks.h", "vocabulary.h"): "are those of a vocabulary",
    ("chat/fields.cc", "format.h"): "defines chat_fields of a Format",
    ("chat/fields.cc", "tag_parser.h"): "defines chat_fields of a tag",
    ("mask/compiler_impl.h", "vocabulary.h"): "masks are made for a vocabulary",
    ("inversion/api.cc", "grammar.h"): "defines Format::grammar",
    ("inversion/api.cc", "response_parser.h"): "reads the prefix",
    ("inversion/probes.h", "format.h"): "the format whose reader is asked",
    ("inversion/read_texts.h", "format.h"): "the format whose reader reads",
    ("inversion/reading.cc", "response_parser.h"): "reads calls back",
    ("inversion/reading.h", "format.h"): "the format whose reader reads",
    ("rendering/marks.h", "vocabulary.h"): "makes one of the marks of a format",
    ("inversion/verify.h", "format.h"): "the format whose reader verifies",
    ("mask/matcher_impl.h", "grammar.h"): "tells those of its text",
    ("rules/marks.h", "vocabulary.h"): "are those of a vocabulary",
    ("mask/lexeme_walk.h", "vocabulary.h"): "walks the tokens of a vocabulary",
    ("mask/stop_set.h", "vocabulary.h"): "are tokens of a vocabulary",
    ("mask/token_class_walk.h", "vocabulary.h"): "walks the tokens of a vocabulary",
    ("mask/mask_resources.h", "vocabulary.h"): "reads the bytes of tokens",
    ("parse/listed_marks.h", "vocabulary.h"): "are those of a vocabulary",
    ("parse/prefix.h", "vocabulary.h"): "reads a prompt of tokens",
    ("parse/delimiter_program.h", "vocabulary.h"): "is made for a vocabulary",
    ("response_schema/description.h", "jmespath.h"): "has compiled expressions",
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ROOM = re.compile(r"^parlance_room\(\s*(\w+)([^)]*)\)", re.M)


LISTS = ("DEPENDS", "PUBLIC", "SOURCES", "APART", "LIBRARIES")


def read_rooms():
    rooms = {}
    for file in sorted(SRC.glob("*/*/CMakeLists.txt")):
        for name, rest in ROOM.findall(file.read_text()):
            assert name == file.parent.name, file
            lists = {name: [] for name in LISTS}
            current = None
            for word in re.sub(r"#.*", "", rest).split():
                if word in lists:
                    current = lists[word]
                else:
                    current.append(word)
            rooms[name] = lists
    return rooms


ROOMS = read_rooms()
FOLDERS = {file.parent.name: file.parent for file in SRC.glob("*/*/CMakeLists.txt")}

# The header of a public class is included by the room that implements it, by
# the api.cc of rooms above, and by no other source.
CLASSES = {header: room for room in ROOMS for header in ROOMS[room]["PUBLIC"]}


def source(name):
    """The file that an include of one room by another calls `name`."""
    room, _, rest = name.partition("/")
    return FOLDERS.get(room, SRC / room) / rest


def reachable(room):
    """`room` and every room that it depends on, directly or not."""
    found = set()
    left = [room]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(ROOMS[name]["DEPENDS"])
    return found


def floor(room):
    return 1 + max(map(floor, ROOMS[room]["DEPENDS"]), default=0)


def includes(file):
    return INCLUDE.findall(file.read_text())


def sources(folder):
    return sorted(
        f for f in folder.rglob("*") if f.suffix in (".cc", ".h", ".inc")
    )


def test_every_folder_of_a_wing_is_a_room():
    assert set(FOLDERS) == set(ROOMS)
    assert {f.parent for f in FOLDERS.values()} == {
        f for f in SRC.iterdir() if f.is_dir()
    }


def test_every_room_is_in_the_library():
    text = (SRC / "CMakeLists.txt").read_text()
    for wing in {folder.parent.name for folder in FOLDERS.values()}:
        listed = re.search(rf"^set\({wing} ([^)]*)\)", text, re.M)
        rooms = {r for r in ROOMS if FOLDERS[r].parent.name == wing}
        assert listed and set(listed.group(1).split()) == rooms, wing


def test_every_room_has_a_recorded_size():
    lines = (SRC / "rooms.txt").read_text().splitlines()[1:]
    recorded = {pathlib.Path(line.split()[0]) for line in lines}
    folders = {folder.relative_to(ROOT) for folder in FOLDERS.values()}
    assert folders == {path for path in recorded if path.parts[0] == "src"}


def test_no_room_depends_on_itself():
    for room in ROOMS:
        for other in ROOMS[room]["DEPENDS"]:
            assert room not in reachable(other), (room, other)


def test_parse_and_grammar_never_meet():
    for room, other in (("parse", "grammar"), ("grammar", "parse")):
        if room in ROOMS:
            assert other not in reachable(room)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_includes_point_down(room):
    wrong = []
    allowed = {room, *ROOMS[room]["DEPENDS"]}
    rooms = reachable(room)
    for file in sources(FOLDERS[room]):
        name = f"{room}/{file.relative_to(FOLDERS[room])}"
        for include in includes(file):
            first, _, rest = include.partition("/")
            if first == "parlance" and rest:
                if rest in VOCABULARY or (name, rest) in EXCEPTIONS:
                    continue
                # An implementation may use the public classes of rooms below;
                # a room beside the library, all of them.
                below = (
                    FOLDERS[room].parent.name == "beside"
                    or file.name == "api.cc"
                    and CLASSES.get(rest) in rooms
                )
                if not below and CLASSES.get(rest) != room:
                    wrong.append(f"{name}: {include} is a public class")
            elif first not in allowed:
                wrong.append(f"{name}: {room} does not depend on {first}")
            elif not source(include).exists():
                wrong.append(f"{name}: there is no {include}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_every_dependency_is_used(room):
    used = {
        include.partition("/")[0]
        for file in sources(FOLDERS[room])
        for include in includes(file)
    }
    assert set(ROOMS[room]["DEPENDS"]) <= used


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_is_a_namespace(room):
    opened = re.compile(r"^namespace parlance::(\w+)", re.M)
    wrong = []
    for header in FOLDERS[room].glob("*.h"):
        # A class of another room may be declared, and nothing else.
        text = re.sub(
            r"namespace parlance(::\w+)* \{\n((class|struct) \w+;\n)+\}",
            "",
            header.read_text(),
        )
        if set(opened.findall(text)) - {room, "detail"}:
            wrong.append(header.name)
    assert not wrong, wrong


def test_the_tour_has_every_room_on_its_floor():
    text = (ROOT / "docs" / "tour.md").read_text()
    drawn = {}
    for line in text.splitlines():
        if re.match(r"[1-9] {3}", line):
            for room in re.findall(r"\w+", line[1:]):
                drawn[room] = int(line[0])
    assert drawn == {room: floor(room) for room in ROOMS}
    listed = re.findall(r"^\| `(\w+)` \|", text, re.M)
    assert sorted(listed) == sorted(ROOMS)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_every_source_is_built(room):
    present = {f.name for f in FOLDERS[room].glob("*.cc")}
    assert present == set(ROOMS[room]["SOURCES"])
    assert set(ROOMS[room]["APART"]) <= present


def test_only_one_file_of_the_core_catches():
    comment = re.compile(r"//[^\n]*|\"(?:\\\\.|[^\"\\\\\n])*\"")
    word = re.compile(r"\b(?:throw|try|catch|dynamic_cast|typeid)\b")
    threads = re.compile(r"\bstd::(?:jthread|async)\b|\bstd::thread\s+\w|<std::thread>")
    wrong = []
    for file in sources(SRC) + sources(PUBLIC):
        if file.stem == "threads" and file.parent.name == "base":
            continue
        code = comment.sub("", file.read_text())
        for pattern in (word, threads):
            wrong += [f"{file.relative_to(ROOT)}: {m}" for m in pattern.findall(code)]
    assert not wrong, "\n".join(wrong)


def test_public_headers_include_public_headers():
    for file in sources(PUBLIC):
        if file.name == UMBRELLA:
            continue
        assert file.name in VOCABULARY or file.name in CLASSES, (
            f"{file.name} is neither in VOCABULARY nor in CLASSES"
        )
        for include in includes(file):
            assert include.startswith("parlance/"), f"{file.name}: {include}"
            if file.name in VOCABULARY:
                assert include.removeprefix("parlance/") in VOCABULARY, (
                    f"{file.name}: {include} is a public class"
                )


def test_the_umbrella_includes_every_public_header():
    others = {f.name for f in PUBLIC.glob("*.h")} - {UMBRELLA}
    assert includes(PUBLIC / UMBRELLA) == [
        f"parlance/{name}" for name in sorted(others)
    ]


@pytest.mark.parametrize("folder", ["cli", "bindings"])
def test_above_the_library_only_public_headers(folder):
    wrong = []
    for file in sources(ROOT / folder):
        for include in includes(file):
            own = (file.parent / include).exists()
            if not own and not (ROOT / "include" / include).exists():
                wrong.append(f"{file.relative_to(ROOT)}: {include}")
    assert not wrong, "\n".join(wrong)


def test_exceptions_are_needed():
    for (name, header), reason in EXCEPTIONS.items():
        assert reason
        assert f"parlance/{header}" in includes(source(name)), (name, header)
