"""`parlance render`: a message as a model family writes it."""

import json

from small_family import FAMILY


def test_a_message_is_written_and_read_back(parlance, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(FAMILY))
    message = {"role": "assistant", "thinking": "Hm.", "content": "Hi."}
    out, _ = parlance("render", "-t", "mine.json", stdin=json.dumps(message))
    assert out == "<think>Hm.</think>Hi."
    out, _ = parlance("parse", "-t", "mine.json", stdin=out)
    assert json.loads(out) == {"thinking": "Hm.", "content": "Hi."}
    out, _ = parlance(
        "render", "-t", "mine.json", "--prefix", "A:<think>",
        stdin=json.dumps(message),
    )  # fmt: skip
    assert out == "Hm.</think>Hi."


def test_a_message_that_cannot_be_written_is_an_error(parlance, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(FAMILY))
    message = json.dumps({"thinking": "</think>"})
    _, err = parlance("render", "-t", "mine.json", stdin=message, status=2)
    assert "cannot express it" in err
    out, _ = parlance(
        "render", "-t", "mine.json", "--no-verify", stdin=message
    )
    assert out == "<think></think></think>"
    _, err = parlance("render", "-t", "mine.json", stdin="{]", status=2)
    assert "JSON" in err or "json" in err


def test_a_format_is_required(parlance):
    _, err = parlance("render", stdin="{}", status=2)
    assert "--format" in err
