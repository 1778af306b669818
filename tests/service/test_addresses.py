"""Which addresses a secret may be sent to, by every way of writing them, and by what it is sent."""

from __future__ import annotations

import urllib.request
from email.message import Message
from io import BytesIO

import pytest

from wallflower.service.addresses import NoRedirects, keeps_secrets, on_this_machine, opener


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_this_machine_has_few_names(host):
    assert on_this_machine(host)


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "192.168.1.1", "8.8.8.8", "fe80::1", "example.org", "notlocalhost", "my.localhost", ""]
)
def test_no_other_machine_is_taken_for_this_one(host):
    """Not even one of the same private network, nor one whose name ends alike."""
    assert not on_this_machine(host)


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://example.org", True),
        ("http://localhost:8443/", True),
        ("http://[::1]:8443/", True),
        ("http://10.0.0.1/", False),
        ("http://example.org/", False),
        ("http://me@127.0.0.1@example.org/", False),
        ("ftp://127.0.0.1/", False),
        ("ftp://example.org/", False),
        ("//127.0.0.1/", False),
        ("https://", False),
        ("https:///path", False),
        ("http://[::1/", False),
    ],
)
def test_what_is_sent_is_read_by_nobody_on_the_way(address, kept):
    assert keeps_secrets(address) is kept


def test_secrets_follow_no_redirect():
    (followed,) = [one for one in opener().handlers if isinstance(one, urllib.request.HTTPRedirectHandler)]
    assert isinstance(followed, NoRedirects)
    asked = urllib.request.Request("https://example.org/", headers={"Authorization": "secret"})
    assert followed.redirect_request(asked, BytesIO(), 302, "Found", Message(), "https://elsewhere.example/") is None


def test_no_proxy_reads_what_goes_without_tls(monkeypatch):
    for scheme in ("http", "https"):
        monkeypatch.setenv(f"{scheme}_proxy", "http://proxy.example:3128")
    (proxied,) = [one for one in opener().handlers if isinstance(one, urllib.request.ProxyHandler)]
    assert proxied.proxies == {"https": "http://proxy.example:3128"}
