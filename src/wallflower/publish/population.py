"""All rows of a table behind the exact test of who is an outlier."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.blocks import lay_out, middle_of
from wallflower.geometry.face_kernels import Blocks, inside_box, normal_many
from wallflower.publish.space import Space

Whole = NDArray[np.int64]
SAMPLE = 4096
"""Rows of the guide. Tables below four times as many have none: asking all rows is as quick."""


@dataclass(frozen=True)
class Population:
    """`places` has one row per row of the table: quasi-identifiers, then sensitive columns.

    Outlierness is measured over these rows, always all of them: removing a row from the publication changes no test.
    """

    space: Space
    places: Whole

    def __post_init__(self) -> None:
        _ = self._laid_out, self.guide  # refuses places outside their columns

    @property
    def quasi(self) -> int:
        return len(self.space.quasi)

    @cached_property
    def _laid_out(self) -> tuple[Blocks, Whole]:
        return self.laid_out(self.places, enough=self.space.enough(len(self.places)))

    def laid_out(self, places: Whole, *, enough: int) -> tuple[Blocks, Whole]:
        """These rows in blocks, measured from the middle of the table."""
        sizes = [axis.size for axis in self.space.axes]
        return lay_out(places, self.space.ball, sizes=sizes, centre=middle_of(self.places), enough=enough)

    @cached_property
    def blocks(self) -> Blocks:
        return self._laid_out[0]

    @cached_property
    def slots(self) -> Whole:
        """Which row each slot of the blocks holds."""
        return self._laid_out[1]

    @cached_property
    def guide(self) -> Blocks:
        """Evenly spread rows that stand for all of them where a guess will do; empty where the table is not much larger."""
        rows = len(self.places)
        some = self.places[:: -(-rows // SAMPLE)] if rows >= 4 * SAMPLE else self.places[:0]
        share = int(self.space.enough(rows) * len(some) / max(rows, 1))
        return self.laid_out(some, enough=min(share, max(len(some) - 1, 0)))[0]

    @cached_property
    def _room(self) -> Whole:
        return np.empty(len(self.places), dtype=np.int64)

    def normal(self, points: Whole) -> NDArray[np.bool_]:
        """Which of these points (all axes) are not (p, d)-outliers."""
        out = np.zeros(len(points), dtype=np.bool_)
        normal_many(self.blocks, np.ascontiguousarray(points, dtype=np.int64), out)
        return out

    @cached_property
    def outlying(self) -> NDArray[np.bool_]:
        """Which rows are (p, d)-outliers (Definition 3.1)."""
        places = self.places
        # Rows in canonical order have equal ones beside each other, and are asked about once.
        fresh = np.append(True, (places[1:] != places[:-1]).any(axis=1))[: len(places)]
        return np.asarray(~self.normal(places[fresh])[np.cumsum(fresh) - 1])

    @cached_property
    def outlying_by_value(self) -> NDArray[np.bool_]:
        """Which rows stand out on their sensitive values alone, so that no group can hide them (Theorem 6.1).

        Distances over the sensitive columns alone, "farther than d" as everywhere (the paper's Definition 3.2 says "at least d").
        """
        space = self.space
        if not any(axis.weight for axis in space.sensitive):
            return np.zeros(len(self.places), dtype=np.bool_)
        only = Space(quasi=(), sensitive=space.sensitive, p=space.p, d=space.d)
        alone = Population(only, np.ascontiguousarray(self.places[:, self.quasi :]))
        return np.asarray(~alone.normal(self.values)[self.ranks])

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
    def held(self) -> list[list[int]]:
        """The distinct values of each quasi-identifier, in order."""
        return [np.unique(self.places[:, axis]).tolist() for axis in range(self.quasi)]

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

    def inside(self, low: Whole, high: Whole) -> Whole:
        """Row numbers of everyone whose quasi-identifiers lie in the box, published there or not."""
        count = inside_box(self.blocks, low, high, self._room)
        return self.slots[self._room[:count]]
