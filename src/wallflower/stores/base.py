"""What a store keeps and the few things it can be asked; the ledger above it knows what the rows mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from wallflower.errors import LedgerError

FORMAT = 2
"""The format of events and tables: `docs/reference/ledger.md`."""


FIELDS = ("entry", "at", "kind", "body", "hash", "asker", "request", "charge", "record")
"""The columns of an event, beside its table."""
PART = 1 << 20
"""Bytes of a kept file in one row."""


class Damaged(Exception):  # noqa: N818 - not an error of the package; the ledger turns it into one
    """What is stored is not what was written."""


class Gone(Exception):  # noqa: N818 - as above
    """The place that was opened is no longer there, or is another."""


class Unsure(Exception):  # noqa: N818 - as above
    """The connection broke while a transaction was being committed: it may have been, or not."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One event as it is stored. What stands beside `body` repeats parts of it, so that they can be looked up."""

    entry: int
    at: str
    kind: str
    body: str
    hash: str
    asker: str | None = None
    request: str | None = None
    charge: int | None = None
    """The charge that an answer, or its closing, belongs to: at most one for each."""
    record: str | None = None


def stored(found: Any) -> Row:
    """An event from its columns, in the order of `FIELDS`; Damaged where one is not what was written."""
    entry, at, kind, body, hash_, asker, request, charge, record = found
    texts = (at, kind, body, hash_)
    maybe = (asker, request, record)
    if (
        not isinstance(entry, int)
        or not all(isinstance(text, str) for text in texts)
        or not all(text is None or isinstance(text, str) for text in maybe)
        or not (charge is None or isinstance(charge, int))
    ):
        raise Damaged("an entry is not what was written")
    return Row(
        entry=entry,
        at=at,
        kind=kind,
        body=body,
        hash=hash_,
        asker=asker,
        request=request,
        charge=charge,
        record=record,
    )


@dataclass(frozen=True, kw_only=True)
class Head:
    """The last event, and the last checkpoint to read from. `entry` and `hash` say what must be there."""

    entry: int
    hash: str
    checkpoint: int


class Transaction(Protocol):
    """One table's rows inside one transaction."""

    def head(self) -> Head | None: ...
    def entries(self, *, after: int, most: int | None = None) -> Iterator[Row]: ...
    def charge(self, asker: str, request: str) -> Row | None: ...
    def reply(self, charge: int) -> Row | None: ...
    def charges(self, keys: Sequence[tuple[str, str]]) -> list[Row]: ...
    def replies(self, charges: Sequence[int]) -> list[Row]: ...
    def some(self, entries: Sequence[int]) -> list[Row]: ...
    def explained(self, most: int) -> tuple[list[str], int]: ...
    def about(self, record: str) -> list[int]: ...
    def append(self, rows: Sequence[Row], head: Head) -> None: ...
    def keep(self, digest: str, content: bytes) -> None: ...
    def kept(self, digest: str) -> bytes | None: ...


class Store(Protocol):
    """One table's ledger somewhere."""

    place: str
    """Where it is, for people."""

    @property
    def table(self) -> str | None:
        """The table it is asked for; None: whichever the file holds."""
        ...

    def exists(self) -> bool: ...

    def make(self, rows: Sequence[Row], head: Head, table: str) -> bool:
        """Make it whole with its first rows; False when another has made it in the meantime."""
        ...

    def transaction(self, *, write: bool) -> AbstractContextManager[Transaction]:
        """With `write` nobody else writes until it ends; on disk when it has ended."""
        ...

    def explain(self, error: Exception, *, known: bool, making: bool = False) -> LedgerError | None:
        """What went wrong, in a sentence that helps; None for an error that is not the store's."""
        ...

    def inspect(self) -> None:
        """Look over everything that is kept, not only what a ledger reads; Damaged where it is not sound."""
        ...

    def backup(self, target: str) -> None:
        """A whole and consistent copy, while the store is in use."""
        ...

    def presence(self) -> int | None:
        """A number that others can see is held as long as this process is connected; None where processes can be seen."""
        ...

    def present(self, number: int) -> bool | None:
        """Whether the holder of that number is still connected; None where that cannot be said."""
        ...

    def close(self) -> None:
        """Let go of what is held open, and of the presence; whoever uses the store again opens it anew."""
        ...
