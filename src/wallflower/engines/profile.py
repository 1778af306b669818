"""The owner's look at the rows: true numbers, unprotected, for `declare` and `check` alone. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from wallflower.engines.base import Source, refuse_damage
from wallflower.engines.reading_rule import State
from wallflower.engines.suggestions import Counted, Mend, mends
from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration, Drop
from wallflower.schema.domains import Categories
from wallflower.schema.hierarchy import difference
from wallflower.schema.problems import header, visible
from wallflower.schema.toml_text import quoted

MOST_SHOWN = 5
MOST_TEXTS = 1_000
"""Different texts of a column that are looked at; the commonest are enough to see what is wrong."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a draft can say about a column."""

    name: str
    kind: str
    """integer, real, text, date or boolean: what every cell that is not empty can be read as."""
    values: tuple[str, ...] | None
    """The different texts, sorted, when there are few."""
    dates: tuple[str, ...] = ()
    """Formats of dates that are not written YYYY-MM-DD."""
    thousands: str = ""
    missing_codes: tuple[str, ...] = ()
    """Texts that probably mean that nothing is known."""
    repeats: bool = False
    """Whether a value occurs more than once: ids of people with many rows do."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What an engine counts for the owner."""

    rows: int
    leaving: int
    """Rows that a query of every declared column would not see."""
    states: Mapping[str, Mapping[State, int]]
    """For each column how many cells are in each state."""
    repeated_keys: int
    """Keys that several rows share."""
    rows_without_key: int
    people: int | None = None
    """How many people the rows belong to; None where the unit is a row."""
    beyond: int = 0
    """Rows that are left out because their person has more than `rows_per_person`."""
    untimed: int | None = None
    """Rows of somebody whose `time` is not readable; None where no order is needed."""
    spoilt: Mapping[str, Counted] = field(default_factory=dict)
    """For each column the commonest cells that were not readable, with how often each occurs."""
    strays: Mapping[str, Counted] = field(default_factory=dict)
    """The same for cells outside the domain."""


class CountedSource(Protocol):
    """A source that can be counted."""

    def tally(self, columns: Sequence[str]) -> Tally: ...


@dataclass(frozen=True, kw_only=True)
class Examination:
    """What the declaration does to the rows."""

    declaration: Declaration
    tally: Tally

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.tally.rows,
            **({"max_rows": self.declaration.max_rows} if self.tally.people is None else {}),
            "rows_that_leave": self.tally.leaving,
            "repeated_keys": self.tally.repeated_keys,
            "rows_without_key": self.tally.rows_without_key,
            **self._people(),
            "columns": {name: self._column(name) for name in self.tally.states},
        }

    def _column(self, name: str) -> dict[str, Any]:
        return {
            **self._numbers(name),
            "commonest_unreadable": [list(each) for each in self.tally.spoilt.get(name, ())[:MOST_SHOWN]],
            "commonest_outside": [list(each) for each in self.tally.strays.get(name, ())[:MOST_SHOWN]],
            "would_mend": [{"line": mend.line, "cells": mend.cells} for mend in self.mends(name)[:MOST_SHOWN]],
            **self._hierarchy(name),
        }

    def _hierarchy(self, name: str) -> dict[str, Any]:
        """What of a column's hierarchy differs from its values; nothing where nothing does."""
        column, path = self.declaration.column(name), self.declaration.path
        try:
            found = difference(
                column.hierarchy, _texts(column), column=name, folder=None if path is None else path.parent
            )
        except DeclarationError as error:
            return {"hierarchy": {"refused": str(error)}}
        if not found.uncovered and not found.undeclared:
            return {}
        return {"hierarchy": {"not_covered": list(found.uncovered), "not_declared": list(found.undeclared)}}

    def hierarchy_lines(self) -> Iterator[str]:
        """Every declared value that a hierarchy does not cover, and every leaf of it that is not declared."""
        for name in self.tally.states:
            found = self._hierarchy(name).get("hierarchy", {})
            if "refused" in found:
                yield found["refused"]
            for part, words in (("not_covered", "declared, and no leaf"), ("not_declared", "not declared, and a leaf")):
                if found.get(part):
                    listed = ", ".join(visible(quoted(text)) for text in found[part])
                    yield f"{name}: {words} of its hierarchy: {listed}"

    def lines(self) -> Iterator[str]:
        """Sentences, most serious first."""
        tally, declared = self.tally, self.declaration
        if tally.people is not None:
            yield from self._people_lines(tally.people)
            return
        over = tally.rows - declared.max_rows
        if over > 0:
            yield (
                f"{tally.rows} rows, {over} more than max_rows = {declared.max_rows} declares. Queries rely on this public bound: "
                "raise it, from public knowledge, before anything is released."
            )
        else:
            yield f"{tally.rows} rows, within max_rows = {declared.max_rows}."
        if declared.key is None:
            yield "No key is declared: records are row:0, row:1, ... in the order of the data."
        if tally.repeated_keys:
            yield f"{tally.repeated_keys} keys name several rows each: no question about such a record has an answer."
        if tally.rows_without_key:
            yield f"{tally.rows_without_key} rows have no readable key."
        yield f"{tally.leaving} rows would leave a query that reads every column."

    def _people(self) -> dict[str, int]:
        if self.tally.people is None:
            return {}
        found = {"people": self.tally.people, "max_people": self.declaration.max_people}
        if self.tally.untimed is not None:
            found["rows_without_time"] = self.tally.untimed
        return found | ({"rows_beyond": self.tally.beyond} if self.declaration.rows_per_person else {})

    def _people_lines(self, people: int) -> Iterator[str]:
        tally, declared = self.tally, self.declaration
        over = people - declared.max_people
        if over > 0:
            yield (
                f"{tally.rows} rows of {people} people, {over} more than max_people = {declared.max_people} declares. Queries rely on "
                "this public bound: raise it, from public knowledge, before anything is released."
            )
        else:
            yield f"{tally.rows} rows of {people} people, within max_people = {declared.max_people}."
        if tally.rows_without_key:
            yield f"{tally.rows_without_key} rows say not whose they are ('{declared.person}'): they are left out of every answer."
        if tally.untimed:
            yield (
                f"{tally.untimed} rows have no readable time ('{declared.time}'), and count as earlier than all others. If it is not "
                "written YYYY-MM-DD, say how: date = ... in `read`, or in its own section."
            )
        if declared.rows_per_person is not None:
            yield (
                f"{tally.beyond} rows are beyond rows_per_person = {declared.rows_per_person}: every answer leaves them out."
            )
            yield f"{tally.leaving} of the others would leave a query that reads every column."
        else:
            yield f"{tally.leaving} people would leave a query that reads every column."

    def table(self) -> Iterator[tuple[str, str, str, str, str]]:
        """One row per column: its name, cells missing, unreadable, outside, and what happens to them."""
        for name in self.tally.states:
            numbers = self._numbers(name)
            counts = (str(numbers[part]) for part in ("missing", "unreadable", "outside"))
            yield (name, *counts, _consequence(self.declaration.column(name), numbers))  # type: ignore[misc]

    def spoilt_lines(self) -> Iterator[str]:
        """The commonest cells of each column that were not read or not in the domain, and what would mend them."""
        for name in self.tally.states:
            for what, texts in (("unreadable", self.tally.spoilt), ("outside", self.tally.strays)):
                few = texts.get(name, ())[:MOST_SHOWN]
                if few:
                    told = ", ".join(f"{visible(quoted(text))} {n} time{'s' if n > 1 else ''}" for text, n in few)
                    more = ", ..." if len(texts[name]) > MOST_SHOWN else ""
                    yield f"{name}: {what}: {told}{more}"
            for mend in self.mends(name)[:MOST_SHOWN]:
                place = "" if mend.of_table else f" in {header(('columns', name))}"
                yield f"  {mend.line}{place} would mend {mend.cells} cell{'s' if mend.cells > 1 else ''}"

    def mends(self, name: str) -> list[Mend]:
        column, format_ = self.declaration.column(name), self.declaration.format_of(name)
        return mends(column, format_, self.tally.spoilt.get(name, ()), self.tally.strays.get(name, ()))

    def _numbers(self, name: str) -> dict[str, int]:
        column, states = self.declaration.column(name), self.tally.states[name]
        missing, unreadable = states.get(State.MISSING, 0), states.get(State.UNREADABLE, 0)
        outside = states.get(State.BELOW, 0) + states.get(State.ABOVE, 0)
        done = {"clipped": 0, "replaced": 0, "dropped": 0}
        for action, cells in ((column.outside, outside), (column.missing, missing + unreadable)):
            done[_VERBS[type(action)]] += cells
        return {"missing": missing, "unreadable": unreadable, "outside": outside, **done}


def examine(source: Source, declaration: Declaration) -> Examination:
    """Count what `outside` and `missing` would do. For the owner; never part of a release."""
    if not hasattr(source, "tally"):
        raise UsageError(f"{type(source).__name__} cannot be examined.")
    columns = [name for name, column in declaration.columns.items() if column.domain is not None]
    source.verify(columns)  # what every question would be refused for, whatever is in the rows
    refuse_damage(source, columns)
    return Examination(declaration=declaration, tally=cast("CountedSource", source).tally(columns))


MOST_LEAVES = 1_000_000
"""Numbers with more steps than this have no hierarchy of single values."""


def _texts(column: Column) -> list[str]:
    """The declared values that the leaves of a hierarchy should be."""
    domain = column.domain
    if isinstance(domain, Categories):
        return list(domain.values)
    if domain is None or domain.size > MOST_LEAVES or column.hierarchy is None:
        return []
    return [domain.text(number) for number in range(domain.first, domain.last + 1)]


_VERBS: Mapping[type, str] = {Clip: "clipped", Becomes: "replaced", Drop: "dropped"}


def _consequence(column: Column, numbers: Mapping[str, int]) -> str:
    parts = []
    if numbers["outside"]:
        parts.append(f"outside: {numbers['outside']} {_VERBS[type(column.outside)]}")
    if numbers["missing"] + numbers["unreadable"]:
        parts.append(f"missing: {numbers['missing'] + numbers['unreadable']} {_VERBS[type(column.missing)]}")
    return "; ".join(parts) or "nothing"
