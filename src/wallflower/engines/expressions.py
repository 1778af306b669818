"""The rule of `reading_rule`, as Ibis expressions that a database evaluates in its own `dialect`.

Two stages, so that no long expression is repeated: `prepared` turns a raw column into a comparable value and says
whether it was readable; `state` and `settled` work on that value. No cast may fail: its error would quote the cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from wallflower.engines.date_expressions import text_date
from wallflower.engines.dialect import Dialect, double, integer
from wallflower.engines.reading_rule import (
    UNDECODABLE,
    CategoryRule,
    DateRule,
    Kind,
    NumberRule,
    Rule,
    State,
    grammar,
)
from wallflower.schema.domains import EPOCH, Bins

LEAF = 4
"""So many comparisons in a row before a search tree pays."""


def prepared(raw: Any, rule: Rule, dialect: Dialect) -> tuple[Any, Any]:
    """The comparable value (NULL unless readable) and, as a small integer, whether it is INSIDE (so far), MISSING or UNREADABLE."""
    import ibis

    if rule.kind is Kind.NOTHING:
        return ibis.null("int64"), ibis.literal(int(State.MISSING), "int8")
    if rule.kind is Kind.TEXT:
        value, spoilt = _from_text(raw, rule, dialect)
        empty = raw.isnull() | (raw == "")
        if rule.missing_pattern is not None:
            empty = empty | dialect.matches(raw, rule.missing_pattern)
        if rule.missing_values:
            empty = empty | value.isin([double(code) for code in rule.missing_values])
        state = ibis.cases((empty, int(State.MISSING)), (spoilt, int(State.UNREADABLE)), else_=int(State.INSIDE))
        return value, state.cast("int8")
    value = _from_type(raw, rule, dialect)
    missing = value.isnull() | dialect.is_nan(value) if rule.kind in {Kind.REAL, Kind.DECIMAL} else value.isnull()
    if rule.missing_values:
        missing = missing | value.isin([_meaning(code, rule) for code in rule.missing_values])
    state = ibis.cases((missing, int(State.MISSING)), else_=int(State.INSIDE))
    return value, state.cast("int8")


def state(value: Any, readable: Any, rule: Rule) -> Any:
    """The state of a cell from its prepared value."""
    import ibis

    if rule.kind is Kind.NOTHING:
        return readable
    if isinstance(rule, CategoryRule):
        outside = [(code_of(value, rule).isnull(), int(State.ABOVE))]
    else:
        low, high = bounds_of(rule)
        outside = [(value < low, int(State.BELOW)), (value > high, int(State.ABOVE))]
    return ibis.cases((readable != int(State.INSIDE), readable), *outside, else_=readable).cast("int8")


def settled(value: Any, readable: Any, rule: Rule, dialect: Dialect) -> Any:
    """The declared integer of a cell, `outside` and `missing` applied; NULL when its row leaves."""
    import ibis

    missing = integer(rule.missing)
    if rule.kind is Kind.NOTHING:
        return missing
    unread = readable != int(State.INSIDE)
    if isinstance(rule, CategoryRule):
        code = code_of(value, rule)
        known = code if rule.above is None else ibis.coalesce(code, integer(rule.above))
        return ibis.cases((unread, missing), else_=known).cast("int64")
    low, high = bounds_of(rule)
    return ibis.cases(
        (unread, missing),
        (value < low, integer(rule.below)),
        (value > high, integer(rule.above)),
        else_=_steps(value, rule, dialect),
    ).cast("int64")


def bin_code(number: Any, bins: Bins) -> Any:
    """The place of the last edge that is not above the number."""
    return _tree(number, list(bins.edges), 0, lambda codes: integer(codes[0]), leaf=1)


def plain(value: Any, kind: Kind) -> tuple[Any, str]:
    """A comparable value of a `CategoryRule` as Python's own, with its Ibis type."""
    if kind in {Kind.REAL, Kind.DECIMAL}:
        return float(value), "float64"
    if kind is Kind.DATE:
        return EPOCH + timedelta(days=value), "date"
    if kind is Kind.TEXT:
        return value, "string"
    # Ibis compares with an integer only when it knows that its type fits.
    return int(value), "uint64" if value >= 2**63 else "int64"


def _from_text(raw: Any, rule: Rule, dialect: Dialect) -> tuple[Any, Any]:
    import ibis

    spoilt = raw.contains(UNDECODABLE)
    if isinstance(rule, CategoryRule):
        return raw, spoilt
    if isinstance(rule, DateRule):
        value = text_date(raw, rule.format.dates, dialect)
        return value, spoilt | value.isnull()
    decimal, thousands = rule.format.decimal, rule.format.thousands
    spelt = dialect.matches(raw, grammar(decimal, thousands))
    text = ibis.cases((spelt, raw), else_=ibis.null("string"))
    if thousands:
        text = text.replace(thousands, "")
    if decimal != ".":
        text = text.replace(decimal, ".")
    value = dialect.double_of_text(text.strip())
    return value, spoilt | value.isnull() | dialect.is_infinite(value)


def _from_type(raw: Any, rule: Rule, dialect: Dialect) -> Any:
    if rule.kind in {Kind.REAL, Kind.DECIMAL} or (rule.kind is Kind.INTEGER and isinstance(rule, NumberRule)):
        return dialect.double_of(raw, rule.kind)
    if rule.kind is Kind.BOOLEAN:
        return dialect.boolean(raw)
    if rule.kind is Kind.TIMESTAMP:
        return dialect.date_of_moment(raw)
    return raw


def _steps(value: Any, rule: Rule, dialect: Dialect) -> Any:
    """Only values within the bounds are converted: the others would overflow, and a CASE may be evaluated eagerly."""
    import ibis

    low, high = bounds_of(rule)
    within = ibis.cases((value.between(low, high), value), else_=ibis.null(value.type()))
    if isinstance(rule, DateRule):
        return dialect.days(within)
    assert isinstance(rule, NumberRule)  # noqa: S101 - categories have no steps
    scaled = dialect.scaled(within, rule)
    floor = scaled.floor()
    rounded = floor + ibis.cases((scaled - floor.cast("float64") >= double(0.5), 1), else_=0)
    return ibis.greatest(ibis.least(rounded, integer(rule.last)), integer(rule.first))


def bounds_of(rule: Rule) -> tuple[Any, Any]:
    if isinstance(rule, NumberRule):
        return double(rule.lower), double(rule.upper)
    return day_literal(rule.first), day_literal(rule.last)


def code_of(value: Any, rule: CategoryRule) -> Any:
    """The code of a prepared value; NULL when it is not declared."""
    import ibis

    if not rule.codes:
        return ibis.null("int64")
    values = sorted(rule.codes)

    def literal(value: Any) -> Any:
        value, type_ = plain(value, rule.kind)
        return double(value) if type_ == "float64" else ibis.literal(value, type_)

    def leaf(part: Sequence[int]) -> Any:
        pairs = [(value == literal(values[i]), integer(rule.codes[values[i]])) for i in part]
        return ibis.cases(*pairs, else_=integer(None))

    return _tree(value, [literal(v) for v in values], 0, leaf, leaf=LEAF)


def _meaning(value: float, rule: Rule) -> Any:
    """What a missing code stands for, as this kind of column is prepared."""
    import ibis

    if isinstance(rule, NumberRule):
        return double(value)
    if isinstance(rule, DateRule):
        return day_literal(int(value))
    held, type_ = plain(value, rule.kind)
    return double(held) if type_ == "float64" else ibis.literal(held, type_)


def _tree(value: Any, edges: list[Any], start: int, leaf_of: Callable[[Sequence[int]], Any], *, leaf: int) -> Any:
    """A balanced search: which of the sorted `edges` is the last one not above `value`."""
    import ibis

    if len(edges) <= leaf:
        return leaf_of(range(start, start + len(edges)))
    half = len(edges) // 2
    lower = _tree(value, edges[:half], start, leaf_of, leaf=leaf)
    upper = _tree(value, edges[half:], start + half, leaf_of, leaf=leaf)
    return ibis.cases((value < edges[half], lower), else_=upper)


def day_literal(days: int) -> Any:
    import ibis

    return ibis.literal(EPOCH + timedelta(days=days))
