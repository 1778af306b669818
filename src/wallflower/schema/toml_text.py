"""How a text, a key and the header of a table are written in TOML, which Python reads and does not write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
"""A key that needs no quotes."""


def quoted(text: str) -> str:
    """A TOML string on one line: JSON's escapes are TOML's, but for the one control character that JSON lets through."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def quoted_list(texts: Iterable[str]) -> str:
    """
    >>> quoted_list(["a", "b"])
    '["a", "b"]'
    """
    return f"[{', '.join(map(quoted, texts))}]"


def key_text(name: str) -> str:
    """
    >>> key_text("age"), key_text("pay/year")
    ('age', '"pay/year"')
    """
    return name if BARE_KEY.fullmatch(name) else quoted(name)


def header_text(place: Iterable[str]) -> str:
    """
    >>> header_text(("columns", "pay/year"))
    '[columns."pay/year"]'
    """
    return f"[{'.'.join(map(key_text, place))}]"
