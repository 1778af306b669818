"""Who may ask, in which words, and how much of a budget is theirs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.declared import declare
from tests.ledger.places import COUNT, pure
from wallflower.errors import BudgetError, UsageError
from wallflower.ledger.admission import LONGEST_ID, LONGEST_NAME, LONGEST_PURPOSE, Ask, share_of
from wallflower.privacy.account import Account
from wallflower.schema.declaration import Budget

HALF = {"dp": Budget(epsilon=Fraction(1, 2))}


@pytest.fixture
def declared(tmp_path):
    return declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})


def asked(declared, **said):
    return Ask(guarantee=pure("1"), declaration=declared, query=COUNT, **said)


def test_words_of_an_asker_are_as_long_as_they_may_be_and_no_longer(declared):
    for name, longest in (("request_id", LONGEST_ID), ("asker", LONGEST_NAME), ("purpose", LONGEST_PURPOSE)):
        asked(declared, **{name: "x" * longest})
        for said in ("x" * (longest + 1), "a\nb"):
            with pytest.raises(UsageError):
                asked(declared, **{name: said})
    for name in (" ann", "ann ", ""):
        with pytest.raises(UsageError, match="an asker is a name"):
            asked(declared, asker=name)


def test_a_share_is_set_in_one_place(declared):
    assert asked(declared, shares=HALF).own_limits == HALF
    with pytest.raises(UsageError, match="in \\[askers\\] as well"):
        asked(replace(declared, askers={"ann": HALF}), shares=HALF)


def test_what_others_spend_is_not_taken_from_an_asker_s_share(declared, ledger):
    def charged(asker, epsilon):
        return ledger.charge(pure(epsilon), declaration=declared, query=COUNT, asker=asker, shares=HALF)

    charged("ann", "0.5")
    charged("bob", "0.5")
    with pytest.raises(BudgetError, match="the share of 'bob' in dp"):
        charged("bob", "0.01")


def test_a_share_of_an_account_itself_comes_before_that_of_its_budget():
    more = Budget(epsilon=Fraction(3))
    own = Account(kind="dp-others")
    assert share_of(own, HALF | {own.code: more}).amounts["epsilon"] == 3
    assert share_of(own, HALF).amounts["epsilon"] == Fraction(1, 2)
    assert share_of(own, {}) is None
