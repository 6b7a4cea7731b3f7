"""Helpers for tests, by XGrammar's names.

Those that show XGrammar's own inside (its automata, and the passes over its
grammars) are not here.
"""

from __future__ import annotations

import json
import time

from .. import _alias
from .compiler import GrammarCompiler
from .grammar import Grammar, schema_text
from .matcher import GrammarMatcher
from .tokenizer_info import TokenizerInfo

__all__ = ["bitmask_to_bool_mask", "bool_mask_to_bitmask"]

__getattr__ = _alias.names_of(
    __name__,
    absent={"GrammarFunctor": "Parlance compiles a grammar by other passes"},
)


def _json_schema_to_ebnf(schema, *, json_format="json", **options):
    """The EBNF of a JSON Schema, as ``Grammar`` prints it.  Another format than
    ``"json"`` is a style of structural tags."""
    if json_format == "json":
        return str(Grammar.from_json_schema(schema, **options))
    names = ("any_order", "max_whitespace_cnt")
    part = {name: options[name] for name in names if name in options}
    part["type"], part["style"] = "json_schema", json_format
    part["json_schema"] = json.loads(schema_text(schema))
    return str(Grammar.from_structural_tag({"type": "structural_tag", "format": part}))


def _regex_to_ebnf(regex):
    """The EBNF of a regular expression, as ``Grammar`` prints it."""
    return str(Grammar.from_regex(regex))


def _get_matcher_from_grammar(grammar, **options):
    """A matcher of texts, without a vocabulary."""
    return _get_matcher_from_grammar_and_tokenizer_info(
        grammar, None, terminate_without_stop_token=True, **options
    )


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar, tokenizer_info=None, **options
):
    """A matcher for a ``Grammar`` or EBNF text."""
    if tokenizer_info is None:
        tokenizer_info = TokenizerInfo([])
    compiler = GrammarCompiler(tokenizer_info, cache_enabled=False)
    return GrammarMatcher(compiler.compile_grammar(grammar), **options)


def _is_grammar_accept_string(
    grammar,
    input_str,
    *,
    debug_print=False,
    print_time=False,
    require_termination=True,
):
    """Whether a text is in the language, or, without ``require_termination``,
    the beginning of one that is."""
    matcher = _get_matcher_from_grammar(grammar)
    begin = time.monotonic()
    accepted = matcher.accept_string(input_str)
    if print_time:
        print(f"accept_string: {accepted}, {(time.monotonic() - begin) * 1e6:.0f} us")
    whole = not require_termination or matcher.is_terminated()
    if matcher.matcher.error is not None:
        raise RuntimeError(str(matcher.matcher.error))
    return accepted and whole


def _row(bitmask, index):
    return bitmask if len(bitmask.shape) == 1 else bitmask[index]


def _bits(bitmask, vocab_size, index):
    for i, word in enumerate(_row(bitmask, index).tolist()):
        for bit in range(min(32, vocab_size - 32 * i)):
            yield 32 * i + bit, word >> bit & 1


def _get_masked_tokens_from_bitmask(bitmask, vocab_size, index=0):
    """The ids that a row of a bitmask refuses."""
    return [i for i, bit in _bits(bitmask, vocab_size, index) if not bit]


def _is_single_token_bitmask(bitmask, vocab_size, index=0):
    """Whether a row allows one token, and its id, or -1."""
    allowed = [i for i, bit in _bits(bitmask, vocab_size, index) if bit]
    return (True, allowed[0]) if len(allowed) == 1 else (False, -1)


def bool_mask_to_bitmask(bool_mask):
    """Returns the bitmask of an array or tensor of ``bool`` of shape (rows,
    tokens); bits beyond the tokens are 1."""
    rows, tokens = bool_mask.shape
    if hasattr(bool_mask, "cpu"):
        import torch

        masks = bool_mask_to_bitmask(bool_mask.cpu().numpy())
        return torch.from_numpy(masks).to(bool_mask.device)
    import numpy

    bits = numpy.ones((rows, -(-tokens // 32) * 32), numpy.uint8)
    bits[:, :tokens] = bool_mask
    return numpy.packbits(bits, axis=1, bitorder="little").view("<i4")


def bitmask_to_bool_mask(bit_mask, vocab_size=None):
    """Returns a bitmask as an array or tensor of ``bool`` of shape (rows,
    ``vocab_size``); by default all its bits.

    Raises:
        ValueError: the bitmask is not in main memory or not of int32, or has
            fewer bits than ``vocab_size``.
    """
    if hasattr(bit_mask, "cpu"):
        import torch

        if bit_mask.device.type != "cpu" or bit_mask.dtype != torch.int32:
            raise ValueError("bit_mask must be a tensor of int32 in main memory")
        return torch.from_numpy(bitmask_to_bool_mask(bit_mask.numpy(), vocab_size))
    import numpy

    if bit_mask.dtype != numpy.int32:
        raise ValueError("bit_mask must be of int32")
    bits = 32 * bit_mask.shape[1]
    if vocab_size is None:
        vocab_size = bits
    if vocab_size > bits:
        raise ValueError(f"vocab_size is {vocab_size}, and there are {bits} bits")
    words = numpy.ascontiguousarray(bit_mask).astype("<i4").view(numpy.uint8)
    unpacked = numpy.unpackbits(words, axis=1, bitorder="little")
    return unpacked[:, :vocab_size].astype(bool)


def _traverse_draft_tree(
    retrieve_next_token,
    retrieve_next_sibling,
    draft_tokens,
    matcher,
    allocate_token_bitmask,
    time_threshold=-1.0,
):
    """The older name of ``GrammarMatcher.traverse_draft_tree``."""
    return matcher.traverse_draft_tree(
        retrieve_next_token,
        retrieve_next_sibling,
        draft_tokens,
        allocate_token_bitmask,
        time_threshold,
    )
