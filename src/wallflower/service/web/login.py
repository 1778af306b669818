"""Getting in and out, and one's own account."""

from __future__ import annotations

from wallflower.errors import UsageError
from wallflower.service.web.desk import Desk
from wallflower.service.web.visit import Answer, Visit, elsewhere, handles

REFUSED = "That name and password were not accepted. After several failures there is a wait."


@handles("GET", "/login")
def form(desk: Desk, visit: Visit) -> Answer:
    if visit.person is not None:
        return elsewhere("/")
    return desk.page("login.html", visit, title="Log in", words="", openid=desk.service.openid is not None)


@handles("POST", "/login")
def log_in(desk: Desk, visit: Visit) -> Answer:
    session = desk.people.log_in(visit.one("name"), visit.one("password"), source=visit.source)
    if session is None:
        return desk.page(
            "login.html", visit, status=403, title="Log in", words=REFUSED, openid=desk.service.openid is not None
        )
    return elsewhere("/", session=session)


@handles("POST", "/logout")
def log_out(desk: Desk, visit: Visit) -> Answer:
    if visit.person is not None and visit.person.session is not None:
        desk.people.log_out(visit.person, source=visit.source)
    return elsewhere("/login", session="")


@handles("GET", "/account")
def account(desk: Desk, visit: Visit) -> Answer:
    return _account(desk, visit, token="", words="")


@handles("POST", "/account/password")
def change_password(desk: Desk, visit: Visit) -> Answer:
    _confirmed(desk, visit, "old")
    desk.people.set_password(visit.name, visit.one("new"), by=visit.name, source=visit.source)
    return elsewhere("/login", session="")


@handles("POST", "/account/tokens")
def make_token(desk: Desk, visit: Visit) -> Answer:
    days = visit.one("days", "30")
    if not days.isascii() or not days.isdigit() or len(days) > 4:
        raise UsageError("days is a whole number.")
    assert visit.person is not None  # noqa: S101 - the gate let nobody else through
    if desk.people.has_password(visit.name):  # a token outlives a session: a stolen session must not become one
        _confirmed(desk, visit, "password")
    token = desk.people.make_token(visit.person, visit.one("label"), int(days), source=visit.source)
    return _account(desk, visit, token=token, words="Copy this token now: it is not shown again.")


@handles("POST", "/account/tokens/{name}/revoke")
def revoke_token(desk: Desk, visit: Visit) -> Answer:
    assert visit.person is not None  # noqa: S101 - as above
    desk.people.revoke_token(visit.person, visit.path["name"], source=visit.source)
    return elsewhere("/account")


def _confirmed(desk: Desk, visit: Visit, field: str) -> None:
    """Whoever sits there knows the password."""
    if not desk.people.confirm(visit.name, visit.one(field), source=visit.source):
        raise UsageError("that is not your password.", hint="After several failures there is a wait.")


def _account(desk: Desk, visit: Visit, *, token: str, words: str) -> Answer:
    assert visit.person is not None  # noqa: S101 - as above
    return desk.page(
        "account.html",
        visit,
        title="Your account",
        tokens=desk.people.tokens(visit.person),
        token=token,
        words=words,
        asks_password=desk.people.has_password(visit.name),
        now=desk.clock(),
    )
