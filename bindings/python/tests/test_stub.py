"""The stubs agree with the package: names, classes, signatures, defaults."""

import ast
import importlib
import inspect
import pathlib
import re
import typing

import pytest

import parlance

FOLDER = pathlib.Path(parlance.__file__).parent
STUBS = {
    "parlance": ast.parse((FOLDER / "__init__.pyi").read_text()),
    "parlance.chat": ast.parse((FOLDER / "chat.pyi").read_text()),
    "parlance.jmespath": ast.parse((FOLDER / "jmespath.pyi").read_text()),
}


def stub_items():
    """The classes and functions of the stubs: (module, name, node)."""
    for module, stub in STUBS.items():
        for node in stub.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield module, node.name, node
            if isinstance(node, ast.ClassDef):
                for item in node.body:
                    if isinstance(item, ast.FunctionDef):
                        yield module, f"{node.name}.{item.name}", item


def runtime(module, name):
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class Parameter(typing.NamedTuple):
    name: str
    by_name_only: bool
    default: str  # its repr, "" for none


def parameters_of(arguments):
    """The parameters of a signature in source form."""

    def default(node):
        return "" if node is None else ast.unparse(node)

    named = arguments.posonlyargs + arguments.args
    missing = [None] * (len(named) - len(arguments.defaults))
    pairs = list(zip(named, missing + arguments.defaults))
    out = [Parameter(a.arg, False, default(d)) for a, d in pairs]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults)
    return out + [Parameter(a.arg, True, default(d)) for a, d in pairs]


def signature_line(found):
    """The signature of a function of the extension module, parsed."""
    line = found.__doc__.splitlines()[0]
    inner, returns = re.match(r"\w+\((.*)\) -> (.*)", line).groups()
    return ast.parse(f"def f({inner}) -> {returns}: pass").body[0]


def is_native(found):
    return not inspect.isfunction(inspect.unwrap(found))


def runtime_parameters(found):
    if isinstance(found, type):
        found = found.__init__
    if is_native(found):
        return parameters_of(signature_line(found).args)
    return [
        Parameter(
            name,
            p.kind is p.KEYWORD_ONLY,
            "" if p.default is p.empty else repr(p.default),
        )
        for name, p in inspect.signature(found).parameters.items()
    ]


def stub_parameters(node):
    # NOT_GIVEN is the same object in both; this is its repr.
    return [
        p._replace(default=p.default.replace("NOT_GIVEN", "<not given>"))
        for p in parameters_of(node.args)
    ]


@pytest.mark.parametrize(
    ("module", "name", "node"),
    [pytest.param(*item, id=f"{item[0]}.{item[1]}") for item in stub_items()],
)
def test_stub(module, name, node):
    found = runtime(module, name)
    if isinstance(node, ast.ClassDef):
        assert isinstance(found, type)
        bases = [ast.unparse(base) for base in node.bases]
        if bases == ["NamedTuple"]:
            names = tuple(
                item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign)
            )
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
    if is_native(found) and node.name != "__init__":
        returns = ast.unparse(signature_line(found).returns)
        # In a class with a method `bytes` the stub has an alias for the type.
        stub = ast.unparse(node.returns).replace("_Bytes", "bytes")
        assert returns == stub


@pytest.mark.parametrize(
    ("module", "name", "node"),
    [pytest.param(*item, id=f"{item[0]}.{item[1]}") for item in stub_items()],
)
def test_defaults_are_readable(module, name, node):
    if not isinstance(node, ast.FunctionDef) or "property" in [
        ast.unparse(d) for d in node.decorator_list
    ]:
        return
    found = runtime(module, name)
    defaults = [p.default for p in parameters_of(node.args)]
    if not node.name.startswith("__") or not is_native(found):
        defaults += [p.default for p in runtime_parameters(found)]
    for default in defaults:
        assert default != "..." and " at 0x" not in default, default


def _names(cls):
    return {base.__name__ for base in cls.__mro__}


def public(cls):
    return {n for n in dir(cls) if not n.startswith("_")}


@pytest.mark.parametrize("module", STUBS)
def test_nothing_is_missing_from_the_stub(module):
    names = {name for of, name, _ in stub_items() if of == module}
    found = importlib.import_module(module)
    assert set(found.__all__) == {n for n in names if "." not in n}
    assert found.__all__ == sorted(found.__all__)
    for name in found.__all__:
        cls = getattr(found, name)
        if not isinstance(cls, type) or issubclass(cls, (Exception, tuple)):
            continue
        inherited = set()
        for base in cls.__mro__:
            inherited |= {
                n.split(".")[1] for n in names if n.startswith(base.__name__ + ".")
            }
        assert public(cls) <= inherited, name
