"""Calls every function of XGrammar's and llguidance's interfaces.

    python interface_examples.py xgrammar < [[module, name, member?], ...]

Writes a JSON list with a verdict for each name: "run", an example called it or it
is a type or a constant; "raised", its use raises an error that says what to use
instead; "untried", there is no example; "absent".
"""

import enum
import importlib
import inspect
import json
import logging
import sys
import typing
import warnings

import numpy
import parlance.integrations.llguidance
import parlance.integrations.xgrammar
import pydantic

warnings.simplefilter("ignore")
logging.disable()
called = set()
instances = []

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}


def xgrammar_examples():
    parlance.integrations.xgrammar.install()
    import xgrammar as xgr

    class Answer(pydantic.BaseModel):
        a: int

    tokens = ['{"', "a", '":', "1", "}", "</s>"]
    info = xgr.TokenizerInfo(tokens, xgr.VocabType.RAW, stop_token_ids=[5])
    tokenizer_info_examples(xgr, info)
    compiler = xgr.GrammarCompiler(info, max_threads=2)
    xgr.Grammar.from_json_schema(Answer, print_converted_ebnf=False)
    grammar = xgr.Grammar.from_ebnf('root ::= "a"')
    xgr.Grammar.concat(grammar, xgr.Grammar.from_regex("1"))
    xgr.Grammar.union(grammar, xgr.Grammar.from_lark('start: "1"'))
    xgr.Grammar.builtin_json_grammar()
    xgr.Grammar.deserialize_json(grammar.serialize_json())
    tag = xgr.StructuralTag(
        format=xgr.structural_tag.JSONSchemaFormat(json_schema=SCHEMA)
    )
    xgr.StructuralTag.from_json(tag.model_dump_json())
    item = xgr.StructuralTagItem(begin="<f>", schema=SCHEMA, end="</f>")
    xgr.StructuralTag.from_legacy_structural_tag([item], ["<f"])
    xgr.Grammar.from_structural_tag(tag)
    compiler.compile_regex("a")
    compiler.compile_grammar(grammar)
    compiler.compile_lark('start: "a"')
    compiler.compile_structural_tag([item], ["<f"])
    compiler.compile_builtin_json_grammar()
    compiled = compiler.compile_json_schema(Answer)
    compiler.get_cache_size_bytes(), compiler.cache_limit_bytes
    compiler.clear_cache()
    compiled.memory_size_bytes, compiled.grammar, compiled.tokenizer_info
    xgr.CompiledGrammar.deserialize_json(compiled.serialize_json(), info)

    matcher = xgr.GrammarMatcher(compiled)
    bitmask = xgr.allocate_token_bitmask(2, info.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    logits = numpy.zeros((2, info.vocab_size), numpy.float32)
    xgr.apply_token_bitmask_inplace(logits, bitmask)
    assert numpy.isfinite(logits[0]).tolist() == [True] + 5 * [False]
    xgr.get_bitmask_shape(1, 40), xgr.reset_token_bitmask(bitmask), xgr.bitmask_dtype
    assert matcher.accept_token(0) and matcher.accept_string("a")
    matcher.fork().rollback(1)
    assert matcher.find_jump_forward_string() == '"'
    matcher.is_terminated(), matcher.is_completed(), matcher.get_captures()
    matcher.temperature, matcher.stop_token_ids, matcher.max_rollback_tokens
    tree = [numpy.array(row, numpy.int64) for row in ([1, -1], [-1, -1], [1, 2])]
    matcher.traverse_draft_tree(*tree, bitmask)
    xgr.testing._traverse_draft_tree(*tree, matcher, bitmask)
    matcher.reset()
    batch = xgr.BatchGrammarMatcher(2)
    batch.batch_fill_next_token_bitmask([matcher], bitmask)
    out = numpy.zeros(1, numpy.float32)
    xgr.BatchGrammarMatcher.batch_fill_temperature([matcher], out)
    xgr.BatchGrammarMatcher.batch_accept_token([matcher], [0])
    xgr.BatchGrammarMatcher.batch_accept_string([matcher], ["a"])
    xgr.BatchGrammarMatcher.batch_rollback([matcher], [1])

    xgr.get_serialization_version()
    with xgr.max_recursion_depth(xgr.get_max_recursion_depth()):
        xgr.set_max_recursion_depth(1000)
    xgr.contrib.hf.LogitsProcessor(compiled)
    xgr.hf.LogitsProcessor([compiled])
    from xgrammar.contrib.mlxlm import XGrammarLogitsProcessor

    XGrammarLogitsProcessor(compiled)
    kernel_examples(logits, bitmask)
    mask = xgr.testing.bitmask_to_bool_mask(bitmask, info.vocab_size)
    xgr.testing.bool_mask_to_bitmask(mask)
    tag_examples(xgr)


def tokenizer_info_examples(xgr, info):
    xgr.TokenizerInfo.from_vocab_and_metadata(info.decoded_vocab, info.dump_metadata())
    xgr.TokenizerInfo.deserialize_json(info.serialize_json())
    info.add_prefix_space, info.prepend_space_in_tokenization, info.stop_token_ids
    info.special_token_ids, info.vocab_type, info.vocab_size
    import tokenizers
    import transformers

    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"a": 0}, merges=[]))
    backend.decoder = tokenizers.decoders.ByteLevel()
    backend.add_special_tokens(["<end>"])
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>"
    )
    xgr.TokenizerInfo.from_huggingface(made, vocab_size=40)
    xgr.TokenizerInfo._detect_metadata_from_hf(backend.to_str())


def kernel_examples(logits, bitmask):
    for kind in ("cpu", "cuda", "torch", "torch_compile", "triton"):
        name = "apply_token_bitmask_inplace_" + kind
        module = importlib.import_module("xgrammar.kernels." + name)
        getattr(module, name)(logits, bitmask)
    from xgrammar.kernels.apply_token_bitmask_mlx import apply_token_bitmask_mlx

    try:
        import mlx.core as mx
    except ImportError:
        called.add(apply_token_bitmask_mlx.__code__)
    else:
        apply_token_bitmask_mlx(mx.array(bitmask), mx.array(logits), 6)


def tag_examples(xgr):
    xgr.normalize_tool_choice([TOOL], "required")
    xgr.get_builtin_structural_tag("llama", [TOOL])
    xgr.register_model_structural_tag("mine")(lambda *args, **options: None)
    tags = xgr.builtin_structural_tag
    from xgrammar.openai_tool_call_schema import FunctionToolParam

    function = FunctionToolParam.model_validate(TOOL)
    for model in STYLES:
        for reasoning in (True, False, "enabled", "disabled", "auto"):
            for choice in (None, "auto", "none", "required", NAMED, ALLOWED):
                tag = xgr.get_model_structural_tag(
                    model, [TOOL], choice, reasoning, any_order=True, max_whitespace_cnt=2
                )
                xgr.Grammar.from_structural_tag(tag)
        made = getattr(tags, f"get_{model}_structural_tag")([function])
        assert made == xgr.get_model_structural_tag(model, [TOOL])
        # What makes the tags of all models.
        called.add((tags, model))


NAMED = {"type": "function", "function": {"name": "f"}}
ALLOWED = {
    "type": "allowed_tools",
    "allowed_tools": {"mode": "required", "tools": [NAMED]},
}
STYLES = (
    "cohere deepseek_r1 deepseek_v3_1 deepseek_v3_2 deepseek_v4 deepseek_v4_1 exaone "
    "glm_4_7 harmony kimi kimi_k3 llama mimo minimax minimax_m3 qwen_3 qwen_3_5 "
    "qwen_3_coder"
).split()


def llguidance_examples():
    parlance.integrations.llguidance.install()
    import llguidance as llg
    import llguidance.mlx
    import llguidance.numpy as masks

    made = llg.LLTokenizer("byte", 300)
    instances.extend([made, llg.LLParserLimits(step_max_items=7)])
    assert (made.vocab_size, made.eos_token, made.eos_tokens) == (300, 261, [261])
    assert made.is_canonical and made.with_slices(made.general_slices()) is made
    assert made.json_slices() == []
    assert made.greedy_tokenize("é") == made.tokenize_bytes("é".encode()) == [195, 169]
    assert made.tokenize_str("a<|tool|>", parse_special=True) == [97, 256]
    assert made.dbg_tokens([97, 256]) == f"⟦{made.test_trace_tokens([97, 256])}⟧"
    assert made.decode_bytes([97, 256]).decode() == made.decode_str([97, 256])
    assert made.is_special_token(256) and not made.is_special_token(97)
    assert made.tokenize_partial(b"ab") == ([97, 98], b"")
    assert llg.LLTokenizer(llg.TokenizerWrapper(Words())).tokenize_str("ab") == [0, 1]
    llguidance_tokenizers(llg)

    matcher = llg.LLMatcher(made, llg.LLMatcher.grammar_from_regex("ab?c*"))
    assert (matcher.compute_ff_tokens(), matcher.compute_ff_bytes()) == ([97], b"a")
    assert len(matcher.compute_bitmask()) == 40
    assert [i for i, bias in enumerate(matcher.compute_logit_bias()) if bias] == [97]
    assert matcher.stop_reason() == "NotStopped" and matcher.consume_token(97)
    assert matcher.validate_tokens([98, 99]) == matcher.try_consume_tokens([98, 99])
    assert matcher.rollback(2) and matcher.consume_tokens([261])
    assert matcher.stop_reason() == "EndOfSentence" and matcher.reset()
    matcher.deep_copy(), matcher.get_error(), matcher.is_error()
    matcher.is_accepting(), matcher.is_stopped(), matcher.get_grammar_warnings()
    lark = llg.LLMatcher.grammar_from_lark("start: a\na[capture]: /x+/")
    other = llg.LLMatcher(made, lark)
    assert other.consume_tokens([120, 120]) and other.get_capture("a") == b"xx"
    assert other.get_captures() == [("a", b"xx")] and other.get_capture("b") is None
    assert llg.LLMatcher.validate_grammar_with_warnings("start: x")[0]
    assert llg.LLMatcher.validate_grammar(
        llg.LLMatcher.grammar_from_json_schema(SCHEMA)
    ) == ""

    rows = masks.allocate_token_bitmask(3, made.vocab_size)
    assert rows.shape == masks.get_bitmask_shape(3, made.vocab_size)
    executor = llg.LLExecutor(2)
    masks.fill_next_token_bitmask(matcher, rows, 1)
    masks.fill_next_token_bitmask_par(executor, [(matcher, 0), (other, 2)], rows)
    assert (rows[0] == rows[1]).all()
    masks.fill_next_token_bitmask_par_with_draft_tokens(
        executor, [(matcher, 0, [97, 98])], rows
    )
    logits = numpy.zeros((3, made.vocab_size), numpy.float32)
    masks.apply_token_bitmask_inplace(logits, rows)
    allowed = [numpy.flatnonzero(numpy.isfinite(row)).tolist() for row in logits]
    assert allowed == [[97], [98, 99, 261], [99, 261]]
    assert masks.consume_token_par(executor, [(matcher, 97)]) == [True]
    executor.consume_token_par([(matcher, 98)])
    try:
        import torch  # noqa: F401
    except ImportError:
        called.update(f.__code__ for f in functions_of("llguidance.torch"))
    try:
        import mlx.core as mx
    except ImportError:
        called.update(f.__code__ for f in functions_of("llguidance.mlx"))
    else:
        llguidance.mlx.apply_token_bitmask(mx.array(logits), rows)

    text = '{"type": "integer"}'
    assert llg.LLMatcher.validate_grammar(llg.JsonCompiler().compile(text)) == ""
    llg.LarkCompiler().compile('start: "a"'), llg.RegexCompiler().compile("a")
    tag = llg.StructTag(trigger="[f", begin="[f]", grammar="start: /x/", end="!")
    call = llg.LLMatcher(made, llg.StructTag.to_grammar([tag]))
    assert call.consume_tokens(b"so [f]x! so") and not call.consume_tokens(b"[f]y")
    llg.get_version(), llg.GrammarFormat, llg.grammar_from("choice", '["a"]')
    from llguidance import gbnf_to_lark

    gbnf_to_lark.gbnf_to_lark('root ::= "a"')
    gbnf_to_lark.any_to_lark('start: "a"')


def functions_of(module):
    members = vars(importlib.import_module(module)).values()
    return [one for one in members if inspect.isfunction(one)]


class Words:
    tokens = [b"a", b"b", b"<e>"]
    eos_token_id, bos_token_id = 2, None

    def __call__(self, text):
        return [b"ab".find(byte) for byte in text]


def llguidance_tokenizers(llg):
    import llguidance.hf
    import tokenizers
    import transformers

    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"a": 0}, merges=[]))
    backend.decoder = tokenizers.decoders.ByteLevel()
    backend.add_special_tokens(["<end>"])
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>"
    )
    assert llguidance.hf.from_tokenizer(made).tokenize_str("a") == [0]
    import llguidance.tiktoken

    class Encoding:  # as far as tiktoken's is asked
        eot_token, n_vocab, special_tokens_set = 1, 2, {"<e>"}
        encode_single_token = staticmethod({"<e>": 1}.get)
        encode_ordinary = staticmethod(lambda text: [0] * len(text))
        decode_single_token_bytes = staticmethod([b"a", b"<e>"].__getitem__)

    made = llguidance.tiktoken.lltokenizer_from_encoding(Encoding())
    assert made.tokenize_str("aa") == [0, 0]
    assert llg.LLTokenizer.from_tiktoken({b"a": 0}, {"<e>": 1}, "", 1).vocab_size == 2


# ---- Verdicts


def verdict(module, name, member=None):
    try:
        found = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        return "raised" if str(error).startswith("there is no ") else "absent"
    except AttributeError:
        return "absent"
    if (getattr(found, "__doc__", None) or "").startswith("there is no "):
        return "raised" if raises(found, member) else "absent"
    if member is not None:
        return verdict_of_member(found, member)
    if inspect.isclass(found) or typing.get_origin(found) is not None:
        return "run"
    return verdict_of(found)


def raises(absent, member):
    try:
        absent() if member is None else getattr(absent, member)
    except (ValueError, AttributeError) as error:
        return str(error) == absent.__doc__
    return False


def verdict_of_member(owner, member):
    if member in getattr(owner, "model_fields", {}):
        return "run"
    if any(isinstance(one, owner) and hasattr(one, member) for one in instances):
        return "run"
    try:
        found = inspect.getattr_static(owner, member)
    except AttributeError:
        return "absent"
    if issubclass(owner, enum.Enum):
        return "run"
    return verdict_of(getattr(found, "fget", None) or getattr(found, "__func__", found))


def verdict_of(found):
    if not callable(found) or (inspect.ismodule(found)):
        return "run"
    found = inspect.unwrap(getattr(found, "func", found))
    return "run" if getattr(found, "__code__", None) in called else "untried"


def main(which):
    names = json.load(sys.stdin)
    sys.setprofile(lambda frame, event, arg: called.add(frame.f_code))
    {"xgrammar": xgrammar_examples, "llguidance": llguidance_examples}[which]()
    sys.setprofile(None)
    json.dump([verdict(*name) for name in names], sys.stdout)


main(sys.argv[1])
