"""One declaration with only its source changed: the same seeded release of every area, wherever the rows are."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contracts.server_places import NUMBER, postgresql, quoted
from wallflower.engines import open_source
from wallflower.errors import DeclarationError
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.schema.declaration import Declaration
from wallflower.session import Session


def cells(path: Path) -> pa.Table:
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(names)})


def in_csv(declared: Declaration) -> Declaration:
    return declared


def in_parquet(declared: Declaration) -> Declaration:
    path = Path(declared.source).with_suffix(".parquet")
    pq.write_table(cells(Path(declared.source)), path)
    return replace(declared, source=path)


def in_duckdb(declared: Declaration) -> Declaration:
    path, table = Path(declared.source).with_suffix(".duckdb"), cells(Path(declared.source))
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return replace(declared, source=path, source_table="t")


def in_postgresql(declared: Declaration) -> Declaration:
    table, name = cells(Path(declared.source)), f"release{next(NUMBER)}"
    columns = ", ".join(f"{quoted(column)} text" for column in table.column_names)
    with psycopg.connect(postgresql().address(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join(["%s"] * len(table.column_names))
        # Back to front: no answer depends on the order of rows.
        rows = [tuple(row.values()) for row in reversed(table.to_pylist())]
        cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return replace(declared, source=postgresql().address(), source_table=name)


PLACES = (in_csv, in_parquet, in_duckdb, in_postgresql)


def test_the_same_seeded_release_everywhere(example, tmp_path):
    answers = {}
    for place in PLACES:
        folder = tmp_path / place.__name__
        folder.mkdir()
        declared = load(example.lay_out(folder, test=True))
        Ledger.init(declared)
        moved = place(declared)
        query = example.query(folder)
        if moved.key is None and example.name.startswith("explain") and place is in_postgresql:
            with pytest.raises(DeclarationError, match="no order"):
                query.price(moved)
            continue
        answers[place.__name__] = Session(moved, open_source(moved), seed=11).release(query).value
    assert len(answers) >= 3
    assert all(answer == answers["in_csv"] for answer in answers.values()), answers
