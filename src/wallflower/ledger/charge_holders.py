"""Who holds a charge: each is handed to one caller, who answers it or gives it up.

A commit that was not confirmed may have stored a charge that nobody was handed: its caller was told to ask again. Nothing was
computed under it, so it is handed to whoever asks for it next, instead of being waited for or given up.
All of this is called under the lock of the ledger's object.
"""

from __future__ import annotations

from wallflower.ledger.admission import Ask


class ChargeHolders:
    """The charges that one ledger object has handed out."""

    def __init__(self) -> None:
        self._held: dict[int, object] = {}
        """Entries that were handed to a caller who has neither answered them nor given them up, and to whom."""
        self._loose: set[tuple[str, str]] = set()
        """Charges that this object may have stored and that nobody was handed, by asker and request."""
        self._passing: dict[tuple[str, str], tuple[int, object]] = {}
        """What the present transaction hands out once it has been committed."""
        self._answered: set[int] = set()
        """What the present transaction answers."""

    def make(self, ask: Ask, entry: int) -> None:
        """A charge that the present transaction makes; nobody's until the commit is confirmed."""
        self._loose.add(_key(ask))
        self.hand(ask, entry)

    def hand(self, ask: Ask, entry: int) -> None:
        """A charge that was stored before, and that the present transaction hands on."""
        self._passing[_key(ask)] = entry, ask.holder

    def is_loose(self, ask: Ask) -> bool:
        return _key(ask) in self._loose and not self.is_passing(ask)

    def is_passing(self, ask: Ask) -> bool:
        return _key(ask) in self._passing

    def holds(self, entry: int) -> bool:
        return entry in self._held

    def held_by(self, holder: object) -> list[int]:
        return [entry for entry, whose in list(self._held.items()) if whose is holder]

    def take_back(self, entry: int) -> None:
        """A charge that the present transaction answers."""
        self._answered.add(entry)

    def let_go(self, entry: int) -> None:
        """A charge whose caller gives it up."""
        self._held.pop(entry, None)

    def end(self, *, committed: bool) -> None:
        """The end of a transaction. Where it is not known to have been committed, what it made stays loose."""
        if committed:
            self._held |= dict(self._passing.values())
            self._loose.difference_update(self._passing)
            for entry in self._answered:
                self._held.pop(entry, None)
        self._passing.clear()
        self._answered.clear()


def _key(ask: Ask) -> tuple[str, str]:
    return ask.asker, str(ask.request_id)
