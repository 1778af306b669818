"""The declared columns of a table, copied once onto the executors: every question sees the same rows.

The copy has no lineage (`localCheckpoint`): an executor that is lost with a part of it fails the release, and no part is read anew
from a table that may have changed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from wallflower.engines.dialect import Dialect, double
from wallflower.engines.redaction import broken, quietly
from wallflower.engines.spark.dialect import SparkDialect
from wallflower.errors import DeclarationError, WallflowerError

SETTINGS = {
    # Days are days in UTC; what does not fit is an error or NULL, never wrapped around.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}


@dataclass(frozen=True)
class Snapshot:
    """Named expressions travel with each statement; only the copy has a name in the session, which nobody else guesses."""

    session: Any
    dialect: Dialect = field(default_factory=SparkDialect)
    schemas: dict[str, Mapping[str, str]] = field(default_factory=dict)
    statements: dict[str, str] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"wallflower_{uuid.uuid4().hex}")

    def keep(self, frame: Any, schema: Mapping[str, str]) -> None:
        """Copy a frame whose columns are c0, c1, ... and present, and call it `staged`."""
        frame.localCheckpoint(eager=True).createOrReplaceTempView(self.name)
        self.define("staged", f"SELECT * FROM {self.name}", schema)

    def define(self, name: str, statement: str, schema: Mapping[str, str]) -> Any:
        self.statements.pop(name, None)
        self.statements[name] = statement
        self.schemas[name] = schema
        return self.table(name)

    def view(self, name: str, expression: Any) -> Any:
        schema = {column: str(type_) for column, type_ in expression.schema().items()}
        return self.define(name, self.dialect.compiled(expression), schema)

    def table(self, name: str) -> Any:
        import ibis

        return ibis.table(self.schemas[name], name=name)

    def asked(self, value: Any, type_: str) -> Any:
        """As it is: Spark's logs are on the owner's side."""
        import ibis

        return double(value) if type_ == "float64" else ibis.literal(value, type_)

    def number(self, expression: Any) -> int:
        return int(self._frame(expression.as_table()).collect()[0][0])

    def arrow(self, expression: Any) -> Any:
        return self._frame(expression).toArrow()

    def batches(self, expression: Any) -> Any:
        return self.arrow(expression).to_batches()

    def _frame(self, expression: Any) -> Any:
        statement = self.dialect.compiled(expression)
        needed: list[str] = []
        for name, text in reversed(self.statements.items()):
            if any(f"`{name}`" in each for each in (statement, *needed)):
                needed.insert(0, f"`{name}` AS ({text})")
        return self.session.sql(f"WITH {', '.join(needed)} {_joined(statement)}" if needed else statement)


def _joined(statement: str) -> str:
    """Ibis may have named expressions of its own, and a statement has one WITH."""
    return f"SELECT * FROM ({statement})" if statement.startswith("WITH ") else statement


@contextmanager
def snapshot(address: str) -> Iterator[Snapshot]:
    """On the session of the address, whose settings and names are left as they were."""
    session = quietly(lambda: _session(address), lambda: unreachable(address))
    before = {name: session.conf.get(name, None) for name in SETTINGS}
    base = Snapshot(session)
    try:
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        yield base
    finally:
        quietly(lambda: _restore(session, before, base.name), broken)


def unreachable(address: str) -> WallflowerError:
    if address == "spark:":
        return DeclarationError(
            'source = "spark:" means the session that is running, and none is.',
            hint="Start one: SparkSession.builder.getOrCreate().",
        )
    return DeclarationError(
        f"no Spark session could be opened at '{address}'.", hint="Check the address of the master or server."
    )


def _session(address: str) -> Any:
    from pyspark.sql import SparkSession

    if address == "spark:":
        running = SparkSession.getActiveSession()
        if running is None:
            raise unreachable(address)
        return running
    builder = SparkSession.builder.appName("wallflower")
    return (builder.remote(address) if address.startswith("sc:") else builder.master(address)).getOrCreate()


def _restore(session: Any, before: Mapping[str, str | None], name: str) -> None:
    session.catalog.dropTempView(name)
    for setting, value in before.items():
        if value is None:
            session.conf.unset(setting)
        else:
            session.conf.set(setting, value)
