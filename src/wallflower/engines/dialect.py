"""What a database must be able to write so that the reading rule, pushed down, gives the same integers everywhere.

`Dialect` is the common tongue: expressions that compile wherever Ibis compiles TRY_CAST. An engine's `dialect.py` changes the
methods that its database understands otherwise. Constants enter as text cast to DOUBLE, because some databases read a
bare 0.1 as a DECIMAL.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

from wallflower.engines.reading_rule import Kind, NumberRule


@lru_cache(maxsize=256)
def _statement(name: str, operation: Any) -> str:
    """Equal operations have equal types and constants (doubles are written as texts, or 0.0 would equal -0.0): kept is what would be written."""
    return _written(name, operation.to_expr())


def _written(name: str, expression: Any) -> str:
    import ibis

    return str(ibis.to_sql(expression, dialect=name, pretty=False))


class Dialect:
    """One way to write the rule. Nothing here may fail because of a cell: an error of a database quotes it."""

    name: ClassVar[str] = "duckdb"
    """Ibis's name of the SQL."""

    def compiled(self, expression: Any) -> str:
        return _written(self.name, expression)

    def compiled_once(self, expression: Any) -> str:
        """The same, kept for the next release: for what the declaration and a question's columns decide.

        Never for what holds a value that somebody asked about, which may be private: kept, it would outlive the release, and how long
        the next one takes would tell whether it was the same.
        """
        return _statement(self.name, expression.op())

    def matches(self, text: Any, pattern: str) -> Any:
        """Whether the whole text matches a pattern that begins with ^ and ends with $."""
        return text.re_search(pattern)

    def part(self, text: Any, pattern: str, group: int) -> Any:
        """The text of a group of a pattern, from 1; empty or NULL where the pattern does not match."""
        return text.re_extract(pattern, group)

    def whole_of_text(self, text: Any) -> Any:
        """The integer of a text of at most six ASCII digits; NULL for any other."""
        return text.try_cast("int64")

    def double_of_text(self, text: Any) -> Any:
        """The nearest double of a text that is NULL or spells a number with a decimal point; infinite when it is too large."""
        return text.try_cast("float64")

    def double_of(self, raw: Any, kind: Kind) -> Any:
        """The nearest double of a physical number."""
        if kind is Kind.DECIMAL:
            return raw.cast("string").try_cast("float64")  # through text, which is correctly rounded
        return raw.try_cast("float64")

    def date_of_text(self, text: Any) -> Any:
        """The date of a text that is NULL or written YYYY-MM-DD; NULL when there is no such day."""
        return text.try_cast("date")

    def date_of_moment(self, raw: Any) -> Any:
        """The day a timestamp falls on, in UTC when it has a zone."""
        return raw.date()

    def boolean(self, raw: Any) -> Any:
        return raw.cast("int8")

    def is_nan(self, value: Any) -> Any:
        return value.isnan()

    def is_infinite(self, value: Any) -> Any:
        return value.isinf()

    def scaled(self, value: Any, rule: NumberRule) -> Any:
        """value · times / over, both rounded; `value` lies within the bounds or is NULL."""
        return value * double(rule.times) / double(rule.over)

    def days(self, value: Any) -> Any:
        """Days since 1970-01-01."""
        import ibis

        return value.delta(ibis.date(1970, 1, 1), unit="day").cast("int64")

    def whole_sum(self, column: Any) -> Any:
        """Σ of a column of integers that fits into 64 bits, as such an integer.

        Ibis takes every sum of integers for one and leaves a plain cast out; a database makes it wider (PostgreSQL: numeric), and what
        is computed from it would be so too.
        """
        return column.sum().cast("decimal(38, 0)").cast("int64")

    def exact_sum(self, column: Any) -> Any:
        """Σ of a column of 64-bit integers as text: it outgrows 64 bits."""
        return column.sum().cast("string")


def double(value: float) -> Any:
    import ibis

    return ibis.literal(repr(value)).cast("float64")


def integer(value: int | None) -> Any:
    import ibis

    return ibis.null("int64") if value is None else ibis.literal(value, "int64")
