"""One read-only transaction: every question asked in it sees the same state of the table.

What somebody asked about (a key, a centre) never stands in a statement: it is bound to a setting of the transaction and
read from there. Statements hold declared things alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from wallflower.engines.dialect import Dialect
from wallflower.engines.postgresql.dialect import PostgresDialect
from wallflower.engines.postgresql.wire import integers
from wallflower.engines.redaction import quietly
from wallflower.errors import DeclarationError, WallflowerError

PATIENCE_S = {"connect_timeout": 10, "statement": 3600, "lock": 10, "idle": 3600}
"""Seconds: to reach the server, for one statement, for a lock, and between two statements."""
BEGIN = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
SETTINGS = {
    # No function or operator of somebody else's is found, dates are days in UTC, numbers arrive whole.
    "search_path": "pg_catalog",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "statement_timeout": f"{PATIENCE_S['statement']}s",
    "lock_timeout": f"{PATIENCE_S['lock']}s",
    "idle_in_transaction_session_timeout": f"{PATIENCE_S['idle']}s",
}
CASTS = {"int64": "bigint", "uint64": "numeric", "string": "text", "float64": "double precision", "date": "date"}


@dataclass(frozen=True)
class Snapshot:
    """Ibis writes the SQL; named expressions travel with each statement, since a read-only transaction defines no view."""

    connection: Any
    dialect: Dialect = field(default_factory=PostgresDialect)
    schemas: dict[str, Mapping[str, str]] = field(default_factory=dict)
    statements: dict[str, str] = field(default_factory=dict)
    bound: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.RawCursor(self.connection) as cursor:
            return list(cursor.execute(statement, values, binary=True).fetchall())

    def define(self, name: str, statement: str, schema: Mapping[str, str]) -> Any:
        self.statements.pop(name, None)  # in the order of use: each may name those before it
        self.statements[name] = statement
        self.schemas[name] = schema
        return self.table(name)

    def view(self, name: str, expression: Any, *, asked: bool = False) -> Any:
        compiled = self.dialect.compiled if asked else self.dialect.compiled_once
        schema = {column: str(type_) for column, type_ in expression.schema().items()}
        # OFFSET 0 keeps PostgreSQL from writing the expression out at every use of its columns.
        return self.define(name, f"{compiled(expression)} OFFSET 0", schema)

    def hold(self, name: str, expression: Any) -> Any:
        """A view that the server evaluates once in a statement, where the statement names it more than once."""
        self.held.add(name)
        return self.view(name, expression)

    def table(self, name: str) -> Any:
        import ibis

        return ibis.table(self.schemas[name], name=name)

    def asked(self, value: Any, type_: str) -> Any:
        import ibis

        name = f"asked{len(self.bound)}"
        self.run("SELECT set_config($1, $2, true)", f"wallflower.{name}", str(value))
        self.bound.append(name)
        self.define(name, f"SELECT CAST(current_setting('wallflower.{name}') AS {CASTS[type_]}) AS p", {"p": type_})
        return ibis.table({"p": type_}, name=name).p.as_scalar()

    def number(self, expression: Any) -> int:
        return int(self.run(self._whole(expression.as_table()))[0][0])

    def arrow(self, expression: Any) -> Any:
        import pyarrow as pa

        schema = expression.schema()
        rows = self.run(self._whole(expression))
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        types = [pa.string() if str(type_) == "string" else None for type_ in schema.types]
        whole = [type_.is_integer() for type_ in schema.types]
        arrays = [
            pa.array(column, type_ or (pa.int64() if integer else None))
            for column, type_, integer in zip(columns, types, whole, strict=True)
        ]
        return pa.table(arrays, names=list(schema.names))

    def batches(self, expression: Any) -> Iterator[Any]:
        """Whole numbers that are never NULL, by binary COPY."""
        widths = [8 if str(type_) == "int64" else 4 for type_ in expression.schema().types]
        statement = f"COPY ({self._whole(expression)}) TO STDOUT (FORMAT BINARY)"
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            yield from integers(copy, widths)

    def _whole(self, expression: Any) -> str:
        """With the named expressions that it needs, and no other: the server would read them all."""
        statement = self.dialect.compiled(expression)
        needed: list[str] = []
        for name, text in reversed(self.statements.items()):
            if any(f'"{name}"' in each for each in (statement, *needed)):
                needed.insert(0, f'"{name}" AS {"" if name in self.held else "NOT MATERIALIZED "}({text})')
        return f"WITH {', '.join(needed)} SELECT * FROM ({statement}) AS answer" if needed else statement


@contextmanager
def snapshot(address: str) -> Iterator[Snapshot]:
    """Rolled back and closed however the block ends; the password comes from the environment or a passfile."""
    connection = quietly(lambda: _connect(address), lambda: unreachable(address))
    try:
        yield Snapshot(connection)
    finally:
        connection.close()


def unreachable(address: str) -> WallflowerError:
    place = address.partition("://")[2].partition("?")[0].rpartition("@")[2]
    return DeclarationError(
        f"the PostgreSQL server at '{place}' does not answer, or does not let you in.",
        hint="Check the address, and the user and password that libpq finds (PGUSER, PGPASSWORD, PGPASSFILE, ~/.pgpass).",
    )


def _connect(address: str) -> Any:
    import psycopg

    connection = psycopg.connect(
        address,
        autocommit=True,
        connect_timeout=PATIENCE_S["connect_timeout"],
        application_name="wallflower",
        client_encoding="UTF8",
    )
    try:
        connection.prepare_threshold = None
        connection.execute(BEGIN)
        for name, value in SETTINGS.items():
            connection.execute("SELECT set_config(%s, %s, true)", (name, value))
    except BaseException:
        connection.close()
        raise
    return connection
