"""Answers that come in parts under one charge: what was told is kept, and is what the next part goes on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wallflower.ledger import ledger_errors
from wallflower.ledger.chain import Chain, helpful
from wallflower.ledger.charge import Part
from wallflower.stores.base import Transaction, Unsure


class SeriesChain(Chain):
    """A chain of events that holds series."""

    def part_within(self, transaction: Transaction, charge: int) -> Part | None:
        """The latest part of a series; None before the first."""
        entry = self.journal.series.get(str(charge))
        if entry is None:
            return None
        said = self._event(transaction, entry).content
        return Part(entry=entry, kept=tuple(said["kept"]), release=said["release"])

    def part(self, charge: int, kept: Sequence[Any], release: Mapping[str, Any], *, after: Part | None) -> Part:
        """Record what a series goes on to tell; on disk before this returns. Returns what is recorded.

        Two that go on from the same part have drawn twice; the first that was recorded wins, and nobody sees the other.
        """
        for last in (False, True):
            try:
                return self._record_part(charge, kept, release, after)
            except Unsure:
                if last:
                    raise ledger_errors.unsure(self.place, f"of entry {charge}") from None
        raise AssertionError  # pragma: no cover - the loop returns or raises

    @helpful
    def _record_part(self, charge: int, kept: Sequence[Any], release: Mapping[str, Any], after: Part | None) -> Part:
        with self._transaction(write=True) as transaction:
            known = self._event(transaction, charge) if 0 < charge <= self.journal.entry else None
            if (
                known is None
                or known.kind != "charge"
                or not known.content.get("series")
                or transaction.reply(charge) is not None
            ):
                raise ledger_errors.not_waiting(self.place, charge)
            latest = self.part_within(transaction, charge)
            if latest is not None and (after is None or latest.entry != after.entry):
                return latest
            before = list(() if latest is None else latest.kept)
            if list(kept[: len(before)]) != before or len(kept) <= len(before):
                raise ledger_errors.not_waiting(self.place, charge)
            content = {"charge": charge, "kept": list(kept), "release": dict(release)}
            entry = self._append(transaction, "part", content).entry
            return Part(entry=entry, kept=tuple(kept), release=dict(release))
