"""One table's rows inside one transaction of a server; `sqlite_transaction` says the same to a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, tuple_, update

from wallflower.stores.base import FIELDS, PART, Damaged, Head, Row, stored
from wallflower.stores.tables import EVENTS, FILES, HEADS


class SqlTransaction:
    """See `stores.base.Transaction`."""

    def __init__(self, connection: Connection, table: str) -> None:
        self.connection = connection
        self._table = table

    def head(self) -> Head | None:
        found = self.connection.execute(self._head()).first()
        return None if found is None else Head(entry=found[0], hash=found[1], checkpoint=found[2])

    def _head(self) -> Select[Any]:
        return select(HEADS.c.entry, HEADS.c.hash, HEADS.c.checkpoint).where(HEADS.c.table_id == self._table)

    def entries(self, *, after: int, most: int | None = None) -> Iterator[Row]:
        query = self._rows().where(EVENTS.c.entry > after).order_by(EVENTS.c.entry).limit(most)
        streamed = {} if most is not None else {"yield_per": 1000}  # a whole ledger is not held in memory
        with self.connection.execute(query.execution_options(**streamed)) as found:
            for row in found:
                yield stored(row)

    def _rows(self) -> Select[Any]:
        return select(*(EVENTS.c[name] for name in FIELDS)).where(EVENTS.c.table_id == self._table)

    def charge(self, asker: str, request: str) -> Row | None:
        found = self.connection.execute(self._rows().where(EVENTS.c.asker == asker, EVENTS.c.request == request))
        return _one(found.first())

    def reply(self, charge: int) -> Row | None:
        return _one(self.connection.execute(self._rows().where(EVENTS.c.charge == charge)).first())

    def charges(self, keys: Sequence[tuple[str, str]]) -> list[Row]:
        """`charge` for many pairs of asker and request."""
        return self._those(tuple_(EVENTS.c.asker, EVENTS.c.request), sorted(set(keys)))

    def replies(self, charges: Sequence[int]) -> list[Row]:
        return self._those(EVENTS.c.charge, charges)

    def some(self, entries: Sequence[int]) -> list[Row]:
        return self._those(EVENTS.c.entry, entries)

    def _those(self, column: Any, values: Sequence[Any]) -> list[Row]:
        found: list[Row] = []
        for start in range(0, len(values), 400):  # no statement grows without bound
            query = self._rows().where(column.in_(list(values[start : start + 400])))
            found += [stored(row) for row in self.connection.execute(query)]
        return found

    def explained(self, most: int) -> tuple[list[str], int]:
        """The first keys of records that were explained, in the order of text, and how many there are."""
        mine = (EVENTS.c.table_id == self._table, EVENTS.c.record.is_not(None))
        query = select(EVENTS.c.record).where(*mine).distinct().order_by(EVENTS.c.record).limit(most)
        found = [str(record) for (record,) in self.connection.execute(query)]
        if len(found) < most:
            return found, len(found)
        return found, int(
            self.connection.execute(select(func.count(EVENTS.c.record.distinct())).where(*mine)).scalar_one()
        )

    def about(self, record: str) -> list[int]:
        """The entries that are looked up by this key, oldest first."""
        query = select(EVENTS.c.entry).where(EVENTS.c.table_id == self._table, EVENTS.c.record == record)
        return [int(entry) for (entry,) in self.connection.execute(query.order_by(EVENTS.c.entry))]

    def append(self, rows: Sequence[Row], head: Head) -> None:
        """The new events, and the head that names the last of them."""
        written = [{"table_id": self._table, **{name: getattr(row, name) for name in FIELDS}} for row in rows]
        self.connection.execute(insert(EVENTS), written)
        self.set_head(head)

    def set_head(self, head: Head) -> None:
        values = {"entry": head.entry, "hash": head.hash, "checkpoint": head.checkpoint}
        changed = self.connection.execute(update(HEADS).where(HEADS.c.table_id == self._table).values(values))
        if changed.rowcount != 1:
            raise Damaged("its head is missing")

    def begin_table(self, rows: Sequence[Row], head: Head) -> None:
        """The first rows of a table that has none."""
        values = {"table_id": self._table, "entry": head.entry, "hash": head.hash, "checkpoint": head.checkpoint}
        self.connection.execute(insert(HEADS).values(values))
        self.append(rows, head)

    def keep(self, digest: str, content: bytes) -> None:
        mine = (FILES.c.table_id == self._table, FILES.c.digest == digest)
        if self.connection.execute(select(FILES.c.part).where(*mine).limit(1)).first() is not None:
            return
        parts = [content[start : start + PART] for start in range(0, max(len(content), 1), PART)]
        for number, part in enumerate(parts):
            values = {"table_id": self._table, "digest": digest, "part": number, "content": part}
            self.connection.execute(insert(FILES).values(values))

    def kept(self, digest: str) -> bytes | None:
        query = select(FILES.c.content).where(FILES.c.table_id == self._table, FILES.c.digest == digest)
        parts = [bytes(part) for (part,) in self.connection.execute(query.order_by(FILES.c.part))]
        return b"".join(parts) if parts else None


def _one(found: Any) -> Row | None:
    return None if found is None else stored(found)
