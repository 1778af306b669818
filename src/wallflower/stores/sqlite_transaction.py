"""One table's rows inside one transaction of a SQLite file: the statements of `stores.transaction`, in SQLite's own words.

A release from a small table spends more time loading SQLAlchemy than on everything else the ledger does; the standard library's driver
needs none of it. `tests/ledger/test_both_stores.py` asks both the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wallflower.stores.base import FIELDS, PART, Damaged, Head, Row, stored

_FIELDS = ", ".join(FIELDS)
_ROWS = f"SELECT {_FIELDS} FROM events WHERE table_id = ?"
_AT_ONCE = 400
"""SQLite takes so many variables and no more."""


class SqliteTransaction:
    """See `stores.base.Transaction`."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self.connection = connection
        self._table = table

    def head(self) -> Head | None:
        asked = self._asked("SELECT entry, hash, checkpoint FROM heads WHERE table_id = ?")
        found = asked.fetchone()
        return None if found is None else Head(entry=found[0], hash=found[1], checkpoint=found[2])

    def entries(self, *, after: int, most: int | None = None) -> Iterator[Row]:
        """As they are asked for: a whole ledger is not held in memory."""
        some = -1 if most is None else most
        for found in self._asked(f"{_ROWS} AND entry > ? ORDER BY entry LIMIT ?", after, some):
            yield stored(found)

    def charge(self, asker: str, request: str) -> Row | None:
        found = self._asked(f"{_ROWS} AND asker = ? AND request = ?", asker, request).fetchone()
        return None if found is None else stored(found)

    def reply(self, charge: int) -> Row | None:
        found = self._asked(f"{_ROWS} AND charge = ?", charge).fetchone()
        return None if found is None else stored(found)

    def charges(self, keys: Sequence[tuple[str, str]]) -> list[Row]:
        """`charge` for many pairs of asker and request."""
        return self._those("(asker, request)", "(?, ?)", sorted(set(keys)))

    def replies(self, charges: Sequence[int]) -> list[Row]:
        return self._those("charge", "(?)", [(charge,) for charge in charges])

    def some(self, entries: Sequence[int]) -> list[Row]:
        return self._those("entry", "(?)", [(entry,) for entry in entries])

    def _those(self, columns: str, place: str, values: Sequence[tuple[Any, ...]]) -> list[Row]:
        found: list[Row] = []
        for start in range(0, len(values), _AT_ONCE):
            part = values[start : start + _AT_ONCE]
            query = f"{_ROWS} AND {columns} IN (VALUES {', '.join([place] * len(part))})"
            found += [stored(row) for row in self._asked(query, *(each for value in part for each in value))]
        return found

    def explained(self, most: int) -> tuple[list[str], int]:
        """The first keys of records that were explained, in the order of text, and how many there are."""
        mine = "FROM events WHERE table_id = ? AND record IS NOT NULL"
        found = [str(key) for (key,) in self._asked(f"SELECT DISTINCT record {mine} ORDER BY record LIMIT ?", most)]
        if len(found) < most:
            return found, len(found)
        return found, int(self._asked(f"SELECT count(DISTINCT record) {mine}").fetchone()[0])

    def about(self, record: str) -> list[int]:
        """The entries that are looked up by this key, oldest first."""
        mine = "SELECT entry FROM events WHERE table_id = ? AND record = ? ORDER BY entry"
        return [int(entry) for (entry,) in self._asked(mine, record)]

    def append(self, rows: Sequence[Row], head: Head) -> None:
        """The new events, and the head that names the last of them."""
        places = ", ".join(["?"] * (1 + len(FIELDS)))
        written: Iterable[tuple[Any, ...]] = ((self._table, *(getattr(row, name) for name in FIELDS)) for row in rows)
        self.connection.executemany(f"INSERT INTO events (table_id, {_FIELDS}) VALUES ({places})", written)
        self.set_head(head)

    def set_head(self, head: Head) -> None:
        moved = "UPDATE heads SET entry = ?, hash = ?, checkpoint = ? WHERE table_id = ?"
        changed = self.connection.execute(moved, (head.entry, head.hash, head.checkpoint, self._table))
        if changed.rowcount != 1:
            raise Damaged("its head is missing")

    def begin_table(self, rows: Sequence[Row], head: Head) -> None:
        """The first rows of a table that has none."""
        begun = "INSERT INTO heads (table_id, entry, hash, checkpoint) VALUES (?, ?, ?, ?)"
        self._asked(begun, head.entry, head.hash, head.checkpoint)
        self.append(rows, head)

    def keep(self, digest: str, content: bytes) -> None:
        if self._asked("SELECT part FROM files WHERE table_id = ? AND digest = ? LIMIT 1", digest).fetchone():
            return
        for number, start in enumerate(range(0, max(len(content), 1), PART)):
            kept = "INSERT INTO files (table_id, digest, part, content) VALUES (?, ?, ?, ?)"
            self._asked(kept, digest, number, content[start : start + PART])

    def kept(self, digest: str) -> bytes | None:
        query = "SELECT content FROM files WHERE table_id = ? AND digest = ? ORDER BY part"
        parts = [bytes(part) for (part,) in self._asked(query, digest)]
        return b"".join(parts) if parts else None

    def _asked(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """The first value of every statement is the table."""
        return self.connection.execute(statement, (self._table, *values))
