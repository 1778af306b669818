"""Words for those who do not sit at the machine: a sentence names a file, never where it lies."""

from __future__ import annotations

import re
from typing import Any

from wallflower.errors import WallflowerError

_PLACE = re.compile(r"(?<![\w:/])(?:/[^\s/'\"<>]+)+/([^\s/'\"<>]+)")


def without_places(text: str) -> str:
    """The same sentence with every absolute path cut down to its last part.

    >>> without_places("/srv/wallflower/stays.ledger is missing. See https://example.org/a/b.")
    'stays.ledger is missing. See https://example.org/a/b.'
    """
    return _PLACE.sub(r"\1", text)


def told(error: WallflowerError) -> dict[str, Any]:
    """An error as the JSON shape that may leave."""
    return {"kind": error.kind, "message": without_places(error.message), "hint": without_places(error.hint)}
