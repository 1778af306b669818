"""A SQLite file whose commits are on disk when they return, and what can be wrong with one."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

from wallflower.errors import LedgerError

RESTORE = "Restore it from a backup; starting a new one would forget what has been spent."

SQLITE = {
    sqlite3.SQLITE_BUSY: (
        "is in use by another process that does not finish",
        "Try again; if it stays, see which program holds the file open.",
    ),
    sqlite3.SQLITE_READONLY: (
        "cannot be written",
        "Give the user who runs this write permission to the file and to its folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "Give the user who runs this read and write permission to the file and to its folder.",
    ),
    sqlite3.SQLITE_FULL: ("cannot be written: the disk is full", "Make room and try again."),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: the disk is full, a file-size limit is reached, or the disk fails",
        "Make room and try again.",
    ),
    sqlite3.SQLITE_CORRUPT: ("is damaged", RESTORE),
    sqlite3.SQLITE_NOTADB: ("is damaged, or is not a ledger", RESTORE),
}
"""By SQLite's primary result code."""

MOUNTS = Path("/proc/self/mountinfo")


def connect(path: Path, *, patience_s: float, make: bool = False) -> sqlite3.Connection:
    """A connection whose commits reach the disk. Without `make`, a missing file is refused and not made.

    The driver's own guessing of transactions is off: whoever holds the connection says when one begins.
    """
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={'rwc' if make else 'rw'}"
    connection = sqlite3.connect(address, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: fsync alone does not reach the disk there
        connection.execute("PRAGMA checkpoint_fullfsync = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_beside_readers(path: Path, *, patience_s: float) -> sqlite3.Connection:
    """The same, made where it is missing, for a file that others read while one writes."""
    connection = connect(path, patience_s=patience_s, make=True)
    try:
        _write_ahead(connection, time.monotonic() + patience_s)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, until: float) -> None:
    """Of two processes that open a new file at the same moment SQLite refuses one here at once, without its usual patience."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def identity(path: Path) -> tuple[int, int]:
    """Which file a name stands for."""
    found = path.stat()
    return found.st_dev, found.st_ino


def refuse_second_name(path: Path) -> None:
    """Refuse a file with two names: each name has a write-ahead log of its own, and each log would be charged alone."""
    if path.stat().st_nlink > 1:
        raise LedgerError(
            f"the ledger {path} has a second name (a hard link), and charges by one name would not be seen by the other.",
            hint="Nothing was released. Find it with `find -samefile`, and keep one name; copy with `wallflower ledger backup`.",
        )
    if _mounted_alone(path):
        raise LedgerError(
            f"the ledger {path} is mounted as a single file, so what its write-ahead log holds is not seen outside.",
            hint="Nothing was released. Mount its folder instead of the file.",
        )


def _mounted_alone(path: Path) -> bool:
    """Whether this very file is a mount of its own, as containers do; only Linux says."""
    try:
        mounts = (
            MOUNTS.read_bytes()
        )  # a name is bytes, and only b"\n" ends a line here: text would be cut at others, too
    except OSError:
        return False
    here = os.fsencode(os.path.realpath(path))
    written = b"".join(b"\\%03o" % byte if byte in b"\\ \t\n" else bytes([byte]) for byte in here)
    return any(line.split(b" ")[4] == written for line in mounts.split(b"\n") if line.count(b" ") > 4)


def explained(path: Path, error: BaseException | None, *, known: bool) -> LedgerError:
    """What SQLite says, in a sentence that helps."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte; the rest says where in SQLite
    if code == sqlite3.SQLITE_CANTOPEN and not path.exists():
        return missing(path, known=known)
    what, todo = SQLITE.get(code, (f"failed ({type(error).__name__})", "Try again; if it stays, restore a backup."))
    return LedgerError(f"the ledger {path} {what}.", hint=f"Nothing was released. {todo}")


def missing(path: Path, *, known: bool) -> LedgerError:
    if known:
        return LedgerError(
            f"the ledger {path} was deleted or replaced while it was in use.", hint=f"Nothing was released. {RESTORE}"
        )
    if path.is_symlink():
        return LedgerError(
            f"the ledger {path} is a link to a file that is not there.",
            hint="Nothing was released. Put back what it leads to; only if that never held a charge, remove the link and try again.",
        )
    return LedgerError(
        f"there is no ledger at {path}.",
        hint="Nothing was released. Run `wallflower ledger init DECL` once; if there was one before, restore it instead.",
    )


def sync_folder(folder: Path) -> None:
    """What was named or removed in a folder reaches the disk with the folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
