"""The same rows on a server: one for each process that runs tests, started when the first test needs it."""

from __future__ import annotations

import atexit
from dataclasses import replace
from functools import cache
from itertools import count

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as t

from tests.servers import spark
from tests.servers.postgresql import Server, discard, make
from wallflower.engines import open_source

NUMBER = count()


@cache
def postgresql() -> Server:
    server = make()
    atexit.register(discard, server)
    server.execute("CREATE COLLATION IF NOT EXISTS icu (provider = icu, locale = 'en-US')")
    server.execute(
        "CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    )
    server.execute('CREATE SCHEMA "my.schema ""quoted"""')
    return server


def postgresql_type(type_: pa.DataType) -> str:
    tests = {
        "bigint": lambda each: t.is_int64(each) or t.is_int32(each),
        "numeric(20)": t.is_uint64,
        "smallint": t.is_integer,
        "real": t.is_float32,
        "double precision": t.is_floating,
        "boolean": t.is_boolean,
        "date": t.is_date,
        "text": lambda each: t.is_string(each) or t.is_large_string(each) or t.is_null(each),
        "bytea": t.is_binary,
        "jsonb": t.is_struct,
        "bigint[]": t.is_list,
    }
    if t.is_decimal(type_):
        return f"numeric({type_.precision}, {type_.scale})"
    if t.is_timestamp(type_):
        return "timestamptz" if type_.tz else "timestamp"
    return next(name for name, test in tests.items() if test(type_))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def from_postgresql(table: pa.Table, declaration, folder, *, collation: str | None = None, schema: str = "public"):
    import psycopg
    from psycopg.types.json import Jsonb

    server = postgresql()
    name = f"The rows {next(NUMBER)}"
    place = f"{quoted(schema)}.{quoted(name)}"
    collate = f" COLLATE {quoted(collation)}" if collation else ""
    types = [postgresql_type(type_) for type_ in table.schema.types]
    columns = ", ".join(
        f"{quoted(column)} {type_}{collate if type_ == 'text' else ''}"
        for column, type_ in zip(table.column_names, types, strict=True)
    )
    rows = [
        tuple(Jsonb(cell) if isinstance(cell, dict) else cell for cell in row.values()) for row in table.to_pylist()
    ]
    with psycopg.connect(server.address(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {place} ({columns})")
        marks = ", ".join(["%s"] * len(types))
        if rows:
            cursor.executemany(f"INSERT INTO {place} VALUES ({marks})", rows)
    return open_source(replace(declaration, source=server.address(), source_table=f"{quoted(schema)}.{quoted(name)}"))


def from_postgresql_icu(table, declaration, folder):
    return from_postgresql(table, declaration, folder, collation="icu", schema='my.schema "quoted"')


def from_postgresql_nocase(table, declaration, folder):
    """A collation under which texts that differ are equal."""
    return from_postgresql(table, declaration, folder, collation="nocase")


def from_spark(table: pa.Table, declaration, folder):
    """Parquet that Spark reads, in a session of this process."""
    spark.session()
    pq.write_table(table, folder / "rows.parquet", coerce_timestamps="us")
    return open_source(replace(declaration, source="spark:", source_table=str(folder / "rows.parquet")))


SERVERS = (from_postgresql, from_postgresql_icu, from_postgresql_nocase)
