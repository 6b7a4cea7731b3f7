"""Serialised objects: JSON objects with the version of their form.

A grammar is serialised as its recipe, the texts and options that it was made
of, and compiled again when it is read: compiling costs less than reading
automata would, and a damaged text can do no more than any other grammar.

    {"kind": "ebnf", "text", "root"}
    {"kind": "json_schema", "text", "options"}
    {"kind": "regex", "text"}
    {"kind": "lark", "text", "grammars": {name: text or recipe}}
    {"kind": "structural_tag", "text"}
    {"kind": "union" or "concat", "parts": [recipe, ...]}
"""

from __future__ import annotations

import json

from ..._errors import Error
from ..._constraining import Grammar
from .exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
)

# Another form of any object has another version.
VERSION = "parlance-1"

# Levels of recipes in recipes, and how many recipes one may have in it.  What
# goes beyond is serialised as EBNF.
MAX_LEVELS = 64
MAX_PARTS = 10_000

_JSON_OPTIONS = {
    "max_white_space",
    "indent",
    "separators",
    "key_order",
    "closed",
}


def dump(type, members):
    """The text of an object of a type."""
    return json.dumps(
        {"__VERSION__": VERSION, "__TYPE__": type, **members}, ensure_ascii=False
    )


def load(text, type, names):
    """The members ``names`` of the object in ``text``.

    Raises:
        InvalidJSONError, DeserializeVersionError, DeserializeFormatError.
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise TypeError("the serialised object must be a str")
    try:
        value = json.loads(text)
    except RecursionError:
        raise DeserializeFormatError("the text is nested too deeply") from None
    except ValueError as error:
        raise InvalidJSONError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise DeserializeFormatError("a serialised object is a JSON object")
    if value.get("__VERSION__") != VERSION:
        found = json.dumps(value.get("__VERSION__"))[:40]
        raise DeserializeVersionError(
            f"the version is {found}, and this is {json.dumps(VERSION)}"
            if "__VERSION__" in value
            else "there is no __VERSION__"
        )
    if value.get("__TYPE__") != type:
        raise DeserializeFormatError(f"this is no serialised {type}")
    missing = [name for name in names if name not in value]
    if missing:
        raise DeserializeFormatError(f"{missing[0]!r} is missing")
    return [value[name] for name in names]


def json_options(recipe):
    """The options of a JSON Schema, as arguments."""
    options = dict(recipe["options"])
    if options.get("separators") is not None:
        options["separators"] = tuple(options["separators"])
    return options


def named_grammars(recipe, vocabulary=None):
    """The grammars that a Lark text names, as an argument."""
    return {
        name: part if isinstance(part, str) else build(part, vocabulary)
        for name, part in recipe["grammars"].items()
    }


def build(recipe, vocabulary=None):
    """The ``parlance.Grammar`` of a recipe that this module's callers made.

    Raises:
        parlance.Error: a text in it cannot be used.
    """
    kind = recipe["kind"]
    if kind in ("union", "concat"):
        parts = [build(part, vocabulary) for part in recipe["parts"]]
        return getattr(Grammar, kind)(parts)
    text = recipe["text"]
    if kind == "ebnf":
        return Grammar.from_ebnf(text, recipe["root"])
    if kind == "json_schema":
        return Grammar.from_json_schema(text, **json_options(recipe))
    if kind == "regex":
        return Grammar.from_regex(text)
    if kind == "lark":
        grammars = named_grammars(recipe, vocabulary)
        return Grammar.from_lark(text, vocabulary, grammars=grammars)
    return Grammar.from_structural_tag(text, vocabulary)


def build_checked(recipe, vocabulary=None):
    """As ``build``, for a recipe that comes from outside.

    Raises:
        DeserializeFormatError: it is no recipe, or a text in it cannot be used.
    """
    _check(recipe, 1)
    try:
        return build(recipe, vocabulary)
    except Error as error:
        raise DeserializeFormatError(f"the grammar cannot be used: {error}") from error


def _check(recipe, level):
    if not isinstance(recipe, dict):
        raise DeserializeFormatError("a grammar is a JSON object")
    if level > MAX_LEVELS:
        raise DeserializeFormatError(
            f"grammars are in grammars more than {MAX_LEVELS} levels deep"
        )
    kind = recipe.get("kind")
    if kind in ("union", "concat"):
        parts = recipe.get("parts")
        if not isinstance(parts, list) or not parts:
            raise DeserializeFormatError(f"'parts' of a {kind} must be a list")
        for part in parts:
            _check(part, level + 1)
        return
    if kind not in ("ebnf", "json_schema", "regex", "lark", "structural_tag"):
        raise DeserializeFormatError("'kind' is no kind of grammar")
    if not isinstance(recipe.get("text"), str):
        raise DeserializeFormatError("'text' must be a string")
    if kind == "ebnf" and not isinstance(recipe.get("root"), str):
        raise DeserializeFormatError("'root' must be a string")
    if kind == "json_schema":
        _check_options(recipe.get("options"))
    if kind == "lark":
        grammars = recipe.get("grammars")
        if not isinstance(grammars, dict):
            raise DeserializeFormatError("'grammars' must be an object")
        for part in grammars.values():
            if not isinstance(part, str):
                _check(part, level + 1)


def _check_options(options):
    if not isinstance(options, dict) or not options.keys() <= _JSON_OPTIONS:
        raise DeserializeFormatError("'options' are not those of a JSON Schema")
    white, indent = options.get("max_white_space"), options.get("indent")
    separators = options.get("separators")
    number = (int, type(None))
    if (
        not isinstance(white, number)
        or not isinstance(indent, number)
        or isinstance(white, bool)
        or isinstance(indent, bool)
        or options.get("key_order", "any") not in ("any", "schema")
        or not isinstance(options.get("closed", False), bool)
        or not (
            separators is None
            or isinstance(separators, list)
            and len(separators) == 2
            and all(isinstance(text, str) for text in separators)
        )
    ):
        raise DeserializeFormatError("an option of a JSON Schema is malformed")
