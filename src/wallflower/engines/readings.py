"""Readings for a sensor, from a file or as they are typed: numbers by the reading rule, and no error ever quotes one."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.duckdb.csv_file import LONGEST_LINE
from wallflower.engines.duckdb.database import BATCH, Database, database
from wallflower.engines.duckdb.files import File, open_file
from wallflower.engines.memory.dialect import read_doubles
from wallflower.engines.reading_rule import Kind, NumberRule, grammar, rule_for
from wallflower.engines.redaction import quietly, unreadable
from wallflower.engines.view import find_columns
from wallflower.errors import UsageError
from wallflower.schema.declaration import Column, Reading
from wallflower.schema.domains import Numbers

NUMBER = re.compile(grammar("."))
ANY_NUMBER = Numbers(lower=Fraction(-1), upper=Fraction(1), step=Fraction(1))
"""A domain for the rule, which asks for one; what lies outside it is the sensor's to clip."""
FEWEST = 32_768
"""Rows read at a time, where a window holds no more of them."""


def windows_of_file(path: Path, columns: Sequence[str], *, length: int, skip: int = 0) -> Iterator[NDArray[np.float64]]:
    """The rows of a file from `skip` on, `length` at a time, read as a table's are; what is no number comes as NaN."""
    with _opened(path, columns) as (base, file, rules):
        quietly(lambda: file.stage(base, columns), lambda: unreadable(path))
        batches = quietly(lambda: _batches(base, columns, skip, length), lambda: unreadable(path))
        rest = np.empty((0, len(columns)))
        while (rows := quietly(lambda: _next_numbers(batches, rules), lambda: unreadable(path))) is not None:
            rest = np.concatenate([rest, rows]) if len(rest) else rows
            while len(rest) >= length:
                yield rest[:length]
                rest = rest[length:]
        if len(rest):
            yield rest


def refuse_unusable(path: Path, columns: Sequence[str]) -> None:
    """Refuse what `windows_of_file` would, from the file's names and types alone."""
    with _opened(path, columns):
        pass


@contextmanager
def _opened(path: Path, columns: Sequence[str]) -> Iterator[tuple[Database, File, list[NumberRule]]]:
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'.")
    file = open_file(path, None, Reading())
    with database() as base:
        quietly(lambda: file.open(base), lambda: unreadable(path))
        _find(columns, quietly(lambda: file.names(base), lambda: unreadable(path)))
        kinds = quietly(lambda: file.kinds(base, columns), lambda: unreadable(path))
        rules = _rules(columns, kinds)  # here, so that a type is refused before a sensor has a book
        quietly(file.check, lambda: unreadable(path))
        yield base, file, rules


def windows_of_lines(lines: TextIO, columns: Sequence[str], *, length: int) -> Iterator[NDArray[np.float64]]:
    """The same from CSV text as it arrives, for live use: the first line names the columns, and a blank line is a row only
    where there is one column, of which it is an empty cell.
    """
    text = _unmarked(lines)
    header = next(_rows(csv.reader(text)), [])
    rows_of_text = _rows(csv.reader(text, skipinitialspace=True))  # a quoted cell may follow a space, as in a file
    _find(columns, header)
    find_columns(columns, header)
    places = [header.index(column) for column in columns]
    rows: list[list[float]] = []
    for row in rows_of_text:
        if not row and len(header) > 1:
            continue
        rows.append([_number(row[place]) if place < len(row) else math.nan for place in places])
        if len(rows) == length:
            yield np.array(rows)
            rows = []
    if rows:
        yield np.array(rows)


def _find(columns: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a column that is not there. A close name helps; a list would show the first reading of a file without names."""
    for column in columns:
        if column not in names:
            close = get_close_matches(column, names, n=1)
            raise UsageError(
                f"the readings have no column '{column}'.",
                hint=f"Did you mean '{close[0]}'?" if close else "The first line names the columns.",
            )


def _rules(columns: Sequence[str], kinds: Mapping[str, Kind]) -> list[NumberRule]:
    """How each column is read; one that holds no numbers is refused by its type."""
    found = [rule_for(Column(name=name, role="sensitive", domain=ANY_NUMBER), kinds[name]) for name in columns]
    return [rule for rule in found if isinstance(rule, NumberRule)]


def _batches(base: Database, columns: Sequence[str], skip: int, length: int) -> Any:
    """The raw cells in the order of the file, for `memory` to read: writing the rule as SQL would load Ibis for one statement."""
    cells = ", ".join(f"c{at}" for at in range(len(columns)))
    return iter(base.reader(f"SELECT {cells} FROM staged OFFSET {int(skip)}", min(max(length, FEWEST), BATCH)))


def _next_numbers(batches: Iterator[Any], rules: Sequence[NumberRule]) -> NDArray[np.float64] | None:
    batch = next(batches, None)
    if batch is None:
        return None
    return np.column_stack([read_doubles(cells, rule) for cells, rule in zip(batch.columns, rules, strict=True)])


def _unmarked(lines: TextIO) -> Iterator[str]:
    """The lines without the mark that some programs begin a text with."""
    yield from (line.removeprefix("\ufeff") if at == 0 else line for at, line in enumerate(lines))


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """What cannot be read is a row of nothing: no reading may stop a sensor, or be quoted by an error."""
    while True:
        try:
            yield _next_row(reader)
        except StopIteration:
            return
        except csv.Error:
            yield [""]


def _next_row(reader: Iterator[list[str]]) -> list[str]:
    """A cell may be as long as in a file: given up half-way, the rest of a quoted one would be taken for rows."""
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(before)


def _number(text: str) -> float:
    """By the rule for texts: no "nan", "inf" or "1_000", which Python would read."""
    if not text.isascii() or not NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan
