"""Tokenizers and recorded streams for the tests of plug-ins."""

import functools
import json
import pathlib
import re

import conformance
import parlance
import tokenizers
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]

# ---- Tokenizers.

# What models have as one token.
_MARK = re.compile(
    r"<[|｜][^<>\s\"\\]*[|｜]>|</?(?:think|tool_call|tool_calls|seed:think|"
    r"seed:tool_call|mm:think|longcat_think|longcat_tool_call)(?::\w+)?>|"
    r"\[/?(?:THINK|TOOL_CALLS|ARGS|CALL_ID)\]"
)


def _bytes_of_level():
    return sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())


@functools.cache
def tokenizer_of(marks=()):
    """A fast tokenizer of transformers: bytes, some words, and marks."""
    vocabulary = {piece: i for i, piece in enumerate(_bytes_of_level())}
    merges = []
    for word in ("the", "ing", "name", "city", "arguments", "weather", "param"):
        for end in range(2, len(word) + 1):
            pair = (word[: end - 1], word[end - 1])
            if word[:end] not in vocabulary:
                vocabulary[word[:end]] = len(vocabulary)
                merges.append(pair)
    backend = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab=vocabulary, merges=merges)
    )
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    backend.add_special_tokens(["<|stop|>"])
    backend.add_tokens(
        [tokenizers.AddedToken(m, special="|" in m or "｜" in m) for m in marks]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<|stop|>"
    )


def marks_of(family, *texts):
    found = {*_MARK.findall(parlance.Format(family).source)}
    for text in texts:
        found.update(_MARK.findall(text))
    return tuple(sorted(found))


# ---- Vectors.


def vectors():
    out = []
    for name in conformance.files("formats"):
        out += conformance.read(f"formats/{name}.json")
    return out


def message_of(reasoning, content, calls):
    return {
        "reasoning": (reasoning or "").strip(),
        "content": (content or "").strip(),
        "calls": [(name, json.loads(arguments)) for name, arguments in calls],
    }


def expected_of(expected):
    return {
        "reasoning": (expected.get("reasoning") or "").strip(),
        "content": (expected.get("content") or "").strip(),
        "calls": [
            (call["name"], call["arguments"])
            for call in expected.get("tool_calls") or ()
        ],
    }
