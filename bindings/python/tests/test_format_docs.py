"""The examples in formats/*.md: what a family writes, and the message it is.

Each is parsed whole, by single characters and by single bytes, by the built-in
format and, strictly, by its bare template.  A bare template cannot leave out
white space that belongs to the format, nor read what needs "parlance.read".
"""

import json
import pathlib
import re

import pytest

import parlance

FORMATS = pathlib.Path(__file__).resolve().parents[3] / "formats"
EXAMPLE = re.compile(
    r'<!-- format=(\S+) prefix="(.*?)"(?: tools=(.*?))? -->\n'
    r"(`{3,})response\n(.*?)\n\4\n"
    r"(`{3,})message\n(.*?)\n\6\n",
    re.DOTALL,
)


def examples():
    for path in sorted(FORMATS.glob("*.md")):
        text = path.read_text("utf-8")
        assert text.count("<!-- format=") == len(EXAMPLE.findall(text)), path
        for i, match in enumerate(EXAMPLE.finditer(text)):
            name, prefix, tools, _, response, _, message = match.groups()
            yield pytest.param(
                name,
                json.loads(f'"{prefix}"'),
                json.loads(tools) if tools else None,
                response,
                message,
                id=f"{path.stem}-{i}",
            )


def beyond_templates(field):
    """Whether a bare template cannot read what this reading asks for."""
    return (
        "syntax" in field
        or isinstance(field.get("values"), dict)
        or field.get("members", {}).get("only_key", False)
        or "type_by" in field.get("arguments", {})
    )


def reads_beyond_its_template(name):
    for path in FORMATS.glob("*.json"):
        file = json.loads(path.read_text("utf-8"))
        if "name" not in file:  # the schema of these files
            continue
        if name in (file["name"], *file["parlance"].get("variants", ())):
            reading = file["parlance"].get("read", {})
            return any(map(beyond_templates, reading.values()))
    raise AssertionError(name)


def without_outer_space(message):
    """The message without white space around its texts."""
    out = {}
    for key, value in message.items():
        if isinstance(value, str):
            value = value.strip()
        if value != "":
            out[key] = value
    return out


def parse(spec, prefix, tools, pieces):
    parser = parlance.ResponseParser(spec, prefix, tools=tools)
    for piece in pieces:
        parser.feed(piece)
    message, _ = parser.finalize()
    return parser, message


@pytest.mark.parametrize("name, prefix, tools, response, message", list(examples()))
def test_example(name, prefix, tools, response, message):
    expected = json.loads(message)
    ways = (
        [response],
        list(response),
        [bytes([b]) for b in response.encode()],
    )
    for pieces in ways:
        parser, got = parse(name, prefix, tools, pieces)
        assert json.dumps(got) == json.dumps(expected)
        assert not parser.diagnostics
    if reads_beyond_its_template(name):
        return
    for pieces in ways:
        template = parlance.Format(name).template
        parser, got = parse(template, prefix, tools, pieces)
        assert without_outer_space(got) == without_outer_space(expected)
        assert not parser.diagnostics


def test_every_format_has_examples():
    documented = {path.stem for path in FORMATS.glob("*.md")}
    assert documented == set(parlance.formats())


NAMES = (FORMATS.parent / "docs" / "reference" / "formats.md").read_text(
    "utf-8"
)
NAMES = NAMES.split("## Names of other engines\n")[1].split("\n## ")[0]


def rows_of_names():
    """(names, the rest of the row) of each table, a list per table."""
    for table in re.split(r"\n\| ---.*\n", NAMES)[1:]:
        lines = [line for line in table.splitlines() if line.startswith("| `")]
        yield [
            (re.findall(r"`([^`]+)`", cells[1]), cells[2:])
            for cells in (line.split("|") for line in lines)
        ]


def test_names_of_other_engines():
    """The tables say which format a name finds."""
    aliases, ambiguous, none = rows_of_names()
    assert len(aliases) > 15
    for names, (_, format_name, *_) in aliases:
        expected = re.findall(r"`([^`]+)`", format_name)[0]
        for name in names:
            assert parlance.Format(name).name == expected, name
    for (name,), (finds, *_) in ambiguous:
        expected = re.findall(r"`([^`]+)`", finds)[0]
        assert parlance.Format(name).name == expected, name
    for names, _ in none:
        for name in names:
            with pytest.raises(parlance.Error) as caught:
                parlance.Format(name)
            assert caught.value.code == "unknown_format"


# Every name that vLLM's and SGLang's parsers of calls and of reasoning,
# mlx-lm's parsers and XGrammar's tags have and that has a format here.
KNOWN = """
apertus cohere_command3 cohere_command4 deepseek_r1 deepseek_v3 deepseek_v31
deepseek_v32 deepseek_v4 ernie45 functiongemma gemma4 gigachat3 glm45 glm47
granite granite4 hermes holo2 hunyuan_a13b hy_v3 inkling internlm jamba
kimi_k2 kimi_k3 lfm2 llama3_json llama4_json llama4_pythonic longcat mimo
minicpm5 minimax_m2 minimax_m2_append_think minimax_m3 mistral nemotron_v3
musespark1x hy_v4 granite-20b-fc granite_thinking_parser k2_horizon minicpmv
plamo3 dots gigachat35 interns1 iquest_q1 nanbeige qwen3_json step5
olmo3 openai openai_gptoss phi4_mini_json poolside_v1 pythonic qwen3
qwen3_coder qwen3_xml seed_oss step3 step3p5 xlam
apertus2509 deepseek-r1 deepseek-v3 deepseek-v4 deepseekv3 deepseekv31
deepseekv32 deepseekv4 glm gpt-oss hunyuan kimi ling3 llama3 minimax
minimax-append-think minimax-m2 minimax-m3 muse nemotron_3 qwen qwen25
qwen3-thinking spark25 trinity
function_gemma laguna muse_spark
cohere deepseek_v3_1 deepseek_v3_2 deepseek_v4_1 exaone glm_4_7 harmony llama
qwen_3 qwen_3_5 qwen_3_coder
""".split()


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_name_finds_a_format(name):
    assert parlance.Format(name).name
