"""What others can see of a release on a PostgreSQL server, and what ends it: logs, process lists, time-outs, collations."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from tests.contracts.engine_sources import categories, numbers
from tests.contracts.server_places import from_postgresql_icu, from_postgresql_nocase, postgresql
from tests.contracts.test_people import READ, capped, people, same_people, table_of
from tests.engines.test_postgresql import run, source
from wallflower.engines.postgresql import snapshot
from wallflower.errors import ReleaseFailed
from wallflower.schema.declaration import Becomes

CANARY = "canary-3318"
X, C = numbers(edges=(-10, 0, 3)), categories(outside=Becomes(4))


def rows_of(table: str) -> None:
    run(
        f"DROP TABLE IF EXISTS {table}",
        f"CREATE TABLE {table} (k text, x text, c text)",
        f"INSERT INTO {table} VALUES ('{CANARY}1', '{CANARY}2', '{CANARY}3'), ('2', '1', 'a')",
    )


def test_a_server_that_logs_every_statement_logs_no_asked_value_and_no_cell():
    """The docs say so: what is asked is a parameter, and parameters are logged by a setting of their own."""
    server = postgresql()
    rows_of("logged")
    run("ALTER ROLE postgres SET log_statement = 'all'", "ALTER ROLE postgres SET log_parameter_max_length = 0")
    start = server.log.stat().st_size
    try:
        with source("logged", X, C, key="k").rows(("x", "c")) as rows:
            assert rows.record(f"{CANARY}1") is not None
            rows.cells(["c"], "x", 313371)
            rows.nearest(["c"], "x", 313371, 2)
            rows.between(["c"], "x", 313371, 313371)
            rows.fetch(numbers=("x",), codes=("c",))
    finally:
        run("ALTER ROLE postgres RESET log_statement", "ALTER ROLE postgres RESET log_parameter_max_length")
    log = server.log.read_bytes()[start:].decode()
    assert log.count('"logged"') >= 4
    assert "COPY (" in log
    assert CANARY not in log
    assert "313371" not in log


def test_a_secret_and_what_is_asked_stand_in_no_list_of_processes(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", f"secret-{CANARY}")
    rows_of("listed")
    with source("listed", X, C, key="k").rows(("x", "c")) as rows:
        assert rows.record(f"{CANARY}1") is not None
        listed = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _mine_or_postgres(path)]
        with psycopg.connect(postgresql().address()) as watching:
            activity = watching.execute("SELECT query FROM pg_stat_activity").fetchall()
    assert any(b"postgres" in line for line in listed)
    assert not any(CANARY.encode() in line for line in listed)
    assert CANARY not in repr(activity)


def _mine_or_postgres(path: Path) -> bool:
    try:
        return b"pytest" in path.read_bytes() or b"postgres" in path.read_bytes()
    except OSError:
        return False  # it ended meanwhile


def test_a_statement_that_takes_too_long_is_ended_and_tells_nothing(monkeypatch):
    assert snapshot.SETTINGS["statement_timeout"] == "3600s"
    assert snapshot.SETTINGS["lock_timeout"] == "10s"
    monkeypatch.setitem(snapshot.SETTINGS, "statement_timeout", "50ms")
    run(
        "CREATE OR REPLACE VIEW slow_rows AS "
        f"SELECT 1.0::float8 + CASE WHEN pg_sleep(3600) IS NULL THEN 1 ELSE 0 END AS x, '{CANARY}'::text AS c",
    )
    with source("slow_rows", X, C).rows(("x", "c")) as rows, pytest.raises(ReleaseFailed) as caught:
        rows.fetch(numbers=("x",), codes=("c",))
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_table_that_is_locked_is_not_waited_for_long(monkeypatch):
    monkeypatch.setitem(snapshot.SETTINGS, "lock_timeout", "50ms")
    rows_of("locked")
    with psycopg.connect(postgresql().address()) as other:
        other.execute("LOCK TABLE locked IN ACCESS EXCLUSIVE MODE")
        with source("locked", X, C).rows(("x", "c")) as rows, pytest.raises(ReleaseFailed):
            rows.fetch(numbers=("x",))


@pytest.mark.parametrize("place", [from_postgresql_icu, from_postgresql_nocase], ids=lambda make: make.__name__)
def test_people_are_told_apart_whatever_the_collation(place, tmp_path):
    """Under `nocase` P1 and p1 are one text to the server."""
    for declaration in (people(x="sum", c="most-common", d="latest", read=READ), capped(2, read=READ)):
        names = tuple(declaration.columns)
        same_people(place(table_of(), declaration, tmp_path), declaration, table_of(), columns=names)


def test_any_ids_that_differ_by_an_accent_alone_are_two_people(tmp_path):
    ids = ["é", "e\u0301", "e", "E"]
    table = pa.table({"k": ids, "x": ["1"] * 4, "c": ["a"] * 4, "d": ["2000-01-01"] * 4, "t": ["2000-01-01"] * 4})
    declaration = people(x="sum")
    reference = same_people(from_postgresql_nocase(table, declaration, tmp_path), declaration, table, keys=ids)
    assert len(reference.all) == 4
