"""A program for XGrammar's interface, which writes what it sees.

    python xgrammar_program.py xgrammar|parlance SEED

Each line of output is JSON.
"""

import json
import os
import random
import sys

import numpy

TOKENS = [
    "{", "}", "[", "]", '"', '"a"', '"b"', ":", ",", " ", "1", "2", "12", "x", "xx",
    "true", "null", "<tool>", "</tool>", "-", "é", "日", "</s>", "", "<eos>",
]  # fmt: skip
SIZE = 40
SCHEMAS = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"type": "array", "items": {"enum": [1, 12, "x", None]}, "minItems": 1},
    {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"const": 1}}},
    {"type": "string", "pattern": "^x+1?$"},
    {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1, "maximum": 22}]},
]
EBNF = [
    'root ::= "x" root | "1"',
    'root ::= ("[" root? "]")+',
    "root ::= [x1]{2,5}",
    'start ::= "x" "é"? | "日"',
]
REGEXES = ["x*1", "(x|12)+", "[12]{1,3}x?", "é|日+"]
LARK = ["start: /x+/ NUMBER\nNUMBER: /[12]{2}/", 'start: "x" (":" start)?']


def tag(content, **options):
    return {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<tool>"],
            "tags": [
                {
                    "type": "tag",
                    "begin": "<tool>",
                    "content": content,
                    "end": "</tool>",
                }
            ],
            "at_least_one": True,
            **options,
        },
    }


TAGS = [
    tag({"type": "json_schema", "json_schema": SCHEMAS[0]}, stop_after_first=True),
    tag({"type": "regex", "pattern": "x+"}, stop_after_first=True),
    {"type": "structural_tag", "format": {"type": "token", "token": "xx"}},
    {
        "type": "structural_tag",
        "format": {
            "type": "sequence",
            "elements": [
                {"type": "const_string", "value": "x"},
                {"type": "optional", "content": {"type": "token", "token": 10}},
            ],
        },
    },
]


class Program:
    def __init__(self, xgrammar, seed):
        self.xgrammar = xgrammar
        self.random = random.Random(seed)
        self.info = xgrammar.TokenizerInfo(
            TOKENS, vocab_size=SIZE, stop_token_ids=TOKENS.index("</s>")
        )
        self.compiler = xgrammar.GrammarCompiler(self.info, max_threads=1)

    def see(self, *values):
        print(json.dumps(values))

    def outcome(self, call):
        try:
            return call()
        except (RuntimeError, ValueError, TypeError) as error:
            known = (RuntimeError, ValueError, TypeError)
            names = {"InvalidJSONError", "InvalidStructuralTagError"}
            name = type(error).__name__
            if name in names or name.startswith("Deserialize"):
                return name
            return next(kind.__name__ for kind in known if isinstance(error, kind))

    def mask(self, matcher):
        row = numpy.full((1, 2), -1, numpy.int32)
        matcher.fill_next_token_bitmask(row)
        value = int.from_bytes(row.tobytes(), "little")
        return value & (1 << len(TOKENS)) - 1

    def compiled(self):
        for schema in SCHEMAS:
            yield self.compiler.compile_json_schema(schema, max_whitespace_cnt=2)
            yield self.compiler.compile_json_schema(
                json.dumps(schema), any_whitespace=False, separators=(",", ":")
            )
            yield self.compiler.compile_grammar(
                self.xgrammar.Grammar.from_json_schema(schema, any_whitespace=False)
            )
        for ebnf in EBNF:
            root = ebnf.partition(" ")[0]
            yield self.compiler.compile_grammar(ebnf, root_rule_name=root)
        for regex in REGEXES:
            yield self.compiler.compile_regex(regex)
        for lark in LARK:
            yield self.compiler.compile_lark(lark)
        for text in TAGS:
            yield self.compiler.compile_structural_tag(text)
            yield self.compiler.compile_structural_tag(json.dumps(text))
        grammar = self.xgrammar.Grammar
        parts = [grammar.from_ebnf(EBNF[0]), grammar.from_regex(REGEXES[2])]
        yield self.compiler.compile_grammar(grammar.union(*parts))
        yield self.compiler.compile_grammar(grammar.concat(*parts))

    def walk(self, compiled, **options):
        """A random text, with drafts that are taken back."""
        matcher = self.xgrammar.GrammarMatcher(compiled, **options)
        for _ in range(14):
            mask = self.mask(matcher)
            if not matcher.is_completed():
                # Where no token fits, ours allows a stop token, with an error.
                for stop in matcher.stop_token_ids:
                    mask &= ~(1 << stop)
            self.see(f"{mask:x}", matcher.is_completed(), matcher.is_terminated())
            if mask == 0:
                return
            guess = self.random.randrange(SIZE)
            if matcher.accept_token(guess):
                self.see("draft", guess, matcher.is_terminated())
                matcher.rollback(1)
            may = [i for i in range(len(TOKENS)) if mask >> i & 1]
            if not may:
                return
            token = self.random.choice(may)
            self.see(token, matcher.accept_token(token))
            if matcher.is_terminated():
                break
        self.see("end", matcher.is_completed(), matcher.stop_token_ids)
        copy = matcher.fork()
        matcher.reset()
        self.see(matcher.is_completed(), copy.is_completed(), copy.is_terminated())

    def matchers(self):
        for compiled in self.compiled():
            for _ in range(3):
                self.walk(compiled)
            self.walk(compiled, override_stop_tokens=[24, 9])

    def mistakes(self):
        xgrammar, compiler = self.xgrammar, self.compiler
        grammar, matcher = xgrammar.Grammar, xgrammar.GrammarMatcher
        compiled = compiler.compile_regex("x")

        def ended():
            made = matcher(compiled)
            made.accept_string("x")
            made.accept_token(22)
            made.fill_next_token_bitmask(numpy.zeros((1, 2), numpy.int32))

        schema = {"type": "json_schema", "json_schema": {"type": "foo"}}
        for call in (
            ended,
            lambda: grammar.from_ebnf("root := "),
            lambda: grammar.from_json_schema("{"),
            lambda: grammar.from_json_schema(3),
            lambda: grammar.from_regex("("),
            lambda: grammar.from_lark("sta"),
            lambda: grammar.from_structural_tag("{"),
            lambda: grammar.from_structural_tag('{"type": "structural_tag"}'),
            lambda: grammar.from_structural_tag(3),
            lambda: grammar.deserialize_json("x"),
            lambda: grammar.deserialize_json("{}"),
            lambda: grammar.deserialize_json('{"__VERSION__": "v0"}'),
            lambda: compiler.compile_grammar(3),
            lambda: compiler.compile_json_schema({"type": "foo"}),
            lambda: matcher("x"),
            lambda: matcher(compiled, override_stop_tokens=[]),
            lambda: matcher(compiled, override_stop_tokens=[SIZE]),
            lambda: matcher(compiled).rollback(1),
            lambda: matcher(compiled).accept_token(SIZE),
            lambda: matcher(compiled).accept_token(-1),
            lambda: matcher(compiled).accept_token(23),
            lambda: matcher(compiled).accept_string("y"),
            lambda: self.mask(matcher(compiled)),
            lambda: matcher(compiled).fill_next_token_bitmask(
                numpy.zeros((1, 1), numpy.int32)
            ),
            lambda: matcher(compiled).fill_next_token_bitmask(
                numpy.zeros((1, 2), numpy.int64)
            ),
            lambda: matcher(compiled).fill_next_token_bitmask(
                numpy.zeros((1, 2), numpy.int32), 3
            ),
            lambda: xgrammar.TokenizerInfo(["a", "b"], vocab_size=1).vocab_size,
            lambda: xgrammar.set_max_recursion_depth(0),
            lambda: xgrammar.set_max_recursion_depth(10**7),
            lambda: xgrammar.get_max_recursion_depth(),
            lambda: xgrammar.normalize_tool_choice([], "required"),
            lambda: xgrammar.get_model_structural_tag("unknown"),
            lambda: xgrammar.get_bitmask_shape(3, 65),
        ):
            self.see(self.outcome(call))
        assert schema

    def vocabularies(self):
        kinds = self.xgrammar.VocabType
        for kind, tokens, options in (
            (kinds.RAW, TOKENS, {}),
            (kinds.RAW, [b"\xff", "é", b"</s>"], {"vocab_size": 5}),
            (kinds.BYTE_LEVEL, ["Ġa", "Ċ", "é", "<｜end▁of▁sentence｜>"], {}),
            (kinds.BYTE_FALLBACK, ["▁a", "<0x0A>", "<eos>", "<|eot_id|>"], {}),
            (kinds.RAW, ["a", "<|endoftext|>", "<end_of_turn>", "<|eos|>"], {}),
            (kinds.RAW, ["a", "<｜end▁of▁sentence｜>", "<|end_of_text|>"], {}),
            (kinds.RAW, ["a", "b"], {"stop_token_ids": [0, 9]}),
            (kinds.RAW, ["a", "b"], {"stop_token_ids": 1, "add_prefix_space": True}),
            (kinds.RAW, [], {}),
        ):
            info = self.xgrammar.TokenizerInfo(tokens, kind, **options)
            self.see(
                [token.hex() for token in info.decoded_vocab],
                info.vocab_size,
                info.vocab_type.name,
                info.add_prefix_space,
                info.stop_token_ids,
                info.special_token_ids,
                json.loads(info.dump_metadata()),
            )
            same = self.xgrammar.TokenizerInfo.from_vocab_and_metadata(
                tokens, info.dump_metadata()
            )
            self.see(json.loads(same.dump_metadata()))

    def backends(self):
        part = {"type": "Metaspace", "replacement": "▁"}
        decoders = [
            None,
            {"type": "ByteLevel"},
            {"type": "Sequence", "decoders": [{"type": "ByteFallback"}]},
            {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteLevel"}]},
        ]
        befores = [
            {},
            {"normalizer": {"type": "Prepend", "prepend": "▁"}},
            {
                "normalizer": {
                    "type": "Sequence",
                    "normalizers": [{"type": "NFC"}, {"type": "Prepend", "prepend": "▁"}],
                }
            },
            {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}},
            {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}},
            {"pre_tokenizer": {**part, "prepend_scheme": "always"}},
            {"pre_tokenizer": {**part, "prepend_scheme": "never"}},
        ]
        for decoder in decoders:
            for before in befores:
                text = json.dumps({"decoder": decoder, **before})
                found = self.xgrammar.TokenizerInfo._detect_metadata_from_hf(text)
                kind, adds = found["vocab_type"], found["add_prefix_space"]
                self.see("backend", text, kind.name, adds)


def main():
    if sys.argv[1] == "xgrammar":
        import xgrammar_alone

        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # its warnings
        xgrammar = xgrammar_alone.load()
    else:
        import parlance.integrations.xgrammar as xgrammar
    program = Program(xgrammar, int(sys.argv[2]))
    program.vocabularies()
    program.backends()
    program.mistakes()
    program.matchers()


if __name__ == "__main__":
    main()
