"""Distributions of times as a picture: one SVG file, for light and dark pages.

    from plot import Panel, draw

    draw("masks.svg", "Masks of 300 schemas", [
        Panel("A mask", {"parlance": times, "llguidance": others}),
    ])

A panel has a curve for each name: to the right the time, on a logarithmic scale,
and upwards the share of the measured times that are at most that long.  Each
step upwards is another nine (90 %, 99 %, 99.9 %), so the slowest few are as easy
to see as the median.
"""

from __future__ import annotations

import dataclasses
import html
import math
import pathlib

# Of the panel's plotting area, in pixels, and what is around it.
WIDTH, HEIGHT = 620, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 26, 46, 52
LEGEND_LINE = 22
POINTS_PER_NINE = 60

STYLE = """
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
.title { font-size: 17px; font-weight: 600; }
.head { font-size: 14px; font-weight: 600; }
.dim { fill: #59636e; }
.grid { stroke: #d8dce1; stroke-width: 1; }
.back { fill: #ffffff; }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
.c0 { stroke: #6645c4; } .c1 { stroke: #0a7f5f; } .c2 { stroke: #b85c00; }
.c3 { stroke: #1a62ad; } .c4 { stroke: #a02a7b; } .c5 { stroke: #556d10; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .dim { fill: #9aa4af; }
  .grid { stroke: #31363f; }
  .back { fill: #131519; }
  .c0 { stroke: #bba6ff; } .c1 { stroke: #62d4af; } .c2 { stroke: #f3ad62; }
  .c3 { stroke: #84bbf6; } .c4 { stroke: #f293d3; } .c5 { stroke: #bad466; }
}
"""


@dataclasses.dataclass
class Panel:
    heading: str
    times: dict[str, list[float]]  # nanoseconds, by name


def shown(ns):
    """A time as people read it: "3 µs", "1.2 ms"."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")):
        if ns >= size or unit == "ns":
            value = ns / size
            digits = 0 if value >= 10 else 1
            return f"{value:.{digits}f} {unit}".replace(".0 ", " ")


def quantile(ordered, share):
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def nines(share):
    """How many nines a share has: 0 for 0 %, 1 for 90 %, 2 for 99 %."""
    return -math.log10(1 - share)


def curve(ordered):
    """Points (nanoseconds, nines), from the shortest time to the longest."""
    top = math.log10(len(ordered)) if len(ordered) > 1 else 0.0
    count = max(1, int(top * POINTS_PER_NINE))
    for i in range(count + 1):
        up = top * i / count
        yield max(quantile(ordered, 1 - 10**-up), 1.0), up


def text(x, y, content, classes="", anchor="start"):
    return (
        f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{html.escape(content)}</text>"
    )


def line(x1, y1, x2, y2):
    return (
        f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}"'
        f' y2="{y2:.1f}"/>'
    )


def draw_panel(panel, offset):
    """The lines of a panel whose upper edge is at `offset`, and its height."""
    times = {name: sorted(ns) for name, ns in panel.times.items() if ns}
    if not times:
        return [text(LEFT, offset + 20, f"{panel.heading}: nothing was measured")], 40
    low = math.floor(math.log10(max(1, min(ns[0] for ns in times.values()))))
    high = math.ceil(math.log10(max(2, max(ns[-1] for ns in times.values()))))
    high = max(high, low + 1)
    top = max(1, math.ceil(math.log10(max(len(ns) for ns in times.values()))))
    above = offset + TOP

    def x_of(ns):
        return LEFT + WIDTH * (math.log10(ns) - low) / (high - low)

    def y_of(up):
        return above + HEIGHT * (1 - up / top)

    out = [text(LEFT, offset + 26, panel.heading, "head")]
    for power in range(low, high + 1):
        x = x_of(10.0**power)
        out.append(line(x, above, x, above + HEIGHT))
        out.append(text(x, above + HEIGHT + 20, shown(10.0**power), "dim", "middle"))
    shares = [0, nines(0.5), *range(1, top + 1)]
    for up in shares:
        share = 100 * (1 - 10**-up)
        out.append(line(LEFT, y_of(up), LEFT + WIDTH, y_of(up)))
        label = f"{share:.{max(0, round(up) - 2)}f} %"
        out.append(text(LEFT - 8, y_of(up) + 4, label, "dim", "end"))
    for number, (name, ordered) in enumerate(times.items()):
        points = " ".join(
            f"{x_of(ns):.1f},{y_of(up):.1f}" for ns, up in curve(ordered)
        )
        colour = f"c{number % 6}"
        out.append(f'<polyline class="line {colour}" points="{points}"/>')
        y = above + HEIGHT + BOTTOM + number * LEGEND_LINE
        out.append(
            f'<line class="line {colour}" x1="{LEFT}" y1="{y - 4}"'
            f' x2="{LEFT + 26}" y2="{y - 4}"/>'
        )
        facts = ", ".join(
            f"{label} {shown(quantile(ordered, share))}"
            for label, share in (("median", 0.5), ("99 %", 0.99), ("longest", 1.0))
        )
        out.append(text(LEFT + 36, y, name))
        out.append(text(LEFT + WIDTH, y, f"{facts} ({len(ordered):,})", "dim", "end"))
    return out, TOP + HEIGHT + BOTTOM + len(times) * LEGEND_LINE


def draw(path, title, panels, note=""):
    """Writes the picture.  `note` says where the numbers come from."""
    body, at = [], 34.0
    for panel in panels:
        lines, height = draw_panel(panel, at)
        body += lines
        at += height + 14
    if note:
        body.append(text(LEFT, at + 8, note, "dim"))
        at += 26
    width = LEFT + WIDTH + RIGHT
    pathlib.Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {at:.0f}"'
        ' role="img">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n"
        f'<rect class="back" width="{width}" height="{at:.0f}"/>\n'
        + "\n".join([text(LEFT, 28, title, "title"), *body])
        + "\n</svg>\n"
    )
