"""One writer for a process that serves many: whatever waits is checked in order and committed together.

A commit waits for a disk; many charges in one commit wait once. Each is checked against the sums that the ones before
it in the same batch have left, so nothing is accepted that would not have been accepted alone, and nobody is told of a
charge before it is on disk.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Self, cast

from wallflower.errors import LedgerError, WallflowerError
from wallflower.ledger import ledger_errors
from wallflower.ledger.admission import OWNER, Ask, Shares
from wallflower.ledger.book import POLL_S, Ledger
from wallflower.ledger.chain import AfterCommit
from wallflower.ledger.charge import Charge
from wallflower.privacy.guarantee import Guarantee
from wallflower.schema.declaration import Declaration
from wallflower.stores.base import Head, Row, Transaction, Unsure

MOST = 256
"""How many charges and answers one commit holds at most."""


@dataclass(frozen=True, kw_only=True)
class _Answer:
    entry: int
    release: Mapping[str, Any]
    file: bytes | None


@dataclass
class _Waiting:
    """A charge or an answer that a thread waits for."""

    work: Ask | _Answer
    done: Future[Any] = field(default_factory=Future)


class BatchingWriter:
    """Charges and answers of many threads, in few commits. Use it as a context, or `close` it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="wallflower-ledger", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits, then end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def charge(
        self,
        guarantee: Guarantee,
        *,
        declaration: Declaration,
        query: Any,
        request_id: str | None = None,
        asker: str = OWNER,
        purpose: str = "",
        shares: Shares | None = None,
    ) -> Charge:
        """See `Ledger.charge`."""
        ask = Ask(
            guarantee=guarantee,
            declaration=declaration,
            query=query,
            request_id=uuid.uuid4().hex if request_id is None else request_id,
            asker=asker,
            purpose=purpose,
            shares=shares,
        )
        deadline = time.monotonic() + self._ledger.patience_s
        while True:
            charge = self._wait(ask)
            if charge is not None:
                return cast("Charge", charge)
            if time.monotonic() >= deadline:
                raise ledger_errors.pending(
                    str(ask.request_id), self._ledger.entry_charged(ask.asker, str(ask.request_id))
                )
            time.sleep(POLL_S)

    def answer(self, entry: int, release: Mapping[str, Any], *, file: bytes | None = None) -> dict[str, Any]:
        """See `Ledger.answer`."""
        return cast("dict[str, Any]", self._wait(_Answer(entry=entry, release=dict(release), file=file)))

    def _wait(self, work: Ask | _Answer) -> Any:
        waiting = _Waiting(work)
        with self._changed:
            if self._closed:
                raise LedgerError("this writer has been closed.", hint="Nothing was released.")
            self._queue.append(waiting)
            self._changed.notify()
        return waiting.done.result()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._closed:
                    self._changed.wait()
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), MOST))]
            if not batch:
                return
            self._write(batch)

    def _write(self, batch: Sequence[_Waiting]) -> None:
        try:
            outcomes = self._ledger.batch(lambda transaction: self._take_in(transaction, batch))
        except Unsure:
            self._one_by_one(batch)
            return
        except BaseException as error:  # noqa: BLE001 - every thread that waits is told
            for each in batch:
                each.done.set_exception(_copy(error))
            return
        for each, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                each.done.set_exception(outcome)
            else:
                each.done.set_result(outcome)

    def _take_in(self, transaction: Transaction, batch: Sequence[_Waiting]) -> list[Any]:
        """Each outcome, a value or a refusal; nobody hears of it before the commit."""
        buffered = Buffered(transaction, [each.work for each in batch])
        outcomes: list[Any] = []
        for each in batch:
            try:
                if isinstance(each.work, Ask):
                    outcomes.append(self._ledger.admit_within(buffered, each.work))
                else:
                    work = each.work
                    outcomes.append(self._ledger.answer_within(buffered, work.entry, work.release, work.file))
            except AfterCommit as later:
                outcomes.append(later.error)
            except (WallflowerError, TypeError) as refusal:
                outcomes.append(refusal.with_traceback(None))
        buffered.flush()
        return outcomes

    def _one_by_one(self, batch: Sequence[_Waiting]) -> None:
        """After a commit that may or may not have happened: each is looked for by its id, or made again."""
        for each in batch:
            try:
                if isinstance(each.work, Ask):
                    each.done.set_result(self._ledger.admit(each.work))
                else:
                    work = each.work
                    each.done.set_result(self._ledger.answer(work.entry, work.release, file=work.file))
            except BaseException as error:  # noqa: BLE001 - as above
                each.done.set_exception(error)


class Buffered:
    """A transaction that looks up what a batch needs at once, and writes it at once."""

    def __init__(self, inner: Transaction, works: Sequence[Ask | _Answer]) -> None:
        self._inner = inner
        self._rows: list[Row] = []
        self._head: Head | None = None
        asks = [(work.asker, str(work.request_id)) for work in works if isinstance(work, Ask)]
        entries = sorted({work.entry for work in works if isinstance(work, _Answer)})
        self._charges = {(str(row.asker), str(row.request)): row for row in inner.charges(asks)}
        self._looked_up = set(entries)
        found = inner.head()
        self._written = 0 if found is None else found.entry
        """The last entry that is stored; later ones are in this batch alone."""
        self._replies = {int(row.charge or 0): row for row in inner.replies(entries)}
        near = {near for entry in entries for near in (entry - 1, entry)}
        self._known = {row.entry: row for row in inner.some(sorted(near))}

    def head(self) -> Head | None:
        return self._head or self._inner.head()

    def entries(self, *, after: int, most: int | None = None) -> Iterator[Row]:
        if most is None:
            return self._inner.entries(after=after)
        wanted = range(after + 1, after + 1 + most)
        missing = [entry for entry in wanted if entry not in self._known]
        if missing:
            self._known |= {row.entry: row for row in self._inner.some(missing)}
        return iter(self.some(wanted))

    def charge(self, asker: str, request: str) -> Row | None:
        return self._charges.get((asker, request))

    def charges(self, keys: Sequence[tuple[str, str]]) -> list[Row]:
        return [self._charges[key] for key in keys if key in self._charges]

    def reply(self, charge: int) -> Row | None:
        if charge not in self._looked_up and charge <= self._written:
            self._looked_up.add(charge)
            found = self._inner.reply(charge)
            if found is not None:
                self._replies[charge] = found
        return self._replies.get(charge)

    def replies(self, charges: Sequence[int]) -> list[Row]:
        return [self._replies[entry] for entry in charges if entry in self._replies]

    def some(self, entries: Sequence[int]) -> list[Row]:
        return [self._known[entry] for entry in entries if entry in self._known]

    def explained(self, most: int) -> tuple[list[str], int]:
        return self._inner.explained(most)

    def about(self, record: str) -> list[int]:
        return self._inner.about(record)

    def append(self, rows: Sequence[Row], head: Head) -> None:
        self._head = head
        for row in rows:
            self._rows.append(row)
            self._known[row.entry] = row
            if row.request is not None:
                self._charges[str(row.asker), row.request] = row
            if row.charge is not None:
                self._replies[row.charge] = row

    def keep(self, digest: str, content: bytes) -> None:
        self._inner.keep(digest, content)

    def kept(self, digest: str) -> bytes | None:
        return self._inner.kept(digest)

    def flush(self) -> None:
        if self._head is not None:
            self._inner.append(self._rows, self._head)


def _copy(error: BaseException) -> BaseException:
    """One error for each thread: a shared one would collect their tracebacks."""
    if isinstance(error, WallflowerError):
        return type(error)(error.message, hint=error.hint)
    return error
