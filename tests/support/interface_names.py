"""The public names of a Python package, read from its sources, not imported."""

import ast
import pathlib
import re
import textwrap


def _defined(tree):
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            yield from ((t.id, None) for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, None


def _members(node):
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            yield one.name
        elif isinstance(one, ast.AnnAssign):
            yield one.target.id


def _trees(root):
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.pyi")]):
        parts = path.relative_to(root).with_suffix("").parts
        parts = [part for part in parts if part != "__init__"]
        yield parts, ast.parse(path.read_text())


def public_names(folder, package):
    """Yields ``[module, name]`` and ``[module, class, member]``.

    What a module only imports is left out, but in the package itself; its stubs of
    what is compiled (``_lib.pyi``) count as the package.
    """
    for parts, tree in _trees(pathlib.Path(folder) / package):
        is_package = not parts
        parts = [part for part in parts if part != "_lib"]
        if any(part.startswith("_") for part in parts):
            continue
        module = ".".join([package, *parts])
        names = dict(_defined(tree))
        if is_package:
            names.update(
                (one.asname or one.name, None)
                for node in tree.body
                if isinstance(node, ast.ImportFrom) and node.level
                for one in node.names
            )
        for name, node in names.items():
            if name.startswith("_") or name == "*":
                continue
            yield [module, name]
            if isinstance(node, ast.ClassDef):
                for member in _members(node):
                    if not member.startswith("_"):
                        yield [module, name, member]


_SNIPPET = re.compile(r"\.\. code(?:-block)?:: ?python\n\n((?: +.*\n?|\n)+)")


def doc_snippets(folder, package):
    """Yields ``(module.object, code)`` of the examples in docstrings."""
    for parts, tree in _trees(pathlib.Path(folder) / package):
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                for found in _SNIPPET.finditer(ast.get_docstring(node) or ""):
                    where = ".".join([package, *parts, node.name])
                    yield where, textwrap.dedent(found[1]).strip()
