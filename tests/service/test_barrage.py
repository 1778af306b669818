"""A barrage against a running service: no 5xx, no traceback, no path of the machine, no secret, whatever is sent."""

from __future__ import annotations

import http.client
import os
import shutil
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

import wallflower
from tests.service.barrage import Barrage, doors
from tests.service.desks import House
from tests.service.provider import provider
from tests.service.running import PASSWORD, add_people, serving, until_healthy, write_files
from tests.service.test_break_ins import served
from wallflower.publish import PlainTable
from wallflower.service.authorisation import ROUTES
from wallflower.service.web.visit import HANDLERS, Answer
from wallflower.stores.database import Database

SOURCE = Path(wallflower.__file__).parent


def against_house(house: House, port: int) -> Barrage:
    tokens = {name: house.token(name) for name in ("ada", "otto", "dora")}
    secrets = (str(house.folder), *house.passwords.values(), "scrypt$")
    return Barrage(port, doors(house.desk.database), tokens, [house.browser("ada").submit()], secrets, house.passwords)


def test_a_short_barrage(house: House):
    with served(house) as port:
        barrage = against_house(house, port)
        barrage.run(240, threads=2)
    assert not barrage.wrong
    assert barrage.statuses.keys() >= {200, 303, 401, 403, 404, 422}  # it reached what it aims at


def test_a_planted_break_would_be_seen(house: House, monkeypatch):
    with served(house) as port:
        barrage = against_house(house, port)
        for route in ROUTES[::4]:
            monkeypatch.setitem(HANDLERS, route, lambda _desk, _visit: Answer(body=str(house.folder).encode()))
        barrage.run(40, threads=2)
    assert barrage.wrong


def published(running, tokens, enter) -> str:
    """A table published through the service, so that there is a file to ask for."""
    salaries = wallflower.connect(running.address, token=tokens["ada"]).table("salaries")
    handle = salaries.ask(
        PlainTable(columns=("job", "hospital", "salary"), k=3, p="0.9", d="0.5", out="x.csv"), purpose="p"
    )
    otto = enter("otto")
    form = urlencode({"csrf": otto.csrf, "word": "approve"})
    headers = {"Cookie": otto.cookie, "Content-Type": "application/x-www-form-urlencoded"}
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=120)
    connection.request("POST", f"/requests/{handle.id}/decide", form, headers)
    assert connection.getresponse().status == 303
    connection.close()
    handle.wait(900)  # a machine that has never published compiles first
    return handle.id


OPENID = """
proxy = "127.0.0.1"
[openid]
issuer = "{issuer}"
client_id = "wallflower"
secret_variable = "SECRET"
address = "https://wallflower.example"
"""


@pytest.mark.campaign
def test_a_hundred_thousand_requests(laid_out, tmp_path):
    """`make campaign`; WALLFLOWER_REQUESTS says how many, where a smaller look is wanted."""
    number = int(os.environ.get("WALLFLOWER_REQUESTS", "100000"))
    shutil.copytree(laid_out.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "service.db").unlink()
    database = str(tmp_path / "service.db")
    add_people(database, ["ada", "otto", "dora"])
    with provider() as known:
        path, port = write_files(tmp_path, workers=1, more=OPENID.format(issuer=known.issuer))
        with serving(tmp_path, path, port, database, environment={"SECRET": "the secret of the client"}) as running:
            tokens = {name: running.token(name) for name in ("ada", "otto", "dora")}
            kept = Database(database)
            hidden = (str(tmp_path), PASSWORD, "scrypt$", "the secret of the client", sys.prefix, str(SOURCE))
            words = dict.fromkeys(tokens, PASSWORD)
            barrage = Barrage(
                port, doors(kept), tokens, ["0" * 32, published(running, tokens, doors(kept))], hidden, words
            )
            barrage.run(number, threads=8)
            kept.close()
            until_healthy(running)
    assert not barrage.wrong, barrage.wrong[:5]
    assert barrage.sent == number
    # Coming back from a provider, and a new password, are walked in earnest by tests of their own.
    reached = barrage.reached.keys() | {("GET", "/login/openid/back"), ("POST", "/account/password")}
    assert not {(route.method, route.path) for route in ROUTES} - reached
    log = (tmp_path / "serve.log").read_text()
    assert "Traceback" not in log
    for secret in (PASSWORD, *tokens.values()):
        assert secret not in log
