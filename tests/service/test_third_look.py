"""What a stranger found who read nothing: databases that are away, bindings twice, questions nobody could find again."""

from __future__ import annotations

import json
import re
import threading
import time
from multiprocessing import Pipe

import pytest

from tests.servers.postgresql import server  # noqa: F401 - a fixture
from tests.service.desks import COUNT, House
from tests.service.running import add_people, serving, write_files
from wallflower.errors import LedgerError, UsageError
from wallflower.service import child, extras
from wallflower.service.extras import check_installed
from wallflower.service.migrations import migrate
from wallflower.service.parent import say_ready, stop_with_parent
from wallflower.stores.database import Database


def _broken(_parent=None) -> None:
    message = "a cell: 4711"
    raise ValueError(message)


def test_a_child_that_breaks_says_one_sentence_and_nothing_of_what_it_held(capfd):
    with pytest.raises(SystemExit) as ended:
        child.body("worker 0", _broken)
    said = capfd.readouterr().err
    assert ended.value.code == 1
    assert said.count("\n") == 1
    assert "4711" not in said
    assert "worker 0" in said


def test_a_child_stops_when_its_parent_is_gone_and_not_before():
    childs, parents = Pipe()
    stopped = threading.Event()
    stop_with_parent(childs, stopped.set)
    say_ready(childs)
    assert parents.recv() == "ready"
    assert not stopped.is_set()
    parents.close()
    assert stopped.wait(60)
    say_ready(childs)  # to nobody: no reason to break
    childs.close()


def test_what_the_service_needs_is_named_before_anything_starts(monkeypatch):
    check_installed()
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "uvicorn" else name)
    with pytest.raises(UsageError, match="needs uvicorn") as refused:
        check_installed()
    assert "wallflower[service]" in refused.value.hint


@pytest.mark.parametrize("address", ["postgresql://nobody@127.0.0.1:1/none", "folder/that/is/not/there/service.db"])
def test_a_database_that_is_away_is_said_to_be(address):
    with pytest.raises(LedgerError, match="cannot be opened") as refused:
        migrate(Database(address))
    assert "nobody@" not in str(refused.value)


def test_a_file_that_is_no_database_is_said_to_be(tmp_path):
    (tmp_path / "service.db").write_text("not a database, and long enough to be looked at as one " * 40)
    with pytest.raises(LedgerError, match="cannot be opened"):
        migrate(Database(str(tmp_path / "service.db")))


def test_a_subject_is_one_user(house: House):
    people = house.desk.people
    people.bind_subject("ada", "https://provider.example 1")
    people.bind_subject("ada", "https://provider.example 1")
    with pytest.raises(UsageError, match="'ada' already"):
        people.bind_subject("otto", "https://provider.example 1")


@pytest.mark.slow
def test_children_wait_for_a_server_that_is_away_and_the_log_has_sentences(laid_out, tmp_path, server):  # noqa: F811
    """PostgreSQL goes, every child is killed, PostgreSQL comes back: up again, and no traceback in between."""
    import os
    import shutil
    import signal

    server.execute("CREATE DATABASE away")
    address = server.address("away")
    shutil.copytree(laid_out.folder, tmp_path, dirs_exist_ok=True)
    path, port = write_files(tmp_path, database=address)
    add_people(address, ["otto", "ada", "dora"])
    with serving(tmp_path, path, port, address) as running:
        server.stop()
        try:
            for pid in running.children().values():
                os.kill(pid, signal.SIGKILL)
            log, sentence = tmp_path / "serve.log", "wallflower web: the service's database is away"
            end = time.monotonic() + 300  # whichever child is first: the server stays away until this one speaks
            while sentence not in log.read_text() and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            server.start()
        from tests.service.running import until_healthy

        until_healthy(running)
    said = log.read_text()
    assert sentence in said
    assert "Traceback" not in said


def _page(browser, path: str) -> str:
    answer = browser.get(path)
    assert answer.status == 200, answer.body.decode()
    return answer.body.decode()


def _text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("\xa0", " ")


def test_owners_and_auditors_find_every_question_of_their_tables_and_askers_only_their_own(house: House):
    house.desk.people.add("eve", "a password of eve's")
    house.browser("otto").post("/tables/stays/people", word="grant", name="eve")
    question = house.browser("ada").submit()
    for name in ("dora", "otto"):
        listed = _page(house.browser(name), "/requests")
        assert f"/requests/{question}" in listed
        assert "ada" in _text(listed)
    house.passwords["eve"] = "a password of eve's"
    assert question not in _page(house.browser("eve"), "/requests")


def test_the_ledger_names_questions_by_number_and_leads_to_them(house: House):
    question = house.browser("ada").submit({**COUNT, "epsilon": "0.05"})
    house.tick(3)
    page = _page(house.browser("dora"), "/tables/stays/ledger")
    history, _, log = page.partition("Who did what here")
    assert f'<a href="/requests/{question}">question 1</a>' in history
    assert f'<a href="/requests/{question}">question 1</a>' in log
    assert question not in _text(page)


def test_who_changed_which_limit_is_in_the_log(house: House):
    otto = house.browser("otto")
    otto.post("/tables/stays/declare", save="yes", **{"budget/dp/epsilon": "5"})
    assert "declaration changed: dp epsilon 4 → epsilon 5" in _text(
        _page(house.browser("dora"), "/tables/stays/ledger")
    )


def test_each_of_several_answers_stands_beside_its_value(house: House):
    asked = {"model": "default", "values": "age=40, days=3\nage=99, days=300", "method": "sensitive", "epsilon": "0.5"}
    question = house.browser("ada").submit(asked, command="identify")
    house.browser("otto").post(f"/requests/{question}/decide", word="approve")
    house.tick(3)
    said = _text(_page(house.browser("ada"), f"/requests/{question}"))
    assert re.search(r"age 40, days 3 (no|an) anomaly age 99, days 300 (no|an) anomaly", said)


def test_what_a_table_cannot_answer_is_said_and_not_offered(house: House):
    ada = house.browser("ada")
    page = _page(ada, "/tables/stays")
    assert 'href="/tables/stays/ask/count"' in page
    assert "/ask/publish" not in page  # no budget for publications
    assert "/ask/explain" not in page  # no column to describe a context by
    assert "no budget for it here" in _text(page)
    assert "would be refused" in _text(_page(ada, "/tables/stays/ask/publish"))
    salaries = _page(ada, "/tables/salaries")
    assert "/ask/identify" not in salaries  # no model
    for command in ("count", "explain", "publish"):
        assert f"/ask/{command}" in salaries


def test_a_price_names_the_shares_it_spends_of_and_no_other(house: House):
    ada = house.browser("ada")
    explain = {"record": "e3", "metric": "salary", "by": ["job"], "detector": "grubbs(alpha=0.05)"}
    explain |= {"guarantee": "output-constrained", "epsilon": "0.1"}
    answer = ada.post("/tables/salaries/ask/explain", **explain).body.decode()
    assert "your share" not in answer
    assert "your share" in ada.post("/tables/salaries/ask/count", **{**COUNT, "columns": ["salary"]}).body.decode()


def test_words_of_the_queue_are_for_people(house: House):
    ada = house.browser("ada")
    publish = {"columns": ["job", "hospital", "salary"], "k": "5", "p": "0.9", "d": "0.5", "level": "matching"}
    ada.submit({**publish, "format": "csv"}, table="salaries", command="publish")
    asked = {"model": "default", "values": "age=40, days=3", "method": "sensitive", "epsilon": "0.5"}
    ada.submit(asked, command="identify")
    said = _text(_page(house.browser("otto"), "/queue"))
    assert "ε –" not in said
    assert "publications publications" not in said
    assert re.search(r"wrong if no row holds it under 0\.1 % with 0 rows near", said)
    assert not re.search(r"\de-\d", said)


def test_explained_records_are_counted_however_many_questions_came_after(house: House, monkeypatch):
    from wallflower.service.web import queue_page

    real = queue_page.of_table
    monkeypatch.setattr(queue_page, "of_table", lambda seen, table, state=None: real(seen, table, state=state, most=1))
    ada, otto = house.browser("ada"), house.browser("otto")
    explain = {"metric": "salary", "by": ["job"], "detector": "grubbs(alpha=0.05)", "guarantee": "output-constrained"}
    for record in ("e3", "e3", "e4"):
        question = ada.submit({**explain, "record": record, "epsilon": "0.1"}, table="salaries", command="explain")
        otto.post(f"/requests/{question}/decide", word="approve")
    house.tick(3)
    ada.submit({**explain, "record": "e5", "epsilon": "0.1"}, table="salaries", command="explain")
    assert "ada has had 2 records explained before" in _text(_page(otto, "/queue"))


PEOPLE = """\
[table]
id = "visits"
source = "visits.csv"
unit = "person"
person = "patient"
rows_per_person = 2
max_people = 100
neighbours = "add-remove"
reviewed = true
ledger = "visits.ledger"
[budget.output-constrained-dp]
epsilon = "2"
[columns.ward]
role = "quasi-identifier"
values = ["a", "b"]
outside = "drop"
missing = "drop"
[columns.cost]
role = "sensitive"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = "drop"
"""


def test_where_a_person_has_several_rows_the_row_can_be_named(house: House):
    from wallflower.schema import loads
    from wallflower.service.forms import form_of
    from wallflower.service.questions import question, shown_fields

    visits = loads(PEOPLE, folder=house.folder)
    stays = house.desk.declared("stays").declaration
    assert "row" in [field.name for field in shown_fields(form_of("explain"), visits)]
    assert "row" not in [field.name for field in shown_fields(form_of("explain"), stays)]
    assert 'name="row"' not in _page(house.browser("ada"), "/tables/salaries/ask/explain")
    given = {"record": "7", "row": "2", "metric": "cost", "by": ["ward"], "detector": "grubbs(alpha=0.05)"}
    asked = question("explain", {**given, "guarantee": "output-constrained", "epsilon": "0.1"})
    assert asked.row == 2
    assert asked.price(visits).settings["row"] == "2"


def _let_spend(house: House) -> None:
    done = house.browser("otto").post("/tables/stays/people", word="share", name="ada", family="dp", epsilon="4")
    assert done.status == 303


@pytest.mark.parametrize("method", ["grid", "cheapest-dp"])
def test_many_values_can_be_asked_by_one_grid(house: House, method: str):
    values = "\n".join(f"age={age}, days=5" for age in (20, 40, 60))
    asked = {"model": "default", "values": values, "method": method, "epsilon": "0.1"}
    _let_spend(house)
    question = house.browser("ada").submit(asked, command="identify")
    house.browser("otto").post(f"/requests/{question}/decide", word="approve")
    house.tick(3)
    release = json.loads(house.browser("ada").get(f"/requests/{question}/release.json").body)
    assert len(release["release"]["answers"]) == 3
    assert release["asked"]["method"] == method


def test_a_narrower_interval_can_be_bought(house: House):
    ada = house.browser("ada")
    given = {**COUNT, "epsilon": "1", "interval_epsilon": "0.2"}
    told = ada.post("/tables/stays/ask/count", **given).body.decode()
    assert "ε\xa01.2" in told
    question = ada.submit(given)
    page = _page(ada, f"/requests/{question}")
    assert "--interval-epsilon 0.2" in _text(page)


def _counted(house: House) -> str:
    page = house.browser("otto").get("/metrics").body.decode()
    return "\n".join(line for line in page.splitlines() if line.startswith("wallflower_requests{"))


def test_metrics_change_at_ticks_and_not_when_the_work_ends(house: House):
    """Looked at every moment, a number that moved when a worker was ready would be how long it took."""
    from wallflower.service import queue

    house.browser("ada").submit({**COUNT, "epsilon": "0.05"})
    ticks = house.desk.service.ticks
    house.clock.now += ticks.period_s
    decided = _counted(house)
    queue.take(house.desk.database, ticks, tick=ticks.at(house.clock.now), workers=1)
    assert _counted(house) == decided
    assert house.worker.step()
    assert _counted(house) == decided
    house.clock.now += ticks.period_s * ticks.shown_after
    assert _counted(house) != decided
    assert 'state="answered"} 1' in _counted(house)
