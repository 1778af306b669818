"""The ledger: an append-only SQLite file that says what has been released, and refuses what would be too much.

A charge is checked and written in one transaction that holds SQLite's write lock from its first read, and is on disk
before `charge` returns. Every call opens a connection of its own, so a file that was deleted or replaced is noticed and
a ledger may be used after a fork. SQLAlchemy is imported inside functions, so importing this module is cheap.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from wallflower.errors import LedgerError
from wallflower.ledger import ledger_errors, statement
from wallflower.ledger.admission import checked, recorded, standing
from wallflower.ledger.journal import Books, Damaged, Event, limits_of
from wallflower.ledger.redeclaration import changed, refuse_other_table, refuse_unfit
from wallflower.privacy.accounts import bookings
from wallflower.privacy.guarantees import Guarantee
from wallflower.schema.declaration import Declaration

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

APPLICATION = 0x57464C52
"""SQLite's `application_id` of a ledger ("WFLR")."""

VERSION = 1
"""SQLite's `user_version`: the format of the events."""

PATIENCE_S = 30
"""How long a charge waits for other processes."""

SCHEMA = (
    """CREATE TABLE events (
        entry INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL UNIQUE)""",
    """CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'events are never changed'); END""",
    """CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'events are never removed'); END""",
)


@dataclass(frozen=True, kw_only=True)
class Charge:
    """A charge that is on disk, or the recorded answer to a request that was charged before."""

    entry: int
    request_id: str
    account: str
    """The table's id."""
    spent: Mapping[str, str]
    """In the account of this family that binds, this charge included."""
    left: Mapping[str, str]
    replay: dict[str, Any] | None = field(default=None, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The `ledger` part of a release."""
        return {"account": self.account, "entry": self.entry, "spent": dict(self.spent), "left": dict(self.left)}


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _helpful(
    method: Callable[Concatenate[Ledger, Arguments], Result],
) -> Callable[Concatenate[Ledger, Arguments], Result]:
    """Turn what goes wrong with the file into a sentence that helps, without a chain or a library's traceback."""

    @wraps(method)
    def helped(self: Ledger, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        from sqlalchemy.exc import DBAPIError

        known = self._books.entry > 0
        try:
            return method(self, *arguments, **named)
        except Damaged as error:
            trouble = ledger_errors.damaged(self.path, str(error))
        except UnicodeDecodeError:  # from the driver, over a damaged table definition
            trouble = ledger_errors.damaged(self.path, "its text cannot be read")
        except DBAPIError as error:
            trouble = ledger_errors.in_sqlite(self.path, error.orig, known=known)
        except sqlite3.Error as error:
            trouble = ledger_errors.in_sqlite(self.path, error, known=known)
        except OSError as error:
            trouble = ledger_errors.in_files(self.path, error, known=known, making=method.__name__ == "_make")
        raise trouble  # outside the handlers: inside them Python would keep the first error as __context__

    return helped


class Ledger:
    """The ledger of one table. Made by `Ledger.init`, never by a charge."""

    def __init__(self, path: Path, *, patience_s: int = PATIENCE_S) -> None:
        self.path = path
        self._engine = _engine(path, patience_s)
        self._books = Books()
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | Path, *, patience_s: int = PATIENCE_S) -> Ledger:
        """An existing ledger, read and checked from its first event to its last."""
        ledger = cls(Path(path), patience_s=patience_s)
        ledger._read()
        return ledger

    @classmethod
    def init(cls, declaration: Declaration) -> list[str]:
        """Create the ledger a declaration names, or record its new limits; spending is never reset. Says what changed."""
        ledger = cls(declaration.ledger)
        if not declaration.ledger.exists():
            return ledger._make(declaration)
        return ledger._change(declaration)

    @_helpful
    def check(
        self, guarantee: Guarantee, *, declaration: Declaration, query: Mapping[str, Any], request_id: str | None = None
    ) -> bool:
        """Refuse what `charge` would refuse now, or say whether it has an answer already; promises nothing about later."""
        with self._transaction("BEGIN"):
            answered = recorded(self._books, declaration, query, request_id) is not None
            if not answered:
                checked(self._books, guarantee, declaration, self.path)
        return answered

    @_helpful
    def charge(
        self, guarantee: Guarantee, *, declaration: Declaration, query: Mapping[str, Any], request_id: str | None = None
    ) -> Charge:
        """Check and debit in one transaction, on disk before this returns; or the answer recorded under `request_id`."""
        request = uuid.uuid4().hex if request_id is None else request_id
        content = {
            "guarantee": guarantee.to_json(),
            "query": dict(query),
            "declaration": declaration.fingerprint,
            "request_id": request,
        }
        with self._transaction("BEGIN IMMEDIATE") as connection:
            earlier = recorded(self._books, declaration, query, request_id)
            if earlier is not None:
                return self._replayed(connection, earlier, declaration, guarantee)
            booked = checked(self._books, guarantee, declaration, self.path)
            spent, left = standing(self._books, booked, declaration, with_charge=True)
            entry = self._append(connection, "charge", content)
        return Charge(entry=entry, request_id=request, account=declaration.id, spent=spent, left=left)

    @_helpful
    def answer(self, entry: int, release: Mapping[str, Any]) -> None:
        """Record the answer to a charge, on disk before this returns. An answer is recorded once."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            if entry not in self._books.charges or entry in self._books.answers:
                raise LedgerError(
                    f"entry {entry} of {self.path.name} is not a charge that waits for an answer.",
                    hint="Nothing was released. Ask again with a new request id.",
                )
            self._append(connection, "answer", {"charge": entry, "release": dict(release)})

    @_helpful
    def show(self, declaration: Declaration) -> statement.Statement:
        """What has been spent, what is left, and what the numbers bound."""
        with self._transaction("BEGIN"):
            refuse_other_table(self._books, declaration, self.path)
            return statement.of(self._books, declaration)

    @_helpful
    def history(self) -> list[statement.Line]:
        """Every event in plain words, oldest first."""
        with self._transaction("BEGIN") as connection:
            return statement.history(_events(connection, after=0), self._books)

    @_helpful
    def _read(self) -> None:
        with self._transaction("BEGIN"):
            pass

    @_helpful
    def _change(self, declaration: Declaration) -> list[str]:
        with self._transaction("BEGIN IMMEDIATE") as connection:
            refuse_unfit(self._books, declaration, self.path)
            lines = changed(self._books, declaration)
            if lines:
                self._append(connection, "limits", limits_of(declaration))
        return lines

    @_helpful
    def _make(self, declaration: Declaration) -> list[str]:
        """Build the ledger under another name and link it into place whole, so that a crash leaves none or a good one."""
        path = self.path
        left_over = [name for name in (f"{path}-wal", f"{path}-journal") if os.path.lexists(name)]
        if left_over:
            raise LedgerError(
                f"{path} is missing, but {left_over[0]} is there: a ledger of this name was deleted or moved.",
                hint="Put it back. Only if it never held a charge, delete what is left of it and try again.",
            )
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # the queries in it name records
        try:
            _fill(draft, limits_of(declaration))
            os.link(draft, path)  # unlike a rename, this refuses to replace a ledger
        except FileExistsError:
            return self._change(declaration)  # another process has made it in the meantime
        finally:
            for name in (draft, Path(f"{draft}-wal"), Path(f"{draft}-shm")):
                name.unlink(missing_ok=True)
        _sync_folder(path.parent)
        return [f"Made the ledger {path.name} of table '{declaration.id}'."]

    def _replayed(self, connection: Connection, entry: int, declaration: Declaration, guarantee: Guarantee) -> Charge:
        release = next(_events(connection, after=self._books.answers[entry] - 1)).content["release"]
        booked = bookings(guarantee, declaration)
        spent, left = standing(self._books, booked, declaration, with_charge=False)
        request = self._books.charges[entry].request_id
        return Charge(
            entry=entry, request_id=request, account=declaration.id, spent=spent, left=left, replay=dict(release)
        )

    def _append(self, connection: Connection, kind: str, content: Mapping[str, Any]) -> int:
        event = _next(self._books, kind, content)
        _insert(connection, event)
        return event.entry

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        """The books up to date and, with BEGIN IMMEDIATE, nobody else writing; on disk when the block has ended."""
        with self._lock:
            before = _identity(self.path)
            with self._engine.connect().execution_options(wallflower_begin=begin) as connection, connection.begin():
                self._catch_up(connection)
                yield connection
            if _identity(self.path) != before:
                raise FileNotFoundError(self.path)  # written to a file that no longer has this name

    def _catch_up(self, connection: Connection) -> None:
        _refuse_foreign(connection)
        books = self._books
        if books.entry:
            head = next(_events(connection, after=books.entry - 1), None)
            if head is None or head.hash != books.head:
                raise Damaged("it is not the file that was opened: earlier entries are missing or differ")
        for event in _events(connection, after=books.entry):
            books.add(event)
        last = connection.exec_driver_sql("SELECT seq FROM sqlite_sequence WHERE name = 'events'").scalar()
        if last != books.entry or not books.limits:
            raise Damaged("its last entries are missing")


def _engine(path: Path, patience_s: int) -> Engine:
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import NullPool

    # mode=rw: SQLite would otherwise make an empty file where the ledger is missing.
    address = f"file:{quote(str(path.absolute()))}?mode=rw"

    def connect() -> sqlite3.Connection:
        # isolation_level=None: the driver's own guessing of transactions is off; `begin` below says when one starts.
        return sqlite3.connect(address, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def durable(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: fsync alone does not reach the disk there
        connection.execute("PRAGMA checkpoint_fullfsync = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options()["wallflower_begin"])

    return engine


def _events(connection: Connection, *, after: int) -> Iterator[Event]:
    from sqlalchemy import column, select, table

    names = ("entry", "at", "kind", "body", "hash")
    events = table("events", *(column(name) for name in names))
    query = select(*(events.c[name] for name in names)).where(events.c.entry > after).order_by(events.c.entry)
    for entry, *texts in connection.execute(query):
        if not isinstance(entry, int) or not all(isinstance(text, str) for text in texts):
            raise Damaged("an entry is not what was written")
        yield Event(entry=entry, **dict(zip(names[1:], texts, strict=True)))


def _next(books: Books, kind: str, content: Mapping[str, Any]) -> Event:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Event.after(books.head, entry=books.entry + 1, at=now, kind=kind, content=content)


def _insert(connection: Connection, event: Event) -> None:
    from sqlalchemy import column, insert, table

    row = {"entry": event.entry, "at": event.at, "kind": event.kind, "body": event.body, "hash": event.hash}
    connection.execute(insert(table("events", *(column(name) for name in row))).values(row))


def _refuse_foreign(connection: Connection) -> None:
    if connection.exec_driver_sql("PRAGMA application_id").scalar() != APPLICATION:
        raise Damaged("it is not a ledger, or has lost its contents")
    version = connection.exec_driver_sql("PRAGMA user_version").scalar()
    if version != VERSION:
        raise Damaged(f"it is written in format {version}, and this Wallflower reads format {VERSION}")


def _fill(draft: Path, limits: Mapping[str, Any]) -> None:
    engine = _engine(draft, PATIENCE_S)
    with engine.connect().execution_options(wallflower_begin="SELECT 1") as connection:
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
        connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")
    with engine.connect().execution_options(wallflower_begin="BEGIN IMMEDIATE") as connection, connection.begin():
        for line in SCHEMA:
            connection.exec_driver_sql(line)
        _insert(connection, _next(Books(), "limits", limits))


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
