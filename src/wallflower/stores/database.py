"""One database for users, requests, policies and the audit log: SQLite for one machine, or PostgreSQL.

Statements are written once, with named values and nothing that only one of the two understands. A write transaction is
alone: SQLite's own write lock, or one advisory lock on PostgreSQL. It is on disk when the block has ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wallflower.stores import durable_file

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

PATIENCE_S = 30
LOCK = 0x57464C53
"""PostgreSQL's advisory lock of the service's writers ("WFLS")."""


class Transaction:
    """What may be asked inside a transaction."""

    def __init__(self, connection: Connection, clock: Callable[[], float]) -> None:
        self._connection = connection
        self._clock = clock

    def all(self, statement: str, /, **values: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in self._execute(statement, values).mappings()]

    def one(self, statement: str, /, **values: Any) -> dict[str, Any] | None:
        row = self._execute(statement, values).mappings().first()
        return None if row is None else dict(row)

    def run(self, statement: str, /, **values: Any) -> int:
        """How many rows were changed."""
        return int(self._execute(statement, values).rowcount)

    def next_number(self, name: str) -> int:
        """1, 2, 3, … without a gap among what is committed; the write lock makes it safe."""
        found = self.one("SELECT value FROM counters WHERE name = :name", name=name)
        number = 1 + (int(found["value"]) if found else 0)
        if found:
            self.run("UPDATE counters SET value = :number WHERE name = :name", number=number, name=name)
        else:
            self.run("INSERT INTO counters (name, value) VALUES (:name, :number)", name=name, number=number)
        return number

    def now_text(self) -> str:
        return as_text(self._clock())

    def _execute(self, statement: str, values: dict[str, Any]) -> Any:
        from sqlalchemy import text

        return self._connection.execute(text(statement), values)


class Database:
    """A place for the service's tables."""

    def __init__(self, address: str, *, clock: Callable[[], float] = time.time) -> None:
        self.address = address
        self.clock = clock
        self._postgresql = address.startswith("postgresql:")
        self._engine = _postgresql(address) if self._postgresql else _sqlite(address)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._engine.connect().execution_options(wallflower_begin="BEGIN") as connection, connection.begin():
            yield Transaction(connection, self.clock)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        begin = "BEGIN" if self._postgresql else "BEGIN IMMEDIATE"
        with self._engine.connect().execution_options(wallflower_begin=begin) as connection, connection.begin():
            if self._postgresql:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
            yield Transaction(connection, self.clock)

    def now_text(self) -> str:
        return as_text(self.clock())

    def close(self) -> None:
        self._engine.dispose()


def is_outage(error: Exception) -> bool:
    """Whether the database was away or busy: trying again in a while may work, and nothing was written."""
    from sqlalchemy.exc import InterfaceError, OperationalError
    from sqlalchemy.exc import TimeoutError as NoConnection

    return isinstance(error, OperationalError | InterfaceError | NoConnection)


def is_unusable(error: Exception) -> bool:
    """Whether there is no database to work with: away, not to be written, or a file of something else."""
    from sqlalchemy.exc import DatabaseError

    return isinstance(error, DatabaseError) or is_outage(error)


def as_text(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sqlite(path: str) -> Engine:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import QueuePool

    # Kept open: whoever closes the last connection writes the log back into the file, which no page should wait for.
    engine = create_engine(
        "sqlite://",
        creator=lambda: durable_file.connect_beside_readers(Path(path), patience_s=PATIENCE_S),
        poolclass=QueuePool,
        pool_size=8,
        max_overflow=40,
        hide_parameters=True,
    )
    _begin_by_hand(engine)
    return engine


def _postgresql(address: str) -> Engine:
    from sqlalchemy import create_engine

    driver = address.replace("postgresql:", "postgresql+psycopg:", 1)
    return create_engine(driver, hide_parameters=True, pool_pre_ping=True)


def _begin_by_hand(engine: Engine) -> None:
    from sqlalchemy import event

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options()["wallflower_begin"])
