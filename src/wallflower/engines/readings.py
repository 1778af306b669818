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

from wallflower.engines import expressions
from wallflower.engines.dialect import double
from wallflower.engines.duckdb.database import Database, database
from wallflower.engines.duckdb.files import File, open_file
from wallflower.engines.reading_rule import Kind, State, grammar, rule_for
from wallflower.engines.redaction import quietly, unreadable
from wallflower.errors import UsageError
from wallflower.schema.declaration import Column, Reading
from wallflower.schema.domains import Numbers

NUMBER = re.compile(grammar("."))
ANY_NUMBER = Numbers(lower=Fraction(-1), upper=Fraction(1), step=Fraction(1))
"""A domain for the rule, which asks for one; what lies outside it is the sensor's to clip."""


def windows_of_file(path: Path, columns: Sequence[str], *, length: int, skip: int = 0) -> Iterator[NDArray[np.float64]]:
    """The rows of a file from `skip` on, `length` at a time, read as a table's are; what is no number comes as NaN."""
    with _opened(path, columns) as (base, file, kinds):
        quietly(lambda: file.stage(base, columns), lambda: unreadable(path))
        batches = quietly(lambda: iter(_numbers(base, columns, kinds, skip)), lambda: unreadable(path))
        rest = np.empty((0, len(columns)))
        while (batch := quietly(lambda: next(batches, None), lambda: unreadable(path))) is not None:
            rows = np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])
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
def _opened(path: Path, columns: Sequence[str]) -> Iterator[tuple[Database, File, Mapping[str, Kind]]]:
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'.")
    file = open_file(path, None, Reading())
    with database() as base:
        quietly(lambda: file.open(base), lambda: unreadable(path))
        _find(columns, quietly(lambda: file.names(base), lambda: unreadable(path)))
        kinds = quietly(lambda: file.kinds(base, columns), lambda: unreadable(path))
        quietly(file.check, lambda: unreadable(path))
        yield base, file, kinds


def windows_of_lines(lines: TextIO, columns: Sequence[str], *, length: int) -> Iterator[NDArray[np.float64]]:
    """The same from CSV text as it arrives, for live use; the first line names the columns, and blank lines are no rows."""
    rows_of_text = _rows(csv.reader(lines))
    header = next(rows_of_text, [])
    _find(columns, header)
    places = [header.index(column) for column in columns]
    rows: list[list[float]] = []
    for row in rows_of_text:
        if not row:
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


def _numbers(base: Database, columns: Sequence[str], kinds: Any, skip: int) -> Any:
    """Batches of doubles in the order of the file, NaN where a cell holds no number."""
    import ibis

    staged = base.table("staged")
    values = {}
    for at, name in enumerate(columns):
        rule = rule_for(Column(name=name, role="sensitive", domain=ANY_NUMBER), kinds[name])
        if rule.kind is Kind.NOTHING:
            values[f"v{at}"] = double(math.nan)
            continue
        value, state = expressions.prepared(staged[f"c{at}"], rule, base.dialect)
        values[f"v{at}"] = ibis.cases((state == int(State.INSIDE), value), else_=double(math.nan))
    return base.batches(staged.select(**values).limit(None, offset=int(skip)))


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """What cannot be read is a row of nothing: no reading may stop a sensor, or be quoted by an error."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield [""]


def _number(text: str) -> float:
    """By the rule for texts: no "nan", "inf" or "1_000", which Python would read."""
    if not text.isascii() or not NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan
