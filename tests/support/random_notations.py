"""Random grammars as people write them, in GBNF and in Lark.

Both are made of small alphabets, so that all short texts can be tried.
"""


def texts(letters, longest):
    """All texts of up to `longest` letters."""
    out = [""]
    for text in out:
        if len(text) == longest:
            return out
        out += [text + letter for letter in letters]
    return out


def _space(random, nested):
    """White space between two parts of a rule of GBNF."""
    choices = [" ", "  ", "\t", " "]
    if nested:
        choices += ["\n", " # c | ( \" \n ", "\r\n"]
    return random.choice(choices)


def _gbnf_item(random, names, depth):
    kind = random.randrange(7 if depth else 5)
    if kind == 0:
        return '"' + "".join(
            random.choice(["a", "b", "\\x61", "\\u0062", "\\U00000061"])
            for _ in range(random.randrange(3))
        ) + '"'
    if kind == 1:
        return random.choice(
            ["[ab]", "[^a]", "[a-b]", "[a-]", "[\\x61]", "[^\\x62-\\x63]", "."]
        )
    if kind in (2, 3):
        return random.choice(names)
    if kind == 4:
        return '"b"'
    body = _gbnf_body(random, names, depth - 1, True)
    return "(" + _space(random, True) + body + _space(random, True) + ")"


def _gbnf_body(random, names, depth, nested):
    alternatives = []
    for _ in range(random.choice((1, 1, 2, 3))):
        sequence = ""
        for _ in range(random.choice((0, 1, 1, 2, 3))):
            sequence += _gbnf_item(random, names, depth)
            for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
                sequence += random.choice(
                    ["?", "*", "+", "{2}", "{1,}", "{0,2}", " {1, 2}"]
                )
            sequence += _space(random, nested)
        alternatives.append(sequence)
    # A "|" at the end of a line continues the rule on the next.
    if not nested and not alternatives[-1].strip():
        alternatives[-1] = '"a" '
    return "".join(
        (n > 0) * "|"
        + random.choice([" ", "\n", " # x\n"] if one.strip() else [" "])
        + one
        for n, one in enumerate(alternatives)
    ).lstrip()


def gbnf(random):
    """A grammar of GBNF, over the letters a and b."""
    names = ["root", "x", "y-1"]
    out = random.choice(["", "# a grammar\n\n"])
    for name in names:
        out += name + random.choice([" ::= ", "::=", " ::=\n "])
        out += _gbnf_body(random, names, 2, False)
        out += random.choice(["\n", "\r\n", " # end\n\n"])
    return out


def mutated(random, text, letters):
    """The text with a few changes."""
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(text) + 1)
        kind = random.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + random.randrange(1, 4) :]
        elif kind == 1:
            text = text[:at] + random.choice(letters) + text[at:]
        elif kind == 2:
            other = random.randrange(len(text) + 1)
            first, last = min(at, other), max(at, other)
            text = text[:at] + text[first : first + min(20, last - first)] + text[at:]
        else:
            text = text[:at] + random.choice(letters) + text[at + 1 :]
    return text


def _lark_item(random, names, depth):
    kind = random.randrange(8 if depth else 6)
    if kind == 0:
        return random.choice(['"a"', '"b"', '"ab"', '"B"i', '"a".."b"'])
    if kind == 1:
        return random.choice(["/a/", "/[ab]/", "/b+/", "/[^b]/", "/(?i:A)b/"])
    if kind in (2, 3, 4):
        return random.choice(names)
    if kind == 5:
        return random.choice(["T", "U", 'two{"a"}', "two{x}", "list{T, U}"])
    body = _lark_body(random, names, depth - 1)
    return "(%s)" % body if kind == 6 else "[%s]" % body


def _lark_body(random, names, depth):
    alternatives = []
    for _ in range(random.choice((1, 1, 2, 3))):
        sequence = []
        for _ in range(random.choice((1, 1, 2, 3))):
            item = _lark_item(random, names, depth)
            sequence.append(
                item + random.choice(["", "", "", "?", "*", "+", "~2", "~1..2"])
            )
        alternatives.append(" ".join(sequence))
    return random.choice([" | ", "\n  | "] if depth == 2 else [" | "]).join(
        alternatives
    )


def lark(random, ignored):
    """A grammar of Lark over the letters a and b, and "-" if it is ignored.

    Its terminals match all that they mean greedily, so that Lark's matcher of
    terminals, Python's re, finds every match.
    """
    names = ["start", "x", "y"]
    statements = [
        "%s%s%s: %s"
        % (
            random.choice(["", "?", "!"]) if name != "start" else "",
            name,
            random.choice(["", "", ".2", ".-1"]),
            _lark_body(random, names, 2),
        )
        for name in names
    ]
    statements += [
        "T%s: %s" % (random.choice(["", ".3"]), random.choice(
            ['"a"', '/b/ "a"', '("a" | "bb")', '"b"~2', "/a+/ /b/"])),
        "U: " + random.choice(['"b"', 'T "b"', '"ab" | "b"', "/[ab]/ T?"]),
        "two{p}: p " + random.choice(["p", "p | p", '"b" p']),
        "list{p, q}: p (q p)*",
    ]
    if ignored:
        statements.append("%ignore " + random.choice(['"-"', "/-+/", "D"]))
        statements.append("D: \"-\"")
    random.shuffle(statements)
    return "\n".join(statements) + "\n"
