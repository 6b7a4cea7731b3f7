"""SmolLM2-135M-Instruct behind the server; see docs/examples/smollm2.

The model computes one text at a time, each with its own cache of keys and
values; the weights are shared.  A step therefore costs the sum of its rows,
where an engine for a GPU computes them together.
"""

import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs" / "examples" / "smollm2"))

import model as llama  # noqa: E402
import parlance  # noqa: E402
from app import Served  # noqa: E402
from prompt import ChatMl  # noqa: E402

import chat  # noqa: E402


class SmolLm2:
    """See ``engine.FunctionModel``."""

    def __init__(self, path, folder, context=1024):
        self.context = context
        # Texts that have ended, whose memory is used again.
        self._idle = [llama.Model.load(path, folder, context=context)]
        self._first = self._idle[0]
        self.gguf = self._first.gguf
        self.tokenizer = chat.tokenizer_of(self.gguf)
        self.vocabulary = chat.vocabulary_of(self.tokenizer, path)
        self.width = len(self.vocabulary)

    def open(self):
        return self._idle.pop() if self._idle else self._first.another()

    def logits(self, batch):
        return np.stack([text.feed(ids) for text, ids in batch])

    def close(self, text):
        text.rewind(0)
        self._idle.append(text)


def served(path, folder):
    """What ``app.create_app`` takes."""
    model = SmolLm2(path, folder)
    format = parlance.Format("hermes")
    # Another tokenizer for the clients' text, which reads no markers.
    plain = chat.tokenizer_of(model.gguf)
    plain.encode_special_tokens = True
    prompt = ChatMl(
        format,
        model.tokenizer.token_to_id,
        lambda text: plain.encode(text).ids,
    )
    return Served("smollm2-135m-instruct", model, format, prompt)
