"""The law of grammars made from JSON Schemas, for one schema.

*Accepted means valid; refused means invalid, or `report()` says narrowed*, by a note
about a place that is there.  The verdicts are schema_judge's.  They do not depend on
what the grammar read before.  What a walk under masks writes is accepted and valid, and
no mask is empty without an error.  A schema that is called unsatisfiable has no valid
text among those at hand.  The canonical spelling has fewer texts, and for each value one.
"""

import random
from urllib.parse import unquote

import numpy
import parlance

from schema_judge import Beyond, Judge, Number, parse, write
from shrink import shrunk

WORDS = rb"""{" ": "," "} },{ [[ ]] ],[ {"a":1,"b": ["a","b"] \u00 true null kind ab
-1 12 0.5 2024- 00000000 1.2.3.4""".split()
WORDS += [b'": "', b'", "', b", ", "é".encode(), "日".encode()]
TOKENS = [bytes([byte]) for byte in range(256)] + WORDS
END = len(TOKENS)
VOCABULARY = parlance.Vocabulary([*TOKENS, b"<end>"], special_ids=[END], stop_ids=[END])
STEPS = 120  # of one walk; one that goes on is left
REFUSALS = {"unsatisfiable", "unsupported", "too_large", "too_deep", "conflict"}


class Broken(Exception):
    """The law does not hold."""


def grammar_of(schema, draft=None, spelling="any"):
    return parlance.Grammar.from_json_schema(
        write(schema), spelling=spelling, draft=draft
    )


def narrowed(grammar):
    return [note for note in grammar.report() if note["kind"] == "narrowed"]


def check_notes(notes, schema):
    """Each is about a place in the schema."""
    for note in notes:
        at = schema
        try:
            for step in note["path"].split("/")[1:]:
                step = unquote(step).replace("~1", "/").replace("~0", "~")
                at = at[int(step)] if isinstance(at, list) else at[step]
        except (LookupError, TypeError, ValueError):
            raise Broken(f"a note about nothing: {note}") from None


def accepts(grammar, text):
    """True, False, or None where the grammar says that it did not decide."""
    try:
        return grammar.accepts(text)
    except parlance.Error as error:
        if error.code != "too_large":
            raise
        return None


def has_repeated_key(value):
    if isinstance(value, dict):
        return value.repeated or any(map(has_repeated_key, value.values()))
    return isinstance(value, list) and any(map(has_repeated_key, value))


def check_verdict(judge, grammar, accepted, text, notes):
    """The first half of the law, for a text that is JSON."""
    if accepted is None:
        return
    try:
        value = parse(text)
    except Beyond:
        return
    except ValueError:
        if accepted:
            raise Broken(f"accepted, not JSON: {text}") from None
        return
    valid = judge.verdict(value)
    if accepted and valid is False:
        raise Broken(f"accepted, not valid: {text}")
    if not accepted and valid and not notes and not has_repeated_key(value):
        raise Broken(f"valid, refused, and no note: {text}")


def in_string(text):
    inside = escaped = False
    for byte in text:
        if escaped:
            escaped = False
        elif byte == ord('"'):
            inside = not inside
        else:
            escaped = inside and byte == ord("\\")
    return inside


def choose(rng, allowed, text, step):
    """A token; the later, the more often one that closes something."""
    if rng.random() < 0.3 + step / 40:
        for token in (END, *(b'"' if in_string(text) else b'}]"')):
            if token in allowed:
                return token
    if rng.random() < 0.3:
        longer = [token for token in allowed if 256 <= token < END]
        if longer:
            return rng.choice(longer)
    plain = [token for token in allowed if 32 < token < 127]
    return rng.choice(plain if plain and rng.random() < 0.9 else sorted(allowed))


def walk(rng, constraint):
    """What a random walk writes, or None where it does not end."""
    matcher = constraint.matcher()
    row = numpy.zeros(constraint.mask_words, numpy.int32)
    text = b""
    for step in range(STEPS):
        matcher.fill_bitmask(row)
        bits = numpy.unpackbits(row.view(numpy.uint8), bitorder="little")
        allowed = set(numpy.flatnonzero(bits).tolist())
        if matcher.error:
            return None
        if not allowed:
            raise Broken(f"an empty mask after {text!r}")
        if (END in allowed) != matcher.can_end():
            raise Broken(f"a mask and can_end() differ after {text!r}")
        token = choose(rng, allowed, text, step)
        if not matcher.accept_token(token):
            if matcher.error:
                return None
            raise Broken(f"allowed and refused after {text!r}: token {token}")
        if token == END:
            return text.decode()
        text += TOKENS[token]
    return None


def check(schema, draft, texts, seed, walks=2, fresh=3, canonical=False, tally=None):
    """Raises Broken where the law does not hold."""
    tally = {} if tally is None else tally

    def count(what):
        tally[what] = tally.get(what, 0) + 1

    judge = Judge(write(schema), draft)
    try:
        grammar = grammar_of(schema, draft)
    except parlance.SchemaError as error:
        count(error.code)
        if error.code not in REFUSALS and "beyond the range of numbers" not in str(
            error
        ):
            raise Broken(f"an error: {error.code}: {error}") from None
        if error.code == "unsatisfiable":
            for text in texts:
                if judge.verdict(parse(text)):
                    raise Broken(f"called unsatisfiable, and valid: {text}") from None
        return
    notes = narrowed(grammar)
    count("narrowed" if notes else "exact")
    check_notes(notes, schema)
    answers = {}
    for text in texts:
        answers[text] = accepts(grammar, text)
        count({True: "accepted", False: "refused", None: "undecided"}[answers[text]])
        check_verdict(judge, grammar, answers[text], text, notes)
    rng = random.Random(seed)
    some = rng.sample(sorted(answers), min(fresh, len(answers)))
    check_memory(grammar, schema, draft, answers, some)
    if canonical:
        check_canonical(schema, draft, answers, bool(notes))
    if walks:
        check_walks(judge, grammar, schema, draft, walks, rng, count)


def check_memory(grammar, schema, draft, answers, some):
    """Texts that were read before change no verdict."""
    for text in some:
        again = accepts(grammar, text)
        fresh = accepts(grammar_of(schema, draft), text)
        if not again == fresh == answers[text]:
            raise Broken(
                f"{answers[text]} at first, {again} later, {fresh} by a fresh grammar:"
                f" {text}"
            )


def has_number(value):
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, Number) or (
        isinstance(value, list) and any(map(has_number, value))
    )


def check_canonical(schema, draft, answers, is_narrowed):
    """Spelled as json.dumps does, values without numbers have the same verdict."""
    grammar = grammar_of(schema, draft, "canonical")
    for text, answer in answers.items():
        if accepts(grammar, text) and answer is False:
            raise Broken(f"canonical, not one of any spelling: {text}")
        value = parse(text)
        if answer and not is_narrowed and not has_number(value):
            if accepts(grammar, write(value)) is False:
                raise Broken(f"accepted, and not in its canonical spelling: {text}")


def check_walks(judge, grammar, schema, draft, walks, rng, count):
    constraint = grammar.compile(VOCABULARY)
    for _ in range(walks):
        text = walk(rng, constraint)
        if text is None:
            count("unended")
            continue
        count("walked")
        check_verdict(judge, grammar, True, text, [])
        if accepts(grammar, text) is False:
            raise Broken(f"written under masks, and refused: {text}")


def failure(schema, draft, texts, seed, **options):
    try:
        check(schema, draft, texts, seed, **options)
    except Broken as broken:
        return str(broken)
    return None


def kind_of(message):
    return message.split(":")[0].split(" after ")[0]


def explained(schema, draft, texts, seed, message, **options):
    """The failure of the smallest schema and text that fail alike."""

    def fails(each, some=None):
        try:
            again = failure(
                each, draft, texts if some is None else some, seed, **options
            )
        except Exception:  # not a schema any more
            return False
        return again is not None and kind_of(again) == kind_of(message)

    small = shrunk(schema, fails)
    message = failure(small, draft, texts, seed, **options)
    return f"draft {draft}: {write(small)}\n    {message}"
