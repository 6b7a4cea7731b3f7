"""Logits processors for libraries that accept one in their decoding loop.

    parlance.integrations.transformers   model.generate(logits_processor=[...]);
                                         patch() replaces its parser
    parlance.integrations.llama_cpp      llama-cpp-python
    parlance.integrations.mlx            mlx-lm

Interfaces of other libraries.

    parlance.integrations.xgrammar       XGrammar's
    parlance.integrations.llguidance     llguidance's

Plug-ins with parsers and masks.

    parlance.integrations.sglang         SGLang
    parlance.integrations.vllm           vLLM

Tables of stored responses.

    parlance.integrations.arrow          tables and record batches of pyarrow
    parlance.integrations.polars         expressions of Polars
    parlance.integrations.ray            Ray Data

Each module can be imported without its library, and imports none of the others.
"""
