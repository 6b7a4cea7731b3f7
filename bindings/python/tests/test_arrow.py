"""parse_arrow: the column is what parse_response says of each row."""

import gc
import json

import arrow_columns
import pytest
from arrow_columns import (
    ChunkedColumn,
    IdColumn,
    TextColumn,
    chunks_of,
    rows_of,
)

import parlance

CALL = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", '
    '"days": [1, 2]}}\n</tool_call>'
)
RESPONSES = [
    "<think>Hm.</think>Hi.",
    None,
    "",
    "<think>cut o",
    "Look. " + CALL + "\n" + CALL,
    '<tool_call>{"name": "f", "arguments": {"a": "b',
    "<tool_call>nothing</tool_call>",
    "🙂" * 200,
    "Done.<|im_end|>\n",
]


def expected(response, prefix=""):
    """A row, from parse_response and from the events of the calls."""
    if response is None:
        return None
    result = parlance.parse_response(
        response, "qwen3", prefix=prefix, details=True
    )
    parser = parlance.ResponseParser("qwen3", prefix, stream_calls=True)
    calls = {}
    for event in [*parser.feed(response), *parser.finalize()[1]]:
        if event["type"] == "call_open":
            calls[event["call"]] = {
                "id": event.get("id"),
                "name": event["name"],
                "arguments": "",
                "complete": False,
            }
        elif event["type"] == "call_arguments":
            calls[event["call"]]["arguments"] += event["text"]
        elif event["type"] == "call_close":
            calls[event["call"]]["complete"] = True
    return {
        "reasoning": result.message.get("thinking"),
        "content": result.message.get("content"),
        "tool_calls": [call for call in calls.values() if call["complete"]],
        "other": None,
        "complete": result.complete,
        "turn_ended": result.turn_ended,
        "attempted_calls": [
            {
                **{
                    key: value
                    for key, value in call.items()
                    if key not in ("bytes", "tokens")
                },
                "offset": call["bytes"][0],
                "end": call["bytes"][1],
                "token_offset": call["tokens"][0],
                "token_end": call["tokens"][1],
            }
            for call in result.attempted_calls
        ],
        "prefix_bytes": result.prefix_bytes,
    }


def without_diagnostics(rows):
    return [
        row and {k: v for k, v in row.items() if k != "diagnostics"}
        for row in rows
    ]


def test_rows():
    messages = parlance.parse_arrow(TextColumn(RESPONSES), "qwen3")
    assert len(messages) == len(RESPONSES)
    assert repr(messages) == "<ArrowMessages of 9 responses>"
    rows = rows_of(messages)
    assert without_diagnostics(rows) == [expected(one) for one in RESPONSES]
    assert rows == rows_of(messages)  # as often as asked for
    assert rows[0]["reasoning"] == "Hm."
    calls = rows[4]["tool_calls"]
    assert [json.loads(call["arguments"]) for call in calls] == [
        {"city": "Zürich", "days": [1, 2]}
    ] * 2
    assert rows[5]["tool_calls"] == []
    (cut,) = rows[5]["attempted_calls"]
    assert (cut["status"], cut["name"]) == ("cut_off", "f")
    assert cut["arguments"] == '{"a": "b' and cut["text"] == RESPONSES[5]
    assert rows[5]["complete"] is False
    # No call follows the opener, so neither delimiter is one.
    assert [
        RESPONSES[6].encode()[damage["offset"] : damage["end"]]
        for damage in rows[6]["diagnostics"]
    ] == [b"<tool_call>", b"</tool_call>"]
    for damage in rows[6]["diagnostics"]:
        assert damage["code"] == "invalid_content"
        assert damage["field"] == "content"


def test_a_format_that_is_not_a_name():
    format = parlance.Format("qwen3")
    messages = parlance.parse_arrow(TextColumn(RESPONSES), format, threads=1)
    assert without_diagnostics(rows_of(messages)) == [
        expected(one) for one in RESPONSES
    ]
    template = {
        "start_anchor": "<A>",
        "defaults": {"role": "assistant"},
        "fields": {
            "content": {"content": "text"},
            "note": {"open": "<n>", "close": "</n>", "content": "json"},
        },
    }
    (row,) = rows_of(
        parlance.parse_arrow(TextColumn(['a<n>{"b": 1}</n>']), template, prefix="<A>")
    )
    assert row["content"] == "a"
    assert json.loads(row["other"]) == {"note": {"b": 1}}


def test_chunks_are_cut_where_any_column_is():
    messages = parlance.parse_arrow(
        ChunkedColumn(RESPONSES[:3], [], RESPONSES[3:]), "qwen3"
    )
    assert [len(chunk) for chunk in chunks_of(messages)] == [3, 6]
    with pytest.raises(parlance.UsageError, match="are 2 chunks"):
        messages.__arrow_c_array__()
    prefixes = ["<think>", None, None, None, "", "", "", "", ""]
    both = parlance.parse_arrow(
        ChunkedColumn(RESPONSES[:3], RESPONSES[3:]),
        "qwen3",
        prefix=ChunkedColumn(prefixes[:5], prefixes[5:]),
    )
    chunks = chunks_of(both)
    assert [len(chunk) for chunk in chunks] == [3, 2, 4]
    assert without_diagnostics(sum(chunks, [])) == [
        expected(one, prefix or "")
        for one, prefix in zip(RESPONSES, prefixes, strict=True)
    ]
    assert chunks_of(parlance.parse_arrow(ChunkedColumn(), "qwen3")) == []


def test_formats_and_tools_by_row():
    tools = [
        {
            "name": "f",
            "parameters": {"properties": {"a": {"type": "integer"}}},
        }
    ]
    call = (
        "<tool_call>\n<function=f>\n<parameter=a>\n7\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    rows = rows_of(
        parlance.parse_arrow(
            TextColumn([call, call, "Hi.", "Hi."]),
            TextColumn(["qwen3_coder", "qwen3_coder", "no such", None]),
            tools=TextColumn([json.dumps(tools), None, None, "[]"]),
        )
    )
    arguments = [row["tool_calls"][0]["arguments"] for row in rows[:2]]
    assert [json.loads(one) for one in arguments] == [{"a": 7}, {"a": "7"}]
    for row in rows[2:]:
        assert row["content"] == "Hi."
        assert row["complete"] is False
        assert row["diagnostics"][0]["code"] == "unknown_format"


def test_errors():
    column = TextColumn(["a"])
    with pytest.raises(TypeError, match="Arrow column.*not list"):
        parlance.parse_arrow(["a"], "qwen3")
    with pytest.raises(TypeError, match="'tdD'"):
        parlance.parse_arrow(TextColumn(["a"], b"tdD"), "qwen3")
    with pytest.raises(parlance.TemplateError, match="qwen3"):
        parlance.parse_arrow(column, "qwen33")
    with pytest.raises(TypeError, match="prefix"):
        parlance.parse_arrow(column, "qwen3", prefix=1)
    with pytest.raises(parlance.UsageError, match="2 rows beside 1"):
        parlance.parse_arrow(column, "qwen3", prefix=TextColumn(["", ""]))
    with pytest.raises(parlance.UsageError, match="disk on fire"):
        parlance.parse_arrow(ChunkedColumn(error=b"disk on fire"), "qwen3")
    with pytest.raises(parlance.UsageError, match="threads"):
        parlance.parse_arrow(column, "qwen3", threads=-1)

    class Liar:
        def __arrow_c_array__(self, requested_schema=None):
            return 1

    with pytest.raises(TypeError, match="pair of capsules"):
        parlance.parse_arrow(Liar(), "qwen3")


def test_indices_of_a_dictionary_are_no_ids():
    vocabulary = parlance.Vocabulary([bytes([b]) for b in range(256)], stop_ids=[0])
    ids = [[ord("b")], [ord("a"), ord("c")]]
    options = {"vocabulary": vocabulary, "markers": "either"}
    rows = rows_of(parlance.parse_arrow(IdColumn(ids), "qwen3", **options))
    assert [row["content"] for row in rows] == ["b", "ac"]
    encoded = IdColumn([[1], [0, 2]], words=[ord("a"), ord("b"), ord("c")])
    with pytest.raises(TypeError, match="list of dictionary"):
        parlance.parse_arrow(encoded, "qwen3", **options)


def class_of(**methods):
    return type("Column", (), {k: lambda self, v=v: v for k, v in methods.items()})()


def test_a_capsule_is_consumed_once():
    chunked = ChunkedColumn(RESPONSES[:3], RESPONSES[3:]).__arrow_c_stream__()
    whole = TextColumn(RESPONSES).__arrow_c_array__()
    for column in (
        class_of(__arrow_c_stream__=chunked),
        class_of(__arrow_c_array__=whole),
    ):
        messages = parlance.parse_arrow(column, "qwen3")
        assert len(messages) == len(RESPONSES)
        for again in ({"column": column}, {"prefix": column}):
            with pytest.raises(parlance.UsageError, match="was consumed before"):
                parlance.parse_arrow(
                    **{"column": TextColumn(RESPONSES), "format": "qwen3", **again}
                )
    # The same pair for two columns of one call.
    pair = class_of(__arrow_c_array__=TextColumn([""]).__arrow_c_array__())
    with pytest.raises(parlance.UsageError, match="was consumed before"):
        parlance.parse_arrow(pair, "qwen3", prefix=pair)


def test_capsules_of_another_kind():
    stream = ChunkedColumn([""]).__arrow_c_stream__()
    for other in (None, stream, (), 1):
        schema, array = TextColumn([""]).__arrow_c_array__()
        pair = (array, schema) if other is None else (schema, other)
        with pytest.raises(TypeError, match="a capsule named"):
            parlance.parse_arrow(class_of(__arrow_c_array__=pair), "qwen3")
    for one in (schema, None, 1):
        with pytest.raises(TypeError, match="a capsule named"):
            parlance.parse_arrow(class_of(__arrow_c_stream__=one), "qwen3")


def test_a_column_without_chunks():
    for columns in (
        {"column": ChunkedColumn([]), "prefix": ChunkedColumn()},
        {"column": ChunkedColumn(), "prefix": ChunkedColumn([], [])},
        {"column": ChunkedColumn([]), "tools": ChunkedColumn()},
    ):
        messages = parlance.parse_arrow(format="qwen3", **columns)
        assert len(messages) == 0
        assert chunks_of(messages) == []
    messages = parlance.parse_arrow(ChunkedColumn([]), ChunkedColumn())
    assert chunks_of(messages) == []
    with pytest.raises(parlance.UsageError, match="0 rows beside 1"):
        parlance.parse_arrow(TextColumn([""]), "qwen3", prefix=ChunkedColumn())


def test_properties_that_raise():
    class Column:
        @property
        def __arrow_c_stream__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parlance.parse_arrow(Column(), "qwen3")


def test_columns_are_released():
    before = arrow_columns.TextColumn.released
    messages = parlance.parse_arrow(TextColumn(RESPONSES), "qwen3")
    assert arrow_columns.TextColumn.released == before + 1
    capsules = messages.__arrow_c_array__()
    rows = rows_of(messages)
    del messages
    gc.collect()

    class Kept:  # the capsules of a column that is gone
        def __arrow_c_array__(self):
            return capsules

    assert rows_of(Kept()) == rows
