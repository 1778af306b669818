"""The tables of format 2, for both stores. PostgreSQL keeps them in a schema of their own."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text

METADATA = MetaData()

EVENTS = Table(
    "events",
    METADATA,
    Column("table_id", Text, primary_key=True),
    Column("entry", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("asker", Text),
    Column("request", Text),
    Column("charge", BigInteger().with_variant(Integer, "sqlite")),
    Column("record", Text),
)
"""Unique (table, entry): a double entry is impossible, whatever a lock does."""


def _index(name: str, *names: str, where: str, unique: bool) -> None:
    """Over the events that have the last of `names`; most have none."""
    there = EVENTS.c[where].is_not(None)
    columns = [EVENTS.c[each] for each in names]
    Index(name, EVENTS.c.table_id, *columns, unique=unique, sqlite_where=there, postgresql_where=there)


_index("one_charge_for_a_request", "asker", "request", where="request", unique=True)
_index("one_reply_for_a_charge", "charge", where="charge", unique=True)
_index("explained_records", "record", where="record", unique=False)

HEADS = Table(
    "heads",
    METADATA,
    Column("table_id", Text, primary_key=True),
    Column("entry", BigInteger().with_variant(Integer, "sqlite"), nullable=False),
    Column("hash", Text, nullable=False),
    Column("checkpoint", BigInteger().with_variant(Integer, "sqlite"), nullable=False),
)
"""The only table whose rows change: one row a table, which writers lock."""

FILES = Table(
    "files",
    METADATA,
    Column("table_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""What was published, in parts of at most a mebibyte."""
