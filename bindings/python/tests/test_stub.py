"""The stub says what is there: names, signatures, classes."""

import ast
import inspect
import pathlib
import re

import pytest

import parlance

STUB = ast.parse(
    (pathlib.Path(parlance.__file__).parent / "__init__.pyi").read_text()
)


def stub_items():
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield node.name, node
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    yield f"{node.name}.{item.name}", item


def runtime(name):
    found = parlance
    for part in name.split("."):
        found = getattr(found, part)
    return found


def stub_parameters(node):
    arguments = node.args
    return [
        (a.arg, False) for a in arguments.posonlyargs + arguments.args
    ] + [(a.arg, True) for a in arguments.kwonlyargs]


def runtime_parameters(found):
    """Names, and whether they are given by name only."""
    if isinstance(found, type):
        found = found.__init__
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        pass
    else:
        if "args" not in signature.parameters:
            return [
                (name, p.kind is p.KEYWORD_ONLY)
                for name, p in signature.parameters.items()
            ]
    # Functions of the extension module have a line of text.
    inner = re.match(r"\w+\((.*)\) ->", found.__doc__.splitlines()[0])[1]
    tree = ast.parse(f"def f({inner}): pass" if inner else "def f(): pass")
    return stub_parameters(tree.body[0])


@pytest.mark.parametrize(
    ("name", "node"), [pytest.param(*item, id=item[0]) for item in stub_items()]
)
def test_stub(name, node):
    found = runtime(name)
    if isinstance(node, ast.ClassDef):
        assert isinstance(found, type)
        bases = [ast.unparse(base) for base in node.bases]
        if bases == ["NamedTuple"]:
            names = tuple(item.target.id for item in node.body)
            assert issubclass(found, tuple) and found._fields == names
            return
        assert [base for base in bases if base not in _names(found)] == []
        return
    decorators = [ast.unparse(d) for d in node.decorator_list]
    if "property" in decorators:
        assert not callable(found)
        return
    if re.fullmatch(r".*\.__(len|contains)__", name):
        return
    assert runtime_parameters(found) == stub_parameters(node)


def _names(cls):
    return {base.__name__ for base in cls.__mro__}


def public(cls):
    return {n for n in dir(cls) if not n.startswith("_")}


def test_nothing_is_missing_from_the_stub():
    names = {name for name, _ in stub_items()}
    assert set(parlance.__all__) == {n for n in names if "." not in n}
    assert parlance.__all__ == sorted(parlance.__all__)
    for name in parlance.__all__:
        cls = getattr(parlance, name)
        if not isinstance(cls, type) or issubclass(cls, (Exception, tuple)):
            continue
        inherited = set()
        for base in cls.__mro__:
            inherited |= {
                n.split(".")[1] for n in names if n.startswith(base.__name__ + ".")
            }
        assert public(cls) <= inherited, name
