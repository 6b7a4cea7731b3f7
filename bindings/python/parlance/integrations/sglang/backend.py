"""A grammar backend for SGLang.  Imports SGLang."""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
import os

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarStats,
    InvalidGrammarObject,
)
from sglang.srt.constrained.reasoner_grammar_backend import (
    ReasonerGrammarBackend,
    ReasonerGrammarObject,
)
from sglang.srt.constrained.torch_ops.token_filter_torch_ops import (
    set_token_filter_torch,
)
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.runtime_context import get_serving
from sglang.srt.utils.common import is_pin_memory_available

from ... import apply_bitmask
from ..._constraining import Compiler, fill_bitmasks
from ..._errors import Error
from ..._parlance import Vocabulary
from .._follow import Appended, forced_text

__all__ = ["ParlanceGrammar", "ParlanceGrammarBackend", "new_backend"]

logger = logging.getLogger("sglang.parlance")

_THREADS = max(1, min((os.cpu_count() or 1) // 2, 8))
_ANY_JSON = "$$ANY$$"  # of SGLang


class ParlanceGrammar(BaseGrammarObject):
    """Follows one request.

    A request whose matcher has an error ends: its mask allows an end only, and
    ``accept_token`` raises, with which SGLang aborts a request.  Where SGLang tries
    drafts it would not catch that; then the error is in the log only.

    Attributes:
        matcher: the ``parlance.Matcher``.
        content: the grammar as a format of structural tags.
        drafts: whether SGLang tries drafts.
    """

    def __init__(self, matcher, content, grammar_stats=None, *, drafts=False):
        super().__init__()
        self.matcher = matcher
        self.content = content
        self.grammar_stats = grammar_stats
        self.drafts = drafts
        self._appended = Appended(matcher)
        self._failure = None  # what the next token raises

    def accept_token(self, token):
        unread = self._appended.unread
        self._accept(token)
        if self._failure and not (self.drafts and self.matcher.error):
            failure = self._failure
            self._appended.unread = unread  # what raises is not appended
            self._forget_failure()
            raise ValueError(failure)

    def _accept(self, token):
        error = self.matcher.error
        if error is None and self.matcher.is_terminated():
            self._appended.unread += 1  # what follows the end is ignored
            return
        self.current_token = token
        if self._appended.accept([token]) == 0:
            self._appended.unread += 1
            error = error or self.matcher.error or (
                f"token {token} does not fit the grammar of its request"
            )
        if error is not None and self._failure is None:
            self._failure = str(error)
            logger.error("%s", error)

    def rollback(self, k):
        self._appended.rollback(k)
        self._forget_failure()

    def _forget_failure(self):
        if self.matcher.error is None and not self._appended.unread:
            self._failure = None

    def is_terminated(self):
        return self.matcher.is_terminated()

    def allocate_vocab_mask(self, vocab_size, batch_size, device):
        return torch.full(
            (batch_size, -(-vocab_size // 32)),
            -1,
            dtype=torch.int32,
            pin_memory=is_pin_memory_available(),
        )

    def fill_vocab_mask(self, vocab_mask, idx):
        self.matcher.fill_bitmask(vocab_mask.numpy(), idx)

    @staticmethod
    def fill_vocab_mask_batched(entries, vocab_mask):
        _fill(entries, vocab_mask)

    @staticmethod
    def reset_vocab_mask(vocab_mask):
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask, device):
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits, vocab_mask):
        if logits.device.type == "cuda" and torch.version.hip is None:
            from sglang.kernels.ops.grammar.bitmask_ops import (
                apply_token_bitmask_inplace_triton,
            )

            apply_token_bitmask_inplace_triton(logits, vocab_mask)
        else:
            apply_bitmask(logits, vocab_mask)

    def copy(self):
        stats = self.grammar_stats
        if stats is not None:
            stats = dataclasses.replace(
                stats, is_cache_hit=True, tree_traversal_time=[]
            )
        out = ParlanceGrammar(
            self.matcher.copy(), self.content, stats, drafts=self.drafts
        )
        out._appended.unread = self._appended.unread
        out._failure = self._failure
        out.current_token = self.current_token
        out.finished = self.finished
        return out

    def try_jump_forward(self, tokenizer):
        text = forced_text(self.matcher)
        return ([], text) if text else None

    def jump_forward_str_state(self, helper):
        return helper[1], -1

    def jump_and_retokenize(self, old_output_ids, new_output_ids, next_state):
        same = 0
        for old, new in zip(old_output_ids, new_output_ids):
            if old != new:
                break
            same += 1
        self.rollback(len(old_output_ids) - same)
        # SGLang does not catch what this would raise: the next token raises it.
        for token in new_output_ids[same:]:
            self._accept(token)


def _answered(dispatch):
    """``dispatch_...`` that never raises: SGLang's loop would end by it."""

    @functools.wraps(dispatch)
    def answered(self, key_string):
        try:
            return dispatch(self, key_string)
        except Exception as error:  # noqa: BLE001: whatever the client has sent
            return InvalidGrammarObject(f"the grammar cannot be read: {error!r}")

    return answered


def _fill(entries, vocab_mask):
    """Fills the rows of many requests in one call."""
    matchers = []
    rows = []
    for row, grammar in entries:
        inner = grammar
        if isinstance(grammar, ReasonerGrammarObject):
            plain = grammar._grammar_active() and not (
                grammar.reasoning_in_grammar and grammar.enable_token_filter
            )
            inner = grammar.grammar if plain else None
        if isinstance(inner, ParlanceGrammar):
            matchers.append(inner.matcher)
            rows.append(row)
        else:
            grammar.fill_vocab_mask(vocab_mask, row)
    if matchers:
        fill_bitmasks(matchers, vocab_mask.numpy(), rows=rows, threads=_THREADS)


class _ReasonerGrammar(ReasonerGrammarObject):
    """SGLang's own, whose rows are filled in one call."""

    @staticmethod
    def fill_vocab_mask_batched(entries, vocab_mask):
        _fill(entries, vocab_mask)

    def copy(self):
        out = super().copy()
        out.__class__ = type(self)
        return out


class _ReasonerBackend(ReasonerGrammarBackend):
    """SGLang's own, which leaves reasoning without a constraint."""

    def _make_grammar_object(self, grammar, reasoning):
        out = super()._make_grammar_object(grammar, reasoning)
        out.__class__ = _ReasonerGrammar
        return out


class ParlanceGrammarBackend(BaseGrammarBackend):
    """Compiles grammars for the model's vocabulary.

    Args:
        tokenizer: a tokenizer of transformers.
        vocab_size: the width of the logits.
        stop_ids: the ids that end a response; by default the tokenizer's.
        any_whitespace: whether JSON may have white space.
        max_whitespace_cnt: the most characters of white space between two parts
            of JSON; by default 64.
        drafts: whether SGLang tries drafts; see ``ParlanceGrammar``.

    Raises:
        ValueError: the tokenizer is of another kind.
    """

    def __init__(
        self,
        tokenizer,
        vocab_size,
        stop_ids=None,
        any_whitespace=True,
        max_whitespace_cnt=None,
        *,
        drafts=False,
    ):
        super().__init__()
        self._drafts = drafts
        try:
            vocabulary = Vocabulary.from_tokenizer(tokenizer)
        except TypeError as error:
            raise ValueError(f"--grammar-backend parlance: {error}") from error
        stop_ids = sorted(id for id in stop_ids or () if 0 <= id < len(vocabulary))
        if stop_ids or not vocabulary.has_stop_ids:
            vocabulary = vocabulary.with_stop_ids(stop_ids)
        self.vocabulary = vocabulary
        self.vocab_size = vocab_size
        self.compiler = Compiler(vocabulary)
        self._json = {}
        if not any_whitespace:
            self._json["compact"] = True
        elif max_whitespace_cnt is not None:
            self._json["max_white_space"] = max_whitespace_cnt

    def _new(self, form, text, content, **options):
        try:
            constraint = getattr(self.compiler, "compile_" + form)(text, **options)
        except Error as error:
            place = f"{error.path}: " if error.path else ""
            return InvalidGrammarObject(f"{place}{error.message}")
        stats = GrammarStats(dispatch_type=form.removesuffix("_schema"))
        matcher = constraint.matcher()
        return ParlanceGrammar(matcher, content, stats, drafts=self._drafts)

    @_answered
    def dispatch_json(self, key_string):
        text = "true" if key_string == _ANY_JSON else key_string
        try:
            schema = json.loads(text)
        except ValueError as error:
            return InvalidGrammarObject(f"the JSON Schema is no JSON: {error}")
        content = {"type": "json_schema", "json_schema": schema}
        return self._new("json_schema", text, content, **self._json)

    @_answered
    def dispatch_regex(self, key_string):
        content = {"type": "regex", "pattern": key_string}
        return self._new("regex", key_string, content)

    @_answered
    def dispatch_ebnf(self, key_string):
        content = {"type": "grammar", "grammar": key_string}
        return self._new("ebnf", key_string, content)

    @_answered
    def dispatch_structural_tag(self, key_string):
        tag = json.loads(key_string)
        if not isinstance(tag, dict):
            return InvalidGrammarObject("a structural tag is a JSON object")
        tag = _modern(tag)
        content = tag.get("format")
        return self._new("structural_tag", json.dumps(tag), content)

    def compile_framed_grammar(self, grammar, frame):
        try:
            tag = json.dumps(frame(grammar.content))
        except RecursionError as error:
            return InvalidGrammarObject(f"the grammar cannot be framed: {error!r}")
        return self.dispatch_structural_tag(tag)

    @property
    def is_support_token_filter(self):
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask, token_ids, batch_idx, is_allowed=True, reset_vocab_mask=True
    ):
        set_token_filter_torch(
            vocab_mask,
            token_ids,
            batch_idx,
            is_allowed=is_allowed,
            reset_vocab_mask=reset_vocab_mask,
        )

    # What ReasonerGrammarBackend takes from a backend.

    allocate_vocab_mask = ParlanceGrammar.allocate_vocab_mask
    move_vocab_mask = staticmethod(ParlanceGrammar.move_vocab_mask)
    apply_vocab_mask = staticmethod(ParlanceGrammar.apply_vocab_mask)

    def reset(self):
        super().reset()
        self.compiler.clear_cache()


def _modern(tag):
    """The older form, tags that triggers begin, in today's; and schemas that are
    left out, in full."""
    if "structures" not in tag:
        _add_schemas(tag.get("format"))
        return tag
    tags = [
        {
            "type": "tag",
            "begin": one["begin"],
            "content": {"type": "json_schema", "json_schema": one.get("schema") or {}},
            "end": one["end"],
        }
        for one in tag["structures"]
    ]
    format = {
        "type": "triggered_tags",
        "triggers": tag["triggers"],
        "tags": tags,
        "at_least_one": bool(tag.get("at_least_one")),
    }
    return {"type": "structural_tag", "format": format}


def _add_schemas(format):
    if not isinstance(format, dict):
        return
    if format.get("type") in ("json_schema", "qwen_xml_parameter"):
        if format.get("json_schema") is None:
            format["json_schema"] = {}
        return
    _add_schemas(format.get("content"))
    for key in ("elements", "tags"):
        for one in format.get(key) or ():
            _add_schemas(one)


def new_backend(tokenizer, vocab_size, stop_ids=None, *, drafts=False):
    """The backend as SGLang is configured; ``drafts`` as of ``ParlanceGrammar``.

    With a reasoning parser it is in SGLang's ``ReasonerGrammarBackend``, which
    SGLang puts around its own backends only: grammars then begin where the
    reasoning ends, budgets of reasoning are kept, and strict thinking works.
    """
    serving = get_serving()
    if serving.constrained_json_whitespace_pattern:
        logger.warning(
            "--constrained-json-whitespace-pattern has no effect with "
            "--grammar-backend parlance"
        )
    backend = ParlanceGrammarBackend(
        tokenizer,
        vocab_size,
        stop_ids,
        any_whitespace=not serving.constrained_json_disable_any_whitespace,
        max_whitespace_cnt=serving.constrained_json_max_whitespace_cnt,
        drafts=drafts,
    )
    if not serving.reasoning_parser:
        return backend
    parser = ReasoningParser(
        model_type=serving.reasoning_parser,
        stream_reasoning=False,
        tokenizer=tokenizer,
    )
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    return _ReasonerBackend(
        backend,
        parser,
        tokenizer,
        enable_strict_thinking=serving.enable_strict_thinking,
    )
