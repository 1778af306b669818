"""A journal without charges that are not to be seen yet.

When a charge is made can depend on how long the work before it took, and so on rows. Whoever must not learn that is shown
a ledger in which a charge appears when its answer does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from wallflower.ledger.journal import Journal, Totals
from wallflower.privacy.account import Account

Unseen = Callable[[], Sequence[tuple[str, str]]]
"""Asker and request of every charge that is not to be seen now, whether it has been made or not."""


def without(journal: Journal, charges: Iterable[Mapping[str, Any]]) -> Journal:
    """What `journal` would say had these charges not been made; for showing alone, since it is no state of any chain."""
    totals = _copied(journal.totals)
    by_asker = {asker: _copied(each) for asker, each in journal.by_asker.items()}
    number = 0
    for content in charges:
        number += 1
        account = Account.of(content["account"])
        for each in (totals, by_asker[content["asker"]]):
            for name, amount in content["amounts"].items():
                each[account][name] -= Fraction(amount)
    return replace(journal, totals=totals, by_asker=by_asker, charges=journal.charges - number)


def _copied(totals: Totals) -> Totals:
    return {account: dict(amounts) for account, amounts in totals.items()}
