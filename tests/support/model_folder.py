"""Small vocabularies, as the folder of a model."""

import json


def write_model(folder, tokens, control, stop):
    """Writes `tokens` by id, then the `control` tokens; `stop` is an id."""
    pieces = [
        f"<0x{token[0]:02X}>" if len(token) == 1 else token.decode()
        for token in tokens
    ]
    tokenizer = {
        "model": {"type": "Unigram", "vocab": [[piece, 0] for piece in pieces]},
        "added_tokens": [
            {"id": len(tokens) + i, "content": content, "special": True}
            for i, content in enumerate(control)
        ],
        "decoder": {"type": "ByteFallback"},
    }
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": stop}))
