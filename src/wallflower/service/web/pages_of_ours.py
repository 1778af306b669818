"""Digests of a page's own style, so that its Content-Security-Policy can allow that style and no other."""

from __future__ import annotations

import base64
import hashlib
import re

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def style_hash(page: str) -> str:
    """The source expression for the one style block of a page.

    >>> style_hash("<style>p{}</style>")[:13]
    'sha256-gG2yIS'
    """
    found = _STYLE.search(page)
    digest = hashlib.sha256((found[1] if found else "").encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
