"""DuckDB speaks the common tongue: TRY_CAST, RE2, 128-bit sums."""

from __future__ import annotations

from typing import ClassVar

from wallflower.engines.dialect import Dialect


class DuckDialect(Dialect):
    name: ClassVar[str] = "duckdb"
