"""More rows than the driver can hold, one range of a column after the other; executors need no Python for it.

How many rows lie where is counted on the executors first. That decides the ranges, which change time and memory, never what comes: each
range is exact, none overlaps another, and together they are the declared domain. Equal rows are counted on the executors and travel once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wallflower.engines.backend import Backend
from wallflower.engines.base import Repeated
from wallflower.engines.batches import gathered
from wallflower.schema.domains import Categories, Domain

AT_A_TIME = 2_000_000
"""Rows of a range, where one value does not have more."""
CELLS = 4_096
"""So many ranges at most are told apart at a time."""


def bounds_of(domain: Domain | None) -> tuple[int, int]:
    """The first and the last number that a row may hold."""
    if isinstance(domain, Categories):
        return 0, domain.size - 1
    assert domain is not None  # noqa: S101 - an identifier is in no view
    return domain.first, domain.last


def ranges(base: Backend, table: Any, by: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Both ends of each range, ascending."""
    width = -(-(last - first + 1) // CELLS)
    value = table[by]
    inside = table.filter(value.between(first, last)).select(cell=((value - first) // width).cast("int64"))
    found = base.arrow(inside.group_by("cell").aggregate(n=inside.count())).to_pydict()
    many = dict(zip(found["cell"], found["n"], strict=True))
    begin, held = first, 0
    for cell in sorted(many):
        low = first + cell * width
        if held and held + many[cell] > AT_A_TIME:
            yield begin, low - 1
            begin, held = low, 0
        if many[cell] > AT_A_TIME and width > 1:
            high = min(low + width - 1, last)
            if begin < low:
                yield begin, low - 1
            yield from ranges(base, table, by, low, high)
            begin, held = high + 1, 0
        else:
            held += many[cell]
    if begin <= last:
        yield begin, last


def in_ranges(
    base: Backend, table: Any, columns: Sequence[str], by: str, bounds: tuple[int, int]
) -> Iterator[Repeated]:
    """The rows of `table`, whose columns these are; ascending in `by`, equal rows as one."""
    for low, high in list(ranges(base, table, by, *bounds)):
        part = table.filter(table[by].between(low, high))
        counted = part.group_by(list(columns)).aggregate(times=part.count())
        for batch in base.arrow(counted.order_by([by, *(name for name in columns if name != by)])).to_batches():
            rows = gathered(batch, len(columns) + 1)
            yield Repeated(np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy())
