"""Where something lies: a file beside the declaration, or the address of a server. No secret stands in an address."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from wallflower.schema.section import Section

ADDRESS = re.compile(r"([a-z][a-z0-9+]+):(//.*)?")
"""A scheme of two letters or more, then nothing or //: `C:\\rows.csv` and `a:b.csv` are files."""
SECRET = re.compile("password|passwd|secret|token|credential", re.IGNORECASE)


def scheme_of(place: Path | str | None) -> str | None:
    """The scheme of an address; None for a file or nothing.

    >>> scheme_of("postgresql://host/db"), scheme_of("spark:"), scheme_of(Path("rows.csv"))
    ('postgresql', 'spark', None)
    """
    found = ADDRESS.fullmatch(place) if isinstance(place, str) else None
    return found[1] if found else None


def read_place(table: Section, key: str, folder: Path) -> Path | str | None:
    """A file, joined with `folder`, or an address as it is written; what cannot be one is a problem of `table`."""
    written = table.text(key)
    if written is None or scheme_of(written) is None:
        return None if written is None else folder / written
    try:
        secret = holds_secret(written)
    except ValueError:
        # Not quoted: whoever wrote a port that is none may have written a password, too.
        table.refuse(key, f"'{key}' is no address.", 'Write it like "postgresql://host/database".')
        return None
    if secret:
        table.refuse(
            key,
            f"'{key}' holds a password or a token, and a declaration is no place for one.",
            "For PostgreSQL put it into the environment (PGPASSWORD) or a passfile (PGPASSFILE, ~/.pgpass).",
        )
        return None
    return written


def holds_secret(address: str) -> bool:
    """Whether a password, or a setting that sounds like one, stands in an address.

    >>> [holds_secret(a) for a in ("postgresql://ann@h/db", "postgresql://ann:x@h/db", "sc://h/;token=x")]
    [False, True, True]
    """
    parts = urlsplit(address)
    _ = parts.port  # refuses a port that is none
    settings = parse_qsl(parts.query.replace(";", "&"), keep_blank_values=True)
    after = [(name, "") for name, mark, _ in (each.partition("=") for each in parts.path.split(";")[1:]) if mark]
    return parts.password is not None or any(SECRET.search(name) for name, _ in [*settings, *after])
