"""The owner's look at the rows: true numbers, unprotected, for `declare` and `check` alone. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from wallflower.engines.base import Source
from wallflower.engines.reading_rule import State
from wallflower.errors import UsageError
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration, Drop


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a draft can say about a column."""

    name: str
    kind: str
    """integer, real, text, date or boolean: what every cell that is not empty can be read as."""
    values: tuple[str, ...] | None
    """The different texts, sorted, when there are few."""


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


class Examined(Protocol):
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
            "max_rows": self.declaration.max_rows,
            "rows_that_leave": self.tally.leaving,
            "repeated_keys": self.tally.repeated_keys,
            "rows_without_key": self.tally.rows_without_key,
            "columns": {name: dict(self._numbers(name)) for name in self.tally.states},
        }

    def lines(self) -> Iterator[str]:
        """Sentences, most serious first."""
        tally, declared = self.tally, self.declaration
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

    def table(self) -> Iterator[tuple[str, str, str, str, str]]:
        """One row per column: its name, cells missing, unreadable, outside, and what happens to them."""
        for name in self.tally.states:
            numbers = self._numbers(name)
            counts = (str(numbers[part]) for part in ("missing", "unreadable", "outside"))
            yield (name, *counts, _consequence(self.declaration.column(name), numbers))  # type: ignore[misc]

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
    return Examination(declaration=declaration, tally=cast("Examined", source).tally(columns))


_VERBS: Mapping[type, str] = {Clip: "clipped", Becomes: "replaced", Drop: "dropped"}


def _consequence(column: Column, numbers: Mapping[str, int]) -> str:
    parts = []
    if numbers["outside"]:
        parts.append(f"outside: {numbers['outside']} {_VERBS[type(column.outside)]}")
    if numbers["missing"] + numbers["unreadable"]:
        parts.append(f"missing: {numbers['missing'] + numbers['unreadable']} {_VERBS[type(column.missing)]}")
    return "; ".join(parts) or "nothing"
