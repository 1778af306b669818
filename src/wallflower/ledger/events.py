"""The events of a ledger, format 2, and the chain that holds them together. `docs/reference/ledger.md` says it for people.

A promise about this file, because what it writes must be readable by every later version:

- a kind of event, a field, an account's code is never renamed, never removed, and never changes its meaning;
- a new field is optional, and its absence means what was true before there was one;
- a reader refuses, by name, a kind or a field that it does not know: it must have been written by a later version,
  and half of an entry is not the entry;
- nothing in an event is compared by its sentences: those are kept for people to read.

`tests/golden` holds ledgers of this format that every later version must open, show, charge and replay.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from wallflower.schema.canonical import text
from wallflower.stores.base import FORMAT, Damaged, Row

CREATED = "0" * 64
"""What stands before the first event."""

CHECKPOINT_EVERY = 256
"""The fewest events between two checkpoints; more where a checkpoint itself has grown long."""

FIELDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "limits": (
        frozenset({"salt", "format", "table", "neighbours", "unit", "limits", "models", "askers", "by", "reason"}),
        frozenset({"replaces"}),
    ),
    "charge": (
        frozenset(
            {
                "salt",
                "request",
                "asker",
                "purpose",
                "question",
                "fingerprint",
                "account",
                "amounts",
                "promise",
                "process",
            }
        ),
        frozenset({"record", "series"}),
    ),
    "part": (frozenset({"salt", "charge", "kept", "release"}), frozenset()),
    "answer": (frozenset({"salt", "charge", "release"}), frozenset({"file"})),
    "closed": (frozenset({"salt", "charge", "why"}), frozenset()),
    "checkpoint": (frozenset({"salt", "state"}), frozenset()),
}
"""The fields that an event of each kind has, and those that it may have."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the ledger."""

    entry: int
    at: str
    """When, in UTC."""
    kind: str
    body: str
    """Canonical JSON."""
    hash: str

    @cached_property
    def content(self) -> dict[str, Any]:
        """What it says; read once, and not to be changed."""
        content: dict[str, Any] = json.loads(self.body)
        return content

    @classmethod
    def after(
        cls, head: str, *, table: str, entry: int, kind: str, content: Mapping[str, Any], at: str | None = None
    ) -> Event:
        """The next event. Its 128 random bits keep anyone from guessing what was asked from a hash they were shown."""
        body = text({"salt": secrets.token_hex(16), **content})
        at = now() if at is None else at
        made = cls(
            entry=entry,
            at=at,
            kind=kind,
            body=body,
            hash=chained(head, table=table, entry=entry, at=at, kind=kind, body=body),
        )
        _refuse_unknown(made, made.content)
        return made

    @classmethod
    def stored(cls, row: Row, *, table: str, before: str) -> Event:
        """The event of a stored row, after checking that it follows `before` and says what its columns say."""
        event = cls(entry=row.entry, at=row.at, kind=row.kind, body=row.body, hash=row.hash)
        if row.hash != chained(before, table=table, entry=row.entry, at=row.at, kind=row.kind, body=row.body):
            raise Damaged(f"entry {row.entry} does not match its hash")
        content = event.content
        _refuse_unknown(event, content)
        if event.row(content) != row:
            raise Damaged(f"entry {row.entry} is not filed under what it says")
        return event

    def row(self, content: Mapping[str, Any] | None = None) -> Row:
        """As it is stored, with the columns by which it is looked up."""
        said = self.content if content is None else content
        return Row(
            entry=self.entry,
            at=self.at,
            kind=self.kind,
            body=self.body,
            hash=self.hash,
            asker=said["asker"] if self.kind == "charge" else None,
            request=said["request"] if self.kind == "charge" else None,
            charge=said["charge"] if self.kind in {"answer", "closed"} else None,
            record=said.get("record") if self.kind == "charge" else None,
        )


def chained(before: str, *, table: str, entry: int, at: str, kind: str, body: str) -> str:
    """The hash of an event: over its own parts and the hash of the one before."""
    return hashlib.sha256(text([FORMAT, table, before, entry, at, kind, body]).encode()).hexdigest()


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _refuse_unknown(event: Event, content: Mapping[str, Any]) -> None:
    if event.kind not in FIELDS:
        raise Damaged(f"entry {event.entry} is of a kind this version does not know: '{event.kind}'")
    needed, possible = FIELDS[event.kind]
    unknown = sorted(content.keys() - needed - possible)
    if unknown:
        raise Damaged(f"entry {event.entry} has a field this version does not know: '{unknown[0]}'")
    missing = sorted(needed - content.keys())
    if missing:
        raise Damaged(f"entry {event.entry} has no '{missing[0]}'")
