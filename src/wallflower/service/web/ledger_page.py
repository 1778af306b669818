"""The ledger of a table: accounts as bars, history in words, the service's own log, verification and download."""

from __future__ import annotations

import json

from wallflower.ledger.book import Ledger
from wallflower.service.audit_log import lines, note
from wallflower.service.web.desk import Desk, bars
from wallflower.service.web.visit import Answer, Visit, handles

MOST_LINES = 200


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


def _page(desk: Desk, visit: Visit, *, verified: str) -> Answer:
    table = visit.path["table"]
    declaration = desk.declared(table).declaration
    ledger = Ledger.open(declaration)
    standing = ledger.show(declaration).to_json()
    history = [line.to_json() for line in ledger.history()]
    with desk.database.read() as seen:
        log = lines(seen, subject=table, most=MOST_LINES)
    return desk.page(
        "ledger.html",
        visit,
        title=f"Ledger: {table}",
        table=table,
        bars=bars(standing),
        notes=standing["notes"],
        history=history[::-1][:MOST_LINES],
        entries=len(history),
        log=log,
        verified=verified,
    )
