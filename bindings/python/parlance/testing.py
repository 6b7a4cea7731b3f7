"""Tests of a format file of your own.

    from parlance.testing import check_format

    def test_mine():
        check_format("mine.json", tools=TOOLS)
"""

from __future__ import annotations

import json
from typing import Any

from . import Format, Vocabulary

__all__ = ["check_format"]


def check_format(
    format: Any,
    tools: Any = None,
    *,
    vocabulary: Vocabulary | None = None,
    walks: int = 1000,
    seed: int = 0,
) -> None:
    """Raises AssertionError if a format does not read what it writes.

    The same is run by ``parlance check --walk``: calls at the edges of what the
    grammar accepts, then random responses under its masks, each of which must be
    read as it was written, in pieces cut anywhere as whole; its message is
    rendered and read back, and damaged text is read in single bytes as whole.
    Likely mistakes in the file (``Format.lint()``) are added to the message of a
    failure; they are no failure by themselves.

    Args:
        format: a ``Format``, or what ``Format()`` takes: a path, JSON text, a
            ``dict``, the name of a built-in format.
        tools, vocabulary, walks, seed: as of ``Format.verify()``.

    Raises:
        AssertionError: with the place in the file, a short response, what was
            meant and what was read, of everything that was found.
        TemplateError: the format cannot be loaded.
    """
    if not isinstance(format, Format):
        format = Format(format)
    found = format.verify(tools, vocabulary=vocabulary, walks=walks, seed=seed)
    if not found:
        return
    lines = [f"the format {format.name!r} does not read what it writes:"]
    for finding in found:
        lines.append(f"{finding['path'] or '/'}: {finding['message']}")
        if finding["text"]:
            lines += [
                f"    {key}: {json.dumps(finding[key], ensure_ascii=False)}"
                for key in ("text", "meant", "read")
            ]
    lint = [f"likely: {one['path']}: {one['message']}" for one in format.lint()]
    raise AssertionError("\n".join(lines + lint))
