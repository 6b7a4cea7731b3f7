"""Importing a module of this package under the name of the one it stands for."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys

from .._errors import UsageError

# ---- Names


class _Absent(type):
    """The type of what stands for a name that is not there: it can be imported, and
    what uses it says what to use instead."""

    def __call__(cls, *args, **kwargs):
        raise UsageError(cls.__doc__)

    def __getattr__(cls, name):
        raise AttributeError(cls.__doc__)


def names_of(module, *, modules=None, later=None, absent=None):
    """Returns a ``__getattr__`` for a package or module.

    Args:
        module: its name.
        modules: names, and the submodules that they are.
        later: names, and the submodules that they are imported from when they are
            first used.
        absent: names of the other library that are not there, and what to use
            instead, a sentence without its full stop.
    """

    def getattr_of(name):
        if modules and name in modules:
            return importlib.import_module(f"{module}.{modules[name]}")
        if later and name in later:
            return getattr(importlib.import_module(f"{module}.{later[name]}"), name)
        if absent and name in absent:
            return _Absent(name, (), {"__doc__": f"there is no {name}: {absent[name]}"})
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return getattr_of


# ---- Modules


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the module ``name`` and its submodules in the package ``own``."""

    def __init__(self, name, own, absent):
        self.name = name
        self.own = own
        self.absent = absent

    def _own(self, name):
        return self.own + name.removeprefix(self.name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != self.name:
            return None
        remedy = self.absent.get(name.removeprefix(self.name + "."))
        if remedy is not None:
            raise ModuleNotFoundError(f"there is no {name}: {remedy}", name=name)
        if importlib.util.find_spec(self._own(name)) is None:
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        # Whoever imports a module gets what is in sys.modules after this.
        own = self._own(module.__name__)
        sys.modules[module.__name__] = importlib.import_module(own)


def install(name, own, absent=()):
    """Makes ``import name`` find the package ``own``, in this process.

    Args:
        absent: submodules that are not there, and what to use instead.

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
        sys.meta_path.insert(0, _Alias(name, own, dict(absent)))


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
