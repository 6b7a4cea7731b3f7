"""Grammars, by XGrammar's names."""

from __future__ import annotations

import json

from ..._constraining import Grammar as _Grammar
from ..._tools import schema_of
from .. import _alias
from . import _serial
from .exception import runtime_errors, structural_tag_errors

__all__ = ["Grammar", "StructuralTagItem"]


def schema_text(schema):
    """The JSON text of a schema: a ``str``, a ``dict`` or a model of pydantic."""
    schema = schema_of(schema)
    if isinstance(schema, str):
        return schema
    if isinstance(schema, (dict, bool)):
        return json.dumps(schema)
    raise ValueError("The schema should be a string or a Pydantic model.")


def json_schema_arguments(
    schema,
    any_whitespace=True,
    indent=None,
    separators=None,
    strict_mode=True,
    max_whitespace_cnt=None,
    any_order=False,
):
    """The text of a schema and the options of ``parlance.Grammar``."""
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
        options["separators"] = separators
    return schema_text(schema), options


def structural_tag_text(args, kwargs):
    """The JSON text of a structural tag, or of tags and triggers."""
    if len(args) == 2 or {"tags", "triggers"} <= kwargs.keys():
        tags, triggers = args if args else (kwargs["tags"], kwargs["triggers"])
        if not isinstance(tags, list) or not isinstance(triggers, list):
            raise TypeError("tags and triggers must be lists")
        return json.dumps(tag_of_items(tags, triggers))
    if len(args) + len(kwargs) != 1 or not (args or "structural_tag" in kwargs):
        raise TypeError("pass structural_tag, or tags and triggers")
    tag = args[0] if args else kwargs["structural_tag"]
    if isinstance(tag, str):
        return tag
    if isinstance(tag, dict):
        return json.dumps(tag)
    if hasattr(tag, "model_dump_json"):
        return tag.model_dump_json()
    if hasattr(tag, "to_json"):
        return tag.to_json()
    raise TypeError(
        "structural_tag must be a StructuralTag, a str or a dict, not "
        + type(tag).__name__
    )


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


def named_grammars_of(grammars):
    """What Lark's ``@name`` stands for, as ``parlance.Grammar`` takes it."""
    if grammars is not None and not isinstance(grammars, dict):
        raise TypeError("named_grammars must be a dictionary")
    out = {}
    for name, value in (grammars or {}).items():
        if not isinstance(name, str):
            raise TypeError("named grammar names must be strings")
        if isinstance(value, Grammar):
            out[name] = value.parlance_grammar
        elif isinstance(value, str):
            out[name] = value
        else:
            raise TypeError(
                "named grammar values must be Grammar instances or Lark strings"
            )
    return out


# XGrammar's grammar of JSON has objects and arrays at its root.
ANY_JSON = '{"type": ["object", "array"]}'
ANY_JSON_OPTIONS = {"key_order": "any", "closed": False, "max_white_space": None}


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
    def _make(cls, grammar):
        self = cls.__new__(cls)
        self.parlance_grammar = grammar
        return self

    @classmethod
    def _of(cls, make, *args, context=runtime_errors, **options):
        with context():
            return cls._make(make(*args, **options))

    def __str__(self):
        return self.parlance_grammar.to_ebnf()

    @staticmethod
    def from_ebnf(ebnf_string, *, root_rule_name="root"):
        """Returns the grammar of an EBNF text, such as a GBNF file."""
        return Grammar._of(_Grammar.from_ebnf, ebnf_string, root_rule_name)

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
        text, options = json_schema_arguments(
            schema,
            any_whitespace,
            indent,
            separators,
            strict_mode,
            max_whitespace_cnt,
            any_order,
        )
        grammar = Grammar._of(_Grammar.from_json_schema, text, **options)
        if print_converted_ebnf:
            print(grammar)
        return grammar

    @staticmethod
    def from_regex(regex_string, *, print_converted_ebnf=False):
        """Returns the grammar of the texts that a pattern matches as a whole."""
        grammar = Grammar._of(_Grammar.from_regex, regex_string)
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
        grammars = named_grammars_of(named_grammars)
        vocabulary = None if tokenizer_info is None else tokenizer_info.vocabulary
        return Grammar._of(
            _Grammar.from_lark,
            lark_string,
            vocabulary,
            grammars=grammars,
        )

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
        text = structural_tag_text(args, kwargs)
        return Grammar._of(
            _Grammar.from_structural_tag, text, context=structural_tag_errors
        )

    @staticmethod
    def builtin_json_grammar():
        """Returns the grammar of all JSON objects and arrays."""
        return Grammar._of(_Grammar.from_json_schema, ANY_JSON, **ANY_JSON_OPTIONS)

    @staticmethod
    def concat(*grammars):
        """Returns the grammar of a text of each of ``grammars``, in a row."""
        return Grammar._of(_Grammar.concat, [g.parlance_grammar for g in grammars])

    @staticmethod
    def union(*grammars):
        """Returns the grammar of the texts of any of ``grammars``."""
        return Grammar._of(_Grammar.union, [g.parlance_grammar for g in grammars])

    def serialize_json(self):
        """Returns the grammar as JSON text, a ``str``."""
        text = _serial.dump_grammar(self.parlance_grammar)
        return _serial.dump("Grammar", {"grammar": text})

    @staticmethod
    def deserialize_json(json_string):
        """Makes the grammar that ``serialize_json`` wrote.

        Raises:
            InvalidJSONError: the text is not JSON.
            DeserializeVersionError: it is of another version.
            DeserializeFormatError: it is not what ``serialize_json`` writes.
        """
        (text,) = _serial.load(json_string, "Grammar", ["grammar"])
        return Grammar._make(_serial.load_grammar(text))

    def __reduce__(self):
        return Grammar.deserialize_json, (self.serialize_json(),)


__getattr__ = _alias.names_of(
    __package__, later={"StructuralTagItem": "structural_tag"}
)
