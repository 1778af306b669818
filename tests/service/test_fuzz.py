"""Anything sent to any route is answered in words: no 5xx, no traceback, no path of the machine, nothing charged."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.service.desks import COUNT, Browser, House
from wallflower.service.authorisation import ROUTES

NASTY = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "",
            "0",
            "-1",
            "1e400",
            "nan",
            "9" * 400,
            "1/0",
            "../../x",
            "%00",
            "\ud800",
            "a" * 5000,
            "'; DROP TABLE users; --",
            "{{7*7}}",
            "${x}",
        ]
    ),
)
FIELDS = st.sampled_from(
    [
        "csrf",
        "columns",
        "neighbours",
        "radius",
        "epsilon",
        "purpose",
        "submit",
        "record",
        "metric",
        "by",
        "detector",
        "guarantee",
        "values",
        "model",
        "method",
        "size",
        "top",
        "counts_epsilon",
        "word",
        "reason",
        "name",
        "family",
        "asker",
        "text",
        "save",
        "kind",
        "request",
        "label",
        "days",
        "old",
        "new",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
QUESTION = st.fixed_dictionaries(
    {"command": st.sampled_from(["count", "subspaces", "identify", "explain", "publish", ""]) | NASTY},
    optional={
        "fields": st.dictionaries(FIELDS, NASTY | st.lists(NASTY, max_size=3) | st.integers(), max_size=8),
        "purpose": NASTY | st.integers(),
    },
)


class Visitor:
    """Somebody who holds every role of the demo in turn, and no good intentions."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.request = house.browser("ada").submit()
        self.browsers = {name: house.browser(name) for name in ("ada", "otto", "dora")} | {
            "nobody": Browser(house.desk)
        }
        self.csrf = {name: browser.csrf() for name, browser in self.browsers.items()}
        self.tokens = {name: house.token(name) for name in ("ada", "otto", "dora")}

    def send(self, who, route, part, form, body, honest) -> None:
        if route.path in ("/logout", "/account/password"):
            return
        names = {"table": "stays", "command": "count", "request": self.request, "look": "x", "name": "console.css"}
        path = route.path.format(
            **(names if honest else dict.fromkeys(names, quote(part, safe="", errors="replace") or "-"))
        )
        headers = {"accept": "application/json"} if len(form) % 2 else {}
        if route.path.startswith("/api/v1") and who in self.tokens:
            headers |= {"authorization": f"Bearer {self.tokens[who]}", "content-type": "application/json"}
            sent = json.dumps(body).encode("utf-8", "replace")
        else:
            pairs = [*form, ("csrf", self.csrf[who])]
            headers |= {"content-type": "application/x-www-form-urlencoded"}
            sent = urlencode([(name, text.encode("utf-8", "surrogatepass")) for name, text in pairs]).encode()
        answer = self.browsers[who].go(route.method, path, sent if route.method == "POST" else b"", **headers)
        told = answer.body.decode("utf-8", "replace")
        assert answer.status < 500, (route, told[:300])
        assert "Traceback" not in told
        assert str(self.house.folder) not in told
        assert "{{7*7}}".replace("7*7", "49") not in told


@pytest.fixture(scope="module")
def visitor(laid_out, tmp_path_factory):
    house = House.build(laid_out, tmp_path_factory.mktemp("fuzzed"))
    yield Visitor(house)
    house.desk.database.close()


SENT = {
    "who": st.sampled_from(["ada", "otto", "dora", "nobody"]),
    "route": st.sampled_from([route for route in ROUTES if "openid" not in route.path]),
    "part": st.text(max_size=20),
    "form": st.lists(st.tuples(FIELDS, NASTY), max_size=8),
    "body": QUESTION | JSON,
    "honest": st.booleans(),
}


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(**SENT)
def test_nothing_breaks(visitor, **sent):
    visitor.send(**sent)


def test_a_planted_break_would_be_seen(visitor, monkeypatch):
    from wallflower.service.web import visit

    route = next(route for route in ROUTES if route.path == "/requests")
    monkeypatch.setitem(visit.HANDLERS, route, lambda _desk, _visit: visit.Answer(status=500, body=b"Traceback"))
    with pytest.raises(AssertionError):
        visitor.send("ada", route, "", [], {}, honest=True)
    assert COUNT
