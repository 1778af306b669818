r"""How the rows of a person become one row, or at most m: a function of that person's rows alone. Every engine follows it, bit for bit.

**Whose row.** Ids are compared exactly: integers and decimals as numbers, texts code point by code point, dates as days. An id that
is empty, a missing code, NaN or not decodable is none, and so is a real in a source that types every cell on its own; a column of
reals is refused, because doubles merge ids. A row without an id is not there.

**What is carried.** Each cell is read by `reading_rule`, but not clipped. It becomes one integer w, so that a cell's state
survives the reduction:

    number or date    w = 4 n + rank     n: grid integer, saturated at ±2^53 (dates: years 1 to 9999);  rank: 0 below, 1 inside, 2 above the bounds
    category          w = 4 code + 1,    or OUTSIDE when it is not declared
    missing or unreadable: nothing

The order of w is the order of values. OUTSIDE is skipped while the person has a declared cell; where it is all there is, it stays.

**Reducers** over a person's w: `min`, `max`; `most-common` (ties: smallest w); `latest`, `earliest` by `time` (ties: smallest w; a
row without a readable time comes before every other); `sum` and `mean` of the n (one cell: that cell, state and all; more: the exact sum,
saturated at ±2^53, or floor of mean + 1/2; rank by the bounds); `rows`: how many rows, whatever their cells hold. No cell left: missing.

**At most m rows**: the m smallest by time (none first), then by w of the declared columns in their order (nothing first).
All declared columns take part, so that what is kept does not depend on the question; rows that tie are equal in all of them.

`outside` and `missing` are applied once, to what came out. The proof that one person moves one row (or m) is in `people.md`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from wallflower.engines.reading_rule import Kind, NumberRule, Rule, grammar, key_rule, plain_decimal
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import BY_TIME, Declaration, Reducer
from wallflower.schema.domains import EPOCH, Numbers
from wallflower.schema.formats import CellFormat

SATURATION = 2**53
OUTSIDE = 2**60
"""A category that is not declared; above every other w, which lie within ±2^55 + 2."""
BELOW, INSIDE, ABOVE = 0, 1, 2
FIRST_DAY, LAST_DAY = (date.min - EPOCH).days, (date.max - EPOCH).days
"""Days are saturated here: no bound lies beyond, and databases hold dates that Python cannot."""
SPLIT_BITS = 24
SPLIT = 2**SPLIT_BITS
"""Sums are kept as high · SPLIT + low, so that 64 bits hold both for up to 2^29 rows of one person."""
ID_KINDS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.NOTHING})
TIME_KINDS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.INTEGER, Kind.TEXT, Kind.NOTHING})


@dataclass(frozen=True)
class People:
    """The public side of a reduction."""

    person: str
    person_kind: Kind
    person_format: CellFormat
    time: str | None
    """None when no column of the view needs an order."""
    time_kind: Kind | None
    time_rule: Rule | None
    """How a text of `time` is read when it is declared with numbers; None: as a moment, in its formats."""
    time_format: CellFormat
    rows: int | None
    """At most so many rows; None: one, reduced."""
    reducers: Mapping[str, Reducer]
    order: tuple[str, ...]
    """All declared columns, where at most `rows` are kept; else none."""
    order_rules: Mapping[str, Rule]

    @property
    def carried(self) -> tuple[str, ...]:
        """Columns whose cells are needed one by one."""
        read = [name for name, reducer in self.reducers.items() if reducer != "rows"]
        return tuple(dict.fromkeys((*self.order, *read)))


def read_columns(declaration: Declaration, columns: Sequence[str]) -> tuple[str, ...]:
    """The physical columns that a view of `columns` needs beside the person: a count of rows needs none."""
    if declaration.unit == "row":
        return tuple(columns)
    if not declaration.reduced:
        every = tuple(name for name, column in declaration.columns.items() if column.domain is not None)
        return (*every, declaration.time) if declaration.time else every
    wanted = [name for name in columns if declaration.columns[name].per_person != "rows"]
    by_time = any(declaration.columns[name].per_person in BY_TIME for name in columns)
    return (*wanted, declaration.time) if by_time and declaration.time else tuple(wanted)


def people_of(
    declaration: Declaration, columns: Sequence[str], kinds: Mapping[str, Kind], rules: Mapping[str, Rule], decimal: str
) -> People | None:
    """None where the unit is a row; `rules` are those of every column that is read."""
    if declaration.unit == "row" or declaration.person is None:
        return None
    person, time = declaration.person, declaration.time
    if kinds[person] not in ID_KINDS:
        raise DeclarationError(
            f"the column '{person}' says whose row it is, and holds {kinds[person].value}, which do not keep ids apart.",
            hint="Store ids as integers, decimals or text; pandas makes integers with gaps reals unless they are Int64.",
        )
    needed = read_columns(declaration, columns)
    time = time if time in needed else None
    time_rule = None
    if time is not None:
        declared = declaration.columns.get(time)
        if declared is not None and isinstance(declared.domain, Numbers):
            time_rule = rules[time]
        elif kinds[time] not in TIME_KINDS:
            raise DeclarationError(
                f"the column '{time}' orders a person's rows, and holds {kinds[time].value}.",
                hint="It must hold dates, timestamps or whole numbers.",
            )
    order = () if declaration.reduced else tuple(name for name in declaration.columns if name in rules)
    return People(
        person=person,
        person_kind=kinds[person],
        person_format=declaration.format_of(person),
        time=time,
        time_kind=None if time is None else kinds[time],
        time_rule=time_rule,
        time_format=declaration.format_of(time) if time is not None else CellFormat(decimal=decimal),
        rows=declaration.rows_per_person,
        reducers={name: reducer for name in columns if (reducer := declaration.columns[name].per_person) is not None},
        order=order,
        order_rules={name: rules[name] for name in order},
    )


def asked_id(people: People, key: str) -> object | None:
    """The id that an asked-for key means, as this kind of column holds it (dates as days); None when it can be none."""
    if people.person_kind is Kind.DECIMAL:
        return (
            plain_decimal(key) if len(key) <= 100 and re.match(grammar("."), key) and "e" not in key.lower() else None
        )
    if people.person_kind is Kind.TEXT and key.strip(" ") in people.person_format.missing_codes:
        return None
    codes = key_rule(people.person, people.person_kind, key).codes
    return next(iter(codes), None)


def saturated_bounds(rule: NumberRule) -> float:
    """Doubles beyond this many own units are 2^53 steps or more."""
    try:
        return float(SATURATION) * rule.over / rule.times
    except OverflowError:  # pragma: no cover - doubles give infinity here
        return float("inf")
