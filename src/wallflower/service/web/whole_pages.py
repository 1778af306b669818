"""Whole pages that are shown as they are: certificates, and owner's reports with their pictures."""

from __future__ import annotations

import base64
import hashlib
import re

from wallflower.service.web.visit import Answer

NOTHING = "default-src 'none'; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def certificate_answer(page: str) -> Answer:
    """A certificate is one file with one style, to be kept; that style, by its digest, is all it may use."""
    return Answer(body=page.encode(), headers={"Content-Security-Policy": f"{NOTHING}; style-src '{style_hash(page)}'"})


def report_answer(page: str) -> Answer:
    """A report's pictures carry styles of their own, in blocks and in attributes of every line drawn. They may style
    themselves; no script runs, no form is sent, and nothing is loaded, so that a style can tell nobody anything.
    """
    return Answer(body=page.encode(), headers={"Content-Security-Policy": f"{NOTHING}; style-src 'unsafe-inline'"})


def style_hash(page: str) -> str:
    """The source expression for the one style block of a page.

    >>> style_hash("<style>p{}</style>")[:13]
    'sha256-gG2yIS'
    """
    found = _STYLE.search(page)
    digest = hashlib.sha256((found[1] if found else "").encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
