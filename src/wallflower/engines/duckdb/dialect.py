"""DuckDB speaks the common tongue: TRY_CAST, RE2, 128-bit sums."""

from __future__ import annotations

from typing import Any, ClassVar

from wallflower.engines.dialect import Dialect

DAY = 86_400 * 10**9


class DuckDialect(Dialect):
    name: ClassVar[str] = "duckdb"

    def date_of_moment(self, raw: Any) -> Any:
        """DuckDB cuts nanoseconds off, towards 1970: the last of a day before it would fall on the next."""
        import ibis

        day = super().date_of_moment(raw)
        if raw.type().scale != 9:
            return day
        ticks = ibis.udf.scalar.builtin(_ticks, name="epoch_ns", signature=(("timestamp(9)",), "int64"))
        after = ticks(raw) % DAY  # as in C: negative before 1970
        return ibis.cases(((after > -1_000) & (after < 0), (day - ibis.interval(days=1)).cast("date")), else_=day)


def _ticks(moment: Any) -> Any:
    """DuckDB's own."""
