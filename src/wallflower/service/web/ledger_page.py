"""The ledger of a table: accounts as bars, history in words, the service's own log, verification and download."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from wallflower.ledger.book import Ledger
from wallflower.service.audit_log import lines, note
from wallflower.service.web.desk import Desk, bars
from wallflower.service.web.visit import Answer, Visit, handles

MOST_LINES = 200
_NAMED = re.compile(r"\brequest ([0-9a-f]{32})\b")
_ID = re.compile(r"\b([0-9a-f]{32})\b")


@handles("GET", "/tables/{table}/ledger")
def page(desk: Desk, visit: Visit) -> Answer:
    return _page(desk, visit, verified="")


@handles("POST", "/tables/{table}/ledger/verify")
def verify(desk: Desk, visit: Visit) -> Answer:
    table = visit.path["table"]
    declaration = desk.declared(table).declaration
    verified = Ledger.open(declaration).verify()
    with desk.database.write() as changes:
        note(
            changes,
            who=visit.name,
            source=visit.source,
            did="ledger verified",
            subject=table,
            words=verified.lines()[0],
        )
    return _page(desk, visit, verified=" ".join(verified.lines()))


@handles("GET", "/tables/{table}/ledger/download")
def download(desk: Desk, visit: Visit) -> Answer:
    declaration = desk.declared(visit.path["table"]).declaration
    history = [line.to_json() for line in Ledger.open(declaration).history()]
    body = json.dumps({"table": declaration.id, "history": history}, ensure_ascii=False, indent=1).encode()
    name = f"{visit.path['table']}-ledger.json"
    return Answer(kind="application/json", body=body, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _parts(text: str, numbers: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """A line in pieces: text, and the questions that it names by their ids, each with its number and the way to it.

    >>> _parts("request approved: " + "a" * 32, {"a" * 32: 7})
    [('request approved: ', '', ''), ('', 'question 7', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')]
    """
    found = []
    for piece in _ID.split(_NAMED.sub(r"\1", text)):
        if piece in numbers:
            found.append(("", f"question {numbers[piece]}", piece))
        elif piece:
            found.append((piece, "", ""))
    return found


def _page(desk: Desk, visit: Visit, *, verified: str) -> Answer:
    table = visit.path["table"]
    declaration = desk.declared(table).declaration
    ledger = Ledger.open(declaration)
    standing = ledger.show(declaration).to_json()
    history = [line.to_json() for line in ledger.history()]
    with desk.database.read() as seen:
        log = lines(seen, subject=table, most=MOST_LINES)
        asked = seen.all("SELECT id, number FROM requests WHERE subject = :table", table=table)
    numbers = {str(row["id"]): int(row["number"]) for row in asked}
    return desk.page(
        "ledger.html",
        visit,
        title=f"Ledger: {table}",
        table=table,
        bars=bars(standing),
        notes=standing["notes"],
        history=[{**line, "parts": _parts(line["text"], numbers)} for line in history[::-1][:MOST_LINES]],
        entries=len(history),
        log=[{**line, "parts": _parts(str(line["words"]), numbers)} for line in log],
        verified=verified,
    )
