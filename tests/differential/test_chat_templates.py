"""What the models' authors wrote: canonical responses of their chat templates.

For every template whose model has a built-in format (support/chat_templates.py
lists them) random conversations are rendered, and the assistant's turn has to
obey these laws:

    parse    the format reads it back into the same message, without a
             diagnostic: whole, byte by byte and in random cuts, with and
             without the end of the turn, the prompt given as prefix
    turns    the same after an earlier call and its result
    python   the same for values that the template spells as Python literals
    grammar  the grammar of the style of tool calling accepts it
    tag      the parser of that structural tag reads the same message
    family   the tag that the format itself makes for the prompt accepts it, and
             its parser reads the same message
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
import sys
from pathlib import Path

import numpy
import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]

pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("jinja2", reason="Jinja2 is not installed")
parlance = pytest.importorskip("parlance")

import chat_templates  # noqa: E402
import tokenizers_at_hand  # noqa: E402

SEED = int(os.environ.get("PARLANCE_SEED", "1"))
LONG = bool(os.environ.get("PARLANCE_LONG"))

BORROWED = "the style is another model's: what ends reasoning differs"
PYTHON = "lists, objects and None spelled as Python literals are not read"
BEFORE_CALLS = "GLM-4.6 writes a line feed before calls, glm_4_7 none"
NO_IDENTIFIER = "a tool called set-alarm cannot be called in Python"

# A message may be spelled in several ways; a format renders one of them.
SPELLED_OTHERWISE = {
    "Reka-Edge": "JSON escapes what is not ASCII",
    "HuggingFaceTB-SmolLM3-3B": "no block of reasoning where there is none",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "a line feed before a first call",
    "GLM-4.7-Flash": "no </think> where there is no reasoning",
    "Spark2.5": "no </think> where there is no reasoning",
    "Kimi-K3": "the end of the message, which is no part of it",
    "mistralai-Mistral-Nemo-Instruct-2407": "ids of calls",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "empty reasoning",
    "google-gemma-4-31B-it-interleaved": "no line feed after reasoning",
    "unsloth-Apriel-1.5": "a line feed after each part",
    "upstage-Solar-Open-100B": "<|end|>, where a model ends with <|flush|>",
}


def broken(reason, law, *templates):
    return {(template, law): reason for template in templates}


# (template, law) -> why it does not hold.
BROKEN = {
    **{
        (template, law): BORROWED
        for template in (
            "Bielik-11B-v3.0-Instruct",
            "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
            "StepFun3.5-Flash",
        )
        for law in ("grammar", "tag", "choice")
    },
    **broken(
        PYTHON,
        "python",
        "google-gemma-4-31B-it",
        "google-gemma-4-31B-it-interleaved",
    ),
    **broken(BORROWED, "strings-tag", "Bielik-11B-v3.0-Instruct"),
    **broken(
        NO_IDENTIFIER,
        "family",
        "LFM2-8B-A1B",
        "LFM2.5-8B-A1B",
    ),
    **{(template, "render"): why for template, why in SPELLED_OTHERWISE.items()},
    **broken(BEFORE_CALLS, "choice", "GLM-4.6"),
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


def opened(template, case):
    """(text that a grammar reads, whether it begins inside reasoning)."""
    # A message of harmony has its end, whatever comes after it.
    text = case.response + (case.end if template.style == "harmony" else "")
    if template.opener and text.startswith(template.opener):
        return text[len(template.opener) :], True
    inside = bool(template.opener) and case.prompt.endswith(template.opener)
    return text, inside


def style_options(template, case):
    """The options that a canonical response is sure to satisfy."""
    text, inside = opened(template, case)
    reasoning = "required" if inside else "none"
    if template.style in ("harmony", "kimi_k3"):
        # Reasoning is a part like others; these templates may leave it out.
        reasoning = "allowed"
    return text, {"reasoning": reasoning}


@functools.lru_cache(maxsize=64)
def tag_of(tools, style, options):
    return parlance.tool_calling(
        chat_templates.TOOLS[tools], style, **dict(options)
    )


@functools.lru_cache(maxsize=64)
def grammar_of(tools, style, options):
    return tag_of(tools, style, options).grammar()


def key(template, options):
    return template.one_type, template.style, tuple(sorted(options.items()))


def law_grammar(template, cases):
    for case in cases:
        text, options = style_options(template, case)
        grammar = grammar_of(*key(template, options))
        assert grammar.accepts(text), (
            case.seed,
            text,
            options,
            grammar.explain(text),
        )


def law_tag(template, cases):
    rng = random.Random(SEED)
    for case in cases:
        text, options = style_options(template, case)
        tag = tag_of(*key(template, options))
        for how, pieces in cuts(rng, text.encode()):
            require_same(case, *read(tag.parser(), pieces), how)


def law_family(template, cases):
    spec = parlance.Format(template.format)
    for case in cases:
        try:
            tag = spec.structural_tag(case.tools, prefix=case.prompt)
        except parlance.GrammarError as error:
            raise AssertionError(str(error)) from error
        grammar = tag.grammar()
        # A message of some formats has its end, whatever comes after it.
        text = case.response
        if not grammar.accepts(text):
            text += case.end
        assert grammar.accepts(text), (case.seed, text, grammar.explain(text))
        require_same(case, *read(tag.parser(), [text]), "family")


def law_render(template, cases):
    spec = parlance.Format(template.format)
    for case in cases:
        tools = parlance.ToolSet(case.tools)
        parser = spec.parser(prefix=case.prompt, tools=tools)
        message, _ = read(parser, [case.response])
        text = spec.render(message, tools=tools, prefix=case.prompt)
        assert text in (case.response, case.response + case.end), case.seed


def satisfied(template, case, options):
    """Other options that the response satisfies."""
    calls = case.message["calls"]
    names = {name for name, _ in calls}
    alone = calls and not case.message["content"]
    choices = []
    if not calls:
        choices.append("none")
    if alone:
        choices.append("required")
        if len(names) == 1 and len(calls) == 1:
            choices.append(names.pop())
    for choice in ["auto", *choices]:
        tool_choice = (
            choice
            if choice in ("auto", "none", "required")
            else {"type": "function", "function": {"name": choice}}
        )
        how = {options["reasoning"]: None, "allowed": None}
        if template.empty and not case.message["reasoning"]:
            how["none"] = None
        for reasoning in how:
            for parallel in (True, False) if len(calls) < 2 else (True,):
                yield {
                    "tool_choice": tool_choice,
                    "reasoning": reasoning,
                    "parallel_tool_calls": parallel,
                }


def law_choice(template, cases):
    for case in cases:
        text, options = style_options(template, case)
        for choice in satisfied(template, case, options):
            tag = parlance.tool_calling(case.tools, template.style, **choice)
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
    text, options = style_options(template, case)
    tag = tag_of(*key(template, options))
    slot = key(template, options)
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
    # The whole response: a grammar begins after the opener of reasoning.
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
    "python": law_parse,
    "grammar": law_grammar,
    "tag": law_tag,
    "family": law_family,
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
    if law == "turns":
        return template.turns != ()
    if law == "python":
        return bool(template.python)
    if law in ("grammar", "tag", "choice"):
        return template.style is not None
    if law == "tokens":
        return template.style is not None and not template.loose
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
            turns=law == "turns",
            python=law == "python",
            in_strings=law.startswith("strings"),
        )
        broken = None
        try:
            LAWS[law](template, cases)
        except AssertionError as failure:
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
