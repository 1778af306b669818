"""Level `matching`: what someone who knows everything but who holds which line can still not say.

That adversary knows everyone's quasi-identifiers, who is an outlier, who is in which group, and can work out whether any
quasi-identifiers with any value would be an outlier in the table. A *world* of a group hands its published lines to its members, one
each, so that everyone has the flag they have. The values a member holds in some world are its possible values.

* M1: a group holds at least k different values of every sensitive column.
* M2: every member has at least l possible values in every sensitive column.
* E: the lines can be handed out so that nobody is an outlier who would not be one with every value of the table ("forced").

`plain.md` proves the tests. All of them are over the one table, unreduced.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.people_kernels import everyone
from wallflower.publish.population import Population
from wallflower.publish.world_kernels import outlying_with, peel, possible, unmatched

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
Known = dict[bytes, bool]
"""Whether one person is an outlier with a value, by the value's bytes."""


@dataclass(frozen=True)
class Members:
    """Rows that may become a group, as this adversary sees them."""

    rows: Whole
    values: Whole
    """The distinct values they hold (one line each), in canonical order."""
    held: Whole
    """Which of `values` each row holds."""
    out: Flags
    """[row, value]: whether the row's quasi-identifiers are an outlier with that value."""
    forced: Flags

    @cached_property
    def fits(self) -> Flags:
        flags = self.out[np.arange(len(self.rows)), self.held]
        return np.ascontiguousarray(self.out == flags[:, None])

    @cached_property
    def codes(self) -> Whole:
        """The values of each sensitive column, numbered from 0."""
        columns = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in self.values.T]
        return np.ascontiguousarray(np.column_stack(columns).astype(np.int64).reshape(self.values.shape))

    @property
    def everyone(self) -> Flags:
        return np.ones(len(self.rows), dtype=np.bool_)

    def only(self, alive: Flags) -> Members:
        """The rows that are alive, by themselves."""
        if alive.all():
            return self
        kept, held = np.unique(self.held[alive], return_inverse=True)
        out = np.ascontiguousarray(self.out[alive][:, kept])
        return Members(self.rows[alive], self.values[kept], held.reshape(-1), out, self.forced[alive])

    def possible(self, alive: Flags) -> Whole:
        """For each row the number of its possible values in the sensitive column in which it has fewest; 0 for who is not alive."""
        counts = np.zeros(len(self.rows), dtype=np.int64)
        possible(self.fits, self.held, alive, self.codes, np.empty(len(self.values), dtype=np.int64), counts)
        return counts

    def distinct(self, alive: Flags) -> int:
        """M1: the least number of different values over the sensitive columns."""
        codes = self.codes[self.held[alive]]
        return min(len(np.unique(codes[:, a])) for a in range(codes.shape[1])) if len(codes) else 0

    def peeled(self, least: int, among: Flags | None = None) -> Flags:
        """The largest part of the rows (`among` them) in which everyone has `least` possible values (M2); it is unique."""
        alive = self.everyone if among is None else among.copy()
        counts = np.zeros(len(self.rows), dtype=np.int64)
        peel(self.fits, self.held, alive, self.codes, np.empty(len(self.values), dtype=np.int64), counts, least)
        return alive

    def stuck(self, alive: Flags) -> Flags:
        """E: who stays outlying; nobody iff E holds."""
        out = np.zeros(len(self.rows), dtype=np.bool_)
        unmatched(self.out, self.held, self.forced, alive, out)
        return out

    def valid(self, *, k: int, least: int) -> bool:
        """Whether all of these rows together are a group that passes."""
        alive = self.everyone
        return self.distinct(alive) >= k and bool((self.possible(alive) >= least).all()) and not self.stuck(alive).any()

    def settled(self, *, k: int, least: int) -> Flags:
        """A part of the rows that passes, nobody where none was found.

        Peeling for M2 has one result; E has no largest part, so a rule by content says who leaves: of those who are stuck the last in
        canonical order, one at a time, and everything is looked at again.
        """
        alive, counts = self.everyone, np.zeros(len(self.rows), dtype=np.int64)
        label = np.empty(len(self.values), dtype=np.int64)
        while True:
            left = peel(self.fits, self.held, alive, self.codes, label, counts, least)
            if left < k or self.distinct(alive) < k:
                return np.zeros(len(self.rows), dtype=np.bool_)
            stuck = np.flatnonzero(self.stuck(alive))
            if not len(stuck):
                return alive
            alive[stuck[-1]] = False


@dataclass(frozen=True)
class Worlds:
    """Makes `Members` of rows of the table."""

    table: Population
    known: Flags | None = None
    """`forced`, where it has been found out already, of this very table."""

    @cached_property
    def forced(self) -> Flags:
        """Rows that would be outliers with every value of the table: whoever knows the table's values knows that they stand out."""
        if self.known is not None:
            return self.known
        table = self.table
        rows = np.flatnonzero(table.outlying)
        quasi = np.ascontiguousarray(table.places[rows, : table.quasi])
        good, bad = np.zeros(len(table.values), dtype=np.bool_), np.zeros(len(rows), dtype=np.bool_)
        if len(rows):
            everyone(table.blocks, table.guide, quasi, table.values, good, bad, False, False)
        out = np.zeros(len(table.places), dtype=np.bool_)
        out[rows[bad]] = True
        return out

    def members(self, rows: Whole) -> Members:
        """`rows` in canonical order."""
        table = self.table
        quasi, held = table.places[rows, : table.quasi], table.places[rows, table.quasi :]
        values, of_value = np.unique(held, axis=0, return_inverse=True)
        fresh = np.append(True, (quasi[1:] != quasi[:-1]).any(axis=1)) if len(rows) else np.zeros(0, dtype=np.bool_)
        people = np.ascontiguousarray(quasi[fresh])  # canonical order puts equal quasi-identifiers together
        out = self.outlying_with(people, values)[np.cumsum(fresh) - 1]
        return Members(rows, values, of_value.reshape(-1), np.ascontiguousarray(out), self.forced[rows])

    def joined(self, members: Members, row: int, *, least: int, known: Known | None = None) -> Members | None:
        """The members with `row` as the last of them, if the group still passes; more members take no possible value from anyone.

        `known` keeps what has been found out about the row, for whoever offers it to several groups.
        """
        table = self.table
        place = table.places[row]
        same = np.flatnonzero((members.values == place[table.quasi :]).all(axis=1))
        values = members.values if len(same) else np.concatenate([members.values, place[None, table.quasi :]])
        own = int(same[0]) if len(same) else len(values) - 1
        line = self._line(place[: table.quasi], values, {} if known is None else known)
        if (line == line[own]).sum() < least:
            return None
        column = members.out
        if not len(same):
            others = np.ascontiguousarray(table.places[members.rows, : table.quasi])
            column = np.column_stack([column, self.outlying_with(others, values[own:])])
        grown = Members(
            np.append(members.rows, row),
            values,
            np.append(members.held, own),
            np.concatenate([column, line[None]]),
            np.append(members.forced, self.forced[row]),
        )
        everyone = grown.everyone
        fits = grown.possible(everyone)[-1] >= least and not grown.stuck(everyone).any()
        return grown if fits else None

    def _line(self, person: Whole, values: Whole, known: Known) -> Flags:
        """With which of the values these quasi-identifiers are an outlier."""
        keys = [value.tobytes() for value in values]
        new = [j for j, key in enumerate(keys) if key not in known]
        if new:
            found = self.outlying_with(np.ascontiguousarray(person[None]), values[new])[0]
            known.update(zip([keys[j] for j in new], found.tolist(), strict=True))
        return np.array([known[key] for key in keys], dtype=np.bool_)

    def outlying_with(self, people: Whole, values: Whole) -> Flags:
        """[person, value]: whether these quasi-identifiers are an outlier with this value."""
        out = np.zeros((len(people), len(values)), dtype=np.bool_)
        outlying_with(self.table.blocks, self.table.guide, people, np.ascontiguousarray(values), out)
        return out
