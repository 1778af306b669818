"""Which store an address stands for. The database packages are loaded only here, when a ledger is opened."""

from __future__ import annotations

from pathlib import Path

from wallflower.errors import UsageError
from wallflower.stores.base import Store

SERVERS = ("postgresql://", "postgres://")


def is_server(place: str | Path) -> bool:
    return isinstance(place, str) and place.startswith(SERVERS)


def open_store(place: str | Path, *, table: str | None, patience_s: float) -> Store:
    """The store at a file's name or a server's address; nothing is opened or checked yet."""
    if is_server(place):
        if table is None:
            raise UsageError("a server keeps the ledgers of many tables: name the table.")
        try:
            from wallflower.stores.postgresql import PostgresqlStore
        except ModuleNotFoundError:
            raise UsageError(
                "a ledger on PostgreSQL needs the psycopg package.",
                hint="Run `pip install 'wallflower[postgresql]'`.",
            ) from None
        return PostgresqlStore(str(place), table=table, patience_s=patience_s)
    from wallflower.stores.sqlite import SqliteStore

    return SqliteStore(Path(place), table=table, patience_s=patience_s)
