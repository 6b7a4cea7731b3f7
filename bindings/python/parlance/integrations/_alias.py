"""Importing a module of this package under the name of the one it stands for."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys

from .._errors import UsageError


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the module ``name`` and its submodules in the package ``own``."""

    def __init__(self, name, own):
        self.name = name
        self.own = own

    def _own(self, name):
        return self.own + name.removeprefix(self.name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != self.name:
            return None
        if importlib.util.find_spec(self._own(name)) is None:
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        # Whoever imports a module gets what is in sys.modules after this.
        own = self._own(module.__name__)
        sys.modules[module.__name__] = importlib.import_module(own)


def install(name, own):
    """Makes ``import name`` find the package ``own``, in this process.

    Raises:
        UsageError: ``name`` has been imported; the two cannot be mixed.
    """
    known = sys.modules.get(name)
    if known is not None and known is not sys.modules[own]:
        raise UsageError(
            f"{name} has already been imported; call install() before the first "
            "import of it"
        )
    if not _finders(name):
        sys.meta_path.insert(0, _Alias(name, own))


def uninstall(name):
    """Undoes ``install``.  Names that were imported stay as they are."""
    for finder in _finders(name):
        sys.meta_path.remove(finder)
        for module in [m for m in sys.modules if m.partition(".")[0] == name]:
            del sys.modules[module]


def _finders(name):
    return [
        finder
        for finder in sys.meta_path
        if isinstance(finder, _Alias) and finder.name == name
    ]
