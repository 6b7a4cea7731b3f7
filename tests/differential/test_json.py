"""The json and base rooms against Python's own json, int, float and str.

Needs the program json_probe, built with the tests; PARLANCE_PROBE_DIR names
the directory it is in.  PARLANCE_SEED (default 1) chooses the random cases.
"""

import ast
import json
import os
import random
import re
import subprocess
import sys
import unicodedata
import warnings
from pathlib import Path

import pytest

import conformance

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
SOURCE = Path(__file__).resolve().parents[2]
# Unicode version of the digit table, from the table's first line.
TABLE_VERSION = (
    (SOURCE / "src/foundation/base/digits.inc").read_text().split("Unicode ")[1].split()[0]
).rstrip(".")


def probe_path():
    directory = os.environ.get("PARLANCE_PROBE_DIR")
    if not directory:
        pytest.skip("PARLANCE_PROBE_DIR is not set: no json_probe to compare")
    path = Path(directory) / "json_probe"
    if not path.exists():
        pytest.skip(f"{path} does not exist: build the tests first")
    return path


def utf8(text):
    return text.encode("utf-8", "surrogatepass")


def ask(requests):
    """Answers to a list of (operation, argument...) tuples."""
    stdin = bytearray()
    for operation, *arguments in requests:
        encoded = [utf8(a) for a in arguments]
        lengths = " ".join(str(len(e)) for e in encoded)
        stdin += f"{operation} {lengths}\n".encode() + b"".join(encoded)
    out = subprocess.run(
        [probe_path()], input=bytes(stdin), stdout=subprocess.PIPE, check=True
    ).stdout
    answers, at = [], 0
    for _ in requests:
        end = out.index(b"\n", at)
        size = int(out[at:end])
        answers.append(out[end + 1 : end + 1 + size].decode("utf-8", "surrogatepass"))
        at = end + 1 + size
    assert at == len(out)
    return answers


def expected_parse(text):
    try:
        return "ok " + json.dumps(json.loads(text))
    except json.JSONDecodeError:
        return "syntax"
    except RecursionError:
        return "deep"
    except ValueError:
        return "digits"


def check_parse(texts):
    answers = ask([("parse", t) for t in texts])
    for text, answer in zip(texts, answers):
        expected = expected_parse(text)
        got = "syntax" if answer.startswith("syntax") else answer
        assert got == expected, repr(text)


ALPHABET = [
    "a", "Z", "0", " ", "\t", "\n", '"', "\\", "/", "\x00", "\x01", "\x1f", "\x7f",
    "\x80", "é", "ß", "\u2028", "中", "\ufeff", "\uffff", "😀", "\U0010ffff",
    "\ud800", "\udc00", "\udfff",
]  # fmt: skip


def random_string(rng):
    return "".join(rng.choices(ALPHABET, k=rng.choice([0, 1, 2, 5, 14, 15, 40])))


def random_number(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return rng.randrange(-10, 11)
    if kind == 1:
        bits = rng.choice([31, 32, 53, 62, 63, 64, 65, 200])
        return rng.choice([-1, 1]) * (2**bits + rng.randrange(-2, 3))
    if kind == 2:
        return rng.choice([0.0, -0.0, 1e16, 1e15, 9.999e15, 1e-4, 9.9e-5, 5e-324,
                           1.7976931348623157e308, float("inf"), float("-inf"),
                           float("nan"), 0.1, 1 / 3, 123456.789])  # fmt: skip
    if kind == 3:
        return rng.uniform(-1000, 1000)
    if kind == 4:
        return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-320, 308)
    return round(rng.uniform(-100, 100), rng.randrange(4))


def random_value(rng, depth=0):
    kind = rng.randrange(8 if depth < 5 else 5)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind in (1, 2):
        return random_number(rng)
    if kind in (3, 4):
        return random_string(rng)
    size = rng.choice([0, 1, 2, 3, 8, 9, 20] if depth < 2 else [0, 1, 2, 3])
    if kind == 5:
        return [random_value(rng, depth + 1) for _ in range(size)]
    return {random_string(rng): random_value(rng, depth + 1) for _ in range(size)}


def random_texts(count):
    rng = random.Random(SEED)
    texts = []
    for _ in range(count):
        texts.append(
            json.dumps(
                random_value(rng),
                ensure_ascii=rng.random() < 0.5,
                indent=rng.choice([None, None, 2]),
            )
        )
    return texts


def mutate(rng, text):
    pieces = ["{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "\\ud83d", "\\ude00",
              "0", "-", ".", "e", "E+", "NaN", "Infinity", "-Infinity", "true",
              "null", " ", "\n", "\x0b", "\xa0", "\ufeff", "1", "/*", "'", "tru"]  # fmt: skip
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + rng.choice(pieces) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randrange(1, 4) :]
        elif kind == 2:
            text = text[:at] + rng.choice(pieces) + text[at + 1 :]
        else:
            other = rng.randrange(len(text) + 1)
            text = text[: min(at, other)] + text[max(at, other) :]
    return text


def test_random_values():
    check_parse(random_texts(3000))


def test_mutated_texts():
    rng = random.Random(SEED + 1)
    texts = [t for t in random_texts(3000) if len(t) < 400]
    check_parse([mutate(rng, rng.choice(texts)) for _ in range(20000)])


def test_all_short_number_texts():
    texts = [""]
    words = []
    for _ in range(5):
        texts = [t + c for t in texts for c in "01-+.eE"]
        words += texts
    check_parse(words)


def test_pieces_change_nothing():
    rng = random.Random(SEED + 2)
    texts = [t for t in random_texts(400) if len(t) < 300]
    texts += [mutate(rng, t) for t in texts]
    whole = ask([("parse", t) for t in texts])
    for size in ("1", "2", "3", "7"):
        for text, answer, expected in zip(
            texts, ask([("pieces", t, size) for t in texts]), whole
        ):
            assert answer == expected, (repr(text), size)


def test_writing_options():
    texts = random_texts(300)
    for ascii_only in (True, False):
        for indent in (0, 1, 4):
            for compact in (False, True):
                answers = ask(
                    [
                        ("dump", t, str(int(ascii_only)), str(indent), str(int(compact)))
                        for t in texts
                    ]
                )
                item = "," if compact or indent else ", "
                for text, answer in zip(texts, answers):
                    expected = json.dumps(
                        json.loads(text),
                        ensure_ascii=ascii_only,
                        indent=indent or None,
                        separators=(item, ":" if compact else ": "),
                    )
                    # Ours keeps surrogates as escapes in either mode.
                    if not ascii_only:
                        expected = "".join(
                            f"\\u{ord(c):04x}" if 0xD800 <= ord(c) <= 0xDFFF else c
                            for c in expected
                        )
                    assert answer == expected, repr(text)


def test_depth():
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        inner = "" if opening == "[" else "1"
        texts = [opening * n + inner + closing * n for n in (1, 900, 990, 991, 100000)]
        answers = ask([("parse", t) for t in texts])
        assert [a.split()[0] for a in answers] == ["ok", "ok", "ok", "deep", "deep"]


def test_digit_limit():
    check_parse(
        [
            "1" * 4300,
            "1" * 4301,
            "-" + "1" * 4300,
            "-" + "1" * 4301,
            "1" * 4301 + ".5",
            "1" * 4301 + "e5",
            "[" + "9" * 5000 + "]",
            "9" * 5000 + "x",
        ]
    )


def expected_int(text):
    try:
        return str(int(text))
    except ValueError as error:
        return "too many digits" if "limit" in str(error) else "not a number"


def expected_float(text):
    try:
        return json.dumps(float(text))
    except ValueError:
        return "not a number"


def check_numbers(texts):
    for text, answer in zip(texts, ask([("int", t) for t in texts])):
        assert answer == expected_int(text), repr(text)
    for text, answer in zip(texts, ask([("float", t) for t in texts])):
        assert answer == expected_float(text), repr(text)


def all_characters():
    """Every code point on which this Python and our table must agree."""
    same = unicodedata.unidata_version == TABLE_VERSION
    return [
        chr(c)
        for c in range(sys.maxunicode + 1)
        if same or unicodedata.category(chr(c)) not in ("Nd", "Cn")
    ]


def test_every_character_alone_and_around_a_number():
    characters = all_characters()
    check_numbers(characters)
    check_numbers([c + "1" for c in characters])
    check_numbers(["1" + c for c in characters])


def test_every_character_stripped():
    characters = all_characters()
    texts = [c + "x" + c for c in characters]
    for text, answer in zip(texts, ask([("strip", t) for t in texts])):
        assert answer == text.strip(), repr(text)
    for c, answer in zip(characters, ask([("space", c) for c in characters])):
        assert (answer == "1") == c.isspace(), repr(c)


def test_random_number_texts():
    rng = random.Random(SEED + 3)
    atoms = ["0", "1", "9", "12", "٣", "०", "_", "__", ".", "-", "+", "e", "E", "e5",
             "e-3", "inf", "nan", "INFINITY", "Infinit", " ", "\t", "\xa0", "\x1c",
             "\x85", "\u3000", "\u200b", "x", "²", "\x00", "e400", "e-400", "0x"]  # fmt: skip
    check_numbers(
        ["".join(rng.choices(atoms, k=rng.randrange(1, 7))) for _ in range(30000)]
    )


def test_hard_numbers():
    rng = random.Random(SEED + 4)
    texts = [
        "1" * 4300, "1" * 4301, "0" * 4300 + "1", "1_" * 4299 + "1", "1_" * 4300 + "1",
        "1" * 4301 + "x", "1" * 4301 + "_", "1" * 4301 + ".5", "-" + "0" * 4301,
        "0." + "0" * 100000 + "1e100001", "0." + "0" * 700000 + "25e700001",
        "1" + "0" * 700000 + "e-700000", "1e99999999999999999999",
        "1e-99999999999999999999", "0e99999999999999999999", "2.4703282292062327e-324",
        "2.4703282292062328e-324", "1.7976931348623158e308", "1.7976931348623159e308",
        "9007199254740993", "9007199254740993." + "0" * 500 + "1",
    ]  # fmt: skip
    for _ in range(3000):
        digits = "".join(rng.choices("0123456789", k=rng.randrange(1, 40)))
        texts.append(f"{digits}e{rng.randrange(-345, 310)}")
    check_numbers(texts)


def rewritten(body, delimiters, unquoted_keys, regex):
    """The lax dialects as response templates define them."""
    if delimiters and ("\x01" in body or "\x02" in body):
        return "marks"
    strings = []

    def cut(match):
        strings.append(match.group(1))
        return f"\x01{len(strings) - 1}\x02"

    for opening, closing in delimiters:
        pattern = regex.escape(opening) + "(.*?)" + regex.escape(closing)
        body = regex.sub(pattern, cut, body, flags=regex.DOTALL)
    if unquoted_keys:
        body = regex.sub(
            r'"(?:\\.|[^"\\])*"|(?<=[{,])(\s*)(\w+)(\s*):',
            lambda m: m[0] if m[2] is None else f'{m[1]}"{m[2]}"{m[3]}:',
            body,
        )
    for i, string in enumerate(strings):
        body = body.replace(f"\x01{i}\x02", json.dumps(string))
    return "ok " + body


def test_lax_dialects():
    regex = pytest.importorskip("regex")
    rng = random.Random(SEED + 5)
    atoms = ["{", "}", ",", ":", "a", "b_1", "é", "मौ", '<|"|>', "'", "«", "»", "[[",
             "]]", "(", ")", " ", "\n", '"', "\\", "1", "0", "10", "x", "😀", "\ud800",
             "{a:", ",b:"]  # fmt: skip
    pairs = [('<|"|>', '<|"|>'), ("'", "'"), ("«", "»"), ("[[", "]]"), ("(", ")"),
             ("1", "0"), ("a", "a"), ("", ""), ("", ":"), (":", ""), ("\x02", "\x01"),
             ("\x01", "\x02"), ("é", "😀")]  # fmt: skip
    requests, expected = [], []
    for _ in range(20000):
        body = "".join(rng.choices(atoms, k=rng.randrange(0, 25)))
        if rng.random() < 0.03:
            body += rng.choice(["\x01", "\x02", "\x010\x02"])
        delimiters = [rng.choice(pairs) for _ in range(rng.randrange(4))]
        unquoted = rng.random() < 0.7
        words = "".join({c for c in body + "0123456789" if regex.match(r"\w", c)})
        flat = [part for pair in delimiters for part in pair]
        requests.append(("rewrite", body, words, str(int(unquoted)), *flat))
        expected.append(rewritten(body, delimiters, unquoted, regex))
    for request, answer, want in zip(requests, ask(requests), expected):
        assert answer == want, request


def test_the_verdicts_in_the_data_are_pythons():
    folder = SOURCE / "tests/data/json"
    for _, text, written in json.loads((folder / "accept.json").read_text()):
        assert expected_parse(text) == "ok " + written, repr(text)
    for _, text, _, _ in json.loads((folder / "reject.json").read_text()):
        assert expected_parse(text) == "syntax", repr(text)


def test_recorded_rows():
    rows = [
        row
        for row in conformance.read("response_template/unit-rows.json")
        if row["kind"] in ("strip", "json_loads", "json_dumps")
    ]
    assert len(rows) >= 28
    requests = []
    for row in rows:
        given = conformance.decode(row["input"])
        if row["kind"] == "strip":
            requests.append(("strip", given))
        elif row["kind"] == "json_loads":
            requests.append(("parse", given))
        else:
            requests.append(("parse", json.dumps(given)))
    for row, answer in zip(rows, ask(requests)):
        if "error" in row:
            assert not answer.startswith("ok "), row
        elif row["kind"] == "strip":
            assert answer == conformance.decode(row["output"]), row
        elif row["kind"] == "json_loads":
            assert answer == "ok " + json.dumps(conformance.decode(row["output"])), row
        else:
            assert answer == "ok " + row["output"], row


# ---- Python literals --------------------------------------------------------


def as_json(value):
    """A Python value as JSON's, or an error if JSON has none."""
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else json.dumps(key): as_json(item)
            for key, item in value.items()
            if isinstance(key, (str, int, float, type(None))) or refuse(key)
        }
    if isinstance(value, str):
        # Surrogate pairs are one character, as in JSON.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, float) and value - value != 0:
        refuse(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return refuse(value)


class HasSet(Exception):
    """A set has no order that could be compared."""


def refuse(value):
    if isinstance(value, set):
        raise HasSet
    raise ValueError(f"JSON has no {value!r}")


def expected_literal(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # In brackets, because a tuple without any is more than one value.
            values = ast.literal_eval("[" + text + "]")
        if not isinstance(values, list) or len(values) != 1:
            return "error"
        if text.strip().endswith(","):
            return "error"
        return "ok " + json.dumps(as_json(values[0]))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return "error"


LITERAL_PIECES = """[ ] ( ) { } , : ' " \\ \\n \\x41 \\u00e9 \\ud83d \\ude00 \\101 \\q
True False None 1 -2 +3 0 00 012 1_000 1__0 0x1F 0b101 0o17 0X_f 1. .5 1e5 1e999 -0.0 2E-3 1j 5l
'a' "it's" '' "" r'\\n' b'x' u'y' f'z' \'\'\'t\'\'\' '\\'' nan é""".split() + [" ", ", ", ": "]


def random_literal(rng, depth=0):
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 6:
        return "[" + ", ".join(random_literal(rng, depth + 1) for _ in range(rng.randrange(4))) + rng.choice(["", ","]) + "]"
    if kind == 7:
        return "(" + ",".join(random_literal(rng, depth + 1) for _ in range(rng.randrange(4))) + rng.choice(["", ","]) + ")"
    if kind == 8:
        return "{" + ", ".join(
            random_literal(rng, 9) + ": " + random_literal(rng, depth + 1)
            for _ in range(rng.randrange(4))
        ) + "}"
    if kind == 0:
        return repr("".join(rng.choice("ab'\"\\\n\té\ud83d😀\x00") for _ in range(rng.randrange(6))))
    if kind == 1:
        return repr(rng.choice([rng.random() * 10 ** rng.randrange(-5, 20), rng.randrange(-(10**20), 10**20)]))
    if kind == 2:
        return rng.choice([hex, oct, bin])(rng.randrange(10**30))
    return rng.choice(["True", "False", "None", "''", "'x'", "7", "-1.5"])


def test_python_literals():
    rng = random.Random(SEED)
    texts = []
    for _ in range(6000):
        text = random_literal(rng)
        texts.append(text)
        at = rng.randrange(len(text) + 1)
        texts.append(text[:at] + rng.choice(LITERAL_PIECES) + text[at + rng.randrange(2) :])
    for _ in range(12000):
        texts.append("".join(rng.choice(LITERAL_PIECES) for _ in range(rng.randrange(1, 7))))
    # Where the reader deliberately differs: JSON's names, line feeds in
    # strings, which Python refuses.
    differs = re.compile(r"true|false|null|\n")
    texts = [text for text in texts if not differs.search(text)]
    answers = ask([("python", text) for text in texts])
    bad = []
    for text, answer in zip(texts, answers):
        try:
            expected = expected_literal(text)
        except HasSet:
            continue
        same = answer == expected
        if not same and expected != "error" != answer:
            same = json.loads(answer[3:]) == json.loads(expected[3:])
        if not same:
            bad.append((text, answer, expected))
    assert bad == []


def test_python_literals_beyond_python():
    cases = [
        ('{"a": true, "b": [null, false]}', {"a": True, "b": [None, False]}),
        ("'a\nb'", "a\nb"),
        ("[{'b', 'a', 'b',}, {1}]", [["b", "a", "b"], [1]]),
        ('"\\ud83d\\ude00"', "😀"),
    ]
    answers = ask([("python", text) for text, _ in cases])
    assert [json.loads(a[3:]) for a in answers] == [value for _, value in cases]
    deep = "[" * 100000 + "]" * 100000
    assert ask([("python", deep)]) == ["error"]
