"""Opening a sensor's book: one process, its owner alone, every commit on disk, and what is deleted overwritten."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from wallflower.errors import LedgerError
from wallflower.stores import durable_file

SETTINGS = {
    "locking_mode": ("EXCLUSIVE", "exclusive"),
    "journal_mode": ("WAL", "wal"),
    "synchronous": ("FULL", 2),
    "secure_delete": ("ON", 1),
}
"""What is asked of SQLite, and what it must answer: a commit is on disk when it returns, and deleted bytes are overwritten."""
_FORMAT = 2
"""`user_version` of a book; an older one held other tables."""


def open_book(path: Path | None, tables: Mapping[str, str]) -> sqlite3.Connection:
    """The live connection, its settings asserted on it; without a path in memory."""
    db = None
    try:
        if path is not None:
            _owner_only(path)
        db = (
            sqlite3.connect(":memory:", isolation_level=None)
            if path is None
            else durable_file.connect(path, patience_s=2)
        )
        _set(db, path)
        _fill(db, path, tables)
    except (sqlite3.Error, OSError, LedgerError) as error:
        if db is not None:
            db.close()
        raise error if isinstance(error, LedgerError) else refused_by_disk(path, error) from None
    return db


def _set(db: sqlite3.Connection, path: Path | None) -> None:
    for name, (wanted, answer) in SETTINGS.items():
        if path is None and name in {"journal_mode", "locking_mode"}:
            continue
        db.execute(f"PRAGMA {name} = {wanted}")
        found = db.execute(f"PRAGMA {name}").fetchone()[0]
        if found != answer:
            raise LedgerError(f"the book '{path}' cannot be kept safely here: {name} is {found}, not {wanted}.")


def _fill(db: sqlite3.Connection, path: Path | None, tables: Mapping[str, str]) -> None:
    db.execute("BEGIN IMMEDIATE")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise LedgerError(
            f"the book '{path}' was written by an older version, which this one cannot go on with.",
            hint="Let the older version empty its outbox, keep that book for the record, and start a new one tomorrow (UTC).",
        )
    for table, columns in tables.items():
        db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
    db.execute(f"PRAGMA user_version = {_FORMAT}")
    db.execute("COMMIT")


def _owner_only(path: Path) -> None:
    """0600 before the first byte; SQLite gives its log the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    durable_file.refuse_second_name(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        with suppress(OSError):
            path.chmod(0o600)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise LedgerError(
            f"the book '{path}' can be read by others.", hint="Keep it on a file system where its mode can be 0600."
        )


def refused_by_disk(path: Path | None, error: Exception) -> LedgerError:
    """What a failing disk or a second process means for the sensor, in words."""
    if "full" in str(error) or "disk I/O" in str(error):
        return LedgerError(
            f"the disk of the book '{path}' is full or failing, so nothing can be charged and nothing was sent.",
            hint="Make room and start the sensor again: it goes on where the book ends.",
        )
    return LedgerError(
        f"the sensor's book '{path}' cannot be used ({error}).",
        hint="Another sensor process may hold it, or it is damaged. Each sensor has a book of its own.",
    )
