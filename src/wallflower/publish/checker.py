"""Whether a group gives an outlier away: the levels of plainness, decided exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.face_kernels import ALL, FREE, HIGH, LOW, NO, YES, Blocks
from wallflower.publish.corner_kernels import corners, outermost, some_corner
from wallflower.publish.corner_values import PATIENCE, central_corner
from wallflower.publish.exposure import NOBODY, exposed
from wallflower.publish.people_kernels import everyone, someone
from wallflower.publish.population import Population
from wallflower.publish.range_kernels import leading, values_at

Level = Literal["candidate", "strict", "attack"]
Whole = NDArray[np.int64]
HASTE = 64
"""Faces looked at before a guess is given up."""


@dataclass(frozen=True)
class Checker(Population):
    """The exact tests of the levels, over all rows of the table."""

    @cached_property
    def _unguided(self) -> Blocks:
        return self.laid_out(self.places[:0], enough=0)[0]

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
        if self.guide.rows and level == "strict" and outermost(self.guide, low, high, values[0]) == NO:
            return Verdict(corners=False)
        asked = self._asked(level, low, high, values, since)
        if self.guide.rows and level != "attack":
            guess = self._answer(self.guide, asked, hasty=True)
            if guess.failed:
                return guess
        return self._answer(self.blocks, asked, hasty=True)

    def _asked(self, level: Level, low: Whole, high: Whole, values: Whole, since: Since | None) -> _Asked:
        people = self.inside(low, high) if level == "candidate" else NOBODY
        led = values if level == "attack" else self._led(low, high, values)
        return _Asked(level, low, high, led, people, since)

    def _led(self, low: Whole, high: Whole, values: Whole) -> Whole:
        """The values, first the one that is probably normal at most points of the box: it is tried first for whole faces."""
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
        low, high, values, since = asked.low, asked.high, asked.values, asked.since
        patience = HASTE if rows is self.guide else PATIENCE
        faces = np.zeros((1, len(low)), dtype=np.int8) if since is None else since.fresh_faces(low, high)
        good = np.zeros(len(values), dtype=np.bool_)
        if len(faces):
            answer = corners(rows, self._guide_for(rows), low, high, values, good, faces, hasty, patience)
            if answer == ALL:
                return Verdict(anchor=central_corner(self.blocks, low, high))
            if answer != YES:
                return Verdict(corners=False)
        anchor = self._at_corners(rows, asked, good, patience)
        return Verdict(anchor=anchor) if good.all() else Verdict(bad_values=values[~good])

    def _candidate(self, rows: Blocks, asked: _Asked, *, hasty: bool) -> Verdict:
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

    def _at_corners(self, rows: Blocks, asked: _Asked, good: NDArray[np.bool_], patience: int) -> Whole | None:
        """Complete `good`: which values are normal at some corner of the box. Returns a corner at which all are, if one is known."""
        low, high, values, since = asked.low, asked.high, asked.values, asked.since
        here = np.zeros(len(values), dtype=np.bool_)
        if since is not None and since.anchor is not None and ((since.anchor == low) | (since.anchor == high)).all():
            corner = since.anchor
            here |= ~since.is_new(values)
        else:
            corner = central_corner(self.blocks, low, high)
        values_at(rows, self._guide_for(rows), corner, values, here)
        good |= here
        if not good.all():
            some_corner(rows, self._guide_for(rows), low, high, values, good, patience)
        return corner if here.all() else None

    def _attack(
        self, low: Whole, high: Whole, values: Whole, *, people: Whole | None = None, all_normal: bool = False
    ) -> Verdict:
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
