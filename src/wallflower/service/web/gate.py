"""The one door of the web process: size, kind, identity, role and form token are checked here, before any handler runs.

A route that is not in the authorisation table does not exist. Somebody without a role for a table or a request is told the
same as for one that does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wallflower.errors import BudgetError, LedgerError, WallflowerError
from wallflower.service.authorisation import Role, Route, allowed
from wallflower.service.grants import roles
from wallflower.service.people import Person
from wallflower.service.redaction import told
from wallflower.service.requests import Request, find
from wallflower.service.web.desk import Desk
from wallflower.service.web.visit import (
    HANDLERS,
    MOST_BODY,
    Answer,
    Visit,
    as_json,
    elsewhere,
    is_text,
    read_form,
    read_json,
)

FORM, JSON = "application/x-www-form-urlencoded", "application/json"

NOT_ALLOWED = "this does not exist, or is not yours to see."
NOT_LOGGED_IN = "log in first."


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """What the web server hands over, before anything is believed."""

    method: str
    route: Route
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    cookie: str | None
    visit_cookie: str | None
    source: str
    body: bytes


class Refused(Exception):  # noqa: N818 - reads as what it says
    """Not let through."""

    def __init__(self, status: int, kind: str, words: str) -> None:
        super().__init__(words)
        self.status, self.kind, self.words = status, kind, words


def serve(desk: Desk, arrival: Arrival) -> Answer:
    """Check, then handle; every refusal is a page for people and an object for programs."""
    programs = arrival.route.path.startswith("/api/v1") or arrival.headers.get("accept", "").startswith(JSON)
    try:
        visit = _visit(desk, arrival, programs=programs)
        return HANDLERS[arrival.route](desk, visit)
    except Refused as refused:
        if refused.status == 401 and not programs:
            return elsewhere("/login")
        return _refusal(desk, refused.status, (refused.kind, refused.words, ""), programs=programs)
    except WallflowerError as error:
        return _refusal(desk, status_of(error), tuple(told(error).values()), programs=programs)


def status_of(error: WallflowerError) -> int:
    """HTTP's word for a kind of error.

    >>> from wallflower.errors import UsageError
    >>> status_of(UsageError("no")), status_of(BudgetError("no"))
    (422, 409)
    """
    if isinstance(error, BudgetError | LedgerError):
        return 409
    if error.kind == "pending":
        return 202
    return 422 if error.exit_code == 2 else 500


def _refusal(desk: Desk, status: int, said: tuple[str, ...], *, programs: bool) -> Answer:
    kind, words, hint = said
    if programs:
        return as_json({"ok": False, "error": {"kind": kind, "message": words, "hint": hint}}, status)
    page = desk.page("message.html", None, title="That did not work", words=words, hint=hint)
    return Answer(status=status, body=page.body)


def _visit(desk: Desk, arrival: Arrival, *, programs: bool) -> Visit:
    route = arrival.route
    if len(arrival.body) > MOST_BODY:
        raise Refused(413, "usage", f"a request holds at most {MOST_BODY} bytes.")
    if not all(map(is_text, arrival.path.values())):
        raise Refused(403, "not-allowed", NOT_ALLOWED)
    person = _person(desk, arrival)
    if "public" not in route.roles and person is None:
        raise Refused(401, "not-logged-in", NOT_LOGGED_IN)
    request = _request(desk, arrival)
    held = _roles(desk, arrival, person, request)
    if not allowed(route, held):
        raise Refused(403, "not-allowed", NOT_ALLOWED)
    form, body = _body(arrival)
    token = desk.signer.form_token(_session(person, arrival))
    # A program's token is sent by no browser on its own, so that only cookies need the form's token.
    if route.method == "POST" and (person is None or person.session is not None):
        given = form.get("csrf", [""])
        if len(given) != 1 or not desk.signer.form_is_ours(_session(person, arrival), given[0]):
            raise Refused(403, "not-allowed", "this form is too old, or was not ours. Load the page again.")
    return Visit(
        route=route,
        path=arrival.path,
        query=arrival.query,
        form=form,
        body=body,
        person=person,
        roles=held,
        source=arrival.source,
        csrf=token,
        browser=desk.signer.form_token(f"browser {arrival.visit_cookie or ''}"),
        request=request,
        wants_json=programs,
    )


def _session(person: Person | None, arrival: Arrival) -> str:
    if person is not None and person.session is not None:
        return person.session
    return arrival.visit_cookie or ""


def _person(desk: Desk, arrival: Arrival) -> Person | None:
    bearer = arrival.headers.get("authorization", "")
    if bearer:
        if not arrival.route.for_programs:
            return None  # a token prices, asks and reads; pages, decisions and accounts are for people who log in
        scheme, _, secret = bearer.partition(" ")
        return desk.people.by_token(secret.strip()) if scheme.lower() == "bearer" else None
    if arrival.route.path.startswith("/api/v1") and arrival.method == "POST":
        return None  # a cookie does not open the programs' door: no form token could be asked for there
    session = desk.signer.opened(arrival.cookie) if arrival.cookie else None
    return None if session is None else desk.people.by_session(session)


def _request(desk: Desk, arrival: Arrival) -> Request | None:
    if arrival.route.subject != "request":
        return None
    with desk.database.read() as seen:
        return find(seen, arrival.path["request"])


def _roles(desk: Desk, arrival: Arrival, person: Person | None, request: Request | None) -> frozenset[Role]:
    if person is None:
        return frozenset({"public"})
    held: set[Role] = {"anyone"}
    if person.operator:
        held.add("operator")
    subject = arrival.route.subject
    with desk.database.read() as seen:
        if subject == "table":
            held |= roles(seen, desk.service, person.name, arrival.path["table"])
        elif subject == "request" and request is not None and request.table in desk.service.tables:
            mine = roles(seen, desk.service, person.name, request.table)
            held |= mine - {"asker"}
            if request.asker == person.name:
                held.add("mine")
            if seen.one(
                "SELECT asker FROM shared WHERE request = :id AND asker = :name", id=request.id, name=person.name
            ):
                held.add("shared")
        elif subject == "look":
            look = seen.one("SELECT owner, subject FROM looks WHERE id = :id", id=arrival.path["look"])
            if look is not None and look["owner"] == person.name:  # and still an owner of that table
                held |= roles(seen, desk.service, person.name, str(look["subject"])) & {"owner"}
    return frozenset(held)


def _body(arrival: Arrival) -> tuple[dict[str, list[str]], object]:
    if arrival.method != "POST":
        return {}, None
    kind = arrival.headers.get("content-type", "").partition(";")[0].strip().lower()
    wanted = JSON if arrival.route.path.startswith("/api/v1") else FORM
    if kind != wanted and arrival.body:
        raise Refused(415, "usage", f"the body is {wanted}.")
    if wanted == FORM:
        return read_form(arrival.body), None
    return {}, read_json(arrival.body or b"{}")
