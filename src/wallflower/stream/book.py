"""The sensor's own ledger and outbox, in one SQLite file and one transaction.

What is charged and the bytes that say it are committed together, before the first of them is sent: so the ledger is exactly what was
or will be sent, a crash before the commit has sent nothing, and a crash after it finds the same bytes again. Readings are never
stored. Bytes leave the outbox when the analyst's receipt for them arrives; charges stay.

It shares the ledger's durable file (`stores.durable_file`) and is not a ledger account, because a charge here must be one transaction
with the bytes it pays for, on a machine that may have nothing but Python's own sqlite3.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path

from wallflower.errors import BudgetError, LedgerError
from wallflower.schema.exact import shown
from wallflower.stream.book_file import open_book, refused_by_disk
from wallflower.stream.slot_sensor import ClockState

_TABLES = {
    "book": "sensor TEXT NOT NULL, series BLOB NOT NULL, stream BLOB NOT NULL",
    "charges": "number INTEGER PRIMARY KEY, day TEXT NOT NULL, family TEXT NOT NULL, units INTEGER NOT NULL, epsilon TEXT NOT NULL",
    "days": "day TEXT NOT NULL, epsilon TEXT NOT NULL, units INTEGER NOT NULL, PRIMARY KEY (day, epsilon)",
    "outbox": "number INTEGER PRIMARY KEY, body BLOB NOT NULL",
    "sources": "identity TEXT PRIMARY KEY, taken INTEGER NOT NULL",
    "clock": "only INTEGER PRIMARY KEY CHECK (only = 1), period INTEGER, slot INTEGER, rest TEXT, done INTEGER",
    "clocks": "stream BLOB PRIMARY KEY, period INTEGER, slot INTEGER, rest TEXT, done INTEGER",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A window ready to leave: what it costs and the bytes that say it."""

    number: int
    units: int
    """Readings of the window; each costs the event ε."""
    body: bytes
    differences: bytes | None


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file that readings are taken from. Its name and inode say which, never its content: that would be a trace of readings."""

    identity: str

    @classmethod
    def of(cls, path: Path) -> Source:
        found = path.resolve().stat()
        return cls(identity=f"{path.resolve()} {found.st_dev}:{found.st_ino}")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What the book says has been spent."""

    windows: int
    """Windows, or periods of a stream that speaks by the clock."""
    readings: int
    waiting: int
    event: Fraction
    """What a single reading, or period, has cost at most."""
    today: Fraction
    """What today's together cost a person behind all of them."""
    total: Fraction
    """The same for everything ever sent."""


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
        per_window: Fraction | None,
        per_day: Fraction,
        apart: bool = False,
    ) -> None:
        """`apart` keeps the differences of the paper's protocol in a second file: beside the noised bytes they give readings away."""
        self._family, self._epsilon, self._per_window, self._per_day = family, epsilon, per_window, per_day
        self._path = path
        self._db = open_book(path, _TABLES)
        self._apart: sqlite3.Connection | None = None
        try:
            self._claim(sensor, stream)
            if apart:
                beside = None if path is None else path.with_name(path.name + ".differences")
                self._apart = open_book(beside, {"differences": "number INTEGER PRIMARY KEY, body BLOB NOT NULL"})
                self._forget_orphans()
        except sqlite3.Error as error:
            self.close()
            raise refused_by_disk(path, error) from None
        except LedgerError:
            self.close()
            raise

    def _claim(self, sensor: str, stream: bytes) -> None:
        row = self._db.execute("SELECT sensor, series, stream FROM book").fetchone()
        if row is None:
            # A name, not noise: two books of one sensor must not be taken for each other.
            row = sensor, uuid.uuid4().bytes[8:], stream
            self._db.execute("INSERT INTO book VALUES (?, ?, ?)", row)
        elif row[0] != sensor:
            raise LedgerError(
                f"the book '{self._path}' is of sensor '{row[0]}', not of '{sensor}'.", hint="Name its own book."
            )
        elif row[2] != stream:
            waiting = self._db.execute("SELECT count(*) FROM outbox").fetchone()[0]
            if waiting:
                raise LedgerError(
                    f"the book '{self._path}' still holds {waiting} messages noised under another declaration (a changed epsilon, "
                    "window or column makes another stream).",
                    hint="Run the sensor with the old declaration until its outbox is empty, then change it.",
                )
            self._change(row[2], stream)
        self.series: bytes = row[1]

    def _change(self, before: bytes, stream: bytes) -> None:
        """Go on under another declaration, whose periods are numbered by their own length: each stream has a clock of its own, which waits for it."""
        columns = "period, slot, rest, done"
        with self._transaction():
            self._db.execute(f"INSERT OR REPLACE INTO clocks SELECT ?, {columns} FROM clock", (before,))
            self._db.execute("DELETE FROM clock")
            self._db.execute(f"INSERT INTO clock SELECT 1, {columns} FROM clocks WHERE stream = ?", (stream,))
            self._db.execute("UPDATE book SET stream = ?", (stream,))

    @property
    def next_number(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number) + 1, 0) FROM charges").fetchone()[0])

    def taken(self, source: Source) -> int | None:
        """How many readings of a file have been charged for; None when this file is new to the book and another is not."""
        row = self._db.execute("SELECT taken FROM sources WHERE identity = ?", (source.identity,)).fetchone()
        if row is not None:
            return int(row[0])
        others = self._db.execute("SELECT count(*) FROM sources").fetchone()[0]
        return None if others else 0

    def start_over(self, source: Source) -> None:
        """Take a file from its first reading on, whatever was taken of it or of others: its readings are new ones."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO sources VALUES (?, 0)", (source.identity,))

    def charge(self, entries: Sequence[Entry], *, source: Source | None = None, today: date | None = None) -> None:
        """Book several windows and keep their bytes, all or none; durable when this returns."""
        self._keep_apart(entries)
        with self._transaction():
            day = self._day(today)
            for entry in entries:
                if self._per_window is not None:
                    self._refuse(entry.units * self._epsilon, self._per_window, "a window", "per_window")
            asked = sum(entry.units for entry in entries)
            self._book([(entry.number, entry.units) for entry in entries], day)
            self._db.executemany("INSERT INTO outbox VALUES (?, ?)", [(entry.number, entry.body) for entry in entries])
            if source is not None:
                self._db.execute(
                    "INSERT INTO sources VALUES (?, ?) ON CONFLICT DO UPDATE SET taken = taken + excluded.taken",
                    (source.identity, asked),
                )

    def commit(self, state: ClockState, *, number: int, body: bytes | None, today: date | None = None) -> None:
        """One drawn slot: its state, its message and, with a period's first slot, the period's charge; all or none.

        A slot that is not the next one is refused: drawn twice or skipped, it would break the promise.
        """
        with self._transaction():
            before = self.clock()
            new = before is None or state.period > before.period
            if state.slot != (0 if new or before is None else before.slot + 1) or (
                before is not None and state.period < before.period
            ):
                raise LedgerError("this slot was drawn before, or one before it was not.", hint="Nothing was sent.")
            if new:
                taken = self._db.execute("SELECT 1 FROM charges WHERE number = ?", (state.period,)).fetchone()
                # Windows, and periods of another length, may have had this number under another declaration.
                self._book([(self.next_number if taken else state.period, 1)], self._day(today))
            self._db.execute(
                "INSERT OR REPLACE INTO clock VALUES (1, ?, ?, ?, ?)",
                (state.period, state.slot, str(state.rest), state.done),
            )
            if body is not None:
                self._db.execute("INSERT INTO outbox VALUES (?, ?)", (number, body))

    def clock(self) -> ClockState | None:
        """The last slot that was drawn."""
        row = self._db.execute("SELECT period, slot, rest, done FROM clock").fetchone()
        return None if row is None else ClockState(period=row[0], slot=row[1], rest=int(row[2]), done=bool(row[3]))

    def waiting(self) -> list[tuple[int, bytes, bytes | None]]:
        """Messages whose receipt has not come, oldest first: number, bytes, differences."""
        apart: dict[int, bytes] = (
            {} if self._apart is None else dict(self._apart.execute("SELECT number, body FROM differences").fetchall())
        )
        rows = self._db.execute("SELECT number, body FROM outbox ORDER BY number").fetchall()
        return [(number, body, apart.get(number)) for number, body in rows]

    def settle(self, numbers: Sequence[int]) -> None:
        """Forget the bytes of messages whose receipt arrived. Losing this to a crash costs one more resend."""
        rows = [(number,) for number in numbers]
        with self._transaction():
            self._db.executemany("DELETE FROM outbox WHERE number = ?", rows)
        if self._apart is not None:
            self._apart.executemany("DELETE FROM differences WHERE number = ?", rows)

    def statement(self) -> Statement:
        windows, readings = self._db.execute("SELECT count(*), coalesce(sum(units), 0) FROM charges").fetchone()
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
        if self._apart is not None:
            self._apart.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise refused_by_disk(self._path, error) from None
            raise

    def _book(self, charges: Sequence[tuple[int, int]], day: str) -> None:
        """Numbers and their units, checked against the day and written."""
        asked, spelt = sum(units for _, units in charges), shown(self._epsilon)
        self._refuse(self._spent(day) + asked * self._epsilon, self._per_day, f"the day {day}", "per_day")
        self._db.executemany(
            "INSERT INTO charges VALUES (?, ?, ?, ?, ?)",
            [(number, day, self._family, units, spelt) for number, units in charges],
        )
        self._db.execute(
            "INSERT INTO days VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET units = units + excluded.units",
            (day, spelt, asked),
        )

    def _keep_apart(self, entries: Sequence[Entry]) -> None:
        """Differences go to their own file first: one left over by a crash is of a window that was never charged."""
        rows = [(entry.number, entry.differences) for entry in entries if entry.differences is not None]
        if not rows:
            return
        if self._apart is None:
            raise LedgerError("differences belong in a file of their own, and this book has none.")
        self._apart.execute("BEGIN IMMEDIATE")
        self._apart.executemany("INSERT OR REPLACE INTO differences VALUES (?, ?)", rows)
        self._apart.execute("COMMIT")

    def _forget_orphans(self) -> None:
        known = {number for (number,) in self._db.execute("SELECT number FROM outbox")}
        if self._apart is not None:
            kept = [number for (number,) in self._apart.execute("SELECT number FROM differences")]
            self._apart.executemany(
                "DELETE FROM differences WHERE number = ?", [(number,) for number in kept if number not in known]
            )

    def _day(self, today: date | None) -> str:
        """The day to book on; a clock that was set back does not open a day's budget again."""
        now = (today or datetime.now(UTC).date()).isoformat()
        latest = self._db.execute("SELECT max(day) FROM days").fetchone()[0]
        return max(now, latest or now)

    def _spent(self, day: str | None) -> Fraction:
        rows = self._db.execute(
            "SELECT epsilon, sum(units) FROM days WHERE day = coalesce(?, day) GROUP BY epsilon", (day,)
        )
        return sum((Fraction(epsilon) * units for epsilon, units in rows), start=Fraction(0))

    def _refuse(self, spent: Fraction, limit: Fraction, what: str, name: str) -> None:
        if spent > limit:
            raise BudgetError(
                f"{what} would cost a person behind all of its readings {shown(spent)}, and '{name}' allows {shown(limit)}.",
                hint="Nothing of it was sent. The sensor goes on when the budget allows it.",
            )
