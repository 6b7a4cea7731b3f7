"""Reading source files: templates, schemas and structural tags."""

from __future__ import annotations

import os

from ._arguments import shown

_MAX_BYTES = 256 << 20  # Limits::source_bytes


def digest_of(path):
    """A digest of the content of a file, by which it is known."""
    import hashlib  # here, so that importing the package stays fast

    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def read_text(path, error):
    """The content of a UTF-8 file.  ``path`` is a ``str`` or ``PathLike``.

    Raises ``error``, a class, if the content is not UTF-8 or too large, or if
    the path cannot exist; ``OSError`` if the file cannot be opened.
    """
    path = os.fspath(path)
    try:
        file = open(path, "rb")
    except ValueError as why:  # a NUL or a surrogate
        raise error(
            f"{shown(path)} cannot be a path: {why}", code="io"
        ) from None
    with file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:  # a device may be infinite
        raise error(
            f"{shown(path)} has more than {_MAX_BYTES} bytes",
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
