"""A digest of what a declaration means; comments, order and spelling do not change it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.schema.hierarchy import ORDERED

VERSION = 1
"""Goes into the digest: a later reading of the same file must not pass for this one."""


def fingerprint(declaration: Declaration, *, source: str | None, ledger: str) -> str:
    """`source` and `ledger` as written: a folder that moves keeps its fingerprint.

    Lists of values and hierarchies go in by what they hold, so that editing their files is seen.
    """
    meaning = _plain(declaration)
    for name in ("path", "fingerprint"):
        del meaning[name]
    meaning |= {"version": VERSION, "source": source, "ledger": ledger}
    for column in declaration.columns.values():
        if isinstance(column.hierarchy, str) and column.hierarchy != ORDERED:
            contents = Path(column.hierarchy).read_bytes()
            meaning["columns"][column.name]["hierarchy"] = {"sha256": hashlib.sha256(contents).hexdigest()}
    canonical = json.dumps(meaning, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        named = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        return {"is": type(value).__name__, **named}
    if isinstance(value, Fraction):
        return shown(value)
    if isinstance(value, date | Path):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
