"""Response templates that ``transformers`` has loaded."""

from __future__ import annotations

import sys

_MODULE = "transformers.utils.chat_parsing.response_templates"


def is_loaded_template(value):
    # If ``value`` is such a template, its module has been imported.
    module = sys.modules.get(_MODULE)
    cls = getattr(module, "ResponseTemplate", None)
    return isinstance(cls, type) and issubclass(type(value), cls)


def dict_of_template(template):
    """The template that ``template`` was loaded from, as a ``dict``."""
    out = {"defaults": template.defaults, "fields": {}}
    _anchor(
        out,
        "start_anchor",
        template.start_anchor_literals,
        template.start_anchor_re,
    )
    for name, field in template.fields.items():
        spec = out["fields"][name] = {
            "content": field.content,
            "content_args": field.content_args,
            "repeats": field.repeats,
            "optional": field.optional,
        }
        _anchor(spec, "open", field.open_literals, field.open_re)
        _anchor(spec, "close", field.close_literals, field.close_re)
        if field.join is not None:
            spec["join"] = field.join
        if field.transform is not None:
            spec["transform"] = field.transform
            spec["transform_each"] = field.transform_each
    return out


def _anchor(spec, key, literals, pattern):
    if literals is not None:
        spec[key] = list(literals)
    elif pattern is not None:
        spec[f"{key}_pattern"] = pattern.pattern
