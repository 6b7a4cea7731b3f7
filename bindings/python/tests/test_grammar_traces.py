"""Recorded sessions with EBNF, Lark and regular expressions: the real matcher.

The masks have to be the recorded ones, bit by bit.  Captures are asked of the
grammar, for what the matcher has accepted.
"""

import numpy
import pytest

import conformance
import parlance
from test_constraint_vectors import allowed, bytes_of, vocabulary_of


def sessions():
    for kind in ("ebnf", "lark", "regex"):
        for case in conformance.read(f"grammar/{kind}_traces.json"):
            yield pytest.param(case, id=case["id"])


def differences():
    """The vectors that docs/reference/grammars.md lists."""
    page = conformance.ROOT / "docs" / "reference" / "grammars.md"
    table = page.read_text(encoding="utf-8").partition("\n## Differences")[2]
    return {
        line.split("`")[1] for line in table.splitlines() if line[:3] == "| `"
    }


def grammar_of(case, vocabulary):
    if case["kind"] == "ebnf":
        return parlance.Grammar.from_ebnf(case["spec"])
    if case["kind"] == "regex":
        return parlance.Grammar.from_regex(case["spec"])
    named = (case.get("options") or {}).get("named_grammars") or {}
    grammars = {
        name: part["spec"]
        if part["kind"] == "lark"
        else grammar_of(part, vocabulary)
        for name, part in named.items()
    }
    return parlance.Grammar.from_lark(
        case["spec"], vocabulary, grammars=grammars
    )


def same_captures(step, matcher, grammar, vocabulary, history):
    """Nothing where all ends are wanted."""
    if not step.get("deduplicate", True):
        return True
    found = matcher.captures()
    if all(isinstance(piece, bytes) for piece in history):
        assert found == grammar.captures(b"".join(history))
    elif all(isinstance(piece, int) for piece in history):
        assert found == grammar.captures(history, vocabulary)
    texts = [[one["name"], one["text"].decode()] for one in found]
    return texts == step["result"]


def run_step(step, matcher, row, size, without_stop, history):
    arg = step.get("arg")
    op = step["op"]
    if op == "accept_token":
        assert matcher.accept_token(arg) == step["result"]
        history += [arg] if step["result"] else []
    elif op == "accept_string":
        assert matcher.accept_bytes(bytes_of(arg)) == step["result"]
        history += [bytes_of(arg)] if step["result"] else []
    elif op == "rollback":
        steps = 1 if arg is None else arg
        assert matcher.rollback(steps)
        del history[len(history) - steps :]
    elif op == "reset":
        matcher.reset()
        history.clear()
    elif op == "is_terminated":
        ended = matcher.is_terminated() or (without_stop and matcher.can_end())
        assert ended == step["result"]
    elif op == "is_completed":
        assert matcher.can_end() == step["result"]
    elif op == "find_jump_forward_string":
        assert matcher.forced_bytes() == bytes_of(step["result"])
    elif op == "fill_next_token_bitmask":
        # Whether the mask leaves anything out: the recording says so of fewer.
        constrains = matcher.fill_bitmask(row)
        if without_stop and matcher.is_terminated():
            # Nothing may follow, so nothing is constrained; the reference
            # leaves a row that nobody asks for empty.
            assert not constrains and not step["allowed"]
            assert (row == -1).all()
            return
        assert constrains == (len(step["allowed"]) < size)
        assert allowed(row, size) == set(step["allowed"])
    else:
        raise AssertionError(op)


@pytest.mark.parametrize("case", list(sessions()))
def test_session(case):
    tokenizer = case["tokenizer"]
    if not tokenizer["vocab"]:
        tokenizer = {"vocab": ["</s>"]}
    vocabulary, data = vocabulary_of(tokenizer)
    options = case.get("matcher_options") or {}
    without_stop = bool(options.get("terminate_without_stop_token"))

    def run():
        grammar = grammar_of(case, vocabulary)
        constraint = grammar.compile(vocabulary)
        matcher = constraint.matcher()
        row = numpy.zeros(constraint.mask_words, numpy.int32)
        history = []
        for step in case["steps"]:
            if step["op"] == "get_captures":
                assert same_captures(step, matcher, grammar, vocabulary, history)
                continue
            run_step(step, matcher, row, len(data), without_stop, history)

    if case["id"] in differences():
        with pytest.raises(AssertionError):
            run()
    else:
        run()
