"""A made-up table on disk: its rows, its declaration and its ledger."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wallflower.ledger import Ledger
from wallflower.schema import load


def write_table(folder: Path, name: str, *, header: str, rows: Iterable[str], declaration: str) -> Path:
    """Write all three into `folder`; the declaration's place."""
    (folder / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    path = folder / f"{name}.toml"
    path.write_text(declaration, encoding="utf-8")
    Ledger.init(load(path))
    return path
