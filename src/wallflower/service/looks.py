"""The owner's looks at rows, computed by a worker into files of mode 0600 that expire. NOT PRIVATE."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wallflower.atomic_file import write_whole
from wallflower.errors import WallflowerError, place
from wallflower.report.owner import owner_page
from wallflower.report.pages import render
from wallflower.service.configuration import Service
from wallflower.service.declarations import current
from wallflower.service.questions import question
from wallflower.service.redaction import without_places
from wallflower.service.requests import find
from wallflower.session import Session, declared
from wallflower.stores.database import Database


def look_file(folder: Path, identity: str) -> Path:
    """Where a look lies. The name is a look's own random id, never a text from outside."""
    return folder / "looks" / f"{identity}.html"


def answer_looks(database: Database, service: Service) -> bool:
    """Remove what has expired and answer one look that was asked for; whether there was one."""
    _expire(database, service)
    with database.read() as seen:
        row = seen.one(
            "SELECT * FROM looks WHERE state = 'asked' AND ends_at > :now ORDER BY asked_at", now=database.clock()
        )
    if row is None:
        return False
    try:
        _write(look_file(service.folder, str(row["id"])), _page(database, service, row))
        state = "ready"
    except WallflowerError as error:
        state = without_places(str(error))
    except Exception as error:  # noqa: BLE001 - told to the owner by its place: the text may be anything
        state = f"something broke ({place(error)})."
    with database.write() as changes:
        changes.run("UPDATE looks SET state = :state WHERE id = :id", state=state, id=row["id"])
    return True


def _page(database: Database, service: Service, row: dict[str, Any]) -> str:
    table = str(row["subject"])
    with database.read() as seen:
        declaration = current(seen, service, table).declaration
        request = find(seen, str(row["request"])) if row["request"] else None
    session = declared(declaration)
    if request is None:
        return _check(session, table)
    query = question(request.command, request.fields)
    return owner_page(query=query.name, declaration=declaration, report=session.owner.report(query))


def _check(session: Session, table: str) -> str:
    found = session.owner.check().value
    return render(
        "check.html", package="wallflower.service", table=table, lines=found.lines(), rows=list(found.table())
    )


def _write(path: Path, page: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, page)


def _expire(database: Database, service: Service) -> None:
    now = database.clock()
    with database.read() as seen:
        old = [str(row["id"]) for row in seen.all("SELECT id FROM looks WHERE ends_at <= :now", now=now)]
    for identity in old:
        look_file(service.folder, identity).unlink(missing_ok=True)
    if old:
        with database.write() as changes:
            changes.run("DELETE FROM looks WHERE ends_at <= :now", now=now)
