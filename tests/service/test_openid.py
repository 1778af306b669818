"""Logging in through an OpenID provider: the honest way works, every lie of a provider or a browser does not."""

from __future__ import annotations

import urllib.request
from dataclasses import replace

import pytest

from tests.service.desks import Browser, House
from tests.service.provider import provider
from wallflower.service.configuration import OpenID
from wallflower.service.web import openid

SERVICE = "https://wallflower.example"
VARIABLE = "WALLFLOWER_OPENID_SECRET"


@pytest.fixture
def bound(house: House, monkeypatch):
    """A provider that is declared, and ada bound to its subject."""
    monkeypatch.setenv(VARIABLE, "the secret")
    with provider() as running:
        declared = OpenID(issuer=running.issuer, client_id="wallflower", secret_variable=VARIABLE, address=SERVICE)
        house.desk = replace(house.desk, service=replace(house.desk.service, openid=declared))
        house.desk.people.bind_subject("ada", f"{running.issuer} subject-1")
        yield house, running
    openid.discovered.cache_clear()


def came_back(browser: Browser) -> str:
    """The path that the provider sends the browser back to."""
    leave = browser.get("/login/openid").headers["Location"]

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_arguments, **_named):
            return None

    try:
        urllib.request.build_opener(Stay).open(leave)
    except urllib.error.HTTPError as redirect:
        with redirect:
            return redirect.headers["Location"].removeprefix(SERVICE)
    raise AssertionError


def test_the_bound_subject_gets_in(bound):
    house, _ = bound
    browser = Browser(house.desk)
    answer = browser.get(came_back(browser))
    assert answer.status == 200
    assert house.desk.people.by_session(browser.session).name == "ada"


def test_a_subject_that_is_bound_to_nobody_stays_out(bound):
    house, running = bound
    running.subject = "subject-2"
    browser = Browser(house.desk)
    assert browser.get(came_back(browser)).status == 422
    assert browser.session is None


@pytest.mark.parametrize("lie", ["issuer", "audience", "nonce", "expired", "signature", "shared key"])
def test_a_lying_token_is_refused(bound, lie):
    house, running = bound
    running.lie = lie
    browser = Browser(house.desk)
    assert browser.get(came_back(browser)).status == 422
    assert browser.session is None


def test_another_browser_cannot_use_the_way_back(bound):
    house, _ = bound
    path = came_back(Browser(house.desk, visit="mine"))
    victim = Browser(house.desk, visit="another")
    assert victim.get(path).status == 422
    assert victim.session is None


def test_a_code_is_used_once(bound):
    house, _ = bound
    browser = Browser(house.desk)
    path = came_back(browser)
    assert browser.get(path).status == 200
    assert Browser(house.desk).get(path).status == 422


def test_without_a_provider_there_is_no_such_door(house: House):
    assert Browser(house.desk).get("/login/openid").status == 422
