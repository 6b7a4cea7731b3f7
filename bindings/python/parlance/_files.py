"""Reading what people wrote into files."""

from __future__ import annotations

import os

from ._arguments import shown

_MOST_BYTES = 256 << 20  # Limits::source_bytes


def read_text(path, error):
    """The content of a file; ``error`` is the class for one that is not UTF-8,
    and for a path that no file system has.  A path is ``str`` or ``PathLike``.
    """
    path = os.fspath(path)
    try:
        file = open(path, "rb")
    except ValueError as why:  # a NUL, half of a surrogate pair
        raise error(
            f"{shown(path)} cannot be a path: {why}", code="io"
        ) from None
    with file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:  # of a device there is no end
        raise error(
            f"{shown(path)} has more than {_MOST_BYTES} bytes",
            code="too_large",
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as why:
        raise error(
            f"{shown(path)} is not UTF-8: {why}",
            code="invalid_utf8",
            span=(why.start, why.end),
        ) from None
