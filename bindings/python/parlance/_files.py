"""Reading what people wrote into files."""

from __future__ import annotations

import os


def read_text(path, error):
    """The content of a file; ``error`` is the class for one that is not UTF-8."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as why:
        raise error(
            f"{os.fspath(path)} is not UTF-8: {why}",
            code="invalid_utf8",
            span=(why.start, why.end),
        ) from None
