"""The journey of a request: who decides, what binds the decision, what is shown when, and what is charged."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tests.service.desks import COUNT, Browser, House
from wallflower.errors import UsageError
from wallflower.ledger import Ledger
from wallflower.service import queue, requests
from wallflower.service.requests import asks_the_same, find

EXPLAIN = {
    "record": "e1200",
    "metric": "salary",
    "by": ["job", "hospital"],
    "detector": "lof(neighbours=20)",
    "guarantee": "output-constrained",
    "epsilon": "0.05",
}


def state(house: House, request: str) -> str:
    with house.desk.database.read() as seen:
        return find(seen, request).state


def entries(house: House, table: str = "stays") -> int:
    return len(Ledger.open(house.desk.declared(table).declaration).history())


def test_approved_it_is_charged_once_and_shown_at_its_tick(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    before = entries(house)
    request = ada.submit()
    house.tick(3)
    assert entries(house) == before  # nothing happens before a decision
    otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(3)
    page = ada.get(f"/requests/{request}").body.decode()
    release = json.loads(ada.get(f"/requests/{request}/release.json").body)
    assert f'<p class="big">{release["release"]["count"]}</p>' in page
    assert release["guarantee"]["parameters"]["epsilon"] == "0.1"
    spent = entries(house)
    house.tick(3)
    assert entries(house) == spent > before


def test_a_refusal_reaches_the_asker_with_its_reason_and_costs_nothing(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    before, request = entries(house), ada.submit()
    assert otto.post(f"/requests/{request}/decide", word="refuse").status == 422  # a refusal has a reason
    otto.post(f"/requests/{request}/decide", word="refuse", reason="Not this quarter.")
    house.tick(3)
    assert b"Not this quarter." in ada.get(f"/requests/{request}").body
    assert entries(house) == before
    assert otto.post(f"/requests/{request}/decide", word="approve").status == 422  # decided once


def test_a_policy_approves_at_once_up_to_its_epsilon(house: House):
    ada = house.browser("ada")
    assert state(house, ada.submit({**COUNT, "epsilon": "0.05"})) == "approved"
    assert state(house, ada.submit({**COUNT, "epsilon": "0.06"})) == "waiting"


def test_an_owner_writes_a_policy_from_a_request_and_ends_it(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    otto.post(f"/requests/{ada.submit()}/decide", word="policy")
    assert state(house, ada.submit()) == "approved"
    with house.desk.database.read() as seen:
        policy = seen.one("SELECT id FROM policies")["id"]
    otto.post("/tables/stays/people", word="end policy", name=policy)
    assert state(house, ada.submit()) == "waiting"


def test_no_policy_approves_explain(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit(EXPLAIN, table="salaries", command="explain")
    assert otto.post(f"/requests/{request}/decide", word="policy").status == 422
    assert state(house, request) == "waiting"
    assert b"not protected" in otto.get("/queue").body


def test_a_changed_declaration_sends_an_approved_request_back_to_the_queue(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request, before = ada.submit(), entries(house)
    otto.post(f"/requests/{request}/decide", word="approve")
    text = (house.folder / "stays.toml").read_text().replace("upper = 365", "upper = 400")
    assert otto.post("/tables/stays/declare", text=text, save="yes").status == 303
    house.tick(3)
    assert state(house, request) == "waiting"
    assert entries(house) == before
    assert b"changed after the decision" in ada.get(f"/requests/{request}").body


def test_an_exhausted_budget_is_told_at_the_tick_and_shows_no_answer(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    otto.post("/tables/stays/people", word="share", name="ada", family="dp", epsilon="10")
    first, second = (ada.submit({**COUNT, "epsilon": "3"}) for _ in range(2))
    for request in (first, second):
        otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(4)
    shown = [ada.get(f"/requests/{request}/release.json").status for request in (first, second)]
    assert shown == [200, 422]
    assert b"refused" in ada.get(f"/requests/{second}").body


def test_a_share_is_a_second_limit_in_the_same_ledger(house: House):
    """ada's share is 1 of the table's 4; the owner raises it."""
    ada, otto = house.browser("ada"), house.browser("otto")
    first, second = (ada.submit({**COUNT, "epsilon": "0.6"}) for _ in range(2))
    for request in (first, second):
        otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(4)
    assert [ada.get(f"/requests/{request}/release.json").status for request in (first, second)] == [200, 422]
    otto.post("/tables/stays/people", word="share", name="ada", family="dp", epsilon="1.2")
    third = ada.submit({**COUNT, "epsilon": "0.6"})
    otto.post(f"/requests/{third}/decide", word="approve")
    house.tick(4)
    assert ada.get(f"/requests/{third}/release.json").status == 200


def test_the_ledger_names_asker_purpose_and_tick(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit(purpose="planning\nbeds")
    otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(3)
    release = json.loads(ada.get(f"/requests/{request}/release.json").body)
    with house.desk.database.read() as seen:
        tick = find(seen, request).taken_tick
    assert release["at"] == house.desk.service.ticks.words(tick)
    history = Ledger.open(house.desk.declared("stays").declaration).history()
    charge = next(line.to_json() for line in history if line.kind == "charge")
    assert (charge["content"]["asker"], charge["content"]["purpose"]) == ("ada", "planning beds")
    assert charge["at"] == release["at"]


def test_a_withdrawn_request_is_never_answered(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    assert ada.post(f"/requests/{request}/withdraw").status == 303
    assert otto.post(f"/requests/{request}/decide", word="approve").status == 422


def test_a_recorded_answer_is_shared_uncharged(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    dora = house.browser("dora")
    house.desk.people.add("eve", "a long password")
    eve = Browser(house.desk)
    eve.log_in("eve", "a long password")
    assert eve.get(f"/requests/{request}").status == 403
    otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(3)
    before = entries(house)
    otto.post(f"/requests/{request}/share", asker="eve")
    assert eve.get(f"/requests/{request}/release.json").body == dora.get(f"/requests/{request}/release.json").body
    assert eve.post(f"/requests/{request}/withdraw").status == 403
    assert entries(house) == before


def test_a_stopped_table_takes_nothing_and_answers_nothing(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request, before = ada.submit(), entries(house)
    otto.post(f"/requests/{request}/decide", word="approve")
    otto.post("/tables/stays/stop")
    house.tick(3)
    assert entries(house) == before
    assert ada.post("/tables/stays/ask/count", **COUNT, purpose="x", submit="yes").status == 422
    otto.post("/tables/stays/stop")
    house.tick(3)
    assert entries(house) > before


def test_the_owner_cannot_look_before_deciding(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    assert otto.post("/tables/stays/looks", kind="report", request=request).status == 422
    otto.post(f"/requests/{request}/decide", word="approve")
    assert otto.post("/tables/stays/looks", kind="report", request=request).status == 422  # not before it is answered
    house.tick(3)
    look = otto.post("/tables/stays/looks", kind="report", request=request).headers["Location"]
    house.tick()
    assert b"NOT PRIVATE" in otto.get(look).body
    assert house.browser("dora").get(look).status == 403
    files = list((house.folder / "files" / "looks").iterdir())
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600]
    house.clock.now += 1000
    house.tick()
    assert not list((house.folder / "files" / "looks").iterdir())
    assert otto.get(look).status in (403, 422)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('source = "stays.csv"', 'source = "salaries.csv"'),
        ('id = "stays"', 'id = "salaries"'),
        ('ledger = "stays.ledger"', 'ledger = "salaries.ledger"'),
        ('unit = "row"', 'unit = "row"\nkey = "age"'),
        ("test = false", "test = true"),
        (
            'role = "quasi-identifier"\nlower = 0\nupper = 120\nstep = 1',
            'role = "quasi-identifier"\nvalues = "salaries.csv"',
        ),
    ],
)
def test_an_owner_cannot_point_a_worker_elsewhere(house: House, old: str, new: str):
    otto = house.browser("otto")
    text = (house.folder / "stays.toml").read_text()
    assert old in text
    answer = otto.post("/tables/stays/declare", text=text.replace(old, new), save="yes")
    assert answer.status == 422
    assert b"operator" in answer.body
    with house.desk.database.read() as seen:
        assert seen.one("SELECT * FROM edits") is None


def test_an_edit_in_the_database_that_points_elsewhere_is_refused_again_when_it_is_read(house: House):
    text = (house.folder / "stays.toml").read_text().replace('source = "stays.csv"', 'source = "salaries.csv"')
    with house.desk.database.write() as changes:
        changes.run("INSERT INTO edits (subject, text, by_whom, at) VALUES ('stays', :text, 'x', 'now')", text=text)
    with pytest.raises(Exception, match="operator"):
        house.desk.declared("stays")


def test_a_queue_is_bounded(house: House, monkeypatch):
    monkeypatch.setattr(requests, "MOST_WAITING", 2)
    ada = house.browser("ada")
    ada.submit()
    ada.submit()
    with pytest.raises(AssertionError, match="wait for a decision"):
        ada.submit()


def test_every_act_is_in_the_audit_log_and_no_secret_is(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    otto.post(f"/requests/{request}/decide", word="approve")
    token = house.token("ada")
    otto.post("/tables/stays/people", word="share", name="ada", family="dp", epsilon="0.5")
    with house.desk.database.read() as seen:
        log = seen.all("SELECT * FROM audit ORDER BY number")
    did = [line["did"] for line in log]
    assert {"logged in", "request submitted", "request approved", "token made", "share set"} <= set(did)
    text = json.dumps(log)
    assert token not in text
    assert not any(word in text for word in house.passwords.values())


def test_work_that_broke_after_the_charge_is_told_without_what_it_held(house: House, monkeypatch):
    ada = house.browser("ada")
    program = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    request = ada.submit({**COUNT, "epsilon": "0.05"})  # a policy approves it

    def innermost():
        raise KeyError("a cell: 4711")

    def broken(*_):
        innermost()

    monkeypatch.setattr(type(house.worker), "_release", broken)
    house.tick(3)
    answer = program.get(f"/api/v1/requests/{request}")
    told = json.loads(answer.body)
    assert (answer.status, told["ok"], told["error"]["kind"]) == (409, False, "lost")
    where = f"test_requests.py:{innermost.__code__.co_firstlineno + 1}"  # where it broke, and not who had called
    assert f"(KeyError at {where})" in told["error"]["message"]
    page = ada.get(f"/requests/{request}").body
    assert b"The charge stands" in page
    assert b"4711" not in answer.body + page
    assert ada.get(f"/requests/{request}/release.json").status == 422


def test_a_missed_tick_is_said_in_the_queue_and_an_answer_is_drawn(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit({**COUNT, "epsilon": "0.05"})
    house.tick(3)
    assert b'class="curve interval"' in ada.get(f"/requests/{request}").body
    assert b"of late" not in otto.get("/queue").body
    with house.desk.database.write() as changes:
        changes.run("UPDATE requests SET finished_tick = taken_tick + 9 WHERE id = :id", id=request)
    assert b"1 answer of late came after its tick" in otto.get("/queue").body
    house.token("ada")
    assert b"1 token for programs" in otto.get("/tables/stays/people").body


def test_purposes_are_needed_and_bounded(house: House):
    ada = house.browser("ada")
    for purpose in ("", "   ", "x" * 301):
        with pytest.raises(AssertionError):
            ada.submit(purpose=purpose)
    with pytest.raises(UsageError):
        house.desk.quoted("stays", "no-such-command", {}, "ada")


def edited(house: House) -> None:
    """The owner changes what a question is about, and no limit."""
    text = (house.folder / "stays.toml").read_text().replace("max_rows = 5_000", "max_rows = 6_000")
    assert house.browser("otto").post("/tables/stays/declare", text=text, save="yes").status == 303


def test_a_request_that_went_back_to_the_queue_is_answered_when_it_is_approved_again(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    otto.post(f"/requests/{request}/decide", word="approve")
    with house.desk.database.read() as seen:
        before = find(seen, request)
    edited(house)
    house.tick(3)
    with house.desk.database.read() as seen:
        after = find(seen, request)
    assert (after.state, after.bound == before.bound) == ("waiting", False)
    new = json.loads(json.dumps(house.desk.priced("stays", "count", COUNT, "ada")["price"]))
    assert after.price == new  # what the queue shows is what is decided
    otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(3)
    assert ada.get(f"/requests/{request}/release.json").status == 200


class Killed(BaseException):
    """A worker that is killed."""


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("gone", ["upper = 365", "days"])
def test_an_edit_takes_no_charge_back_of_a_worker_that_was_killed(house: House, monkeypatch, recorded, gone):
    """Otherwise the request would wait anew, be withdrawn, and say that nothing was charged."""

    def killed(*_args, **_named):
        raise Killed

    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    otto.post(f"/requests/{request}/decide", word="approve")
    with monkeypatch.context() as dying:
        if recorded:
            dying.setattr(queue, "finish", killed)
        else:
            dying.setattr(Ledger, "answer", killed)
            dying.setattr(Ledger, "give_up", lambda *_: False)
        with pytest.raises(Killed):
            house.tick()
    new = {"upper = 365": "upper = 400", "days": "nights"}[gone]
    text = (house.folder / "stays.toml").read_text().replace(gone, new)
    assert otto.post("/tables/stays/declare", text=text, save="yes").status == 303
    spent = entries(house)
    house.tick(3)
    assert state(house, request) == "done"
    assert ada.post(f"/requests/{request}/withdraw").status == 422
    answer = ada.get(f"/requests/{request}/release.json")
    if recorded:
        assert json.loads(answer.body)["ledger"]["spent"] == {"epsilon": "0.1"}
    else:
        assert b"The charge stands" in ada.get(f"/requests/{request}").body
    assert [line.kind for line in Ledger.open(house.desk.declared("stays").declaration).history()][spent:] == (
        [] if recorded else ["closed"]
    )


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"epsilon": "2"}, True),
        ({"interval_epsilon": "1/2"}, True),
        ({"radius": "4"}, False),
        ({"columns": ["days"]}, False),
    ],
)
def test_two_requests_ask_the_same_whatever_noise_was_chosen(change, same):
    fields = {"columns": ["age"], "radius": "3", "epsilon": "1", "interval_epsilon": "1"}
    one = SimpleNamespace(table="stays", command="count", fields=fields)
    assert asks_the_same(one, SimpleNamespace(table="stays", command="count", fields=fields | change)) is same
    assert not asks_the_same(one, SimpleNamespace(table="other", command="count", fields=fields))
