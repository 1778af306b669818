"""Ways in that were open once. Each of these tests failed before it was shut."""

from __future__ import annotations

import json
import re
import socket
import threading
from contextlib import contextmanager

import pytest
import uvicorn

from tests.service.desks import COUNT, Browser, House
from wallflower.service.authorisation import ROUTES
from wallflower.service.requests import find
from wallflower.service.web.patience import patient
from wallflower.service.web.server import settings

PATIENCE_S = 120


def test_a_stolen_token_asks_and_reads_and_does_nothing_else(house: House):
    """It opens the programs' door: no pages, no accounts, no new tokens, no decisions, no looks."""
    request = house.browser("ada").submit()
    thief = Browser(house.desk, headers={"authorization": f"Bearer {house.token('otto')}"})
    for route in ROUTES:
        path = route.path.format(table="stays", command="count", request=request, look="x", name="t30")
        if "public" in route.roles or route.path.startswith("/api/v1/") or route.path == "/metrics":
            continue
        answer = thief.post(path, csrf="") if route.method == "POST" else thief.get(path)
        assert (answer.status, answer.headers.get("Location")) == (303, "/login"), route
    assert thief.get("/api/v1/tables").status == 200
    assert not [route for route in ROUTES if route.for_programs and "decide" in route.path]
    with house.desk.database.read() as seen:
        assert find(seen, request).state == "waiting"
        assert seen.one("SELECT count(*) AS n FROM tokens")["n"] == 1


def test_a_stolen_session_makes_no_token_without_the_password(house: House):
    thief = Browser(house.desk, session=house.browser("ada").session)
    assert thief.post("/account/tokens", label="mine", days="365").status == 422
    assert thief.post("/account/tokens", label="mine", days="365", password=house.passwords["ada"]).status == 200


@pytest.mark.parametrize("path", ["/account/password", "/account/tokens"])
def test_a_stolen_session_cannot_try_passwords_without_end(house: House, path: str):
    ada = house.browser("ada")
    right = {"old": house.passwords["ada"], "new": "another long password", "password": house.passwords["ada"]}
    for guess in range(8):
        guesses = {**right, "old": f"guess {guess}", "password": f"guess {guess}"}
        assert ada.post(path, **guesses, label="t").status == 422
    assert ada.post(path, **right, label="t").status == 422  # even the right one: there is a wait
    house.clock.now += 3600
    assert ada.post(path, **right, label="t").status < 400


def test_a_table_of_people_is_priced_by_the_person(house: House):
    """Up to three rows of a person count: the price is for all of them, in the console, for programs and in policies."""
    path = house.folder / "stays.toml"
    text = path.read_text().replace('unit = "row"', 'unit = "person"\nperson = "patient"\nrows_per_person = 3')
    text = text.replace("max_rows", "max_people")
    path.write_text(text)
    ada = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    body = json.dumps({"command": "count", "fields": {**COUNT, "epsilon": "0.05"}}).encode()
    told = json.loads(ada.go("POST", "/api/v1/tables/stays/price", body, content_type="application/json").body)
    assert told["ok"], told
    guarantee = told["price"]["guarantee"]
    assert guarantee["unit"] == "person"
    charged = house.worker._session("stays", house.desk.declared("stays").declaration)
    from wallflower.service.questions import question

    assert guarantee == charged.price(question("count", {**COUNT, "epsilon": "0.05"})).guarantee.to_json()


def test_the_owners_pictures_may_be_drawn_and_nothing_may_be_loaded(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit({**COUNT, "epsilon": "0.05"})
    house.tick(3)
    look = otto.post("/tables/stays/looks", kind="report", request=request).headers["Location"]
    house.tick()
    answer = otto.get(look)
    page, policy = answer.body.decode(), answer.headers["Content-Security-Policy"]
    styles = re.findall(r"<style\b|\sstyle=", page)
    assert len(styles) > 2  # pictures style themselves, beside the page's own block
    assert "style-src 'unsafe-inline'" in policy
    assert policy.startswith("default-src 'none'")
    for word in ("script-src", "connect-src", "http:", "https:", "*"):
        assert word not in policy


@pytest.mark.parametrize("text", ["\0", "\ud800", "a\udfff"])
def test_text_that_no_database_keeps_is_refused_and_breaks_nothing(house: House, text: str):
    ada = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    for body in (
        {"command": text, "fields": {}},
        {"command": "count", "fields": {text: "1"}},
        {"command": "count", "fields": {"columns": [text]}},
        {"command": "count", "fields": COUNT, "purpose": text},
    ):
        sent = json.dumps(body).encode()
        answer = ada.go("POST", "/api/v1/tables/stays/requests", sent, content_type="application/json")
        assert answer.status == 422
    assert house.browser("ada").get(f"/requests/{text}").status == 403


@pytest.mark.parametrize("deep", [400, 600, 900, 1_100, 30_000])
def test_a_nest_of_any_depth_is_refused_in_words(house: House, deep: int):
    ada = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    body = b'{"command": "count", "fields": ' + b"[" * deep + b"]" * deep + b"}"
    assert ada.go("POST", "/api/v1/tables/stays/price", body, content_type="application/json").status == 422


@contextmanager
def served(house: House, **limits):
    """The web process's own server in a thread, with limits small enough to reach."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(settings(house.desk, patient(**limits)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)


def dawdler(port: int, sent: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    client.sendall(sent)
    return client


def closed(client: socket.socket) -> bool:
    """Whether the server ends the connection; waits for it."""
    try:
        while client.recv(4096):
            pass
    except ConnectionError:
        pass
    return True


HALF = b"GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: "
WHOLE = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
BODY = (
    b"POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nna"
)


@pytest.mark.parametrize("sent", [b"", HALF, WHOLE.replace(b"Connection: close\r\n", b"") + HALF])
def test_headers_that_do_not_come_end_the_connection(house: House, sent: bytes):
    with served(house, headers_s=0.2) as port, dawdler(port, sent) as client:
        assert closed(client)


@pytest.mark.parametrize("sent", [b"", HALF, BODY])
def test_dawdlers_push_out_dawdlers_and_nobody_who_speaks_at_once(house: House, sent: bytes):
    with served(house, headers_s=3600, most_waiting=4) as port:
        first = dawdler(port, sent)
        others = [dawdler(port, sent) for _ in range(8)]
        assert closed(first)
        with dawdler(port, WHOLE) as client:
            answer = b"".join(iter(lambda: client.recv(4096), b""))
            assert answer.startswith(b"HTTP/1.1 200")
        for each in (first, *others):
            each.close()
