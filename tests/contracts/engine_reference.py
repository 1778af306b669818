"""The rule of `wallflower.engines.reading_rule` once more, one cell at a time, with Python's own integers and fractions."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import product

import numpy as np

from wallflower.schema.declaration import Becomes, Clip, Column, Declaration
from wallflower.schema.domains import EPOCH, Categories, Numbers
from wallflower.schema.formats import CellFormat

LEAVES = "leaves"
MISSING, UNREADABLE, BELOW, ABOVE = "missing", "unreadable", "below", "above"
PLAIN = CellFormat()
NUMBER = re.compile(r" *[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)? *")


def is_missing(cell) -> bool:
    return cell is None or cell == "" or cell != cell  # noqa: PLR0124 - NaN


def double_in(cell, format_):
    """The double of a cell; None when it is not a number."""
    if not isinstance(cell, str):
        return float(cell)
    text = cell
    if format_.thousands:
        groups = re.fullmatch(rf"( *[+-]?)([^ eE]*?)((?:[{format_.decimal}][0-9]*)?(?:[eE].*)?)( *)", cell)
        whole = groups[2].split(format_.thousands) if groups and format_.thousands != " " else None
        if format_.thousands == " " and (spaced := re.fullmatch(r"( *[+-]?)([0-9 ]*[0-9])(.*)", cell)):
            groups, whole = spaced, spaced[2].split(" ")
        if whole is not None and len(whole) > 1:
            if not (1 <= len(whole[0]) <= 3 and all(len(part) == 3 for part in whole[1:])):
                return None
            text = groups[1] + "".join(whole) + "".join(groups.groups()[2:])
    if format_.decimal != ".":
        if "." in text:
            return None
        text = text.replace(format_.decimal, ".")
    if not NUMBER.fullmatch(text) or math.isinf(float(text)):
        return None
    return float(text)


def number_in(cell, domain: Numbers, format_):
    x = double_in(cell, format_)
    if x is None:
        return UNREADABLE
    spelt = PLAIN if not isinstance(cell, str) else format_
    if x in [double_in(code, spelt) for code in format_.missing_codes]:
        return MISSING
    if x < float(domain.lower):
        return BELOW
    if x > float(domain.upper):
        return ABOVE
    p, q = domain.step.numerator, domain.step.denominator
    y = x * float(q) / float(p) if max(p, q) < 2**53 else x / float(domain.step)
    return min(max(math.floor(Fraction(y) + Fraction(1, 2)), domain.first), domain.last)


def written_date(text, format_):
    """By Python's own strptime, once the text has the right shape (strptime is too forgiving)."""
    for each in format_.dates:
        if text.isascii() and re.fullmatch(each.pattern[1:-1], text):
            try:
                moment = datetime.strptime(text, each.text)  # noqa: DTZ007 - only its day is used
            except ValueError:
                continue
            return moment.date()
    return None


def date_in(cell, domain, format_):
    if isinstance(cell, datetime):
        cell = (cell.astimezone(UTC) if cell.tzinfo else cell).date()
    if isinstance(cell, str):
        cell = written_date(cell, format_)
        if cell is None:
            return UNREADABLE
    elif cell.isoformat() in format_.missing_codes:
        return MISSING
    days = (cell - EPOCH).days
    return BELOW if days < domain.first else ABOVE if days > domain.last else days


def same(cell, text: str) -> bool:
    """Whether a cell is the declared text."""
    if isinstance(cell, str):
        return cell == text
    if isinstance(cell, bool):
        return text == ("true" if cell else "false")
    if isinstance(cell, date):
        return text == cell.isoformat()
    if not NUMBER.fullmatch(text):
        return False
    return Fraction(text.strip()) == cell if isinstance(cell, int) else float(text) == float(cell)


def category_in(cell, domain: Categories):
    if isinstance(cell, str) and "\ufffd" in cell:
        return UNREADABLE
    return next((code for code, text in enumerate(domain.values) if same(cell, text)), ABOVE)


def found(cell, column: Column, format_=PLAIN):
    """The declared integer of a cell, or what is wrong with it."""
    if is_missing(cell) or (isinstance(cell, str) and cell.strip(" ") in format_.missing_codes):
        return MISSING
    if isinstance(column.domain, Categories):
        if not isinstance(cell, str) and any(same(cell, code) for code in format_.missing_codes):
            return MISSING
        return category_in(cell, column.domain)
    read = number_in if isinstance(column.domain, Numbers) else date_in
    return read(cell, column.domain, format_)


def settled(cell, column: Column, format_=PLAIN):
    state = found(cell, column, format_)
    if isinstance(state, int):
        return state
    action = column.missing if state in {MISSING, UNREADABLE} else column.outside
    if isinstance(action, Becomes):
        return action.number
    if isinstance(action, Clip):
        return column.domain.first if state == BELOW else column.domain.last
    return LEAVES


class Reference:
    """The answers of a view, from a list of rows as dictionaries."""

    def __init__(self, declaration: Declaration, columns, table: list[dict]) -> None:
        self.declaration, self.columns, self.table = declaration, columns, table
        self.all = [
            {name: settled(row[name], declaration.column(name), declaration.format_of(name)) for name in columns}
            for row in table
        ]
        self.rows = [row for row in self.all if LEAVES not in row.values()]

    def code(self, name: str, number: int) -> int:
        bins = self.declaration.column(name).bins
        return number if bins is None else max(at for at, edge in enumerate(bins.edges) if edge <= number)

    def codes(self, columns):
        return [[self.code(name, row[name]) for name in columns] for row in self.rows]

    def numbers(self, columns):
        return [[row[name] for name in columns] for row in self.rows]

    def record(self, key: str):
        if self.declaration.key is None:
            at = [at for at in range(len(self.table)) if key == f"row:{at}"]
        else:
            cells = [row[self.declaration.key] for row in self.table]
            at = [at for at, cell in enumerate(cells) if not is_missing(cell) and same(cell, key)]
        if len(at) != 1 or LEAVES in self.all[at[0]].values():
            return None
        row = self.all[at[0]]
        grouped = {
            name: self.code(name, row[name])
            for name in self.columns
            if self.declaration.column(name).bins or isinstance(self.declaration.column(name).domain, Categories)
        }
        return row, grouped

    def by_cell(self, by, metric):
        cells = {place: [] for place in product(*(range(self.declaration.column(name).groups.size) for name in by))}
        for row in self.rows:
            cells[tuple(self.code(name, row[name]) for name in by)].append(row[metric])
        return cells

    def cells(self, by, metric, centre):
        for place, values in self.by_cell(by, metric).items():
            z = [value - centre for value in values]
            yield place, (len(z), sum(z), sum(v * v for v in z), min(z, default=0), max(z, default=0))

    def between(self, by, metric, first, last):
        return {
            place: sum(first <= value <= last for value in values) for place, values in self.by_cell(by, metric).items()
        }

    def nearest(self, by, metric, centre, per_side):
        for values in self.by_cell(by, metric).values():
            counted = sorted(Counter(values).items())
            below = [pair for pair in counted if pair[0] < centre]
            yield [
                *below[max(len(below) - per_side, 0) :],
                *[pair for pair in counted if pair[0] == centre],
                *[pair for pair in counted if pair[0] > centre][:per_side],
            ]


def agree(rows, reference: Reference, *, by, metric, centres, keys, sides=(1,)) -> None:
    """Every answer of a view equals the reference's, bit for bit."""
    columns = list(reference.columns)
    grouped = [name for name in columns if _grouped(reference.declaration.column(name))]
    fetched = rows.fetch(numbers=columns, codes=grouped)
    codes, numbers = fetched.codes, fetched.numbers
    assert codes.dtype == np.int32
    assert numbers.dtype == np.int64
    assert codes.shape == (len(reference.rows), len(grouped))
    assert numbers.shape == (len(reference.rows), len(columns))
    # Together, and in any order: that of rows means nothing, and a server has none.
    fetched_rows = zip(codes.tolist(), numbers.tolist(), strict=True)
    assert sorted(fetched_rows) == sorted(zip(reference.codes(grouped), reference.numbers(columns), strict=True))
    for key in keys:
        record, expected = rows.record(key), reference.record(key)
        assert (record and (dict(record.numbers), dict(record.codes))) == expected, key
    for centre in centres:
        _same_cells(rows.cells(by, metric, centre), reference.cells(by, metric, centre))
        for per_side in sides:
            nearest = rows.nearest(by, metric, centre, per_side)
            expected = list(reference.nearest(by, metric, centre, per_side))
            assert np.diff(nearest.starts).tolist() == [len(entries) for entries in expected]
            pairs = list(zip(nearest.values.tolist(), nearest.multiplicities.tolist(), strict=True))
            assert pairs == [pair for entries in expected for pair in entries]
            between = rows.between(by, metric, centre - per_side, centre + 2 * per_side)
            _same_counts(between, reference.between(by, metric, centre - per_side, centre + 2 * per_side))


def _same_cells(cells, expected) -> None:
    for place, statistics in expected:
        parts = (cells.counts, cells.totals, cells.squares, cells.least, cells.most)
        assert tuple(part[place] for part in parts) == statistics
        assert type(cells.totals[place]) is int
        assert type(cells.squares[place]) is int


def _same_counts(counts, expected) -> None:
    assert counts.dtype == np.int64
    assert {place: counts[place] for place in expected} == expected
    assert counts.size == len(expected)


def _grouped(column: Column) -> bool:
    return column.bins is not None or isinstance(column.domain, Categories)
