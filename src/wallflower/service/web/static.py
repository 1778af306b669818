"""What a browser needs besides pages: one style sheet, a few lines of script, and the signs of life."""

from __future__ import annotations

from importlib.resources import files

from wallflower.service.metrics import exposition
from wallflower.service.web.desk import Desk
from wallflower.service.web.visit import Answer, Visit, as_json, handles

KINDS = {"console.css": "text/css; charset=utf-8", "console.js": "text/javascript; charset=utf-8"}
"""The names that exist: nothing else of the folder can be asked for."""


@handles("GET", "/static/{name}")
def static(_desk: Desk, visit: Visit) -> Answer:
    name = visit.path["name"]
    if name not in KINDS:
        return Answer(status=404, kind="text/plain", body=b"this does not exist.\n")
    body = files("wallflower.service").joinpath("static", name).read_bytes()
    return Answer(kind=KINDS[name], body=body, headers={"Cache-Control": "private, max-age=300"})


@handles("GET", "/health")
def health(desk: Desk, _visit: Visit) -> Answer:
    """Whether this process answers and its database can be read; nothing else is said to the world."""
    with desk.database.read() as seen:
        seen.one("SELECT max(version) AS version FROM service_version")
    return as_json({"ok": True})


@handles("GET", "/metrics")
def metrics(desk: Desk, _visit: Visit) -> Answer:
    body = exposition(desk.database, desk.service.ticks).encode()
    return Answer(kind="text/plain; version=0.0.4; charset=utf-8", body=body)
