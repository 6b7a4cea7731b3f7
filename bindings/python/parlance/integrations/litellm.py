"""Reasoning and tool calls in the proxy of LiteLLM.

    # parlance_parser.py, beside config.yaml
    from parlance.integrations.litellm import response_parser

    parser = response_parser({"my-model": "qwen3"})

    # config.yaml
    litellm_settings:
      callbacks: ["parlance_parser.parser"]

A model behind the proxy that writes raw text, with the delimiters of its family,
then answers with reasoning, content and tool calls, streamed or not.

Importing this module imports nothing of LiteLLM.
"""

from __future__ import annotations

__all__ = ["response_parser"]


def response_parser(formats, *, prefixes=None):
    """Returns a ``CustomLogger`` of LiteLLM that parses chat completions.

    Args:
        formats: the format of each model, by the name that clients ask for: a
            ``Format``, its name, or a response template.  Other models are left
            alone.  A format alone is for all models.
        prefixes: what the chat template of a model writes last, by the name of
            the model; for example ``"<think>\\n"`` where responses begin inside
            reasoning.  A ``str`` alone is for all models.

    Raises:
        TemplateError: there is no such format.
        ImportError: LiteLLM is not installed.
    """
    from ._litellm import Parser

    return Parser(formats, prefixes)
