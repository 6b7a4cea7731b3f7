"""llguidance's Python interface, with Parlance inside.

    import parlance.integrations.llguidance

    parlance.integrations.llguidance.install()
    import llguidance                        # this module

Names, arguments and submodules are those of llguidance 1.9.1, and so is how
errors are reported: a matcher never raises, it has an error.  What differs is in
docs/guide/llguidance.md.  torch, mlx and NumPy are needed by the submodules of
their names alone.
"""

from __future__ import annotations

from ... import __version__
from .. import _alias
from ._grammars import (
    GrammarFormat as GrammarFormat,
    JsonCompiler,
    LarkCompiler,
    RegexCompiler,
    StructTag,
    grammar_from,
)
from ._matcher import LLExecutor, LLMatcher, LLParserLimits
from ._tokenizer import LLTokenizer, TokenizerWrapper

__all__ = [
    "JsonCompiler",
    "LLExecutor",
    "LLMatcher",
    "LLParserLimits",
    "LLTokenizer",
    "LarkCompiler",
    "RegexCompiler",
    "StructTag",
    "TokenizerWrapper",
    "get_version",
    "grammar_from",
    "install",
    "uninstall",
]

_ABSENT_MODULES = {
    "_lib": "its names are in llguidance itself",
    "cli": "`parlance mask` and `parlance accept` are the commands",
    "llamacpp": "LLTokenizer(vocabulary_of(llama)) is the tokenizer, with "
    "vocabulary_of of parlance.integrations.llama_cpp",
}

__getattr__ = _alias.names_of(
    __name__,
    absent={
        "LLInterpreter": "LLMatcher has the masks (compute_bitmask), the tokens that "
        "must come (compute_ff_tokens) and the captures",
        "regex_to_lark": "LLMatcher.grammar_from_regex takes the pattern itself",
    },
)


def get_version():
    """Parlance's name and version."""
    return f"parlance@{__version__}"


def install():
    """Makes ``import llguidance`` find this module, in this process.

    Raises:
        UsageError: llguidance has been imported.
    """
    _alias.install("llguidance", __name__, _ABSENT_MODULES)


def uninstall():
    """Undoes ``install``.  Names that were imported stay as they are."""
    _alias.uninstall("llguidance")
