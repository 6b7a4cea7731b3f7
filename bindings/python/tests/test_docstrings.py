"""Everything public has a docstring, in the package and in its stubs.

The public API is what the ``__all__`` of each module names, and the members of
its classes without an underscore.  It is found by introspection, so a new member
cannot be forgotten.
"""

import ast
import importlib
import inspect
import pathlib
import pydoc
import sys

import pytest

import parlance

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import update_stub  # noqa: E402

FOLDER = pathlib.Path(parlance.__file__).parent
MODULES = [
    "parlance",
    "parlance.chat",
    "parlance.jmespath",
    "parlance.integrations.arrow",
    "parlance.integrations.litellm",
    "parlance.integrations.llama_cpp",
    "parlance.integrations.llguidance",
    "parlance.integrations.mlx",
    "parlance.integrations.outlines",
    "parlance.integrations.polars",
    "parlance.integrations.ray",
    "parlance.integrations.sglang",
    "parlance.integrations.transformers",
    "parlance.integrations.vllm",
    "parlance.integrations.xgrammar",
]
PYTHON_TYPES = (BaseException, tuple)  # their own members are Python's


def members(cls):
    """The public members of a class that this package defines."""
    for name in dir(cls):
        # Names of a metaclass have no owner.
        owner = next((c for c in cls.__mro__ if name in vars(c)), None)
        if owner is None or name.startswith(("_", "model_")):
            continue
        if owner.__module__.startswith("parlance"):
            yield name, vars(owner)[name]


def public():
    """The public API as pairs of a dotted name and the object."""
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        yield module_name, module
        for name in module.__all__:
            found = getattr(module, name)
            if name == "bitmask_dtype":  # NumPy's or torch's
                continue
            yield f"{module_name}.{name}", found
            if not isinstance(found, type):
                continue
            for member, value in members(found):
                if isinstance(value, staticmethod):
                    value = value.__func__
                # Constants such as PatternError.pos have no docstring.
                if callable(value) or inspect.isdatadescriptor(value):
                    yield f"{module_name}.{name}.{member}", value


def test_walk():
    names = [name for name, _ in public()]
    assert len(names) == len(set(names)) > 150
    assert "parlance.Matcher.fill_bitmask" in names
    assert "parlance.Vocabulary.stop_ids" in names
    assert "parlance.ParseResult.message" in names
    assert "parlance.Error.line" in names
    assert "parlance.integrations.mlx.LogitsProcessor.reset" in names


def test_everything_public_has_a_docstring():
    missing = [name for name, found in public() if not update_stub.doc_of(found)]
    assert missing == []


@pytest.mark.parametrize(("file", "module"), update_stub.STUBS.items())
def test_stubs_have_the_docstrings(file, module):
    source = (FOLDER / file).read_text()
    module = importlib.import_module(module)
    missing = [
        name
        for name, node in update_stub.documented(ast.parse(source))
        if not name.endswith(".__init__") and not ast.get_docstring(node)
    ]
    assert missing == []
    assert source == update_stub.updated(source, module), (
        "run bindings/python/update_stub.py"
    )


def test_first_sentences_are_sentences():
    wrong = []
    for name, found in public():
        # Shorter than a screen line or two, and ended.
        first = update_stub.doc_of(found).split("\n\n")[0].rstrip()
        if not first.endswith((".", ":", "``.")) or len(first) > 400:
            wrong.append(f"{name}: {first!r}")
    assert wrong == []


def test_help_shows_no_placeholders():
    for name in parlance.__all__:
        text = pydoc.render_doc(getattr(parlance, name), renderer=pydoc.plaintext)
        assert "<object object at" not in text, name
        assert "=Ellipsis" not in text and "= ..." not in text, name
