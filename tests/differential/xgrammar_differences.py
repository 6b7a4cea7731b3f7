"""Where our reading of a grammar differs from XGrammar's, each with its reason.

A rule looks at one definition and one text of which the two say different
things, and says whether it explains that.  What no rule explains fails the
test.
"""

import decimal
import itertools
import json
import re

import jsonschema
import random_tags
from random_tags import VOCABULARY

STRING = rb'"(?:[^"\\]|\\.)*"'
NUMBER = rb"(?<![0-9A-Za-z_.\\])-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
LEXEME = re.compile(STRING + b"|" + NUMBER + rb"|\r", re.DOTALL)
LEXEME_OR_SPACE = re.compile(STRING + b"|" + NUMBER + rb"|[ \t\r\n]+", re.DOTALL)


def explain(case, pieces, ours, theirs):
    """The name of the rule that explains the difference, or None."""
    known = Known(case, pieces, ours, theirs)
    for rule in Known.RULES:
        if rule(known):
            return rule.__name__.replace("_", " ")
    return None


def explain_error(case):
    for rule in ERROR_RULES:
        if rule(case):
            return rule.__name__.replace("_", " ")
    return None


def refused_for(case, code, why):
    error = case.our_error
    return error is not None and error.code == code and re.search(why, error.message)


def has_tokens_inside_repeat(case):
    if isinstance(case.source, str):
        return False
    todo = [(case.source, False)]
    while todo:
        part, inside = todo.pop()
        if isinstance(part, list):
            todo += [(item, inside) for item in part]
        elif isinstance(part, dict):
            if inside and part.get("type") in BY_TOKEN:
                return True
            inside = inside or part.get("type") == "repeat"
            todo += [(item, inside) for item in part.values()]
    return False


def nothing_fits(case):
    """Ours refuses what no text fits."""
    return refused_for(case, "unsatisfiable", "")


def a_trigger_is_never_read(case):
    """Ours refuses a trigger that the free text must not contain, or that has
    another one inside."""
    return refused_for(case, "conflict", "can never be read|is both a trigger and")


def a_trigger_has_no_tags(case):
    """There that is an error only where the trigger is looked for."""
    return refused_for(case, "conflict", "no tag begins with")


def tokens_inside_repeat(case):
    """There they are not looked up."""
    return case.their_error is not None and has_tokens_inside_repeat(case)


ERROR_RULES = [
    nothing_fits,
    a_trigger_is_never_read,
    a_trigger_has_no_tags,
    tokens_inside_repeat,
]


class Known:
    def __init__(self, case, pieces, ours, theirs):
        self.case, self.pieces, self.text = case, pieces, bytes_of(pieces)
        self.ours, self.theirs = ours, theirs
        self.definition = case.text()

    def has(self, *words):
        return any(f'"{word}"' in self.definition for word in words)

    def only_ours(self):
        return self.ours and not self.theirs

    def only_theirs(self):
        return self.theirs and not self.ours

    def refits(self, change):
        """Whether a changed text fits there.  What of a text is JSON is not
        known: strings are looked for from the start of any token."""
        starts = [0]
        for piece in self.pieces:
            starts.append(starts[-1] + len(bytes_of([piece])))
        tried = [self.pieces]
        for start in starts[:12]:
            pieces = change(self.pieces, start)
            if pieces not in tried:
                tried.append(pieces)
                if self.case.they_accept(pieces):
                    return True
        return False

    # UTF-8.

    def text_is_not_utf8(self):
        """Free text with triggers or excludes accepts any bytes there, and
        valid UTF-8 without them.  Ours is UTF-8 in both cases."""
        return self.only_theirs() and not is_utf8(self.text)

    def free_text_ends_inside_a_character(self):
        """For the same reason one text may end, and the next begin, between the
        bytes of a character, also of one that both exclude."""
        if not self.only_theirs() or self.text.isascii():
            return False
        if self.has(*BY_TOKEN) and any(not is_utf8(bytes_of([p])) for p in self.pieces):
            return True
        plain = re.sub("[^\0-\x7f]", "q", self.text.decode("utf-8", "replace"))
        return self.case.we_accept(plain.encode())

    # Tokens.

    def masks_are_stricter_than_tokens(self):
        """There accept_token() takes a token that the mask leaves out: one
        beyond max_tokens."""
        if not self.only_theirs() or self.case.ask(masks=[self.pieces]):
            return False
        masks = self.case.answer["masks"][0]
        return any(
            isinstance(piece, int) and not int(mask, 16) >> piece & 1
            for piece, mask in zip(self.pieces, masks)
        )

    def token_that_enters_a_text_counts(self):
        """max_tokens counts a token that begins before the text and ends in it;
        there it does not."""
        if not self.only_theirs() or not self.has("max_tokens"):
            return False
        return self.case.we_accept_without("max_tokens", self.pieces)

    def tokens_inside_repeat(self):
        """There they are not looked up."""
        return has_tokens_inside_repeat(self.case)

    def tokens_and_their_bytes_differ(self):
        """There a text that fits is refused when it comes in certain tokens."""
        if not self.only_ours() or self.has(*BY_TOKEN):
            return False
        return self.case.they_accept(self.text) and self.case.we_accept(self.text)

    def token_formats_beside_strings(self):
        """There a token that could also begin a string hides the other way."""
        tokens = any(isinstance(piece, int) for piece in self.pieces)
        return self.only_ours() and tokens and self.has(*BY_TOKEN)

    # Triggers.

    def longer_trigger_was_begun(self):
        """After a trigger that begins a longer one, or an excluded text, the
        text must continue as the definition says.  There it may stop in the middle
        of the longer one, and is free again."""
        text = self.text.decode("utf-8", "replace")
        return self.only_theirs() and any(
            long.startswith(short) and long[: len(short) + 1] in text
            for triggers in trigger_sets(self.case)
            for short in triggers
            for long in random_tags.PIECES
            if len(long) > len(short) + 1 and long in self.definition
        )

    def trigger_inside_a_trigger(self):
        """A trigger of TagDispatch is read wherever it ends.  There it is not
        while the text may still become a longer one that has it inside."""
        text = self.text.decode("utf-8", "replace")
        return any(
            short in long[1:] and long[: long.index(short, 1) + len(short)] in text
            for triggers in trigger_sets(self.case)
            for short in triggers
            for long in triggers
        )

    # Patterns.

    def digits_behind_x(self):
        r"""There \x reads all hexadecimal digits that follow, not two."""
        return bool(re.search(r"\\x[0-9a-f]{3}", self.definition))

    # JSON.

    def standard_refuses(self):
        """No JSON text, or one that is not valid under the schema."""
        if self.case.kind != "json_schema" or not self.only_theirs():
            return False
        return not valid(self.case.source, self.text)

    def members_in_any_order_are_counted(self):
        """There any_order forgets which names were read: required ones may be
        missing, and others come twice."""
        return self.only_theirs() and '"any_order": true' in self.definition

    def another_spelling(self):
        """A string with escapes, a number with a fraction of zeros or with an
        exponent: the value fits, and in its shortest form there too."""
        if not self.only_ours() or not self.standard_agrees():
            return False
        return self.refits(respelled)

    def numbers_of_tags_have_a_range(self):
        """A tag's numbers are in the range of a double, and a number with bounds
        has an exponent only where Python would write one."""
        if not self.only_theirs() or self.case.kind != "structural_tag":
            return False
        return bool(re.search(rb"[0-9][eE][+-]?[0-9]", self.text))

    def constants_are_compared_as_values(self):
        """Constants that are arrays or objects may have white space inside."""
        if not self.only_ours() or not self.has("const", "enum"):
            return False
        return self.standard_agrees() and self.refits(compact)

    def bounded_numbers_have_any_digits(self):
        """There a number with bounds has at most six digits of fraction, and no
        exponent."""
        if not self.only_ours() or not self.has(*BOUNDS):
            return False
        return self.standard_agrees() and (
            bool(re.search(rb"[0-9][eE][+-]?[0-9]", self.text))
            or self.refits(rounded)
        )

    def integers_have_fractions(self):
        """1.0 and -0 are integers.  Where nothing stands between two numbers that
        is not a matter of spelling."""
        if not self.only_ours() or not self.has("integer", "const", "enum"):
            return False
        found = [m.start() for m in re.finditer(rb"-0|\.0+", self.text)][:6]
        return self.standard_agrees() and any(
            self.case.they_accept(without_fractions(self.pieces, pattern, chosen))
            for n in range(1, len(found) + 1)
            for chosen in itertools.combinations(found, n)
            for pattern in (rb"-0|\.0+", rb"-0|\.0")
        )

    def measured_strings_have_escapes(self):
        """There strings with lengths or patterns have no escapes, so some
        characters cannot be in them."""
        if not self.only_ours() or not self.has(*MEASURES):
            return False
        return self.standard_agrees() and needs_escape(self.text)

    def measured_strings_have_no_control_characters(self):
        """There they may, and are no JSON then."""
        return (
            self.only_theirs()
            and self.has(*MEASURES)
            and any(b"\0" <= bytes([c]) < b" " for c in self.text)
            and self.case.we_accept(re.sub(rb"[\0-\x1f]", b"q", self.text))
        )

    # Parameter styles.

    def line_feeds_beside_a_value_are_markup(self):
        """In qwen_xml one line feed on each side of a value is markup: it may
        stand there, and no rule for the value speaks of it."""
        if not self.has("qwen_xml", "qwen_xml_parameter") or b"\n" not in self.text:
            return False
        if self.ours:
            plain = re.sub(rb"(<parameter=[^>]*>)\n", rb"\1", self.text)
            plain = plain.replace(b"\n</parameter>", b"</parameter>")
            return self.case.they_accept(plain)
        fed = re.sub(rb"(<parameter=[^>]*>)", rb"\1\n", self.text)
        return self.case.we_accept(fed.replace(b"</parameter>", b"\n</parameter>"))

    def what_ends_a_call_ends_a_string(self):
        """A raw string does not hold what ends an argument or a call for the
        readers of the family."""
        return self.only_theirs() and any(
            self.has(style) and any(end in self.text for end in ends)
            for style, ends in ENDS.items()
        )

    def standard_agrees(self):
        return self.case.kind != "json_schema" or valid(self.case.source, self.text)

    RULES = [
        text_is_not_utf8,
        free_text_ends_inside_a_character,
        masks_are_stricter_than_tokens,
        token_that_enters_a_text_counts,
        tokens_inside_repeat,
        tokens_and_their_bytes_differ,
        longer_trigger_was_begun,
        trigger_inside_a_trigger,
        digits_behind_x,
        standard_refuses,
        members_in_any_order_are_counted,
        another_spelling,
        numbers_of_tags_have_a_range,
        constants_are_compared_as_values,
        bounded_numbers_have_any_digits,
        integers_have_fractions,
        measured_strings_have_escapes,
        measured_strings_have_no_control_characters,
        token_formats_beside_strings,
        line_feeds_beside_a_value_are_markup,
        what_ends_a_call_ends_a_string,
    ]


def trigger_sets(case):
    """The triggers of each free text of the definition."""
    todo = [case.source]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            for pairs in re.findall(r"\bTagDispatch\((.*?)\)\)", part):
                literals = re.findall(r'\(("(?:[^"\\]|\\.)*")', pairs)
                yield [json.loads(literal) for literal in literals]
        elif isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            todo += part.values()
            if part.get("type") == "triggered_tags":
                yield part["triggers"]
            elif part.get("type") == "dispatch":
                yield [pattern for pattern, _ in part["rules"]]


MEASURES = ("minLength", "maxLength", "pattern")
BY_TOKEN = (
    "token", "exclude_token", "any_tokens", "token_triggered_tags", "token_dispatch"
)  # fmt: skip
ENDS = {
    "qwen_xml": (b"</function>", b"<parameter="),
    "qwen_xml_parameter": (b"</function>", b"<parameter="),
    "minimax_xml": (b"</invoke>",),
    "deepseek_xml": ("</｜DSML｜invoke>".encode(),),
    "glm_xml": (b"</tool_call>",),
    "kimi_k3_xml": (b"<|close|>call<|sep|>",),
    "cohere_xml": (b"</cofl:tool_call>",),
}
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def bytes_of(pieces):
    return b"".join(
        VOCABULARY[p] if isinstance(p, int) else bytes.fromhex(p) for p in pieces
    )


def is_utf8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def no_repeats(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a name comes twice")
    return out


def not_json(name):
    raise ValueError(name)


# As large or as small as it says, and an integer if it is one.
def exact(spelled):
    number = decimal.Decimal(spelled)
    if number.adjusted() < 400 and number == number.to_integral_value():
        return int(number)
    return number


def valid(schema, text):
    """What the standard says.  Names must not be repeated."""
    try:
        value = json.loads(
            text.decode(),
            object_pairs_hook=no_repeats,
            parse_constant=not_json,
            parse_float=exact,
        )
    except ValueError:
        return False
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def shortest(lexeme, digits=None):
    """A string or number of JSON in its shortest form."""
    try:
        if lexeme == b"\r":
            return b""
        if lexeme[:1] == b'"':
            return json.dumps(json.loads(lexeme), ensure_ascii=False).encode()
        number = decimal.Decimal(lexeme.decode())
        if not -400 < number.adjusted() < 400:
            return lexeme
        if digits is not None:
            unit = decimal.Decimal(1).scaleb(-digits)
            number = number.quantize(unit, rounding=decimal.ROUND_DOWN)
        shown = f"{number:f}"
        if "." in shown:
            shown = shown.rstrip("0").rstrip(".")
        return b"0" if shown == "-0" else shown.encode()
    except (ValueError, decimal.InvalidOperation):
        return lexeme


# Each changes what JSON there is in a text from byte `start` on.


def respelled(pieces, start):
    return replaced(LEXEME, lambda m: shortest(m[0]), pieces, start)


def rounded(pieces, start):
    return replaced(LEXEME, lambda m: shortest(m[0], 6), pieces, start)


def compact(pieces, start):
    def change(match):
        return b"" if match[0].isspace() else shortest(match[0])

    return replaced(LEXEME_OR_SPACE, change, pieces, start)


def without_fractions(pieces, pattern, places):
    def change(match):
        if match.start() not in places:
            return match[0]
        return b"0" if match[0] == b"-0" else b""

    return replaced(re.compile(pattern), change, pieces, 0)


def replaced(pattern, change, pieces, start):
    """What `pattern` finds in the text changed.  A token stays one where none
    of its bytes was found in something that changed."""
    text = bytes_of(pieces)
    changes = [(*m.span(), change(m)) for m in pattern.finditer(text, start)]
    changes = [c for c in changes if text[c[0] : c[1]] != c[2]]
    out, at, here = [], 0, 0
    pending, done = b"", 0  # bytes that replace pieces up to `done`
    for piece in pieces:
        end = here + len(bytes_of([piece]))
        touched = done > here
        while at < len(changes) and changes[at][0] < end:
            begin, stop, new = changes[at]
            pending += text[max(here, done) : begin] + new
            done, touched, at = stop, True, at + 1
        if not touched:
            out.append(piece)
        elif done <= end:
            out.append((pending + text[done:end]).hex())
            pending = b""
        here = end
    return out


def needs_escape(text):
    """Whether some string has a character that must be escaped."""
    for match in re.finditer(STRING, text, re.DOTALL):
        try:
            value = json.loads(match[0])
        except ValueError:
            continue
        if any(c in '"\\' or c < " " for c in value):
            return True
    return False
