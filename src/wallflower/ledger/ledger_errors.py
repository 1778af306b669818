"""What can be wrong with a ledger's file: what happened, that nothing was released, and what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

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


def damaged(path: Path, reason: str) -> LedgerError:
    return LedgerError(f"the ledger {path} is damaged: {reason}.", hint=f"Nothing was released. {RESTORE}")


def missing(path: Path, *, known: bool) -> LedgerError:
    if known:
        return LedgerError(
            f"the ledger {path} was deleted or replaced while it was in use.", hint=f"Nothing was released. {RESTORE}"
        )
    return LedgerError(
        f"there is no ledger at {path}.",
        hint="Nothing was released. Run `wallflower ledger init DECL` once; if there was one before, restore it instead.",
    )


def in_files(path: Path, error: OSError, *, known: bool, making: bool) -> LedgerError:
    if isinstance(error, FileNotFoundError) and not making:
        return missing(path, known=known)
    done = "No ledger was made." if making else "Nothing was released."
    return LedgerError(
        f"the ledger {path} cannot be {'made' if making else 'used'}: {error.strerror or type(error).__name__}.",
        hint=f"{done} Check that its folder exists, may be written, and has room.",
    )


def in_sqlite(path: Path, error: BaseException | None, *, known: bool) -> LedgerError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte; the rest says where in SQLite
    if code == sqlite3.SQLITE_CANTOPEN and not path.exists():
        return missing(path, known=known)
    what, todo = SQLITE.get(code, (f"failed ({type(error).__name__})", "Try again; if it stays, restore a backup."))
    return LedgerError(f"the ledger {path} {what}.", hint=f"Nothing was released. {todo}")
