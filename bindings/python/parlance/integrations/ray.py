"""Stored responses in Ray Data.

    from parlance.integrations.ray import Parse

    messages = ray.data.read_parquet("generations/").map_batches(
        Parse("qwen3", column="generated_text"), batch_format="pyarrow"
    )

``Parse`` is a function of a batch, without state and without side effects, so
that Ray may run it again where a node was lost.  A call takes one core, which is
what Ray reserves for it.
"""

from __future__ import annotations

from .arrow import Parse as _Parse

__all__ = ["Parse"]


class Parse(_Parse):
    """``parlance.integrations.arrow.Parse`` for ``Dataset.map_batches``.

    The arguments are the same; ``threads`` is 1 by default.
    """

    _default_threads = 1
