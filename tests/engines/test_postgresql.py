"""What only a server can do wrong: tell what it saw, mix two states, let strangers in, compare by its own rules."""

from __future__ import annotations

import calendar
import math
import random
import re
from dataclasses import replace
from decimal import Decimal

import psycopg
import pyarrow as pa
import pytest

from tests.contracts.engine_reference import Reference, agree
from tests.contracts.engine_sources import categories, dates, declare, numbers
from tests.contracts.server_places import from_postgresql, from_postgresql_icu, from_postgresql_nocase, postgresql
from tests.contracts.test_engines import KEYS, text_table
from tests.contracts.test_people import people, table_of
from wallflower.engines import open_source
from wallflower.engines.postgresql.dialect import EXISTS
from wallflower.engines.postgresql.snapshot import Snapshot
from wallflower.engines.postgresql.wire import integers
from wallflower.errors import DeclarationError, ReleaseFailed
from wallflower.schema.declaration import Becomes, Drop

CANARY = "canary-5521"
X, C = numbers(edges=(-10, 0, 3)), categories(outside=Becomes(4))


def run(*statements):
    with psycopg.connect(postgresql().address(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def source(table, *columns, key=None, user="postgres", **changes):
    declaration = declare(*(columns or (X, C)), key=key, **changes)
    return open_source(replace(declaration, source=postgresql().address(user=user), source_table=table))


@pytest.mark.parametrize("place", [from_postgresql_icu, from_postgresql_nocase], ids=lambda make: make.__name__)
def test_collations_quoting_and_case_change_nothing(place, tmp_path):
    declaration = declare(X, categories(), dates())
    reference = Reference(declaration, ("x", "c", "d"), text_table().to_pylist())
    with place(text_table(), declaration, tmp_path).rows(("x", "c", "d")) as rows:
        agree(rows, reference, by=["d", "c"], metric="x", centres=(3,), keys=KEYS, sides=(2,))


def test_names_that_need_quoting_are_columns_like_others(tmp_path):
    odd = {'x "y"': [1.0], "Größe; --": ["a"], "%s": [3], "select": [4]}
    declaration = declare(
        numbers('x "y"'), categories("Größe; --", ("a",)), numbers("%s"), numbers("select"), key="select"
    )
    with from_postgresql(pa.table(odd), declaration, tmp_path, schema='my.schema "quoted"').rows(tuple(odd)) as rows:
        assert rows.fetch(numbers=tuple(odd)).numbers.tolist() == [[10, 0, 30, 40]]
        assert rows.record("4").numbers["%s"] == 30


def test_any_text_becomes_the_nearest_double(tmp_path):
    reads_any_double(from_postgresql, tmp_path)


def reads_any_double(place, tmp_path):
    draw, cells = random.Random(5), []
    for power in (-325, -324, -323, -322, -310, -30, 0, 30, 307, 308, 309, 400):
        for _ in range(4):
            digits = "".join(draw.choice("0123456789") for _ in range(draw.choice([1, 17, 40, 780])))
            cells += [
                f"{digits[0]}.{digits[1:]}e{power}",
                f"-{digits}e{power - len(digits)}",
                f"0.{'0' * 20}{digits}E+{power + 20}",
            ]
    cells += ["1.7976931348623157e308", "1.7976931348623158e308", "1.797693134862315807e308", "1.7976931348623159e308"]
    cells += [
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "4.9e-324",
        "0e999999999999999999999",
        "1e-99999999999999999999",
    ]
    cells += [
        "1" * 400,
        "1" * 5000 + "e-4999",
        "0" * 400 + ".5",
        "." + "0" * 400 + "1",
        "." + "0" * 400 + "1e401",
        "00000e5",
    ]
    column = numbers(lower="-1e308", upper="1e308", step="1e305", missing=Becomes(7))
    tiny = numbers("t", lower="-1e-307", upper="1e-307", step="1e-310", missing=Becomes(7))
    table = pa.table({"x": cells, "t": cells})
    with place(table, declare(column, tiny, key=None), tmp_path).rows(("x", "t")) as rows:
        expected = Reference(rows.declaration, ("x", "t"), table.to_pylist()).numbers(("x", "t"))
        assert sorted(rows.fetch(numbers=("x", "t")).numbers.tolist()) == sorted(expected)


def test_wide_numerics_are_read_whole_and_compared_like_decimals():
    name = "wide"
    values = [
        "0.05",
        "1e400",
        "-1e400",
        "NaN",
        "1e-400",
        "99999999999999999999999999999999999999999999.5",
        "3.00",
        "-5.04",
    ]
    run(
        f"CREATE TABLE {name} (x numeric, c numeric)",
        *(f"INSERT INTO {name} VALUES ('{value}', '{value}')" for value in [*values, "Infinity", "-Infinity"]),
        f"INSERT INTO {name} VALUES (NULL, NULL)",
    )
    column = categories(values=("3", "0.05", "1e400"), outside=Becomes(0), missing=Becomes(2))
    with source(name, X, column).rows(("x", "c")) as rows:
        read = sorted(rows.fetch(numbers=("x", "c")).numbers.tolist())
    doubles = [float(Decimal(value)) for value in values] + [math.inf, -math.inf]
    steps = [0 if math.isnan(d) else 50 if d > 5 else -50 if d < -5 else math.floor(d * 10 + 0.5) for d in doubles]
    codes = [{"3.00": 0, "0.05": 1, "NaN": 2}.get(value, 0) for value in values] + [0, 0]
    # 1e400 is infinite as a double, and so is the declared text: they are the same.
    codes = [2 if math.isinf(d) and d > 0 else code for d, code in zip(doubles, codes, strict=True)]
    assert read == sorted([[s, c] for s, c in zip(steps, codes, strict=True)] + [[0, 2]])


@pytest.mark.parametrize(
    "type_",
    ["bigint[]", "json", "jsonb", "bytea", "time", "interval", "point", "money", "inet", "int4range", "xml", "bit"],
)
def test_types_that_cannot_be_read_are_refused_by_type(type_):
    table = f"refused_{type_.replace('[]', '_array')}"
    run(f"CREATE TABLE {table} (x {type_})")
    for column in (numbers(), categories("x"), dates("x")):
        with pytest.raises(DeclarationError, match="'x' has a type"):
            source(table, column).verify(("x",))


def test_domains_enums_short_texts_and_identifiers_are_read():
    run(
        "CREATE TYPE mood AS ENUM ('a', 'b')",
        "CREATE DOMAIN score AS numeric CHECK (VALUE < 1000)",
        "CREATE TABLE strange (x score, c mood, k uuid, f char(5))",
        "INSERT INTO strange VALUES (1.5, 'b', '12345678-1234-1234-1234-123456789abc', 'a')",
    )
    with source("strange", X, C, categories("f", ("a", "b")), key="k").rows(("x", "c", "f")) as rows:
        assert rows.record("12345678-1234-1234-1234-123456789abc").numbers == {"x": 15, "c": 1, "f": 0}
        assert rows.record("12345678-1234-1234-1234-123456789ABC") is None


def test_a_release_sees_one_state_of_the_table():
    run("CREATE TABLE busy (x double precision)", "INSERT INTO busy SELECT 1 FROM generate_series(1, 100)")
    with source("busy", X).rows(("x",)) as rows:
        before = len(rows.fetch(numbers=("x",)).numbers)
        run("INSERT INTO busy SELECT 2 FROM generate_series(1, 50)", "DELETE FROM busy WHERE x = 1")
        assert len(rows.fetch(numbers=("x",)).numbers) == before == 100
        assert rows.cells(["x"], "x", 0).counts.sum() == 100
    with source("busy", X).rows(("x",)) as rows:
        assert len(rows.fetch(numbers=("x",)).numbers) == 50


def test_the_transaction_writes_nothing():
    run("CREATE TABLE quiet (x double precision)")
    with source("quiet", X).open(("x",)) as rows, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        rows.base.run("INSERT INTO public.quiet VALUES (1)")
    with source("quiet", X).open(("x",)) as rows, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        rows.base.run("CREATE TABLE public.other (x int)")


def test_one_right_is_enough_and_less_is_refused_before_the_charge():
    run(
        "CREATE TABLE secret_rows (x double precision, c text, d text)",
        "INSERT INTO secret_rows VALUES (1, 'a', 'hidden')",
        "CREATE VIEW shown AS SELECT x, c FROM secret_rows",
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN",
        "GRANT SELECT ON shown TO reader",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE ON SCHEMA public TO reader",
    )
    with source("shown", user="reader").rows(("x", "c")) as rows:
        assert rows.fetch(numbers=("x", "c")).numbers.tolist() == [[10, 0]]
    with pytest.raises(DeclarationError, match="may not read column 'x'"):
        source("secret_rows", user="reader").verify(("x", "c"))


def test_nothing_asked_and_no_cell_is_in_the_servers_log_or_an_error(capfd):
    server = postgresql()
    run(
        "CREATE TABLE told (k text, x text, c text, d text)",
        f"INSERT INTO told SELECT '{CANARY}' || i, '{CANARY}', '{CANARY}', '{CANARY}' FROM generate_series(1, 3) AS i",
        "INSERT INTO told VALUES ('1e999', '1e999', '\\x', '2019-02-29'), ('4242424', '42.42', 'a', '0000-00-00')",
    )
    start = server.log.stat().st_size
    with source("told", X, C, dates(missing=Becomes(0)), key="k").rows(("x", "c", "d")) as rows:
        rows.fetch(numbers=("x", "d"), codes=("c",))
        rows.cells(["c"], "x", 31)
        rows.nearest(["c"], "x", 31, 2)
        rows.between(["c"], "x", 31, 32)
        assert rows.record(f"{CANARY}1") is not None
        with psycopg.connect(server.address()) as watching:
            statements = watching.execute(
                "SELECT query FROM pg_stat_activity WHERE application_name = 'wallflower'"
            ).fetchall()
    log = server.log.read_bytes()[start:].decode()
    out, err = capfd.readouterr()
    assert statements
    assert CANARY not in log + out + err + repr(statements)
    assert "ERROR" not in log


def test_a_broken_server_tells_nothing():
    run(
        "CREATE TABLE cells_ (x text)",
        f"INSERT INTO cells_ VALUES ('{CANARY}')",
        "CREATE VIEW breaks AS SELECT CAST(x AS double precision) AS x FROM cells_",
    )
    with source("breaks", X).rows(("x",)) as rows, pytest.raises(ReleaseFailed) as caught:
        rows.fetch(numbers=("x",))
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


def test_what_is_not_there_is_refused_by_name_and_without_a_secret(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", CANARY)
    run("CREATE TABLE plain (x double precision)")
    with pytest.raises(DeclarationError, match=r"no table 'public\.gone'"):
        source("gone", X).verify(("x",))
    with pytest.raises(DeclarationError, match="no column 'c'"):
        source("plain").verify(("x", "c"))
    with pytest.raises(DeclarationError, match="table ="):
        source(None, X).verify(("x",))
    with pytest.raises(DeclarationError, match="names no table"):
        source('a.b."c', X).verify(("x",))
    nowhere = replace(declare(X, key=None), source="postgresql://127.0.0.1:1/db", source_table="t")
    with pytest.raises(DeclarationError, match=r"'127\.0\.0\.1:1/db' does not answer") as caught:
        open_source(nowhere).verify(("x",))
    assert CANARY not in repr(caught.value) + str(caught.value)


def test_a_shadowed_function_of_somebody_else_is_not_called():
    run(
        "CREATE SCHEMA IF NOT EXISTS trap",
        "CREATE OR REPLACE FUNCTION trap.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'trapped' $$",
        "ALTER ROLE postgres SET search_path = trap, pg_catalog, public",
        "CREATE TABLE IF NOT EXISTS public.steady (x double precision)",
    )
    try:
        with source("steady", X).open(("x",)) as rows:
            assert rows.base.run("SHOW search_path") == [("pg_catalog",)]
    finally:
        run("ALTER ROLE postgres RESET search_path")


def test_the_wire_is_read_in_any_pieces_and_never_beyond_what_was_asked():
    with psycopg.connect(postgresql().address()) as connection, connection.cursor() as cursor:
        statement = "COPY (SELECT i::bigint, (-i)::int FROM generate_series(1, 1000) AS i) TO STDOUT (FORMAT BINARY)"
        with cursor.copy(statement) as copy:
            whole = b"".join(bytes(block) for block in copy)
    for size in (1, 7, 19, 4096, len(whole)):
        batches = list(integers((whole[at : at + size] for at in range(0, len(whole), size)), [8, 4]))
        assert [row["v0"] for batch in batches for row in batch.to_pylist()] == list(range(1, 1001))
        assert all(row["v1"] == -row["v0"] for batch in batches for row in batch.to_pylist())
    for spoilt in (whole[:-2], whole[:-1], whole[1:], whole.replace(b"\x00\x00\x00\x08", b"\x00\x00\x00\x04", 1), b""):
        with pytest.raises(ValueError, match="PostgreSQL"):
            list(integers([spoilt], [8, 4]))


def test_rows_that_leave_are_not_fetched(tmp_path):
    table = pa.table({"x": ["1", "no", None], "c": ["a", "zz", "a"]})
    declaration = declare(numbers(missing=Drop()), C, key=None)
    with from_postgresql(table, declaration, tmp_path).rows(("x", "c")) as rows:
        assert rows.fetch(numbers=("x",), codes=("c",)).numbers.tolist() == [[10]]


def test_the_days_of_the_calendar_are_known_by_their_digits():
    days = re.compile(EXISTS)
    years = (
        1,
        4,
        96,
        99,
        100,
        104,
        300,
        400,
        1600,
        1700,
        1900,
        1996,
        1999,
        2000,
        2004,
        2023,
        2096,
        2100,
        4000,
        9996,
        9999,
    )
    for year in years:
        for month in range(14):
            last = calendar.monthrange(year, month)[1] if 1 <= month <= 12 else 0
            found = [day for day in range(100) if days.search(f"{year:04}-{month:02}-{day:02}")]
            assert found == list(range(1, last + 1)), (year, month)


def test_the_rows_of_people_are_read_once_in_a_statement(tmp_path, monkeypatch):
    """Sums, most common and latest cells each look at them; read as often, they cost as many times as much."""
    plans, plain = [], Snapshot.run

    def explained(self, statement, *values):
        if statement.startswith("WITH"):
            plans.append("\n".join(line for (line,) in plain(self, f"EXPLAIN {statement}", *values)))
        return plain(self, statement, *values)

    monkeypatch.setattr(Snapshot, "run", explained)
    declaration = people(x="sum", c="most-common", d="latest")
    with from_postgresql(table_of(), declaration, tmp_path).rows(("x", "c", "d", "n")) as rows:
        assert rows.record("P1") is not None
    (plan,) = plans
    assert plan.count("Seq Scan on") == 1
