"""The expression plug-in for Polars: the rows of parse_arrow, in every engine."""

import gc
import json
import random

import parlance
import pytest
from parlance.integrations.polars import parse

polars = pytest.importorskip("polars")

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "1"}}\n</tool_call>'
PIECES = ["<think>", "</think>", "Zürich ", "🙂", CALL, "<tool_call>", "\n", "x" * 40]
TOOLS = [{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}]


def responses(rows, seed=1):
    draw = random.Random(seed)
    return [
        None
        if draw.random() < 0.1
        else "".join(draw.choices(PIECES, k=draw.randrange(6)))
        for _ in range(rows)
    ]


def expected(column, format="qwen3", **options):
    """By parse_arrow, of one chunk, which is what polars.Series takes."""

    def whole(given):
        return given.rechunk() if isinstance(given, polars.Series) else given

    options = {name: whole(one) for name, one in options.items()}
    messages = parlance.parse_arrow(whole(column), whole(format), **options)
    return polars.Series(messages).to_list()


@pytest.fixture(scope="module")
def frame():
    texts = responses(5000)
    parts = [texts[:1], texts[1:700], texts[700:]]
    return polars.concat(
        [polars.DataFrame({"text": part}) for part in parts], rechunk=False
    ).with_row_index("id")


def test_rows(frame):
    assert frame["text"].n_chunks() == 3
    column = frame.select(parse("text", "qwen3"))["text"]
    assert column.to_list() == expected(frame["text"])
    whole = parlance.parse_arrow(frame["text"].rechunk(), "qwen3")
    assert column.dtype == polars.Series(whole).dtype
    lazy = frame.lazy().select(message=parse(polars.col("text"), "qwen3"))
    assert lazy.collect_schema()["message"] == column.dtype
    for engine in ("in-memory", "streaming"):
        got = lazy.collect(engine=engine)["message"].to_list()
        assert got == column.to_list(), engine


def test_columns_by_row(frame):
    formats = ["qwen3", None, "no such format", "hermes_qwen2_5"]
    by_row = frame.with_columns(
        format=polars.Series([formats[i % 4] for i in range(len(frame))]),
        prefix=polars.Series(["<think>" if i % 3 else None for i in range(len(frame))]),
        tools=polars.Series(
            [json.dumps(TOOLS) if i % 2 else None for i in range(len(frame))]
        ),
    )
    got = by_row.select(
        parse(
            "text",
            polars.col("format"),
            prefix=polars.col("prefix"),
            tools=polars.col("tools"),
        )
    )["text"].to_list()
    assert got == expected(
        by_row["text"],
        by_row["format"],
        prefix=by_row["prefix"],
        tools=by_row["tools"],
    )
    assert any(
        row["diagnostics"] and row["diagnostics"][0]["code"] == "unknown_format"
        for row in got
        if row
    )


@pytest.mark.parametrize("rows", [0, 1, 2, 1000])
def test_constants(rows):
    frame = polars.DataFrame({"text": responses(rows, seed=rows)}, {"text": polars.String})
    got = frame.select(parse("text", "qwen3", prefix="<think>", tools=TOOLS))
    assert got["text"].to_list() == expected(
        frame["text"], prefix="<think>", tools=TOOLS
    )
    template = json.loads(parlance.Format("qwen3").source)
    assert frame.select(parse("text", template))["text"].to_list() == expected(
        frame["text"]
    )


def test_slices_filters_groups(frame):
    message = parse("text", "qwen3")
    part = frame.slice(650, 100)
    assert part.select(message)["text"].to_list() == expected(part["text"])
    some = frame.filter(polars.col("id") % 7 == 0)
    assert some.select(message)["text"].to_list() == expected(some["text"])
    lazy = frame.lazy().filter(message.struct.field("complete")).select("id")
    complete = [i for i, row in enumerate(expected(frame["text"])) if row and row["complete"]]
    assert lazy.collect()["id"].to_list() == complete
    groups = frame.group_by(polars.col("id") % 3, maintain_order=True).agg(message)
    assert [len(one) for one in groups["text"]] == [1667, 1667, 1666]
    assert groups["text"][0].to_list() == expected(frame["text"].gather_every(3))


def test_errors(frame):
    with pytest.raises(parlance.TemplateError, match="qwen3"):
        parse("text", "qwen33")
    with pytest.raises(TypeError, match="expression"):
        parse(frame["text"], "qwen3")
    with pytest.raises(TypeError, match="prefix"):
        parse("text", "qwen3", prefix=1)
    with pytest.raises(polars.exceptions.ComputeError, match="token ids need a vocabulary"):
        polars.DataFrame({"ids": [[1, 2]]}).select(parse("ids", "qwen3"))
    with pytest.raises(polars.exceptions.ComputeError, match="takes texts"):
        frame.select(parse("id", "qwen3"))


def test_token_ids():
    vocabulary = parlance.Vocabulary(
        [bytes([b]) for b in range(256)] + [b"<think>", b"</think>"],
        control_ids=[256, 257],
    )
    frame = polars.DataFrame({"ids": [[256, 72, 257, 73], [], [74]]})
    got = frame.lazy().select(
        parse("ids", "qwen3", vocabulary=vocabulary).struct.unnest()
    )
    assert got.collect()["content"].to_list() == ["I", None, "J"]
    renamed = parlance.Format("qwen3", names="reasoning_content")
    texts = polars.DataFrame({"text": ["<think>a</think>b"]})
    assert texts.select(parse("text", renamed))["text"].to_list() == expected(
        texts["text"], renamed
    )


def test_memory_is_released(frame):
    """A thousand queries take no more memory than some."""
    import resource

    def run(times):
        for _ in range(times):
            frame.select(parse("text", "qwen3"))
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(30)
    assert run(120) - before < 60_000  # KB; a query makes about 2 MB
