"""Where our reading differs from upstream's, each with its reason.

Every rule looks at one case whose results differ and says whether it explains
the difference.  A difference that no rule explains fails the test.
"""

import regex


def explain(case, what, ours, theirs, again, difference, stream):
    """The name of the rule that explains the difference, or None.

    `again(chunks, prefix=None)` asks upstream once more; `difference(ours,
    theirs)` compares two results; `stream(calls)` joins chunks of events.
    """
    known = Known(case, what, ours, theirs, again, difference, stream)
    for rule in Known.RULES:
        if rule(known):
            return rule.__name__.replace("_", " ")
    return None


class Known:
    def __init__(self, case, what, ours, theirs, again, difference, stream):
        self.case, self.what = case, what
        self.ours, self.theirs = ours, theirs
        self.again, self.difference, self.stream = again, difference, stream
        self.fields = case["template"]["fields"]

    def arguments_are_checked_at_load(self):
        """Upstream reads content_args when a region closes, so a template that
        cannot work is found in production.  Ours is refused at load."""
        error = self.ours.get("load_error")
        return self.what == "load" and error and "/content_args" in error["path"]

    def prefix_is_a_cut(self):
        """Upstream searches the prefix before it has the text, and some
        patterns are decided at the end of what is known.  With prefix and text
        as one its result is ours."""
        if not self.case["prefix"] or "kept" not in self.theirs:
            return False
        joined = self.again([self.theirs["kept"] + self.case["text"]], prefix="")
        return "gone" not in joined and self.difference(self.ours, joined) is None

    def empty_close_of_the_implicit_field(self):
        """A close that matches nothing where nothing is open: upstream stops
        there and loses all later text.  Ours goes on."""
        closes = [
            f["close_pattern"]
            for f in self.fields.values()
            if "close_pattern" in f and "open" not in f and "open_pattern" not in f
        ]
        if not closes:
            return False
        text = self.theirs.get("kept", "") + self.case["text"]
        found = regex.finditer(closes[0], text, regex.DOTALL)
        if all(m.start() != m.end() for m in found):
            return False
        a, b = self.stream(self.ours["events"]), self.stream(self.theirs["events"])
        return len(b) < len(a) and a[: len(b)] == b

    RULES = [
        arguments_are_checked_at_load,
        prefix_is_a_cut,
        empty_close_of_the_implicit_field,
    ]
