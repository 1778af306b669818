"""A table's chain of events in its store: read up to date, appended to, one writer at a time."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from wallflower.errors import LedgerError, WallflowerError
from wallflower.ledger import ledger_errors, verification
from wallflower.ledger.events import Event
from wallflower.ledger.hidden_charges import Unseen, without
from wallflower.ledger.journal import Journal
from wallflower.stores.base import Damaged, Head, Store, Transaction, Unsure
from wallflower.stores.interrupts import Block, block

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Book = TypeVar("Book", bound="Chain")


def helpful(
    method: Callable[Concatenate[Book, Arguments], Result],
) -> Callable[Concatenate[Book, Arguments], Result]:
    """Turn what goes wrong with the store into a sentence that helps, without a chain or a library's traceback."""

    @wraps(method)
    def helped(self: Book, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        known = self._known
        try:
            return method(self, *arguments, **named)
        except WallflowerError:
            raise
        except Damaged as error:
            trouble: WallflowerError | None = ledger_errors.damaged(self.place, str(error))
        except Exception as error:  # whatever the store cannot explain is raised again below
            trouble = self._store.explain(error, known=known, making=method.__name__ == "_make")
            if trouble is None:
                raise
        if trouble is None:  # pragma: no cover - raised above
            raise AssertionError
        raise trouble  # outside the handlers: inside them Python would keep the first error as __context__

    return helped


def confirmed(
    method: Callable[Concatenate[Book, Arguments], Result],
) -> Callable[Concatenate[Book, Arguments], Result]:
    """For what is written once however often it is asked for: say so when the commit was not confirmed."""

    @wraps(method)
    def told(self: Book, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return method(self, *arguments, **named)
        except Unsure:
            raise ledger_errors.unconfirmed(self.place) from None

    return told


class Chain:
    """The events of one table, and the journal that adds them up."""

    def __init__(self, store: Store, unseen: Unseen | None = None) -> None:
        self.place = store.place
        self._unseen = unseen
        self._store = store
        self._journal: Journal | None = None
        self._head: Head | None = None
        """The latest that was read or written for sure; what was seen once is never forgotten, whatever fails."""
        self._known = False
        self._lock = threading.Lock()
        self._latest = threading.local()
        self._process = os.getpid()

    @property
    def journal(self) -> Journal:
        if self._journal is None:
            raise Damaged("it has not been read")
        return self._journal

    def _append(
        self, transaction: Transaction, kind: str, content: Mapping[str, Any], *, at: str | None = None
    ) -> Event:
        """The next event, and a checkpoint after it where one is due."""
        journal = self.journal
        before = journal.entry
        made = [Event.after(journal.head, table=journal.table, entry=before + 1, kind=kind, content=content, at=at)]
        journal.add(made[0])
        if journal.is_due:
            state = {"state": journal.state()}
            made.append(
                Event.after(journal.head, table=journal.table, entry=before + 2, kind="checkpoint", content=state)
            )
            journal.add(made[1])
        transaction.append([event.row() for event in made], journal.place)
        return made[0]

    def _event(self, transaction: Transaction, entry: int) -> Event:
        """An earlier entry, checked against the hash of the one before it."""
        rows = list(transaction.entries(after=max(entry - 2, 0), most=2 if entry > 1 else 1))
        if not rows or rows[-1].entry != entry:
            raise Damaged(f"entry {entry} is missing")
        before = rows[0].hash if entry > 1 else "0" * 64
        return Event.stored(rows[-1], table=self.journal.table, before=before)

    def _seen(self, transaction: Transaction) -> Journal:
        """The journal, less the charges that are not to be seen yet."""
        if self._unseen is None:
            return self.journal
        # Asked for after the journal was read: whatever it holds by then is among them. A later charge is not in it.
        made = [row.entry for row in transaction.charges(self._unseen()) if row.entry <= self.journal.entry]
        return without(self.journal, [self._event(transaction, entry).content for entry in made])

    @helpful
    def batch(self, work: Callable[[Transaction], Result]) -> Result:
        """Several charges and answers in one writing transaction: `ledger.batching`."""
        with self._transaction(write=True) as transaction:
            return work(transaction)

    def _transaction(self, *, write: bool) -> AbstractContextManager[Transaction]:
        """The journal up to date and, with `write`, nobody else writing; on disk when the block has ended."""
        if self._process != os.getpid():
            self._forked()
        latest: Callable[[], Block[Transaction] | None] = getattr(self._latest, "block", _none)
        left = latest()
        if left is not None and left.is_open:
            if left.is_beneath():
                raise ledger_errors.nested(self.place)
            left.close()  # an interrupt came just as it was to end; no other thread can be in it
        made = self._alone(write=write)
        self._latest.block = weakref.ref(made)  # with the interrupt's traceback goes the last that keeps it open
        return made

    @block
    def _alone(self, *, write: bool) -> Iterator[Transaction]:
        later: LedgerError | None = None
        with self._lock:
            try:
                with self._store.transaction(write=write) as transaction:
                    self._catch_up(transaction)
                    try:
                        yield transaction
                    except AfterCommit as wait:
                        later = wait.error
                self._head = self.journal.place
                self._ended(committed=True)
            except BaseException:  # an interrupt may come just after the commit, too
                if write:
                    self._journal = None  # it may hold what was not written; the next use reads it anew
                self._ended(committed=False)
                raise
        if later is not None:
            raise later

    def _forked(self) -> None:
        """In a child: a thread of the parent's may have been at work, and it does not exist here to end it and let go."""
        self._lock, self._process, self._journal = threading.Lock(), os.getpid(), None
        self._latest = threading.local()
        self._ended(committed=False)

    def _ended(self, *, committed: bool) -> None:
        """What follows from the end of a transaction, before another begins; `committed`: that is known to have happened."""

    def _catch_up(self, transaction: Transaction) -> None:
        head = transaction.head()
        if head is None:
            raise ledger_errors.missing(self.place, str(self._store.table))
        if self._journal is None and self._head is not None:
            verification.refuse_another(transaction, self._head, head)
        self._journal = verification.caught_up(transaction, self._journal, head)
        self._head = self._journal.place
        self._known = True


def _none() -> None:
    """The latest transaction of a thread that has had none."""


class AfterCommit(Exception):  # noqa: N818 - a message between a transaction and its end
    """Commit what was written, then raise this error."""

    def __init__(self, error: LedgerError) -> None:
        super().__init__()
        self.error = error
