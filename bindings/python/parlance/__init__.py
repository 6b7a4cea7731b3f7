"""Parsing a language model's responses, and constraining what it writes.

    import parlance

    parlance.parse_response(text, "qwen3", prefix=prompt)   # -> dict

    parser = parlance.ResponseParser("qwen3", prefix=prompt)
    for chunk in stream:
        for event in parser.feed(chunk):
            show(event)
    message, events = parser.finalize()

A ``spec`` is a response template (a ``dict`` with ``"fields"``), its JSON text,
the path of its file, the name of a built-in format (see ``formats()``), or a
``ResponseTemplate`` or ``Format`` made of these.  ``parse_response`` also takes
the older response schemas (a ``dict`` with ``x-`` keys and without
``"fields"``), and ``ResponseSchema``.

``Grammar.from_json_schema`` constrains a model: it describes which texts are
valid, and, compiled for a vocabulary, which tokens the model may write next.
``tool_calling`` returns the ``StructuralTag`` of responses that call tools as
a model family writes them.  The tag constrains a model, and its ``parser()``
reads what the model wrote.

Text is ``str``, or UTF-8 as ``bytes``.  Offsets and spans are bytes of the
UTF-8 text.  Wrong types of arguments raise ``TypeError``; all other errors are
subclasses of ``Error``, which is a ``ValueError``.
"""

from importlib import import_module

from ._parlance import __version__

__all__ = [
    "ArrowMessages",
    "Batch",
    "BatchStep",
    "Compiler",
    "Constraint",
    "ContentAttributeError",
    "ContentTypeError",
    "DetectedFormat",
    "Error",
    "Format",
    "FormatReading",
    "Grammar",
    "GrammarError",
    "HarmonyParser",
    "MaskTable",
    "Matcher",
    "MissingPlaceholderError",
    "ParseResult",
    "PatternError",
    "ResponseError",
    "ResponseParser",
    "ResponseSchema",
    "ResponseTemplate",
    "SchemaError",
    "StateError",
    "StructuralTag",
    "TagParser",
    "TemplateError",
    "TooDeepError",
    "ToolSet",
    "UnknownNameError",
    "UsageError",
    "View",
    "Vocabulary",
    "apply_bitmask",
    "apply_mask_ids",
    "detect_format",
    "detection_sample",
    "feed_deltas",
    "fill_bitmasks",
    "formats",
    "parse_arrow",
    "parse_response",
    "rank_formats",
    "tool_calling",
    "view",
]


def __getattr__(name):
    """Loads the package when a name of it is used first: the command uses none."""
    if name == "errors":
        return import_module(".errors", __name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    api = import_module("._api", __name__)
    globals().update({each: getattr(api, each) for each in __all__})
    return globals()[name]


def __dir__():
    """What is public, and submodules that have been imported."""
    submodules = {"chat", "integrations", "jmespath"} & globals().keys()
    return [*__all__, "errors", *submodules, "__version__"]
