"""Logits processors for hosts that let one into their loop.

    parlance.integrations.transformers   model.generate(logits_processor=[...])
    parlance.integrations.llama_cpp      llama-cpp-python
    parlance.integrations.mlx            mlx-lm

Each module can be imported without its host, and imports none of the others.
"""
