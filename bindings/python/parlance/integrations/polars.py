"""Stored responses in Polars.

    import polars
    from parlance.integrations.polars import parse

    frame.with_columns(message=parse("text", "qwen3"))
    polars.scan_parquet("generations/*.parquet").select(
        "id", parse("text", "qwen3").struct.field("content")
    ).sink_parquet("contents.parquet")

The expression is a plug-in of Polars: it runs without Python and its GIL, in
lazy queries and in the streaming engine, and gets and gives Arrow columns.
"""

from __future__ import annotations

import pathlib

from .. import Format, _parlance, parse_arrow
from .._arguments import is_a, kind, text
from .._tools import ToolSet

__all__ = ["parse"]


def parse(
    column, format, *, prefix=None, tools=None, vocabulary=None, markers="token"
):
    """Returns a Polars expression: the messages of a column of responses.

    Its type is a struct with the members that ``parlance.parse_arrow`` lists.  A
    response that is null has a null message.  The name is the column's.

    Args:
        column: an expression, or the name of a column.  Texts; or lists of token
            ids, which need ``vocabulary``.
        format: as ``spec`` of ``Format``, or an expression with names or format
            files by row.
        prefix: what the prompts already wrote: a ``str`` for all responses, or
            an expression.
        tools: as of ``parse_response``, for all responses, or an expression with
            JSON texts.
        vocabulary: a ``Vocabulary``, for token ids.  Polars then calls Python
            for each batch (``map_batches``): a plug-in is given columns only.
        markers: how ids write delimiters, as of ``ResponseParser``.

    Raises:
        TemplateError: ``format`` cannot be used.
        TypeError: an argument has another type.

    A format or tools of a row that cannot be used are diagnostics of the row.
    """
    import polars
    from polars.plugins import register_plugin_function

    if is_a(column, str):
        column = polars.col(column)
    elif not isinstance(column, polars.Expr):
        raise TypeError(
            "column must be the name of a column or an expression of Polars, "
            f"not {kind(column)}"
        )
    by_python = vocabulary is not None
    if not isinstance(format, polars.Expr):
        format = Format(format)
        source, _, names = format._made
        # A built-in format is known by its name; other names have no text.
        by_python = by_python or bool(names)
        format = polars.lit(source, polars.String) if not by_python else format
    if prefix is None:
        prefix = ""
    if not isinstance(prefix, polars.Expr):
        prefix = polars.lit(text("prefix", prefix), polars.String)
    if not isinstance(tools, polars.Expr):
        if tools is not None:
            tools = ToolSet(tools)._text
        tools = polars.lit(tools, polars.String)
    if by_python:
        return _mapped(column, format, prefix, tools, vocabulary, markers)
    return register_plugin_function(
        plugin_path=pathlib.Path(_parlance.__file__),
        function_name="parse",
        args=[column, format, prefix, tools],
        is_elementwise=True,
    )


def _mapped(column, format, prefix, tools, vocabulary, markers):
    """The same by a function of Python."""
    import polars

    constant = None if isinstance(format, polars.Expr) else format
    columns = [column, prefix, tools] + ([format] if constant is None else [])

    def parse_batch(series):
        # polars.Series takes messages of one chunk.
        responses = series[0].rechunk()
        by_row = [
            one.new_from_index(0, len(responses)) if len(one) == 1 else one.rechunk()
            for one in series[1:]
        ]
        messages = parse_arrow(
            responses,
            by_row[2] if constant is None else constant,
            prefix=by_row[0],
            tools=by_row[1],
            vocabulary=vocabulary,
            markers=markers,
        )
        return polars.Series(messages).alias(series[0].name)

    return polars.map_batches(
        columns,
        parse_batch,
        return_dtype=_message_type(),
        is_elementwise=True,
    )


def _message_type():
    import polars

    return polars.Series(
        parse_arrow(polars.Series([], dtype=polars.String), "qwen3")
    ).dtype
