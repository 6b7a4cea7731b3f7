"""``python -m parlance``, and the script ``parlance``: the command.

    parlance parse --format qwen3 response.txt
    parlance parse --format qwen3 generations.parquet -o parsed

The extension module has the command; files of Parquet are parsed by
``_parquet.py``.  Nothing else of the package is loaded.
"""

import os
import sys

from . import _parlance


def main(arguments=None):
    """Runs the command, ``sys.argv`` without a list of arguments.

    Returns:
        The exit status.
    """
    if arguments is None:
        arguments = sys.argv[1:]
    if _reads_parquet(arguments):
        from ._parquet import main as parse_parquet

        return parse_parquet(arguments)
    if not hasattr(_parlance, "run_command"):
        print(
            "parlance: the package was built without the command, which needs CLI11",
            file=sys.stderr,
        )
        return 2
    # The command writes to the descriptors below these.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return _parlance.run_command([os.fsencode(one) for one in arguments])


def _reads_parquet(arguments):
    """Whether an argument of ``parse`` is a Parquet file or a folder with some."""
    return arguments[:1] == ["parse"] and any(map(_is_parquet, arguments))


def _is_parquet(path):
    if path.endswith(".parquet"):
        return True
    try:
        return any(name.endswith(".parquet") for name in os.listdir(path))
    except (OSError, ValueError):
        return False


if __name__ == "__main__":
    sys.exit(main())
