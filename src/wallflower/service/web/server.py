"""The body of the web process: uvicorn on a socket that was bound by the supervisor."""

from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING, Any

from wallflower.service.configuration import Service
from wallflower.service.parent import say_ready, stop_with_parent
from wallflower.service.web.app import make
from wallflower.service.web.desk import Desk
from wallflower.stores.database import Database

if TYPE_CHECKING:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol


def settings(desk: Desk, protocol: type[H11Protocol] | None = None) -> uvicorn.Config:
    """How uvicorn serves a desk."""
    import uvicorn

    from wallflower.service.web.patience import patient

    service = desk.service
    return uvicorn.Config(
        make(desk),
        http=protocol or patient(),
        ws="none",
        log_level="warning",
        access_log=False,  # a request line can hold a name; the audit log says what matters
        server_header=False,
        date_header=True,
        proxy_headers=False,  # the gate believes the declared proxy alone
        timeout_keep_alive=20,
        timeout_graceful_shutdown=20,
        limit_concurrency=512,
        h11_max_incomplete_event_size=32 * 1024,
        ssl_certfile=None if service.certificate is None else str(service.certificate),
        ssl_keyfile=None if service.certificate_key is None else str(service.certificate_key),
    )


def serve_until(service: Service, listening: socket.socket, parent: Any) -> None:
    """Serve until told to stop, or until the supervisor's end of `parent` closes; it is told once this one answers."""
    import uvicorn

    os.umask(0o077)
    desk = Desk.of(service, Database(service.database))

    class Announced(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            say_ready(parent)

    server = Announced(settings(desk))

    stop_with_parent(parent, lambda: setattr(server, "should_exit", True))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server.config.load()
    server.run(sockets=[listening])
