"""A slow, obvious reader and recogniser of GBNF, to compare with.

It follows llama.cpp's description of the notation and shares nothing with the
library.  A text is matched by tables: for every rule and place, the places where
a match of the rule may end, filled until nothing changes, so that left recursion
and empty rules are nothing special.
"""

import re

_NAME = re.compile(r"[A-Za-z0-9-]+")
_COUNT = re.compile(r"\{\s*(\d+)\s*(?:(,)\s*(\d*)\s*)?\}")
_BLANKS = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_DIGITS = {"x": 2, "u": 4, "U": 8}


class Refused(ValueError):
    """The text is no GBNF."""


class _Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0
        self.rules = {}

    def skip(self, pattern):
        self.at = pattern.match(self.text, self.at).end()

    def peek(self):
        return self.text[self.at : self.at + 1]

    def take(self, what):
        if not self.text.startswith(what, self.at):
            raise Refused(f"{what!r} expected at {self.at}")
        self.at += len(what)

    def grammar(self):
        self.skip(_SPACE)
        while self.peek():
            name = self.name()
            self.skip(_BLANKS)
            self.take("::=")
            self.skip(_SPACE)
            if name in self.rules:
                raise Refused(f"{name} twice")
            self.rules[name] = self.alternatives(nested=False)
            if self.peek() and self.peek() not in "\r\n":
                raise Refused(f"end of line expected at {self.at}")
            self.skip(_SPACE)
        return self.rules

    def name(self):
        found = _NAME.match(self.text, self.at)
        if not found:
            raise Refused(f"name expected at {self.at}")
        self.at = found.end()
        return found.group()

    def alternatives(self, nested):
        out = [self.sequence(nested)]
        while self.peek() == "|":
            self.at += 1
            self.skip(_SPACE)
            out.append(self.sequence(nested))
        return ("or", out)

    def sequence(self, nested):
        space = _SPACE if nested else _BLANKS
        out = []
        while True:
            c = self.peek()
            if c == '"':
                out.append(("text", self.string()))
            elif c == "[":
                out.append(self.char_class())
            elif c == ".":
                self.at += 1
                out.append(("set", True, []))
            elif c == "(":
                self.at += 1
                self.skip(_SPACE)
                out.append(self.alternatives(nested=True))
                self.take(")")
            elif c and _NAME.match(c):
                out.append(("rule", self.name()))
            elif c and c in "?*+{":
                if not out:
                    raise Refused(f"nothing to repeat at {self.at}")
                least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}.get(
                    c, (None, None)
                )
                if c == "{":
                    found = _COUNT.match(self.text, self.at)
                    if not found:
                        raise Refused(f"count expected at {self.at}")
                    self.at = found.end()
                    least = int(found[1])
                    most = least if not found[2] else None
                    if found[3]:
                        most = int(found[3])
                    if most is not None and most < least:
                        raise Refused("a count runs backwards")
                else:
                    self.at += 1
                out[-1] = ("repeat", out[-1], least, most)
            else:
                return ("and", out)
            self.skip(space)

    def character(self):
        c = self.peek()
        self.at += 1
        if not c:
            raise Refused("unclosed")
        if c != "\\":
            return c
        c = self.peek()
        self.at += 1
        if c in _DIGITS:
            digits = self.text[self.at : self.at + _DIGITS[c]]
            if not re.fullmatch("[0-9a-fA-F]{%d}" % _DIGITS[c], digits):
                raise Refused("digits expected")
            self.at += _DIGITS[c]
            value = int(digits, 16)
            if value > 0x10FFFF or 0xD800 <= value < 0xE000:
                raise Refused("no character")
            return chr(value)
        if c and c in _CONTROLS:
            return _CONTROLS[c]
        if c and c in '\\"[]-':
            return c
        raise Refused(f"unknown escape {c!r}")

    def string(self):
        self.take('"')
        out = ""
        while self.peek() != '"':
            out += self.character()
        self.at += 1
        return out

    def char_class(self):
        self.take("[")
        negated = self.peek() == "^"
        self.at += negated
        ranges = []
        while self.peek() != "]":
            first = last = self.character()
            ahead = self.text[self.at : self.at + 2]
            if ahead.startswith("-") and ahead != "-]":
                self.at += 1
                last = self.character()
            if last < first:
                raise Refused("a range runs backwards")
            ranges.append((first, last))
        self.at += 1
        if not ranges:
            raise Refused("an empty class")
        return ("set", negated, ranges)


class Gbnf:
    """A grammar without tokens."""

    def __init__(self, text, root="root"):
        self.rules = _Reader(text).grammar()
        self.root = root
        if root not in self.rules:
            raise Refused("no root")
        left = list(self.rules.values())
        while left:
            node = left.pop()
            if node[0] == "rule" and node[1] not in self.rules:
                raise Refused(f"no rule {node[1]}")
            if node[0] in ("or", "and"):
                left += node[1]
            if node[0] == "repeat":
                left.append(node[1])

    def accepts(self, text):
        ends = {}
        while True:
            before = sum(map(len, ends.values()))
            for name, body in self.rules.items():
                for place in range(len(text) + 1):
                    key = name, place
                    ends[key] = ends.get(key, set()) | self._match(
                        body, text, {place}, ends
                    )
            if sum(map(len, ends.values())) == before:
                return len(text) in ends[self.root, 0]

    def _match(self, node, text, places, ends):
        kind = node[0]
        if kind == "text":
            size = len(node[1])
            return {p + size for p in places if text.startswith(node[1], p)}
        if kind == "set":
            _, negated, ranges = node
            return {
                p + 1
                for p in places
                if p < len(text)
                and any(a <= text[p] <= b for a, b in ranges) != negated
            }
        if kind == "rule":
            return set().union(*(ends.get((node[1], p), set()) for p in places))
        if kind == "or":
            return set().union(
                *(self._match(one, text, places, ends) for one in node[1])
            )
        if kind == "and":
            for one in node[1]:
                places = self._match(one, text, places, ends)
            return places
        _, body, least, most = node
        for _ in range(least):
            places = self._match(body, text, places, ends)
        out = set(places)
        count = least
        while most is None or count < most:
            places = self._match(body, text, places, ends) - out
            if not places:
                break
            out |= places
            count += 1
        return out
