"""Which account a promise is booked in; what cannot be added, and why."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from importlib.resources import files

import pytest

from tests.declared import FULL, declare, model
from wallflower.errors import BudgetError, NotComposable
from wallflower.privacy import guarantees
from wallflower.privacy.account import Account
from wallflower.privacy.accounts import KINDS, bookings, check, covered, limited
from wallflower.privacy.guarantees import (
    BUT_ASKED,
    ZCDP,
    ApproxDP,
    LocalDP,
    MetricPrivacy,
    OutputConstrainedDP,
    PlainKAnonymity,
    PureDP,
    SensitivePrivacy,
)
from wallflower.schema.budgets import FAMILIES
from wallflower.schema.declaration import Budget

ONE = Fraction(1)
HALF = Fraction(1, 2)
MODELS = {"a": model("a"), "b": model("b")}
PLAIN = PlainKAnonymity(k=3, p=Fraction("0.8"), d=Fraction("0.85"), level="candidate")
SMALL = Fraction("1e-7")


def refused(booking, declared, own):
    check(booking, {}, limited(booking.account, declared), own=own, unit="row")


@pytest.fixture
def declared(tmp_path):
    return declare(tmp_path, models=MODELS)


BOTH_MODELS = ["sensitive-privacy/a", "sensitive-privacy/b"]


@pytest.mark.parametrize(
    ("promise", "expected"),
    [
        (PureDP(epsilon=ONE, neighbours="add-remove"), ["dp", "dp-others", "output-constrained-dp", *BOTH_MODELS]),
        (
            PureDP(epsilon=ONE, neighbours="add-remove", protects=BUT_ASKED),
            ["dp-others", "output-constrained-dp", *BOTH_MODELS],
        ),
        (OutputConstrainedDP(epsilon=ONE, neighbours="add-remove"), ["output-constrained-dp"]),
        (SensitivePrivacy(epsilon=ONE, k=3, model="b", neighbours="add-remove"), BOTH_MODELS[1:]),
        (PLAIN, ["plain-k-anonymity"]),
    ],
)
def test_a_promise_is_booked_in_its_own_account_and_every_weaker_one(declared, promise, expected):
    booked = bookings(promise, declared)
    assert [booking.account.code for booking in booked] == expected
    amounts = [booking.amounts for booking in booked]
    assert all(each == amounts[0] for each in amounts)
    assert amounts[0] == ({"publications": 1} if promise is PLAIN else {"epsilon": 1, "delta": 0, "rho": HALF})


def test_the_codes_never_change():
    """They are written into every ledger: a code that is missing here was renamed, and may not be."""
    assert set(KINDS) == {
        "dp",
        "dp-others",
        "output-constrained-dp",
        "sensitive-privacy",
        "plain-k-anonymity",
        "local-dp",
        "metric-privacy",
    }
    assert all(Account.of(code).code == code for code in (*KINDS, "sensitive-privacy/m"))


def test_every_kind_of_account_says_whether_it_takes_promises_with_a_condition():
    """One that takes them has to say its number under their condition."""
    assert {code for code, kind in KINDS.items() if kind.conditional} == {
        "output-constrained-dp",
        "plain-k-anonymity",
        "local-dp",
        "metric-privacy",
    }


def test_a_statement_goes_from_the_strongest_to_the_weakest_and_only_promises_on_tables_share_neighbours():
    order = {kind.order: code for code, kind in KINDS.items()}
    assert [order[place] for place in sorted(order)] == [
        "dp",
        "dp-others",
        "output-constrained-dp",
        "sensitive-privacy",
        "plain-k-anonymity",
        "local-dp",
        "metric-privacy",
    ]
    assert [code for code in order.values() if not KINDS[code].between_tables] == [
        "plain-k-anonymity",
        "local-dp",
        "metric-privacy",
    ]


def test_every_kind_between_tables_is_covered_by_what_is_stronger():
    """A kind that a stronger one forgets would show a number without what was spent there. New here? Say who covers it, and add it."""
    covered_by = {code: {kind.code for kind in KINDS.values() if code in kind.covers} for code in KINDS}
    assert {code: stronger for code, stronger in covered_by.items() if KINDS[code].between_tables} == {
        "dp": set(),
        "dp-others": {"dp"},
        "output-constrained-dp": {"dp", "dp-others"},
        "sensitive-privacy": {"dp", "dp-others"},
    }
    assert not any(stronger for code, stronger in covered_by.items() if not KINDS[code].between_tables)


def test_every_account_has_a_limit_that_can_be_declared():
    schema = json.loads((files("wallflower.schema") / "declaration.schema.json").read_text(encoding="utf-8"))
    assert {kind.budget for kind in KINDS.values()} == {*FAMILIES, "identify"}
    assert set(FAMILIES) == set(schema["properties"]["budget"]["properties"])
    assert set(FAMILIES) == set(schema["$defs"]["limits"]["properties"])


def test_every_promise_can_be_released_and_certified():
    schema = json.loads((files("wallflower.schema") / "release.schema.json").read_text(encoding="utf-8"))
    promises = {kind for name in guarantees.__all__ if isinstance(kind := getattr(guarantees, name), type)}
    families = {kind.family for kind in promises - {guarantees.Guarantee}}
    assert families == set(schema["$defs"]["guarantee"]["properties"]["family"]["enum"])
    assert families - {"zcdp"} == guarantees.FAMILIES.keys()  # zCDP is charged, and so released, as what it converts to
    assert all(promise.title and promise.not_promised for promise in guarantees.FAMILIES.values())
    debited = re.compile(schema["$defs"]["debit"]["properties"]["account"]["pattern"])
    assert all(debited.search(f"{code}/m" if code == "sensitive-privacy" else code) for code in KINDS)


def test_covers_is_transitively_closed():
    for kind in KINDS.values():
        for middle in kind.covers:
            assert set(KINDS[middle].covers) <= set(kind.covers), (kind.code, middle)
        assert kind.code not in kind.covers
        assert all(KINDS[weaker].order > kind.order for weaker in kind.covers)


def test_nothing_flows_back_to_a_stronger_account():
    assert Account("dp") not in covered(Account("dp-others"), ["m"])
    for weak in (Account("output-constrained-dp"), Account("sensitive-privacy", "m")):
        assert covered(weak, ["m"]) == (weak,)


class TestNotComposable:
    @pytest.mark.parametrize(
        ("promise", "reason"),
        [
            (ZCDP(rho=ONE, neighbours="add-remove"), "zCDP promise is not charged as it is.*Convert it"),
            (PureDP(epsilon=ONE, neighbours="replace-one"), "'replace-one' neighbours, and the ledger.*'add-remove'"),
            (PureDP(epsilon=ONE, neighbours="add-remove", unit="person"), "about one person.*about one row"),
            (LocalDP(epsilon=ONE), "about one reading.*about one row.*ledger of its own"),
            (MetricPrivacy(epsilon=ONE), "about one reading"),
            (
                PureDP(epsilon=ONE, neighbours="add-remove", protects="my friends"),
                "no dp account protects 'my friends'",
            ),
            (
                SensitivePrivacy(epsilon=ONE, k=2, model="a", neighbours="add-remove"),
                r"k = 2, and \[identify.a\] is an account for k = 3",
            ),
        ],
    )
    def test_with_the_reason(self, declared, promise, reason):
        with pytest.raises(NotComposable, match=reason):
            bookings(promise, declared)

    def test_a_delta_in_a_family_that_promises_none(self, tmp_path):
        budgets = {**FULL, "output-constrained-dp": Budget(epsilon=Fraction(2))}
        declared = declare(tmp_path, budgets=budgets)
        first, *weaker = bookings(ApproxDP(epsilon=ONE, delta=SMALL, neighbours="add-remove"), declared)
        refused(first, declared, first.account)
        (other,) = (booking for booking in weaker if booking.account.kind == "output-constrained-dp")
        with pytest.raises(NotComposable, match=r"\[budget.output-constrained-dp\] promises without any delta.*covers"):
            refused(other, declared, first.account)

    def test_a_delta_where_a_model_is_declared(self, declared):
        first, *weaker = bookings(ApproxDP(epsilon=ONE, delta=SMALL, neighbours="add-remove"), declared)
        (model,) = (booking for booking in weaker if booking.account.model == "b")
        with pytest.raises(NotComposable, match=r"\[identify.b\] promises without.*remove \[identify.b\]"):
            refused(model, declared, first.account)

    def test_a_delta_in_a_family_nobody_declared_is_only_recorded(self, tmp_path):
        declared = declare(tmp_path, budgets={"dp": FULL["dp"]})
        booked = bookings(ApproxDP(epsilon=ONE, delta=SMALL, neighbours="add-remove"), declared)
        for booking in booked:
            refused(booking, declared, booked[0].account)


class TestBudget:
    def test_a_delta_needs_a_limit_of_its_own(self, tmp_path):
        declared = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})
        first = bookings(ApproxDP(epsilon=ONE, delta=SMALL, neighbours="add-remove"), declared)[0]
        with pytest.raises(
            BudgetError, match=re.escape("[budget.dp] promises without any delta. Write delta")
        ) as caught:
            refused(first, declared, first.account)
        assert not isinstance(caught.value, NotComposable)

    @pytest.mark.parametrize(
        ("promise", "add"),
        [
            (PureDP(epsilon=ONE, neighbours="add-remove"), "[budget.dp]"),
            (OutputConstrainedDP(epsilon=ONE, neighbours="add-remove"), "[budget.output-constrained-dp]"),
            (PLAIN, "[budget.plain-k-anonymity] with a limit such as publications = 1"),
            (SensitivePrivacy(epsilon=ONE, k=3, model="c", neighbours="add-remove"), "[identify.c]"),
        ],
    )
    def test_a_family_without_a_budget_says_what_to_add(self, tmp_path, promise, add):
        with pytest.raises(BudgetError, match=re.escape(f"Add {add}")):
            bookings(promise, declare(tmp_path, budgets={}))
