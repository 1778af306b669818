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

from tests.contracts.engine_sources import Shuffled
from tests.contracts.registry import every_example
from tests.contracts.server_places import NUMBER, postgresql, quoted
from wallflower.engines import from_frame, open_source
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


TWO = (in_csv, in_postgresql)
PLACES = (in_csv, in_parquet, in_duckdb, in_postgresql)
"""Spark is asked in `test_spark.py`, beside everything else that needs its JVM."""


REFUSED = object()


def released(place, example, tmp_path: Path):
    """The value of a seeded release; REFUSED where rows have no order and the question needs one."""
    folder = tmp_path / place.__name__
    folder.mkdir()
    declared = load(example.lay_out(folder, test=True))
    Ledger.init(declared)
    moved = place(declared)
    query = example.query(folder)
    if moved.key is None and example.name.startswith("explain") and isinstance(moved.source, str):
        with pytest.raises(DeclarationError, match="no order"):
            query.price(moved)
        return REFUSED
    return Session(moved, open_source(moved), seed=11).release(query).value


FILES = {"count-by-group", "subspaces", "explain exact", "identify", "publish-matching"}
"""One of each command is asked in every kind of file too, which one engine reads; of the others, the campaign asks them."""


@pytest.mark.parametrize(
    ("example", "places"),
    [
        *(pytest.param(one, PLACES if one.name in FILES else TWO, id=one.label) for one in every_example()),
        *(
            pytest.param(one, PLACES, id=f"{one.label} in every file", marks=pytest.mark.campaign)
            for one in every_example()
            if one.name not in FILES
        ),
    ],
)
def test_the_same_seeded_release_everywhere(example, places, tmp_path):
    answers = {place.__name__: released(place, example, tmp_path) for place in places}
    given = {name: answer for name, answer in answers.items() if answer is not REFUSED}
    assert len(given) > len(places) // 2
    assert all(answer == given["in_csv"] for answer in given.values()), given


def in_memory(declared: Declaration) -> Declaration:
    return replace(declared, source=None)


NEAR = [each for each in every_example() if each.command[0] not in {"explain", "publish"}]


def moved_with_little_memory(example, folder: Path, place) -> Declaration:
    folder.mkdir()
    declared = load(example.lay_out(folder, test=True))
    Ledger.init(declared)
    return place(declared if place is in_csv else replace(declared, memory=1024))


@pytest.mark.parametrize("near", [each for each in NEAR if not each.holds_all_rows], ids=lambda each: each.label)
def test_a_memory_too_small_for_the_rows_changes_no_answer(near, tmp_path):
    """The same seeded release where all rows are held, and where they are read in strips, wherever they are."""
    answers = {}
    for place in (in_csv, in_memory, in_parquet, in_postgresql):
        folder = tmp_path / place.__name__
        moved, query = moved_with_little_memory(near, folder, place), near.query(folder)
        assert query.price(moved).settings["plan"].startswith("fetch" if place is in_csv else ("tiles", "batches"))
        frame = cells(folder / "rows.csv")
        source = Shuffled(from_frame(frame, moved)) if moved.source is None else open_source(moved)
        answers[place.__name__] = Session(moved, source, seed=11).release(query).value
    assert all(answer == answers["in_csv"] for answer in answers.values()), answers


@pytest.mark.parametrize("near", [each for each in NEAR if each.holds_all_rows], ids=lambda each: each.label)
def test_what_must_hold_all_rows_is_refused_where_they_do_not_fit(near, tmp_path):
    moved = moved_with_little_memory(near, tmp_path / "little", in_parquet)
    with pytest.raises(DeclarationError, match="holds all rows at once"):
        near.query(tmp_path).price(moved)
