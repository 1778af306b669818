"""The rule of `wallflower.engines.people` once more: one person at a time, one cell at a time, with Python's own integers."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from tests.contracts.engine_reference import (
    ABOVE,
    BELOW,
    LEAVES,
    MISSING,
    UNREADABLE,
    Reference,
    date_in,
    double_in,
    found,
    is_missing,
    same,
    written_date,
)
from wallflower.schema.declaration import Becomes, Clip, Declaration
from wallflower.schema.domains import EPOCH, Categories, Dates, Numbers
from wallflower.schema.formats import DateFormat

RANK = {BELOW: 0, ABOVE: 2}


def identity(cell, declaration: Declaration):
    """None when the row has no id."""
    codes = declaration.format_of(declaration.person).missing_codes
    if is_missing(cell):
        return None
    if isinstance(cell, str):
        return None if "\ufffd" in cell or cell.strip(" ") in codes else cell
    if isinstance(cell, float):
        return None
    return None if any(named(cell, code) for code in codes) else cell


def carried(cell, column, format_):
    """(number, rank) of a readable cell, "outside" for an undeclared category, None for nothing."""
    state = found(cell, column, format_)
    if state in {MISSING, UNREADABLE}:
        return None
    if isinstance(column.domain, Categories):
        return "outside" if state == ABOVE else (state, 1)
    if isinstance(state, int):
        return (state, 1)
    if isinstance(column.domain, Dates):
        if isinstance(cell, str):
            cell = written_date(cell, format_)
        elif isinstance(cell, datetime):
            cell = (cell.astimezone(UTC) if cell.tzinfo else cell).date()
        return ((cell - EPOCH).days, RANK[state])
    x, step = double_in(cell, format_), column.domain.step
    if math.isinf(x):
        return (2**53 if x > 0 else -(2**53), RANK[state])
    p, q = step.numerator, step.denominator
    y = Fraction(x * float(q) / float(p)) if abs(x) < 1e290 else Fraction(x) / step
    n = math.floor(y + Fraction(1, 2))
    return (min(max(n, -(2**53)), 2**53), RANK[state])


def moment(cell, declaration: Declaration):
    """None when the row has no readable time."""
    column, format_ = declaration.columns.get(declaration.time), declaration.format_of(declaration.time)
    if column is not None and isinstance(column.domain, Numbers):
        read = carried(cell, column, format_)
        return None if read is None else read
    if is_missing(cell):
        return None
    if isinstance(cell, str):
        if cell.strip(" ") in format_.missing_codes:
            return None
        for each in format_.dates:
            assert isinstance(each, DateFormat)
            if (found_ := each.moment(cell)) is not None:
                return found_
        return None
    return cell


def ranked(number, domain):
    return (number, 0 if number < domain.first else 2 if number > domain.last else 1)


def reduced(rows, name, declaration):  # noqa: PLR0911 - one return per reducer
    """The one cell of a person: (number, rank), "outside" or None."""
    column, format_ = declaration.columns[name], declaration.format_of(name)
    if column.per_person == "rows":
        return ranked(len(rows), column.domain)
    cells = [carried(row[name], column, format_) for row in rows]
    readable = [(at, cell) for at, cell in enumerate(cells) if cell is not None and cell != "outside"]
    if not readable:
        return "outside" if "outside" in cells else None
    values = [cell for _, cell in readable]
    if column.per_person == "min":
        return min(values)
    if column.per_person == "max":
        return max(values)
    if column.per_person == "most-common":
        counts = Counter(values)
        return min(value for value in values if counts[value] == max(counts.values()))
    if column.per_person in {"latest", "earliest"}:
        times = [moment(rows[at][declaration.time], declaration) for at, _ in readable]
        known = [time for time in times if time is not None]
        if column.per_person == "latest":
            best = max(known) if known else None
        else:
            best = None if None in times else min(known)
        return min(value for value, time in zip(values, times, strict=True) if time == best)
    if len(values) == 1:
        return values[0]
    total = sum(number for number, _ in values)
    if column.per_person == "mean":
        return ranked(math.floor(Fraction(total, len(values)) + Fraction(1, 2)), column.domain)
    return ranked(min(max(total, -(2**53)), 2**53), column.domain)


def settled(cell, column):
    if isinstance(cell, tuple) and cell[1] == 1:
        return cell[0]
    action = column.missing if cell is None else column.outside
    if isinstance(action, Becomes):
        return action.number
    if isinstance(action, Clip):
        return column.domain.first if cell[1] == 0 else column.domain.last
    return LEAVES


def first_rows(rows, declaration):
    """At most m of a person's rows."""
    names = [name for name, column in declaration.columns.items() if column.domain is not None]

    def place(cell):
        return (0, 0, 0) if cell is None else (2, 0, 0) if cell == "outside" else (1, *cell)

    def order(row):
        time = moment(row[declaration.time], declaration) if declaration.time else None
        cells = [carried(row[name], declaration.columns[name], declaration.format_of(name)) for name in names]
        return ((time is not None, time or 0), *(place(cell) for cell in cells))

    return sorted(rows, key=order)[: declaration.rows_per_person]


def named(who, key):
    if isinstance(who, Decimal):
        return re.fullmatch("-?[0-9]+(\\.[0-9]+)?", key) is not None and Decimal(key) == who
    return who == key if isinstance(who, str) else same(who, key)


class PeopleReference(Reference):
    """The answers of a view over people; rows in an order of their own."""

    def __init__(self, declaration: Declaration, columns, table: list[dict]) -> None:
        self.declaration, self.columns, self.table = declaration, columns, table
        people: dict = {}
        for row in table:
            who = identity(row[declaration.person], declaration)
            if who is not None:
                people.setdefault((type(who).__name__, who), []).append(row)
        self.all, self.ids = [], []
        for (_, who), rows in people.items():
            for cells in self._cells(rows):
                self.all.append({name: settled(cells[name], declaration.column(name)) for name in columns})
                self.ids.append(who)
        self.rows = [row for row in self.all if LEAVES not in row.values()]

    def _cells(self, rows):
        declaration = self.declaration
        if declaration.rows_per_person is None:
            return [{name: reduced(rows, name, declaration) for name in self.columns}]
        return [
            {name: carried(row[name], declaration.columns[name], declaration.format_of(name)) for name in self.columns}
            for row in first_rows(rows, declaration)
        ]

    def record(self, key: str, *, row: int = 1):
        at = [at for at, who in enumerate(self.ids) if named(who, key)]
        if len(at) < row or LEAVES in self.all[at[row - 1]].values():
            return None
        row = self.all[at[row - 1]]
        grouped = {
            name: self.code(name, row[name])
            for name in self.columns
            if self.declaration.column(name).bins or isinstance(self.declaration.column(name).domain, Categories)
        }
        return row, grouped


__all__ = ["PeopleReference", "date", "date_in"]
