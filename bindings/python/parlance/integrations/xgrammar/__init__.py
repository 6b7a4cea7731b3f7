"""XGrammar's Python interface, with Parlance inside.

    import parlance.integrations.xgrammar as xgrammar

or, for a program that imports ``xgrammar`` itself:

    import parlance.integrations.xgrammar
    parlance.integrations.xgrammar.install()

Names, arguments and submodules are those of XGrammar 0.2.8; what differs is in
docs/guide/xgrammar.md.

The module needs no XGrammar and no torch.  What makes bitmasks without torch
needs NumPy; the classes of structural tags, tools and tool choices need
pydantic, and are imported when they are first used.
"""

from __future__ import annotations

from .. import _alias
from . import exception
from .compiler import CompiledGrammar, GrammarCompiler
from .config import (
    get_max_recursion_depth,
    get_serialization_version,
    max_recursion_depth,
    set_max_recursion_depth,
)
from .exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
    InvalidStructuralTagError,
)
from .grammar import Grammar
from .matcher import (
    BatchGrammarMatcher,
    GrammarMatcher,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from .tokenizer_info import TokenizerInfo, VocabType

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "StructuralTag",
    "StructuralTagItem",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "exception",
    "get_bitmask_shape",
    "get_builtin_structural_tag",
    "get_max_recursion_depth",
    "get_model_structural_tag",
    "get_serialization_version",
    "hf",
    "install",
    "max_recursion_depth",
    "normalize_tool_choice",
    "register_model_structural_tag",
    "reset_token_bitmask",
    "set_max_recursion_depth",
    "structural_tag",
    "testing",
    "uninstall",
]

_INSIDE = "it is XGrammar's inside; objects have parlance_grammar, constraint, matcher"
_ABSENT_MODULES = {
    "base": _INSIDE,
    "load_binding": _INSIDE,
    "tvm_ffi_binding": _INSIDE,
}

__getattr__ = _alias.names_of(
    __name__,
    modules={
        "builtin_structural_tag": "builtin_structural_tag",
        "contrib": "contrib",
        "hf": "contrib.hf",
        "kernels": "kernels",
        "openai_tool_call_schema": "openai_tool_call_schema",
        "structural_tag": "structural_tag",
        "testing": "testing",
    },
    later={
        "StructuralTag": "structural_tag",
        "StructuralTagItem": "structural_tag",
        "bitmask_dtype": "matcher",
        "get_builtin_structural_tag": "builtin_structural_tag",
        "get_model_structural_tag": "builtin_structural_tag",
        "normalize_tool_choice": "builtin_structural_tag",
        "register_model_structural_tag": "builtin_structural_tag",
    },
    absent=_ABSENT_MODULES,
)


def install():
    """Makes ``import xgrammar``, its submodules included, find this module, in
    this process, whether XGrammar is installed or not.

    Raises:
        UsageError: XGrammar has been imported; the two cannot be mixed.
    """
    _alias.install("xgrammar", __name__, _ABSENT_MODULES)


def uninstall():
    """Undoes ``install``.  Names that were imported stay as they are."""
    _alias.uninstall("xgrammar")
