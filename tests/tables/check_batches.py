"""parse_response with columns of tables: the messages are those of the list."""

import parlance
import pytest

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
datasets = pytest.importorskip("datasets")

RESPONSES = ["<think>Hm.</think>Hi.", "", None, "<think>cut", "Zürich 🙂"]
IDS = [[256, 72, 257, 73], [], [74]]
VOCABULARY = parlance.Vocabulary(
    [bytes([b]) for b in range(256)] + [b"<think>", b"</think>"],
    control_ids=[256, 257],
)

COLUMNS = {
    "pandas": pandas.Series,
    "pandas, objects": lambda rows: pandas.Series(rows, dtype=object),
    "pandas, strings": lambda rows: pandas.Series(rows, dtype="string"),
    "pandas, Arrow": lambda rows: pandas.Series(
        rows, dtype=pandas.ArrowDtype(pyarrow.large_string())
    ),
    "pandas, categories": lambda rows: pandas.Series(rows, dtype="category"),
    "Polars": polars.Series,
    "Arrow": pyarrow.array,
    "Arrow, large": lambda rows: pyarrow.array(rows, pyarrow.large_string()),
    "Arrow, views": lambda rows: pyarrow.array(rows, pyarrow.string_view()),
    "Arrow, chunks": lambda rows: pyarrow.chunked_array([rows[:2], rows[2:]]),
    "Arrow, dictionary": lambda rows: pyarrow.array(rows).dictionary_encode(),
    "datasets": lambda rows: datasets.Dataset.from_dict({"a": rows})["a"][:],
}


def parse(batch, **options):
    return parlance.parse_response(batch, "qwen3", **{"prefix": "", **options})


@pytest.mark.parametrize("name", COLUMNS)
def test_texts(name):
    assert parse(COLUMNS[name](RESPONSES)) == parse(RESPONSES)
    prefixes = ["<think>", "", "", "", ""]
    assert parse(RESPONSES, prefix=COLUMNS[name](prefixes)) == parse(
        RESPONSES, prefix=prefixes
    )


@pytest.mark.parametrize(
    "column", [pandas.Series, polars.Series, pyarrow.array], ids=lambda c: c.__module__
)
def test_ids(column):
    expected = parse(IDS, vocabulary=VOCABULARY)
    assert expected[0] == parse("<think>H</think>I")
    assert parse(column(IDS), vocabulary=VOCABULARY) == expected
    one = parse(column(IDS[0]), vocabulary=VOCABULARY)
    assert one == expected[0]


def test_a_column_of_numbers_is_no_batch_of_texts():
    with pytest.raises((TypeError, parlance.UsageError)):
        parse(pyarrow.array([1.5, 2.5]))
