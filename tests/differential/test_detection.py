"""The format of each chat template at hand is detected, with a reason.

By the template's text and the added tokens alone, and with what the template
renders of `detection_sample()`.
"""

import json
import os
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("jinja2", reason="Jinja2 is not installed")
parlance = pytest.importorskip("parlance")

import chat_templates  # noqa: E402

LONG = bool(os.environ.get("PARLANCE_LONG"))  # all renamed markers

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


def reads(name, rendered):
    """Whether the format reads the call of the sample."""
    sample = parlance.detection_sample()
    split = rendered.rfind("Reykjavik")
    parser = parlance.Format(name).parser(
        rendered[:split], tools=sample["tools"]
    )
    parser.feed(rendered[split:])
    parser.finalize()
    calls = parser.message.get("tool_calls") or []
    return [call.get("function", call) for call in calls] == [
        {"name": "get_weather", "arguments": {"city": "Reykjavik"}}
    ] and not parser.message.get("content", "").strip()


class Renamed(Tokenizer):
    """The tokenizer of a family that does not exist: one marker is another."""

    def __init__(self, template, marker):
        super().__init__(template)
        word = re.escape(marker) + r"(?![A-Za-z])"
        self.text = re.sub(
            r"(?<![A-Za-z_])" + word,
            marker + "x9",
            chat_templates.source(template.name),
        )
        self.init_kwargs = {"chat_template": self.text}
        self.added_tokens_decoder = {}

    def apply_chat_template(self, *arguments, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chat_templates, "source", lambda _: self.text)
            return super().apply_chat_template(*arguments, **options)


def markers_of_calls(rendered):
    """The names of the markers around the call of the sample."""
    end = rendered.rfind("Reykjavik")
    begin = max(rendered.rfind("get_weather", 0, end) - 40, 0)
    around = rendered[begin : end + 60]
    return sorted(set(re.findall(r"[<\[]/?\|?([A-Za-z_][\w:.-]{3,})", around)))


def test_made_up_families_are_unknown(template):
    """A family with another marker: the format that is named reads its calls."""
    if template.name in NOT_RENDERED or template.name.startswith("tokenizer-"):
        return
    rendered = parlance._api._rendered_sample(Tokenizer(template))
    markers = markers_of_calls(rendered)
    if not LONG:  # one of them, another for each template
        markers = markers[len(template.name) % len(markers) :][:1] if markers else []
    for marker in markers:
        tokenizer = Renamed(template, marker)
        text = parlance._api._rendered_sample(tokenizer)
        if text == rendered or "Reykjavik" not in text:
            continue
        try:
            found = parlance.detect_format(tokenizer)
        except parlance.TemplateError as error:
            assert error.code == "unknown_format"
            assert "Reykjavik" in error.message
        else:
            assert reads(found.name, text), (marker, found)


def test_by_rendering_alone(template):
    """Without the template's text the families that read the call are named."""
    tokenizer = Tokenizer(template)
    if template.name in NOT_RENDERED:
        return
    rendered = parlance._api._rendered_sample(tokenizer)
    family = parlance.detect_format(tokenizer).family
    found = parlance.detect_format({}, rendered=rendered)
    assert family in [found.family, *found.others]
    assert found.certainty in ("likely", "guess")
