"""Start the web process, the workers and the clerk, keep them running, deal requests at ticks, stop in order.

The supervisor does nothing that can take long, so that ticks are kept whatever the workers do. A child that dies is started
again; a supervisor that dies takes its children with it, since their end of a pipe closes. SIGHUP exchanges every child for
a new one: the new web process listens before the old one goes, and a worker goes when it has finished what it was at.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from wallflower.errors import UsageError, WallflowerError
from wallflower.service import errands, queue, rows_environment, worker
from wallflower.service.configuration import Service
from wallflower.service.keeper import STOP_S, Keeper
from wallflower.service.migrations import migrate
from wallflower.stores.database import Database

FIXED = ("database", "host", "port", "ticks", "workers", "folder")
"""What a running service cannot change: it would have to be stopped and started."""


class Supervisor:
    """A running service. `read_again`: how its file is read anew before children are exchanged."""

    def __init__(self, service: Service, read_again: Callable[[], Service] | None = None) -> None:
        self.service = service
        self.database = Database(service.database)
        self._read_again = read_again
        self._context = multiprocessing.get_context("spawn")
        self._stopping, self._renewing = threading.Event(), threading.Event()
        self._keepers: list[Keeper] = []

    def start(self) -> None:
        """Everything up; returns when the address is bound and every child has been started."""
        self.service.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.service.rows_environment is not None:
            rows_environment.read(
                self.service.rows_environment
            )  # a mistake is told now, not by workers that do not come up
        migrate(self.database)
        queue.redeal(self.database, workers=self.service.workers)
        bound = _bind(self.service)
        self._keep("web", _web, lambda: (self.service, bound), overlapping=True)
        for index in range(self.service.workers):
            self._keep(f"worker {index}", worker.main, partial(self._for_worker, index))
        self._keep("clerk", errands.main, lambda: (self.service,))
        threading.Thread(target=self._tick, name="ticks", daemon=True).start()

    def ask_to_stop(self) -> None:
        """Safe in a signal handler."""
        self._stopping.set()

    def ask_to_renew(self) -> None:
        """Safe in a signal handler, too."""
        self._renewing.set()

    def wait(self, say: Callable[[str], None] = lambda _words: None) -> None:
        """Until somebody stops it; `say` hears what became of being asked to renew."""
        while not self._stopping.wait(0.2):
            if self._renewing.is_set():
                self._renewing.clear()
                say(self.renew())

    def renew(self) -> str:
        """Read the file again and exchange every child; what was done, in words."""
        words = "New processes take over; what is under way is finished first."
        if self._read_again is not None:
            try:
                self.service = self._fitting(self._read_again())
            except WallflowerError as error:
                words = f"The file was not taken over: {error} {words}"
        for keeper in self._keepers:
            keeper.renew()
        return words

    def stop(self) -> None:
        """Take no more; let workers finish what is under way; then the web process."""
        self._stopping.set()
        for keeper in self._keepers:
            keeper.stop()
        end = time.monotonic() + STOP_S
        for keeper in self._keepers:
            keeper.join(end)
        self.database.close()

    def _for_worker(self, index: int) -> tuple[Service, int]:
        return self.service, index

    def _fitting(self, new: Service) -> Service:
        changed = [name for name in FIXED if getattr(new, name) != getattr(self.service, name)]
        if changed:
            raise UsageError(
                f"'{changed[0]}' cannot change while the service runs.", hint="Stop it and start it again."
            )
        return replace(new, demo=self.service.demo)

    def _tick(self) -> None:
        ticks = self.service.ticks
        while not self._stopping.is_set():
            with contextlib.suppress(Exception):  # the database may be restarting: the next tick comes
                queue.take(self.database, ticks, tick=ticks.at(time.time()), workers=self.service.workers)
            self._stopping.wait(min(ticks.until_next(time.time()) + 0.01, ticks.period_s))

    def _keep(
        self,
        name: str,
        target: Callable[..., None],
        arguments: Callable[[], tuple[Any, ...]],
        *,
        overlapping: bool = False,
    ) -> None:
        keeper = Keeper(name, self._context, target, arguments, overlapping=overlapping)
        self._keepers.append(keeper)
        keeper.start()


def _bind(service: Service) -> socket.socket:
    """The listening socket, bound before anything else starts: a taken port is told at once, and a web process that dies
    leaves it open for its successor.
    """
    family = socket.AF_INET6 if ":" in service.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((service.host, service.port))
    except OSError as error:
        listening.close()
        raise UsageError(
            f"cannot listen on {service.host}:{service.port}: {error.strerror}.", hint="Choose another port."
        ) from None
    listening.listen(256)
    return listening


def _web(service: Service, listening: socket.socket, parent: Any) -> None:
    """The body of the web process."""
    from wallflower.service.web.server import serve_until

    serve_until(service, listening, parent)
