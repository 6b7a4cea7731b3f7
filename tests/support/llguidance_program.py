"""What a program sees of llguidance, a line of JSON each.

    python llguidance_program.py llguidance|parlance SEED
"""

import json
import os
import random
import sys

import numpy

if sys.argv[1] == "parlance":
    import parlance.integrations.llguidance

    parlance.integrations.llguidance.install()
else:
    sys.path.append(os.environ["PARLANCE_PEERS"])
import llguidance as llg
import llguidance.numpy as masks

GRAMMARS = [
    llg.grammar_from("regex", "a[bc]{2}(de)*|é+x"),
    llg.grammar_from("choice", '["yes", "yell", "no"]'),
    llg.grammar_from("lark", 'start: "<" start ">" | /[0-9]+/'),
    llg.grammar_from("gbnf", 'root ::= "(" root ")" | [a-c]'),
    llg.grammar_from("lark", 'start: "a" <|tool|> b "!"\nb[capture]: /x+/'),
    llg.LLMatcher.grammar_from_json_schema(
        {
            "type": "object",
            "properties": {"a": {"type": "boolean"}, "b": {"enum": [1, "x"]}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
        overrides={"whitespace_flexible": False},
    ),
    "start: undefined",
]


def show(*values):
    print(json.dumps(values))


def bits(mask, size):
    row = numpy.frombuffer(mask, numpy.uint8)
    return numpy.flatnonzero(numpy.unpackbits(row, bitorder="little")[:size]).tolist()


def tokenizers(draw):
    made = llg.LLTokenizer("byte")
    show(made.vocab_size, made.eos_token, made.eos_tokens, made.is_canonical)
    for text in ("", "é<|tool|>", "a b"):
        show(made.tokenize_str(text))
    show(made.tokenize_bytes(b"a\xffb"), made.greedy_tokenize("ab"))
    show(made.decode_str([97, 256, 0xC3]), made.decode_bytes([97, 256]).decode())
    show(made.dbg_tokens([97, 256]), made.test_trace_tokens([256, 98]))
    show([made.is_special_token(i) for i in range(255)])
    show([made.is_special_token(i) for i in range(256, made.vocab_size)])
    ids, rest = made.tokenize_partial(b"abc")
    show(ids, rest.decode())
    return made


def walk(made, grammar, draw):
    matcher = llg.LLMatcher(made, grammar, log_level=0)
    show(matcher.is_error(), bool(llg.LLMatcher.validate_grammar(grammar, made)))
    if matcher.is_error():
        return
    for _ in range(24):
        mask = matcher.compute_bitmask()
        may = bits(mask, made.vocab_size)
        bias = matcher.compute_logit_bias()
        row = masks.allocate_token_bitmask(2, made.vocab_size)
        masks.fill_next_token_bitmask(matcher, row, 1)
        show(
            may,
            [i for i, one in enumerate(bias) if one == 200] == may,
            bits(row[1].tobytes(), made.vocab_size) == may,
            matcher.is_accepting(),
            matcher.is_stopped(),
            matcher.stop_reason(),
            matcher.is_error(),
        )
        if matcher.is_stopped():
            break
        wrong = next(i for i in range(made.vocab_size) if i not in may)
        token = draw.choice(may)
        show(matcher.validate_tokens([token, wrong, wrong]))
        show(matcher.try_consume_tokens([token]))
        if draw.random() < 0.2:
            show(matcher.rollback(1), matcher.consume_token(token))
    other = matcher.deep_copy()
    show(other.reset(), bits(other.compute_bitmask(), made.vocab_size))
    show(other.consume_tokens([0]), other.is_error(), other.stop_reason())
    show(other.reset(), other.rollback(1), other.compute_ff_tokens())


def captures(made):
    # After tokens are taken back llguidance 1.9.1 has a text twice.
    for text in ("ax!", "axxx!"):
        matcher = llg.LLMatcher(made, 'start: "a" b "!"\nb[capture]: /x+/')
        show(matcher.consume_tokens(made.tokenize_str(text)))
        show([(name, found.decode()) for name, found in matcher.get_captures()])
        show(matcher.get_capture("b").decode(), matcher.get_capture("c"))


def main(seed):
    draw = random.Random(seed)
    made = tokenizers(draw)
    captures(made)
    for grammar in GRAMMARS:
        for _ in range(4):
            walk(made, grammar, draw)
    for limits in (llg.LLParserLimits(), llg.LLParserLimits(step_max_items=3)):
        show([getattr(limits, name) for name in dir(limits) if name[0] != "_"])


main(int(sys.argv[2]))
