"""What the models' authors wrote: canonical responses of their chat templates.

For every template whose model has a built-in format (support/chat_templates.py
lists them) random conversations are rendered, and the assistant's turn has to
obey these laws:

    parse    the format reads it back into the same message, without a
             diagnostic: whole, byte by byte and in random cuts, with and
             without the end of the turn, the prompt given as prefix
    turns    the same after an earlier call and its result, and
    turns-grammar, turns-tag, turns-render   grammar, tag and render for these
    python   the same for values that the template spells as Python literals
    grammar  the grammar of the format for the request accepts it
    tag      the parser of that structural tag reads the same message
    render   what the format renders of the message that it reads is the same
             text
    choice   both hold with every tool_choice, parallel_tool_calls and
             reasoning that the response satisfies
    strings  all of parse for markers inside strings of JSON arguments, and
    strings-tag     grammar and tag for these
    strings-tokens  tokens for these, unless a value spells a control token
    tokens   the ids that the family's tokenizer gives are let through by the
             mask one by one, to the stop token; what is forced is how the
             tokenizer goes on; both parsers read the ids as the same message

A law that a template is known to break stands in BROKEN with the reason.  It
has to be broken there: when it is mended, its line goes.

    PARLANCE_SEED=7    other conversations
    PARLANCE_LONG=1    forty for each law instead of a few
"""

import functools
import os
import random
from pathlib import Path

import numpy
import pytest

HERE = Path(__file__).resolve().parent

pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("jinja2", reason="Jinja2 is not installed")
parlance = pytest.importorskip("parlance")

import chat_templates  # noqa: E402
import tokenizers_at_hand  # noqa: E402

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
LONG = bool(os.environ.get("PARLANCE_LONG"))


# A message may be spelled in several ways; a format renders one of them.
SPELLED_OTHERWISE = {
    "Reka-Edge": "JSON escapes what is not ASCII",
    "HuggingFaceTB-SmolLM3-3B": "no block of reasoning where there is none",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "a line feed before a first call",
    "Kimi-K3": "the end of the message, which is no part of it",
    "mistralai-Mistral-Nemo-Instruct-2407": "ids of calls",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "empty reasoning",
    "google-gemma-4-31B-it-interleaved": "no line feed after reasoning",
    "unsloth-Apriel-1.5": "a line feed after each part",
    "upstage-Solar-Open-100B": "<|end|>, where a model ends with <|flush|>",
}


# (template, law) -> why it does not hold.
BROKEN = {
    **{(template, "render"): why for template, why in SPELLED_OTHERWISE.items()},
    **{
        (template, "turns-render"): why
        for template, why in SPELLED_OTHERWISE.items()
    },
    **{
        (template, "turns-render"): "the numbers of calls go on from the turn before"
        for template in ("Kimi-K2-Instruct", "Kimi-K2-Thinking", "Cohere2MoE")
    },
    (
        "deepseek-ai-DeepSeek-V3.1",
        "turns-render",
    ): "no </think> after the result of a tool",
}


def read(parser, pieces):
    """The message of a parser that is fed `pieces`, and its diagnostics."""
    for piece in pieces:
        parser.feed(piece)
    parser.finalize()
    return parser.message, list(parser.diagnostics)


def plain(message):
    """A message of either parser in the terms of a case.

    White space around text is the template's; what is inside is the model's.
    """
    calls = []
    for call in message.get("tool_calls") or ():
        function = call.get("function", call)
        calls.append((function["name"], function.get("arguments")))
    return {
        "reasoning": (
            message.get("thinking") or message.get("reasoning") or ""
        ).strip(),
        "content": (message.get("content") or "").strip(),
        "calls": calls,
    }


def require_same(case, message, diagnostics, how):
    assert plain(message) == case.message, (how, case.seed, case.response)
    assert diagnostics == [], (how, case.seed, case.response)


def cuts(rng, data):
    """Ways to feed `data`: whole, byte by byte, in random pieces."""
    yield "whole", [data]
    yield "byte by byte", [data[i : i + 1] for i in range(len(data))]
    for _ in range(2):
        where = sorted({0, len(data), *rng.choices(range(len(data) + 1), k=5)})
        yield f"cut at {where}", [
            data[a:b] for a, b in zip(where, where[1:], strict=False)
        ]


def law_parse(template, cases):
    rng = random.Random(SEED)
    spec = parlance.Format(template.format)
    for case in cases:
        tools = parlance.ToolSet(case.tools)
        for end in {"", case.end}:
            data = (case.response + end).encode()
            for how, pieces in cuts(rng, data):
                parser = spec.parser(prefix=case.prompt, tools=tools)
                require_same(case, *read(parser, pieces), how)


@functools.cache
def format_of(name):
    return parlance.Format(name)


def slot_of(template, case):
    """What the tag of a case depends on: the tools, the family, and what the
    prompt has written of the response."""
    parser = format_of(template.format).parser(prefix=case.prompt)
    begin = len(case.prompt.encode()) - parser.prefix_bytes
    return template.one_type, template.format, case.prompt.encode()[begin:]


# Families whose calls or answers end with a marker that a grammar asks for.
ENDED = ("apriel", "gpt_oss", "muse_glimmer", "solar_open")
# Families that write members in the order of their names.
SORTED = ("gemma4",)


def text_of(template, case):
    return case.response + (case.end if template.format in ENDED else "")


TAGS = {}


def tag_of(template, case):
    slot = slot_of(template, case)
    if slot not in TAGS:
        tag = parlance.tool_calling(
            chat_templates.TOOLS[template.one_type],
            template.format,
            prefix=case.prompt,
            any_order=template.format in SORTED,
        )
        TAGS[slot] = tag, tag.grammar()
    return TAGS[slot]


def law_grammar(template, cases):
    for case in cases:
        _, grammar = tag_of(template, case)
        text = text_of(template, case)
        assert grammar.accepts(text), (case.seed, text, grammar.explain(text))


def law_tag(template, cases):
    rng = random.Random(SEED)
    for case in cases:
        tag, _ = tag_of(template, case)
        for how, pieces in cuts(rng, text_of(template, case).encode()):
            require_same(case, *read(tag.parser(), pieces), how)


def law_render(template, cases):
    spec = parlance.Format(template.format)
    for case in cases:
        tools = parlance.ToolSet(case.tools)
        parser = spec.parser(prefix=case.prompt, tools=tools)
        message, _ = read(parser, [case.response])
        text = spec.render(message, tools=tools, prefix=case.prompt)
        assert text in (case.response, case.response + case.end), case.seed


def satisfied(template, case):
    """Other options that the response satisfies."""
    calls = case.message["calls"]
    names = {name for name, _ in calls}
    choices = ["auto"]
    if not calls:
        choices.append("none")
    elif not case.message["content"]:
        choices.append("required")
        if len(calls) == 1:
            choices.append(
                {"type": "function", "function": {"name": names.pop()}}
            )
    modes = ["allowed"]
    if case.message["reasoning"]:
        modes.append("required")
    elif not (template.opener and case.prompt.endswith(template.opener)):
        modes.append("off")
    for choice in choices:
        for reasoning in modes:
            for parallel in (True, False) if len(calls) < 2 else (True,):
                yield {
                    "tool_choice": choice,
                    "reasoning": reasoning,
                    "parallel_tool_calls": parallel,
                }


def law_choice(template, cases):
    for case in cases:
        text = text_of(template, case)
        for choice in satisfied(template, case):
            tag = parlance.tool_calling(
                case.tools,
                template.format,
                prefix=case.prompt,
                any_order=template.format in SORTED,
                **choice,
            )
            grammar = tag.grammar()
            assert grammar.accepts(text), (
                case.seed,
                text,
                choice,
                grammar.explain(text),
            )
            require_same(case, *read(tag.parser(), [text]), choice)


def law_tokens(template, cases):
    cases = list(cases)
    for name in template.tokenizers:
        tokenizer = tokenizers_at_hand.at_hand(
            name, template.ends, template.control, template.visible
        )
        compiler = parlance.Compiler(
            tokenizer.vocabulary, stop_ids=tokenizer.stops
        )
        constraints = {}
        for case in cases:
            check_tokens(template, case, tokenizer, compiler, constraints)


def law_strings_tag(template, cases):
    cases = list(cases)
    law_grammar(template, cases)
    law_tag(template, cases)


def spells_control(tokenizer, case):
    values = [a.values() for _, a in case.message["calls"]]
    return any(
        token.special and token.content in value
        for token in tokenizer.encoder.get_added_tokens_decoder().values()
        for group in values
        for value in group
        if isinstance(value, str)
    )


def check_tokens(template, case, tokenizer, compiler, constraints):
    if spells_control(tokenizer, case):
        return
    text = text_of(template, case)
    slot = slot_of(template, case)
    tag, _ = tag_of(template, case)
    if slot not in constraints:
        constraints[slot] = compiler.compile(
            tag.grammar(tokenizer.vocabulary)
        )
    constraint = constraints[slot]
    ids = tokenizer.encode(text)
    matcher = constraint.matcher()
    row = numpy.zeros(constraint.mask_words, numpy.int32)
    stop = []
    if not text.endswith(template.ends):
        stop = tokenizer.encode(case.end) if case.end else []
        if stop not in [[i] for i in tokenizer.stops]:
            stop = list(tokenizer.stops[:1])
    where = (tokenizer.name, case.seed, text)
    for i, id in enumerate(ids + stop):
        assert not matcher.is_terminated(), where
        matcher.fill_bitmask(row)
        allowed = row[id // 32] >> (id % 32) & 1
        spelled = tokenizer.decode([id])
        done = tokenizer.decode(ids[:i])
        assert allowed, (*where, f"{id} {spelled!r} not allowed", done)
        forced = matcher.forced_tokens()
        wanted = ids[i : i + len(forced)]
        if i + len(forced) <= len(ids):
            assert forced == wanted, (*where, "forced", forced, wanted)
        assert matcher.accept_token(id), (*where, f"{id} {spelled!r}", done)
    assert matcher.is_terminated() or not tokenizer.stops, where

    parser = tag.parser(vocabulary=tokenizer.vocabulary)
    require_same(case, *read(parser, [[id] for id in ids]), "tag, ids")
    if "in strings" in case.seed:
        return  # What the format makes of these is the law `strings`.
    ids = tokenizer.encode(case.response + case.end)
    for prefix in (case.prompt, tokenizer.encode(case.prompt)):
        parser = parlance.Format(template.format).parser(
            prefix=prefix,
            tools=case.tools,
            vocabulary=tokenizer.vocabulary,
        )
        require_same(case, *read(parser, [ids]), "format, ids")


LAWS = {
    "parse": law_parse,
    "turns": law_parse,
    "turns-grammar": law_grammar,
    "turns-tag": law_tag,
    "turns-render": law_render,
    "python": law_parse,
    "grammar": law_grammar,
    "tag": law_tag,
    "render": law_render,
    "choice": law_choice,
    "tokens": law_tokens,
    "strings": law_parse,
    "strings-tag": law_strings_tag,
    "strings-tokens": law_tokens,
}


def applies(template, law):
    if law.startswith("strings"):
        if template.format not in chat_templates.IN_STRINGS:
            return False
        if not {"t", "T"} & {shape[-1] for shape in template.shapes}:
            return False
        law = law.removeprefix("strings").removeprefix("-") or "parse"
    if law.startswith("turns"):
        return template.turns != ()
    if law == "python":
        return bool(template.python)
    if law == "tokens":
        # A made-up tokenizer needs the marks of the family.
        made_up = template.tokenizers == ("made up",)
        return bool(template.control or template.visible or not made_up)
    return True


ROWS = [
    (template, law)
    for template in chat_templates.TEMPLATES
    for law in LAWS
    if applies(template, law)
]


def test_every_exception_is_of_a_row():
    names = {template.name for template in chat_templates.TEMPLATES}
    for template, law in BROKEN:
        assert template in names
        assert law in LAWS


@pytest.mark.parametrize(
    ("template", "law"), ROWS, ids=[f"{t.name}-{law}" for t, law in ROWS]
)
def test_law(template, law):
    try:
        cases = chat_templates.cases(
            template,
            SEED,
            40 if LONG else max(3, len(template.shapes)),
            turns=law.startswith("turns"),
            python=law == "python",
            in_strings=law.startswith("strings"),
        )
        broken = None
        try:
            LAWS[law](template, cases)
        except (AssertionError, parlance.GrammarError) as failure:
            broken = failure
    except chat_templates.Missing as missing:
        pytest.skip(str(missing))
    reason = BROKEN.get((template.name, law))
    if reason is None:
        if broken is not None:
            raise broken
    elif broken is None:
        pytest.fail(f"holds now; its line in BROKEN goes: {reason}")
    else:
        pytest.xfail(reason)
