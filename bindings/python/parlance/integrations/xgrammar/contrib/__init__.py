"""Hosts of constraints, by XGrammar's names."""
