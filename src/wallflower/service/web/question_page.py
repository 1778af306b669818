"""The form for a question: the price while one types, the error curve, and the submission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallflower.errors import WallflowerError
from wallflower.service.forms import Form, form_of
from wallflower.service.passwords import new_id
from wallflower.service.questions import Given, choices, not_here, shown_fields
from wallflower.service.redaction import told
from wallflower.service.web.desk import Desk
from wallflower.service.web.visit import Answer, Visit, as_json, elsewhere, handles


@handles("GET", "/tables/{table}/ask/{command}")
def form(desk: Desk, visit: Visit) -> Answer:
    wanted = form_of(visit.path["command"])
    given: dict[str, str | list[str]] = {field.name: field.default for field in wanted.fields}
    return _page(desk, visit, wanted, given, quote=None, trouble=None)


@handles("POST", "/tables/{table}/ask/{command}")
def ask(desk: Desk, visit: Visit) -> Answer:
    """The price, as a page or as an object; and with `submit` pressed the request itself."""
    table, wanted = visit.path["table"], form_of(visit.path["command"])
    given = _given(wanted, visit)
    try:
        if visit.one("submit"):
            sent_as = visit.one("once") or None
            identity = desk.submit(visit, wanted.command, given, purpose=visit.one("purpose"), sent_as=sent_as)
            return elsewhere(f"/requests/{identity}")
        quote = desk.quoted(table, wanted.command, given, visit.name)
        if visit.one("rehearse") and not visit.wants_json:
            tried = desk.rehearsed(table, wanted.command, given, visit.name)
            return _page(desk, visit, wanted, given, quote=quote, trouble=None, rehearsal=tried)
    except WallflowerError as error:
        if visit.wants_json:
            return as_json({"ok": False, "error": told(error)})
        return _page(desk, visit, wanted, given, quote=None, trouble=error)
    if visit.wants_json:
        return as_json({"ok": True, "price": quote["words"]})
    return _page(desk, visit, wanted, given, quote=quote, trouble=None)


def _given(wanted: Form, visit: Visit) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for field in wanted.fields:
        texts = visit.form.get(field.name, [])
        value = texts if field.kind == "columns" else visit.one(field.name)
        if value:  # an empty field is one that was not filled in: the same question, however it was sent
            found[field.name] = value
    return found


def _page(
    desk: Desk,
    visit: Visit,
    wanted: Form,
    given: Given,
    *,
    quote: Mapping[str, Any] | None,
    trouble: WallflowerError | None,
    rehearsal: Mapping[str, Any] | None = None,
) -> Answer:
    table = visit.path["table"]
    declaration = desk.declared(table).declaration
    return desk.page(
        "ask.html",
        visit,
        status=422 if trouble else 200,
        title=wanted.title,
        table=table,
        form=wanted,
        fields=shown_fields(wanted, declaration),
        not_here=not_here(wanted, declaration),
        given=given,
        choices={field.name: choices(field, declaration) for field in wanted.fields},
        price=None if quote is None else quote["words"],
        trouble=None if trouble is None else told(trouble),
        purpose=visit.one("purpose"),
        rehearsal=rehearsal,
        once=visit.one("once") or new_id(),  # pressed twice, it is one request
    )
