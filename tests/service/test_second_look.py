"""What somebody found who came back to try again. Each of these was open, or not tested, once."""

from __future__ import annotations

import http.client
import os
import threading
from dataclasses import replace

import pytest

from tests.service.desks import COUNT, Browser, House
from tests.service.test_break_ins import served
from wallflower.errors import UsageError
from wallflower.service import rows_environment
from wallflower.service.audit_log import lines
from wallflower.service.requests import find
from wallflower.service.web.declaration_page import MOST_LOOKS


def test_nobody_writes_a_second_line_into_the_audit_log(house: House):
    Browser(house.desk).post("/login", name="eve\nada logged in\x1b[2J\u202e", password="x")  # noqa: S106 - of nobody
    with house.desk.database.read() as seen:
        who = lines(seen, most=1)[0]["who"]
    assert who.isprintable()
    assert who.startswith("eve")


def test_a_reason_is_one_line_of_print(house: House):
    """It is shown in the asker's terminal, too."""
    otto = house.browser("otto")
    request = house.browser("ada").submit()
    for reason in ("\x1b[2J", "a\u202eb", "x" * 301):
        assert otto.post(f"/requests/{request}/decide", word="refuse", reason=reason).status == 422
    assert otto.post(f"/requests/{request}/decide", word="refuse", reason=" not\n now ").status == 303
    with house.desk.database.read() as seen:
        assert find(seen, request).reason == "not now"


@pytest.mark.parametrize("name", ["Ada", "OTTO", "operator", "Policy", "default", "ａda", "ad\u0430", "ada\u200b", ""])
def test_no_account_can_be_mistaken_for_another_or_for_the_service(house: House, name: str):
    with pytest.raises(UsageError):
        house.desk.people.add(name, "a long password")


def test_an_owner_cannot_keep_the_workers_looking(house: House):
    otto = house.browser("otto")
    told = [otto.post("/tables/stays/looks", kind="check").status for _ in range(MOST_LOOKS + 1)]
    assert told == [303] * MOST_LOOKS + [422]
    house.tick()
    assert otto.post("/tables/stays/looks", kind="check").status == 303


def test_one_decision_stands_whoever_comes_at_once(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit()
    asker, owner = ada.csrf(), otto.csrf()
    tries = [
        lambda: otto.post(f"/requests/{request}/decide", csrf=owner, word="approve"),
        lambda: otto.post(f"/requests/{request}/decide", csrf=owner, word="refuse", reason="no"),
        lambda: otto.post(f"/requests/{request}/decide", csrf=owner, word="policy"),
        lambda: ada.post(f"/requests/{request}/withdraw", csrf=asker),
    ]
    told: list[int] = []
    threads = [threading.Thread(target=lambda each=each: told.append(each().status)) for each in tries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == [303, 422, 422, 422]
    with house.desk.database.read() as seen:
        state, policies = find(seen, request).state, seen.one("SELECT count(*) AS n FROM policies")["n"]
    assert state in ("approved", "refused", "withdrawn")
    assert policies <= (state == "approved")  # a policy whose decision came too late is not written


def test_a_new_password_ends_sessions_and_says_that_tokens_stay(house: House):
    ada, token = house.browser("ada"), house.token("ada")
    copy = Browser(house.desk, session=ada.session)
    assert b"Tokens stay" in ada.get("/account").body
    ada.post("/account/password", old=house.passwords["ada"], new="another long password")
    assert copy.get("/account").headers["Location"] == "/login"
    program = Browser(house.desk, headers={"authorization": f"Bearer {token}"})
    assert program.get("/api/v1/tables").status == 200


def _cookies(port: int, path: str, method: str = "GET", **headers: str) -> list[str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.headers.get_all("Set-Cookie") or []


@pytest.mark.parametrize("proxy", [None, "127.0.0.1"])
def test_cookies_are_flagged_and_only_pages_set_them(house: House, proxy: str | None):
    house.desk = replace(house.desk, service=replace(house.desk.service, proxy=proxy))
    prefix = "" if proxy is None else "__Host-"
    with served(house) as port:
        (visit,) = _cookies(port, "/login")
        assert visit.startswith(f"{prefix}wallflower-visit=")
        for flag in ("HttpOnly", "Path=/", "SameSite=lax"):
            assert flag in visit
        assert ("Secure" in visit) == (proxy is not None)
        for path in ("/static/console.css", "/health", "/api/v1/tables", "/metrics"):  # what a cache might hand on
            assert not _cookies(port, path)
        sealed = house.desk.signer.sealed(house.browser("ada").session)
        secret = next(iter(_logged_out(port, f"{prefix}wallflower={sealed}", house, sealed)))
        assert secret.startswith(f'{prefix}wallflower=""')
        for flag in ("HttpOnly", "Path=/", "SameSite=strict", "Max-Age=0"):
            assert flag in secret


def _logged_out(port: int, cookie: str, house: House, sealed: str) -> list[str]:
    person = house.desk.people.by_session(house.desk.signer.opened(sealed))
    form = f"csrf={house.desk.signer.form_token(person.session)}"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    kind = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/logout", form, kind)
    found = connection.getresponse().headers.get_all("Set-Cookie")
    connection.close()
    return [each for each in found if "visit" not in each.partition("=")[0]]


def test_credentials_for_rows_are_the_workers_alone(tmp_path, monkeypatch):
    path = tmp_path / "rows.env"
    path.write_text("# for rows\nWALLFLOWER_TEST_ROWS=a=b \n\n")
    with pytest.raises(UsageError, match="chmod 600"):
        rows_environment.read(path)
    path.chmod(0o600)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    rows_environment.take_over(path)
    assert os.environ["WALLFLOWER_TEST_ROWS"] == "a=b"
    rows_environment.take_over(None)
    path.write_text("s3cret without a name")
    with pytest.raises(UsageError, match="line 1") as caught:
        rows_environment.read(path)
    assert "s3cret" not in str(caught.value)


def test_what_is_sent_as_a_next_page_leads_nowhere_else(house: House):
    for place in ("//evil.example", "https://evil.example", "/\\evil.example"):
        browser = Browser(house.desk)
        form = f"csrf={browser.csrf()}&name=dora&password={house.passwords['dora']}&next={place}"
        kind = "application/x-www-form-urlencoded"
        answer = browser.go("POST", f"/login?next={place}", form.encode(), content_type=kind, host="evil.example")
        assert (answer.status, answer.headers["Location"]) == (303, "/")


def test_a_shared_answer_waits_for_its_tick_too(house: House):
    request = house.browser("ada").submit({**COUNT, "epsilon": "0.05"})
    house.tick()
    house.desk.people.add("eve", "a long password")
    house.browser("otto").post(f"/requests/{request}/share", asker="eve")
    eve = house.browser()
    eve.log_in("eve", "a long password")
    assert eve.get(f"/requests/{request}/release.json").status == 422
    house.tick(2)
    assert eve.get(f"/requests/{request}/release.json").status == 200
