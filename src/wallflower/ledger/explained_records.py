"""Which records a ledger's charges explained, by their keys: no account covers any of them.

A charge is stored under the key of the one record that it explained, to be looked up by. One that explained several is stored under
`SEVERAL`, and its question names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wallflower.ledger.events import Event
from wallflower.stores.base import Transaction

SEVERAL = "(not named)"
"""In place of a key; written into ledgers, and so never changed."""
_EVERY = 2**62


def stored_as(question: Mapping[str, Any]) -> str:
    """What a charge is looked up by.

    >>> stored_as({"record": "8"}), stored_as({"records": ["8", "9"]})
    ('8', '(not named)')
    """
    record = question.get("record")
    return SEVERAL if record is None else str(record)


def keys_of(question: Mapping[str, Any]) -> list[str]:
    """The keys of the records that a question explains.

    >>> keys_of({"record": "8"}), keys_of({"records": ["8", "9"]})
    (['8'], ['8', '9'])
    """
    several = question.get("records")
    return list(map(str, several)) if isinstance(several, list) else [stored_as(question)]


def explained(transaction: Transaction, event: Callable[[int], Event], *, most: int) -> tuple[list[str], int]:
    """The first keys of all records that were explained, in the order of text, and how many there are."""
    several = transaction.about(SEVERAL)
    if not several:
        return transaction.explained(most)
    found = {key for key in transaction.explained(_EVERY)[0] if key != SEVERAL}
    for entry in several:
        found.update(keys_of(event(entry).content["question"]))
    return sorted(found)[:most], len(found)
