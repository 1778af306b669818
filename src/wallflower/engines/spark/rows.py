"""Rows of a Spark table have no order: a record is found by its key alone."""

from __future__ import annotations

from dataclasses import dataclass

from wallflower.engines.sql_rows import SqlRows


@dataclass(frozen=True)
class SparkRows(SqlRows):
    """The questions of `base.Rows`, run on the executors."""
