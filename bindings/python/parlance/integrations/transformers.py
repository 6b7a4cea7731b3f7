"""Parlance in transformers: masks for ``generate``, and parsing everywhere.

A logits processor for ``model.generate``:

    from parlance.integrations.transformers import LogitsProcessor

    processor = LogitsProcessor(constraint)
    output = model.generate(**inputs, logits_processor=[processor])

A batch may have one constraint for all prompts or a list with one for each;
beams and ``num_return_sequences`` are supported.  A processor is for one call
of ``generate``; ``reset()`` makes it ready for the next.

The parser of responses, in ``tokenizer.parse_response``, pipelines and
``transformers serve``:

    from parlance.integrations.transformers import patch

    patch(recover=True)
    message = tokenizer.parse_response(ids, prefix=prompt)

The server, with tool choice and response formats:

    python -m parlance.integrations.transformers serve Qwen/Qwen3-0.6B
"""

from __future__ import annotations

import functools
import sys

from .. import Format, parse_response as _parse_response
from .. import ResponseParser as _ResponseParser
from .._arguments import flag
from .._errors import UsageError
from .._logits import apply_bitmask
from ._follow import Follower, Mismatch

__all__ = ["LogitsProcessor", "Mismatch", "main", "patch", "unpatch"]


class LogitsProcessor(Follower):
    """Sets the scores of tokens that the constraint refuses to minus infinity.

    Arguments, attributes and methods are those of ``Follower``.
    """

    # In continuous batching, a row may be another request in every call.
    supports_continuous_batching = False

    def __call__(self, input_ids, scores):
        begin = self._response_begin(input_ids.shape[-1])
        masks, rows = self._follow(input_ids[:, begin:].tolist())
        if not rows:
            return scores
        # generate() keeps its own array for output_logits, so it is copied.
        scores = scores.clone() if hasattr(scores, "clone") else scores.copy()
        apply_bitmask(scores, masks, rows)
        return scores


# ---- The parser

_PARSING = "transformers.utils.chat_parsing"

# Where transformers keeps the parser: (module, name, what it is).  A module that
# is imported later takes the names from those above it.
_PLACES = (
    (_PARSING, "ResponseParser", "parser"),
    (_PARSING, "parse_response", "function"),
    (_PARSING + ".response_parser", "ResponseParser", "parser"),
    (_PARSING + ".response_parser", "parse_response", "function"),
    ("transformers.tokenization_utils_base", "ResponseParser", "parser"),
    (
        "transformers.tokenization_utils_base",
        "_template_parse_response",
        "function",
    ),
    ("transformers.cli.serving.utils", "ResponseParser", "parser"),
)

_originals = {}  # by what they are, while patched
_replaced = []  # (object, name, its value before), while patched


def patch(recover=None, *, serve=False, default=None):
    """Puts Parlance's parser in the place of the parser of transformers.

    It then reads all responses of this process: ``tokenizer.parse_response``,
    ``get_response_parser``, ``processor.parse_response``, chat pipelines, and
    ``transformers.utils.chat_parsing``.  Messages and events are the same.  A
    class that another module imported before stays the old one there.  A second
    call replaces the options of the first.

    Args:
        recover: ``True`` keeps damage in its region, where transformers raises;
            ``False`` raises the same errors; ``None`` does what the format
            says, which for response templates is to raise.
        serve: also patches ``transformers serve``: requests may have
            ``tool_choice``, ``parallel_tool_calls`` and ``response_format``
            (Responses: ``text.format``), and tools may be strict.
        default: the format of responses of models that have no response
            template, for ``serve``: a ``Format``, or the name of a built-in
            format.

    Raises:
        UsageError: the installed transformers has no parser of response
            templates, or ``serve`` needs packages that are not installed.
        TemplateError: ``default`` names no format.
        ImportError: transformers is not installed.
    """
    import importlib

    if recover is not None:
        recover = flag("recover", recover)
    serve = flag("serve", serve)
    if default is not None and not isinstance(default, Format):
        default = Format(default)
    unpatch()
    try:
        parsing = importlib.import_module(_PARSING + ".response_parser")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(_PARSING):
            raise
        raise UsageError(
            "this version of transformers has no parser of response templates "
            f"({_PARSING})"
        ) from error
    importlib.import_module("transformers.tokenization_utils_base")
    _originals["parser"] = parsing.ResponseParser
    _originals["function"] = parsing.parse_response
    ours = _ours(recover)
    for module, name, what in _PLACES:
        module = sys.modules.get(module)
        if module is not None and hasattr(module, name):
            _replace(module, name, ours[what])
    serving = sys.modules.get("transformers.cli.serving.utils")
    for name in ("DirectStreamer", "CBStreamer"):
        if hasattr(serving, name):
            streamer = getattr(serving, name)
            _replace(streamer, "__init__", _decoding(streamer.__init__))
    if all(hasattr(serving, name) for name in _CHUNK_NAMES):
        _replace(serving, _CHUNKS, _chunks_of(serving))
    if serve:
        from . import _transformers_serve

        try:
            _transformers_serve.patch(_replace, default)
        except BaseException:
            unpatch()
            raise


def unpatch():
    """Gives transformers its own parser back.

    Parsers that exist stay what they are.  Does nothing if ``patch`` was not
    called.
    """
    while _replaced:
        owner, name, before = _replaced.pop()
        setattr(owner, name, before)
    # Modules that were imported meanwhile have our names.
    for module, name, what in _PLACES:
        module = sys.modules.get(module)
        if getattr(getattr(module, name, None), "_of_parlance", False):
            setattr(module, name, _originals[what])
    _originals.clear()


def _replace(owner, name, value):
    _replaced.append((owner, name, getattr(owner, name)))
    setattr(owner, name, value)


def _ours(recover):
    """The class and the function, with the signatures of transformers."""

    class ResponseParser(_ResponseParser):
        """Parses a streamed response: ``parlance.ResponseParser``."""

        _of_parlance = True
        _bare_events = True

        def __init__(self, response_template, prefix=None, *, tools=None):
            super().__init__(
                response_template, prefix, tools=tools, recover=recover
            )

    def parse_response(text, response_template, *, prefix=None, tools=None):
        """Parses a whole response, as ``parlance.parse_response`` does."""
        if recover is None:
            return _parse_response(
                text, response_template, prefix=prefix, tools=tools
            )
        parser = ResponseParser(response_template, prefix, tools=tools)
        parser.feed(text)
        return parser.finalize()[0]

    parse_response._of_parlance = True
    return {"parser": ResponseParser, "function": parse_response}


# ---- The streamers


def _decoding(init):
    """``__init__`` of a streamer, which decodes with ``_Decoder`` where that reads
    what ``DecodeStream`` reads."""

    @functools.wraps(init)
    def made(self, *args, **options):
        init(self, *args, **options)
        tokenizer = getattr(self, "_tokenizer", None)
        if getattr(self, "_parser", None) is not None and _is_byte_level(tokenizer):
            self._decode_stream = _Decoder(_texts_of(tokenizer))

    return made


def _is_byte_level(tokenizer):
    decoder = getattr(tokenizer, "decoder", None)
    return type(decoder).__name__ == "ByteLevel"


_CHUNKS = "response_events_to_chunks"
_CHUNK_NAMES = (_CHUNKS, "ReasoningText", "_REASONING_FIELDS")


def _chunks_of(serving):
    """``response_events_to_chunks``, with a way of its own for one piece of text."""
    original = getattr(serving, _CHUNKS)
    ReasoningText = serving.ReasoningText
    reasoning = frozenset(serving._REASONING_FIELDS)

    @functools.wraps(original)
    def chunks(events):
        if len(events) == 1:
            event = events[0]
            if event["type"] == "region_chunk" and not event["dirty"]:
                field = event["field"]
                if field == "content":
                    return [event["text"]]
                if field in reasoning:
                    return [ReasoningText(event["text"])]
        return original(events) if events else []

    return chunks


_tables = []  # (tokenizer, its texts), the last ones used first
_MAX_TABLES = 4


def _texts_of(tokenizer):
    """The texts of a tokenizer's ids that are whole characters, a dict; it has
    those that have been decoded so far."""
    for index, (known, texts) in enumerate(_tables):
        if known is tokenizer:
            _tables.insert(0, _tables.pop(index))
            return texts
    texts = {}
    _tables.insert(0, (tokenizer, texts))
    del _tables[_MAX_TABLES:]
    return texts


class _Decoder:
    """``DecodeStream`` for tokenizers whose tokens are bytes, at a tenth of the time.

    A text is the concatenation of the bytes of its tokens.  So the text of a token
    of whole characters does not depend on its neighbours, and is decoded once.
    From a token that ends within a character, or in U+FFFD, until the text is
    whole again, a ``DecodeStream`` decodes: what it returns depends on nothing
    before, since what it had returned before was whole.
    """

    __slots__ = ("_partial", "_texts")

    def __init__(self, texts):
        self._texts = texts  # of whole characters
        self._partial = None  # a DecodeStream, within a character

    def step(self, tokenizer, token):
        """Returns the text that the token completes, or ``None``."""
        text = self._texts.get(token)
        if text is not None and self._partial is None:
            return text
        if self._partial is None:
            text = tokenizer.decode([token], skip_special_tokens=False)
            if text and text[-1] != "\ufffd":
                self._texts[token] = text
                return text
            from tokenizers.decoders import DecodeStream

            self._partial = DecodeStream([], skip_special_tokens=False)
        text = self._partial.step(tokenizer, token)
        if text is not None:
            self._partial = None
        return text


# ---- The command


def main(arguments=None):
    """Runs the command of transformers with the patch.

        python -m parlance.integrations.transformers serve MODEL

    ``--strict`` raises where a response does not fit its template, as
    transformers does; without it, damage stays in its region.  ``--format
    NAME`` is the format of models that have no response template.  All other
    arguments are those of ``transformers serve``.

    Args:
        arguments: the arguments, a list of ``str``.  Default: those of the
            process.
    """
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -m parlance.integrations.transformers",
        description="transformers serve, with Parlance's parser, tool choice "
        "and response formats. Other options are those of transformers.",
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--format", metavar="NAME")
    options, rest = parser.parse_known_args(arguments)
    patch(not options.strict, serve=True, default=options.format)
    from transformers.cli.transformers import app

    app(args=[options.command, *rest])


if __name__ == "__main__":
    # This file runs as __main__; the patch belongs to the imported module.
    from parlance.integrations import transformers as imported

    imported.main()
