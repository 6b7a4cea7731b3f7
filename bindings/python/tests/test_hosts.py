"""What hosts meet: a matcher's error, drafts, ends inside a character, and what
clients send.

vLLM and SGLang are not installed: modules that have what the plug-ins import stand
in for them.
"""

import gc
import importlib
import json
import logging
import sys
import types
import weakref

import numpy
import parlance
import pytest
from parlance.integrations import _stream, llguidance, transformers, xgrammar
from parlance.integrations._follow import Appended

TOKENS = [bytes([byte]) for byte in range(256)]
STOP = 256
VOCABULARY = parlance.Vocabulary(
    [*TOKENS, b"</s>"], control_ids=[STOP], stop_ids=[STOP]
)
COMPILER = parlance.Compiler(VOCABULARY)
ONE_OF = {
    "oneOf": [
        {"required": [f"k{i}"], "properties": {f"k{i}": {"minimum": i}}}
        for i in range(300)
    ]
}
LIST = json.dumps({"type": "array", "items": ONE_OF})
LIMITS = {"work": 5000}  # too little for the mask after "["


def failing():
    """A constraint of which it cannot be decided what follows ``[``."""
    return parlance.Compiler(VOCABULARY).compile_json_schema(LIST, limits=LIMITS)


def tokens_in(row):
    bits = numpy.unpackbits(numpy.asarray(row).view(numpy.uint8), bitorder="little")
    return numpy.flatnonzero(bits).tolist()


# ---- Stand-ins


class StandIn(types.ModuleType):
    """A module that has a class for every name."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made


class Names:
    def __init__(self, **names):
        self.__dict__.update(names)


@pytest.fixture
def stand_ins(monkeypatch):
    """A function that puts modules in place and imports one of the plug-ins'."""

    def made(package, module, names):
        torch = StandIn("torch")
        torch.from_numpy = lambda array: array
        for name in ["torch", *names]:
            while name:
                if name not in sys.modules or name == "torch":
                    found = torch if name == "torch" else StandIn(name)
                    monkeypatch.setitem(sys.modules, name, found)
                name = name.rpartition(".")[0]
        for name, values in names.items():
            for key, value in values.items():
                setattr(sys.modules[name], key, value)
        own = f"parlance.integrations.{package}."
        for name in [n for n in sys.modules if n.startswith(own)]:
            monkeypatch.delitem(sys.modules, name)
        yield_from.append(own)
        return importlib.import_module(own + module)

    yield_from = []
    yield made
    for own in yield_from:
        for name in [n for n in sys.modules if n.startswith(own)]:
            del sys.modules[name]


class Refused(ValueError):
    def __init__(self, message, parameter=None):
        super().__init__(message)
        self.parameter = parameter


VLLM = "vllm.v1.structured_output"


@pytest.fixture
def vllm(stand_ins):
    logger = logging.getLogger("vllm.parlance")
    return stand_ins(
        "vllm",
        "backend",
        {
            "vllm.exceptions": {"VLLMValidationError": Refused},
            "vllm.logger": {"init_logger": lambda name: logger},
            "vllm.envs": {},
            "vllm.sampling_params": {},
            "vllm.entrypoints.openai.chat_completion.protocol": {},
            "vllm.tool_parsers.tool_strict_level": {},
            "vllm.tool_parsers.utils": {},
            VLLM: {},
            f"{VLLM}.backend_types": {
                "StructuredOutputOptions": Names(
                    JSON_OBJECT=0, JSON=1, REGEX=2, GRAMMAR=3, CHOICE=4, STRUCTURAL_TAG=5
                )
            },
            f"{VLLM}.request": {"get_structured_output_key": lambda params: params},
            f"{VLLM}.utils": {
                "grammar_is_likely_lark": lambda text: "::=" not in text,
                "strip_speculative_padding": lambda ids: [i for i in ids if i != -1],
            },
        },
    )


class SglangGrammar:
    def __init__(self):
        self.current_token = self.finished = None


@pytest.fixture
def sglang(stand_ins):
    invalid = type("InvalidGrammarObject", (str,), {})
    names = "sglang.srt."
    return stand_ins(
        "sglang",
        "backend",
        {
            f"{names}constrained.base_grammar_backend": {
                "BaseGrammarObject": SglangGrammar,
                "InvalidGrammarObject": invalid,
                "GrammarStats": lambda **options: None,
            },
            f"{names}constrained.reasoner_grammar_backend": {},
            f"{names}constrained.torch_ops.token_filter_torch_ops": {},
            f"{names}parser.reasoning_parser": {},
            f"{names}runtime_context": {},
            f"{names}utils.common": {},
        },
    )


# ---- A matcher's error: said, and the mask allows an end only


def test_an_error_in_llguidance():
    tokenizer = llguidance.LLTokenizer(VOCABULARY)
    grammar = llguidance._grammars._grammar("json_schema", LIST, limits=LIMITS)
    matcher = llguidance.LLMatcher(tokenizer, grammar)
    assert matcher.consume_token(ord("[")) and not matcher.is_error()
    row = numpy.zeros(9, numpy.int32)
    matcher.fill_row(row)
    assert tokens_in(row) == [STOP]
    assert matcher.is_error() and "GrammarLimits::work" in matcher.get_error()
    assert matcher.is_stopped() and not matcher.is_accepting()
    assert not matcher.consume_token(ord("]")) and matcher.validate_tokens([1]) == 0
    assert matcher.try_consume_tokens([STOP]) == 0
    row[:] = 0
    matcher.deep_copy().fill_row(row)
    assert tokens_in(row) == [STOP]


def test_less_than_no_tokens_are_undone():
    tokenizer = llguidance.LLTokenizer(VOCABULARY)
    matcher = llguidance.LLMatcher(tokenizer, llguidance.grammar_from("regex", "ab"))
    assert matcher.consume_token(ord("a"))
    assert not matcher.rollback(-1) and not matcher.is_stopped()
    appended = Appended(parlance.Grammar.from_regex("ab").compile(VOCABULARY).matcher())
    assert appended.accept([ord("a")]) == 1
    assert not appended.rollback(-1) and appended.unread == 0
    assert appended.accept([ord("b")]) == 1 and appended.rollback(2)


@pytest.mark.parametrize("without_stop", [False, True])
def test_an_error_in_xgrammar(without_stop, caplog):
    info = xgrammar.TokenizerInfo([*TOKENS, b"</s>"], stop_token_ids=[STOP])
    compiled = xgrammar.GrammarCompiler(info).compile_grammar('root ::= "x"')
    compiled.constraint = failing()
    matcher = xgrammar.GrammarMatcher(
        compiled, terminate_without_stop_token=without_stop
    )
    assert matcher.accept_token(ord("[")) and not matcher.is_terminated()
    row = numpy.zeros((1, 9), numpy.int32)
    assert matcher.fill_next_token_bitmask(row)
    assert tokens_in(row[0]) == [STOP]
    assert "GrammarLimits::work" in caplog.text and len(caplog.records) == 1
    # A host that waits for the end gets there, by the only token of the mask.
    assert matcher.is_terminated() is without_stop and not matcher.is_completed()
    xgrammar.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher], row)
    assert tokens_in(row[0]) == [STOP]
    assert not matcher.accept_token(ord("]"))
    assert matcher.accept_token(STOP)
    assert matcher.is_terminated() and not matcher.is_completed()
    assert len(caplog.records) == 1


def test_an_error_is_no_verdict(monkeypatch):
    from parlance.integrations.xgrammar import testing

    matcher = Names(
        matcher=Names(error=ValueError("too much")),
        accept_string=lambda text: True,
        is_terminated=lambda: True,
    )
    monkeypatch.setattr(testing, "_get_matcher_from_grammar", lambda grammar: matcher)
    with pytest.raises(RuntimeError, match="too much"):
        testing._is_grammar_accept_string('root ::= "a"', "a")


def test_an_error_in_processors(caplog):
    constraint = failing()
    sound = COMPILER.compile_regex("[ab]+")
    processor = transformers.LogitsProcessor([constraint, sound])
    ids = numpy.array([[1, ord("[")], [1, ord("a")]])
    processor(ids[:, :1], numpy.zeros((2, 288), "f"))
    assert processor.errors == []
    for _ in range(2):
        scores = processor(ids, numpy.zeros((2, 288), "f"))
        allowed = [numpy.flatnonzero(row == 0).tolist() for row in scores]
        assert allowed == [[STOP], [ord("a"), ord("b"), STOP]]
        ((row, error),) = processor.errors
        assert row == 0 and error.code == "too_large"
    assert not processor.mismatches and not processor.finished
    assert len(caplog.records) == 1 and "GrammarLimits::work" in caplog.text
    ended = numpy.array([[1, ord("["), STOP], [1, ord("a"), STOP]])
    processor(ended, numpy.zeros((2, 288), "f"))
    assert processor.finished
    # Without a token that ends it, nothing is allowed to come: an exception.
    processor = transformers.LogitsProcessor(constraint.matcher(stop_ids=[]))
    processor(ids[:1, :1], numpy.zeros((1, 288), "f"))
    with pytest.raises(parlance.GrammarError, match="GrammarLimits::work"):
        processor(ids[:1], numpy.zeros((1, 288), "f"))


def test_an_error_in_vllm(vllm, caplog):
    backend = Names(array_of=lambda mask: mask, fills_drafts=False)
    row = numpy.zeros((1, 9), numpy.int32)
    for stops, allowed in (None, [STOP]), ([], list(range(288))):
        caplog.clear()
        matcher = failing().matcher(stop_ids=stops)
        grammar = vllm.ParlanceGrammar(backend, matcher)
        assert grammar.accept_tokens("r", [ord("[")])
        grammar.fill_bitmask(row, 0)
        assert tokens_in(row[0]) == allowed
        # The end that the mask allows is no end: vLLM ends the request by an error.
        assert not grammar.accept_tokens("r", [STOP])
        assert "request r" in caplog.text and "GrammarLimits::work" in caplog.text


def test_drafts_in_vllm(vllm):
    backend = Names(array_of=lambda mask: mask, fills_drafts=False)
    grammar = vllm.ParlanceGrammar(backend, failing().matcher())
    assert grammar.accept_tokens("r", [ord("[")])
    assert grammar.validate_tokens([ord("{"), ord('"'), -1]) in ([], [ord("{")])
    # vLLM asserts that each draft is accepted, and undoes as many.
    backend.fills_drafts = True
    for token in b'{"k0"':
        assert grammar.accept_tokens("r", [token])
    grammar.rollback(5)
    backend.fills_drafts = False
    assert grammar.matcher.steps() == 1
    # Tokens after the end count as steps, too.
    grammar = vllm.ParlanceGrammar(backend, COMPILER.compile_regex("ab").matcher())
    assert grammar.accept_tokens("r", [97, 98, STOP, 5, 6])
    assert grammar.accept_tokens("r", [7]) and grammar.is_terminated()
    grammar.rollback(5)
    assert grammar.matcher.steps() == 1 and not grammar.is_terminated()
    assert grammar.accept_tokens("r", [98])


def test_an_error_in_sglang(sglang, caplog):
    grammar = sglang.ParlanceGrammar(failing().matcher(), None)
    mask = Names(numpy=lambda: row)
    row = numpy.zeros((1, 9), numpy.int32)
    grammar.accept_token(ord("["))
    grammar.fill_vocab_mask(mask, 0)
    assert tokens_in(row[0]) == [STOP]
    with pytest.raises(ValueError, match="GrammarLimits::work"):
        grammar.accept_token(STOP)
    # Nothing catches that where drafts are tried: the text ends, and the log says why.
    grammar = sglang.ParlanceGrammar(failing().matcher(), None, drafts=True)
    grammar.accept_token(ord("["))
    grammar.fill_vocab_mask(mask, 0)
    caplog.clear()
    for token in (STOP, ord("{")):
        grammar.accept_token(token)
        grammar.rollback(1)
    grammar.copy().accept_token(STOP)
    assert "GrammarLimits::work" in caplog.text and grammar.matcher.steps() == 1
    grammar.accept_token(STOP)
    assert grammar.is_terminated()
    # A token that does not fit is one where the mask was not applied.
    grammar = sglang.ParlanceGrammar(COMPILER.compile_regex("ab").matcher(), None)
    for _ in range(2):
        with pytest.raises(ValueError, match="does not fit"):
            grammar.accept_token(98)
    grammar.accept_token(97)
    assert grammar.matcher.steps() == 1


# ---- What clients send


def nested(levels):
    return '{"content":' * levels + "1" + "}" * levels


HOSTILE = [
    "[1]", "1", '"x"', "null", "{", "", nested(100), nested(200_000),
    '{"format":' + nested(500) + "}", '{"type": "structural_tag", "format": [1]}',
    '{"structures": 1}', '{"structures": [1], "triggers": 1}',
    '{"structures": [{"begin": 1, "end": 1}], "triggers": [1]}',
    '{"format": {"type": "tag", "content": {"elements": 1, "tags": {"a": 1}}}}',
]  # fmt: skip


def sglang_backend(sglang):
    backend = sglang.ParlanceGrammarBackend.__new__(sglang.ParlanceGrammarBackend)
    backend.compiler, backend._json, backend._drafts = COMPILER, {}, False
    return backend


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:30] or "empty")
def test_hostile_texts(vllm, sglang, text):
    """Each has an answer, and none ends a loop of the host."""
    backend = sglang_backend(sglang)
    for kind in ("json", "regex", "ebnf", "structural_tag"):
        answer = getattr(backend, "dispatch_" + kind)(text)
        invalid = isinstance(answer, sglang.InvalidGrammarObject)
        assert invalid or isinstance(answer, sglang.ParlanceGrammar)
        assert invalid or kind != "structural_tag"
    for kind in range(1, 6):
        params = Names(structured_outputs=(kind, text))
        try:
            vllm.validate(params)
        except Refused:
            pass
        else:
            assert kind != 5
    tokenizer = llguidance.LLTokenizer(VOCABULARY)
    for grammar in (text, json.dumps({"parlance": ["nope", text, {}]})):
        assert isinstance(llguidance.LLMatcher(tokenizer, grammar).get_error(), str)
        assert isinstance(llguidance.LLMatcher.validate_grammar(grammar, tokenizer), str)
        assert isinstance(llguidance.LLMatcher.validate_grammar(grammar), str)


# ---- Inside a character

WAVE = "\N{WATER WAVE}"


def test_a_text_that_must_come_is_none_inside_a_character(sglang):
    constraint = COMPILER.compile_regex(f"({WAVE}|x)!")
    first = WAVE.encode()[0]
    info = xgrammar.TokenizerInfo([*TOKENS, b"</s>"], stop_token_ids=[STOP])
    compiled = xgrammar.GrammarCompiler(info).compile_regex(f"({WAVE}|x)!")
    matcher = xgrammar.GrammarMatcher(compiled)
    assert matcher.accept_token(first) and matcher.find_jump_forward_string() == ""
    assert matcher.accept_string(WAVE.encode()[1:])
    assert matcher.find_jump_forward_string() == "!"
    grammar = sglang.ParlanceGrammar(constraint.matcher(), None)
    grammar.accept_token(first)
    assert grammar.try_jump_forward(None) is None
    for byte in WAVE.encode()[1:]:
        grammar.accept_token(byte)
    assert grammar.try_jump_forward(None) == ([], "!")
    # Ids of another tokenizer may spell another text: the next token says so.
    grammar.jump_and_retokenize([], [32, 33], None)
    with pytest.raises(ValueError, match="does not fit"):
        grammar.accept_token(STOP)


def test_forced_tokens_inside_a_character(monkeypatch):
    texts = []
    failures = []
    monkeypatch.setattr(sys, "unraisablehook", failures.append)

    def encode(text):
        texts.append(text)
        return list(text.encode())

    vocabulary = VOCABULARY.with_encoder(encode)
    constraint = parlance.Compiler(vocabulary).compile_json_schema(
        {"enum": ["\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL X}", "\u65e5"]}
    )
    for text in ("\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL X}", "\u65e5"):
        for cut in range(1, len(text.encode()) + 1):
            matcher = constraint.matcher()
            assert matcher.accept_bytes(b'"' + text.encode()[:cut])
            rest = text.encode()[cut:] + b'"'
            assert matcher.forced_bytes() == rest
            # Each byte is one token, and no other begins with it.
            forced = matcher.forced_tokens()
            assert bytes(forced) == rest
            assert matcher.accept_tokens(forced) == len(forced)
    assert texts and not failures


def test_forced_tokens_are_accepted_ones():
    vocabulary = parlance.Vocabulary(
        [b"a", b"b", b"c", b"ab", b"<x>", b"</s>"], added_ids=[4], control_ids=[5]
    )
    for encoder in (None, lambda text: ["abc".index(c) for c in text]):
        for stops in ([5], [1, 5], [0, 1], [4], []):
            compiler = parlance.Compiler(
                vocabulary.with_encoder(encoder), stop_ids=stops
            )
            constraint = compiler.compile_regex("abcabc")
            for own in (None, [], [5], [1], [2, 5], [3], [4]):
                matcher = constraint.matcher(stop_ids=own)
                forced = matcher.forced_tokens()
                assert matcher.accept_tokens(forced) == len(forced), (stops, own)


# ---- Text that no ids came for


def model_of_tokens(tokens):
    """A model whose tokenizer would write other texts: composed, after a space."""
    model = _stream.Model(None, "qwen3", by_text=True)
    vocabulary = parlance.Vocabulary(
        [*TOKENS, *tokens, b"<|im_end|>"], control_ids=[256 + len(tokens)]
    )
    wrong = lambda text: [32, *text.replace("e\u0301", "\u00e9").encode()]  # noqa: E731
    model.vocabulary = vocabulary.with_encoder(wrong)
    return model


@pytest.mark.parametrize(
    ("tokens", "ids", "texts"),
    [
        ([b"hello"], [256], ["hel"]),
        ([b"e\xcc\x81llo"], [256], ["e\u0301l"]),
        ([b"\xf0\x9f", b"\x8c\x8a!stop"], [256, 257], [WAVE + "!"]),
        ([b"\xf0\x9f", b"\x8c\x8astop"], [256, 257], ["", WAVE]),
        ([b"a \xf0\x9f", b"\x8c\x8astop"], [256, 257], ["a ", WAVE]),
        ([b"<think", b">Hm.</think>\xe2", b"\x82\xac100"], [257], [">Hm.</th"]),
        ([], [], ["", "e\u0301 " + WAVE]),
    ],
)
def test_text_that_ends_inside_a_token(tokens, ids, texts):
    stream = _stream.Stream(model_of_tokens(tokens), "", reasoning=False)
    deltas = stream.feed("a", [97])
    for i, text in enumerate(texts):
        last = i == len(texts) - 1
        deltas += stream.feed(text, ids[i:] if last else ids[i : i + 1], finished=last)
    assert _stream.joined(deltas)[1] == "a" + "".join(texts)


def test_any_bytes_are_spelled():
    model = model_of_tokens([b"\xf0\x9f", b"hello"])
    for data in (b"", b"\x9f\xf0\x9fhellohell\xff", bytes(range(256))):
        ids = model.spelled(data)
        assert b"".join(map(model.spelling, ids)) == data
    model.vocabulary = parlance.Vocabulary([b"a", b"ab"])
    del model._words_of_bytes
    assert model.spelled(b"abxa") == [1, 2, 0]


# ---- Caches by tokenizer


class Slow:
    """A tokenizer that is read by its methods, which an encoder keeps."""

    byte_decoder = ()
    eos_token_id = 2
    name_or_path = ""
    chat_template = None

    def __len__(self):
        return 3

    def convert_ids_to_tokens(self, ids):
        return ["a", "b", "<|im_end|>"]

    @property
    def added_tokens_decoder(self):
        return {2: Names(content="<|im_end|>", special=True)}

    def encode(self, text, **options):
        return [0]


def is_released(use):
    tokenizer = Slow()
    known = weakref.ref(tokenizer)
    use(tokenizer)
    del tokenizer
    gc.collect()
    return known() is None


def test_a_cached_model_does_not_keep_its_tokenizer(stand_ins):
    def by_id(tokenizer):
        model = _stream.Model(tokenizer, "qwen3")
        assert model.vocabulary is not None
        cache[tokenizer] = model
        stream = _stream.Stream(model, "")
        assert _stream.joined(stream.feed("ab", [0, 1], finished=True))[1] == "ab"

    cache = weakref.WeakKeyDictionary()
    assert is_released(by_id) and not cache
    assert is_released(
        lambda one: cache.update({one: _stream.Model(one, "qwen3", by_text=True)})
    )
    from parlance.integrations import _transformers_serve as serve

    assert is_released(lambda one: serve._compiler_of(one, [2]))


def test_tools_of_a_request_that_are_no_list():
    from parlance.integrations import _transformers_serve as serve

    for tools in (5, True, "f", {"a": 1}, [5], [{"type": "function", "function": 5}]):
        request = serve._chat_request({"tools": tools, "tool_choice": "required"})
        assert request.is_constrained()
        with pytest.raises(Exception, match="tools") as caught:
            request.format([lambda: parlance.Format("qwen3")])
        assert caught.value.status_code == 400
    for tools in (5, True, "f", {"a": 1}):
        assert serve._chat_request({"tools": tools}).is_constrained()
