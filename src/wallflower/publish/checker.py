"""Who is an outlier, and whether a group gives one away: the three levels of plainness, decided exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.layout import lay_out, middle_of
from wallflower.publish.space import Space

if TYPE_CHECKING:
    from wallflower.publish.kernels import Blocks

Level = Literal["candidate", "strict", "attack"]
Whole = NDArray[np.int64]
NOBODY: Whole = np.zeros(0, dtype=np.int64)
PATIENCE = 20_000
"""Faces looked at before a group is given up as not plain; only boxes with a dozen wide columns come near it."""
HASTE = 64
"""The same for a guess."""
SAMPLE = 4096
"""Rows of the guide. Tables below four times as many have none: asking all rows is as quick."""


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
    guide: Blocks = field(init=False, repr=False)
    """Evenly spread rows that stand for all of them where a guess will do; empty where the table is not much larger."""
    _unguided: Blocks = field(init=False, repr=False)
    _found: Whole = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows, centre = len(self.places), middle_of(self.places)
        enough = self.space.enough(rows)
        blocks, slots = lay_out(self.space, self.places, centre, enough=enough)
        some = self.places[:: -(-rows // SAMPLE)] if rows >= 4 * SAMPLE else self.places[:0]
        share = int(enough * len(some) / max(rows, 1))
        guide, _ = lay_out(self.space, some, centre, enough=min(share, max(len(some) - 1, 0)))
        nothing, _ = lay_out(self.space, some[:0], centre, enough=0)
        object.__setattr__(self, "blocks", blocks)
        object.__setattr__(self, "slots", slots)
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "_unguided", nothing)
        object.__setattr__(self, "_found", np.empty(rows, dtype=np.int64))

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

        count = matching(self.blocks, low, high, self._found)
        return self.slots[self._found[:count]]

    def plain(self, level: Level, low: Whole, high: Whole, values: Whole) -> bool:
        """Whether a group with this box and these sensitive values (one row each) passes `level`. Not its k."""
        return not self.verdict(level, low, high, self.by_closeness(values)).failed

    def verdict(self, level: Level, low: Whole, high: Whole, values: Whole, *, since: Since | None = None) -> Verdict:
        """`plain`, with what stands in the way. `values` come from `by_closeness`.

        `since`, for a group that grew, says what it was when it passed: then only what is new is looked at.
        """
        return self._answer(self.blocks, self._asked(level, low, high, values, since), hasty=False)

    def guided(self, level: Level, low: Whole, high: Whole, values: Whole, *, since: Since | None = None) -> Verdict:
        """`verdict`, but quick to refuse: on the word of the guide, or when the likeliest value does not do. A pass is exact."""
        from wallflower.publish.kernels import NO, outermost

        if self.guide.rows and level == "strict" and outermost(self.guide, low, high, values[0]) == NO:
            return Verdict(corners=False)
        asked = self._asked(level, low, high, values, since)
        if self.guide.rows and level != "attack":
            guess = self._answer(self.guide, asked, hasty=True)
            if guess.failed:
                return guess
        return self._answer(self.blocks, asked, hasty=True)

    def _asked(self, level: Level, low: Whole, high: Whole, values: Whole, since: Since | None) -> _Asked:
        people = self.matching(low, high) if level == "candidate" else NOBODY
        led = values if level == "attack" else self._led(low, high, values)
        return _Asked(level, low, high, led, people, since)

    def _led(self, low: Whole, high: Whole, values: Whole) -> Whole:
        """The values, first the one that is probably normal at most points of the box: it is tried first for whole faces."""
        from wallflower.publish.kernels import leading

        if not self.guide.rows:
            return values
        best = leading(self.guide, low, high, values)
        return np.concatenate([values[best : best + 1], values[:best], values[best + 1 :]])

    def _answer(self, rows: Blocks, asked: _Asked, *, hasty: bool) -> Verdict:
        if asked.level == "strict":
            return self._strict(rows, asked, hasty=hasty)
        if asked.level == "candidate":
            return self._candidate(rows, asked, hasty=hasty)
        return self._attack(asked.low, asked.high, asked.values)

    def _strict(self, rows: Blocks, asked: _Asked, *, hasty: bool) -> Verdict:
        from wallflower.publish.kernels import ALL, YES, corners

        low, high, values, since = asked.low, asked.high, asked.values, asked.since
        patience = HASTE if rows is self.guide else PATIENCE
        faces = np.zeros((1, len(low)), dtype=np.int8) if since is None else since.fresh_faces(low, high)
        good = np.zeros(len(values), dtype=np.bool_)
        if len(faces):
            answer = corners(rows, self._guide_for(rows), low, high, values, good, faces, hasty, patience)
            if answer == ALL:
                return Verdict(anchor=self._central_corner(low, high))
            if answer != YES:
                return Verdict(corners=False)
        anchor = self._at_corners(rows, asked, good, patience)
        return Verdict(anchor=anchor) if good.all() else Verdict(bad_values=values[~good])

    def _candidate(self, rows: Blocks, asked: _Asked, *, hasty: bool) -> Verdict:
        from wallflower.publish.kernels import everyone, someone

        people, values, since = asked.people, asked.values, asked.since
        known = np.ascontiguousarray(self.places[people, : self.quasi])
        some = np.arange(len(people)) if since is None else np.flatnonzero(since.outside(known))
        good, bad = np.zeros(len(values), dtype=np.bool_), np.zeros(len(some), dtype=np.bool_)
        everyone(rows, self._guide_for(rows), known[some], values, good, bad, True, hasty)
        if bad.any():
            return Verdict(bad_people=people[some[bad]])
        if since is not None:
            good |= ~since.is_new(values)
        someone(rows, self._guide_for(rows), known, values, good)
        if not good.all():
            return Verdict(bad_values=values[~good])
        if rows is self.guide:
            return Verdict()
        return self._attack(asked.low, asked.high, values, people=people, all_normal=True)

    def _guide_for(self, rows: Blocks) -> Blocks:
        """The guide of all rows; the guide itself has none."""
        return self._unguided if rows is self.guide else self.guide

    def _central_corner(self, low: Whole, high: Whole) -> Whole:
        centre = self.blocks.centre[: self.quasi]
        return np.where(np.abs(low - centre) <= np.abs(high - centre), low, high)

    def each_at_some_corner(self, low: Whole, high: Whole, values: Whole) -> bool:
        """Whether every value is normal at some corner of the box."""
        good = np.zeros(len(values), dtype=np.bool_)
        self._at_corners(self.blocks, _Asked("attack", low, high, values, NOBODY, None), good, PATIENCE)
        return bool(good.all())

    def _at_corners(self, rows: Blocks, asked: _Asked, good: NDArray[np.bool_], patience: int) -> Whole | None:
        """Complete `good`: which values are normal at some corner of the box. Returns a corner at which all are, if one is known."""
        from wallflower.publish.kernels import some_corner, values_at

        low, high, values, since = asked.low, asked.high, asked.values, asked.since
        here = np.zeros(len(values), dtype=np.bool_)
        if since is not None and since.anchor is not None and ((since.anchor == low) | (since.anchor == high)).all():
            corner = since.anchor
            here |= ~since.is_new(values)
        else:
            corner = self._central_corner(low, high)
        values_at(rows, self._guide_for(rows), corner, values, here)
        good |= here
        if not good.all():
            some_corner(rows, self._guide_for(rows), low, high, values, good, patience)
        return corner if here.all() else None

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
    anchor: Whole | None = None
    """A corner at which every value is normal, where one was seen; for `Since`."""

    @property
    def failed(self) -> bool:
        return not self.corners or self.bad_values is not None or self.bad_people is not None


@dataclass(frozen=True)
class _Asked:
    """A group whose plainness is asked about."""

    level: Level
    low: Whole
    high: Whole
    values: Whole
    people: Whole
    """Everyone who matches the box, for level `candidate`."""
    since: Since | None


@dataclass(frozen=True)
class Since:
    """A group as it was when it passed: what was true of its box and values then need not be looked at again."""

    low: Whole
    high: Whole
    added: Whole
    """Sensitive values that it has got since."""
    anchor: Whole | None = None

    def is_new(self, values: Whole) -> NDArray[np.bool_]:
        return np.asarray((values[:, None, :] == self.added[None, :, :]).all(axis=2).any(axis=1))

    def outside(self, known: Whole) -> NDArray[np.bool_]:
        return np.asarray(((known < self.low) | (known > self.high)).any(axis=1))

    def fresh_faces(self, low: Whole, high: Whole) -> NDArray[np.int8]:
        """Faces of the grown box that hold its new corners, each corner once: for each column that grew, the faces at its new
        ends, at old ends of the columns before it (the new ends of those were faces of their own).
        """
        from wallflower.publish.kernels import FREE, HIGH, LOW

        faces: list[NDArray[np.int8]] = []
        sides = np.full(len(low), FREE, dtype=np.int8)
        for axis in np.flatnonzero((low < self.low) | (high > self.high)):
            grew = [side for side, more in ((LOW, low < self.low), (HIGH, high > self.high)) if more[axis]]
            for side in grew:
                sides[axis] = side
                faces.append(sides.copy())
            if len(grew) == 2:
                break  # no old end is left in this column: every other corner has been named
            sides[axis] = LOW + HIGH - grew[0]
        return np.array(faces, dtype=np.int8).reshape(-1, len(low))
