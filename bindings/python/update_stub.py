"""Copies the docstrings of the package into its stubs.

    PYTHONPATH=... python bindings/python/update_stub.py            # rewrites
    PYTHONPATH=... python bindings/python/update_stub.py --check    # compares

The stubs hold the types; the docstrings are written once, in the Python files
and in docstrings.h, and copied here for editors, which read stubs only.  The
package on the path must be built from the same sources.
"""

import ast
import importlib
import inspect
import pathlib
import re
import sys
import textwrap

FOLDER = pathlib.Path(__file__).resolve().parent / "parlance"
STUBS = {
    "__init__.pyi": "parlance",
    "chat.pyi": "parlance.chat",
    "jmespath.pyi": "parlance.jmespath",
}

_SIGNATURE = re.compile(r"\w+\(.*\) -> .*\Z")


def doc_of(found):
    """The docstring of a public object, "" if it has none of its own.

    Functions of the extension module have their signature in the first line,
    which is left out.
    """
    doc = getattr(found, "__doc__", None) or ""
    if isinstance(found, type):
        doc = vars(found).get("__doc__") or ""
    first, _, rest = doc.partition("\n")
    if _SIGNATURE.match(first):
        doc = rest
    return inspect.cleandoc(doc)


def runtime(module, name):
    """The object of a dotted name; a property as such, not its value."""
    first, *rest = name.split(".")
    found = getattr(module, first)  # the package loads its names when they are used
    for part in rest:
        found = inspect.getattr_static(found, part)
    return found.__func__ if isinstance(found, staticmethod) else found


def documented(tree):
    """The classes, functions and members of a stub, as (name, node).

    Of the overloads of a function the first carries the docstring.
    """
    seen = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if node.name not in seen:
                yield node.name, node
            seen.add(node.name)
        elif isinstance(node, ast.ClassDef):
            yield node.name, node
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    yield f"{node.name}.{item.name}", item


def literal(text, indent):
    """A docstring as source text that begins at ``indent``."""
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if "\n" in text:
        text += "\n"
    return textwrap.indent(f'"""{text}"""', indent)


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value.value, str)


def is_ellipsis(node):
    return isinstance(node, ast.Expr) and node.value.value is ...


def updated(source, module):
    """The stub ``source`` with the docstrings of ``module``."""
    begins = [0]
    for line in source.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))

    def start(node):
        decorators = getattr(node, "decorator_list", None)
        if decorators:  # one column after the "@"
            return begins[decorators[0].lineno - 1] + decorators[0].col_offset - 1
        return begins[node.lineno - 1] + node.col_offset

    def end(node):
        return begins[node.end_lineno - 1] + node.end_col_offset

    # Replaces what lies between the header of a class or function and the first
    # member, from the end of the file on, so that offsets stay valid.
    for name, node in reversed(list(documented(ast.parse(source)))):
        members = [
            n for n in node.body if not is_docstring(n) and not is_ellipsis(n)
        ]
        doc = "" if name.endswith(".__init__") else doc_of(runtime(module, name))
        indent = " " * (node.col_offset + 4)
        header = source[: start(node.body[0])].rstrip()
        body = "\n" + literal(doc, indent) if doc else ""
        if members:
            rest = "\n" + indent + source[start(members[0]) :]
        else:
            rest = ("" if doc else " ...") + source[end(node) :]
        source = header + body + rest
    # A blank line after each docstring.
    return re.sub(r'"""\n(?=[^\n])(?! *""")', '"""\n\n', source)


def main():
    # Of a script, the first entry is its folder, which has the package unbuilt.
    sys.path.pop(0)
    stale = []
    for file, name in STUBS.items():
        path = FOLDER / file
        source = path.read_text()
        text = updated(source, importlib.import_module(name))
        if text == source:
            continue
        stale.append(file)
        if "--check" not in sys.argv:
            path.write_text(text)
    if stale and "--check" in sys.argv:
        sys.exit(f"stale: {', '.join(stale)}; run bindings/python/update_stub.py")


if __name__ == "__main__":
    main()
