"""A table's declaration as the service uses it: the operator's file, with an owner's edits on top.

What names rows or files (`id`, `source`, `table`, `ledger`, `person`, `key`, lists of values and hierarchies in files) is the
operator's. An edit that changes one of them is refused when it is made and again when it is read, so that no owner can
point a worker at another's rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from wallflower.errors import DeclarationError, UsageError
from wallflower.ledger.journal import limits_of
from wallflower.schema import load as load_file
from wallflower.schema import loads as load_text
from wallflower.schema.declaration import Declaration
from wallflower.schema.parser import parse, read_text
from wallflower.schema.reader import SECTIONS
from wallflower.service.audit_log import note
from wallflower.service.configuration import Service
from wallflower.stores.database import Transaction

OPERATORS = ("id", "source", "table", "ledger", "person", "key", "test", "memory", "executors")
"""Keys of [table] that an owner cannot change here. `test` lets seeds in, `memory` is the machine's and `executors` the cluster's: they are the operator's too."""
MOST_TEXT = 48 * 1024


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A declaration and the text it was read from."""

    declaration: Declaration
    text: str


def current(seen: Transaction, service: Service, table: str) -> Declared:
    """What is in force."""
    if table not in service.tables:  # a request may wait longer than its table stands in the file
        raise UsageError("this table is no longer part of the service.", hint="Ask its operator.")
    path = service.tables[table].declaration
    original = read_text(path)
    row = seen.one("SELECT text FROM edits WHERE subject = :table", table=table)
    edit = None if row is None else str(row["text"])
    # The same text is the same declaration, unless it names files whose content is part of it.
    text = original if edit is None else edit
    made = _read if _names_files(path.name, text) else _kept
    return Declared(declaration=made(path, original, edit), text=text)


def _read(path: Path, original: str, edit: str | None) -> Declaration:
    if edit is not None:
        return edited(path, original, edit)
    place = path.absolute()
    try:
        made = load_text(original, folder=place.parent, source_optional=False)
    except DeclarationError:
        return load_file(path)  # the same mistake, said with the file's name
    return replace(made, path=place)


_kept = lru_cache(maxsize=64)(_read)
"""Errors are not kept: whoever mends a file is heard at once."""


@lru_cache(maxsize=64)
def _names_files(name: str, text: str) -> bool:
    return any(key.startswith("columns.") for key in _operators(name, text))


def edited(path: Path, original: str, text: str) -> Declaration:
    """The declaration of an owner's text, refused where it touches what is the operator's."""
    if len(text.encode("utf-8", "replace")) > MOST_TEXT:
        raise DeclarationError(
            f"a declaration has at most {MOST_TEXT} bytes here.", hint="The operator can edit the file itself."
        )
    before, after = _operators(path.name, original), _operators(path.name, text)
    changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    if changed:
        raise DeclarationError(
            f"'{changed[0]}' is the operator's and cannot be changed here.",
            hint="Put it back as it was, or ask the operator to edit the file.",
        )
    return load_text(text, folder=path.parent)


def keep_edit(
    changes: Transaction, service: Service, *, table: str, text: str, made: Declaration, owner: str, source: str
) -> None:
    """An owner's text becomes what is in force; who changed it, and which limits, is written down with it."""
    try:
        before = limits_of(current(changes, service, table).declaration)["limits"]
    except DeclarationError:  # what stood there could not be read: that is what the edit mends
        before = {}
    changes.run("DELETE FROM edits WHERE subject = :table", table=table)
    changes.run(
        "INSERT INTO edits (subject, text, by_whom, at) VALUES (:table, :text, :owner, :now)",
        table=table,
        text=text,
        owner=owner,
        now=changes.now_text(),
    )
    note(changes, who=owner, source=source, did="declaration changed", subject=table, words=_changed(before, made))


def _changed(old: Mapping[str, Any], after: Declaration) -> str:
    """The limits that changed, then what the declaration is known by."""
    new = limits_of(after)["limits"]
    moved = [
        f"{code} {_amounts(old.get(code))} → {_amounts(new.get(code))}"
        for code in sorted(old.keys() | new.keys())
        if old.get(code) != new.get(code)
    ]
    return "; ".join([*moved, after.fingerprint])


def _amounts(limit: Mapping[str, str] | None) -> str:
    return "none" if limit is None else ", ".join(f"{name} {amount}" for name, amount in limit.items())


def _operators(name: str, text: str) -> dict[str, Any]:
    """Everything in a text that names rows or files."""
    raw = parse(text, name=name, known=SECTIONS).raw
    table = raw.get("table")
    found: dict[str, Any] = {key: repr(table.get(key)) for key in OPERATORS} if isinstance(table, dict) else {}
    columns = raw.get("columns")
    for column, body in columns.items() if isinstance(columns, dict) else ():
        for key in ("values", "hierarchy"):
            if isinstance(body, dict) and isinstance(body.get(key), str):
                found[f"columns.{column}.{key}"] = body[key]
    rehearsal = raw.get("rehearsal")
    if isinstance(rehearsal, dict) and "public" in rehearsal:
        found["rehearsal.public"] = repr(rehearsal["public"])
    return found
