"""The door of an OpenID provider, attacked: by browsers that bring what was not theirs, and by providers that talk nonsense."""

from __future__ import annotations

import base64
import json
import urllib.error

import pytest

from tests.service.desks import Browser
from tests.service.test_openid import bound, came_back  # noqa: F401 - a fixture
from wallflower.service.web import openid


def _described(monkeypatch, change) -> None:
    """The provider describes itself in another way."""
    honest = openid._fetch

    def fetch(address, form=None):
        found = honest(address, form)
        return change(found) if "well-known" in address else found

    monkeypatch.setattr(openid, "_fetch", fetch)


def _answered(monkeypatch, ending: str, body: object) -> None:
    honest = openid._fetch
    monkeypatch.setattr(
        openid, "_fetch", lambda address, form=None: body if address.endswith(ending) else honest(address, form)
    )


def test_whoever_is_logged_in_already_comes_back_too(bound):  # noqa: F811
    """A strict cookie stays away on the way back from another site: what is compared must not hang on it."""
    house, _ = bound
    browser = house.browser("otto")
    path = came_back(browser)
    browser.session = None
    assert browser.get(path).status == 200
    assert house.desk.people.by_session(browser.session).name == "ada"


@pytest.mark.parametrize("name", openid.ENDPOINTS)
@pytest.mark.parametrize(
    "address",
    [
        None,
        5,
        "",
        "http://elsewhere.example/x",
        "javascript:alert(1)",
        "//elsewhere.example",
        "https://a.example/\r\nX: y",
    ],
)
def test_a_description_with_an_address_that_is_none_is_refused_in_words(bound, monkeypatch, name, address):  # noqa: F811
    house, _ = bound
    _described(monkeypatch, lambda found: {**found, name: address})
    assert Browser(house.desk).get("/login/openid").status == 422


@pytest.mark.parametrize("told", [[], 5, "x", None, {}])
def test_a_description_that_is_no_object_is_refused_in_words(bound, monkeypatch, told):  # noqa: F811
    house, _ = bound
    _described(monkeypatch, lambda _found: told)
    assert Browser(house.desk).get("/login/openid").status == 422


def test_an_address_that_has_a_query_keeps_it(bound, monkeypatch):  # noqa: F811
    house, _ = bound
    _described(
        monkeypatch, lambda found: found | {"authorization_endpoint": f"{found['authorization_endpoint']}?p=policy"}
    )
    there = Browser(house.desk).get("/login/openid").headers["Location"]
    assert "/authorize?p=policy&response_type=code&" in there


ODD_KEYS = [{}, {"keys": 5}, {"keys": [5]}, {"keys": [{"kty": "RSA"}]}, {"keys": [{"kty": "oct", "k": "A" * 43}]}]


@pytest.mark.parametrize(
    ("ending", "body"),
    [("/keys", body) for body in (*ODD_KEYS, [], 5, None)]
    + [("/token", {"id_token": token}) for token in (None, 5, "a.b.c", "", ["x"], {})]
    + [("/token", body) for body in ([], 5, None, "x")],
)
def test_nonsense_from_the_provider_lets_nobody_in_and_breaks_nothing(bound, monkeypatch, ending, body):  # noqa: F811
    house, _ = bound
    browser = Browser(house.desk)
    path = came_back(browser)
    _answered(monkeypatch, ending, body)
    assert browser.get(path).status == 422
    assert browser.session is None


@pytest.mark.parametrize("subject", [5, None, ["subject-1"], {"a": 1}, "", "subject-1 ", "SUBJECT-1", "x subject-1"])
def test_a_subject_that_is_like_a_bound_one_is_another(bound, subject):  # noqa: F811
    house, running = bound
    running.subject = subject
    browser = Browser(house.desk)
    assert browser.get(came_back(browser)).status == 422
    assert browser.session is None


def test_a_token_that_nobody_signed_is_refused(bound):  # noqa: F811
    house, running = bound
    browser = Browser(house.desk)
    path, honest = came_back(browser), running.token

    def unsigned(query):
        head = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": "one"}).encode()).decode().rstrip("=")
        return f"{head}.{honest(query).split('.')[1]}."

    running.token = unsigned
    assert browser.get(path).status == 422


def test_a_token_of_another_visit_is_refused(bound):  # noqa: F811
    """Its nonce is that of the browser for which it was made, even where the provider would hand it out again."""
    house, running = bound
    kept: list[str] = []
    honest = running.token

    def replayed(query):
        kept.append(honest(query))
        return kept[0]

    running.token = replayed
    first, second = Browser(house.desk, visit="one"), Browser(house.desk, visit="two")
    assert first.get(came_back(first)).status == 200
    assert second.get(came_back(second)).status == 422
    assert second.session is None


@pytest.mark.parametrize("query", ["", "code=x", "state=x", "state=&code=x", "state=x&code=x", "error=access_denied"])
def test_coming_back_with_the_wrong_things_is_one_refusal_and_is_noted(bound, query):  # noqa: F811
    house, _ = bound
    answer = Browser(house.desk).get(f"/login/openid/back?{query}")
    assert answer.status == 422
    assert openid.REFUSED in answer.body.decode().replace("&#39;", "'")
    with house.desk.database.read() as seen:
        noted = seen.all("SELECT who, source FROM audit WHERE did = 'login refused'")
    assert [(row["who"], row["source"]) for row in noted] == [("OpenID", "10.0.0.1")]


def test_one_who_guesses_codes_waits_and_the_provider_is_left_alone(bound, monkeypatch):  # noqa: F811
    house, _ = bound
    asked: list[str] = []
    browser = Browser(house.desk)
    state = came_back(browser).partition("state=")[2]
    honest = openid._fetch
    monkeypatch.setattr(openid, "_fetch", lambda address, form=None: (asked.append(address), honest(address, form))[1])
    for number in range(60):
        assert browser.get(f"/login/openid/back?state={state}&code=guess-{number}").status == 422
    assert len(asked) <= 20
    elsewhere = Browser(house.desk, source="10.0.0.2")
    assert elsewhere.get(came_back(elsewhere)).status == 200


def test_a_provider_that_points_elsewhere_is_not_followed(bound):  # noqa: F811
    house, running = bound
    path = f"{running.issuer}/authorize?redirect_uri=https://elsewhere.example&state=x"
    with pytest.raises(urllib.error.HTTPError) as refused:
        openid._fetch(path)
    refused.value.close()
    assert refused.value.code == 303
    assert house
