"""Ledgers on a PostgreSQL server: many tables in one database, one writer a table at a time by a row's lock.

A writer locks its table's row of `heads` and reads on from there; unique (table, entry) makes a double entry impossible
whatever the lock does. That the server writes through to its disk is asserted in every writing transaction.
"""

from __future__ import annotations

import os
import secrets
import select as sockets
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, create_engine, func, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.pool import QueuePool

from wallflower.errors import LedgerError
from wallflower.stores.base import Damaged, Head, Row, Unsure
from wallflower.stores.ddl import SCHEMA, for_postgresql
from wallflower.stores.interrupts import block
from wallflower.stores.sqlite import SqliteStore
from wallflower.stores.tables import FILES, HEADS
from wallflower.stores.transaction import SqlTransaction

DURABLE = {"fsync": "on", "full_page_writes": "on"}
"""Settings of the server without which a crash of its machine could forget a commit."""

WRITTEN_THROUGH = frozenset({"on", "local", "remote_write", "remote_apply"})
"""Values of `synchronous_commit` under which a commit returns after it is on the server's own disk."""

LET_IN_WITHIN_S = (2, 10)
"""How long a server may take for a connection, at least and at most, whatever the patience; then it is told to be away."""

TROUBLES = {
    "55P03": ("is in use by another process that does not finish", "Try again; if it stays, see pg_stat_activity."),
    "57014": ("is in use by another process that does not finish", "Try again; if it stays, see pg_stat_activity."),
    "25006": ("cannot be written: the server is a standby, or read-only", "Name the server that takes writes."),
    "42501": ("may not be used by this role", "See `wallflower ledger init DECL --sql` for the rights it needs."),
    "28P01": ("refuses the password", "Set PGPASSWORD, or write a passfile (~/.pgpass)."),
    "28000": ("refuses this role", "Name a role that may connect: postgresql://ROLE@host/database."),
    "3D000": ("is in a database that is not there", "Make the database first."),
    "53100": ("cannot be written: the server's disk is full", "Make room and try again."),
    "53300": ("has no connection left", "Try again, or raise max_connections."),
    "42P01": ("has no tables yet", "Run `wallflower ledger init DECL` once."),
    "3F000": ("has no tables yet", "Run `wallflower ledger init DECL` once."),
}
"""By SQLSTATE."""


class PostgresqlStore:
    """See `stores.base.Store`."""

    def __init__(self, address: str, *, table: str, patience_s: float) -> None:
        self.place = address
        self.table = table
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._engine = self._connected()
        self._presence: list[tuple[int, psycopg.Connection[Any]]] = []
        weakref.finalize(self, _let_go, self._process, self._engine, self._presence)

    def _connected(self) -> Engine:
        return create_engine(
            "postgresql+psycopg://",
            creator=partial(_connect, self.place, self._patience_s),
            poolclass=QueuePool,
            pool_size=2,
            max_overflow=8,
            pool_pre_ping=False,
            hide_parameters=True,
            execution_options={"schema_translate_map": {None: SCHEMA}},
        )

    @property
    def engine(self) -> Engine:
        """Connections of this process: a child must not speak through its parent's."""
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            self._begin()
        return self._engine

    def exists(self) -> bool:
        with self._begun("") as connection:
            found = connection.execute(text("SELECT to_regclass(:name)"), {"name": f"{SCHEMA}.heads"}).scalar()
            if found is None:
                return False
            return connection.execute(select(HEADS.c.entry).where(HEADS.c.table_id == self.table)).first() is not None

    @block
    def transaction(self, *, write: bool) -> Iterator[SqlTransaction]:
        if write:
            with self._begun("", commits=True) as connection:
                yield _Writing(connection, self.table)
        else:
            with self._begun("REPEATABLE READ") as connection:
                yield SqlTransaction(connection, self.table)

    @block
    def _begun(self, isolation: str, *, commits: bool = False) -> Iterator[Connection]:
        """A transaction; a connection that turns out to be dead at its first word is replaced once."""
        connection = self._first_word(isolation)
        with connection:
            transaction = connection.get_transaction()
            try:
                yield connection
            except BaseException:
                _quietly(connection.rollback)
                raise
            if transaction is None:
                return
            try:
                transaction.commit()
            except DBAPIError as error:
                _quietly(connection.invalidate)
                if commits and _is_lost(error):
                    raise Unsure from None
                raise

    def _first_word(self, isolation: str) -> Connection:
        for last in (False, True):
            connection = self.engine.connect()
            try:
                connection.exec_driver_sql(f"SET TRANSACTION ISOLATION LEVEL {isolation or 'READ COMMITTED'}")
            except DBAPIError as error:
                _quietly(connection.invalidate)
                connection.close()
                if last or not _is_lost(error):
                    raise
            else:
                return connection
        raise AssertionError  # pragma: no cover - the loop returns or raises

    def make(self, rows: Sequence[Row], head: Head, table: str) -> bool:
        """Make the tables where there are none, and the ledger in them; all or nothing."""
        try:
            with self._begun("", commits=True) as connection:
                # Two processes may make the tables at the same moment; the second waits, and finds them.
                connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('wallflower'))"))
                _refuse_forgetful(connection.execute(_settings()).one())
                if connection.execute(text("SELECT to_regnamespace(:name)"), {"name": SCHEMA}).scalar() is None:
                    for statement in for_postgresql():
                        connection.exec_driver_sql(statement.replace("%", "%%"))
                SqlTransaction(connection, table).begin_table(rows, head)
        except IntegrityError:
            return False
        return True

    def advice(self) -> list[str]:
        with self._begun("") as connection:
            owner = connection.execute(
                text("SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE oid = to_regclass(:name)"),
                {"name": f"{SCHEMA}.events"},
            ).scalar()
        if not owner:
            return []
        return [
            (
                "WARNING: the role that writes this ledger also owns its tables, so it could remove what keeps events from "
                "being changed. Let an administrator run `wallflower ledger init DECL --sql`, and write as another role."
            )
        ]

    def explain(self, error: Exception, *, known: bool, making: bool = False) -> LedgerError | None:
        source = error.orig if isinstance(error, DBAPIError) else error
        if not isinstance(source, psycopg.Error):
            return None
        done = "No ledger was made." if making else "Nothing was released."
        what, todo = TROUBLES.get(source.sqlstate or "", ("", ""))
        if not what and _is_lost(error):
            what, todo = "cannot be reached, or the connection broke", "See that the server runs, then try again."
        if not what and isinstance(error, ProgrammingError | IntegrityError):
            what, todo = (
                f"refuses what was written ({source.sqlstate})",
                "See the server's log; a ledger's tables are made by `init`.",
            )
        what = what or f"failed ({type(source).__name__}, {source.sqlstate})"
        todo = todo or "Try again; if it stays, see the server's log."
        told = LedgerError(f"the ledger at {self.place} {what}.", hint=f"{done} {todo}")
        told.passing = _is_lost(error) or (source.sqlstate or "").startswith("57P")
        return told

    def inspect(self) -> None:
        """Nothing: the server looks after its own pages."""

    def backup(self, target: str) -> None:
        """This table's ledger as a SQLite file, read in one snapshot of the server."""
        with self._begun("REPEATABLE READ") as connection:
            mine = SqlTransaction(connection, self.table)
            head = mine.head()
            if head is None:
                raise Damaged("its head is missing")
            copy = SqliteStore(Path(target), patience_s=self._patience_s)
            if copy.exists():
                raise FileExistsError(target)
            first = list(mine.entries(after=0, most=1))
            copy.make(first, Head(entry=1, hash=first[0].hash, checkpoint=0), self.table)
            with copy.transaction(write=True) as written:
                batch: list[Row] = []
                for row in mine.entries(after=1):
                    batch.append(row)
                    if len(batch) == 500:
                        written.append(batch, Head(entry=row.entry, hash=row.hash, checkpoint=0))
                        batch = []
                last = batch or first
                if batch:
                    written.append(batch, Head(entry=last[-1].entry, hash=last[-1].hash, checkpoint=0))
                written.set_head(head)
                digests = select(FILES.c.digest).where(FILES.c.table_id == self.table).distinct()
                for (digest,) in connection.execute(digests):
                    written.keep(digest, mine.kept(digest) or b"")

    def presence(self) -> int | None:
        """A number locked by a connection of its own: the server lets go of it when the process, or its network, is gone."""
        with self._lock:
            _ = self.engine
            if self._presence and _is_open(self._presence[-1][1]):
                return self._presence[-1][0]
            for _number, lost in self._presence:
                _quietly(lost.close)
            number = secrets.randbits(62)
            connection = _connect(self.place, self._patience_s)
            try:
                connection.autocommit = True
                connection.execute("SELECT pg_advisory_lock(%s)", (number,))
            except BaseException:
                _quietly(connection.close)
                raise
            self._presence[:] = [(number, connection)]
            return number

    def present(self, number: int) -> bool | None:
        for mine, held in self._presence:
            if mine == number:
                return _is_open(held)
        with closing(_connect(self.place, self._patience_s)) as connection:
            connection.autocommit = True
            free = connection.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone()
            return not (free and free[0])

    def close(self) -> None:
        _let_go(self._process, self._engine, self._presence)


class _Writing(SqlTransaction):
    """A transaction that holds the lock of its table from the moment it asks for the head."""

    def head(self) -> Head | None:
        locked = self._head().add_columns(*_settings().selected_columns).with_for_update()
        found = self.connection.execute(locked).first()
        if found is None:
            return None
        _refuse_forgetful(found[3:])
        return Head(entry=found[0], hash=found[1], checkpoint=found[2])


def _connect(address: str, patience_s: float) -> psycopg.Connection[Any]:
    waits = f"-c lock_timeout={max(int(patience_s * 1000), 1)} -c client_min_messages=warning"
    least, most = LET_IN_WITHIN_S
    timeout = max(least, int(min(patience_s, most)))
    return psycopg.connect(address, connect_timeout=timeout, options=waits, application_name="wallflower")


def _is_open(connection: psycopg.Connection[Any]) -> bool:
    """Whether the other end is still there, as far as this machine has heard; nothing is sent, nothing is waited for."""
    if connection.closed:
        return False
    heard = sockets.poll()
    heard.register(connection.fileno(), sockets.POLLIN)
    try:
        while heard.poll(0):  # the news of a setting that was changed, or the end
            connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return False
    return True


def _let_go(process: int, engine: Engine, presence: list[tuple[int, psycopg.Connection[Any]]]) -> None:
    """Close what this process opened; what a child inherited is its parent's."""
    if process != os.getpid():
        return
    for _number, connection in presence:
        _quietly(connection.close)
    _quietly(engine.dispose)


def _settings() -> Any:
    return select(*(func.current_setting(name) for name in (*DURABLE, "synchronous_commit")))


def _refuse_forgetful(found: Sequence[Any]) -> None:
    """Refuse a server that may forget a commit: a charge that is forgotten would be spent twice."""
    said = dict(zip((*DURABLE, "synchronous_commit"), found, strict=True))
    wrong = [f"{name} = {said[name]}" for name, good in DURABLE.items() if said[name] != good]
    if said["synchronous_commit"] not in WRITTEN_THROUGH:
        wrong.append(f"synchronous_commit = {said['synchronous_commit']}")
    if wrong:
        raise LedgerError(
            f"the server may forget what it has committed ({', '.join(wrong)}), and a ledger must not.",
            hint="Nothing was released. Set fsync, full_page_writes and synchronous_commit to on for this database.",
        )


def _is_lost(error: BaseException) -> bool:
    """Whether the connection is gone: what was said last may or may not have been heard."""
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return True
        source: Any = error.orig
    else:
        source = error
    state = getattr(source, "sqlstate", None)
    if state is None:
        return isinstance(source, psycopg.OperationalError | psycopg.InterfaceError)
    return str(state).startswith(("08", "57P"))


def _quietly(step: Any) -> None:
    """A step of cleaning up after an error that is being raised already."""
    with suppress(Exception):
        step()
