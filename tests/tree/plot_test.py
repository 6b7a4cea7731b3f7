"""The pictures of `scripts/bench mask --plot` (bench/plot.py)."""

import pathlib
import random
import re
import sys
import xml.etree.ElementTree

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from plot import LEFT, WIDTH, Panel, curve, draw, nines, shown  # noqa: E402


def drawn(path, panels):
    draw(path, "A <title>", panels, "a note & more")
    return xml.etree.ElementTree.parse(path).getroot()


def test_a_picture(tmp_path):
    draws = random.Random(1)
    times = {
        name: [draws.lognormvariate(8, 2) * factor for _ in range(3000)]
        for name, factor in (("one", 1), ("<two>", 10))
    }
    root = drawn(tmp_path / "a.svg", [Panel("Steps", times), Panel("None", {})])
    texts = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("text")]
    assert {"A <title>", "one", "<two>", "a note & more"} <= set(texts)
    assert "None: nothing was measured" in texts
    lines = [e for e in root.iter() if e.tag.endswith("polyline")]
    assert len(lines) == 2
    _, _, width, height = map(float, root.get("viewBox").split())
    for line in lines:
        points = [tuple(map(float, p.split(","))) for p in line.get("points").split()]
        assert all(LEFT <= x <= LEFT + WIDTH for x, _ in points)
        assert all(0 < y < height for _, y in points) and width > LEFT + WIDTH
        # To the right and upwards.
        assert points == sorted(points, key=lambda p: (p[0], -p[1]))


@pytest.mark.parametrize("times", [[5.0], [0.0], [3.0, 1e12], [7.0] * 10])
def test_few_and_equal_times(tmp_path, times):
    root = drawn(tmp_path / "a.svg", [Panel("Steps", {"one": times})])
    assert not re.search("nan|inf", xml.etree.ElementTree.tostring(root).decode())


def test_a_curve_ends_with_the_longest_time():
    times = sorted(float(n) for n in range(1, 1001))
    points = list(curve(times))
    assert points[0] == (1.0, 0.0) and points[-1][0] == 1000.0
    # Half of the times are at most 500.
    assert min(abs(ns - 500) for ns, up in points if abs(up - nines(0.5)) < 0.02) < 20


def test_times_as_people_read_them():
    assert [shown(ns) for ns in (1, 950, 1000, 3456, 12_000, 2.5e6, 3e9)] == [
        "1 ns", "950 ns", "1 µs", "3.5 µs", "12 µs", "2.5 ms", "3 s"
    ]
