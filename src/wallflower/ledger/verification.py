"""Reading events back: from the last checkpoint on when a ledger is opened, and from the first when it is verified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wallflower.ledger.events import CREATED, Event
from wallflower.ledger.journal import Journal
from wallflower.stores.base import Damaged, Head, Transaction


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What a whole reading found."""

    entries: int
    charges: int
    head: str
    holds_anchor: bool

    def lines(self) -> list[str]:
        return [
            f"All {self.entries} entries follow from each other, and every sum, of {self.charges} charges, is right.",
            f"The head is sha256:{self.head}: keep it elsewhere, and pass it as --anchor next time.",
        ]


def caught_up(transaction: Transaction, journal: Journal | None, head: Head) -> Journal:
    """The journal with everything that was appended since, or read anew from the last checkpoint."""
    if journal is None:
        journal = _from_checkpoint(transaction, head)
    elif journal.entry == head.entry and journal.head == head.hash:
        return journal
    else:
        refuse_another(transaction, journal.place, head)
    for row in transaction.entries(after=journal.entry, most=head.entry - journal.entry + 1):
        if row.entry > head.entry:
            raise Damaged("it holds entries after its head")
        if row.entry != journal.entry + 1:
            raise Damaged(f"entry {journal.entry + 1} is missing")
        journal.add(Event.stored(row, table=journal.table, before=journal.head))
    if journal.place.entry != head.entry or journal.head != head.hash or not journal.limits:
        raise Damaged("its last entries are missing")
    if journal.checkpoint != head.checkpoint:
        raise Damaged("its head names another checkpoint than there is")
    return journal


def refuse_another(transaction: Transaction, seen: Head, head: Head) -> None:
    """Refuse an older copy, or another ledger, of one whose head was once `seen`."""
    here = next(transaction.entries(after=seen.entry - 1, most=1), None)
    if head.entry < seen.entry or here is None or here.hash != seen.hash:
        raise Damaged("it is not the ledger that was opened: earlier entries are missing or differ")


def _from_checkpoint(transaction: Transaction, head: Head) -> Journal:
    start = head.checkpoint
    if start == 0:
        first = next(transaction.entries(after=0, most=1), None)
        if first is None or first.entry != 1 or first.kind != "limits":
            raise Damaged(
                "entry 1 is missing" if head.entry > 1 and first is not None else "its last entries are missing"
            )
        return Journal(table=str(_said(first.body, "table")))
    rows = list(transaction.entries(after=start - 2, most=2))
    if len(rows) != 2 or rows[1].entry != start or rows[1].kind != "checkpoint":
        raise Damaged(f"the checkpoint at entry {start} is missing")
    said = str(_said(rows[1].body, "state")["limits"]["table"])  # type: ignore[index]
    return Journal.at(Event.stored(rows[1], table=said, before=rows[0].hash), table=said)


def _said(body: str, name: str) -> object:
    try:
        found: object = json.loads(body)[name]
    except (ValueError, KeyError, TypeError):
        raise Damaged("an entry is not what was written") from None
    return found


def chain(transaction: Transaction, table: str) -> Iterator[Event]:
    """Every event, oldest first, each checked against the one before."""
    before = CREATED
    for expected, row in enumerate(transaction.entries(after=0), start=1):
        if row.entry != expected:
            raise Damaged(f"entry {expected} is missing")
        event = Event.stored(row, table=table, before=before)
        before = event.hash
        yield event


def verify(transaction: Transaction, journal: Journal, *, anchor: str | None) -> Verified:
    """Fold all events anew, look into every checkpoint, reply and file, and compare with `journal`."""
    wanted = None if anchor is None else anchor.removeprefix("sha256:").lower()
    whole = Journal(table=journal.table)
    charges: set[int] = set()
    series: dict[int, list[Any]] = {}
    holds = wanted is None
    for event in chain(transaction, journal.table):
        whole.add(event)
        holds = holds or event.hash == wanted
        if event.kind == "charge":
            charges.add(event.entry)
            if event.content.get("series"):
                series[event.entry] = []
        elif event.kind == "part":
            _verify_part(event, charges, series)
        elif event.kind in {"answer", "closed"}:
            content = event.content
            if content["charge"] not in charges or series.get(content["charge"]):
                raise Damaged(f"entry {event.entry} replies to no charge that waits")
            charges.remove(content["charge"])
            if "file" in content:
                _verify_file(transaction, event.entry, content["file"])
    if whole.place != journal.place or whole.state() != journal.state():
        raise Damaged("its last checkpoint does not agree with the entries before it")
    return Verified(entries=whole.entry, charges=whole.charges, head=whole.head, holds_anchor=holds)


def _verify_part(event: Event, charges: set[int], series: dict[int, list[Any]]) -> None:
    """A part goes on from the one before it: nothing that was kept is drawn again, changed or left out."""
    charge, kept = event.content["charge"], event.content["kept"]
    if charge not in charges or charge not in series:
        raise Damaged(f"entry {event.entry} is a part of no series")
    if len(kept) <= len(series[charge]) or kept[: len(series[charge])] != series[charge]:
        raise Damaged(f"entry {event.entry} does not go on from what its series had kept")
    series[charge] = kept


def _verify_file(transaction: Transaction, entry: int, digest: str) -> None:
    kept = transaction.kept(digest)
    if kept is None or hashlib.sha256(kept).hexdigest() != digest:
        raise Damaged(f"the file of entry {entry} is missing, or is not what was recorded")
