"""The JSON interface for programs: the same questions, prices, requests and answers, with an API token."""

from __future__ import annotations

from typing import Any

from wallflower.errors import UsageError
from wallflower.service.forms import FORMS, form_of
from wallflower.service.grants import roles, shares
from wallflower.service.questions import Given, choices
from wallflower.service.requests import Request, of_asker, withdraw
from wallflower.service.web.console import published
from wallflower.service.web.desk import Desk
from wallflower.service.web.openapi import document
from wallflower.service.web.visit import Answer, Visit, as_json, handles


@handles("GET", "/api")
def page(desk: Desk, visit: Visit) -> Answer:
    return desk.page("api.html", visit, title="For programs", document=document(), forms=FORMS.values())


@handles("GET", "/api/v1/openapi.json")
def openapi(_desk: Desk, _visit: Visit) -> Answer:
    return as_json(document())


@handles("GET", "/api/v1/tables")
def tables(desk: Desk, visit: Visit) -> Answer:
    found = []
    with desk.database.read() as seen:
        for name in desk.service.tables:
            held = roles(seen, desk.service, visit.name, name)
            if held:
                found.append({"table": name, "roles": sorted(held)})
    return as_json({"ok": True, "tables": found})


@handles("GET", "/api/v1/tables/{table}")
def table(desk: Desk, visit: Visit) -> Answer:
    name = visit.path["table"]
    declaration = desk.declared(name).declaration
    with desk.database.read() as seen:
        own = {family: {"epsilon": str(most)} for family, most in shares(seen, desk.service, name, visit.name).items()}
    return as_json(
        {
            "ok": True,
            "table": name,
            "unit": declaration.unit,
            "neighbours": declaration.neighbours,
            "fingerprint": declaration.fingerprint,
            "columns": {
                column: {"role": each.role, "domain": None if each.domain is None else str(each.domain)}
                for column, each in declaration.columns.items()
            },
            "commands": {
                form.command: {
                    field.name: list(choices(field, declaration))
                    for field in form.fields
                    if choices(field, declaration)
                }
                for form in FORMS.values()
            },
            "shares": own,
        }
    )


@handles("POST", "/api/v1/tables/{table}/price")
def price(desk: Desk, visit: Visit) -> Answer:
    command, given = _asked(visit.body)
    return as_json({"ok": True, "price": desk.priced(visit.path["table"], command, given, visit.name)["price"]})


@handles("POST", "/api/v1/tables/{table}/rehearse")
def rehearsal(desk: Desk, visit: Visit) -> Answer:
    command, given = _asked(visit.body)
    return as_json(
        {"ok": True, "rehearsal": desk.rehearsed(visit.path["table"], command, given, visit.name)["rehearsal"]}
    )


@handles("POST", "/api/v1/tables/{table}/requests")
def ask(desk: Desk, visit: Visit) -> Answer:
    command, given = _asked(visit.body)
    purpose = visit.body.get("purpose", "")
    sent_as = visit.body.get("id")
    if not isinstance(purpose, str) or not (sent_as is None or isinstance(sent_as, str)):
        raise UsageError("'purpose' is text, and so is 'id'.")
    identity = desk.submit(visit, command, given, purpose=purpose, sent_as=sent_as)
    return as_json({"ok": True, "request": {"id": identity, "state": "waiting"}}, 202)


@handles("GET", "/api/v1/requests")
def requests(desk: Desk, visit: Visit) -> Answer:
    with desk.database.read() as seen:
        found = of_asker(seen, visit.name)
    return as_json({"ok": True, "requests": [_said(desk, one) for one in found]})


@handles("GET", "/api/v1/requests/{request}")
def request(desk: Desk, visit: Visit) -> Answer:
    """The release itself once its tick has come; before that 202 and what can be said."""
    one = _of(visit)
    shown = one.shown(desk.service.ticks, desk.clock())
    if shown != "answered" or one.outcome is None:
        return as_json({"ok": True, "request": _said(desk, one)}, 202 if shown in ("waiting", "decided") else 200)
    if "release" in one.outcome:
        return as_json(one.outcome["release"])
    if "error" in one.outcome:
        return as_json({"ok": False, "error": one.outcome["error"]}, 409)
    return as_json({"ok": False, "error": {"kind": "lost", "message": str(one.outcome["lost"]), "hint": ""}}, 409)


@handles("GET", "/api/v1/requests/{request}/file")
def file(desk: Desk, visit: Visit) -> Answer:
    return published(desk, _of(visit))


@handles("POST", "/api/v1/requests/{request}/withdraw")
def take_back(desk: Desk, visit: Visit) -> Answer:
    one = _of(visit)
    with desk.database.write() as changes:
        withdraw(changes, one, source=visit.source)
    return as_json({"ok": True, "request": {"id": one.id, "state": "withdrawn"}})


@handles("GET", "/api/v1/tables/{table}/ledger")
def ledger(desk: Desk, visit: Visit) -> Answer:
    return as_json({"ok": True, "ledger": desk.standing(desk.declared(visit.path["table"]).declaration)})


def _of(visit: Visit) -> Request:
    if visit.request is None:
        raise UsageError("there is no such request.")
    return visit.request


def _said(desk: Desk, one: Request) -> dict[str, Any]:
    return {
        "id": one.id,
        "number": one.number,
        "table": one.table,
        "command": one.command,
        "asked": dict(one.fields),
        "purpose": one.purpose,
        "state": one.shown(desk.service.ticks, desk.clock()),
        "reason": one.reason,
        "submitted_at": one.submitted_at,
    }


def _asked(body: Any) -> tuple[str, Given]:
    command, fields = body.get("command"), body.get("fields")
    if not isinstance(command, str) or not isinstance(fields, dict):
        raise UsageError(
            "a question has 'command' (text) and 'fields' (an object).", hint="See /api for the fields of each command."
        )
    given: dict[str, str | list[str]] = {}
    for name, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, str | int | list):
            raise UsageError(
                f"'{name[:60]}' is text, a whole number, or a list of texts.", hint='Write amounts as text: "0.1".'
            )
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise UsageError(f"'{name[:60]}' is a list of texts.")
        given[name] = value if isinstance(value, str | list) else str(value)
    form_of(command)
    return command, given
