"""Hierarchies that a rule writes: intervals of numbers, runs of an order, prefixes of codes, the calendar.

    hierarchy = {by = "intervals", widths = [5, 10, 20]}              numbers: from the lower bound, each width a multiple of the one before
    hierarchy = {by = "order", runs = [2, 6]}                         categories: so many neighbours of the declared order
    hierarchy = {by = "prefix", keep = [4, 2]}                        codes: the first so many characters, the rest starred
    hierarchy = {by = "calendar", levels = ["month", "quarter", "year"]}        dates

Each gives, for every declared value, the labels of the nodes above it, as a line of an ARX file would. Nothing is read from rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction

from wallflower.errors import DeclarationError
from wallflower.schema.section import fraction

Label = Callable[[str], str]
CALENDAR: dict[str, Label] = {
    "month": lambda day: day[:7],
    "quarter": lambda day: f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}",
    "year": lambda day: day[:4],
    "decade": lambda day: f"{day[:3]}0s",
}
"""From the finest on; a day is written 2026-11-16."""
_KEYS = {"intervals": "widths", "order": "runs", "prefix": "keep", "calendar": "levels"}


def is_built(hierarchy: object) -> bool:
    """Whether this asks for a builder; in a nested table a node named "by" holds a list or a table."""
    return isinstance(hierarchy, Mapping) and isinstance(hierarchy.get("by"), str)


def built(hierarchy: Mapping[str, object], values: Sequence[str], *, column: str) -> list[tuple[str, ...]]:
    """Lines of an ARX file: value, level 1, …, `*`.

    >>> built({"by": "prefix", "keep": [2]}, ["1010", "1013", "8001"], column="zip")
    [('1010', '10**', '*'), ('1013', '10**', '*'), ('8001', '80**', '*')]
    >>> built({"by": "intervals", "widths": [2]}, ["0", "1", "2"], column="age")
    [('0', '[0, 1]', '*'), ('1', '[0, 1]', '*'), ('2', '2', '*')]
    """
    by = str(hierarchy["by"])
    if by not in _KEYS:
        raise _wrong(column, f"'by' must be one of {', '.join(_KEYS)}, got '{by}'")
    key = _KEYS[by]
    settings = hierarchy.get(key)
    if set(hierarchy) != {"by", key} or not isinstance(settings, list | tuple) or not settings:
        raise _wrong(column, f"by = \"{by}\" goes with a list called '{key}' and nothing else")
    levels = _BUILDERS[by](list(settings), list(values), column)
    return [(value, *(level[i] for level in levels), "*") for i, value in enumerate(values)]


def _intervals(widths: list[object], values: list[str], column: str) -> list[list[str]]:
    numbers = [number for value in values if (number := fraction(value)) is not None]
    steps = [step for width in widths if (step := fraction(width)) is not None]
    if len(numbers) < len(values) or len(steps) < len(widths):
        raise _wrong(column, "intervals are for numbers, with widths such as [5, 10, 20]")
    _multiples(steps, column)
    first = min(numbers, default=Fraction(0))
    return [_runs([int((number - first) / step) for number in numbers], values, ", ") for step in steps]


def _order(runs: list[object], values: list[str], column: str) -> list[list[str]]:
    if not all(isinstance(run, int) and not isinstance(run, bool) for run in runs):
        raise _wrong(column, "'runs' are whole numbers of neighbours, such as [2, 6]")
    sizes = [Fraction(run) for run in runs if isinstance(run, int)]
    _multiples(sizes, column)
    return [_runs([int(i / size) for i in range(len(values))], values, " .. ") for size in sizes]


def _prefix(keep: list[object], values: list[str], column: str) -> list[list[str]]:
    kept = [k for k in keep if isinstance(k, int) and not isinstance(k, bool) and k > 0]
    if len(kept) != len(keep) or any(b >= a for a, b in itertools.pairwise(kept)):
        raise _wrong(column, "'keep' says how many first characters stay, fewer at every level, such as [4, 2]")
    return [[value[:k] + "*" * (len(value) - k) for value in values] for k in kept]


def _calendar(levels: list[object], values: list[str], column: str) -> list[list[str]]:
    order = [
        list(CALENDAR).index(str(level)) if isinstance(level, str) and level in CALENDAR else -1 for level in levels
    ]
    if -1 in order or any(b <= a for a, b in itertools.pairwise(order)):
        raise _wrong(column, f"'levels' are some of {', '.join(CALENDAR)}, the finest first")
    try:
        days = [date.fromisoformat(value).isoformat() for value in values]
    except ValueError:
        raise _wrong(column, "the calendar is for dates") from None
    return [[CALENDAR[str(level)](day) for day in days] for level in levels]


_BUILDERS: dict[str, Callable[[list[object], list[str], str], list[list[str]]]] = {
    "intervals": _intervals,
    "order": _order,
    "prefix": _prefix,
    "calendar": _calendar,
}


def _multiples(steps: list[Fraction], column: str) -> None:
    nested = all(step > 0 for step in steps) and all(
        b > a and (b / a).denominator == 1 for a, b in itertools.pairwise(steps)
    )
    if not nested:
        raise _wrong(column, "each width must be above 0 and a multiple of the one before it")


def _runs(numbers: list[int], values: list[str], between: str) -> list[str]:
    """The label of each value's run: its ends, or the value alone."""
    ends: dict[int, tuple[str, str]] = {}
    for number, value in zip(numbers, values, strict=True):
        ends[number] = (ends.get(number, (value, value))[0], value)
    return [low if low == high else f"[{low}{between}{high}]" for low, high in (ends[number] for number in numbers)]


def _wrong(column: str, expected: str) -> DeclarationError:
    return DeclarationError(f"the hierarchy of column '{column}' cannot be built: {expected}.")
