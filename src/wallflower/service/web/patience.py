"""How long a client may take, and how many may take their time at once.

A connection waits for its client until a whole request has come. Headers have a time limit (a body has its own, in
`app.py`), and when too many wait the one that has waited longest is closed: whoever dawdles pushes out dawdlers, and
nobody who speaks at once is shut out.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 10.0
MOST_WAITING = 384
"""Below the server's limit of connections, so that some are always left for requests that have come whole."""


def patient(headers_s: float = HEADERS_S, most_waiting: int = MOST_WAITING) -> type[H11Protocol]:  # noqa: C901 - one class
    """uvicorn's own protocol with these limits; every connection of a process shares them."""
    waiting: dict[Any, None] = {}
    """Connections that wait for their client, the longest first."""

    class Patient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._settle(begun=True)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._settle(begun=True)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            # Idle until the next byte, for which uvicorn's own limit holds; part of a next request may be there already.
            self._settle(begun=bool(self.conn.trailing_data[0]))

        def connection_lost(self, exc: Exception | None) -> None:
            waiting.pop(self, None)
            self._stop_clock()
            super().connection_lost(exc)

        def _settle(self, *, begun: bool) -> None:
            if self.transport.is_closing():
                return
            over = self.cycle is None or self.cycle.response_complete
            if not over:
                self._stop_clock()  # the headers are there
            elif begun and self._deadline is None:
                self._deadline = self.loop.call_later(headers_s, self.transport.abort)
            if over or self.cycle.more_body:
                waiting.setdefault(self)
                if len(waiting) > most_waiting:
                    longest = next(iter(waiting))
                    del waiting[longest]
                    longest.transport.abort()
            else:
                waiting.pop(self, None)

        def _stop_clock(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Patient
