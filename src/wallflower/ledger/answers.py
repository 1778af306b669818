"""The answers that a ledger keeps: every release can be had again, and compared with what someone holds up as one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wallflower.errors import LedgerError
from wallflower.ledger import ledger_errors, verification
from wallflower.ledger.chain import confirmed, helpful
from wallflower.ledger.events import Event
from wallflower.ledger.series import SeriesChain
from wallflower.stores.base import Damaged, Transaction


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A charge and the answer to it, as the ledger keeps both."""

    charge: Event
    release: Mapping[str, Any]
    """The JSON of the release, as it left but for the order of its fields."""
    file: str | None
    """The digest of the kept file of a publication."""

    @property
    def entry(self) -> int:
        return self.charge.entry

    def to_json(self) -> dict[str, Any]:
        """A line of the list of releases."""
        said = self.charge.content
        return {
            "entry": self.entry,
            "at": self.charge.at,
            "asker": said["asker"],
            "purpose": said["purpose"],
            "request": said["request"],
            "asked": said["question"],
            "release": self.release["release"],
            "file": self.file,
        }

    def differences(self, claimed: Mapping[str, Any]) -> list[str]:
        """The fields in which `claimed` is not this release, by name. Where a publication was put is no part of it."""
        said = self.charge.content
        own = {
            "asked": said["question"],
            "at": self.charge.at,
            "guarantee": said["promise"],
            "declaration.fingerprint": said["fingerprint"],
            "ledger.entry": self.entry,
            "ledger.head": f"sha256:{self.charge.hash}",
        }
        held = _placeless(self.release)
        given = _placeless(claimed)
        found = [name for name, _, _ in _unequal(held, given)]
        # The answer and its charge were written by one program: that they agree is checked all the same.
        found += [name for name, wanted in own.items() if _at(claimed, name) != wanted and name not in found]
        return sorted(set(found))


class Answers(SeriesChain):
    """A chain that is asked for the answers in it; of a series, for its latest part."""

    @helpful
    def kept(self, digest: str) -> bytes:
        """The file of a publication, as it was recorded."""
        with self._transaction(write=False) as transaction:
            content = transaction.kept(digest)
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            raise Damaged("the file of a publication is missing, or is not what was recorded")
        return content

    @helpful
    def recorded(self, entry: int, *, like: Mapping[str, Any] | None = None) -> Recorded:
        """The answer to the charge at `entry`, each checked against the hash of the entry before it.

        Of a series the latest part; with `like`, an earlier part that says the same as that.
        """
        with self._transaction(write=False) as transaction:
            if not 0 < entry <= self.journal.entry:
                raise _none_at(self.place, entry)
            charge = self._event(transaction, entry)
            told = self.part_within(transaction, entry) if charge.kind == "charge" else None
            if told is not None:
                parts = () if like is None or told.release == like else self._parts(transaction, entry)
                return Recorded(charge=charge, release=next((p for p in parts if p == like), told.release), file=None)
            reply = transaction.reply(entry) if charge.kind == "charge" else None
            if reply is None or reply.kind != "answer":
                raise _none_at(self.place, entry)
            said = self._event(transaction, reply.entry).content
        return Recorded(charge=charge, release=said["release"], file=said.get("file"))

    @helpful
    def entry_charged(self, asker: str, request: str) -> int:
        """The entry at which a request was charged, under whatever declaration; 0 where it was not."""
        with self._transaction(write=False) as transaction:
            found = transaction.charge(asker, request)
            return 0 if found is None else found.entry

    @helpful
    @confirmed
    def close(self, entry: int, why: str) -> None:
        """Say that a charge will have no answer; its request id is dead from now on. Nothing where it has one."""
        with self._transaction(write=True) as transaction:
            charged = self._event(transaction, entry).kind == "charge" and str(entry) not in self.journal.series
            if charged and transaction.reply(entry) is None:
                self._append(transaction, "closed", {"charge": entry, "why": why})

    @helpful
    @confirmed
    def close_request(self, asker: str, request: str, why: str) -> None:
        """`close`, by the id of a request; refused where it is not a charge that waits."""
        with self._transaction(write=True) as transaction:
            found = transaction.charge(asker, request)
            if found is None or transaction.reply(found.entry) is not None or str(found.entry) in self.journal.series:
                raise ledger_errors.no_such_request(self.place, request)
            self._append(transaction, "closed", {"charge": found.entry, "why": why})

    def _parts(self, transaction: Transaction, charge: int) -> Iterator[Mapping[str, Any]]:
        """What every part of a series told, oldest first."""
        for event in verification.chain(transaction, self.journal.table):
            if event.kind == "part" and event.content["charge"] == charge:
                yield event.content["release"]

    @helpful
    def releases(self, *, asker: str | None = None) -> list[Recorded]:
        """Every answer that was recorded, oldest first; with `asker`, theirs alone. Reads the whole chain."""
        found: dict[int, Recorded] = {}
        charges: dict[int, Event] = {}
        with self._transaction(write=False) as transaction:
            for event in verification.chain(transaction, self.journal.table):
                if event.kind == "charge" and (asker is None or event.content["asker"] == asker):
                    charges[event.entry] = event
                elif event.kind == "part" and event.content["charge"] in charges:
                    charge = charges[event.content["charge"]]  # a later part takes its place
                    found[charge.entry] = Recorded(charge=charge, release=event.content["release"], file=None)
                elif event.kind == "answer" and event.content["charge"] in charges:
                    said = event.content
                    charge = charges.pop(said["charge"])
                    found[charge.entry] = Recorded(charge=charge, release=said["release"], file=said.get("file"))
        return [found[entry] for entry in sorted(found)]


def _none_at(place: str, entry: int) -> LedgerError:
    return LedgerError(
        f"the ledger {place} holds no release at entry {entry}.",
        hint="`wallflower releases DECL` lists those that it holds.",
    )


def _placeless(release: Mapping[str, Any]) -> dict[str, Any]:
    """A release without the name of the file that a publication was put in; its digest stays."""
    value = release.get("release")
    if not isinstance(value, Mapping) or "sha256" not in value:
        return dict(release)
    return {**release, "release": {name: part for name, part in value.items() if name != "file"}}


def _unequal(held: Any, given: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every place where two JSON values differ; 1, 1.0 and true are three different values."""
    if isinstance(held, Mapping) and isinstance(given, Mapping):
        for name in sorted({*held, *given}):
            where = f"{at}.{name}".lstrip(".")
            if name not in held or name not in given:
                yield where, held.get(name), given.get(name)
            else:
                yield from _unequal(held[name], given[name], where)
    elif isinstance(held, list) and isinstance(given, list) and len(held) == len(given):
        for place, (one, other) in enumerate(zip(held, given, strict=True)):
            yield from _unequal(one, other, f"{at}[{place}]")
    elif type(held) is not type(given) or held != given:
        yield at, held, given


def _at(release: Any, name: str) -> Any:
    for part in name.split("."):
        release = release.get(part) if isinstance(release, Mapping) else None
    return release
