"""What a later look at the doors found: forwarded addresses, redirects, proxies, tokens, and text that is not print."""

from __future__ import annotations

import http.client
from dataclasses import replace

import pytest

from tests.service.desks import House
from tests.service.test_break_ins import served
from wallflower.service.audit_log import lines


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
