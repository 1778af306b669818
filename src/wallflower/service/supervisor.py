"""Start the web process and the workers, keep them running, deal requests at ticks, stop in order.

The supervisor does nothing that can take long, so that ticks are kept whatever the workers do. A child that dies is started
again; a supervisor that dies takes its children with it, since their end of a pipe closes.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from wallflower.service import queue, worker
from wallflower.service.configuration import Service
from wallflower.service.migrations import migrate
from wallflower.stores.database import Database

BACK_OFF_S = (0.1, 5.0)
"""Pause before a child is started again: it doubles while children die young."""
YOUNG_S = 10.0
STOP_S = 60.0


class Supervisor:
    """A running service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.database = Database(service.database)
        self._context = multiprocessing.get_context("spawn")
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._children: dict[str, Any] = {}

    def start(self) -> None:
        """Everything up; returns when the address is bound and every child has been started."""
        self.service.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        migrate(self.database)
        queue.redeal(self.database, workers=self.service.workers)
        bound = _bind(self.service)
        self._keep("web", _web, (self.service, bound))
        for index in range(self.service.workers):
            self._keep(f"worker {index}", worker.main, (self.service, index))
        ticker = threading.Thread(target=self._tick, name="ticks", daemon=True)
        ticker.start()
        self._threads.append(ticker)

    def ask_to_stop(self) -> None:
        """Safe in a signal handler."""
        self._stopping.set()

    def wait(self) -> None:
        """Until somebody stops it."""
        while not self._stopping.wait(0.5):
            pass

    def stop(self) -> None:
        """Take no more; let workers finish what is under way; then the web process."""
        self._stopping.set()
        children = list(self._children.values())
        for child in children:
            child.terminate()
        end = time.monotonic() + STOP_S
        for child in children:
            child.join(max(0.1, end - time.monotonic()))
            if child.is_alive():
                child.kill()
        for thread in self._threads:
            thread.join(2)
        self.database.close()

    def processes(self) -> dict[str, int]:
        """Names and process ids of the children that run now."""
        return {name: child.pid for name, child in self._children.items() if child.is_alive()}

    def _tick(self) -> None:
        ticks = self.service.ticks
        while not self._stopping.is_set():
            with contextlib.suppress(Exception):  # the database may be restarting: the next tick comes
                queue.take(self.database, ticks, tick=ticks.at(time.time()), workers=self.service.workers)
            self._stopping.wait(min(ticks.until_next(time.time()) + 0.01, ticks.period_s))

    def _keep(self, name: str, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        def keep() -> None:
            pause = BACK_OFF_S[0]
            while not self._stopping.is_set():
                alive, ours = self._context.Pipe(duplex=False)
                child = self._context.Process(target=target, args=(*arguments, alive), name=f"wallflower {name}")
                began = time.monotonic()
                child.start()
                alive.close()
                self._children[name] = child
                started.set()
                child.join()
                ours.close()
                pause = BACK_OFF_S[0] if time.monotonic() - began > YOUNG_S else min(2 * pause, BACK_OFF_S[1])
                self._stopping.wait(pause)

        started = threading.Event()
        thread = threading.Thread(target=keep, name=f"keeper of {name}", daemon=True)
        thread.start()
        started.wait(30)
        self._threads.append(thread)


def _bind(service: Service) -> socket.socket:
    """The listening socket, bound before anything else starts: a taken port is told at once, and a web process that dies
    leaves it open for its successor.
    """
    from wallflower.errors import UsageError

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


def _web(service: Service, listening: socket.socket, alive: Any) -> None:
    """The body of the web process."""
    from wallflower.service.web.server import serve_until

    serve_until(service, listening, alive)
