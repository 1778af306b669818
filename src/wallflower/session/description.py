"""A question in full, as JSON."""

from __future__ import annotations

from typing import Any

from wallflower.schema.canonical import question
from wallflower.session.queries import Query


def description(query: Query) -> dict[str, Any]:
    """The question in full, as the ledger keeps it and a release repeats it; where a file is put is no part of it."""
    return question(query)
