"""Random templates and texts: our parser against upstream's.

The reference is upstream's reading of the whole text in one feed: the message,
the class of an error, and the events with neighbouring chunks joined.  Ours
must give the same for the whole text, for single characters and for random
cuts.  Where upstream's own reading does not depend on the cut, ours must not
be later than upstream's for plain literals.

Delimiters are built from a few characters so that they collide.  Upstream runs
in a process of its own with a limit on time, because some templates make it
loop for ever and some crash the module it searches with.

Needs parse_probe, built with the tests (PARLANCE_PROBE_DIR names its
directory), and the package transformers with response templates.

    PARLANCE_SEED=7           other cases
    PARLANCE_CASE=123         that case alone, printed in full
    PARLANCE_LONG=1           100,000 of them instead of 3,000
"""

import json
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

import conformance

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import known_differences  # noqa: E402
from worker_pipe import Peer  # noqa: E402

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
ONLY = os.environ.get("PARLANCE_CASE")
CASES = 100_000 if os.environ.get("PARLANCE_LONG") else 3_000
WORKER = HERE.parent / "support" / "upstream_worker.py"


@pytest.fixture(scope="module")
def ours():
    directory = os.environ.get("PARLANCE_PROBE_DIR")
    if not directory:
        pytest.skip("PARLANCE_PROBE_DIR is not set: no parse_probe to compare")
    path = Path(directory) / "parse_probe"
    if not path.exists():
        pytest.skip(f"{path} does not exist: build the tests first")
    peer = Peer(str(path))
    yield peer
    peer.close()


@pytest.fixture(scope="module")
def upstream():
    pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip(
        "transformers.utils.chat_parsing",
        reason="this transformers has no response templates",
    )
    peer = Peer(sys.executable, str(WORKER))
    yield peer
    peer.close()


# Templates.

LETTERS = ["<", "<", ">", ">", "a", "b", "/", "\n", " ", "é", "😀"]


def literal(rng):
    return "".join(rng.choices(LETTERS, k=rng.choice([1, 2, 2, 3, 3, 4])))


def escaped(text):
    return "".join("\\" + c if c in r"\.^$*+?{}[]|()#&~-" else c for c in text)


def part(rng, names):
    """One piece of a pattern, and texts that it may match."""
    x, y = literal(rng), literal(rng)
    kind = rng.randrange(26)
    if kind < 8:
        return escaped(x), [x]
    if kind < 10:
        return f"(?:{escaped(x)})?", ["", x]
    if kind == 10:
        return r"\s*", ["", " ", "\n ", "\n"]
    if kind == 11:
        return rf"(?:{escaped(x)}|{escaped(y)})", [x, y]
    if kind == 12:
        return rng.choice([".*?", ".+?", ".??"]), ["", "a", "a<"]
    if kind == 13:
        return rng.choice(["[ab]*", "[^<]+", "[^>]*", "[a-c<]+", r"\w+", r"\W", r"\d*"]), \
            ["", "a", "ab", "b ", "1"]  # fmt: skip
    if kind < 17 and names:
        name = names.pop()
        inner = rng.choice([r"\w+", "[ab]*", "[^>]+?", escaped(x), f"{escaped(x)}|{escaped(y)}"])
        return f"(?P<{name}>{inner})" + rng.choice(["", "", "?"]), ["a", "ab", x, y, ""]
    if kind == 17:
        return f"(?={escaped(x)})", [x, ""]
    if kind == 18:
        return f"(?!{escaped(x)})", [y, ""]
    if kind == 19:
        return f"(?<={escaped(x)})", [""]
    if kind == 20:
        return rng.choice(["$", r"\Z", "^", r"\b", r"\B"]), [""]
    if kind == 21:
        return f"({escaped(x)}|{escaped(y)})[ab]*\\1", [x + x, y + "a" + y]
    if kind == 22:
        return f"(?>{escaped(x)}|{escaped(y)})", [x, y]
    if kind == 23:
        return f"(?:{escaped(x)}){rng.choice(['{2}', '{1,2}', '{0,2}?', '+', '+?', '*'])}", \
            [x, x + x, ""]  # fmt: skip
    if kind == 24:
        return rf"(?:{escaped(x)}|$)", [x, ""]
    return f"(?i:{escaped(x)})", [x, x.upper()]


def pattern(rng, names):
    parts = [part(rng, names) for _ in range(rng.choice([1, 1, 2, 2, 3, 4]))]
    text = "".join(p for p, _ in parts)
    samples = ["".join(rng.choice(s) for _, s in parts) for _ in range(4)]
    return text, samples


def delimiter(rng, key, field, names):
    """Adds a delimiter to the field; returns samples of it."""
    kind = rng.random()
    if kind < 0.45:
        field[key] = literal(rng)
        return [field[key]]
    if kind < 0.65:
        many = [literal(rng) for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.4:
            many.append(many[0] + literal(rng))
        field[key] = many
        return many
    field[key + "_pattern"], samples = pattern(rng, names)
    return samples


def content_args(rng, kind, depth=0):
    args = {}
    if rng.random() < 0.25:
        args["strip"] = rng.choice([True, False, 0, "no"])
    if kind == "json":
        if rng.random() < 0.4:
            args["unquoted_keys"] = True
        if rng.random() < 0.3:
            args["string_delims"] = rng.choice(
                [[["<a", ">"]], [["'", "'"]], [["<<", ">>"], ["'", "'"]], [["é", "é"]]]
            )
        if rng.random() < 0.4:
            args["allow_non_json"] = True
    if kind == "xml-inline":
        args["tag_pattern"] = rng.choice(
            [
                r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>",
                r"<(?P<key>\w+)>(?P<value>.*?)</\w+>",
                r"<(?P<key>\w+)=(?P<value>[^>]*)>",
                r"(?P<key>[ab]*)(?P<value>=\w*)?",
                r"<(?P<key>\w+)>",
                r"(?P<value>\w+)=(?P<key>\w+)",
                r"(?:(?P<key>a)|(?P<value>b))",
            ]
        )
        if rng.random() < 0.4:
            args["merge_duplicates"] = True
    if kind == "kv-lines":
        if rng.random() < 0.3:
            args["line_sep"] = rng.choice([";", "\n\n", "<", "é"])
        if rng.random() < 0.3:
            args["kv_sep"] = rng.choice(["=", ": ", "a", "=="])
    if kind in ("xml-inline", "kv-lines") and depth < 2 and rng.random() < 0.5:
        name = rng.choice(KINDS)
        args["value_parser"] = {"name": name, "args": content_args(rng, name, depth + 1)}
        if name == "json" and rng.random() < 0.5:
            args["value_parser"]["args"]["allow_non_json"] = True
    return args


KINDS = ["text", "text", "int", "float", "bool", "json", "json", "xml-inline", "kv-lines",
         "python-call-list"]  # fmt: skip


def transform(rng, names):
    names = list(names) + ["content", "content", "content.a", "content.function.name"]
    if rng.random() < 0.1:
        names.append("missing")
    pick = lambda: "{" + rng.choice(names) + "}"  # noqa: E731
    return rng.choice(
        [
            pick(),
            {"v": pick()},
            {"type": "function", "function": {"name": pick(), "arguments": pick()}},
            {"type": "function", "function": {"name": "a", "arguments": "{content}"}},
            {"k": [1, pick(), None, {"é": pick(), "c": 1.5}], "{content}": "{ content }"},
            [pick(), pick()],
            5,
            "constant",
        ]
    )


def field(rng, implicit):
    out, samples, names = {}, {"open": [], "close": []}, ["n", "m"]
    if not implicit:
        samples["open"] = delimiter(rng, "open", out, names)
    if rng.random() < (0.3 if implicit else 0.85):
        samples["close"] = delimiter(rng, "close", out, names)
    kind = samples["kind"] = rng.choice(KINDS)
    if kind != "text" or rng.random() < 0.5:
        out["content"] = kind
    if args := content_args(rng, kind):
        out["content_args"] = args
    if rng.random() < 0.3:
        out["repeats"] = True
        if rng.random() < 0.3:
            out["join"] = rng.choice(["", "\n", "+"])
    if rng.random() < 0.1:
        out["optional"] = rng.choice([False, True, 0])
    used = [n for n in ("n", "m") if n not in names]
    if used or rng.random() < 0.25:
        if rng.random() < 0.95:
            out["transform"] = transform(rng, used)
            if rng.random() < 0.2:
                out["transform_each"] = True
    return out, samples


def plain(rng):
    """One field with delimiters of its own, so that its body is all there is."""
    kind = rng.choice(["json", "json", "xml-inline", "kv-lines"])
    x = {"open": "<x>", "close": "</x>", "content": kind, "content_args": content_args(rng, kind)}
    if kind == "json" and rng.random() < 0.7:
        x["content_args"]["unquoted_keys"] = True
    samples = [{"kind": kind, "open": [x["open"]], "close": [x["close"]]}]
    return {"start_anchor": "A>", "fields": {"x": x}}, samples


def template(rng):
    if rng.random() < 0.25:
        return plain(rng)
    names = rng.sample(["content", "thinking", "tool_calls", "x", "a", "é"], rng.randrange(1, 5))
    implicit = rng.choice(names) if rng.random() < 0.6 else None
    fields, samples = {}, []
    for name in names:
        fields[name], s = field(rng, name == implicit)
        samples.append(s)
    out = {"fields": fields}
    if rng.random() < 0.7:
        out["start_anchor"] = rng.choice(["A>", "aa", ["A>", "A>\n"], "\n"])
    else:
        out["start_anchor_pattern"] = rng.choice([r"A>\s*", r"(?:A|B)>", "aa?", "b$", "x*"])
    if rng.random() < 0.4:
        value = lambda: rng.choice(["", "d", None, [], ["d"], {}, 0, {"a": 1}])  # noqa: E731
        out["defaults"] = {
            n: value() for n in rng.sample(names + ["role", "z"], rng.randrange(1, 3))
        }
    return out, samples


# Texts.

WORDS = ["a", "b", "<", ">", "\n", " ", "é", "😀", "ab", "</", "a>", "1", "true", "x", "B",
         "\x1c", "\u200b", "A>"]  # fmt: skip
VALUES = ["1", "-0", "1.0", "01", "1e3", "12345678901234567890123", "true", "null", '"a"', '"<"',
          "[]", "{}", '[{"a": 1}, {"a": "2"}]', '{"a": 1, "b": [2, 3.0]}', "NaN", "'a'", "<aé>",
          '{a:1,b:"x,c:2"}', "{a: 'q', b: <<z\n>>}", '{"function": {"name": "a"}}', '"\\ud800"',
          '{"name": "a", "arguments": {"a": "7"}}', " 7 ", "٣", "1_0", "inf", "5.0", "x",
          '{"a": "1", "b": "true", "a": "3.0"}', "9007199254740993", "9007199254740993.0",
          '[{"a": {"b": "c"}}]', "-", "", " "]  # fmt: skip


def lax(rng, depth=0):
    """JSON in the spelling of a model: bare keys, its own quotes, white space."""
    gap = lambda: rng.choice(["", "", "", " ", "\n", "\t "])  # noqa: E731
    kind = rng.randrange(9 if depth < 2 else 6)
    if kind < 2:
        return rng.choice(["1", "-0", "1.5e3", "true", "null", "NaN", "01", "a"])
    if kind < 6:
        inner = rng.choice(["", "a", ",b:", "{c: ", ", d :1", "\\n", '\\"', "é", "\n", "'", ">", "}"])
        a, b = rng.choice(['""', '""', '""', "''", ["<a", ">"], ["<<", ">>"], "éé"])
        return a + inner + rng.choice(["", inner]) + b
    if kind == 6:
        return "[" + ",".join(gap() + lax(rng, depth + 1) for _ in range(rng.randrange(3))) + "]"
    keys = ["a", "b", "é1", '"a"', '"b c"', "'a'", "a-b", "_", "7", "", "<aa>"]
    return "{" + ",".join(
        gap() + rng.choice(keys) + gap() + ":" + gap() + lax(rng, depth + 1) + gap()
        for _ in range(rng.randrange(4))
    ) + "}"  # fmt: skip


def call_list(rng):
    """A list of calls, with some of what Python has and the list does not."""
    gap = lambda: rng.choice(["", "", "", " ", "\n", "\x0c"])  # noqa: E731
    def value(depth=0):
        kind = rng.randrange(8 if depth < 3 else 5)
        if kind < 5:
            return rng.choice(["1", "-0", "1.5e3", "01", "1e999", "9007199254740991", "9007199254740992",
                               "True", "null", "None", "'a'", '"it\'s"', r"'\u00e9\ud83d\ude00'", r'"\/"',
                               r"'\x41'", r'"\ud83d"', "'é\n'", "(1,)", "r'a'", "'a' 'b'", "''"])  # fmt: skip
        if kind == 5:
            return "[" + gap() + ",".join(value(depth + 1) + gap() for _ in range(rng.randrange(3))) + "]"
        return "{" + ", ".join(
            rng.choice(["'a'", '"a"', "'b'", "'c\\n'", "1"]) + gap() + ":" + gap() + value(depth + 1)
            for _ in range(rng.randrange(3))
        ) + "}"  # fmt: skip
    def call():
        return rng.choice(["a", "a-b", "a.b", "_1", "é"]) + gap() + "(" + ",".join(
            gap() + rng.choice(["a", "b", "c-d", "a.1"]) + gap() + "=" + gap() + value()
            for _ in range(rng.randrange(3))
        ) + ")"  # fmt: skip
    return "[" + ", ".join(gap() + call() for _ in range(rng.randrange(3))) + gap() + "]" + gap()


def damaged(rng, text):
    """The text, sometimes with a character too many, too few or another."""
    if rng.random() < 0.6 or not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(["", "", rng.choice(WORDS)]) + text[at + rng.randrange(2) :]


def body(rng, content):
    if content == "json" and rng.random() < 0.6:
        return damaged(rng, lax(rng))
    if content == "python-call-list" and rng.random() < 0.8:
        return damaged(rng, call_list(rng))
    kind = rng.randrange(6)
    if kind == 0:
        return ""
    if kind == 1:
        return "".join(rng.choices(WORDS, k=rng.randrange(1, 8)))
    if kind == 2:
        return rng.choice(VALUES)
    if kind == 3:
        return rng.choice(["", " ", "\n"]).join(
            rng.choice([f"<{k}>{rng.choice(VALUES)}</{k}>", f"<{k}={rng.choice(VALUES)}>", k])
            for k in rng.choices(["a", "b", "é1", "c"], k=rng.randrange(1, 4))
        )
    if kind == 4:
        sep, kv = rng.choice(["\n", ";", "<"]), rng.choice([":", "=", ": ", "a"])
        return sep.join(k + kv + rng.choice(VALUES) for k in rng.choices(["a", "b", " c "], k=3))
    return rng.choice(VALUES) + "".join(rng.choices(WORDS, k=2))


def text(rng, samples, size):
    out = []
    for _ in range(size):
        s = rng.choice(samples)
        if rng.random() < 0.6:
            pieces = [*s["open"][:1], body(rng, s["kind"]), *s["close"][:1]]
            if s["open"]:
                pieces[0] = rng.choice(s["open"])
            if s["close"]:
                pieces[-1] = rng.choice(s["close"])
            out += pieces
        else:
            out.append(rng.choice([body(rng, s["kind"]), *s["open"], *s["close"]]))
    joined = "".join(out)
    if rng.random() < 0.2:
        joined = joined[: rng.randrange(len(joined) + 1)]
    return joined


TOOLS = [
    {"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": ["boolean", "number"]},
        "c": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "é1": {"type": "array"},
    }}}},
    {"name": "ab", "parameters": {"properties": {"a": {"type": "number", "nullable": True}}}},
]  # fmt: skip


def cuts(rng, whole):
    yield [whole[i : i + 1] for i in range(len(whole))]
    for size in (3, 9):
        out, at = [], 0
        while at < len(whole):
            step = rng.randrange(size + 1)
            out.append(whole[at : at + step])
            at += step
        yield out


def case(number):
    rng = random.Random(f"{SEED}:{number}")
    spec, samples = template(rng)
    prefix = ""
    if rng.random() < 0.3:
        prefix = rng.choice(["", "a", "A>A>", "x\nA>\n", "aaa"]) + (
            text(rng, samples, 1) if rng.random() < 0.7 else ""
        )
    return {
        "number": number,
        "template": spec,
        "prefix": prefix,
        "text": text(rng, samples, rng.choice([0, 1, 2, 3, 5, 8])),
        "tools": TOOLS if rng.random() < 0.5 else None,
        "rng": rng,
    }


# Comparing.


def same(a, b):
    return json.dumps(a) == json.dumps(b)


def stream(calls):
    out = []
    for event in (e for call in calls for e in call):
        event = {k: conformance.decode(v) for k, v in event.items() if k in ("type", "field", "text", "dirty", "value")}
        if event["type"] == "region_malformed":
            event.pop("text", None)
        if (
            out
            and event["type"] == out[-1]["type"] == "region_chunk"
            and event["field"] == out[-1]["field"]
        ):
            out[-1] = {**out[-1], "text": out[-1]["text"] + event["text"]}
        else:
            out.append(event)
    return out


CATEGORY = {
    "missing_placeholder": "KeyError",
    "unknown_name": "KeyError",
    "content_type": "TypeError",
    "content_attribute": "AttributeError",
    "too_deep": "RecursionError",
    "missing_required": "ValueError",
    "invalid_content": "ValueError",
}


def ask_ours(peer, c, chunks, spec=None):
    request = {"template": spec or c["template"], "prefix": c["prefix"], "chunks": chunks}
    if c["tools"]:
        request["tools"] = c["tools"]
    return peer.ask(request)


def ask_upstream(peer, c, chunks, prefix=None):
    return peer.ask(
        {
            "template": c["template"],
            "prefix": c["prefix"] if prefix is None else prefix,
            "tools": c["tools"],
            "chunks": chunks,
        }
    )


def difference(mine, theirs):
    """What differs between our run and upstream's, or None."""
    if "load_error" in theirs or "load_error" in mine:
        if ("load_error" in theirs) == ("load_error" in mine):
            return None
        return "load"
    error = theirs.get("error")
    failure = mine["failure"]
    a, b = stream(mine["events"]), stream(theirs["events"])
    if error is None:
        if failure is not None:
            return "failure"
        if not same(a, b):
            return "events"
        if not same(conformance.decode(mine["message"]), conformance.decode(theirs["message"])):
            return "message"
        return None
    if failure is None or CATEGORY[failure["code"]] != error["class"]:
        return "error class"
    if not same(a[: len(b)], b):
        return "events before the error"
    return None


def literal_only(spec):
    """One literal per delimiter, none a prefix of another."""
    literals = []
    for f in spec["fields"].values():
        for key in ("open", "close"):
            if key + "_pattern" in f:
                return False
            if key in f:
                literals += [f[key]] if isinstance(f[key], str) else f[key]
    return not any(a is not b and a.startswith(b) for a in literals for b in literals)


def flat(calls):
    out, ends = [], []
    for call in calls:
        for e in call:
            if e["type"] == "region_chunk":
                out += [e["field"] + c for c in conformance.decode(e["text"])]
            else:
                out.append(e["type"] + e["field"])
        ends.append(len(out))
    return ends


def hasty(c, upstream, chunks):
    """Whether upstream has decided after `chunks` what text that follows, the
    rest of a delimiter, would change, had it come with them."""
    rests = {
        literal[i:]
        for field in c["template"]["fields"].values()
        for key in ("open", "close")
        for literal in [field.get(key) or []]
        for literal in ([literal] if isinstance(literal, str) else literal)
        for i in range(1, len(literal))
    }

    def whole(chunks):
        answer = ask_upstream(upstream, c, chunks)
        return answer.get("error"), stream(answer["events"]), answer.get("message")

    return any(
        not same(whole(["".join([*chunks, rest])]), whole([*chunks, rest]))
        for rest in sorted(rests)
    )


def check(c, ours, upstream, counts):
    where = f"PARLANCE_SEED={SEED} PARLANCE_CASE={c['number']}"
    whole = [c["text"]]
    mine, theirs = ask_ours(ours, c, whole), ask_upstream(upstream, c, whole)
    if ONLY:
        show = {k: v for k, v in c.items() if k != "rng"}
        print(json.dumps(show, ensure_ascii=False, indent=1))
        print("ours:    ", json.dumps(mine, ensure_ascii=False))
        print("upstream:", json.dumps(theirs, ensure_ascii=False))
    counts["cases"] += 1
    if "load_error" in mine:
        counts["load errors"] += 1
    gone = theirs.get("gone")
    if gone:
        counts[f"upstream: {gone}"] += 1
    else:
        what = difference(mine, theirs)
        if what:
            again = lambda chunks, prefix=None: ask_upstream(upstream, c, chunks, prefix)  # noqa: E731
            reason = known_differences.explain(
                c, what, mine, theirs, again, difference, stream
            )
            assert reason, f"{where}: {what} differ"
            counts[f"known: {reason}"] += 1
    if "load_error" in mine:
        return
    # Ours does not depend on the cut.
    expected = stream(mine["events"])
    for chunks in cuts(c["rng"], c["text"]):
        other = ask_ours(ours, c, chunks)
        assert same(stream(other["events"]), expected), f"{where}: cut {chunks!r}"
        for key in ("message", "failure", "complete", "diagnostics"):
            assert same(other[key], mine[key]), f"{where}: {key} when cut {chunks!r}"
        if gone or what or theirs.get("error") or not literal_only(c["template"]):
            continue
        upstream_cut = ask_upstream(upstream, c, chunks)
        if difference(mine, upstream_cut):
            counts["upstream depends on the cut"] += 1
            continue
        counts["timed"] += 1
        for at, (a, b) in enumerate(zip(flat(other["events"]), flat(upstream_cut["events"]))):
            if a < b and hasty(c, upstream, chunks[:at]):
                counts["upstream does not wait for a longer delimiter"] += 1
                break
            assert a >= b, f"{where}: later than upstream after {at} chunks of {chunks!r}"


def test_random_templates(ours, upstream):
    counts, failures = Counter(), []
    for number in [int(ONLY)] if ONLY else range(CASES):
        try:
            check(case(number), ours, upstream, counts)
        except AssertionError as e:
            failures.append(str(e).split("\n")[0][:400])
        if len(failures) >= 20:
            break
    print(json.dumps(counts, indent=1))
    assert not failures, "\n".join(failures)
