"""Who is an outlier, and whether a group gives one away: the three levels of plainness, decided exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.space import Space

if TYPE_CHECKING:
    from wallflower.publish.kernels import Blocks

Level = Literal["candidate", "strict", "attack"]
Whole = NDArray[np.int64]
PATIENCE = 20_000
"""Faces looked at before a group is given up as not plain; only boxes with a dozen wide columns come near it."""


def _block_order(x: NDArray[np.float32], width: int) -> NDArray[np.int64]:
    """Rows in the order of recursive median cuts of the widest axis, so that a block is a small box."""
    order = np.arange(len(x))
    work = [(0, len(x))]
    while work:
        start, stop = work.pop()
        if stop - start <= width:
            continue
        part = order[start:stop]
        axis = int(np.argmax(x[part].std(axis=0)))
        blocks = -(-(stop - start) // width)
        middle = (blocks // 2) * width  # whole blocks on the left, so that only the last block is short
        order[start:stop] = part[np.argpartition(x[part, axis], middle)]
        work += [(start, start + middle), (start + middle, stop)]
    return order


@dataclass(frozen=True)
class Checker:
    """All rows of the table behind the exact tests. `places` has one row per row: quasi-identifiers, then sensitive columns.

    Outlierness is measured over these rows, always all of them: removing a row from the publication changes no test.
    """

    space: Space
    places: Whole
    blocks: Blocks = field(init=False, repr=False)
    slots: Whole = field(init=False, repr=False)
    """Which row each slot of the blocks holds."""

    def __post_init__(self) -> None:
        from wallflower.publish.kernels import HEAP, WIDTH, Blocks

        space, rows = self.space, len(self.places)
        ratio = np.array([factor / space.limit for factor in space.factors])
        scale = np.sqrt(ratio)
        centre = np.round(self.places.mean(axis=0)) if rows else np.zeros(len(ratio))
        x = ((self.places - centre) * scale).astype(np.float32)
        order = _block_order(x, WIDTH)
        count = -(-rows // WIDTH)
        laid = np.full((count * WIDTH, len(ratio)), 1e9, dtype=np.float32)
        laid[:rows] = x[order]
        whole = np.zeros((count * WIDTH, len(ratio)), dtype=np.int64)
        whole[:rows] = self.places[order]
        fill = np.full(count, WIDTH, dtype=np.int64)
        if count:
            fill[-1] = rows - (count - 1) * WIDTH
        edges = [(b * WIDTH, b * WIDTH + int(fill[b])) for b in range(count)]
        shape = (count, len(ratio))
        low = np.array([laid[a:b].min(axis=0) for a, b in edges], dtype=np.float32).reshape(shape)
        high = np.array([laid[a:b].max(axis=0) for a, b in edges], dtype=np.float32).reshape(shape)
        heaps = np.arange(0, count, HEAP)
        # Rounding of one coordinate, of a difference of two, and of a sum of squares near 1, doubled.
        reach = (
            float(np.abs(x).max()) + float(((np.array([a.size for a in space.axes]) + 1) * scale).max())
            if rows
            else 1.0
        )
        margin = 2 * (12 * reach * np.sqrt(len(ratio)) + 2 * len(ratio) + 4) * 2.0**-24
        object.__setattr__(self, "slots", order)
        object.__setattr__(
            self,
            "blocks",
            Blocks(
                x=np.ascontiguousarray(laid.reshape(count, WIDTH, len(ratio)).transpose(0, 2, 1)),
                v=np.ascontiguousarray(whole.reshape(count, WIDTH, len(ratio)).transpose(0, 2, 1)),
                low=low,
                high=high,
                fill=fill,
                heap_low=np.minimum.reduceat(low, heaps, axis=0) if count else low,
                heap_high=np.maximum.reduceat(high, heaps, axis=0) if count else high,
                heap_fill=np.add.reduceat(fill, heaps) if count else fill,
                centre=centre.astype(np.float64),
                scale=scale,
                ratio=ratio,
                factor=np.array([factor % 2**64 for factor in space.factors], dtype=np.uint64),
                limit=np.uint64(space.limit % 2**64),
                margin=np.float32(margin),
                rows=rows,
                enough=space.enough(rows),
            ),
        )
        bounds = [(whole[a:b, : self.quasi].min(axis=0), whole[a:b, : self.quasi].max(axis=0)) for a, b in edges]
        object.__setattr__(
            self, "_low", np.array([low for low, _ in bounds], dtype=np.int64).reshape(count, self.quasi)
        )
        object.__setattr__(
            self, "_high", np.array([high for _, high in bounds], dtype=np.int64).reshape(count, self.quasi)
        )
        object.__setattr__(self, "_found", np.empty(rows, dtype=np.int64))

    _low: Whole = field(init=False, repr=False)
    _high: Whole = field(init=False, repr=False)
    _found: Whole = field(init=False, repr=False)

    @property
    def quasi(self) -> int:
        return len(self.space.quasi)

    def normal(self, points: Whole) -> NDArray[np.bool_]:
        """Which of these points (all axes) are not (p, d)-outliers."""
        from wallflower.publish.kernels import normal_many

        out = np.zeros(len(points), dtype=np.bool_)
        normal_many(self.blocks, np.ascontiguousarray(points, dtype=np.int64), out)
        return out

    def outliers(self) -> NDArray[np.bool_]:
        """Which rows are (p, d)-outliers (Definition 3.1); equal rows are tested once."""
        distinct, inverse = np.unique(self.places, axis=0, return_inverse=True)
        return ~self.normal(distinct)[inverse.reshape(-1)]

    def sensitive_outliers(self) -> NDArray[np.bool_]:
        """Which rows stand out on their sensitive values alone, so that no group can hide them (Theorem 6.1).

        Distances over the sensitive columns alone, "farther than d" as everywhere (the paper's Definition 3.2 says "at least d").
        """
        space = self.space
        only = (
            Space(quasi=(), sensitive=space.sensitive, p=space.p, d=space.d)
            if any(a.weight for a in space.sensitive)
            else None
        )
        if only is None:
            return np.zeros(len(self.places), dtype=np.bool_)
        return Checker(only, np.ascontiguousarray(self.places[:, self.quasi :])).outliers()

    @cached_property
    def values(self) -> Whole:
        """Every distinct sensitive value of the table, the most central first."""
        return self.by_closeness(self.places[:, self.quasi :])

    @cached_property
    def ranks(self) -> Whole:
        """For each row the place of its sensitive value in `values`."""
        held = self.places[:, self.quasi :]
        distinct, inverse = np.unique(held, axis=0, return_inverse=True)
        ordered = {tuple(value): rank for rank, value in enumerate(self.values.tolist())}
        ranks = np.array([ordered[tuple(value)] for value in distinct.tolist()], dtype=np.int64)
        return ranks[inverse.reshape(-1)]

    @cached_property
    def middle(self) -> NDArray[np.float64]:
        """The median of every sensitive column."""
        held = self.places[:, self.quasi :]
        return np.asarray(np.median(held, axis=0) if len(held) else np.zeros(held.shape[1]))

    def by_closeness(self, values: Whole) -> Whole:
        """Distinct sensitive values, the most central first; ties by value. The first is the one most likely to be normal."""
        distinct = np.unique(values, axis=0)
        gap = (((distinct - self.middle) * self.blocks.scale[self.quasi :]) ** 2).sum(axis=1)
        return np.ascontiguousarray(distinct[np.lexsort((*distinct.T[::-1], gap))])

    def matching(self, low: Whole, high: Whole) -> Whole:
        """Row numbers of everyone whose quasi-identifiers lie in the box, published there or not."""
        from wallflower.publish.kernels import matching

        count = matching(self.blocks.v, self._low, self._high, self.blocks.fill, low, high, self._found)
        return self.slots[self._found[:count]]

    def plain(self, level: Level, low: Whole, high: Whole, values: Whole) -> bool:
        """Whether a group with this box and these sensitive values (one row each) passes `level`. Not its k."""
        return not self.verdict(level, low, high, self.by_closeness(values)).failed

    def verdict(self, level: Level, low: Whole, high: Whole, values: Whole) -> Verdict:
        """`plain`, with what stands in the way. `values` come from `by_closeness`."""
        if level == "strict":
            return self._strict(low, high, values)
        if level == "candidate":
            return self._candidate(low, high, values)
        return self._attack(low, high, values)

    def _strict(self, low: Whole, high: Whole, values: Whole) -> Verdict:
        from wallflower.publish.kernels import YES, corners
        from wallflower.publish.kernels import values as some_corner

        good = np.zeros(len(values), dtype=np.bool_)
        if corners(self.blocks, low, high, values, good, PATIENCE) != YES:
            return Verdict(corners=False)
        if some_corner(self.blocks, low, high, values, good, PATIENCE) != YES:
            return Verdict(bad_values=values[~good])
        return Verdict()

    def _candidate(self, low: Whole, high: Whole, values: Whole) -> Verdict:
        from wallflower.publish.kernels import YES, everyone, someone

        people = self.matching(low, high)
        known = np.ascontiguousarray(self.places[people, : self.quasi])
        good, bad = np.zeros(len(values), dtype=np.bool_), np.zeros(len(known), dtype=np.bool_)
        # Whoever is farthest from the centre is the most likely to fail, and one failure decides.
        gap = (((known - self.blocks.centre[: self.quasi]) * self.blocks.scale[: self.quasi]) ** 2).sum(axis=1)
        far = np.argsort(-gap, kind="stable")[:4]
        if everyone(self.blocks, known[far], values, good, bad, True) != YES:
            return Verdict(bad_people=people[far[bad[: len(far)]]])
        if everyone(self.blocks, known, values, good, bad, True) != YES:
            return Verdict(bad_people=people[bad])
        if someone(self.blocks, known, values, good) != YES:
            return Verdict(bad_values=values[~good])
        return self._attack(low, high, values, people=people, all_normal=True)

    def grown(
        self, level: Level, low: Whole, high: Whole, values: Whole, *, old: tuple[Whole, Whole], added: Whole
    ) -> Verdict:
        """`verdict` for a group that passed with the box `old` and without the values `added`: looks at what is new alone."""
        from wallflower.publish.kernels import YES, everyone, someone
        from wallflower.publish.kernels import values as some_corner

        if level == "strict" and (low == old[0]).all() and (high == old[1]).all():
            at_corner = np.zeros(len(added), dtype=np.bool_)
            if some_corner(self.blocks, low, high, added, at_corner, PATIENCE) != YES:
                return Verdict(bad_values=added[~at_corner])
            return Verdict()
        if level != "candidate":
            return self.verdict(level, low, high, values)

        people = self.matching(low, high)
        known = np.ascontiguousarray(self.places[people, : self.quasi])
        fresh = ((known < old[0]) | (known > old[1])).any(axis=1)
        good, bad = np.zeros(len(values), dtype=np.bool_), np.zeros(int(fresh.sum()), dtype=np.bool_)
        if everyone(self.blocks, known[fresh], values, good, bad, True) != YES:
            return Verdict(bad_people=people[fresh][bad])
        new = np.zeros(len(added), dtype=np.bool_)
        if len(added) and someone(self.blocks, known, added, new) != YES:
            return Verdict(bad_values=added[~new])
        return self._attack(low, high, values, people=people, all_normal=True)

    def _attack(
        self, low: Whole, high: Whole, values: Whole, *, people: Whole | None = None, all_normal: bool = False
    ) -> Verdict:
        from wallflower.publish.attacks import exposed

        found = exposed(self, low, high, values, people=people, all_normal=all_normal)
        return Verdict(bad_people=found.presence) if found.presence.size else Verdict()


@dataclass(frozen=True)
class Verdict:
    """What stands in the way of plainness; nothing does when all are empty."""

    corners: bool = True
    bad_values: Whole | None = None
    bad_people: Whole | None = None

    @property
    def failed(self) -> bool:
        return not self.corners or self.bad_values is not None or self.bad_people is not None
