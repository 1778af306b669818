"""Publications, requests that were sent twice, room for more, and prices that a clerk computes."""

from __future__ import annotations

import csv
import hashlib
import io
import json

import pytest

from tests.service.barrage import GOOD
from tests.service.desks import COUNT, Browser, House
from wallflower.errors import PendingError, UsageError
from wallflower.ledger import Ledger
from wallflower.publish import PlainTable
from wallflower.remote import written
from wallflower.service import errands
from wallflower.service.forms import FORMS, form_of
from wallflower.service.questions import question
from wallflower.service.requests import find
from wallflower.service.warm_up import example, warm

PUBLISH = {
    "columns": ["job", "hospital", "salary"],
    "k": "3",
    "p": "0.9",
    "d": "0.5",
    "level": "matching",
    "format": "csv",
}
WIDE = {**COUNT, "columns": ["age,days,cost", "age,days,cost"]}


@pytest.mark.slow
def test_a_publication_travels_like_any_question(house: House):
    """Approved by a person, charged once, its file handed on from the ledger at its tick; never a preview before."""
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit(PUBLISH, table="salaries", command="publish")
    assert otto.post(f"/requests/{request}/decide", word="policy").status == 422
    assert otto.post("/tables/salaries/looks", kind="report", request=request).status == 422
    otto.post(f"/requests/{request}/decide", word="approve")
    house.tick()
    assert ada.get(f"/requests/{request}/file").status == 422  # not before its tick
    house.tick(3)
    release = json.loads(ada.get(f"/requests/{request}/release.json").body)
    answer = ada.get(f"/requests/{request}/file")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="salaries-1.csv"'
    assert hashlib.sha256(answer.body).hexdigest() == release["release"]["sha256"]
    rows = list(csv.reader(io.StringIO(answer.body.decode())))
    assert len(rows) - 1 == release["release"]["rows"] > 1_000
    assert house.browser("dora").get(f"/requests/{request}/file").status == 403  # an auditor sees no rows
    assert b"Download the table" in ada.get(f"/requests/{request}").body
    assert not list(house.desk.service.folder.glob("worker-*"))
    program = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    assert program.get(f"/api/v1/requests/{request}/file").body == answer.body
    charges = [
        line for line in Ledger.open(house.desk.declared("salaries").declaration).history() if line.kind == "charge"
    ]
    assert len(charges) == 1


def test_a_publication_is_sayable_from_python():
    query = PlainTable(columns=("job", "salary"), out="x.csv", k=3, p="0.9", d="0.5")
    assert written(query)["fields"]["format"] == "csv"
    with pytest.raises(UsageError, match="closeness"):
        written(PlainTable(columns=("job", "salary"), out="x.csv", k=3, p="0.9", d="0.5", closeness="0.2"))


def test_a_request_sent_twice_under_one_id_is_one(house: House):
    ada = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})

    def send(**changes):
        body = {"command": "count", "fields": COUNT, "purpose": "beds", "id": "mine-1", **changes}
        sent = json.dumps(body).encode()
        return ada.go("POST", "/api/v1/tables/stays/requests", sent, content_type="application/json")

    first, second = (json.loads(send().body)["request"]["id"] for _ in range(2))
    assert first == second
    assert json.loads(send(id="mine-2").body)["request"]["id"] != first
    for changed in ({"purpose": "another"}, {"fields": {**COUNT, "epsilon": "0.2"}}, {"id": "a b"}, {"id": 7}):
        assert send(**changed).status == 422
    otto = Browser(house.desk, headers={"authorization": f"Bearer {house.token('otto')}"})
    body = json.dumps({"command": "count", "fields": COUNT, "purpose": "beds", "id": "mine-1"}).encode()
    other = otto.go("POST", "/api/v1/tables/stays/requests", body, content_type="application/json")
    assert json.loads(other.body)["request"]["id"] != first  # an id belongs to its asker


def test_a_form_pressed_twice_is_one_request(house: House):
    ada = house.browser("ada")
    page = ada.get("/tables/stays/ask/count").body.decode()
    once = page.partition('name="once" value="')[2].partition('"')[0]
    places = {
        ada.post("/tables/stays/ask/count", **COUNT, purpose="beds", submit="yes", once=once).headers["Location"]
        for _ in range(2)
    }
    assert len(places) == 1


def test_what_is_left_is_said_in_questions_like_the_last(house: House):
    """Of ada's share of 1: ten of 0.1, nine after one of them."""
    ada = house.browser("ada")
    assert b"like your last" not in ada.get("/").body
    request = ada.submit()
    assert b"about 10 more questions like your last" in ada.get("/").body
    house.browser("otto").post(f"/requests/{request}/decide", word="approve")
    house.tick(3)
    assert b"about 9 more questions like your last" in ada.get("/tables/stays").body


def test_a_slow_price_is_the_clerks(house: House):
    ada = house.browser("ada")
    assert errands.is_slow("count", WIDE)
    with pytest.raises(PendingError):
        house.desk.quoted("stays", "count", COUNT | {"columns": ["age,days,cost"] * 2}, "ada")
    ada.headers["accept"] = "application/json"
    assert errands.step(house.desk.database, house.desk.service)
    assert not errands.step(house.desk.database, house.desk.service)
    with pytest.raises(UsageError, match="each once"):  # what the clerk found out is told as if it had been asked here
        house.desk.quoted("stays", "count", WIDE, "ada")


def test_the_clerk_and_the_web_process_quote_the_same(house: House, monkeypatch):
    quick = house.desk.quoted("stays", "count", COUNT, "ada")
    monkeypatch.setitem(errands._SLOW_COLUMNS, "count", 1)
    with pytest.raises(PendingError):
        house.desk.quoted("stays", "count", COUNT, "ada")
    errands.step(house.desk.database, house.desk.service)
    assert house.desk.quoted("stays", "count", COUNT, "ada") == json.loads(json.dumps(quick))
    ada = house.browser("ada")
    assert find_state(house, ada.submit()) == "waiting"


def find_state(house: House, request: str) -> str:
    with house.desk.database.read() as seen:
        return find(seen, request).state


def test_slow_prices_have_a_quota_and_an_end(house: House, monkeypatch):
    monkeypatch.setitem(errands._SLOW_COLUMNS, "count", 1)
    for place in range(errands.MOST_AT_ONCE):
        with pytest.raises(PendingError):
            house.desk.quoted("stays", "count", {**COUNT, "radius": str(place + 1)}, "ada")
    with pytest.raises(UsageError, match="still being computed"):
        house.desk.quoted("stays", "count", {**COUNT, "radius": "9"}, "ada")
    with pytest.raises(PendingError):  # another asker is not kept from theirs
        house.desk.quoted("stays", "count", COUNT, "otto")
    with house.desk.database.write() as changes:
        changes.run("UPDATE errands SET state = 'begun'")
    errands.give_up_begun(house.desk.database)
    with pytest.raises(UsageError, match="longer than"):
        house.desk.quoted("stays", "count", COUNT, "otto")
    house.clock.now += errands.KEPT_S + 1
    with pytest.raises(PendingError):  # what has expired is computed anew
        house.desk.quoted("stays", "count", COUNT, "otto")


def test_a_rehearsal_is_the_clerks_and_reads_no_row(house: House):
    """On made-up rows, or the declared public file; never the table's."""
    for name in ("stays.csv", "stays.ledger"):
        (house.folder / name).unlink()
    ada = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    body = json.dumps({"command": "count", "fields": COUNT}).encode()

    def tried():
        return ada.go("POST", "/api/v1/tables/stays/rehearse", body, content_type="application/json")

    assert tried().status == 202
    assert errands.step(house.desk.database, house.desk.service)
    told = json.loads(tried().body)["rehearsal"]
    assert "release" not in told
    browser = house.browser("ada")
    page = browser.post("/tables/stays/ask/count", **COUNT, rehearse="yes").body.decode()
    assert "made-up rows" in page
    assert "NOT PRIVATE" not in page


def test_an_owner_rehearses_what_waits_and_still_reads_no_row(house: House):
    """The queue shows what it would leave, what was asked before, and a rehearsal; the rows need not even be there."""
    ada, otto = house.browser("ada"), house.browser("otto")
    first = ada.submit()
    otto.post(f"/requests/{first}/decide", word="approve")
    house.tick(3)
    request = ada.submit({**COUNT, "epsilon": "0.2"})
    (house.folder / "stays.csv").unlink()
    before = otto.get("/queue").body.decode()
    assert "ε\u00a03.7" in before  # 4, less 0.1 answered and 0.2 asked for
    assert f'href="/requests/{first}"' in before
    assert f'action="/requests/{request}/rehearse"' in before
    answer = otto.post(f"/requests/{request}/rehearse")
    assert (answer.status, answer.headers["Location"]) == (303, f"/queue#rehearsal-{request}")
    assert b"is being computed" in otto.get("/queue").body
    assert errands.step(house.desk.database, house.desk.service)
    assert otto.post(f"/requests/{request}/rehearse").status == 303  # the same errand: nothing is computed anew
    assert not errands.step(house.desk.database, house.desk.service)
    page = otto.get("/queue").body.decode()
    assert "made-up rows" in page.partition("Rehearsal of question")[2]
    assert "NOT PRIVATE" not in page
    assert find_state(house, request) == "waiting"
    otto.post(f"/requests/{request}/decide", word="refuse", reason="no")
    assert otto.post(f"/requests/{request}/rehearse").status == 422


def test_a_rehearsal_that_cannot_be_done_or_is_one_too_many_is_said(house: House, monkeypatch):
    ada, otto = house.browser("ada"), house.browser("otto")
    requests = [ada.submit({**COUNT, "radius": str(place + 1)}) for place in range(errands.MOST_AT_ONCE + 1)]
    told = [otto.post(f"/requests/{request}/rehearse").status for request in requests]
    assert told == [303] * errands.MOST_AT_ONCE + [422]
    monkeypatch.setattr(errands, "rehearse", lambda *_, **__: (_ for _ in ()).throw(UsageError("it is too large.")))
    assert errands.step(house.desk.database, house.desk.service)
    assert b"it is too large." in otto.get("/queue").body


@pytest.mark.parametrize("command", GOOD)
def test_what_a_form_does_not_need_may_be_left_out(command):
    for field in form_of(command).fields:
        if field.name not in GOOD[command]:
            assert not field.needed, field.name
    assert written(question(command, GOOD[command]))["command"] == command


def test_programs_are_answered_as_their_page_says(house: House):
    ada = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    described = json.loads(ada.get("/api/v1/openapi.json").body)["paths"]
    paths = [path for path, told in described.items() if "get" in told and "{" not in path]
    assert {"/api/v1/openapi.json", "/api/v1/requests"} <= set(paths)
    for path in paths:
        status = ada.get(path).status
        assert status == 200
        assert str(status) in described[path]["get"]["responses"]


def test_every_kind_of_question_can_be_warmed_from_a_declaration_alone(house: House):
    import threading

    tables = [house.desk.declared(name).declaration for name in ("stays", "salaries")]
    for command in ("count", "identify", "explain", "publish", "subspaces"):
        found = [example(FORMS[command], declaration) for declaration in tables]
        assert any(given is not None and question(command, given) for given in found), command
    (house.folder / "stays.csv").unlink()
    (house.folder / "salaries.csv").unlink()
    warm(house.desk.database, house.desk.service, threading.Event())  # no row is there to be read
