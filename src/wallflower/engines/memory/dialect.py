"""The rule of `reading_rule`, over Arrow arrays and numpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.arrow_cells import as_numpy, filled, mask, readable_texts, scalar, unfolded
from wallflower.engines.people import FIRST_DAY, LAST_DAY, SATURATION, saturated_bounds
from wallflower.engines.reading_rule import (
    UNDECODABLE,
    CategoryRule,
    DateRule,
    Kind,
    NumberRule,
    Rule,
    State,
    code_pattern,
    grammar,
)
from wallflower.errors import DeclarationError
from wallflower.schema.formats import CellFormat

Value = TypeVar("Value")


@dataclass(frozen=True)
class Cellwise:
    """For each cell its integer (meaningful where the state is INSIDE) and its state."""

    numbers: NDArray[np.int64]
    states: NDArray[np.uint8]

    def settle(self, rule: Rule) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """`outside` and `missing` applied: the integers, and which rows stay."""
        stays = np.ones(len(self.states), dtype=np.bool_)
        actions = {
            State.BELOW: rule.below,
            State.ABOVE: rule.above,
            State.MISSING: rule.missing,
            State.UNREADABLE: rule.missing,
        }
        for state, action in actions.items():
            here = self.states == state
            if action is None:
                stays &= ~here
            else:
                self.numbers[here] = action
        return self.numbers, stays

    def at(self, places: Any) -> Cellwise:
        """For each place, an Arrow column, what is there; a cell without a place is missing."""
        import pyarrow as pa

        found = as_numpy(filled(places.cast(pa.int64()), len(self.states)))
        return Cellwise(np.append(self.numbers, 0)[found], np.append(self.states, np.uint8(State.MISSING))[found])


def kind_of(name: str, type_: Any) -> Kind:
    """What an Arrow type holds; nested and binary types are refused."""
    import pyarrow.types as t

    if t.is_dictionary(type_):
        return kind_of(name, type_.value_type)
    tests = {
        Kind.BOOLEAN: t.is_boolean,
        Kind.INTEGER: t.is_integer,
        Kind.REAL: t.is_floating,
        Kind.DECIMAL: t.is_decimal,
        Kind.TEXT: lambda type_: t.is_string(type_) or t.is_large_string(type_) or t.is_string_view(type_),
        Kind.DATE: t.is_date,
        Kind.TIMESTAMP: t.is_timestamp,
        Kind.NOTHING: t.is_null,
    }
    for kind, test in tests.items():
        if test(type_):
            return kind
    raise refused(name)


def refused(name: str) -> DeclarationError:
    return DeclarationError(
        f"column '{name}' has a type that cannot be read as a number, a date or a text.",
        hint="Nested, binary and time-of-day columns are not supported.",
    )


def read(cells: Any, rule: Rule, *, clipped: bool = True) -> Cellwise:
    """Read one Arrow array by `rule`; not `clipped`: values outside the bounds keep their grid integer, saturated."""
    import pyarrow.types as t

    if rule.kind is Kind.NOTHING:
        return Cellwise(np.zeros(len(cells), np.int64), np.full(len(cells), State.MISSING, np.uint8))
    cells = _in_one(cells)
    if t.is_dictionary(cells.type) and len(cells.dictionary) <= len(cells):
        # Once each: spelt out for every cell, long texts outgrow what Arrow can hold, and memory.
        return read(cells.dictionary, rule, clipped=clipped).at(cells.indices)
    return _decoded(cells, lambda plain: _by_rule(plain, rule, clipped=clipped))


def read_doubles(cells: Any, rule: NumberRule) -> NDArray[np.float64]:
    """The doubles of one Arrow array by `rule`, before bounds and steps; NaN where a cell holds no number."""
    if rule.kind is Kind.NOTHING:
        return np.full(len(cells), math.nan)
    values, states = _decoded(cells, lambda plain: _as_doubles(plain, rule))
    values[states != State.INSIDE] = math.nan
    return values


def _decoded(cells: Any, work: Callable[[Any], Value]) -> Value:
    """`work` on plain cells; Arrow holds any bytes as text, and tells when they are looked at."""
    import pyarrow as pa
    import pyarrow.types as t

    cells = _in_one(cells)
    if t.is_dictionary(cells.type):
        cells = unfolded(cells)
    if t.is_string_view(cells.type):
        cells = cells.cast(pa.large_string())  # Arrow matches no patterns in views
    try:
        return work(cells)
    except UnicodeDecodeError:
        return work(readable_texts(cells))


def _in_one(cells: Any) -> Any:
    import pyarrow as pa

    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells


def _by_rule(cells: Any, rule: Rule, *, clipped: bool) -> Cellwise:
    if isinstance(rule, NumberRule):
        return _numbers(cells, rule, clipped=clipped)
    if isinstance(rule, DateRule):
        return _dates(cells, rule)
    assert isinstance(rule, CategoryRule)  # noqa: S101 - the three kinds of rule
    return _categories(cells, rule)


def _without_codes(values: NDArray[Any], states: NDArray[np.uint8], rule: Rule) -> None:
    """MISSING where the value is one that a missing code stands for."""
    if rule.missing_values:
        states[(states == State.INSIDE) & np.isin(values, np.array(rule.missing_values))] = State.MISSING


def _numbers(cells: Any, rule: NumberRule, *, clipped: bool) -> Cellwise:
    values, states = _as_doubles(cells, rule)
    readable = states == State.INSIDE
    states[readable & (values < rule.lower)] = State.BELOW
    states[readable & (values > rule.upper)] = State.ABOVE
    values[(states != State.INSIDE) if clipped else (states >= State.MISSING)] = rule.lower
    if not clipped:
        np.clip(values, -saturated_bounds(rule), saturated_bounds(rule), out=values)
    values *= rule.times
    values /= rule.over
    if not clipped:
        np.clip(values, -SATURATION, SATURATION, out=values)
    floors = np.floor(values)
    values -= floors
    numbers = floors.astype(np.int64)
    numbers += values >= 0.5
    if clipped:
        np.clip(numbers, rule.first, rule.last, out=numbers)
    return Cellwise(numbers, states)


def _as_doubles(cells: Any, rule: NumberRule) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """The comparable values, and whether each is INSIDE (so far), MISSING or UNREADABLE."""
    values, states = _text_doubles(cells, rule) if rule.kind is Kind.TEXT else _doubles(cells, rule.kind)
    _without_codes(values, states, rule)
    return values, states


def _doubles(cells: Any, kind: Kind) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Physical numbers as doubles; NaN is missing."""
    import pyarrow as pa

    if kind is Kind.DECIMAL:
        # Through text: Arrow's own conversion of decimals is not correctly rounded.
        cells = cells.cast(pa.string())
    values = np.array(as_numpy(filled(cells.cast(pa.float64(), safe=False), math.nan)))
    states = np.zeros(len(values), np.uint8)
    states[np.isnan(values)] = State.MISSING  # nulls have become NaN, which mean the same here
    return values, states


def text_states(cells: Any, codes: Sequence[str]) -> NDArray[np.uint8]:
    """MISSING where there is no text or a missing code, UNREADABLE where bytes could not be decoded."""
    import pyarrow.compute as pc

    states = np.zeros(len(cells), np.uint8)
    states[mask(pc.match_substring(cells, UNDECODABLE))] = State.UNREADABLE
    states[(as_numpy(filled(pc.binary_length(cells), 1)) == 0) | mask(cells.is_null())] = State.MISSING
    if codes:
        states[mask(pc.match_substring_regex(cells, code_pattern(codes)))] = State.MISSING
    return states


def text_moments(cells: Any, format_: CellFormat) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Microseconds since 1970-01-01 by the first format that fits, and whether one did."""
    import pyarrow.compute as pc

    readable = text_states(cells, format_.missing_codes) == State.INSIDE
    coded = pc.dictionary_encode(filled(cells, ""))
    found = [
        next((moment for each in format_.dates if (moment := each.moment(text)) is not None), None)
        for text in coded.dictionary.to_pylist()
    ]
    at = as_numpy(coded.indices)
    moments = np.array([moment or 0 for moment in found], np.int64)[at]
    return moments, readable & np.array([moment is not None for moment in found], np.bool_)[at]


def _text_doubles(cells: Any, rule: NumberRule) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    states = text_states(cells, rule.format.missing_codes)
    decimal, thousands = rule.format.decimal, rule.format.thousands
    spelt = pc.match_substring_regex(cells, grammar(decimal, thousands))
    states[(states == State.INSIDE) & ~mask(spelt)] = State.UNREADABLE
    zero = scalar("0", cells.type)
    texts = pc.ascii_trim(filled(pc.if_else(spelt, cells, zero), "0"), " ")
    if thousands:
        texts = pc.replace_substring(texts, thousands, "")
    if decimal != ".":
        texts = pc.replace_substring(texts, decimal, ".")
    values = np.array(as_numpy(texts.cast(pa.float64())))
    states[np.isinf(values)] = State.UNREADABLE
    return values, states


def _dates(cells: Any, rule: DateRule) -> Cellwise:
    if rule.kind is Kind.TEXT:
        numbers, states = _text_days(cells, rule)
    else:
        numbers, states = _days(cells)
    _without_codes(numbers, states, rule)
    np.clip(numbers, FIRST_DAY, LAST_DAY, out=numbers)
    inside = states == State.INSIDE
    states[inside & (numbers < rule.first)] = State.BELOW
    states[inside & (numbers > rule.last)] = State.ABOVE
    return Cellwise(numbers, states)


def _days(cells: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    import pyarrow as pa
    import pyarrow.types as t

    states = np.where(mask(cells.is_null()), State.MISSING, State.INSIDE).astype(np.uint8)
    if t.is_timestamp(cells.type):
        per_day = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[cells.type.unit] * 86_400
    elif t.is_date64(cells.type):
        per_day = 86_400_000
    else:
        per_day, cells = 1, cells.cast(pa.int32())
    ticks = as_numpy(filled(cells.cast(pa.int64()), 0))
    return np.floor_divide(ticks, per_day), states


def _text_days(cells: Any, rule: DateRule) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    import pyarrow.compute as pc

    states = text_states(cells, rule.format.missing_codes)
    coded = pc.dictionary_encode(filled(cells, ""))
    days = [rule.day(text) for text in coded.dictionary.to_pylist()]
    at = as_numpy(coded.indices)
    numbers = np.array([found or 0 for found in days], np.int64)[at]
    readable = np.array([found is not None for found in days], np.bool_)[at]
    states[(states == State.INSIDE) & ~readable] = State.UNREADABLE
    return numbers, states


def _categories(cells: Any, rule: CategoryRule) -> Cellwise:
    import pyarrow as pa

    if rule.kind is Kind.TEXT:
        return _text_categories(cells, rule)
    if rule.kind in {Kind.REAL, Kind.DECIMAL}:
        values, states = _doubles(cells, rule.kind)
        _without_codes(values, states, rule)
        return _looked_up(values, states, rule)
    if rule.kind is Kind.DATE:
        values, states = _days(cells)  # type: ignore[assignment]
        _without_codes(values, states, rule)
        return _looked_up(values, states, rule)
    states = np.where(mask(cells.is_null()), State.MISSING, State.INSIDE).astype(np.uint8)
    if rule.kind is Kind.BOOLEAN:
        cells = cells.cast(pa.int8())
    whole = as_numpy(filled(cells, 0))
    _without_whole_codes(whole, states, rule)
    return _looked_up(whole, states, rule)


def _text_categories(cells: Any, rule: CategoryRule) -> Cellwise:
    import pyarrow.compute as pc

    states = text_states(cells, rule.format.missing_codes)
    coded = pc.dictionary_encode(filled(cells, ""))
    codes = np.array([rule.codes.get(text, -1) for text in coded.dictionary.to_pylist()], np.int64)
    numbers = codes[as_numpy(coded.indices)] if len(codes) else np.zeros(0, np.int64)
    states[(states == State.INSIDE) & (numbers < 0)] = State.ABOVE
    return Cellwise(numbers, states)


def _without_whole_codes(values: NDArray[Any], states: NDArray[np.uint8], rule: Rule) -> None:
    """The same for integers of any width, without a detour through doubles."""
    limits = np.iinfo(values.dtype)
    held = [int(value) for value in rule.missing_values if limits.min <= value <= limits.max]
    if held:
        states[(states == State.INSIDE) & np.isin(values, np.array(held, dtype=values.dtype))] = State.MISSING


def _looked_up(values: NDArray[Any], states: NDArray[np.uint8], rule: CategoryRule) -> Cellwise:
    """Codes by binary search among the declared values that this type can hold."""
    limits = np.iinfo(values.dtype) if values.dtype.kind in "iu" else None
    held = sorted(value for value in rule.codes if limits is None or limits.min <= value <= limits.max)
    if not held:
        numbers = np.full(len(values), -1, np.int64)
    else:
        keys = np.array(held, dtype=values.dtype)
        codes = np.array([rule.codes[value] for value in held], np.int64)
        at = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
        numbers = np.where(keys[at] == values, codes[at], -1)
    states[(states == State.INSIDE) & (numbers < 0)] = State.ABOVE
    return Cellwise(numbers, states)
