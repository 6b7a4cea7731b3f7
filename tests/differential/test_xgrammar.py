"""Random grammars, read by ours and by XGrammar.

For each definition: random texts made by the masks of either side, and small
changes of them.  Both must say the same of every text, and of every token at
every place of some texts.  A token that only one side allows is followed to the
end of a text, so that the difference is one of texts; where XGrammar finds no
end, the difference is that its masks may lead nowhere.

xgrammar_differences.py explains what remains.  A difference that it does not
explain fails the test.

    PARLANCE_SEED=7           other cases
    PARLANCE_CASE=123         that case alone, printed in full
    PARLANCE_CASES=100        a hundred times as many, instead of once
    PARLANCE_SECONDS=600      for each kind at most, instead of 5
    PARLANCE_VOCAB=FILE       a model's tokens instead of some ninety
    PARLANCE_PEERS=FOLDER     where xgrammar lies; see xgrammar_alone.py
"""

import json
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

import numpy
import pytest

import parlance

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import random_tags  # noqa: E402
import xgrammar_alone  # noqa: E402
import xgrammar_differences  # noqa: E402
from random_tags import STOP, VOCABULARY  # noqa: E402
from random_walk import bits, random_walk  # noqa: E402
from worker_pipe import Peer  # noqa: E402
from xgrammar_differences import bytes_of  # noqa: E402

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
ONLY = os.environ.get("PARLANCE_CASE")
CASES = int(os.environ.get("PARLANCE_CASES", "1"))
SECONDS = float(os.environ.get("PARLANCE_SECONDS", "5"))
WORKER = HERE.parent / "support" / "xgrammar_worker.py"
STEPS = 60

pytestmark = pytest.mark.skipif(
    xgrammar_alone.missing() is not None, reason=str(xgrammar_alone.missing())
)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    path = tmp_path_factory.mktemp("xgrammar") / "vocabulary.json"
    path.write_text(
        json.dumps({"tokens": [t.hex() for t in VOCABULARY], "stop": STOP})
    )
    peer = Peer(sys.executable, str(WORKER), str(path))
    yield peer
    peer.close()


@pytest.fixture(scope="module")
def compiler():
    return parlance.Compiler(parlance.Vocabulary(VOCABULARY, stop_ids=[STOP]))


class Ours:
    """A definition as we read it; the same questions as XGrammar's worker."""

    def __init__(self, compiler, kind, source):
        self.grammar = {
            "structural_tag": parlance.Grammar.from_structural_tag,
            "json_schema": like_xgrammar,
            "ebnf": parlance.Grammar.from_ebnf,
            "regex": parlance.Grammar.from_regex,
        }[kind](source)
        self.constraint = self.grammar.compile(compiler)
        self.row = numpy.zeros(self.constraint.mask_words, numpy.int32)

    @staticmethod
    def accept(matcher, piece):
        if isinstance(piece, int):
            return matcher.accept_token(piece)
        return matcher.accept_bytes(bytes.fromhex(piece))

    def read(self, pieces):
        matcher = self.constraint.matcher()
        for i, piece in enumerate(pieces):
            if not self.accept(matcher, piece):
                return [i, False]
        return [len(pieces), matcher.can_end()]

    def mask(self, matcher):
        matcher.fill_bitmask(self.row)
        if matcher.error is not None:
            return 0  # where no token fits, XGrammar has an empty mask
        return int.from_bytes(self.row.tobytes(), "little")

    def masks(self, pieces):
        matcher = self.constraint.matcher()
        out = [self.mask(matcher)]
        for piece in pieces:
            if not self.accept(matcher, piece):
                break
            out.append(self.mask(matcher))
        return out

    def walk(self, seed, steps, pieces):
        matcher = self.constraint.matcher()
        if not all(self.accept(matcher, piece) for piece in pieces):
            return None
        return random_walk(
            seed, steps, VOCABULARY, STOP,
            lambda: self.mask(matcher), matcher.accept_token,
        )  # fmt: skip


def like_xgrammar(schema):
    return parlance.Grammar.from_json_schema(
        schema, key_order="schema", closed=True, max_white_space=None
    )


class Case:
    """One definition, given to both."""

    def __init__(self, kind, source, theirs, compiler):
        self.kind, self.source, self.peer = kind, source, theirs
        self.compiler = compiler
        self.gone = None
        self.our_error, self.ours = None, None
        try:
            self.ours = Ours(compiler, kind, self.text())
        except parlance.Error as error:
            self.our_error = error
        self.their_error = self.ask()

    def text(self):
        return self.source if isinstance(self.source, str) else json.dumps(self.source)

    # Their error, or None; what they answer is in self.answer.
    def ask(self, texts=(), masks=(), walks=()):
        self.answer = self.peer.ask(
            {"kind": self.kind, "source": self.text(), "options": {},
             "texts": list(texts), "masks": list(masks), "walks": list(walks)}
        )  # fmt: skip
        if "gone" in self.answer:
            self.gone = self.answer["gone"]
            return self.gone
        return self.answer.get("message")

    def they_accept(self, pieces):
        if isinstance(pieces, bytes):
            pieces = [pieces.hex()]
        return self.ask(texts=[pieces]) is None and self.answer["texts"][0][1]

    def we_accept(self, pieces):
        if isinstance(pieces, bytes):
            pieces = [pieces.hex()]
        return self.ours.read(pieces)[1]

    def we_accept_without(self, key, pieces):
        """As if `key` stood nowhere in the definition."""
        source = json.loads(
            self.text(), object_hook=lambda o: {k: o[k] for k in o if k != key}
        )
        return Ours(self.compiler, self.kind, json.dumps(source)).read(pieces)[1]


class Comparison:
    def __init__(self):
        self.counts = Counter()
        self.wrong = {}

    def differ(self, case, number, pieces, ours, theirs):
        rule = xgrammar_differences.explain(case, pieces, ours, theirs)
        if rule:
            self.counts[f"known: {rule}"] += 1
        elif number not in self.wrong:  # one is enough for each
            self.wrong[number] = (
                f"case {number}: {case.text()}\n  on {bytes_of(pieces)!r} {pieces}: "
                f"ours {ours}, theirs {theirs}"
            )

    def case(self, case, number, r):
        self.counts["definitions"] += 1
        if case.gone:
            self.counts[f"XGrammar {case.gone}"] += 1
            return
        if case.our_error or case.their_error:
            self.errors(case, number)
            return
        self.texts(case, number, r)

    def errors(self, case, number):
        if case.our_error and case.their_error:
            self.counts["refused by both"] += 1
            return
        rule = xgrammar_differences.explain_error(case)
        if rule:
            self.counts[f"known: {rule}"] += 1
            return
        self.wrong[number] = (
            f"case {number}: {case.text()}\n  ours {case.our_error}, "
            f"theirs {case.their_error}"
        )

    def texts(self, case, number, r):
        seeds = [r.randrange(1 << 30) for _ in range(6)]
        walks = [case.ours.walk(seed, STEPS, []) for seed in seeds]
        if case.ask(walks=[[seed, STEPS, []] for seed in seeds]):
            self.counts[f"XGrammar {case.gone}"] += 1
            return
        walks = [w for w in walks + case.answer["walks"] if w is not None]
        if not walks:
            self.counts["no text found"] += 1
        texts = [list(w) for w in walks]
        for walk in walks:
            text = bytes_of(walk)
            texts.append([text.hex()])
            for _ in range(4):
                texts.append([random_tags.mutated(r, text).hex()])
        for _ in range(3):
            texts.append([b"".join(random_tags.word(r) for _ in range(r.randint(0, 3))).hex()])
        followed = r.sample(walks, min(3, len(walks))) + [[]]
        if case.ask(texts=texts, masks=followed):
            self.counts[f"XGrammar {case.gone}"] += 1
            return
        answer = case.answer
        for pieces, (_, whole) in zip(texts, answer["texts"]):
            self.counts["texts"] += 1
            self.counts["accepted"] += whole
            ours = case.we_accept(pieces)
            if len(pieces) == 1 and isinstance(pieces[0], str):
                again = case.ours.grammar.accepts(bytes.fromhex(pieces[0]))
                assert again == ours, (case.text(), pieces)
            if ours != whole:
                self.differ(case, number, pieces, ours, whole)
        budget = 3
        for pieces, masks in zip(followed, answer["masks"]):
            for i, (ours, mask) in enumerate(zip(case.ours.masks(pieces), masks)):
                self.counts["masks"] += 1
                tokens = bits(ours ^ int(mask, 16))
                if tokens and budget:
                    budget -= 1
                    self.token(case, number, pieces[:i], ours, r.choice(tokens), r)

    def token(self, case, number, before, mask, token, r):
        """Follows a token that only one side allows to the end of a text."""
        ours = bool(mask >> token & 1)
        if token == STOP:
            self.differ(case, number, before, ours, not ours)
            return
        pieces = [*before, token]
        seeds = [r.randrange(1 << 30) for _ in range(4)]
        if ours:
            ends = [case.ours.walk(seed, 4 * STEPS, pieces) for seed in seeds]
        elif case.ask(walks=[[seed, 4 * STEPS, pieces] for seed in seeds]):
            ends = []
        else:
            ends = case.answer["walks"]
        ends = sorted((e for e in ends if e is not None), key=len)
        if ends:
            whole = pieces + ends[0]
            we, they = case.we_accept(whole), case.they_accept(whole)
            if ours and we and they:
                self.counts["token that only their mask leaves out"] += 1
            else:
                self.differ(case, number, whole, we, they)
        else:
            self.counts[f"token of {'ours' if ours else 'theirs'} without an end found"] += 1


# How each kind is made, and how many.
MAKERS = {
    "structural_tag": (random_tags.structural_tag, 250),
    "json_schema": (random_tags.schema, 300),
    "ebnf": (random_tags.ebnf, 200),
    "regex": (random_tags.regex, 1000),
}


def cases(kind, theirs, compiler):
    until = time.monotonic() + SECONDS
    make, count = MAKERS[kind]
    for number in [int(ONLY)] if ONLY else range(count * CASES):
        if time.monotonic() > until:
            return
        r = random.Random(f"{SEED} {kind} {number}")
        yield number, r, Case(kind, make(r), theirs, compiler)


@pytest.mark.parametrize("kind", MAKERS)
def test_random(kind, theirs, compiler):
    comparison = Comparison()
    for number, r, case in cases(kind, theirs, compiler):
        comparison.case(case, number, r)
        if len(comparison.wrong) >= 10:
            break
    counts = ", ".join(f"{n} {what}" for what, n in sorted(comparison.counts.items()))
    print(f"{kind}: {counts}")
    report = "\n".join(comparison.wrong.values())
    assert not comparison.wrong, f"PARLANCE_SEED={SEED}\n{report}\n{counts}"
    if not ONLY:
        assert comparison.counts["accepted"] > comparison.counts["definitions"], counts
