"""Real tokenizers, and one made up for a family whose own is not at hand.

    tokenizer = at_hand("tokenizer-qwen3", stops=("<|im_end|>",))
    ids = tokenizer.encode("<tool_call>\\n{")     # as the model's own does
    tokenizer.vocabulary                          # the parlance.Vocabulary
    tokenizer.stops                               # ids of `stops`

A made-up tokenizer has o200k's ordinary tokens, of gpt-oss's package, and as
added tokens what its family writes: control tokens and visible ones.
"""

import dataclasses
import functools
import json

import parlance
from chat_templates import fetched


@dataclasses.dataclass(frozen=True)
class Tokenizer:
    name: str
    encoder: object  # of the package tokenizers
    vocabulary: parlance.Vocabulary
    stops: tuple

    def encode(self, text):
        return self.encoder.encode(text, add_special_tokens=False).ids

    def decode(self, ids):
        return self.encoder.decode(ids, skip_special_tokens=False)


@functools.cache
def tokenizer_json(name):
    return (fetched(name) / "tokenizer.json").read_text("utf-8")


@functools.cache
def made_up_json(control, visible):
    """tokenizer.json of o200k with other added tokens."""
    tokenizer = json.loads(tokenizer_json("tokenizer-gptoss"))
    # Ordinary tokens keep their ids; o200k has no hole below its added ones.
    first = max(tokenizer["model"]["vocab"].values()) + 1
    tokenizer["added_tokens"] = [
        {
            "id": first + i,
            "content": content,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": content in control,
        }
        for i, content in enumerate((*control, *visible))
    ]
    return json.dumps(tokenizer, ensure_ascii=False)


@functools.lru_cache(maxsize=4)
def at_hand(name, stops, control=(), visible=()):
    """The tokenizer of a download, or with "made up" one of these marks.

    `stops` are the texts of the tokens that end a response; those that are
    not a token are left out.  Raises chat_templates.Missing.
    """
    import tokenizers

    if name == "made up":
        extra = tuple(s for s in stops if s not in (*control, *visible))
        text = made_up_json(control + extra, visible)
    else:
        text = tokenizer_json(name)
    encoder = tokenizers.Tokenizer.from_str(text)
    ids = [encoder.token_to_id(stop) for stop in stops]
    return Tokenizer(
        name,
        encoder,
        parlance.Vocabulary.from_tokenizer_json(text),
        tuple(i for i in ids if i is not None),
    )
