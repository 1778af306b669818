"""The owner's page of a declaration: a field for every decision, the same as text, mistakes where they are, and looks at rows.

A look (`check`, or an owner's report) is computed by a worker into a file of mode 0600 that expires; the web process shows
that file to the owner who asked and to nobody else.
"""

from __future__ import annotations

from typing import Any

from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.parser import read_text
from wallflower.service.audit_log import note
from wallflower.service.decisions import name_of
from wallflower.service.declarations import edited, keep_edit
from wallflower.service.looks import look_file
from wallflower.service.passwords import new_id
from wallflower.service.redaction import without_places
from wallflower.service.requests import asks_the_same, find, of_table
from wallflower.service.web.declared_fields import FieldTexts, as_typed, as_written, mistakes
from wallflower.service.web.desk import Desk
from wallflower.service.web.visit import Answer, Visit, as_json, elsewhere, handles
from wallflower.service.web.whole_pages import report_answer
from wallflower.service.words import domain_words

LOOK_S = 900
MOST_LOOKS = 3
"""Looks of one owner that wait: the worker that looks also answers, and others would wait for it."""


@handles("GET", "/tables/{table}/declare")
def page(desk: Desk, visit: Visit) -> Answer:
    """By fields, or with ?as=text the same as TOML."""
    found = desk.declared(visit.path["table"])
    typed = None if visit.query.get("as") == "text" else as_written(found.text)
    return _page(desk, visit, text=found.text, typed=typed, columns=found.declaration.columns.values())


@handles("POST", "/tables/{table}/declare")
def save(desk: Desk, visit: Visit) -> Answer:
    """Try or save; a mistake is shown at its field, or beside the text."""
    table = visit.path["table"]
    path = desk.service.tables[table].declaration
    typed: FieldTexts | None = None
    text = visit.one("text")
    try:
        if "text" not in visit.form:
            typed, text = as_typed(desk.declared(table).text, visit.form)
        made = edited(path, read_text(path), text)
    except DeclarationError as error:
        if "text" not in visit.form and typed is None:
            typed = as_written(desk.declared(table).text)
        return _page(desk, visit, text=text, typed=typed, trouble=error)
    if visit.one("save") and not visit.wants_json:
        with desk.database.write() as changes:
            keep_edit(changes, desk.service, table=table, text=text, made=made, owner=visit.name, source=visit.source)
        return elsewhere(f"/tables/{table}/declare")
    return _page(desk, visit, text=text, typed=typed, columns=made.columns.values())


def _page(
    desk: Desk,
    visit: Visit,
    *,
    text: str,
    typed: FieldTexts | None,
    trouble: DeclarationError | None = None,
    columns: Any = (),
) -> Answer:
    table = visit.path["table"]
    at_fields: dict[str, str] = {}
    said = [] if trouble is None else without_places(str(trouble)).splitlines()
    if trouble is not None and typed is not None:
        at_fields, said = mistakes(trouble, typed)
    if visit.wants_json:
        return as_json({"ok": trouble is None, "fields": at_fields, "other": said, "text": text})
    with desk.database.read() as seen:
        looks = seen.all(
            "SELECT * FROM looks WHERE subject = :table AND owner = :name AND ends_at > :now ORDER BY asked_at DESC",
            table=table,
            name=visit.name,
            now=desk.clock(),
        )
    return desk.page(
        "declare.html",
        visit,
        status=422 if trouble else 200,
        title=f"Declare: {table}",
        table=table,
        text=text,
        typed=typed,
        name_of=name_of,
        at_fields=at_fields,
        trouble=said,
        tried=visit.route.method == "POST" and trouble is None,
        columns=[(column, domain_words(column)) for column in columns],
        looks=looks,
    )


@handles("POST", "/tables/{table}/looks")
def look(desk: Desk, visit: Visit) -> Answer:
    """Ask a worker to look. Not at a request that is undecided: a decision after a look would tell something."""
    table, kind, request = visit.path["table"], visit.one("kind", "check"), visit.one("request")
    if kind not in ("check", "report"):
        raise UsageError("a look is check or report.")
    identity, now = new_id(), desk.clock()
    with desk.database.write() as changes:
        if kind == "report":
            one = find(changes, request)
            if one is None or one.table != table or one.state not in ("done", "refused"):
                raise UsageError(
                    "a report is for a request of this table that is over.",
                    hint="A decision made after a look at the rows would itself say something about them.",
                )
            if any(asks_the_same(one, other) for other in of_table(changes, table, state="waiting")):
                raise UsageError(
                    "the same question waits for a decision.",
                    hint="Decide it first: a decision made after a look at the rows would itself say something about them.",
                )
        waiting = changes.one(
            "SELECT count(*) AS n FROM looks WHERE owner = :owner AND state = 'asked' AND ends_at > :now",
            owner=visit.name,
            now=now,
        )
        if waiting and int(waiting["n"]) >= MOST_LOOKS:
            raise UsageError("several looks of yours are still being computed.", hint="Wait for them, then look again.")
        changes.run(
            "INSERT INTO looks (id, subject, owner, kind, request, state, asked_at, ends_at) "
            "VALUES (:id, :table, :owner, :kind, :request, 'asked', :now, :ends)",
            id=identity,
            table=table,
            owner=visit.name,
            kind=kind,
            request=request or None,
            now=now,
            ends=now + LOOK_S,
        )
        note(changes, who=visit.name, source=visit.source, did=f"look: {kind}", subject=table, words=request)
    return elsewhere(f"/looks/{identity}")


@handles("GET", "/looks/{look}")
def seen_by_owner(desk: Desk, visit: Visit) -> Answer:
    with desk.database.read() as seen:
        row = seen.one("SELECT * FROM looks WHERE id = :id", id=visit.path["look"])
    if row is None or row["ends_at"] < desk.clock():
        raise UsageError("this look has expired.")
    if row["state"] == "asked":
        return desk.page("look.html", visit, title="Looking", look=row, words="")
    if row["state"] != "ready":
        return desk.page("look.html", visit, title="The look did not work", look=row, words=row["state"])
    return report_answer(look_file(desk.service.folder, str(row["id"])).read_text(encoding="utf-8"))
