"""Parse in Ray Data, on a cluster of several nodes of this machine.

``scripts/test data`` runs it.  The law: every row comes back once, with the
message that parse_arrow gives, whatever happens to the nodes.
"""

import logging
import os
import pathlib
import pickle
import time

import parlance
import pyarrow
import pytest
from parlance.integrations.ray import Parse

os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

FOLDER = str(pathlib.Path(parlance.__file__).parent.parent)
BLOCKS = 24
ROWS = 1000  # of each block


def response(row):
    if row % 13 == 0:
        return None
    if row % 7 == 0:
        return f"<think>cut of {row}"
    call = f'<tool_call>\n{{"name": "f", "arguments": {{"n": {row}}}}}\n</tool_call>'
    return f"<think>About {row}.</think>Row {row}. " + (call if row % 3 else "")


@pytest.fixture(scope="module")
def blocks():
    return [
        pyarrow.table(
            {
                "id": range(begin, begin + ROWS),
                "text": [response(row) for row in range(begin, begin + ROWS)],
            }
        )
        for begin in range(0, BLOCKS * ROWS, ROWS)
    ]


@pytest.fixture(scope="module")
def expected(blocks):
    """The messages without Ray, by id."""
    table = pyarrow.concat_tables(blocks)
    messages = pyarrow.chunked_array(
        parlance.parse_arrow(table["text"], "qwen3")
    ).to_pylist()
    return dict(zip(table["id"].to_pylist(), messages, strict=True))


@pytest.fixture
def cluster():
    """A head without processors, and three nodes with one each."""
    cluster = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "object_store_memory": 100 * 2**20},
    )
    cluster.nodes = [
        cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
        for _ in range(3)
    ]
    ray.init(
        address=cluster.address,
        runtime_env={"env_vars": {"PYTHONPATH": FOLDER}},
        log_to_driver=False,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


class ParseAndSay(Parse):
    """Parse, slowly, with the node it ran on."""

    def __call__(self, table):
        time.sleep(0.4)
        table = super().__call__(table)
        node = ray.get_runtime_context().get_node_id()
        return table.append_column(
            "node", pyarrow.array([node] * table.num_rows, "string")
        )


def parsed(blocks):
    return ray.data.from_arrow(blocks).map_batches(
        ParseAndSay("qwen3"), batch_format="pyarrow"
    )


def collect(dataset, after_batch=lambda seen: None):
    """The messages by id, and the nodes that made them."""
    seen = {}
    nodes = set()
    for batch in dataset.iter_batches(batch_format="pyarrow", batch_size=None):
        columns = (batch[name].to_pylist() for name in ("id", "message", "node"))
        for row, message, node in zip(*columns, strict=True):
            assert row not in seen, f"row {row} came twice"
            seen[row] = message
            nodes.add(node)
        after_batch(seen)
    return seen, nodes


def test_several_nodes(cluster, blocks, expected):
    seen, nodes = collect(parsed(blocks))
    assert seen == expected
    assert len(nodes) == 3


def test_a_node_is_killed(cluster, blocks, expected):
    rows_then = []

    def kill(seen):
        if not rows_then and len(seen) >= 3000:
            rows_then.append(len(seen))
            cluster.remove_node(cluster.nodes.pop(), allow_graceful=False)

    seen, _ = collect(parsed(blocks), kill)
    assert 3000 <= rows_then[0] < BLOCKS * ROWS / 2, "not in the middle"
    assert seen == expected
    assert sum(node["Alive"] for node in ray.nodes()) == 3  # of four


def test_bad_arguments_raise_before_any_task():
    with pytest.raises(parlance.TemplateError, match="qwen3"):
        Parse("qwen33")
    with pytest.raises(TypeError, match="list of tools"):
        Parse("qwen3", tools="f")
    with pytest.raises(parlance.UsageError, match="format or|format_column"):
        Parse()
    with pytest.raises(parlance.UsageError, match="prefix_column"):
        Parse("qwen3", prefix="", prefix_column="prompt")


def test_it_pickles_to_names():
    tools = [{"name": "f", "parameters": {"type": "object"}}]
    parse = Parse("qwen3", tools=tools, column="a", prefix="<think>")
    data = pickle.dumps(parse)
    assert len(data) < 1000
    table = pyarrow.table({"a": ["x</think>y"]})
    assert pickle.loads(data)(table) == parse(table)
