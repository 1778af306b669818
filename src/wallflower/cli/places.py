"""Where a command may write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wallflower.errors import UsageError

if TYPE_CHECKING:
    from wallflower.schema.declaration import Declaration


def refuse_own_file(place: Path, declared: Declaration, what: str) -> None:
    """Refuse to put `what` where the table's declaration, rows or ledger lie."""
    if declared.is_own_file(place):
        raise UsageError(f"'{place}' is a file of this table, and {what} would replace it.")


def refuse_all_but_parquet(place: Path | None) -> None:
    """Refuse to replace what is no Parquet file by one: any name may be given, that of a ledger too."""
    _refuse_all_but(place, b"PAR1", "Parquet file")


def refuse_all_but_metrics(place: Path | None) -> None:
    """Refuse to replace what holds no counts of ours by counts."""
    _refuse_all_but(place, b"# HELP wallflower_", "file of these counts")


def _refuse_all_but(place: Path | None, begins: bytes, kind: str) -> None:
    if place is None or not place.is_file():
        return
    with place.open("rb") as file:
        found = file.read(len(begins))
    if found not in {b"", begins}:
        raise UsageError(f"'{place}' is there already, and is no {kind}.", hint="Name another file.")
