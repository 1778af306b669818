"""A barrage against a running service: no 5xx, no traceback, no path of the machine, no secret, whatever is sent."""

from __future__ import annotations

import shutil

import pytest

from tests.service.barrage import SOUGHT, Barrage, Person, log_in
from tests.service.desks import House
from tests.service.running import PASSWORD, add_people, serving, write_files
from tests.service.test_break_ins import served
from wallflower.service.web.visit import HANDLERS, Answer


def against_house(house: House, port: int) -> Barrage:
    people = [log_in(port, name, house.passwords[name]) for name in ("ada", "otto", "dora")]
    for person in people:
        person.token = house.token(person.name)
    secrets = (str(house.folder), *house.passwords.values())
    return Barrage(port, [*people, Person("nobody")], [house.browser("ada").submit()], secrets)


def test_a_short_barrage(house: House):
    with served(house) as port:
        barrage = against_house(house, port)
        barrage.run(240, threads=2)
    assert not barrage.wrong
    assert barrage.statuses.keys() >= {200, 303, 401, 403, 404, 422}  # it reached what it aims at


def test_a_planted_break_would_be_seen(house: House, monkeypatch):
    with served(house) as port:
        barrage = against_house(house, port)
        for route in SOUGHT[::4]:
            monkeypatch.setitem(HANDLERS, route, lambda _desk, _visit: Answer(body=str(house.folder).encode()))
        barrage.run(40, threads=2)
    assert barrage.wrong


@pytest.mark.campaign
def test_a_hundred_thousand_requests(laid_out, tmp_path):
    shutil.copytree(laid_out.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "service.db").unlink()
    path, port = write_files(tmp_path, workers=1)
    database = str(tmp_path / "service.db")
    add_people(database, ["ada", "otto", "dora"])
    with serving(tmp_path, path, port, database) as running:
        people = [log_in(port, name, PASSWORD) for name in ("ada", "otto", "dora")]
        for person in people:
            person.token = running.token(person.name)
        barrage = Barrage(port, [*people, Person("nobody")], ["0" * 32], (str(tmp_path), PASSWORD))
        barrage.run(100_000, threads=8)
    assert barrage.sent == 100_000
    assert not barrage.wrong, barrage.wrong[:5]
    log = (tmp_path / "serve.log").read_text()
    assert "Traceback" not in log
    assert PASSWORD not in log
