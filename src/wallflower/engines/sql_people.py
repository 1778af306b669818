"""The rows of a person joined inside a database: raw cells in, one settled row per person (or at most m) out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wallflower.engines import people_expressions as joining
from wallflower.engines.backend import Backend
from wallflower.engines.expressions import prepared
from wallflower.engines.people import People
from wallflower.engines.reading_rule import Kind, NumberRule, Rule
from wallflower.engines.view import View

TWICE = frozenset({"latest", "earliest", "most-common"})


@dataclass(frozen=True)
class SqlPeople:
    """Stacks the views: staged (raw cells) < cells (whose, when, w0, w1, ...) < one row per person, or the first m."""

    view: View
    people: People
    base: Backend
    raw: Callable[[str], str]
    """The name of a raw column in `staged`."""
    hold: Callable[[str, Any], Any]
    """Names an expression that takes long."""

    def settled(self, places: Mapping[str, str]) -> Any:
        """`id` and `present`, and for each column of the view its integer; NULL when the person, or the row, leaves.

        Where several rows of a person are kept, `place` counts them from 0 in their order.
        """
        carried = {name: f"w{at}" for at, name in enumerate(self.people.carried)}
        cells = self.cells(carried)
        kept = self._first(cells, carried) if self.people.rows is not None else self._reduced(cells, carried, places)
        from_w = carried if self.people.rows is not None else places
        columns = {place: joining.settled(kept[from_w[name]], self.view.rules[name]) for name, place in places.items()}
        placed = {"place": kept.place} if self.people.rows is not None else {}
        return kept.select(id=kept.id, present=kept.id.notnull(), **placed, **columns)

    def cells(self, carried: Mapping[str, str]) -> Any:
        """Every row that has an id: whose it is, when it was, and its cells as carried integers."""
        people, dialect, staged = self.people, self.base.dialect, self.base.table("staged")
        columns = {"id": joining.identity(staged[self.raw(people.person)], people, dialect)}
        if people.time is not None:
            columns["t"] = joining.moment(staged[self.raw(people.time)], people, dialect)
        for name, place in carried.items():
            columns[f"x{place}"], columns[f"r{place}"] = prepared(staged[self.raw(name)], self.rule(name), dialect)
        read = self.base.view("read", staged.select(**columns))
        read = read.filter(read.id.notnull())
        # In a view of its own, so that what is long is evaluated once and not wherever it is used.
        steps = {
            f"s{place}": joining.steps_of(read[f"x{place}"], self.rule(name), dialect)
            for name, place in carried.items()
            if isinstance(self.rule(name), NumberRule) and self.rule(name).kind is not Kind.NOTHING
        }
        read = self.base.view("in_steps", read.mutate(**steps)) if steps else read
        found = {
            place: joining.carried(
                read[f"x{place}"],
                read[f"r{place}"],
                self.rule(name),
                dialect,
                read[f"s{place}"] if f"s{place}" in steps else None,
            )
            for name, place in carried.items()
        }
        timed = {"t": read.t} if people.time is not None else {}
        chosen = read.select(id=read.id, **timed, **found)
        twice = TWICE.intersection(people.reducers.values())  # these look at the cells again
        return self.hold("cells", chosen) if twice else self.base.view("cells", chosen)

    def rule(self, name: str) -> Rule:
        return self.people.order_rules[name] if name in self.people.order_rules else self.view.rules[name]

    def _reduced(self, cells: Any, carried: Mapping[str, str], places: Mapping[str, str]) -> Any:
        named = {name: carried.get(name, f"rows{at}") for at, name in enumerate(places)}
        reduction = joining.Reduction(
            cells,
            {named[name]: reducer for name, reducer in self.people.reducers.items()},
            {named[name]: self.view.rules[name] for name in places},
            self.base.view,
            self.base.dialect,
        )
        reduced = reduction.table()
        renamed = {place: reduced[named[name]] for name, place in places.items()}
        return self.base.view("people", reduced.select(id=reduced.id, **renamed))

    def _first(self, cells: Any, carried: Mapping[str, str]) -> Any:
        """Rows that tie have equal cells in every declared column, so it does not matter which of them stays."""
        import ibis

        order = [cells.t] if self.people.time is not None else []
        order += [cells[carried[name]] for name in self.people.order]
        by = [ibis.asc(column, nulls_first=True) for column in order]
        ranked = self.base.view("ranked", cells.mutate(place=ibis.row_number().over(group_by="id", order_by=by)))
        return ranked.filter(ranked.place < self.people.rows)
