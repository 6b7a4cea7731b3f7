"""The format of each chat template at hand is detected, with a reason.

By the template's text and the added tokens alone, and with what the template
renders of `detection_sample()`.
"""

import json
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("jinja2", reason="Jinja2 is not installed")
parlance = pytest.importorskip("parlance")

import chat_templates  # noqa: E402

# They begin the turn anew after a call, so the call is not in the last turn;
# or they render no call at all.
NOT_RENDERED = {
    "HuggingFaceTB-SmolLM3-3B",
    "ibm-granite-granite-3.3-2B-Instruct",
    "google-gemma-2-2b-it",
    "microsoft-Phi-3.5-mini-instruct",
    "LFM2-8B-A1B",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "tokenizer-llama3_1",
    "tokenizer-deepseek_v3",
}


def configuration(template):
    """What the tokenizer of the template says."""
    if template.name.startswith("tokenizer-"):
        path = chat_templates.fetched(template.name) / "tokenizer_config.json"
        return json.loads(path.read_text("utf-8"))
    return {"chat_template": chat_templates.source(template.name)}


class Tokenizer:
    """As much of a tokenizer of transformers as detection needs."""

    def __init__(self, template):
        self.template = template
        self.init_kwargs = configuration(template)
        self.added_tokens_decoder = {
            int(number): token["content"]
            for number, token in self.init_kwargs.get(
                "added_tokens_decoder", {}
            ).items()
        }

    def apply_chat_template(
        self, messages, *, tools, tokenize, add_generation_prompt
    ):
        assert tokenize is False
        return chat_templates.render(
            self.template, messages, tools, add_generation_prompt
        )


@pytest.fixture(params=chat_templates.TEMPLATES, ids=str)
def template(request):
    try:
        chat_templates.source(request.param.name)
    except chat_templates.Missing as missing:
        pytest.skip(str(missing))
    return request.param


def test_by_text(template):
    found = parlance.detect_format(configuration(template))
    assert found.name == template.format
    assert found.why and not found.why.endswith(".")
    assert found.family not in found.others
    if found.certainty == "certain":
        assert found.others == []


def test_by_what_it_renders(template):
    found = parlance.detect_format(Tokenizer(template))
    assert found.name == template.format
    reads = "it reads the call that the chat template renders" in found.why
    assert reads == (template.name not in NOT_RENDERED)
    if reads:
        assert found.certainty == ("likely" if found.others else "certain")


def test_by_rendering_alone(template):
    """Without the template's text the families that read the call are named."""
    tokenizer = Tokenizer(template)
    if template.name in NOT_RENDERED:
        return
    rendered = parlance._rendered_sample(tokenizer)
    family = parlance.detect_format(tokenizer).family
    found = parlance.detect_format({}, rendered=rendered)
    assert family in [found.family, *found.others]
    assert found.certainty in ("likely", "guess")
