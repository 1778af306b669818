"""Errands: prices that take long, and rehearsals, computed by a clerk of their own so that nobody else's page waits.

Which questions are slow is said by the question alone. An errand has a name made of what is asked and by whom, so that
asking again finds it; an asker has few at once; one that takes longer than its time ends the clerk, who is started anew and
says so. The clerk opens no rows.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

from wallflower.engines.stand_in import MADE_UP, PUBLIC
from wallflower.errors import PendingError, UsageError, WallflowerError, place
from wallflower.schema import canonical
from wallflower.service.configuration import Service
from wallflower.service.declarations import current
from wallflower.service.parent import say_ready, stop_with_parent
from wallflower.service.questions import Given, question
from wallflower.service.quotes import Quoter
from wallflower.service.redaction import told, without_places
from wallflower.session.rehearsal import rehearse
from wallflower.stores.database import Database, is_outage

MOST_AT_ONCE = 3
"""Unfinished errands of one asker."""
MOST_IN_ALL = 60
KEPT_S = 300.0
LONGEST_S = 120
PAUSE_S = 0.1
DRAWS = 100
"""Private answers of a rehearsal."""
TOO_LONG = {
    "kind": "usage",
    "message": f"this question took longer than {LONGEST_S} seconds to work out.",
    "hint": "Ask about fewer columns or values at once.",
}
_SLOW_COLUMNS = {"count": 6, "subspaces": 5, "explain": 7, "publish": 100}
_SLOW_VALUES = 20


def is_slow(command: str, given: Given) -> bool:
    """Whether a price may take seconds: many columns, or many values at once.

    >>> is_slow("count", {"columns": ["age"]}), is_slow("identify", {"values": "age=1\\n" * 50})
    (False, True)
    """
    if command == "identify":
        values = given.get("values", "")
        return sum(len(text.splitlines()) for text in ([values] if isinstance(values, str) else values)) > _SLOW_VALUES
    names = given.get("by" if command == "explain" else "columns", ())
    number = names.count(",") + 1 if isinstance(names, str) else sum(name.count(",") + 1 for name in names)
    return number >= _SLOW_COLUMNS.get(command, 1)


def quoted(
    database: Database, service: Service, *, table: str, command: str, given: Given, asker: str, patience_s: float
) -> dict[str, Any]:
    """The clerk's quote, waited for as long as `patience_s`; then it is said to come, and asking again finds it."""
    return _ordered(
        database, service, table=table, command=command, given=given, asker=asker, patience_s=patience_s, kind="price"
    )


def rehearsed(
    database: Database, service: Service, *, table: str, command: str, given: Given, asker: str, patience_s: float
) -> dict[str, Any]:
    """The question tried by the clerk on the declared public file, or on made-up rows: nothing there is private."""
    return _ordered(
        database,
        service,
        table=table,
        command=command,
        given=given,
        asker=asker,
        patience_s=patience_s,
        kind="rehearsal",
    )


def _ordered(
    database: Database,
    service: Service,
    *,
    table: str,
    command: str,
    given: Given,
    asker: str,
    patience_s: float,
    kind: str,
) -> dict[str, Any]:
    identity, fields = _named(database, service, kind=kind, asker=asker, table=table, command=command, given=given)
    _send(database, identity, kind=kind, table=table, command=command, fields=fields, asker=asker)
    end = time.monotonic() + patience_s
    while True:
        with database.read() as seen:
            row = seen.one("SELECT state, result FROM errands WHERE id = :id", id=identity)
        if row is not None and row["result"] is not None:
            return _result(json.loads(row["result"]))
        if time.monotonic() >= end:
            raise PendingError(f"the {kind} of this question is being computed.", hint="Ask again in a moment.")
        time.sleep(PAUSE_S)


def _named(
    database: Database, service: Service, *, kind: str, asker: str, table: str, command: str, given: Given
) -> tuple[str, str]:
    """An errand's id, and its fields as they are kept."""
    with database.read() as seen:
        fingerprint = current(seen, service, table).declaration.fingerprint
    fields = canonical.text(given)
    return canonical.digest([kind, asker, table, command, fields, fingerprint])[:32], fields


def rehearsal_of(
    database: Database, service: Service, *, table: str, command: str, given: Given, asker: str
) -> dict[str, Any] | None:
    """What the clerk has found or is at: `{"lines", "bars"}`, `{"error"}` or `{"pending": True}`; None if nobody asked."""
    identity, _ = _named(database, service, kind="rehearsal", asker=asker, table=table, command=command, given=given)
    with database.read() as seen:
        row = seen.one(
            "SELECT result FROM errands WHERE id = :id AND ends_at > :now", id=identity, now=database.clock()
        )
    if row is None:
        return None
    return {"pending": True} if row["result"] is None else dict(json.loads(row["result"]))


def _result(found: dict[str, Any]) -> dict[str, Any]:
    error = found.get("error")
    if error is None:
        return found
    kinds = {kind.kind: kind for kind in _kinds(WallflowerError)}
    raise kinds.get(error["kind"], UsageError)(error["message"], hint=error["hint"])


def _kinds(kind: type[WallflowerError]) -> list[type[WallflowerError]]:
    return [each for below in kind.__subclasses__() for each in (*_kinds(below), below)]


def _send(database: Database, identity: str, *, kind: str, table: str, command: str, fields: str, asker: str) -> None:
    now = database.clock()
    with database.write() as changes:
        changes.run("DELETE FROM errands WHERE ends_at < :now", now=now)
        if changes.one("SELECT id FROM errands WHERE id = :id", id=identity):
            return
        waiting = changes.all("SELECT asker FROM errands WHERE result IS NULL")
        if sum(row["asker"] == asker for row in waiting) >= MOST_AT_ONCE or len(waiting) >= MOST_IN_ALL:
            raise UsageError(
                "several of your prices or rehearsals are still being computed.", hint="Wait for them, then ask again."
            )
        changes.run(
            "INSERT INTO errands (id, asker, subject, command, fields, kind, state, asked_at, ends_at) "
            "VALUES (:id, :asker, :table, :command, :fields, :kind, 'asked', :now, :ends)",
            id=identity,
            kind=kind,
            asker=asker,
            table=table,
            command=command,
            fields=fields,
            now=now,
            ends=now + KEPT_S,
        )


def step(database: Database, service: Service) -> bool:
    """Do the errand that has waited longest; whether there was one."""
    with database.read() as seen:  # looked for often, and seldom there: writers are not kept waiting for it
        if seen.one("SELECT id FROM errands WHERE state = 'asked' LIMIT 1") is None:
            return False
    with database.write() as changes:
        row = changes.one("SELECT * FROM errands WHERE state = 'asked' ORDER BY asked_at LIMIT 1")
        if row is None:
            return False
        changes.run("UPDATE errands SET state = 'begun' WHERE id = :id", id=row["id"])
    given = json.loads(str(row["fields"]))
    try:
        table, command = str(row["subject"]), str(row["command"])
        if row["kind"] == "rehearsal":
            result = _rehearsal(database, service, table, command, given)
        else:
            result = Quoter(database, service).quoted(table, command, given, str(row["asker"]))
    except WallflowerError as error:
        result = {"error": told(error)}
    except Exception as error:
        if is_outage(error):
            raise
        result = {"error": {"kind": "usage", "message": f"this price broke ({place(error)}).", "hint": ""}}
    _keep(database, str(row["id"]), result)
    return True


def _rehearsal(database: Database, service: Service, table: str, command: str, given: Given) -> dict[str, Any]:
    with database.read() as seen:
        declaration = current(seen, service, table).declaration
    rows = MADE_UP if declaration.rehearsal is None or declaration.rehearsal.public is None else PUBLIC
    found = rehearse(declaration, question(command, given), rows, draws=DRAWS, sweep_draws=0)
    if found.owner_only:
        raise UsageError("this rehearsal is the owner's alone.")
    picture = found.picture()
    lines = [[label, without_places(text)] for label, text in found.lines() if text not in picture]
    return {"rehearsal": found.to_json(), "lines": lines, "measured": found.measured, "bars": _bars(found.heights())}


def _bars(heights: list[tuple[str, int, bool]]) -> list[dict[str, Any]]:
    """Bars as a template draws them: a length of 100 at most."""
    most = max((height for _, height, _ in heights), default=1)
    return [
        {"label": label, "height": height, "part": round(100 * height / most), "truth": here}
        for label, height, here in heights
    ]


def give_up_begun(database: Database) -> None:
    """What the last clerk was at when it ended took too long."""
    with database.read() as seen:
        begun = seen.all("SELECT id FROM errands WHERE state = 'begun'")
    for row in begun:
        _keep(database, str(row["id"]), {"error": TOO_LONG})


def _keep(database: Database, identity: str, result: Mapping[str, Any]) -> None:
    with database.write() as changes:
        changes.run(
            "UPDATE errands SET state = 'done', result = :result WHERE id = :id",
            result=json.dumps(result, ensure_ascii=False),
            id=identity,
        )


def main(service: Service, parent: Any) -> None:
    """The body of the clerk's process."""
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # it ends the process, whatever loop it is in

    stop_with_parent(parent, stop.set)
    database = Database(service.database)
    give_up_begun(database)
    say_ready(parent)
    while not stop.is_set():
        signal.alarm(LONGEST_S)
        try:
            busy = step(database, service)
        except Exception as error:
            if not is_outage(error):
                raise
            busy = False
        signal.alarm(0)
        if not busy:
            stop.wait(PAUSE_S)
