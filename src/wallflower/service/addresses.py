"""Which addresses a secret may be sent to: by TLS, or to this machine itself; and to no other that one of them names."""

from __future__ import annotations

import urllib.request
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit


def on_this_machine(host: str) -> bool:
    """Whether only this machine can be reached by that name.

    >>> on_this_machine("127.0.0.1"), on_this_machine("localhost"), on_this_machine("127.0.0.1.example.org")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def keeps_secrets(address: str) -> bool:
    """Whether what is sent there cannot be read on the way.

    >>> keeps_secrets("https://example.org"), keeps_secrets("http://127.0.0.1:8443/"), keeps_secrets("http://127.0.0.1.example.org")
    (True, True, False)
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and on_this_machine(host)))


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Only the address that was checked is asked: a redirect would carry a secret along to wherever it points."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        return None


def opener() -> urllib.request.OpenerDirector:
    """What sends secrets: by no redirect, and what goes to this machine itself, without TLS, by no proxy, who would read it."""
    proxies = {scheme: proxy for scheme, proxy in urllib.request.getproxies().items() if scheme == "https"}
    return urllib.request.build_opener(NoRedirects, urllib.request.ProxyHandler(proxies))
