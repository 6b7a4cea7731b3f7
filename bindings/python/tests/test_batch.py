"""Batch: a step does for each row what its matcher and parser do alone."""

import random
import threading

import numpy
import parlance
import pytest

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "required": ["city"],
                "additionalProperties": False,
                "properties": {"city": {"enum": ["Rome", "Bern"]}},
            },
        },
    }
]
MARKS = [b"<think>", b"</think>", b"<tool_call>", b"</tool_call>", b"<|im_end|>"]
VOCABULARY = parlance.Vocabulary(
    [bytes([b]) for b in range(256)] + MARKS,
    added_ids=range(256, 260),
    control_ids=[260],
    stop_ids=[260],
)
FORMAT = parlance.Format("qwen3")
TAG = FORMAT.structural_tag(TOOLS)
COMPILER = parlance.Compiler(VOCABULARY)
CONSTRAINT = COMPILER.compile_structural_tag(TAG)
WORDS = CONSTRAINT.mask_words


def parser(kind):
    if kind == "format":
        return parlance.ResponseParser(
            FORMAT, "", vocabulary=VOCABULARY, stream_calls=True
        )
    return parlance.TagParser(TAG, vocabulary=VOCABULARY, stream_calls=True)


def deltas(row, events):
    return [
        (row, e["type"], e.get("field", ""), e.get("text", e.get("name", "")))
        for e in events
        if e["type"] not in ("region_open", "region_close")
    ]


def ids(text):
    out = []
    while text:
        mark = next((m for m in MARKS if text.startswith(m.decode())), None)
        if mark is not None:
            out.append(256 + MARKS.index(mark))
            text = text[len(mark) :]
        else:
            out.extend(text[0].encode())
            text = text[1:]
    return out


RESPONSE = ids(
    "<think>\nHm.\n</think>\n\nLook:\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n'
    "</tool_call><|im_end|>"
)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["format", "tag"])
def test_a_response_comes_as_from_a_parser_alone(kind, threads):
    batch = parlance.Batch(threads=threads)
    matchers = [CONSTRAINT.matcher() for _ in range(40)]
    parsers = [parser(kind) for _ in range(40)]
    rows = [batch.add(m, p) for m, p in zip(matchers, parsers)]
    assert rows == list(range(40)) and len(batch) == 40
    alone = parser(kind)
    matcher = CONSTRAINT.matcher()
    masks = numpy.zeros((40, WORDS), numpy.int32)
    mask = numpy.zeros(WORDS, numpy.int32)
    for token in RESPONSE:
        step = batch.step(rows, numpy.full(40, token), masks)
        assert matcher.accept_token(token)
        constrained = matcher.fill_bitmask(mask)
        assert step.accepted == [1] * 40
        assert step.terminated == [token == 260] * 40
        assert step.constrained == [constrained] * 40
        assert (masks == mask).all()
        want = [d for r in rows for d in deltas(r, alone_events(alone, token, r))]
        assert [d[:4] for d in step.deltas] == want
    message, _ = alone.finalize()
    for one in parsers:
        assert one.finalize()[0] == message
    assert message["tool_calls"][0]["function"]["name"] == "get_weather"


_last = {}


def alone_events(parser, token, row):
    """The events of one token, for the first row; the same for the others."""
    if row == 0:
        _last["events"] = parser.feed([token])
    return _last["events"]


def test_calls_have_their_number():
    batch = parlance.Batch()
    row = batch.add(parser=parser("format"))
    step = batch.step([row], [RESPONSE])
    calls = [d for d in step.deltas if d[1].startswith("call_")]
    assert calls[0][1:] == ("call_open", "tool_calls", "get_weather", 0)
    assert "".join(d[3] for d in calls if d[1] == "call_arguments") == (
        '{"city": "Rome"}'
    )
    assert calls[-1][1] == "call_close"
    assert {d[4] for d in step.deltas if d[1] == "region_chunk"} == {-1}


def test_a_refused_token_is_not_read():
    batch = parlance.Batch()
    matcher = parlance.Compiler(VOCABULARY).compile(
        parlance.Grammar.from_regex("ab*")
    ).matcher()
    text = parlance.ResponseParser(FORMAT, "", vocabulary=VOCABULARY)
    row = batch.add(matcher, text)
    step = batch.step([row], [[97, 98, 97, 98]])
    assert step.accepted == [2] and step.constrained == [False]
    assert "".join(d[3] for d in step.deltas) == "ab"
    assert text.finalize()[0]["content"] == "ab"


def test_draft_trees_and_rows_of_the_buffer():
    batch = parlance.Batch()
    matchers = [CONSTRAINT.matcher() for _ in range(3)]
    rows = [batch.add(m) for m in matchers]
    tree = ([1, -1], [-1, -1], [0, 256])
    masks = numpy.full((6, WORDS), 7, numpy.int32)
    want = numpy.zeros((2, WORDS), numpy.int32)
    step = batch.step(
        rows,
        [[], [256], []],
        masks,
        mask_rows=[3, -1, 1],
        drafts=[tree, None, None],
    )
    assert step.accepted == [0, 1, 0]
    matchers[0].fill_tree(*tree, want)
    assert (masks[3:5] == want).all()
    matchers[2].fill_bitmask(want[0])
    assert (masks[1] == want[0]).all()
    assert (masks[[0, 2, 5]] == 7).all()


def test_temperatures_of_rows_and_drafts():
    grammar = parlance.Grammar.from_ebnf(
        'root ::= "a" v "z"\nv[temperature=0.5] ::= "x"+'
    )
    constraint = grammar.compile(VOCABULARY)
    batch = parlance.Batch()
    rows = [
        batch.add(constraint.matcher(default_temperature=2)),
        batch.add(constraint.matcher()),
        batch.add(),
    ]
    tree = ([1, 2, -1], [-1, -1, -1], [97, 120, 122])
    masks = numpy.zeros((6, WORDS), numpy.int32)
    heat = numpy.full(6, 7, numpy.float32)
    step = batch.step(
        rows,
        [[], [97], []],
        masks,
        mask_rows=[5, 1, 0],
        drafts=[None, tree, None],
        temperatures=heat,
    )
    assert step.filled == [1, 3, 1]
    assert heat[[5, 1, 2]].tolist() == [2, 0.5, 0.5]
    assert numpy.isnan(heat[[3, 0]]).all() and heat[4] == 7
    for wrong in (heat[:5], numpy.zeros(6), masks):
        with pytest.raises(parlance.UsageError, match="temperatures"):
            batch.step(rows[:1], [[]], masks, temperatures=wrong)
    with pytest.raises(parlance.UsageError, match="needs a buffer"):
        batch.step(rows[:1], [[]], temperatures=heat)


def test_a_draft_tree_with_a_limit_of_time():
    grammar = parlance.Grammar.from_regex("a*")
    batch = parlance.Batch()
    row = batch.add(grammar.compile(VOCABULARY).matcher())
    size = 20_000
    tree = ([*range(1, size), -1], [-1] * size, numpy.full(size, 97))
    masks = numpy.zeros((size, WORDS), numpy.int32)
    (filled,) = batch.step([row], [[]], masks, drafts=[tree], time_limit=1e-9).filled
    assert 1 <= filled < size
    assert batch.step([row], [[]], masks, drafts=[tree]).filled == [size]
    with pytest.raises(parlance.UsageError, match="time_limit"):
        batch.step([row], [[]], masks, time_limit=0)


def test_rows_come_and_go():
    batch = parlance.Batch()
    first, second = batch.add(), batch.add()
    batch.remove(first)
    assert len(batch) == 1
    with pytest.raises(parlance.UsageError, match=f"no row {first}"):
        batch.remove(first)
    assert batch.add() == first
    step = batch.step([second, first], [[1, 2], []])
    no = [False, False]
    assert step == ([2, 0], no, no, [], [-2, -2], [0, 0], no)


def test_a_matcher_may_be_rolled_back_between_steps():
    batch = parlance.Batch()
    matcher = CONSTRAINT.matcher()
    row = batch.add(matcher)
    batch.step([row], [[97, 98, 99]])
    assert matcher.rollback(2)
    assert batch.step([row], [[98]]).accepted == [1]
    assert matcher.rollback(2) and not matcher.rollback(1)


def test_wrong_calls_say_what_is_wrong():
    batch = parlance.Batch()
    matcher = CONSTRAINT.matcher()
    row = batch.add(matcher)
    masks = numpy.zeros((2, WORDS), numpy.int32)
    wrong = [
        (lambda: batch.step([5], [97]), "no row 5"),
        (lambda: batch.step([-1], [97]), "no row -1"),
        (lambda: batch.step([row, row], [97, 97]), "in use"),
        (lambda: batch.step([row], [97, 98]), "tokens has 2 items"),
        (lambda: batch.step([row], [97], masks, mask_rows=[2]), "has 2 rows"),
        (lambda: batch.step([row], [97], masks, mask_rows=[-2]), "has 2 rows"),
        (lambda: batch.step([row], [97], mask_rows=[0]), "needs a buffer"),
        (lambda: batch.step([row], [97], masks, mask_rows=[]), "mask_rows has 0"),
        (
            lambda: batch.step([row], [97], masks, drafts=[([], [], [])]),
            "draft tree needs",
        ),
        (
            lambda: batch.step(
                [row], [97], masks, drafts=[([1, 2, -1], [-1] * 3, [0] * 3)]
            ),
            "needs 3",
        ),
        (lambda: batch.step([row], [97], masks, drafts=[]), "drafts has 0"),
        (lambda: batch.add(None, parlance.ResponseParser(FORMAT, "")), "vocabulary="),
        (lambda: parlance.Batch(threads=1000), "threads"),
    ]
    for call, message in wrong:
        with pytest.raises(parlance.UsageError, match=message):
            call()
    for call in (
        lambda: batch.add(3),
        lambda: batch.add(None, matcher),
        lambda: batch.step([row], 97),
        lambda: batch.step([row], [97], b"abc"),
        lambda: batch.step([row], [97], masks, drafts=[3]),
        lambda: batch.step("0", [97]),
    ):
        with pytest.raises(TypeError):
            call()
    # Nothing was done.
    assert not matcher.rollback()


def test_two_threads_do_not_share_an_object():
    """One of them is told so, or they took turns."""
    batches = [parlance.Batch(threads=2) for _ in range(2)]
    shared = parser("format")
    rows = [b.add(CONSTRAINT.matcher(), shared) for b in batches]
    errors = []

    def work(batch, row):
        draw = random.Random(row)
        for _ in range(300):
            try:
                batch.step([row], [draw.choice([97, 98])])
            except parlance.UsageError as error:
                errors.append(str(error))
            try:
                shared.message
            except parlance.UsageError as error:
                errors.append(str(error))

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(batches, rows)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("in use" in error for error in errors)


# ---- Masks by number


def test_masks_by_number():
    batch = parlance.Batch(threads=2)
    table = parlance.MaskTable(COMPILER)
    assert (len(table), table.max_rows, table.mask_words) == (0, 1024, WORDS)
    matchers = [CONSTRAINT.matcher() for _ in range(20)]
    alone = [CONSTRAINT.matcher() for _ in matchers]
    rows = [batch.add(one) for one in matchers] + [batch.add()]
    masks = numpy.zeros((len(rows), WORDS), numpy.int32)
    device = numpy.zeros((0, WORDS), numpy.int32)  # what an engine has
    generator = random.Random(3)
    tokens = [[] for _ in rows]
    for _ in range(40):
        masks[:] = 7
        step = batch.step(rows, tokens, masks, table=table)
        new = numpy.zeros((len(table) - len(device), WORDS), numpy.int32)
        assert table.copy_rows(new, len(device)) == len(new)
        device = numpy.concatenate([device, new])
        assert step.mask_ids[-1] == -1
        for i, matcher in enumerate(alone):
            matcher.accept_tokens(tokens[i])
            expected = numpy.zeros(WORDS, numpy.int32)
            constrained = matcher.fill_bitmask(expected)
            assert step.constrained[i] == constrained
            number = step.mask_ids[i]
            if not constrained:
                assert number == -1
                tokens[i] = []
                continue
            assert (device[number] == expected).all()
            bits = numpy.unpackbits(expected.view(numpy.uint8), bitorder="little")
            tokens[i] = [generator.choice(numpy.flatnonzero(bits).tolist())]
    assert (masks == 7).all()  # nothing was written
    assert len(device) < 200
    table.clear()
    assert (len(table), table.version) == (0, 1)


def test_a_table_that_is_full():
    table = parlance.MaskTable(COMPILER, rows=1)
    matcher = CONSTRAINT.matcher()
    assert table.id_of(matcher) == 0
    matcher.accept_bytes("<tool_call>")
    assert table.id_of(matcher) == -2
    batch = parlance.Batch(threads=1)
    row = batch.add(matcher)
    masks = numpy.zeros((1, WORDS), numpy.int32)
    step = batch.step([row], [[]], masks, table=table)
    expected = numpy.zeros(WORDS, numpy.int32)
    matcher.fill_bitmask(expected)
    assert step.mask_ids == [-2]
    assert (masks[0] == expected).all()


def test_tables_refuse():
    table = parlance.MaskTable(COMPILER)
    for rows in (0, -1, 1 << 21):
        with pytest.raises(parlance.UsageError):
            parlance.MaskTable(COMPILER, rows)
    with pytest.raises(TypeError):
        table.id_of(COMPILER)
    table.id_of(CONSTRAINT.matcher())
    with pytest.raises(parlance.UsageError, match="do not begin at 2"):
        table.copy_rows(numpy.zeros((1, WORDS), numpy.int32), 2)
    with pytest.raises(parlance.UsageError, match="1 to copy"):
        table.copy_rows(numpy.zeros((0, WORDS), numpy.int32))
    with pytest.raises(parlance.UsageError, match="needs a buffer"):
        batch = parlance.Batch()
        batch.step([batch.add(CONSTRAINT.matcher())], [[]], table=table)


def test_numbers_are_applied():
    generator = numpy.random.default_rng(5)
    device = generator.integers(-(2**31), 2**31, (6, 3), numpy.int32)
    masks = generator.integers(-(2**31), 2**31, (4, 3), numpy.int32)
    for width in (80, 96, 120):
        start = generator.normal(size=(4, width)).astype("float32")
        expected, logits = start.copy(), start.copy()
        numbers = [5, -1, -2, 0]
        parlance.apply_bitmask(expected[0], device[5])
        parlance.apply_bitmask(expected[2], masks[2])
        parlance.apply_bitmask(expected[3], device[0])
        parlance.apply_mask_ids(logits, numbers, device, masks)
        assert logits.tobytes() == expected.tobytes()
    for numbers, wrong in (
        ([0, 0, 0], "3 items"),
        ([6, 0, 0, 0], "ids.0. is 6"),
        ([-3, 0, 0, 0], "ids.0. is -3"),
        ([0, -2, 0, 0], "needs a row 1"),
    ):
        before = logits.copy()
        with pytest.raises(parlance.UsageError, match=wrong):
            parlance.apply_mask_ids(logits, numbers, device)
        assert logits.tobytes() == before.tobytes()
