"""Scripts of this folder as modules: their names have no suffix."""

import functools
import importlib.machinery
import importlib.util
import pathlib
import sys

sys.dont_write_bytecode = True  # scripts have no folder for it


@functools.cache
def script(name):
    """The one module of a script, whoever asks for it."""
    path = pathlib.Path(__file__).with_name(name)
    module_name = name.replace("-", "_")
    loader = importlib.machinery.SourceFileLoader(module_name, str(path))
    spec = importlib.util.spec_from_loader(module_name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # data classes look their module up
    loader.exec_module(module)
    return module
