"""What a later look at the doors found: forwarded addresses, redirects, proxies, tokens, and text that is not print."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from dataclasses import replace
from fractions import Fraction

import pytest

import wallflower as wf
from tests.service.desks import COUNT, Browser, House
from tests.service.test_break_ins import PATIENCE_S, served
from tests.service.test_requests import EXPLAIN
from wallflower import remote
from wallflower.errors import DeclarationError, UsageError
from wallflower.service.addresses import opener
from wallflower.service.audit_log import lines
from wallflower.service.errands import is_slow
from wallflower.service.grants import shares
from wallflower.service.parser import loads
from wallflower.service.requests import find
from wallflower.service.worker import Worker


def test_a_visitor_writes_no_address_of_their_own_before_the_proxys(house: House):
    """A proxy may add a line of its own instead of adding to the visitor's; throttling goes by the address."""
    house.desk = replace(house.desk, service=replace(house.desk.service, proxy="127.0.0.1"))
    with served(house) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        csrf = house.desk.signer.form_token("mine")
        body = f"csrf={csrf}&name=ada&password=wrong"
        connection.putrequest("POST", "/login")
        for name, value in (
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Content-Length", str(len(body))),
            ("Cookie", "__Host-wallflower-visit=mine"),
            ("X-Forwarded-For", "198.51.100.1"),
            ("X-Forwarded-For", "203.0.113.9"),
        ):
            connection.putheader(name, value)
        connection.endheaders(body.encode())
        assert connection.getresponse().status == 403
        connection.close()
    with house.desk.database.read() as seen:
        line = lines(seen, most=1)[0]
    assert (line["did"], line["source"]) == ("login refused", "203.0.113.9")


@pytest.mark.parametrize("path", ["/queue/", "/login/", "/static/console.css/", "/tables/stays/"])
def test_no_header_says_where_a_visitor_is_led(house: House, path: str):
    with served(house) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"Host": "elsewhere.example"})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (404, None)
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        connection.close()


def test_a_token_goes_through_no_proxy_in_the_open(monkeypatch):
    """Plain HTTP is allowed to this machine because nobody reads it on the way: a proxy would be on the way."""
    heard: list[bytes] = []
    with socket.socket() as proxy, socket.socket() as nobody:
        for each in (proxy, nobody):
            each.bind(("127.0.0.1", 0))
        proxy.listen()
        proxy.settimeout(PATIENCE_S)

        def listen() -> None:
            try:
                caller, _ = proxy.accept()
            except OSError:
                return
            with caller:
                heard.append(caller.recv(4096))

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setattr(remote, "_OPENER", opener())
        there = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(UsageError, match="did not answer"):
            wf.connect(there, token="wf_secret").tables()  # noqa: S106 - of nobody
        socket.create_connection(proxy.getsockname()).close()  # whoever listened has heard somebody by now
        thread.join(PATIENCE_S)
    assert heard == [b""]


@pytest.mark.parametrize("token", ["wf_secret\nX-Other: 1", "wf_secr\u00e9t", "wf_secret\x00", "wf secret", "", "\n"])
def test_no_error_repeats_a_token(token: str):
    with pytest.raises(UsageError) as refused:
        wf.connect("https://wallflower.example", token=token)
    assert "secr" not in str(refused.value)


def test_a_token_may_come_with_the_end_of_its_line():
    assert wf.connect("https://wallflower.example", token="wf_secret\n").token == "wf_secret"  # noqa: S105, S106 - of nobody


@pytest.mark.parametrize("letter", ["\x1b", "\x9b", "\x07", "\x7f", "\n", "\r", "\t", "\u2028", "\u202e", "\u2066"])
def test_what_is_asked_is_print(house: House, letter: str):
    """The ledger prints it on a terminal, and people decide about it."""
    ada = house.browser("ada")
    sent = {**EXPLAIN, "record": f"e1200{letter}[2J approved"}
    answer = ada.post("/tables/salaries/ask/explain", **sent, purpose="x", submit="yes")
    assert (answer.status, b"not text that can be shown" in answer.body) == (422, True)


def test_a_request_whose_table_is_gone_says_so_and_claims_no_charge(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    otto.post(f"/requests/{request}/decide", word="approve")
    tables = {name: table for name, table in house.desk.service.tables.items() if name != "stays"}
    house.desk = replace(house.desk, service=replace(house.desk.service, tables=tables))
    house.worker = Worker(house.desk.service, 0, house.desk.database)
    house.tick(3)
    with house.desk.database.read() as seen:
        outcome = find(seen, request).outcome
    assert outcome["error"]["message"] == "this table is no longer part of the service."
    assert Browser(house.desk, session=ada.session).get("/requests").status == 200


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_many_values_are_slow_however_they_are_sent(end: str):
    values = end.join(f"age={age}" for age in range(90))
    assert is_slow("identify", {"values": values})
    assert is_slow("identify", {"values": [values]})
    assert not is_slow("identify", {"values": ["age=1"]})
    assert not is_slow("count", COUNT)


def test_a_program_that_sends_a_list_of_one_leaves_the_owners_queue_whole(house: House):
    """A record in a list was kept as one, and no set of explained records could hold it: no owner saw a queue again."""
    ada, otto = house.browser("ada"), house.browser("otto")
    program = Browser(house.desk, headers={"authorization": f"Bearer {house.token('ada')}"})
    fields = {name: value if isinstance(value, list) else [value] for name, value in EXPLAIN.items()}
    sent = {"command": "explain", "fields": fields, "purpose": "x"}
    answer = program.go(
        "POST", "/api/v1/tables/salaries/requests", json.dumps(sent).encode(), content_type="application/json"
    )
    request = json.loads(answer.body)["request"]["id"]
    otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(3)
    ada.submit(EXPLAIN, table="salaries", command="explain")
    assert otto.get("/queue").status == 200
    with house.desk.database.write() as changes:
        assert find(changes, request).fields == EXPLAIN
        listed = json.dumps({**EXPLAIN, "record": ["e1200"]})  # as an earlier version kept it
        changes.run("UPDATE requests SET fields = :fields WHERE id = :id", fields=listed, id=request)
    assert otto.get("/queue").status == 200


IDENTIFY = {"model": "default", "values": "age=1, days=2", "method": "sensitive", "epsilon": "0.3"}


def test_a_share_of_sensitive_privacy_binds(house: House):
    """Every model has an account of its own; a share of the family bound none of them."""
    ada, otto = house.browser("ada"), house.browser("otto")
    otto.post("/tables/stays/people", word="share", name="ada", family="sensitive-privacy", epsilon="0.5")
    asked = [ada.submit(IDENTIFY, command="identify") for _ in range(2)]
    for request in asked:
        otto.post(f"/requests/{request}/decide", word="approve")
    house.tick(4)
    with house.desk.database.read() as seen:
        first, second = (find(seen, request).outcome for request in asked)
    assert first["release"]["ok"]
    assert "the share of 'ada' in sensitive-privacy" in second["error"]["message"]
    price = house.desk.quoted("stays", "identify", IDENTIFY, "ada")["words"]["leaves"]
    assert any(label == "would be refused" for label, _ in price)


def test_a_share_of_ones_own_leaves_the_default_of_another_family(house: House):
    stays = house.desk.service.tables["stays"]
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    divided = replace(stays, shares={"default": {"dp": tenth, "output-constrained-dp": tenth}, "ada": {"dp": half}})
    service = replace(house.desk.service, tables={"stays": divided})
    with house.desk.database.read() as seen:
        assert shares(seen, service, "stays", "ada") == {"dp": half, "output-constrained-dp": tenth}


@pytest.mark.parametrize("family", ["diferential-privacy", "plain-k-anonymity", "identify"])
def test_a_share_that_would_bind_nobody_is_refused(house: House, family: str):
    text = f"""
[service]
database = "service.db"
address = "127.0.0.1:1"
tick_s = 60
workers = 1
[tables.stays]
declaration = "stays.toml"
owners = ["otto"]
[tables.stays.shares]
default = {{{family} = {{epsilon = "0.5"}}}}
"""
    with pytest.raises(DeclarationError, match="a share is of one of"):
        loads(text)
    assert loads(text.replace(family, "dp")).tables["stays"].shares == {"default": {"dp": Fraction(1, 2)}}
    otto = house.browser("otto")
    for name in ("default", "later"):  # an account that is made later would find a share that nobody gave it
        sent = {"word": "share", "name": name, "family": "dp", "epsilon": "3"}
        assert otto.post("/tables/stays/people", **sent).status == 422


def test_no_look_at_a_question_that_waits_by_way_of_another_like_it(house: House):
    """An owner may ask, and refuse, the very question that waits: the report on that one would be the look before deciding."""
    ada, otto = house.browser("ada"), house.browser("otto")
    waiting = ada.submit()
    for fields in (COUNT, {**COUNT, "epsilon": "0.2"}):
        own = otto.submit(fields)
        otto.post(f"/requests/{own}/decide", word="refuse", reason="only to look")
        answer = otto.post("/tables/stays/looks", kind="report", request=own)
        assert (answer.status, b"the same question waits" in answer.body) == (422, True)
    other = otto.submit({**COUNT, "radius": "7"})
    otto.post(f"/requests/{other}/decide", word="refuse", reason="another question")
    assert otto.post("/tables/stays/looks", kind="report", request=other).status == 303
    otto.post(f"/requests/{waiting}/decide", word="refuse", reason="x")
    assert otto.post("/tables/stays/looks", kind="report", request=own).status == 303
