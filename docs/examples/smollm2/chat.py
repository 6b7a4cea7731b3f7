"""A tokenizer, a loop, and a parser: what an engine does around a model."""

from typing import NamedTuple

import numpy as np
import parlance
import tokenizers

IM_START, IM_END = "<|im_start|>", "<|im_end|>"
_CONTROL = 3  # tokenizer.ggml.token_type


def tokenizer_of(gguf):
    """The tokenizer that the file describes, of the library tokenizers."""
    facts = gguf.metadata
    spelled = facts["tokenizer.ggml.tokens"]
    merges = [tuple(m.split(" ")) for m in facts["tokenizer.ggml.merges"]]
    out = tokenizers.Tokenizer(
        tokenizers.models.BPE({s: id for id, s in enumerate(spelled)}, merges)
    )
    # "smollm": each digit is a token, the rest is as in GPT-2.
    out.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    out.decoder = tokenizers.decoders.ByteLevel()
    kinds = facts["tokenizer.ggml.token_type"]
    out.add_special_tokens(
        [
            tokenizers.AddedToken(s, special=True, normalized=False)
            for s, kind in zip(spelled, kinds)
            if kind == _CONTROL
        ]
    )
    return out


def vocabulary_of(tokenizer, path):
    """Tokens, their kinds and the stop token as the GGUF file has them.

    The tokenizer says with which ids the model would write what is forced.
    """
    return parlance.Vocabulary.from_file(path).with_encoder(
        lambda text: tokenizer.encode(text).ids
    )


def prompt_of(system, user):
    """As the model's chat template writes it."""
    return (
        f"{IM_START}system\n{system}{IM_END}\n"
        f"{IM_START}user\n{user}{IM_END}\n{IM_START}assistant\n"
    )


class Step(NamedTuple):
    """What one turn of the loop added."""

    ids: list
    forced: bool  # the model was not asked
    events: list


def generate(model, constraint, parser, prompt, *, choose, max_tokens):
    """Lets the model write one response; yields each ``Step``.

    ``parser`` reads the ids as they come.  Ends with the response, or after
    ``max_tokens`` of it.
    """
    matcher = constraint.matcher()
    mask = np.zeros(constraint.mask_words, np.int32)
    waiting = list(prompt)  # what the model has not read
    length = 0
    while not matcher.is_terminated() and length < max_tokens:
        ids = matcher.forced_tokens()
        forced = bool(ids)
        if not forced:
            logits = model.feed(waiting)
            waiting.clear()
            if matcher.fill_bitmask(mask):
                parlance.apply_bitmask(logits, mask)
            ids = [choose(logits)]
        if matcher.accept_tokens(ids) < len(ids):
            raise AssertionError(f"a mask and its matcher disagree on {ids}")
        waiting += ids
        length += len(ids)
        yield Step(ids, forced, parser.feed(ids))


def greedy(logits):
    return int(logits.argmax())


def sampler(seed, temperature):
    """Chooses at random, by the model's probabilities; repeatable."""
    generator = np.random.default_rng(seed)

    def choose(logits):
        weights = np.exp((logits - logits.max()) / np.float32(temperature))
        return int(generator.choice(len(weights), p=weights / weights.sum()))

    return choose
