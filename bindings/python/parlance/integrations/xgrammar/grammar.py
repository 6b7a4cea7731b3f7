"""Grammars, by XGrammar's names."""

from __future__ import annotations

import json

from ..._constraining import Grammar as _Grammar
from . import _serial
from .exception import runtime_errors, structural_tag_errors

__all__ = ["Grammar", "StructuralTagItem"]


def schema_text(schema):
    """The JSON text of a schema: a ``str``, a ``dict`` or a model of pydantic."""
    if isinstance(schema, str):
        return schema
    if isinstance(schema, (dict, bool)):
        return json.dumps(schema)
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return json.dumps(schema.model_json_schema())
    raise ValueError("The schema should be a string or a Pydantic model.")


def json_schema_recipe(
    schema,
    any_whitespace=True,
    indent=None,
    separators=None,
    strict_mode=True,
    max_whitespace_cnt=None,
    any_order=False,
):
    options = {
        "key_order": "any" if any_order else "schema",
        "closed": bool(strict_mode),
    }
    if any_whitespace:
        options["max_white_space"] = max_whitespace_cnt
    else:
        if separators is None:
            separators = (", " if indent is None else ",", ": ")
        options["indent"] = indent
        options["separators"] = list(separators)
    return {"kind": "json_schema", "text": schema_text(schema), "options": options}


def structural_tag_recipe(args, kwargs):
    """The recipe of a structural tag, or of tags and triggers."""
    if len(args) == 2 or {"tags", "triggers"} <= kwargs.keys():
        tags, triggers = args if args else (kwargs["tags"], kwargs["triggers"])
        if not isinstance(tags, list) or not isinstance(triggers, list):
            raise TypeError("tags and triggers must be lists")
        text = json.dumps(tag_of_items(tags, triggers))
    else:
        if len(args) + len(kwargs) != 1 or not (args or "structural_tag" in kwargs):
            raise TypeError("pass structural_tag, or tags and triggers")
        tag = args[0] if args else kwargs["structural_tag"]
        if isinstance(tag, str):
            text = tag
        elif isinstance(tag, dict):
            text = json.dumps(tag)
        elif hasattr(tag, "model_dump_json"):
            text = tag.model_dump_json()
        elif hasattr(tag, "to_json"):
            text = tag.to_json()
        else:
            raise TypeError(
                "structural_tag must be a StructuralTag, a str or a dict, not "
                + type(tag).__name__
            )
    return {"kind": "structural_tag", "text": text}


def tag_of_items(tags, triggers):
    """The structural tag of a list of ``StructuralTagItem`` and a list of
    triggers, as a ``dict``."""
    return {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": triggers,
            "tags": [
                {
                    "type": "tag",
                    "begin": tag.begin,
                    "content": {
                        "type": "json_schema",
                        "json_schema": json.loads(schema_text(tag.schema_)),
                    },
                    "end": tag.end,
                }
                for tag in tags
            ],
        },
    }


def lark_recipe(text, grammars):
    if grammars is not None and not isinstance(grammars, dict):
        raise TypeError("named_grammars must be a dictionary")
    recipes = {}
    for name, value in (grammars or {}).items():
        if not isinstance(name, str):
            raise TypeError("named grammar names must be strings")
        if isinstance(value, Grammar):
            recipes[name] = value._recipe_or_text(_serial.MAX_LEVELS - 1)
        elif isinstance(value, str):
            recipes[name] = value
        else:
            raise TypeError(
                "named grammar values must be Grammar instances or Lark strings"
            )
    return {"kind": "lark", "text": text, "grammars": recipes}


# XGrammar's grammar of JSON has objects and arrays at its root.
JSON_RECIPE = {
    "kind": "json_schema",
    "text": '{"type": ["object", "array"]}',
    "options": {"key_order": "any", "closed": False, "max_white_space": None},
}


class Grammar:
    """A language of texts.  Immutable; may be shared between threads and pickled.

    ``str()`` of it is EBNF of the same language, which ``from_ebnf`` reads;
    schemas stand in it as ``JsonSchema("...")``.  ``parlance_grammar`` is the
    ``parlance.Grammar``.

    Functions raise ``RuntimeError`` where a text cannot be used; its
    ``__cause__`` has the place.
    """

    def __init__(self):
        raise TypeError("use Grammar.from_ebnf and the other from_ functions")

    @classmethod
    def _make(cls, grammar, recipe, levels=1, parts=1):
        """``recipe`` is None where only the printed form tells the language.  It
        has ``levels`` levels and ``parts`` recipes."""
        self = cls.__new__(cls)
        self.parlance_grammar = grammar
        self._recipe = recipe
        self._levels = levels
        self._parts = parts
        return self

    @classmethod
    def _of(cls, recipe, context=runtime_errors):
        with context():
            return cls._make(_serial.build(recipe), recipe)

    def _recipe_or_text(self, levels=_serial.MAX_LEVELS):
        """A recipe of at most ``levels`` levels."""
        if self._recipe is not None and self._levels <= levels:
            return self._recipe
        return {"kind": "ebnf", "text": str(self), "root": "root"}

    def __str__(self):
        return self.parlance_grammar.to_ebnf()

    @staticmethod
    def from_ebnf(ebnf_string, *, root_rule_name="root"):
        """Returns the grammar of an EBNF text, such as a GBNF file."""
        return Grammar._of(
            {"kind": "ebnf", "text": ebnf_string, "root": root_rule_name}
        )

    @staticmethod
    def from_json_schema(
        schema,
        *,
        any_whitespace=True,
        indent=None,
        separators=None,
        strict_mode=True,
        max_whitespace_cnt=None,
        print_converted_ebnf=False,
        any_order=False,
    ):
        """Returns the grammar of the JSON texts that are valid under a schema.

        Args:
            schema: JSON text, a ``dict`` or a model of pydantic.
            any_whitespace: whether white space is free; ``indent`` and
                ``separators`` are then ignored.
            indent, separators: the layout of ``json.dumps``.
            strict_mode: members and items that the schema does not list are
                forbidden.
            max_whitespace_cnt: the most characters of free white space in a row.
            print_converted_ebnf: whether ``str()`` of the grammar is printed.
            any_order: members in any order.  All that are required must come,
                once each.
        """
        grammar = Grammar._of(
            json_schema_recipe(
                schema,
                any_whitespace,
                indent,
                separators,
                strict_mode,
                max_whitespace_cnt,
                any_order,
            )
        )
        if print_converted_ebnf:
            print(grammar)
        return grammar

    @staticmethod
    def from_regex(regex_string, *, print_converted_ebnf=False):
        """Returns the grammar of the texts that a pattern matches as a whole."""
        grammar = Grammar._of({"kind": "regex", "text": regex_string})
        if print_converted_ebnf:
            print(grammar)
        return grammar

    @staticmethod
    def from_lark(lark_string, *, tokenizer_info=None, named_grammars=None):
        """Returns the grammar of the rule ``start`` of a Lark text.

        Args:
            lark_string: the text.
            tokenizer_info: a ``TokenizerInfo``, for tokens that are named.
            named_grammars: a dict from ``name`` to what ``@name`` stands for, a
                ``Grammar`` or a Lark text.
        """
        recipe = lark_recipe(lark_string, named_grammars)
        vocabulary = None if tokenizer_info is None else tokenizer_info.vocabulary
        with runtime_errors():
            grammar = _serial.build(recipe, vocabulary)
        # Only a vocabulary has the tokens that it names; the levels and the
        # number of the grammars in it are unknown.
        if vocabulary is not None or recipe["grammars"]:
            recipe = None
        return Grammar._make(grammar, recipe)

    @staticmethod
    def from_structural_tag(*args, **kwargs):
        """Returns the grammar of a structural tag.

        Args:
            structural_tag: a ``StructuralTag``, JSON text or a ``dict``; or
            tags, triggers: a list of ``StructuralTagItem`` and a list of ``str``.

        Raises:
            InvalidJSONError: the text is not JSON.
            InvalidStructuralTagError: the tag cannot be used.
            TypeError: the arguments are none of these.
        """
        return Grammar._of(structural_tag_recipe(args, kwargs), structural_tag_errors)

    @staticmethod
    def builtin_json_grammar():
        """Returns the grammar of all JSON objects and arrays."""
        return Grammar._of(JSON_RECIPE)

    @staticmethod
    def _combined(kind, grammars):
        with runtime_errors():
            made = getattr(_Grammar, kind)([g.parlance_grammar for g in grammars])
        recipes = [grammar._recipe for grammar in grammars]
        levels = 1 + max((grammar._levels for grammar in grammars), default=0)
        parts = 1 + sum(grammar._parts for grammar in grammars)
        if (
            None in recipes
            or levels > _serial.MAX_LEVELS
            or parts > _serial.MAX_PARTS
        ):
            return Grammar._make(made, None)
        recipe = {"kind": kind, "parts": recipes}
        return Grammar._make(made, recipe, levels, parts)

    @staticmethod
    def concat(*grammars):
        """Returns the grammar of a text of each of ``grammars``, in a row."""
        return Grammar._combined("concat", grammars)

    @staticmethod
    def union(*grammars):
        """Returns the grammar of the texts of any of ``grammars``."""
        return Grammar._combined("union", grammars)

    def serialize_json(self):
        """Returns the grammar as JSON text, a ``str``."""
        return _serial.dump("Grammar", {"grammar": self._recipe_or_text()})

    @staticmethod
    def deserialize_json(json_string):
        """Makes the grammar that ``serialize_json`` wrote.

        Raises:
            InvalidJSONError: the text is not JSON.
            DeserializeVersionError: it is of another version.
            DeserializeFormatError: it is not what ``serialize_json`` writes.
        """
        (recipe,) = _serial.load(json_string, "Grammar", ["grammar"])
        grammar = _serial.build_checked(recipe)
        nested = "parts" in recipe or recipe.get("grammars")
        # The levels and the number of grammars in it are not counted here.
        levels = _serial.MAX_LEVELS if nested else 1
        return Grammar._make(grammar, recipe, levels)

    def __reduce__(self):
        return Grammar.deserialize_json, (self.serialize_json(),)


def __getattr__(name):
    if name == "StructuralTagItem":
        from .structural_tag import StructuralTagItem

        return StructuralTagItem
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
