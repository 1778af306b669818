"""Where something is: a file beside the declaration, or a server. No secret stands in an address."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from wallflower.schema.section import Section

SERVERS = ("postgresql://", "postgres://")


def read_place(table: Section, key: str, folder: Path) -> Path | str | None:
    """A file beside the declaration, or the address of a server; no secret stands in an address."""
    written = table.text(key)
    if written is None or not written.startswith(SERVERS):
        return None if written is None else folder / written
    try:
        parts = urlsplit(written)
        secret, named = parts.password is not None or "password" in parts.query, bool(parts.path.strip("/"))
        _ = parts.port
    except ValueError:
        table.wrong(key, 'an address such as "postgresql://host/database"')
        return None
    if secret:
        table.refuse(
            key,
            f"'{key}' holds a password, and a declaration is no place for one.",
            "Put it into the environment (PGPASSWORD) or a passfile (PGPASSFILE, ~/.pgpass).",
        )
    if not named:
        table.wrong(key, 'an address with a database, such as "postgresql://host/database"')
    return written
