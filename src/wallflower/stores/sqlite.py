"""A ledger in one SQLite file: one table a file, one writer at a time, on disk when a commit returns."""

from __future__ import annotations

import os
import re
import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from wallflower.errors import LedgerError, UsageError
from wallflower.schema.declaration import beside
from wallflower.stores import durable_file
from wallflower.stores.base import FORMAT, Damaged, Gone, Head, Row
from wallflower.stores.interrupts import block
from wallflower.stores.sqlite_transaction import SqliteTransaction

APPLICATION = 0x57464C52
"""SQLite's `application_id` of a ledger ("WFLR")."""
BEING_MADE_S = 2.0
"""How long a ledger that another process is making may have its draft for a second name."""


class SqliteStore:
    """See `stores.base.Store`. Connects for each transaction, so that a process that forks shares nothing."""

    def __init__(self, path: Path, *, table: str | None = None, patience_s: float) -> None:
        self.path = path
        self.place = str(path)
        self.table = table
        self._patience_s = patience_s

    def exists(self) -> bool:
        return self.path.exists()

    @block
    def transaction(self, *, write: bool) -> Iterator[SqliteTransaction]:
        before = durable_file.identity(self.path)
        self._refuse_second_name()
        with _transaction(self.path, self._patience_s, write=write) as connection:
            _refuse_foreign(connection)
            yield SqliteTransaction(connection, self._table(connection))
        if durable_file.identity(self.path) != before:
            raise Gone  # written to a file that no longer has this name

    def _table(self, connection: sqlite3.Connection) -> str:
        """The one table of the file, whatever it is asked for: a ledger of another table is told from none."""
        tables = connection.execute("SELECT table_id FROM heads LIMIT 2").fetchall()
        if len(tables) != 1:
            raise Damaged("its last entries are missing")
        return str(tables[0][0])

    def make(self, rows: Sequence[Row], head: Head, table: str) -> bool:
        """Build the ledger under another name and link it into place whole, so that a crash leaves none or a good one."""
        path = self.path
        left_over = [name for name in (f"{path}-wal", f"{path}-journal") if os.path.lexists(name)]
        if left_over:
            raise LedgerError(
                f"{path} is missing, but {left_over[0]} is there: a ledger of this name was deleted or moved.",
                hint="Put it back. Only if it never held a charge, delete what is left of it and try again.",
            )
        if path.is_symlink():
            raise durable_file.missing(path, known=False)
        _clean_up(path)
        draft = path.with_name(f".{path.name}.draft-{os.getpid()}-{uuid.uuid4().hex}")
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # the queries in it name records
        try:
            _fill(draft, rows, head, table)
            os.link(draft, path)  # unlike a rename, this refuses to replace a ledger
        except FileExistsError:
            return False  # another process has made it in the meantime
        finally:
            _remove(draft)
        durable_file.sync_folder(path.parent)
        return True

    def explain(self, error: Exception, *, known: bool, making: bool = False) -> LedgerError | None:
        if isinstance(error, sqlite3.Error):
            return durable_file.explained(self.path, error, known=known)
        if isinstance(error, Gone) or (isinstance(error, FileNotFoundError) and not making):
            return durable_file.missing(self.path, known=known)
        if isinstance(error, OSError):
            done = "No ledger was made." if making else "Nothing was released."
            return LedgerError(
                f"the ledger {self.path} cannot be {'made' if making else 'used'}: "
                f"{error.strerror or type(error).__name__}.",
                hint=f"{done} Check that its folder exists, may be written, and has room.",
            )
        if isinstance(error, UnicodeDecodeError):  # from the driver, over a damaged table definition
            return LedgerError(
                f"the ledger {self.path} is damaged: its text cannot be read.",
                hint=f"Nothing was released. {durable_file.RESTORE}",
            )
        return None

    def inspect(self) -> None:
        with self.transaction(write=False) as transaction:
            found = _pragma(transaction.connection, "integrity_check(1)")
        if found != "ok":
            raise Damaged("its pages do not fit together")

    def backup(self, target: str) -> None:
        """By SQLite's own copying: a whole and consistent file, whoever writes meanwhile. Refuses to replace a file."""
        path = Path(target)
        if path.resolve() in beside(self.path):
            raise UsageError(
                f"'{path}' is a name of the ledger's own, and no copy is put there.", hint="Name another file."
            )
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            with (
                closing(durable_file.connect(self.path, patience_s=self._patience_s)) as source,
                closing(durable_file.connect(path, patience_s=self._patience_s)) as copy,
            ):
                source.backup(copy)
                copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            durable_file.sync_folder(path.parent)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def presence(self) -> int | None:
        return None  # whoever uses the file runs on this machine, where processes can be seen

    def present(self, number: int) -> bool | None:
        return None

    def close(self) -> None:
        """Nothing is held open between transactions."""

    def _refuse_second_name(self) -> None:
        until = time.monotonic() + min(self._patience_s, BEING_MADE_S)
        while self.path.stat().st_nlink > 1:
            # A crash while the ledger was made leaves its draft as a second name; while it is being made, there is one for a moment.
            if not _clean_up(self.path) or time.monotonic() >= until:
                break
            time.sleep(0.001)
        durable_file.refuse_second_name(self.path)


@block
def _transaction(path: Path, patience_s: float, *, write: bool) -> Iterator[sqlite3.Connection]:
    """A connection of its own, committed when the block ends well and rolled back otherwise."""
    if _TORN:
        raise LedgerError(
            f"this process was forked while another thread was using a ledger, so SQLite's locks on {path} cannot be trusted in it.",
            hint="Nothing was released. Fork while no release is under way, or start a process of its own.",
        )
    mark = object()
    _OPEN.add(mark)
    try:
        with closing(durable_file.connect(path, patience_s=patience_s)) as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:  # closing would wait for every cursor, and an interrupt's traceback may keep one
                with suppress(sqlite3.Error):
                    connection.rollback()
    finally:
        _OPEN.discard(mark)


_OPEN: set[object] = set()
"""One for each transaction that is open in this process."""
_TORN: list[bool] = []
"""Not empty in a child that was forked while one was: SQLite counts locks by process, and would take the parent's for its own."""
os.register_at_fork(after_in_child=lambda: _TORN.append(True) if _OPEN else None)


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    if _pragma(connection, "application_id") != APPLICATION:
        raise Damaged("it is not a ledger, or has lost its contents")
    version = _pragma(connection, "user_version")
    if version == 1:
        raise LedgerError(
            "this ledger is written in format 1, which no published version of Wallflower has written.",
            hint="Nothing was released. Show it with the version that made it, and begin a new ledger with what is left.",
        )
    if version != FORMAT:
        raise Damaged(f"it is written in format {version}, and this Wallflower reads format {FORMAT}")


def _fill(draft: Path, rows: Sequence[Row], head: Head, table: str) -> None:
    from wallflower.stores.ddl import for_sqlite  # loads SQLAlchemy, which keeps the tables for both stores

    with closing(durable_file.connect(draft, patience_s=30)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute(f"PRAGMA application_id = {APPLICATION}")
        raw.execute(f"PRAGMA user_version = {FORMAT}")
    with _transaction(draft, 30, write=True) as connection:
        for statement in for_sqlite():
            connection.execute(statement)
        SqliteTransaction(connection, table).begin_table(rows, head)


def _clean_up(path: Path) -> bool:
    """Remove the drafts of processes that have ended; whether there are any of processes that run."""
    ours = re.compile(re.escape(f".{path.name}.draft-") + r"(\d+)-[0-9a-f]{32}")
    running = False
    for name in path.parent.iterdir():
        made_by = ours.fullmatch(name.name)
        if made_by and _alive(int(made_by[1])):
            running = True
        elif made_by:
            _remove(name)
    return running


def _alive(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove(draft: Path) -> None:
    for name in (draft, Path(f"{draft}-wal"), Path(f"{draft}-shm")):
        name.unlink(missing_ok=True)
