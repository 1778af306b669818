"""Every route with every role, with nobody, with another owner's table and another asker's request."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.service.desks import COUNT, Browser, House
from wallflower.service.authorisation import ROUTES, Route
from wallflower.service.configuration import Table

WHO = ("nobody", "ada", "otto", "dora", "eve", "other owner")
PUBLIC = {route.path for route in ROUTES if "public" in route.roles}


def expected(route: Route, who: str) -> bool:  # noqa: PLR0911 - a table in words
    """Whether `who` may pass, written down anew from SERVICE.md's table of roles: not by calling `allowed`."""
    if route.path in PUBLIC:
        return True
    if who == "nobody":
        return False
    if route.subject == "nothing":
        return who == "otto" if route.path == "/metrics" else True
    path = route.path
    if route.subject == "look":
        return who == "otto"
    if path.endswith("/withdraw"):
        return who == "ada"
    if (
        path.endswith(("/decide", "/share", "/declare", "/looks", "/people", "/stop"))
        or path == "/requests/{request}/rehearse"
    ):
        return who == "otto"
    if "/ledger" in path:
        return who in ("otto", "dora")
    if path.endswith("/file"):
        return who in ("ada", "otto")
    if path.endswith(("/price", "/requests", "/rehearse")) or "/ask/" in path:
        return who in ("ada", "otto")
    return who in ("ada", "otto", "dora")


@pytest.fixture
def staffed(house: House):
    """Two more people: eve, who may nothing, and the owner of another table; and a request and a look to knock at."""
    for name in ("eve", "other"):
        house.desk.people.add(name, "a long password")
        house.passwords[name] = "a long password"
    tables = dict(house.desk.service.tables)
    tables["theirs"] = Table(name="theirs", declaration=tables["stays"].declaration, owners=("other",))
    house.desk = replace(house.desk, service=replace(house.desk.service, tables=tables))
    request = house.browser("ada").submit()
    look = house.browser("otto").post("/tables/stays/looks", kind="check").headers["Location"].rsplit("/", 1)[1]
    return house, request, look


def test_every_route_lets_in_exactly_those_who_belong_there(staffed):
    house, request, look = staffed
    wrong = []
    for who in WHO:
        browser = Browser(house.desk) if who == "nobody" else house.browser(who.partition(" ")[0])
        token = None if who == "nobody" else house.token(who.partition(" ")[0])
        for route in ROUTES:
            if route.path in ("/logout", "/account/password"):
                continue  # ends the session that walks
            path = route.path.format(table="stays", command="count", request=request, look=look, name="console.css")
            let_in = _let_in(browser, route, path, token)
            if let_in != expected(route, who):
                wrong.append((who, route.method, path, let_in))
    assert not wrong


def _let_in(browser: Browser, route: Route, path: str, token: str | None) -> bool:
    """Whether the gate opened: what the handler then said of an empty form does not matter here."""
    api = route.path.startswith("/api/v1")
    if api and token is not None:
        answer = browser.go(
            route.method,
            path,
            b"{}" if route.method == "POST" else b"",
            authorization=f"Bearer {token}",
            content_type="application/json",
        )
    elif route.method == "POST" and not api:
        answer = browser.post(path)
    else:
        answer = browser.go(route.method, path)
    if answer.status == 401 or (answer.status == 303 and answer.headers.get("Location") == "/login"):
        return False
    if answer.status == 403:
        return b"does not exist, or is not yours" not in answer.body and b"not-allowed" not in answer.body
    return True


def test_another_owners_table_is_as_if_it_did_not_exist(staffed):
    house, _, _ = staffed
    for path in ("/tables/theirs", "/tables/theirs/declare", "/tables/theirs/ledger", "/tables/no-such-table"):
        answer = house.browser("otto").get(path)
        assert answer.status == 403
        assert b"does not exist, or is not yours" in answer.body


def test_another_askers_request_and_one_that_does_not_exist_get_the_same_words(staffed):
    house, request, _ = staffed
    eve = house.browser("eve")
    assert eve.get(f"/requests/{request}").body == eve.get(f"/requests/{'0' * 32}").body


def test_a_cookie_does_not_open_the_programs_door(house: House):
    ada = house.browser("ada")
    body = json.dumps({"command": "count", "fields": {}}).encode()
    assert ada.go("POST", "/api/v1/tables/stays/price", body, content_type="application/json").status == 401


def test_an_asker_never_learns_whether_the_work_has_begun(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    otto.post(f"/requests/{request}/decide", word="approve")
    seen = (f"/requests/{request}", "/", "/tables/stays")
    before = [ada.get(path).body for path in seen]
    price = house.desk.quoted("stays", "count", COUNT, "ada")
    house.tick()  # taken, charged and answered, but not yet shown
    assert [ada.get(path).body for path in seen] == before
    assert (
        house.desk.quoted("stays", "count", COUNT, "ada") == price
    )  # nor what is left: it would tell when it was charged
    assert b"0.1 of 4 spent" in house.browser("otto").get("/tables/stays/ledger").body
    assert ada.get(f"/requests/{request}/release.json").status == 422
    house.tick(2)
    assert b"answered<br>" in ada.get(f"/requests/{request}").body


def test_nobody_grants_a_table_to_an_account_that_does_not_exist_yet(house: House):
    """Whoever took that name later would have been let in by nobody."""
    answer = house.browser("otto").post("/tables/stays/people", word="grant", name="later")
    assert (answer.status, b"there is no user" in answer.body) == (422, True)
    with house.desk.database.read() as seen:
        assert seen.one("SELECT count(*) AS n FROM grants WHERE holder = 'later'")["n"] == 0
