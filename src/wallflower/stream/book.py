"""The sensor's own ledger and outbox, in one SQLite file and one transaction.

A window's charge and its noised bytes are committed together, before the first of them is sent: so the ledger is
exactly what was or will be sent, a crash before the commit has sent nothing, and a crash after it finds the same bytes
again. The readings themselves are never stored. Bytes leave the outbox when the analyst's receipt for them arrives; charges stay.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path

from wallflower.errors import BudgetError, LedgerError
from wallflower.schema.exact import shown

_TABLES = {
    "book": "sensor TEXT NOT NULL, series BLOB NOT NULL, stream BLOB NOT NULL",
    "charges": "number INTEGER PRIMARY KEY, day TEXT NOT NULL, family TEXT NOT NULL, readings INTEGER NOT NULL, epsilon TEXT NOT NULL",
    "days": "day TEXT NOT NULL, epsilon TEXT NOT NULL, readings INTEGER NOT NULL, PRIMARY KEY (day, epsilon)",
    "outbox": "number INTEGER PRIMARY KEY, noised BLOB NOT NULL, differences BLOB",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A window ready to leave: what it costs and the bytes that say it."""

    number: int
    readings: int
    noised: bytes
    differences: bytes | None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What the book says has been spent."""

    windows: int
    readings: int
    waiting: int
    event: Fraction
    """What a single reading has cost at most."""
    today: Fraction
    """What today's readings together cost a person behind all of them."""
    total: Fraction
    """The same for every reading ever sent."""


class Book:
    """One sensor's ledger and outbox; one process holds it at a time. Without a path it lives in memory, for simulations."""

    def __init__(
        self,
        path: Path | None,
        *,
        sensor: str,
        stream: bytes,
        family: str,
        epsilon: Fraction,
        per_window: Fraction,
        per_day: Fraction,
    ) -> None:
        self._family, self._epsilon, self._per_window, self._per_day = family, epsilon, per_window, per_day
        self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=2)
        try:
            self._open(path, sensor, stream)
        except LedgerError:
            self._db.close()
            raise
        except sqlite3.Error as error:
            self._db.close()
            raise LedgerError(
                f"the sensor's book '{path}' cannot be used ({error}).",
                hint="Another sensor process may hold it, or it is damaged. Each sensor has a book of its own.",
            ) from None

    def _open(self, path: Path | None, sensor: str, stream: bytes) -> None:
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("BEGIN IMMEDIATE")
        for table, columns in _TABLES.items():
            self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        row = self._db.execute("SELECT sensor, series, stream FROM book").fetchone()
        if row is None:
            # A name, not noise: two books of one sensor must not be taken for each other.
            row = sensor, uuid.uuid4().bytes[8:], stream
            self._db.execute("INSERT INTO book VALUES (?, ?, ?)", row)
        elif row[0] != sensor:
            self._db.execute("ROLLBACK")
            raise LedgerError(
                f"the book '{path}' is of sensor '{row[0]}', not of '{sensor}'.", hint="Name its own book."
            )
        elif row[2] != stream:
            if self._db.execute("SELECT count(*) FROM outbox").fetchone()[0]:
                raise LedgerError(
                    f"the book '{path}' still holds windows noised under another declaration.",
                    hint="Run the sensor with the old declaration until its outbox is empty, then change it.",
                )
            self._db.execute("UPDATE book SET stream = ?", (stream,))
        self._db.execute("COMMIT")
        self.series: bytes = row[1]

    @property
    def next_number(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number) + 1, 0) FROM charges").fetchone()[0])

    @property
    def consumed(self) -> int:
        """How many readings have been charged for: where a sensor that reads a file goes on after a restart."""
        return int(self._db.execute("SELECT coalesce(sum(readings), 0) FROM days").fetchone()[0])

    def charge(self, entries: Sequence[Entry], *, today: date | None = None) -> None:
        """Book several windows and keep their bytes, all or none; durable when this returns."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            day = self._day(today)
            for entry in entries:
                self._refuse(entry.readings * self._epsilon, self._per_window, "a window", "per_window")
            asked = sum(entry.readings for entry in entries)
            self._refuse(self._spent(day) + asked * self._epsilon, self._per_day, f"the day {day}", "per_day")
            spelt = shown(self._epsilon)
            self._db.executemany(
                "INSERT INTO charges VALUES (?, ?, ?, ?, ?)",
                [(entry.number, day, self._family, entry.readings, spelt) for entry in entries],
            )
            self._db.execute(
                "INSERT INTO days VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET readings = readings + excluded.readings",
                (day, spelt, asked),
            )
            self._db.executemany(
                "INSERT INTO outbox VALUES (?, ?, ?)",
                [(entry.number, entry.noised, entry.differences) for entry in entries],
            )
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def waiting(self) -> list[tuple[int, bytes, bytes | None]]:
        """Windows whose receipt has not come, oldest first: number, noised bytes, differences."""
        return self._db.execute("SELECT number, noised, differences FROM outbox ORDER BY number").fetchall()

    def settle(self, numbers: Sequence[int]) -> None:
        """Forget the bytes of windows whose receipt arrived. Losing this to a crash costs one more resend."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("DELETE FROM outbox WHERE number = ?", [(number,) for number in numbers])
        self._db.execute("COMMIT")

    def statement(self) -> Statement:
        windows, readings = self._db.execute("SELECT count(*), coalesce(sum(readings), 0) FROM charges").fetchone()
        with closing(self._db.execute("SELECT DISTINCT epsilon FROM days")) as rows:
            event = max((Fraction(text) for (text,) in rows), default=Fraction(0))
        return Statement(
            windows=windows,
            readings=readings,
            waiting=self._db.execute("SELECT count(*) FROM outbox").fetchone()[0],
            event=event,
            today=self._spent(self._day(None)),
            total=self._spent(None),
        )

    def close(self) -> None:
        self._db.close()

    def _day(self, today: date | None) -> str:
        """The day to book on; a clock that was set back does not open a day's budget again."""
        now = (today or datetime.now(UTC).date()).isoformat()
        latest = self._db.execute("SELECT max(day) FROM days").fetchone()[0]
        return max(now, latest or now)

    def _spent(self, day: str | None) -> Fraction:
        rows = self._db.execute(
            "SELECT epsilon, sum(readings) FROM days WHERE day = coalesce(?, day) GROUP BY epsilon", (day,)
        )
        return sum((Fraction(epsilon) * readings for epsilon, readings in rows), start=Fraction(0))

    def _refuse(self, spent: Fraction, limit: Fraction, what: str, name: str) -> None:
        if spent > limit:
            raise BudgetError(
                f"{what} would cost a person behind all of its readings {shown(spent)}, and '{name}' allows {shown(limit)}.",
                hint="Nothing of this window was sent. The sensor goes on when the budget allows it.",
            )
