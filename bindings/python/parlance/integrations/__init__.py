"""Logits processors for libraries that accept one in their decoding loop.

    parlance.integrations.transformers   model.generate(logits_processor=[...])
    parlance.integrations.llama_cpp      llama-cpp-python
    parlance.integrations.mlx            mlx-lm

Each module can be imported without its library, and imports none of the others.
"""
