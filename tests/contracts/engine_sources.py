"""The same rows in every place they can live."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.contracts.server_places import from_postgresql, from_spark
from wallflower.engines import from_frame, open_source
from wallflower.engines.base import Fetched, Repeated
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration, Drop
from wallflower.schema.domains import Bins, Categories, Dates, Numbers


def numbers(name="x", *, lower="-5", upper="5", step="0.1", outside=None, missing=None, edges=()) -> Column:
    domain = Numbers(lower=Fraction(lower), upper=Fraction(upper), step=Fraction(step))
    bins = Bins((domain.first, *edges), domain) if edges else None
    return Column(
        name=name, role="sensitive", domain=domain, outside=outside or Clip(), missing=missing or Becomes(0), bins=bins
    )


def categories(name="c", values=("a", "b", "3", "ü\n", "never"), *, outside=None, missing=None) -> Column:
    return Column(
        name=name,
        role="quasi-identifier",
        domain=Categories(tuple(values)),
        outside=outside or Drop(),
        missing=missing or Becomes(1),
    )


def dates(name="d", *, outside=None, missing=None) -> Column:
    domain = Dates(lower=date(1969, 12, 30), upper=date(2020, 2, 29))
    return Column(
        name=name,
        role="quasi-identifier",
        domain=domain,
        outside=outside or Clip(),
        missing=missing or Drop(),
        bins=Bins((domain.first, 0, 10_000), domain),
    )


def declare(*columns: Column, key: str | None = "k", **changes) -> Declaration:
    declaration = Declaration(
        id="table",
        source=None,
        key=key,
        neighbours="add-remove",
        max_rows=1000,
        reviewed=True,
        test=True,
        ledger=Path("none"),
        budgets={},
        columns={column.name: column for column in columns},
        fingerprint="0",
    )
    return replace(declaration, **changes)


def pushed_down(declaration: Declaration):
    """The declared file, with every question answered by DuckDB, as where many rows are declared."""
    return replace(open_source(declaration), held=0)


def held(source):
    """The same file, with its texts held in memory, as where few rows are declared."""
    few = open_source(source.declaration)
    assert few.declaration.max_rows <= few.held
    return few


def from_arrow(table: pa.Table, declaration: Declaration, folder: Path):
    return from_frame(table, declaration)


def from_polars(table: pa.Table, declaration: Declaration, folder: Path):
    return from_frame(pl.from_arrow(table), declaration)


def from_pandas(table: pa.Table, declaration: Declaration, folder: Path):
    return from_frame(table.to_pandas(), declaration)


def from_pandas_objects(table: pa.Table, declaration: Declaration, folder: Path):
    frame = pd.DataFrame({name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names})
    return from_frame(frame, declaration)


def from_parquet(table: pa.Table, declaration: Declaration, folder: Path):
    pq.write_table(table, folder / "rows.parquet")
    return open_source(replace(declaration, source=folder / "rows.parquet"))


def from_duckdb(table: pa.Table, declaration: Declaration, folder: Path):
    path = folder / "rows.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute('CREATE TABLE "the rows" AS SELECT * FROM given')
    return open_source(replace(declaration, source=path, source_table="the rows"))


def from_csv(table: pa.Table, declaration: Declaration, folder: Path):
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(list(row.values()) for row in table.to_pylist())
    return pushed_down(replace(declaration, source=folder / "rows.csv"))


def from_held_csv(table: pa.Table, declaration: Declaration, folder: Path):
    return held(from_csv(table, declaration, folder))


def from_json(table: pa.Table, declaration: Declaration, folder: Path):
    (folder / "rows.json").write_text(json.dumps(table.to_pylist()), encoding="utf-8")
    return pushed_down(replace(declaration, source=folder / "rows.json"))


def from_held_json(table: pa.Table, declaration: Declaration, folder: Path):
    return held(from_json(table, declaration, folder))


def from_json_lines(table: pa.Table, declaration: Declaration, folder: Path):
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
    (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
    return pushed_down(replace(declaration, source=folder / "rows.jsonl"))


def from_sqlite(table: pa.Table, declaration: Declaration, folder: Path):
    path = folder / "rows.sqlite"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    names = ", ".join(f'"{name}"' for name in table.column_names)
    marks = ", ".join("?" for _ in table.column_names)
    connection.execute(f'CREATE TABLE "the rows" ({names})')
    rows = [tuple(row.values()) for row in table.to_pylist()]
    connection.executemany(f'INSERT INTO "the rows" VALUES ({marks})', rows)
    connection.commit()
    connection.close()
    return pushed_down(replace(declaration, source=path, source_table="the rows"))


TYPED = (from_arrow, from_polars, from_pandas, from_parquet, from_duckdb, from_postgresql)
"""Places that keep the type of a column."""
SERVERS = (from_postgresql,)
"""Places that ask a server. What they are asked, Spark is asked too, in one file: one process of tests starts one JVM (`test_spark.py`)."""
UNORDERED = (from_postgresql, from_spark)
"""Places without an order of rows: a record has no place there, only a key."""
DYNAMIC = (from_pandas_objects, from_json, from_held_json, from_json_lines, from_sqlite)
"""Places where each cell has its own type."""
CSV = (from_csv, from_held_csv)
EVERYWHERE = (*TYPED, *DYNAMIC, *CSV)


class Shuffled:
    """A source whose rows come in another order in every fetch, as a database's may."""

    def __init__(self, source, seed: int = 1) -> None:
        self.source, self.declaration = source, source.declaration
        self.random = np.random.default_rng(seed)
        self.fetches = 0

    def verify(self, columns) -> None:
        self.source.verify(columns)

    @contextmanager
    def rows(self, columns):
        with self.source.rows(columns) as rows:
            yield ShuffledRows(rows, self)


class ShuffledRows:
    """Every answer but `fetch` and `stream` is the engine's own."""

    def __init__(self, rows, source: Shuffled) -> None:
        self.rows, self.source = rows, source

    def __getattr__(self, name):
        return getattr(self.rows, name)

    def fetch(self, *, numbers=(), codes=()):
        self.source.fetches += 1
        fetched = self.rows.fetch(numbers=numbers, codes=codes)
        order = self.source.random.permutation(len(fetched.numbers))
        return Fetched(fetched.numbers[order], fetched.codes[order])

    def stream(self, numbers, *, by=None):
        """Ties in another order every time, and equal rows apart."""
        self.source.fetches += 1
        for batch in self.rows.stream(numbers, by=by):
            rows = np.repeat(batch.numbers, batch.times, axis=0)
            rows = rows[self.source.random.permutation(len(rows))]
            if by is not None:
                rows = rows[np.argsort(rows[:, list(numbers).index(by)], kind="stable")]
            yield Repeated(rows, np.ones(len(rows), np.int64))
