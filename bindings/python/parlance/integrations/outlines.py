"""Parlance in Outlines: a backend, and a logits processor for any constraint.

The backend, for the output types of Outlines:

    import outlines
    from parlance.integrations.outlines import install

    install()
    generator = outlines.Generator(model, Order, backend="parlance")

What Outlines has no type for, such as calls of tools:

    from parlance.integrations.outlines import LogitsProcessor, compiler_of

    constraint = compiler_of(model).compile_structural_tag(tag)
    generator = outlines.Generator(model, processor=LogitsProcessor(constraint))

Models are those that run in this process: ``Transformers``, ``LlamaCpp`` and
``MLXLM``.
"""

from __future__ import annotations

import weakref

from .. import Compiler, Vocabulary
from .._errors import UsageError
from .._logits import apply_bitmask
from ._follow import Follower, Mismatch

__all__ = [
    "Backend",
    "LogitsProcessor",
    "Mismatch",
    "compiler_of",
    "install",
    "uninstall",
]

NAME = "parlance"  # as Generator(..., backend=NAME) says it


class LogitsProcessor(Follower):
    """Sets the logits of tokens that the constraint refuses to minus infinity.

    It is for one call of a generator at a time; Outlines resets it before each.
    Arguments, attributes and methods are those of ``Follower``.
    """

    def __call__(self, input_ids, logits):
        begin = self._response_begin(input_ids.shape[-1])
        # Of llama.cpp and mlx-lm one row of ids, of transformers a batch.
        if len(input_ids.shape) == 1:
            responses = [input_ids[begin:].tolist()]
        else:
            responses = input_ids[:, begin:].tolist()
        masks, rows = self._follow(responses)
        if not rows:
            return logits
        if hasattr(logits, "clone"):
            logits = logits.clone()  # torch: generate() keeps its own
        elif hasattr(logits, "flags"):
            logits = logits.copy()  # NumPy
        else:
            from .mlx import masked

            return masked(logits, masks, rows)
        apply_bitmask(logits, masks, rows if len(logits.shape) == 2 else None)
        return logits


class Backend:
    """The backend of a model, with the methods of ``outlines.backends.BaseBackend``:
    JSON Schema, regular expressions and grammars.

    Args:
        model: a model of Outlines; see ``compiler_of``.

    Attributes:
        compiler: the ``Compiler`` of the model's vocabulary.

    Raises:
        UsageError: the model does not run in this process.
    """

    def __init__(self, model):
        self.compiler = compiler_of(model)

    def get_json_schema_logits_processor(self, json_schema, whitespace_pattern=None):
        """Returns the ``LogitsProcessor`` for documents of a JSON Schema.

        As with Outlines' own backend, objects have the members that the schema
        declares, in its order, unless it says otherwise, and between two tokens
        of JSON there is at most one character of white space.

        Args:
            json_schema: JSON text.
            whitespace_pattern: must be ``None``.

        Raises:
            SchemaError: the schema is wrong; the error has the place.
            GrammarError: a keyword cannot be enforced; the error has its place.
            NotImplementedError: ``whitespace_pattern`` is given.
        """
        if whitespace_pattern is not None:
            raise NotImplementedError(
                "the backend parlance takes no whitespace_pattern; for documents "
                "without white space, compile the schema with compact=True and "
                "give the constraint to parlance.integrations.outlines."
                "LogitsProcessor"
            )
        return LogitsProcessor(
            self.compiler.compile_json_schema(
                json_schema, closed=True, key_order="schema", max_white_space=1
            )
        )

    def get_regex_logits_processor(self, regex):
        """Returns the ``LogitsProcessor`` for texts that a regular expression
        matches from beginning to end.

        Raises:
            GrammarError: the expression cannot be read or enforced.
        """
        return LogitsProcessor(self.compiler.compile_regex(regex))

    def get_cfg_logits_processor(self, grammar):
        """Returns the ``LogitsProcessor`` for texts of a grammar in Lark's notation.

        Raises:
            GrammarError: the grammar cannot be read or enforced.
        """
        return LogitsProcessor(self.compiler.compile_lark(grammar))


# By model, so that tables are made once, and constraints are cached.
_compilers = weakref.WeakKeyDictionary()


def compiler_of(model):
    """Returns the ``Compiler`` for the vocabulary of a model, the same one in each
    call.

    Args:
        model: ``outlines.models.Transformers``, ``LlamaCpp`` or ``MLXLM``.

    Raises:
        UsageError: the model is none of these, or runs elsewhere.
    """
    found = _compilers.get(model)
    if found is None:
        found = _compilers[model] = Compiler(_vocabulary_of(model))
    return found


def _vocabulary_of(model):
    # By attributes: the classes import torch, llama_cpp or mlx.
    if hasattr(model, "hf_tokenizer"):
        return Vocabulary.from_tokenizer(model.hf_tokenizer)
    if hasattr(model, "mlx_tokenizer"):
        # mlx-lm wraps the tokenizer of transformers, and adds ids that end texts.
        tokenizer = model.mlx_tokenizer
        return Vocabulary.from_tokenizer(
            getattr(tokenizer, "_tokenizer", tokenizer),
            stop_ids=sorted(getattr(tokenizer, "eos_token_ids", ())) or None,
        )
    inner = getattr(model, "model", None)
    if hasattr(inner, "model_path"):
        from .llama_cpp import vocabulary_of

        return vocabulary_of(inner)
    raise UsageError(
        "the backend parlance is for models of Outlines that run in this process "
        f"(Transformers, LlamaCpp, MLXLM), not {type(model).__name__}"
    )


_original = None  # outlines.backends._get_backend, while installed


def install():
    """Makes ``backend="parlance"`` known to Outlines in this process.

    Outlines has no registry of backends: the function
    ``outlines.backends._get_backend`` is replaced by one that knows one more name.
    A second call does nothing.

    Raises:
        ImportError: Outlines is not installed.
    """
    global _original
    if _original is not None:
        return
    import outlines.backends as backends

    original = _original = backends._get_backend

    def get_backend(backend_name, model):
        if backend_name == NAME:
            return Backend(model)
        return original(backend_name, model)

    backends._get_backend = get_backend


def uninstall():
    """Undoes ``install``."""
    global _original
    if _original is None:
        return
    import outlines.backends as backends

    backends._get_backend = _original
    _original = None
