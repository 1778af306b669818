"""Pages for everybody: the tables one may ask about, one's requests, and one request with its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wallflower.errors import UsageError, WallflowerError
from wallflower.ledger.book import Ledger
from wallflower.report.certificate import certificate_page
from wallflower.service.forms import FORMS
from wallflower.service.grants import roles, shares
from wallflower.service.questions import command_line, not_here
from wallflower.service.redaction import without_places
from wallflower.service.requests import Request, of_asker, of_table, withdraw
from wallflower.service.web.desk import Desk, bars
from wallflower.service.web.visit import Answer, Visit, as_json, elsewhere, handles
from wallflower.service.web.whole_pages import certificate_answer
from wallflower.service.words import answer_lines, answer_picture, asked_words, domain_words, holds, is_list, options

MOST_LISTED = 200
"""Questions that a page lists; earlier ones are in the ledger."""
JOURNEY = {"waiting": 1, "refused": 2, "withdrawn": 2, "decided": 2, "answered": 3}


@handles("GET", "/")
def tables(desk: Desk, visit: Visit) -> Answer:
    rows = []
    for name in desk.service.tables:
        with desk.database.read() as seen:
            held = roles(seen, desk.service, visit.name, name)
            if not held:
                continue
            own = shares(seen, desk.service, name, visit.name)
        rows.append(
            {
                "name": name,
                "roles": sorted(held),
                **_known(desk, name),
                "shares": own,
                "more": desk.more_like_the_last(name, visit.name),
            }
        )
    with desk.database.read() as seen:
        asked = bool(of_asker(seen, visit.name, most=1))
    asks = any("asker" in row["roles"] for row in rows)
    return desk.page("tables.html", visit, title="Tables", rows=rows, asks=asks, asked=asked)


def _known(desk: Desk, name: str) -> dict[str, Any]:
    """What is public of a table, or why it cannot be used now."""
    try:
        declaration = desk.declared(name).declaration
        return {"holds": holds(declaration), "bars": bars(desk.standing_for_askers(name, declaration)), "trouble": ""}
    except WallflowerError as error:
        return {"holds": "", "bars": [], "trouble": without_places(str(error))}


@handles("GET", "/tables/{table}")
def table(desk: Desk, visit: Visit) -> Answer:
    name = visit.path["table"]
    declaration = desk.declared(name).declaration
    return desk.page(
        "table.html",
        visit,
        title=name,
        table=name,
        roles=visit.roles,
        declaration=declaration,
        holds=holds(declaration),
        words_of=domain_words,
        forms=[(form, not_here(form, declaration)) for form in FORMS.values()],
        bars=bars(desk.standing_for_askers(name, declaration)),
        more=desk.more_like_the_last(name, visit.name),
    )


@handles("GET", "/requests")
def requests(desk: Desk, visit: Visit) -> Answer:
    """One's own, and for owners and auditors every question about their tables."""
    answerable = [name for name in desk.service.tables if desk.service.roles(visit.name, name) & {"owner", "auditor"}]
    with desk.database.read() as seen:
        own = of_asker(seen, visit.name)
        others = [one for name in answerable for one in of_table(seen, name, most=MOST_LISTED)]
    others.sort(key=lambda one: -one.number)
    return desk.page(
        "requests.html",
        visit,
        title="Requests",
        rows=[_listed(desk, one) for one in own],
        others=[_listed(desk, one) for one in others[:MOST_LISTED]],
        answerable=answerable,
    )


def _listed(desk: Desk, one: Request) -> dict[str, Any]:
    return {"request": one, "shown": one.shown(desk.service.ticks, desk.clock()), "asked": _asked(one)}


@handles("GET", "/requests/{request}")
def request(desk: Desk, visit: Visit) -> Answer:
    one = _of(visit)
    shown = one.shown(desk.service.ticks, desk.clock())
    outcome = one.outcome if shown == "answered" else None
    lines = answer_lines(outcome) if outcome else []
    shared, people = _sharing(desk, one) if "owner" in visit.roles else ([], [])
    return desk.page(
        "request.html",
        visit,
        title=f"Question {one.number}",
        request=one,
        asked=_asked(one),
        shown=shown,
        step=JOURNEY[shown],
        outcome=outcome,
        lines=lines,
        several=len(lines) > 1 and "release" in (outcome or {}) and is_list(outcome),
        picture=answer_picture(outcome) if outcome else None,
        missed="owner" in visit.roles and one.missed(desk.service.ticks, desk.clock()),
        roles=visit.roles,
        command=options(command_line(one.command, one.fields, f"{one.table}.toml")),
        people=people,
        shared_with=shared,
        tick_s=desk.service.ticks.period_s,
    )


def _sharing(desk: Desk, one: Request) -> tuple[list[str], list[str]]:
    """With whom an answer has been shared, and with whom it could be."""
    with desk.database.read() as seen:
        shared = [
            row["asker"] for row in seen.all("SELECT asker FROM shared WHERE request = :id ORDER BY asker", id=one.id)
        ]
        everybody = [row["name"] for row in seen.all("SELECT name FROM users WHERE disabled = 0 ORDER BY name")]
    return shared, [name for name in everybody if name not in (*shared, one.asker)]


@handles("GET", "/requests/{request}/release.json")
def release(desk: Desk, visit: Visit) -> Answer:
    return as_json(_released(desk, _of(visit)))


@handles("GET", "/requests/{request}/certificate")
def certified(desk: Desk, visit: Visit) -> Answer:
    return certificate_answer(certificate_page(_released(desk, _of(visit))))


@handles("GET", "/requests/{request}/file")
def file(desk: Desk, visit: Visit) -> Answer:
    return published(desk, _of(visit))


@handles("POST", "/requests/{request}/withdraw")
def take_back(desk: Desk, visit: Visit) -> Answer:
    one = _of(visit)
    with desk.database.write() as changes:
        withdraw(changes, one, source=visit.source)
    return elsewhere(f"/requests/{one.id}")


def published(desk: Desk, one: Request) -> Answer:
    """The file of a publication, from the ledger that keeps it, and only from its tick on."""
    value = _released(desk, one)["release"] or {}
    if "sha256" not in value:
        raise UsageError("this answer has no file.")
    content = Ledger.open(desk.declared(one.table).declaration).kept(str(value["sha256"]))
    name = f"{one.table}-{one.number}{Path(str(value['file'])).suffix}"
    kind = "text/csv; charset=utf-8" if name.endswith(".csv") else "application/vnd.apache.parquet"
    return Answer(kind=kind, body=content, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _of(visit: Visit) -> Request:
    if visit.request is None:
        raise UsageError("there is no such request.")
    return visit.request


def _asked(one: Request) -> str:
    return asked_words(one.command, one.fields)


def _released(desk: Desk, one: Request) -> dict[str, Any]:
    """The release as it may leave, from its tick on."""
    if one.shown(desk.service.ticks, desk.clock()) != "answered" or one.outcome is None or "release" not in one.outcome:
        raise UsageError("there is no answer to show.", hint="It is shown at its tick, or the request was refused.")
    return dict(json.loads(json.dumps(one.outcome["release"])))
