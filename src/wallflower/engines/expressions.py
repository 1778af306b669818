"""The rule of `reading_rule`, as Ibis expressions that a database evaluates.

Two stages, so that no long expression is repeated: `prepared` turns a raw column into a comparable value and says
whether it was readable; `state` and `settled` work on that value. Every cast is a TRY_CAST: a cast that fails
would quote the cell. Constants enter as text cast to DOUBLE, because DuckDB reads a bare 0.1 as a DECIMAL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from wallflower.engines.reading_rule import (
    DATE_PATTERN,
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


def prepared(raw: Any, rule: Rule) -> tuple[Any, Any]:
    """The comparable value (NULL unless readable) and, as a small integer, whether it is INSIDE (so far), MISSING or UNREADABLE."""
    import ibis

    if rule.kind is Kind.NOTHING:
        return ibis.null("int64"), ibis.literal(int(State.MISSING), "int8")
    if rule.kind is Kind.TEXT:
        value, spoilt = _from_text(raw, rule)
        empty = raw.isnull() | (raw == "")
        state = ibis.cases((empty, int(State.MISSING)), (spoilt, int(State.UNREADABLE)), else_=int(State.INSIDE))
        return value, state.cast("int8")
    value = _from_type(raw, rule)
    missing = value.isnull() | value.isnan() if rule.kind in {Kind.REAL, Kind.DECIMAL} else value.isnull()
    if isinstance(rule, NumberRule) and rule.kind is Kind.INTEGER:
        value = value.try_cast("float64")
    state = ibis.cases((missing, int(State.MISSING)), else_=int(State.INSIDE))
    return value, state.cast("int8")


def state(value: Any, readable: Any, rule: Rule) -> Any:
    """The state of a cell from its prepared value."""
    import ibis

    if rule.kind is Kind.NOTHING:
        return readable
    if isinstance(rule, CategoryRule):
        outside = [(_code(value, rule).isnull(), int(State.ABOVE))]
    else:
        low, high = _bounds(rule)
        outside = [(value < low, int(State.BELOW)), (value > high, int(State.ABOVE))]
    return ibis.cases((readable != int(State.INSIDE), readable), *outside, else_=readable).cast("int8")


def settled(value: Any, readable: Any, rule: Rule) -> Any:
    """The declared integer of a cell, `outside` and `missing` applied; NULL when its row leaves."""
    import ibis

    missing = _integer(rule.missing)
    if rule.kind is Kind.NOTHING:
        return missing
    unread = readable != int(State.INSIDE)
    if isinstance(rule, CategoryRule):
        code = _code(value, rule)
        known = code if rule.above is None else ibis.coalesce(code, _integer(rule.above))
        return ibis.cases((unread, missing), else_=known).cast("int64")
    low, high = _bounds(rule)
    return ibis.cases(
        (unread, missing),
        (value < low, _integer(rule.below)),
        (value > high, _integer(rule.above)),
        else_=_steps(value, rule),
    ).cast("int64")


def bin_code(number: Any, bins: Bins) -> Any:
    """The place of the last edge that is not above the number."""
    return _tree(number, list(bins.edges), 0, lambda codes: _integer(codes[0]), leaf=1)


def _from_text(raw: Any, rule: Rule) -> tuple[Any, Any]:
    import ibis

    spoilt = raw.contains(UNDECODABLE)
    if isinstance(rule, CategoryRule):
        return raw, spoilt
    if isinstance(rule, DateRule):
        spelt = raw.re_search(DATE_PATTERN) & ~raw.startswith("0000")
        value = ibis.cases((spelt, raw), else_=ibis.null("string")).try_cast("date")
        return value, spoilt | value.isnull()
    spelt = raw.re_search(grammar(rule.decimal))
    text = ibis.cases((spelt, raw), else_=ibis.null("string"))
    if rule.decimal != ".":
        text = text.replace(rule.decimal, ".")
    value = text.strip().try_cast("float64")
    return value, spoilt | value.isnull() | value.isinf()


def _from_type(raw: Any, rule: Rule) -> Any:
    if rule.kind is Kind.REAL:
        return raw.try_cast("float64")
    if rule.kind is Kind.DECIMAL:
        return raw.cast("string").try_cast("float64")  # through text, which is correctly rounded
    if rule.kind is Kind.BOOLEAN:
        return raw.cast("int8")
    if rule.kind is Kind.TIMESTAMP:
        return raw.date()
    return raw


def _steps(value: Any, rule: Rule) -> Any:
    """Only values within the bounds are converted: the others would overflow, and a CASE may be evaluated eagerly."""
    import ibis

    low, high = _bounds(rule)
    within = ibis.cases((value.between(low, high), value), else_=ibis.null(value.type()))
    if isinstance(rule, DateRule):
        return within.delta(ibis.date(1970, 1, 1), unit="day").cast("int64")
    assert isinstance(rule, NumberRule)  # noqa: S101 - categories have no steps
    scaled = within * _double(rule.times) / _double(rule.over)
    floor = scaled.floor()
    rounded = floor + (scaled - floor.cast("float64") >= _double(0.5)).cast("int64")
    return ibis.greatest(ibis.least(rounded, _integer(rule.last)), _integer(rule.first))


def _bounds(rule: Rule) -> tuple[Any, Any]:
    if isinstance(rule, NumberRule):
        return _double(rule.lower), _double(rule.upper)
    return _day(rule.first), _day(rule.last)


def _code(value: Any, rule: CategoryRule) -> Any:
    """The code of a prepared value; NULL when it is not declared."""
    import ibis

    if not rule.codes:
        return ibis.null("int64")
    values = sorted(rule.codes)

    def literal(value: Any) -> Any:
        if rule.kind in {Kind.REAL, Kind.DECIMAL}:
            return _double(value)
        if rule.kind is Kind.DATE:
            return _day(value)
        # Ibis compares with an integer only when it knows that its type fits.
        return ibis.literal(value, "uint64") if rule.kind is Kind.INTEGER and value >= 2**63 else value

    def leaf(part: Sequence[int]) -> Any:
        pairs = [(value == literal(values[i]), _integer(rule.codes[values[i]])) for i in part]
        return ibis.cases(*pairs, else_=_integer(None))

    return _tree(value, [literal(v) for v in values], 0, leaf, leaf=LEAF)


def _tree(value: Any, edges: list[Any], start: int, leaf_of: Callable[[Sequence[int]], Any], *, leaf: int) -> Any:
    """A balanced search: which of the sorted `edges` is the last one not above `value`."""
    import ibis

    if len(edges) <= leaf:
        return leaf_of(range(start, start + len(edges)))
    half = len(edges) // 2
    lower = _tree(value, edges[:half], start, leaf_of, leaf=leaf)
    upper = _tree(value, edges[half:], start + half, leaf_of, leaf=leaf)
    return ibis.cases((value < edges[half], lower), else_=upper)


def _integer(value: int | None) -> Any:
    import ibis

    return ibis.null("int64") if value is None else ibis.literal(value, "int64")


def _double(value: float) -> Any:
    import ibis

    return ibis.literal(repr(value)).cast("float64")


def _day(days: int) -> Any:
    import ibis

    return ibis.literal(EPOCH + timedelta(days=days))
