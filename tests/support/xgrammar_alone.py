"""XGrammar without torch, triton and transformers.

`PARLANCE_PEERS` names the folder that it lies in with the one package it
needs beside it, as requirements/peers.txt says.

At import it asks torch and transformers for a few names: for annotations, for
classes to derive from and for the type of a mask's words.  It gets stand-ins,
which are gone when the import is done.  Masks need no torch: they are written
into any array that speaks DLPack, such as numpy's.  What really needs it, that
is applying masks to logits and reading a tokenizer of transformers, does not
work.
"""

import importlib
import os
import pathlib
import sys
import types

NAMES = {
    "torch": ("Tensor", "LongTensor", "FloatTensor", "int32"),
    "transformers": (
        "LogitsProcessor",
        "PreTrainedTokenizerBase",
        "PreTrainedTokenizerFast",
    ),
}


def missing():
    """Why it cannot be loaded; None if it can."""
    folder = os.environ.get("PARLANCE_PEERS")
    if not folder:
        return "PARLANCE_PEERS is not set: no xgrammar to compare"
    if not (pathlib.Path(folder) / "xgrammar").is_dir():
        return f"there is no xgrammar in {folder}"
    return None


def load():
    """The module xgrammar.  REQUIRES: missing() is None."""
    sys.path.append(os.environ["PARLANCE_PEERS"])
    # Looks for torch too, and does without.
    importlib.import_module("tvm_ffi")
    kept = {name: sys.modules.get(name) for name in NAMES}
    for name, members in NAMES.items():
        stand_in = types.ModuleType(name)
        for member in members:
            setattr(stand_in, member, type(member, (), {}))
        sys.modules[name] = stand_in
    sys.modules["torch"].tensor = lambda *args, **kwargs: None
    try:
        return importlib.import_module("xgrammar")
    finally:
        for name, known in kept.items():
            if known is None:
                del sys.modules[name]
            else:
                sys.modules[name] = known
