"""The web process: Starlette carries bytes, `gate.serve` decides, handlers answer.

Handlers are ordinary functions run in threads. A body is read up to its limit and within its time, or refused; headers
that keep a browser from doing anything but show our own pages are on every answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from wallflower.service.authorisation import ROUTES, Route
from wallflower.service.passwords import new_secret
from wallflower.service.people import SESSION_S
from wallflower.service.web import (
    api,
    console,
    declaration_page,
    ledger_page,
    login,
    openid,
    people_page,
    question_page,
    queue_page,
    static,
)
from wallflower.service.web.desk import Desk
from wallflower.service.web.gate import Arrival, serve
from wallflower.service.web.visit import HANDLERS, MOST_BODY, Answer, as_json
from wallflower.stores.database import is_outage

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request as Incoming
    from starlette.responses import Response

PARTS = (api, question_page, console, declaration_page, ledger_page, login, openid, people_page, queue_page, static)
"""Each binds its handlers to routes when it is imported."""
BODY_S = 10.0
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
log = logging.getLogger("wallflower.service")


def make(desk: Desk) -> Starlette:
    """The application of one service. Routes without a handler, or handlers without a route, are a bug seen at once."""
    from starlette.applications import Starlette
    from starlette.routing import Route as Path

    missing = [route.path for route in ROUTES if route not in HANDLERS]
    if missing:
        message = f"no handler for {missing}"
        raise LookupError(message)
    paths = [Path(route.path, _endpoint(desk, route), methods=[route.method]) for route in ROUTES]
    app = Starlette(routes=paths, exception_handlers={404: _plain, 405: _plain, 500: _plain, Exception: _plain})
    app.router.redirect_slashes = (
        False  # it would lead to whatever host, and by whatever scheme, the visitor's headers say
    )
    return app


def _endpoint(desk: Desk, route: Route) -> Callable[[Incoming], Awaitable[Response]]:
    async def endpoint(incoming: Incoming) -> Response:
        from starlette.concurrency import run_in_threadpool

        visit_cookie = incoming.cookies.get(f"{session_cookie(desk)}-visit") or new_secret()
        # Only pages have forms: what a proxy may keep, and what programs get, gives nobody a cookie.
        kept = None if route.for_programs or route.path in ("/health", "/static/{name}") else visit_cookie
        body = await _body(incoming)
        if body is None:
            return _respond(
                desk, Answer(status=413, kind="text/plain", body=b"the request was too long, or too slow.\n"), kept
            )
        arrival = Arrival(
            method=route.method,
            route=route,
            path={name: str(value) for name, value in incoming.path_params.items()},
            query=dict(incoming.query_params),
            headers={name.lower(): value for name, value in incoming.headers.items()},
            cookie=incoming.cookies.get(session_cookie(desk)),
            visit_cookie=visit_cookie,
            source=_source(desk, incoming),
            body=body,
        )
        try:
            answer = await run_in_threadpool(serve, desk, arrival)
        except Exception as error:  # noqa: BLE001 - its text could hold anything: the log gets the kind and the place
            answer = _broken(error)
        return _respond(desk, answer, kept)

    return endpoint


def _broken(error: Exception) -> Answer:
    """A database that is away is said to be; anything else is a bug, and the log gets its place."""
    from wallflower.errors import place

    if is_outage(error):
        words = {"kind": "outage", "message": "the service's database is away.", "hint": "Ask again in a moment."}
        away = as_json({"ok": False, "error": words}, 503)
        return Answer(status=503, kind=away.kind, body=away.body, headers={"Retry-After": "2"})
    log.error("a handler broke: %s", place(error))
    return Answer(status=500, kind="text/plain", body=b"this is a bug. Nothing was shown.\n")


async def _body(incoming: Incoming) -> bytes | None:
    """The whole body, or None when it is too long or too slow."""

    async def whole() -> bytes | None:
        found = bytearray()
        async for part in incoming.stream():
            found += part
            if len(found) > MOST_BODY:
                return None
        return bytes(found)

    from starlette.requests import ClientDisconnect

    try:
        return await asyncio.wait_for(whole(), BODY_S)
    except (TimeoutError, ClientDisconnect):
        return None


def secure(desk: Desk) -> bool:
    """Whether browsers reach this service by TLS."""
    return desk.service.certificate is not None or desk.service.proxy is not None


def session_cookie(desk: Desk) -> str:
    """By TLS a name that no other host can set, not even one of the same domain; so is that of a visit."""
    return "__Host-wallflower" if secure(desk) else "wallflower"


def _source(desk: Desk, incoming: Incoming) -> str:
    """Where a visitor comes from; a proxy's word counts only from the declared proxy."""
    peer = incoming.client.host if incoming.client else "unknown"
    if desk.service.proxy is not None and peer == desk.service.proxy:
        # The last word is the proxy's, in whichever line: what comes before it, a visitor may have written.
        forwarded = ",".join(incoming.headers.getlist("x-forwarded-for"))
        return forwarded.rpartition(",")[2].strip()[:64] or peer
    return peer


def _respond(desk: Desk, answer: Answer, visit_cookie: str | None) -> Response:
    from starlette.responses import Response

    response = Response(
        answer.body, status_code=answer.status, headers={**HEADERS, **answer.headers}, media_type=answer.kind
    )
    flags: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": secure(desk), "path": "/"}
    if secure(desk):
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    if visit_cookie is not None:
        # Lax: it must come along when an OpenID provider sends the browser back; it opens nothing by itself.
        response.set_cookie(
            f"{session_cookie(desk)}-visit", visit_cookie, max_age=SESSION_S, **{**flags, "samesite": "lax"}
        )
    if answer.session == "":
        response.delete_cookie(session_cookie(desk), **flags)
    elif answer.session is not None:
        response.set_cookie(session_cookie(desk), desk.signer.sealed(answer.session), max_age=SESSION_S, **flags)
    return response


async def _plain(_incoming: Incoming, _error: Exception) -> Response:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse("this does not exist.\n", status_code=404, headers=HEADERS)
