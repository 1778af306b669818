"""The public geometry of a table: axes, how a box is written and read, and the exact distance test.

Every column becomes whole numbers 0 … size − 1: numbers by their steps from the lower bound, categories by leaf order.
Two rows are near when Σ (weight·Δ/scale)² ≤ d², where scale is the declared range. All of it is rational, so the
test is done in whole numbers: multiply by a common denominator, and "near" is Σ factor·Δ² ≤ limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError, UsageError, nearest_name
from wallflower.geometry.balls import Ball
from wallflower.publish.arx_cells import arx_interval
from wallflower.schema.declaration import Column, Declaration
from wallflower.schema.domains import Categories, Dates, Numbers
from wallflower.schema.hierarchy import Taxonomy, taxonomy

MOST_BITS = 104
"""Up to here a difference within 10^-13 of the limit fits in 63 bits, so that 64-bit wrap-around finds its sign."""
FINE = 10**9
"""Rounding moves no column's part of a squared distance by more than one part in this of d²; what it would move further is refused."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One column as whole numbers."""

    column: Column
    domain: Categories | Numbers | Dates
    tree: Taxonomy | None
    """None: every run of the declared order is a generalised value."""
    weight: Fraction
    """Multiplies this column's standardised differences; 0 leaves it out of the distance."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def size(self) -> int:
        return self.domain.size

    @property
    def categorical(self) -> bool:
        return isinstance(self.domain, Categories)

    @property
    def scale(self) -> Fraction:
        """How many places make one unit of distance: the declared range, or the declared scale."""
        if self.column.scale is not None and not isinstance(self.domain, Categories):
            return self.column.scale / self.domain.step
        return Fraction(max(self.size - 1, 1))

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        assert isinstance(self.domain, Categories)  # noqa: S101 - only called for categories
        tree = self.tree
        return np.array(
            [i if tree is None else tree.position(v) for i, v in enumerate(self.domain.values)], dtype=np.int64
        )

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of what an engine hands out: codes of categories, or steps."""
        if isinstance(self.domain, Categories):
            return self._places[numbers]
        return np.asarray(numbers, dtype=np.int64) - self.domain.first

    def round_up(self, low: int, high: int) -> tuple[int, int]:
        """The smallest publishable interval that covers this one."""
        if self.tree is None:
            return low, high
        node = self.tree.cover(low, high)
        return self.tree.low[node], self.tree.high[node]

    def value(self, place: int) -> str:
        if isinstance(self.domain, Categories):
            return self.domain.values[place] if self.tree is None else self.tree.leaves[place]
        return self.domain.text(place + self.domain.first)

    def text(self, low: int, high: int) -> str:
        """A generalised value as people read it."""
        if low == high:
            return self.value(low)
        if self.tree is not None:
            return self.tree.text(low, high)
        return (
            f"[{self.value(low)} .. {self.value(high)}]"
            if self.categorical
            else f"[{self.value(low)}, {self.value(high)}]"
        )

    @cached_property
    def _names(self) -> dict[str, int]:
        return {self.value(place): place for place in range(self.size)} if self.categorical else {}

    def read(self, text: str) -> tuple[int, int] | None:
        """The interval that `text` writes; None when it writes none."""
        if self.tree is not None:
            node = self.tree.node(text)
            return (
                arx_interval(text, self.domain, self._place)
                if node is None
                else (self.tree.low[node], self.tree.high[node])
            )
        ends = [text]
        if text.startswith("[") and text.endswith("]"):
            ends = text[1:-1].split(" .. " if self.categorical else ", ")
        places = [self._place(end) for end in (ends if text not in self._names else [text])]
        if len(places) not in {1, 2} or any(place is None for place in places):
            return arx_interval(text, self.domain, self._place)
        low, high = places[0], places[-1]
        return (low, high) if low is not None and high is not None and low <= high else None

    def _place(self, text: str) -> int | None:
        if isinstance(self.domain, Categories):
            return self._names.get(text)
        number = self.domain.read(text)
        return (
            number - self.domain.first
            if number is not None and self.domain.first <= number <= self.domain.last
            else None
        )


@dataclass(frozen=True, kw_only=True)
class Space:
    """Quasi-identifiers, then sensitive columns, with the (p, d) that says who is an outlier."""

    quasi: tuple[Axis, ...]
    sensitive: tuple[Axis, ...]
    p: Fraction
    d: Fraction

    def __post_init__(self) -> None:
        _ = self.ball  # what cannot be measured exactly is refused here

    @cached_property
    def ball(self) -> Ball:
        """Near: Σ weights·Δ² ≤ limit. A column without weight has 0 here."""
        squares = [(axis.weight / axis.scale) ** 2 for axis in self.axes]
        common = math.lcm(*(square.denominator for square in squares), (self.d**2).denominator)
        if (self.d**2 * common).__ceil__().bit_length() > MOST_BITS:
            # Ranges with no small common denominator: squared weights are rounded.
            common = 1 << (MOST_BITS - 1 - (self.d**2).__ceil__().bit_length())
            beyond = int(self.d**2 * common) + 1  # of no near pair, before or after rounding, is the sum as large
            for axis, square in zip(self.axes, squares, strict=True):
                if not axis.weight:
                    continue
                if axis.scale > 1 << 30:
                    raise DeclarationError(
                        f"column '{axis.name}' has too many steps to be measured exactly beside the others.",
                        hint="Declare a coarser step: at most 2^30 steps between lower and upper.",
                    )
                # Rounding takes or gives half a unit of weight, times the largest squared difference of rows that may then be near.
                twice = max(2 * round(square * common) - 1, 0)
                widest = min(axis.size - 1, math.isqrt(2 * beyond // twice)) if twice else axis.size - 1
                if widest**2 * FINE > 2 * (beyond - 1):
                    raise DeclarationError(
                        f"column '{axis.name}' counts too little to be measured exactly beside the others at this distance.",
                        hint="Give it more weight or none, or declare a coarser step or a larger d.",
                    )
        return Ball(tuple(round(square * common) for square in squares), int(self.d**2 * common))

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.quasi + self.sensitive

    def enough(self, rows: int) -> int:
        """A value is normal when more than this many of `rows` rows are near it: fewer than p·rows are far."""
        return int((1 - self.p) * rows)

    def places(self, table: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.column_stack([axis.places(table[axis.name]) for axis in self.axes]).astype(np.int64)

    def round_up(self, low: Sequence[int], high: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        pairs = [axis.round_up(int(a), int(b)) for axis, a, b in zip(self.quasi, low, high, strict=True)]
        return np.array([a for a, _ in pairs], dtype=np.int64), np.array([b for _, b in pairs], dtype=np.int64)


def axis_of(column: Column, *, weight: Fraction, declaration: Declaration) -> Axis:
    domain = column.domain
    if domain is None:
        raise DeclarationError(
            f"column '{column.name}' has no declared domain, so it can be neither generalised nor measured."
        )
    folder = declaration.path.parent if declaration.path is not None else None
    tree: Taxonomy | None = None
    if isinstance(domain, Categories):
        tree = taxonomy(column.hierarchy, domain.values, column=column.name, folder=folder)
        if tree is None and any(" .. " in value for value in domain.values):
            raise DeclarationError(
                f"values of the ordered column '{column.name}' must not contain ' .. ', which writes a range."
            )
    elif column.hierarchy is not None:
        values = (
            [domain.text(number) for number in range(domain.first, domain.last + 1)] if domain.size <= 1_000_000 else []
        )
        tree = taxonomy(column.hierarchy, values, column=column.name, folder=folder)
        if tree is not None and list(tree.leaves) != values:
            raise DeclarationError(
                f"the hierarchy of the numeric column '{column.name}' must list its values in increasing order.",
                hint="Each node must be a range of numbers.",
            )
    return Axis(column=column, domain=domain, tree=tree, weight=weight)


def space_of(
    declaration: Declaration,
    *,
    p: Fraction,
    d: Fraction,
    weights: Mapping[str, Fraction] | None = None,
    columns: Sequence[str] | None = None,
) -> Space:
    """The axes of the declared quasi-identifiers and sensitive columns (those in `columns`), in the order of the declaration."""
    given = dict(weights or {})
    for name, weight in given.items():
        if declaration.columns.get(name) is None or declaration.columns[name].role not in {
            "quasi-identifier",
            "sensitive",
        }:
            known = [c.name for c in declaration.columns.values() if c.role in {"quasi-identifier", "sensitive"}]
            raise UsageError(
                f"'{name}' has a weight but is no quasi-identifier or sensitive column.", hint=nearest_name(name, known)
            )
        if weight < 0:
            raise UsageError(f"the weight of '{name}' must be at least 0.")
    axes: dict[str, list[Axis]] = {"quasi-identifier": [], "sensitive": []}
    for column in declaration.columns.values():
        if column.role in axes and (columns is None or column.name in columns):
            declared = column.weight if column.weight is not None else Fraction(1)
            weight = given.get(column.name, Fraction(0) if given else declared)
            axes[column.role].append(axis_of(column, weight=weight, declaration=declaration))
    for role, found in axes.items():
        if not found:
            raise DeclarationError(f'publishing needs at least one column with role "{role}".')
    space = Space(quasi=tuple(axes["quasi-identifier"]), sensitive=tuple(axes["sensitive"]), p=p, d=d)
    if not any(axis.weight for axis in space.axes):
        raise UsageError("every column has weight 0, so nothing could be an outlier.")
    return space
