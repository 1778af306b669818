"""A worker: the only process of the service that opens rows. It charges, draws, records, and leaves the outcome.

Started afresh (spawned, not forked) with its own connections. Killed at any moment it leaves either nothing, or a charge
without an answer that its successor reports, or a recorded answer that its successor hands on: the ledger's request id
makes sure of that.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wallflower.errors import LedgerError, PendingError, ReleaseFailed, WallflowerError, place
from wallflower.privacy.release import Release
from wallflower.schema.declaration import Declaration
from wallflower.service import queue
from wallflower.service.configuration import Service
from wallflower.service.declarations import current
from wallflower.service.grants import budgets, shares
from wallflower.service.looks import answer_looks
from wallflower.service.parent import say_ready, stop_with_parent
from wallflower.service.questions import question
from wallflower.service.redaction import told, without_places
from wallflower.service.requests import Request, binding, return_to_queue
from wallflower.service.rows_environment import take_over
from wallflower.service.warm_up import warm
from wallflower.session import Session, declared
from wallflower.session.pricing import price_of
from wallflower.stores.database import Database, is_outage

PAUSE_S = 0.2
OUTAGE_S = 1.0
LOST = "The work broke off after the charge. The charge stands, nothing was shown, and the same question can be asked anew."


class _Later(Exception):  # noqa: N818 - reads as what it says
    """A server was away: the request stays taken, and is tried again."""


@dataclass(frozen=True)
class _Changed:
    """What was approved is not what would be asked now; nothing has been charged."""

    price: Mapping[str, Any]
    bound: str


@dataclass(frozen=True)
class Worker:
    """One of the declared number; `index` says which requests are its own."""

    service: Service
    index: int
    database: Database
    _open: dict[str, Session] = field(default_factory=dict, repr=False)
    """The session of each table, as long as its declaration stays the same: its ledger is then caught up with, not read anew."""

    def run(self, stop: threading.Event, wait: Callable[[float], object] | None = None) -> None:
        """Work until told to stop; what is under way is finished first."""
        pause = wait or stop.wait
        while not stop.is_set():
            try:
                busy = self.step()
            except Exception as error:
                if not isinstance(error, _Later) and not is_outage(error):
                    raise
                busy = False
                pause(OUTAGE_S)
            if not busy:
                pause(PAUSE_S)

    def step(self) -> bool:
        """One request, or one owner's look; whether there was any."""
        waiting = queue.mine(self.database, worker=self.index)
        if waiting:
            self.work(waiting[0])
            return True
        return answer_looks(self.database, self.service) if self.index == 0 else False

    def work(self, request: Request) -> None:
        outcome = self._outcome(request)
        if isinstance(outcome, _Changed):
            with self.database.write() as changes:
                return_to_queue(changes, request, price=outcome.price, bound=outcome.bound)
            return
        tick = self.service.ticks.at(self.database.clock())
        queue.finish(self.database, request, outcome, tick=tick)

    def _outcome(self, request: Request) -> Mapping[str, Any] | _Changed:
        """What came of it, or what it has become since it was approved."""
        try:
            with self.database.read() as seen:
                declaration = current(seen, self.service, request.table).declaration
                limits = shares(seen, self.service, request.table, request.asker)
            session = self._session(request.table, declaration)
            self.service.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A published file is kept with the ledger, from where the web process hands it on; this copy goes at once.
            with TemporaryDirectory(dir=self.service.folder, prefix="worker-") as folder:
                query = question(request.command, request.fields, folder=Path(folder))
                try:
                    price = price_of(query, declaration)
                    bound = binding(declaration, price)
                except WallflowerError:  # the declaration has no room for this question any more
                    left = _left_by_another(session, request)
                    if left is None:
                        raise
                    return left
                if bound != request.bound:
                    return _left_by_another(session, request) or _Changed(price.to_json(), bound)
                return {"release": self._release(session, query, request, limits).to_json()}
        except ReleaseFailed as error:
            return {"lost": f"{LOST} ({without_places(error.message)})"}
        except WallflowerError as error:
            if isinstance(error, PendingError) or (isinstance(error, LedgerError) and error.passing):
                raise _Later from None  # under the same id it is charged once, however often it is tried
            return {"error": told(error)}
        except Exception as error:  # its text may quote a row: only the place is told
            if is_outage(error):
                raise
            return {"lost": f"{LOST} ({place(error)})"}

    def _session(self, table: str, declaration: Declaration) -> Session:
        kept = self._open.get(table)
        if kept is None or kept.declaration != declaration:
            kept = self._open[table] = declared(declaration)
        return kept

    def _release(self, session: Session, query: Any, request: Request, limits: Mapping[str, Any]) -> Release:
        tick = self.service.ticks.words(request.taken_tick or 0)
        return session.release(
            query, request.id, asker=request.asker, purpose=request.purpose, shares=budgets(limits), at=tick
        )


def _left_by_another(session: Session, request: Request) -> dict[str, Any] | None:
    """What a worker that was killed after the charge has left; None where nothing was charged. A declaration that was edited
    since takes no charge back: the request is over, with the answer that is recorded or without one.
    """
    ledger = session.ledger
    entry = ledger.entry_charged(request.asker, request.id)
    if not entry:
        return None
    ledger.close(entry, "its process has ended")  # nothing where an answer is recorded
    try:
        return {"release": dict(ledger.recorded(entry).release)}
    except LedgerError as error:
        if error.passing:
            raise
        return {"lost": LOST}


def main(service: Service, index: int, parent: Any) -> None:
    """The body of a worker process; `parent` closes when the service has gone."""
    import signal

    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which then stops its workers
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    stop_with_parent(parent, stop.set)
    take_over(service.rows_environment)
    database = Database(service.database)
    warm(database, service, stop)
    say_ready(parent)
    Worker(service, index, database).run(stop)
