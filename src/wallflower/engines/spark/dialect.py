"""The rule in Spark's words. Ibis's own Spark compiler needs a live session for numbers; Databricks' SQL is the same language."""

from __future__ import annotations

from typing import Any, ClassVar

from wallflower.engines.dialect import Dialect, double


class SparkDialect(Dialect):
    name: ClassVar[str] = "databricks"

    def matches(self, text: Any, pattern: str) -> Any:
        """Java's $ also matches before a newline at the end."""
        return text.re_search(rf"{pattern.removesuffix('$')}\z")

    def boolean(self, raw: Any) -> Any:
        return raw.cast("int32")

    def is_infinite(self, value: Any) -> Any:
        """Ibis compiles `isinf` to FALSE."""
        return (value == double(float("inf"))) | (value == double(float("-inf")))

    def exact_sum(self, column: Any) -> Any:
        """A sum of 64-bit integers wraps or fails; one of 38 digits holds any table."""
        return column.cast("decimal(38, 0)").sum().cast("string")
