"""A small file beside the declaration that remembers that its table has had a ledger.

Deleting a ledger and making a new one forgets what has been spent. Nothing can keep an owner from it, but it is said.
"""

from __future__ import annotations

import json
from pathlib import Path

from wallflower.atomic_file import write_whole
from wallflower.ledger.events import Event
from wallflower.schema.declaration import Declaration


def place(declaration: Declaration) -> Path | None:
    """Beside the declaration's file; None for a declaration that has none."""
    return None if declaration.path is None else declaration.path.with_name(f".{declaration.path.name}.ledger-marker")


def earlier(declaration: Declaration) -> str | None:
    """The hash of the first entry of the latest ledger that was made for this table, where one was."""
    path = place(declaration)
    if path is None:
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        found = kept["tables"][declaration.id]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(found) if isinstance(found, str) else None


def warning(declaration: Declaration, before: str | None) -> list[str]:
    if before is None:
        return []
    return [
        (
            f"WARNING: table '{declaration.id}' has had a ledger before (its first entry was sha256:{before}). Whatever was "
            "released under it is not counted in this one: if it still exists, restore it and delete the new one."
        )
    ]


def leave(declaration: Declaration, first: Event) -> list[str]:
    """Remember the ledger that was made; a folder that cannot be written is said and no reason to fail."""
    path = place(declaration)
    if path is None:
        return []
    try:
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"tables": {}}
        tables = kept["tables"] if isinstance(kept, dict) and isinstance(kept.get("tables"), dict) else {}
        said = json.dumps({"tables": {**tables, declaration.id: first.hash}})
        write_whole(path, f"{said}\n")
    except (OSError, ValueError):
        return [f"No marker was left at {path.name}, so a later ledger of this table will not be told from the first."]
    return []
