"""What a view or a computed column inside a DuckDB file may ask for, and what nobody reaches through one."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from tests.contracts.engine_sources import declare
from tests.contracts.test_hostile_files import COLUMNS, C, D, X, opened
from wallflower.engines import open_source
from wallflower.errors import DeclarationError


def views(path):
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1.5 AS x")
        connection.execute("CREATE VIEW inside AS SELECT x + 1 AS x FROM t")
        outside = path.parent / "outside.csv"
        outside.write_text("x\n4\n")
        for name, scan in (
            ("csv", f"read_csv('{outside}')"),
            ("text", f"(SELECT content AS x FROM read_text('{outside}'))"),
            ("listing", f"(SELECT file AS x FROM glob('{outside.parent}/*'))"),
            # DuckDB lets these be until they are run, which would be after the charge.
            ("sniffed", f"(SELECT Columns AS x FROM t, sniff_csv('{outside}') WHERE t.x > 7)"),
            ("secrets", "(SELECT name AS x FROM duckdb_secrets())"),
            ("inside_and_secrets", "(SELECT x FROM t UNION ALL SELECT length(name) FROM which_secret('a', 's3'))"),
        ):
            connection.execute(f"CREATE VIEW {name} AS SELECT x FROM {scan}")
        connection.execute("CREATE MACRO told() AS TABLE SELECT value AS x FROM duckdb_settings()")
        connection.execute("CREATE VIEW settings AS SELECT x FROM told()")
        connection.execute(
            "CREATE VIEW many AS SELECT x + unnest([1, 2]) AS x FROM t, range(2) WHERE x IN (SELECT x FROM inside) OR x < 2"
        )


def test_a_view_inside_the_file_is_read_and_one_that_reaches_outside_refused(tmp_path):
    path = tmp_path / "rows.duckdb"
    views(path)
    with opened(path, "inside", X).rows(("x",)) as rows:
        assert rows.fetch(numbers=("x",)).numbers.tolist() == [[25]]
    with opened(path, "many", X).rows(("x",)) as rows:
        assert rows.fetch(numbers=("x",)).numbers.tolist() == [[25], [35]] * 2
    for name in ("csv", "text", "listing", "sniffed", "secrets", "inside_and_secrets", "settings"):
        source = opened(path, name, X)
        with pytest.raises(DeclarationError, match=r"outside 'rows\.duckdb'"):
            source.verify(("x",))
        with pytest.raises(DeclarationError, match=r"outside 'rows\.duckdb'"):
            source.rows(("x",)).__enter__()


@pytest.mark.parametrize("held", [1000, 0])
@pytest.mark.parametrize("key", ["c", None])
def test_a_column_that_cannot_be_computed_for_a_row_has_a_missing_cell_there(held, key, tmp_path):
    """DuckDB computes a cell when its row is put in, and lets the row be changed into one that has none."""
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t (y VARCHAR, x INTEGER AS (CAST(y AS INTEGER)), c VARCHAR AS (chr(CAST(y AS INTEGER) + 96)),"
            " d DATE DEFAULT DATE '2000-01-02')"
        )
        connection.execute("INSERT INTO t (y) VALUES ('1'), ('2'), ('3')")
        connection.execute("UPDATE t SET y = 'none' WHERE y = '2'")
    declaration = replace(declare(X, C, D, key=key), source=path, source_table="t")
    source = replace(open_source(declaration), held=held)
    source.refuse_damage(COLUMNS)
    with source.rows(COLUMNS) as rows:
        assert rows.fetch(numbers=COLUMNS).numbers.tolist() == [[10, 0, 10_958], [-7, 1, 10_958], [30, 2, 10_958]]


def test_a_column_that_is_another_whenever_it_is_read_is_refused_by_its_name(tmp_path):
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (c VARCHAR, x DOUBLE AS (random()), y DOUBLE DEFAULT random())")
        connection.execute("INSERT INTO t (c) VALUES ('a')")
    with pytest.raises(DeclarationError, match="column 'x' is computed anew whenever it is read"):
        opened(path, "t", X).verify(("x",))
    opened(path, "t", X, C).verify(("c",))
    y = replace(X, name="y")
    opened(path, "t", y).verify(("y",))  # drawn once, when its row was put in


@pytest.mark.parametrize("name", ["staged", "answers", "indexed_c0_c1"])
def test_a_view_means_the_tables_of_its_own_file(name, tmp_path):
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE {name} AS SELECT 'a' AS c, 1.5 AS x")
        connection.execute(f"CREATE VIEW seen AS SELECT c, x FROM {name}")
    for held in (1000, 0):
        with replace(opened(path, "seen", C, X), held=held).rows(("c", "x")) as rows:
            assert rows.fetch(numbers=("c", "x")).numbers.tolist() == [[0, 15]]
            assert [rows.cells(["c"], "x", 0).counts.sum() for _ in range(2)] == [1, 1]


def test_an_open_source_reaches_nothing_but_its_file_and_stays_so(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1\n")
    (tmp_path / "other.csv").write_text("x\n2\n")
    with opened(tmp_path / "rows.csv", None, X).open(("x",)) as rows:
        for statement in (
            f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')",
            f"ATTACH '{tmp_path / 'new.duckdb'}'",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            "SET enable_external_access = true",
            "SET allowed_paths = ['/']",
            "SET disabled_optimizers = ''",  # what the lock alone refuses
        ):
            with pytest.raises(duckdb.Error):
                rows.base.run(statement)
