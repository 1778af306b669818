"""Forms, cookies, tokens, bodies: what the gate refuses before any handler runs."""

from __future__ import annotations

import pytest

from tests.service.desks import COUNT, Browser, House
from wallflower.service.web.visit import MOST_BODY

XSS = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


def test_a_form_without_its_token_or_with_anothers_is_refused(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    for token in ("", "0" * 64, otto.csrf()):
        assert ada.post("/tables/stays/ask/count", csrf=token, **COUNT, purpose="x", submit="yes").status == 403
    with house.desk.database.read() as seen:
        assert seen.one("SELECT count(*) AS n FROM requests")["n"] == 0


def test_logging_in_needs_its_form_too(house: House):
    assert Browser(house.desk).post("/login", csrf="0" * 64, name="ada", password=house.passwords["ada"]).status == 403


def test_a_session_begins_anew_at_login_and_a_planted_one_is_worthless(house: House):
    ada = Browser(house.desk, session="planted-by-somebody")
    assert ada.get("/").headers["Location"] == "/login"
    page = ada.get("/login").body.decode()
    token = page.partition('name="csrf" value="')[2].partition('"')[0]
    ada.post("/login", csrf=token, name="ada", password=house.passwords["ada"])
    assert ada.session not in (None, "planted-by-somebody")


def test_a_forged_cookie_is_no_session(house: House):
    ada = house.browser("ada")
    assert house.desk.signer.opened(f"{ada.session}.{'0' * 64}") is None


def test_logging_out_ends_the_session_everywhere(house: House):
    ada = house.browser("ada")
    copy = Browser(house.desk, session=ada.session)
    ada.post("/logout")
    assert copy.get("/").headers["Location"] == "/login"


def test_sessions_and_tokens_end(house: House):
    ada, token = house.browser("ada"), house.token("ada", days=1)
    program = Browser(house.desk, headers={"authorization": f"Bearer {token}"})
    assert program.get("/api/v1/tables").status == 200
    house.clock.now += 86401
    assert program.get("/api/v1/tables").status == 401
    assert ada.get("/").headers["Location"] == "/login"


def test_a_revoked_token_and_a_disabled_user_are_out_at_once(house: House):
    token = house.token("ada", days=7)
    program = Browser(house.desk, headers={"authorization": f"Bearer {token}"})
    house.browser("ada").post("/account/tokens/t7/revoke")
    assert program.get("/api/v1/tables").status == 401
    dora = house.browser("dora")
    house.desk.people.disable("dora", disabled=True)
    assert dora.get("/").headers["Location"] == "/login"
    assert house.browser().log_in("dora", house.passwords["dora"]).status == 403


def test_wrong_name_wrong_password_and_disabled_cannot_be_told_apart(house: House):
    house.desk.people.disable("dora", disabled=True)
    pages = [
        Browser(house.desk, visit="v", source=f"10.0.0.{i}").post("/login", name=name, password=word)
        for i, (name, word) in enumerate([("nobody", "x"), ("ada", "wrong"), ("dora", house.passwords["dora"])])
    ]
    assert len({(page.status, page.body) for page in pages}) == 1


def test_many_wrong_passwords_make_the_right_one_wait_and_another_address_is_not_locked_out(house: House):
    guesser = Browser(house.desk, source="10.0.0.9")
    for _ in range(8):
        guesser.log_in("ada", "wrong")
    assert guesser.log_in("ada", house.passwords["ada"]).status == 403
    assert Browser(house.desk, source="10.0.0.10").log_in("ada", house.passwords["ada"]).status == 303
    house.clock.now += 3600
    assert guesser.log_in("ada", house.passwords["ada"]).status == 303


def test_after_its_free_attempts_an_address_waits_twice_as_long_each_time_up_to_a_quarter_of_an_hour(house: House):
    people, guesser = house.desk.people, "10.0.0.9"
    for _ in range(19):
        people.failed_elsewhere(guesser, who="nobody")
        assert not people.must_wait(guesser)
    for seconds in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900):
        people.failed_elsewhere(guesser, who="nobody")
        house.clock.now += seconds - 0.5
        assert people.must_wait(guesser)
        house.clock.now += 0.5
        assert not people.must_wait(guesser)
    assert not people.must_wait("10.0.0.10")


def test_a_day_without_a_failure_forgives_an_address_and_less_does_not(house: House):
    people = house.desk.people
    for source, later, forgiven in (("10.0.0.9", 86_400, False), ("10.0.0.10", 86_401, True)):
        for _ in range(20):
            people.failed_elsewhere(source, who="nobody")
        house.clock.now += later  # the last wait was one second
        people.failed_elsewhere(source, who="nobody")
        assert people.must_wait(source) is not forgiven


def test_many_addresses_together_cannot_try_one_name_without_end(house: House, monkeypatch):
    monkeypatch.setattr("wallflower.service.people.matches", lambda said, _: said == "right")  # no slow hash
    people = house.desk.people
    for place in range(99):
        assert not people.confirm("ada", "wrong", source=f"10.1.0.{place}")
    assert people.confirm("ada", "right", source="10.2.0.1")
    assert not people.confirm("ada", "wrong", source="10.1.0.99")
    assert not people.confirm("ada", "right", source="10.2.0.2")
    assert people.confirm("otto", "right", source="10.2.0.2")


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "application/xml", ""])
def test_unknown_kinds_of_bodies_are_refused(house: House, kind: str):
    ada = house.browser("ada")
    assert ada.go("POST", "/tables/stays/ask/count", b"a=b", content_type=kind).status == 415


def test_long_bodies_bad_forms_and_bad_json_are_refused_in_words(house: House):
    ada = house.browser("ada")
    form = "application/x-www-form-urlencoded"
    assert ada.go("POST", "/tables/stays/ask/count", b"a" * (MOST_BODY + 1), content_type=form).status == 413
    assert ada.go("POST", "/tables/stays/ask/count", b"a=%ff", content_type=form).status == 422
    token = f"Bearer {house.token('ada')}"
    for body in (b"{", b"[]", b"\xff", b'{"command": NaN}', b"[" * 60_000, b"9" * 10_000):
        answer = ada.go(
            "POST", "/api/v1/tables/stays/price", body, content_type="application/json", authorization=token
        )
        assert answer.status == 422, body[:20]


def test_no_text_field_and_no_declared_name_brings_a_script_onto_a_page(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    request = ada.submit(purpose=XSS)
    pages = [otto.get("/queue"), ada.get(f"/requests/{request}"), ada.get("/requests")]
    otto.post(f"/requests/{request}/decide", word="refuse", reason=XSS)
    pages += [ada.get(f"/requests/{request}")]
    for field in ("neighbours", "radius", "epsilon", "columns", "purpose"):
        pages.append(ada.post("/tables/stays/ask/count", **{**COUNT, field: XSS}))
    pages.append(otto.post("/tables/stays/declare", text=XSS))
    named = (house.folder / "stays.toml").read_text().replace("[columns.cost]", "[columns.'<script>alert(1)</script>']")
    pages.append(otto.post("/tables/stays/declare", text=named))
    otto.post("/tables/stays/declare", text=named, save="yes")
    pages += [
        otto.get("/tables/stays/declare"),
        ada.get("/tables/stays"),
        ada.get("/tables/stays/ask/count"),
        ada.get("/"),
    ]
    pages += [otto.get("/tables/stays/ledger"), otto.get("/tables/stays/people")]
    for page in pages:
        assert b"<script>alert" not in page.body
        assert b"<img src=x" not in page.body


def test_paths_and_headers_cannot_be_smuggled_in(house: House):
    ada = house.browser("ada")
    for name in ("..%2f..%2fetc%2fpasswd", "console.css%00", "base.html", "../templates/base.html"):
        assert house.browser().go("GET", f"/static/{name.replace('/', '%2f')}").status == 404
    assert ada.get("/tables/..%2f..%2fetc").status == 403
    answer = ada.post("/tables/stays/ask/count", **COUNT, purpose="x\r\nSet-Cookie: a=b", submit="yes")
    assert "\r" not in answer.headers["Location"]


def test_no_answer_names_a_path_of_the_machine(house: House):
    ada, otto = house.browser("ada"), house.browser("otto")
    (house.folder / "stays.ledger").rename(house.folder / "elsewhere.ledger")
    for page in (
        ada.get("/"),
        ada.get("/tables/stays"),
        otto.get("/tables/stays/ledger"),
        ada.post("/tables/stays/ask/count", **COUNT),
    ):
        assert str(house.folder).encode() not in page.body
