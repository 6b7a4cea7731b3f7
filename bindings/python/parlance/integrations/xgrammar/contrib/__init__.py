"""Hosts of constraints, by XGrammar's names."""

from ... import _alias

__getattr__ = _alias.names_of(__name__, modules={"hf": "hf", "mlxlm": "mlxlm"})
