"""A ledger as somebody may see it who must not learn when it was charged."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.ledger.places import COUNT, pure
from wallflower.errors import BudgetError
from wallflower.ledger import Ledger
from wallflower.schema.declaration import Budget


def test_a_charge_is_in_nothing_that_is_shown_until_it_may_be_seen(declared, ledger):
    """Neither in sums nor in shares nor in refusals; what is charged, verified and kept is the whole of it."""
    for number, asker in enumerate(("ada", "bo", "ada")):
        ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id=f"id-{number}", asker=asker)
    hidden = [("ada", "id-2"), ("bo", "id-1"), ("bo", "not charged yet")]
    seen = Ledger.open(declared, unseen=lambda: hidden)
    shown = seen.show(declared).to_json()
    assert shown["accounts"][0]["spent"]["epsilon"] == "1"
    assert [shown["askers"][name]["dp"]["epsilon"] for name in ("ada", "bo")] == ["1", "0"]
    named = {"declaration": declared, "query": COUNT, "asker": "ada", "shares": {"dp": Budget(epsilon=Fraction(2))}}
    assert seen.preview(pure("1"), **named)[0].spent["epsilon"] == 2
    with pytest.raises(BudgetError, match="share of 'ada'"):
        Ledger.open(declared).preview(pure("1"), **named)
    with pytest.raises(BudgetError):  # to be shown less is not to be charged less
        seen.charge(pure("2"), declaration=declared, query=COUNT, asker="bo")
    assert seen.verify().charges == 3
    hidden.clear()
    assert seen.show(declared).to_json()["accounts"][0]["spent"]["epsilon"] == "3"


def test_a_charge_made_after_the_look_is_not_taken_off_it(declared, ledger):
    """It may be made between reading the sums and asking what is to be left out."""
    ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="first", asker="ada")

    def unseen():
        return [("ada", "first"), ("ada", "later")]

    seen = Ledger.open(declared, unseen=unseen)
    journal = seen.journal.entry
    ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="later", asker="ada")
    with seen._store.transaction(write=False) as transaction:
        assert seen.journal.entry == journal
        assert seen._seen(transaction).spent(next(iter(seen.journal.totals)))["epsilon"] == 0
