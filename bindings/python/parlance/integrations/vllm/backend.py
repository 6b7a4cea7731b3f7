"""Masks for vLLM's structured outputs.  Imports vLLM.

vLLM has a fixed list of backends and no registry, so ``install`` puts
``ParlanceBackend`` in the place of two of them.
"""

from __future__ import annotations

import functools
import json
import os

import numpy
import torch
from vllm.exceptions import VLLMValidationError
from vllm.logger import init_logger
from vllm.v1.structured_output import StructuredOutputManager
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key
from vllm.v1.structured_output.utils import (
    grammar_is_likely_lark,
    strip_speculative_padding,
)

from ..._constraining import Compiler, Grammar, fill_bitmasks
from ..._errors import Error, GrammarError
from ..._parlance import Vocabulary
from .._follow import Appended
from . import _requests

__all__ = ["ParlanceBackend", "ParlanceGrammar", "install", "validate"]

logger = init_logger("vllm.parlance")

# As many as vLLM's own: the engine has other threads.
_THREADS = max(1, min((os.cpu_count() or 1) // 2, 8))


# ---- What can be asked for.


def _source(kind, spec):
    """Which grammar a request asks for: a name, and its text."""
    options = StructuredOutputOptions
    if kind == options.JSON_OBJECT:
        return "json_schema", '{"type": "object"}'
    if kind == options.JSON:
        return "json_schema", spec
    if kind == options.REGEX:
        return "regex", spec
    if kind == options.GRAMMAR:
        return ("lark" if grammar_is_likely_lark(spec) else "ebnf"), spec
    if kind == options.CHOICE:
        choices = [{"type": "const_string", "value": one} for one in json.loads(spec)]
        return "structural_tag", _tag({"type": "or", "elements": choices})
    if kind == options.STRUCTURAL_TAG:
        return "structural_tag", _modern(spec)
    raise VLLMValidationError(f"no such kind of structured outputs: {kind}")


def _tag(format):
    return json.dumps({"type": "structural_tag", "format": format})


def _modern(spec):
    """The older form, tags that triggers begin, in today's."""
    tag = json.loads(spec)
    if not isinstance(tag, dict) or "structures" not in tag:
        return spec
    tags = [
        {
            "type": "tag",
            "begin": one["begin"],
            "content": {"type": "json_schema", "json_schema": one["schema"]},
            "end": one["end"],
        }
        for one in tag["structures"]
    ]
    return _tag({"type": "triggered_tags", "triggers": tag["triggers"], "tags": tags})


@functools.lru_cache(maxsize=256)
def _check(kind, spec):
    form, text = _source(kind, spec)
    try:
        getattr(Grammar, "from_" + form)(text)
    except GrammarError as error:
        # It names tokens: the engine, which has the vocabulary, compiles it.
        if error.code != "usage":
            raise


def validate(sampling_params, tokenizer=None):
    """Checks the structured outputs of a request where it arrives.

    Raises:
        VLLMValidationError: they cannot be used; the message says why and
            where, and the client gets a 400.
    """
    params = sampling_params.structured_outputs
    if params is None:
        return
    try:
        _check(*get_structured_output_key(params))
    except Error as error:
        raise _requests.refused(error, "structured_outputs") from error
    except Exception as error:  # noqa: BLE001: whatever the client has sent
        raise VLLMValidationError(
            f"structured outputs that cannot be read: {error!r}",
            parameter="structured_outputs",
        ) from error


# ---- The backend.


class ParlanceGrammar(StructuredOutputGrammar):
    """Follows one request.  ``matcher`` is the ``parlance.Matcher``.

    A request whose matcher has an error ends: its mask allows an end only, and the
    next of its tokens is refused, with which vLLM ends a request by an error.
    """

    def __init__(self, backend, matcher):
        self.backend = backend
        self.matcher = matcher
        self._appended = Appended(matcher)

    def accept_tokens(self, request_id, tokens):
        # Ends that the mask of a matcher with an error allows are no ends of texts of
        # the grammar.
        error = self.matcher.error
        count = self._appended.accept(tokens) if error is None else 0
        if count == len(tokens):
            return True
        if self.backend.fills_drafts:
            # vLLM's loop asserts that drafts fit, since they did when they were
            # validated; what takes too long depends on more than the text.
            self._appended.unread += len(tokens) - count
            return True
        logger.error(
            "request %s: token %s at index %s of this step %s",
            request_id,
            tokens[count],
            count,
            error or self.matcher.error or "does not fit its grammar",
        )
        return False

    def validate_tokens(self, tokens):
        tokens = strip_speculative_padding(tokens)
        return tokens[: self._appended.validate(tokens)]

    def rollback(self, num_tokens):
        self._appended.rollback(num_tokens)

    def fill_bitmask(self, bitmask, batch_index):
        array = self.backend.array_of(bitmask)
        self.matcher.fill_bitmask(array, batch_index)

    def is_terminated(self):
        return self.matcher.is_terminated()

    def reset(self):
        self._appended.reset()


class ParlanceBackend(StructuredOutputBackend):
    """Compiles grammars for the model's vocabulary.

    Args:
        vllm_config: vLLM's configuration, of which ``disable_any_whitespace``
            and ``disable_additional_properties`` have their meaning.
        tokenizer: a tokenizer of transformers.
        vocab_size: the width of the logits.

    Raises:
        ValueError: the tokenizer is of another kind.
    """

    def __init__(self, vllm_config, tokenizer, vocab_size):
        super().__init__(vllm_config, tokenizer, vocab_size)
        try:
            vocabulary = Vocabulary.from_tokenizer(tokenizer)
        except TypeError as error:
            raise ValueError(f"Parlance's masks: {error}") from error
        if not vocabulary.has_stop_ids:
            vocabulary = vocabulary.with_stop_ids([])
        self.vocabulary = vocabulary
        self.compiler = Compiler(vocabulary)
        options = vllm_config.structured_outputs_config
        self._json = {
            "compact": options.disable_any_whitespace,
            "closed": options.disable_additional_properties,
        }
        self._bitmask = self._array = None
        self.fills_drafts = False  # while vLLM fills the rows of draft tokens

    def compile_grammar(self, request_type, grammar_spec, stop_token_ids=None):
        form, text = _source(request_type, grammar_spec)
        options = self._json if form == "json_schema" else {}
        constraint = getattr(self.compiler, "compile_" + form)(text, **options)
        stops = None
        if stop_token_ids:
            size = len(self.vocabulary)
            stops = sorted(id for id in stop_token_ids if 0 <= id < size)
        return ParlanceGrammar(self, constraint.matcher(stop_ids=stops))

    def allocate_token_bitmask(self, max_num_seqs):
        words = -(-max(self.vocab_size, len(self.vocabulary)) // 32)
        self._array = numpy.full((max_num_seqs, words), -1, numpy.int32)
        self._bitmask = torch.from_numpy(self._array)
        return self._bitmask

    def array_of(self, bitmask):
        """A bitmask as an array over the same memory."""
        return self._array if bitmask is self._bitmask else bitmask.numpy()

    def destroy(self):
        self.compiler.clear_cache()


def _in_one_call(grammar_bitmask):
    """``StructuredOutputManager.grammar_bitmask`` that fills all rows at once.

    Rows of draft tokens depend on each other: with speculative decoding the
    manager's own method fills them.
    """

    @functools.wraps(grammar_bitmask)
    def filled(self, requests, structured_output_request_ids, scheduled):
        backend = self.backend
        if (
            not isinstance(backend, ParlanceBackend)
            or self.vllm_config.num_speculative_tokens
            or self.vllm_config.model_config.is_diffusion
            or not structured_output_request_ids
        ):
            if isinstance(backend, ParlanceBackend):
                backend.fills_drafts = True
            try:
                return grammar_bitmask(
                    self, requests, structured_output_request_ids, scheduled
                )
            finally:
                if isinstance(backend, ParlanceBackend):
                    backend.fills_drafts = False
        if self._grammar_bitmask is None:
            self._grammar_bitmask = backend.allocate_token_bitmask(
                self.vllm_config.scheduler_config.max_num_seqs
            )
        matchers = []
        rows = []
        for row, name in enumerate(structured_output_request_ids):
            request = requests[name]
            grammar = request.structured_output_request.grammar
            bounds = self._get_constraint_bounds(request, ())
            if bounds.constraint_start == 0 and not grammar.is_terminated():
                matchers.append(grammar.matcher)
                rows.append(row)
            else:
                masked = ()
                if bounds.constraint_start:
                    masked = self._masked_reasoning_ends(request)
                self._fill_bitmasks(((grammar, row, False, masked),))
        array = backend.array_of(self._grammar_bitmask)
        if matchers:
            fill_bitmasks(matchers, array, rows=rows, threads=_THREADS)
        return array[: len(structured_output_request_ids)]

    filled.of_parlance = True
    return filled


def install():
    """Makes vLLM's backends ``xgrammar`` and ``guidance`` Parlance's, and with
    them ``auto``, which chooses between the two.

    Validation of requests goes with it.  A second call changes nothing.
    """
    import vllm.v1.structured_output as manager
    from vllm.v1.structured_output import backend_guidance, backend_xgrammar

    manager.XgrammarBackend = ParlanceBackend
    manager.GuidanceBackend = ParlanceBackend
    backend_xgrammar.validate_xgrammar_grammar = validate
    backend_guidance.validate_guidance_grammar = validate
    # Otherwise "auto" leaves what Parlance has refused to a third backend.
    backend_guidance.has_guidance_unsupported_json_features = lambda schema: False
    if not hasattr(StructuredOutputManager.grammar_bitmask, "of_parlance"):
        StructuredOutputManager.grammar_bitmask = _in_one_call(
            StructuredOutputManager.grammar_bitmask
        )
    _requests.own_masks = True
    logger.info("Parlance makes the masks of structured outputs")
