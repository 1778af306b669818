"""The attack that level `matching` withstands: who can be told from the published lines, with and without knowing who is where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.progress import report
from wallflower.publish.population import Population
from wallflower.publish.published_file import PublishedGroup
from wallflower.publish.share_kernels import counted, walked
from wallflower.publish.worlds import Members, Worlds

Whole = NDArray[np.int64]
COUNTED = 12
"""Members up to which all worlds are counted."""
STEPS = 2_000
"""Exchanges tried for each member of a larger group."""


@dataclass(frozen=True)
class Guesses:
    """What an adversary who knows quasi-identifiers, flags and membership can say of each published row."""

    rows: Whole
    possible: Whole
    """Possible values, in the sensitive column with fewest."""
    likeliest: NDArray[np.float64]
    """The share of the worlds in which the row holds its commonest (combination of) values: 1 is certainty."""
    outlying: NDArray[np.bool_]
    estimated: int
    """Rows whose share was estimated by a walk."""

    @cached_property
    def pinned(self) -> Whole:
        """Rows of which a sensitive value is certain."""
        return np.asarray(self.rows[self.possible == 1])

    def fewest(self, *, outlying: bool) -> int:
        some = self.possible[self.outlying] if outlying else self.possible
        return int(some.min()) if len(some) else 0

    def surest(self, *, outlying: bool) -> float:
        some = self.likeliest[self.outlying] if outlying else self.likeliest
        return float(some.max()) if len(some) else 0.0


def guesses(table: Population, groups: Sequence[Whole]) -> Guesses:
    """`groups`: the rows of each."""
    worlds = Worlds(table)
    possible: list[Whole] = []
    likeliest: list[NDArray[np.float64]] = []
    estimated = 0
    for done, rows in enumerate(groups):
        members = worlds.members(np.sort(rows))
        possible.append(members.possible(members.everyone))
        shares, walk = _shares(members)
        likeliest.append(shares.max(axis=1))
        estimated += len(rows) if walk else 0
        if done % 64 == 0:
            report("guessing", done, len(groups))
    every = np.concatenate([np.sort(rows) for rows in groups]) if groups else np.zeros(0, dtype=np.int64)
    return Guesses(
        every,
        np.concatenate(possible) if groups else every,
        np.concatenate(likeliest) if groups else np.zeros(0),
        table.outlying[every],
        estimated,
    )


def _shares(members: Members) -> tuple[NDArray[np.float64], bool]:
    """[row, value]: in which share of the worlds; and whether that is an estimate."""
    fits, held = members.fits, members.held
    if fits.all():
        return np.tile(np.bincount(held, minlength=fits.shape[1]) / len(held), (len(held), 1)), False
    shares = np.zeros(fits.shape)
    if len(held) <= COUNTED:
        counted(fits, held, shares)
        return shares, False
    walked(fits, held, STEPS * len(held), shares)
    return shares, True


@dataclass(frozen=True)
class Absence:
    """Rows of the table that are recognised as left out by whoever knows that they are in it."""

    outside: Whole
    """No group's box holds their quasi-identifiers."""
    unfitting: Whole
    """They match a group, but no published value of those they match fits their flag."""
    compatible: Whole
    """For every row: how many published values (or combinations) fit it in the groups it matches; membership not known."""


def absence(table: Population, published: Sequence[PublishedGroup]) -> Absence:
    worlds = Worlds(table)
    rows = len(table.places)
    matched = np.zeros(rows, dtype=np.bool_)
    seen: dict[tuple[int, ...], int] = {tuple(value): rank for rank, value in enumerate(table.values.tolist())}
    fitting: list[set[int]] = [set() for _ in range(rows)]
    for done, group in enumerate(published):
        people = np.sort(table.inside(group.low, group.high))
        if not len(people):
            continue
        matched[people] = True
        values = group.values
        quasi, of_person = np.unique(table.places[people, : table.quasi], axis=0, return_inverse=True)
        out = worlds.outlying_with(np.ascontiguousarray(quasi), values)[of_person.reshape(-1)]
        ranks = [seen.get(tuple(value), -1 - i) for i, value in enumerate(values.tolist())]
        fits = out == table.outlying[people][:, None]
        for row, line in zip(people.tolist(), fits, strict=True):
            fitting[row].update(ranks[j] for j in np.flatnonzero(line))
        if done % 64 == 0:
            report("matching", done, len(published))
    compatible = np.array([len(some) for some in fitting], dtype=np.int64)
    return Absence(np.flatnonzero(~matched), np.flatnonzero(matched & (compatible == 0)), compatible)
