"""Every entry point of the package, with valid calls of it.

An entry point is a function of the package, a constructor of a class or a public
method.  Entry points are found by introspection, so that a new one is included.
One whose arguments are not known here is an error.
"""

import ast
import dataclasses
import inspect
import re

import numpy
from arrow_columns import TextColumn

import parlance
from parlance import jmespath

TEMPLATE = {
    "start_anchor": "<A>",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "calls": {
            "open_pattern": r"<call:(?P<name>\w+)>",
            "close": "</call>",
            "content": "json",
            "repeats": True,
            "transform": {"name": "{name}", "arguments": "{content}"},
        },
        "content": {},
    },
    "defaults": {"role": "assistant"},
}
SCHEMA = {
    "type": "object",
    "properties": {"content": {"type": "string", "x-regex": "(.*)"}},
}
TAG = {"format": {"type": "tag", "begin": "<t>", "end": "</t>",
                  "content": {"type": "regex", "pattern": "a+"}}}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {"properties": {"n": {"type": "integer"}}},
        },
    }
]
VOCABULARY = parlance.Vocabulary(
    [bytes([b]) for b in range(256)] + [b"<think>", b"</think>", b"<end>"],
    control_ids=[256, 257, 258],
    stop_ids=[258],
)
HARMONY = parlance.Vocabulary(
    [bytes([b]) for b in range(256)]
    + [b"<|start|>", b"<|channel|>", b"<|message|>", b"<|end|>"],
    control_ids=[256, 257, 258, 259],
)
COMPILER = parlance.Compiler(VOCABULARY)
GRAMMAR = parlance.Grammar.from_ebnf('root ::= "ab" root | "c"')
CONSTRAINT = COMPILER.compile(GRAMMAR)
WORDS = CONSTRAINT.mask_words



def batch():
    """A batch with a row of two parts."""
    out = parlance.Batch(threads=1)
    out.add(
        CONSTRAINT.matcher(),
        parlance.ResponseParser(TEMPLATE, "", vocabulary=VOCABULARY),
    )
    return out


# A new object of each class, for its methods.
MAKE = {
    "Batch": batch,
    "MaskTable": lambda: parlance.MaskTable(COMPILER, 8),
    "ArrowMessages": lambda: parlance.parse_arrow(TextColumn(["a"]), "qwen3"),
    "Compiler": lambda: COMPILER,
    "Constraint": lambda: CONSTRAINT,
    "Format": lambda: parlance.Format("qwen3"),
    "Grammar": lambda: GRAMMAR,
    "HarmonyParser": lambda: parlance.HarmonyParser(HARMONY),
    "Matcher": CONSTRAINT.matcher,
    "ResponseParser": lambda: parlance.ResponseParser(
        TEMPLATE, "", vocabulary=VOCABULARY
    ),
    "ResponseSchema": lambda: parlance.ResponseSchema(SCHEMA),
    "ResponseTemplate": lambda: parlance.ResponseTemplate(TEMPLATE),
    "StructuralTag": lambda: parlance.StructuralTag(TAG),
    "TagParser": lambda: parlance.TagParser(TAG),
    "ToolSet": lambda: parlance.ToolSet(TOOLS),
    "View": lambda: parlance.view("a", TEMPLATE),
    "Vocabulary": lambda: VOCABULARY,
    "Expression": lambda: jmespath.compile("a[*].b"),
}


class Tokenizer:
    """The smallest object that from_tokenizer accepts."""

    n_vocab = 3
    special_tokens_set = frozenset(["<end>"])

    def decode_single_token_bytes(self, token):
        return (b"a", b"b", b"<end>")[token]

    def encode_single_token(self, text):
        return 2

    def encode_ordinary(self, text):
        return [0] * len(text)


def rows():
    return numpy.zeros((2, WORDS), numpy.int32)


# Functions that make a valid value for an argument: by the name of the argument,
# or by entry point and name.
VALID = {
    "added_ids": list,
    "assert_formats": lambda: True,
    "attempts": lambda: True,
    "column": lambda: TextColumn(["a", None]),
    "Batch.add(matcher)": CONSTRAINT.matcher,
    "Batch.add(parser)": lambda: parlance.ResponseParser(
        TEMPLATE, "", vocabulary=VOCABULARY
    ),
    "Batch.remove(row)": lambda: 0,
    "Batch.step(rows)": lambda: [0],
    "Batch.step(tokens)": lambda: [97],
    "Batch.step(mask_rows)": lambda: [1],
    "Batch.step(drafts)": lambda: [([-1], [-1], [97])],
    "Batch.step(table)": lambda: parlance.MaskTable(COMPILER, 8),
    "MaskTable.copy_rows(begin)": lambda: 0,
    "MaskTable.id_of(matcher)": CONSTRAINT.matcher,
    "MaskTable(compiler)": lambda: COMPILER,
    "MaskTable(rows)": lambda: 8,
    "apply_mask_ids(ids)": lambda: [-1, -1],
    "apply_mask_ids(logits)": lambda: numpy.zeros((2, 32 * WORDS), numpy.float32),
    "apply_mask_ids(masks)": rows,
    "apply_mask_ids(table)": rows,
    "buffer": rows,
    "cache_bytes": lambda: 1 << 20,
    "cancelled": lambda: None,
    "chunk": lambda: 3,
    "clear_ended": lambda: True,
    "config": lambda: "{}",
    "view(constraint)": lambda: None,
    "view(response)": lambda: "ab",
    "View.save(path)": lambda: "made.html",
    "temperatures": lambda: numpy.zeros(64, numpy.float32),
    "time_limit": lambda: 1.5,
    "title": lambda: "A response",
    "control_ids": list,
    "default_temperature": lambda: 0.5,
    "documents": lambda: {"http://a/b": {"type": "integer"}},
    "draft": lambda: "7",
    "encoder": lambda: lambda text: [97] * len(text),
    "expression": lambda: "a[*].b",
    "family": lambda: "hermes",
    "first_child": lambda: [-1],
    "folder": lambda: "model",
    "generation_config": lambda: "{}",
    "grammar": lambda: GRAMMAR,
    "grammar_bytes": lambda: 1 << 20,
    "grammars": lambda: [GRAMMAR],
    "id": lambda: 97,
    "ids": lambda: [97, 98],
    "indent": lambda: 2,
    "key_order": lambda: "any",
    "limit": lambda: 10,
    "limits": lambda: {"steps": 1000},
    "logits": lambda: numpy.zeros((2, 32 * WORDS), numpy.float32),
    "markers": lambda: "token",
    "mask": rows,
    "HarmonyParser(vocabulary)": lambda: HARMONY,
    "parse_arrow(format)": lambda: "qwen3",
    "matchers": lambda: [CONSTRAINT.matcher(), CONSTRAINT.matcher()],
    "max_white_space": lambda: 2,
    "max_reasoning_tokens": lambda: 5,
    "message": lambda: {"content": "Hi."},
    "names": lambda: "reasoning",
    "next_sibling": lambda: [-1],
    "details": lambda: True,
    "parsers": lambda: [
        parlance.ResponseParser(TEMPLATE, ""),
        parlance.TagParser(TAG),
    ],
    "path": lambda: "tables",
    "pattern": lambda: "a+",
    "prefix": lambda: "<A><think>",
    "ranks": lambda: "YQ== 0\nYg== 1\n",
    "reasoning": lambda: "none",
    "text_with_calls": lambda: "between",
    "recover": lambda: True,
    "response": lambda: 'a</think><call:f>{"n": "1"}</call>b',
    "response_template": lambda: TEMPLATE,
    "role": lambda: "assistant",
    "root_rule": lambda: "root",
    "row": lambda: 1,
    "rows": lambda: [1, 0],
    "schema": lambda: {"type": "integer"},
    "separators": lambda: (",", ":"),
    "space": lambda: True,
    "special": lambda: {"<end>": 2},
    "special_ids": list,
    "spec": lambda: TEMPLATE,
    "spelling": lambda: "any",
    "seed": lambda: 1,
    "steps": lambda: 0,
    "stop_ids": lambda: [0],
    "stream_calls": lambda: True,
    "tag": lambda: TAG,
    "tags": lambda: [{"begin": "<f>", "schema": {}, "end": "</f>"}],
    "text": lambda: "ab",
    "threads": lambda: 1,
    "tokenizer": Tokenizer,
    "tokenizer_config": lambda: {"response_template": TEMPLATE},
    "rendered": lambda: "get_weather Reykjavik",
    "tokenizer_json": lambda: '{"model": {"type": "BPE", "vocab": {"a": 0}}}',
    "tokens": lambda: [b"a", b"b", None],
    "start": lambda: "start",
    "tool": lambda: "f",
    "response_format": lambda: {"type": "object"},
    "verify": lambda: False,
    "tool_choice": lambda: "auto",
    "tools": lambda: TOOLS,
    "triggers": lambda: ["<f"],
    "value": lambda: {"a": [{"b": 1}]},
    "vocab_size": lambda: 5,
    "vocab_type": lambda: "raw",
    "vocabulary": lambda: VOCABULARY,
    "walks": lambda: 2,
    # Truth values.
    **{
        name: lambda: False
        for name in (
            "any_order",
            "closed",
            "compact",
            "cut",
            "lenient",
            "parallel_tool_calls",
            "strict",
        )
    },
    "Compiler.compile_ebnf(text)": lambda: 'root ::= "a"',
    "Compiler.compile_gbnf(text)": lambda: 'root ::= "a"',
    "Compiler.compile_lark(text)": lambda: 'start: "a"',
    "Compiler.compile_lark(grammars)": lambda: {"b": 'start: "b"'},
    "Compiler.compile_structural_tag(spec)": lambda: TAG,
    "Grammar.from_ebnf(text)": lambda: 'root ::= "a"',
    "Grammar.from_gbnf(text)": lambda: 'root ::= "a"',
    "Grammar.from_lark(text)": lambda: 'start: "a"',
    "Grammar.from_lark(grammars)": lambda: {"b": 'start: "b"'},
    "Grammar.from_structural_tag(spec)": lambda: TAG,
    "Matcher.fill_tree(tokens)": lambda: [97],
    "ResponseParser.feed(text)": lambda: [97, 98],
    "ResponseParser.feed_deltas(text)": lambda: [97, 98],
    "feed_deltas(texts)": lambda: ["a", b"a"],
    "ResponseSchema(spec)": lambda: SCHEMA,
    "StructuralTag(spec)": lambda: TAG,
    "TagParser.feed(text)": lambda: "<t>a",
    "TagParser.feed_deltas(text)": lambda: "<t>a",
    "Vocabulary.from_file(path)": lambda: "model/tokenizer.json",
    "Compiler.constraint_from_bytes(data)": lambda: CONSTRAINT.to_bytes(),
    "Grammar.from_bytes(data)": lambda: GRAMMAR.to_bytes(),
    "Vocabulary.from_bytes(data)": lambda: VOCABULARY.to_bytes(),
    "Vocabulary.load(path)": lambda: "saved",
    "Vocabulary.save(path)": lambda: "made",
    "Vocabulary.from_text(text)": lambda: "YQ== 0\n",
    "Vocabulary.from_tokenizer_json(text)": lambda: (
        '{"model": {"type": "BPE", "vocab": {"a": 0}}}'
    ),
}

# Further valid calls, which reach other code: arguments in addition to those
# without a default, or (None) left out.
OTHER_CALLS = {
    "parse_response": [
        {"response": lambda: [97, 98], "vocabulary": VALID["vocabulary"]},
        {"response": lambda: ["a", "b"], "prefix": lambda: ["", "<A>"]},
        {
            "response": lambda: ["a", "b"],
            "prefix": lambda: ["", "<A>"],
            "details": lambda: True,
        },
        {"spec": lambda: SCHEMA, "prefix": None},
        {
            "spec": lambda: SCHEMA,
            "prefix": None,
            "response": lambda: ["a", "b"],
        },
    ],
    "ResponseParser": [{"vocabulary": VALID["vocabulary"]}],
    "TagParser": [{"vocabulary": VALID["vocabulary"]}],
    "Format.parser": [{"vocabulary": VALID["vocabulary"]}],
    "StructuralTag.parse": [
        {"response": lambda: [97], "vocabulary": VALID["vocabulary"]}
    ],
    "Grammar.captures": [
        {"text": lambda: [97], "vocabulary": VALID["vocabulary"]}
    ],
    "Grammar.from_json_schema": [
        {
            "schema": lambda: {"$ref": "http://a/b"},
            "documents": VALID["documents"],
        }
    ],
    "Grammar.from_lark": [
        {
            "text": lambda: 'start: "a" @b',
            "grammars": VALID["Grammar.from_lark(grammars)"],
        }
    ],
    "tool_calling": [{"tools": lambda: None}],
    "view": [
        {
            "response": lambda: [97, 98],
            "vocabulary": VALID["vocabulary"],
            "constraint": lambda: GRAMMAR,
        },
        {"response": lambda: [97], "spec": lambda: CONSTRAINT},
        {"spec": lambda: parlance.StructuralTag(TAG)},
        {"spec": lambda: GRAMMAR},
    ],
}


@dataclasses.dataclass(frozen=True)
class EntryPoint:
    name: str
    owner: str  # the class of the object that it is called on, or ""
    parameters: tuple  # (name, whether a call must have it)

    def find(self):
        found = parlance if hasattr(parlance, self.name.split(".")[0]) else jmespath
        if self.owner:
            found = MAKE[self.owner]()
            return getattr(found, self.name.split(".")[1])
        for part in self.name.split("."):
            found = getattr(found, part)
        return found

    def valid(self, parameter):
        return VALID.get(f"{self.name}({parameter})") or VALID[parameter]

    def calls(self):
        """Valid calls, as dicts of functions that make the arguments."""
        needed = {n: self.valid(n) for n, must in self.parameters if must}
        calls = [needed] + [
            needed | other for other in OTHER_CALLS.get(self.name, ())
        ]
        return [
            {name: make for name, make in call.items() if make is not None}
            for call in calls
        ]


def _parameters(function):
    """The names of arguments, and whether they are required."""
    if isinstance(function, type):
        function = function.__init__
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    if signature is None or "args" in signature.parameters:
        # Functions of the extension module have their signature in the first
        # line of the docstring; classes without a constructor have none.
        line = re.match(r"\w+\((.*)\) ->", function.__doc__.splitlines()[0])
        if line is None:
            return []
        tree = ast.parse(f"def f({line[1]}): pass").body[0].args
        named = tree.posonlyargs + tree.args
        must = len(named) - len(tree.defaults)
        out = [(a.arg, i < must) for i, a in enumerate(named)]
        out += [
            (a.arg, d is None) for a, d in zip(tree.kwonlyargs, tree.kw_defaults)
        ]
    else:
        out = [
            (name, p.default is p.empty)
            for name, p in signature.parameters.items()
        ]
    return [(name, must) for name, must in out if name != "self"]


# Second names of arguments, as in transformers; and arguments that are required
# although they have a default.
_ALIASES = {
    ("parse_response", "text"),
    ("parse_response", "response_template"),
    ("parse_response", "schema"),
    ("ResponseParser", "response_template"),
}
_NEEDED = {
    ("parse_response", "response"),
    ("parse_response", "spec"),
    ("parse_response", "prefix"),
    ("ResponseParser", "spec"),
    ("ResponseParser", "prefix"),
}


def _entry_point(name, owner, function):
    parameters = []
    for parameter, must in _parameters(function):
        if (name, parameter) in _ALIASES:
            continue
        must = must or (name, parameter) in _NEEDED
        if f"{name}({parameter})" not in VALID and parameter not in VALID:
            raise LookupError(
                f"no valid value is known for {name}({parameter}=): add it to VALID"
            )
        parameters.append((parameter, must))
    return EntryPoint(name, owner, tuple(parameters))


def entry_points():
    """Every entry point, sorted by name."""
    out = []
    for module in (parlance, jmespath):
        for name in module.__all__:
            found = getattr(module, name)
            if not isinstance(found, type):
                out.append(_entry_point(name, "", found))
                continue
            if issubclass(found, (BaseException, tuple)):
                continue  # raised or returned, never constructed by callers
            if name not in MAKE:
                raise LookupError(f"no way to make a {name} is known: add it to MAKE")
            if found.__init__ is not object.__init__:
                out.append(_entry_point(name, "", found))
            for member in dir(found):
                static = inspect.getattr_static(found, member)
                if member.startswith("_") or isinstance(static, property):
                    continue
                method = getattr(found, member)
                if not callable(method):
                    continue
                # A static method is called on its class.
                is_static = isinstance(static, staticmethod) or type(
                    static
                ).__name__ == "nb_func"
                owner = "" if is_static else name
                out.append(_entry_point(f"{name}.{member}", owner, method))
            for member in ("__contains__", "__eq__"):
                method = getattr(found, member, None)
                if method not in (None, getattr(object, member, None)):
                    parameter = "tool" if member == "__contains__" else "value"
                    out.append(
                        EntryPoint(f"{name}.{member}", name, ((parameter, True),))
                    )
    return sorted(out, key=lambda entry: entry.name)
