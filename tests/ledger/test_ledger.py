"""Charges, answers, request ids, limits: what the ledger accepts, refuses and never forgets."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.declared import FULL, X, declare, model
from wallflower.errors import BudgetError, LedgerError, NotComposable, UsageError
from wallflower.ledger import Ledger
from wallflower.ledger.journal import limits_of
from wallflower.ledger.redeclaration import RAISED
from wallflower.privacy.dp import DP, OTHERS
from wallflower.privacy.guarantees import (
    BUT_ASKED,
    ApproxDP,
    OutputConstrainedDP,
    PlainKAnonymity,
    PureDP,
    SensitivePrivacy,
)
from wallflower.privacy.sensitive_privacy import SENSITIVE
from wallflower.schema.declaration import Budget

COUNT = {"command": "count", "columns": ["x"]}
EXPLAIN = {"command": "explain", "record": "8"}
PLAIN = PlainKAnonymity(k=3, p=Fraction("0.8"), d=Fraction("0.85"), level="candidate")


def pure(epsilon: str, **other: str) -> PureDP:
    return PureDP(epsilon=Fraction(epsilon), neighbours="add-remove", **other)


def constrained(epsilon: str) -> OutputConstrainedDP:
    return OutputConstrainedDP(epsilon=Fraction(epsilon), neighbours="add-remove")


def sensitive(epsilon: str, name: str = "default", k: int = 3) -> SensitivePrivacy:
    return SensitivePrivacy(epsilon=Fraction(epsilon), k=k, model=name, neighbours="add-remove")


def opened(declaration):
    Ledger.init(declaration)
    return Ledger.open(declaration)


def test_two_processes_may_make_the_same_ledger(tmp_path, monkeypatch):
    declared = declare(tmp_path)
    Ledger.init(declared)
    monkeypatch.setattr(type(declared.ledger), "exists", lambda _self: False)  # as the slower of two would see it
    assert Ledger.init(declared) == []
    assert [path.name for path in tmp_path.iterdir()] == ["salaries.ledger"]


def test_a_charge_says_what_is_spent_and_left(tmp_path):
    declared = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})
    charge = opened(declared).charge(pure("0.1"), declaration=declared, query=COUNT)
    held = {"spent": {"epsilon": "0.1"}, "left": {"epsilon": "3.9"}}
    weaker = [code for code in DP.covers if code not in {OTHERS.code, SENSITIVE.code}]  # of the models none is declared
    unlimited = [{"account": code, "spent": {"epsilon": "0.1", "rho": "0.005"}, "left": None} for code in weaker]
    assert "output-constrained-dp" in weaker
    assert charge.to_json() == {
        "account": "salaries",
        "entry": 2,
        **held,
        "debited": [{"account": "dp", **held}, {"account": "dp-others", **held}, *unlimited],
        "head": f"sha256:{charge.head}",
    }
    assert charge.replay is None
    assert len(charge.request_id) == 32


@pytest.mark.slow
def test_a_hundred_charges_fit_exactly_and_the_next_is_refused(tmp_path):
    declared = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction("0.4"))})
    ledger = opened(declared)
    for _ in range(100):
        charge = ledger.charge(pure("0.004"), declaration=declared, query=COUNT)
    assert charge.left == {"epsilon": "0"}
    with pytest.raises(BudgetError, match=re.escape("costs epsilon = 0.004, and 0 of 0.4 is left in [budget.dp]")):
        ledger.charge(pure("0.004"), declaration=declared, query=COUNT)
    assert len(ledger.history()) == 101


@settings(max_examples=40, deadline=None)
@given(
    asks=st.lists(
        st.tuples(
            st.sampled_from(["dp", "asked", "constrained", "sensitive"]),
            st.fractions(min_value="1/50", max_value=1, max_denominator=50),
        ),
        max_size=12,
    )
)
def test_no_sequence_of_charges_exceeds_a_limit(tmp_path_factory, asks):
    budgets = {"dp": Budget(epsilon=Fraction("1.5")), "output-constrained-dp": Budget(epsilon=Fraction(2))}
    declared = declare(tmp_path_factory.mktemp("sequence"), budgets=budgets, models={"default": model(epsilon="1")})
    ledger = opened(declared)
    taken = {"dp": Fraction(0), "asked": Fraction(0), "constrained": Fraction(0), "sensitive": Fraction(0)}
    for kind, epsilon in asks:
        amount = str(epsilon)
        promise = {
            "dp": pure(amount),
            "asked": pure(amount, protects=BUT_ASKED),
            "constrained": constrained(amount),
            "sensitive": sensitive(amount),
        }[kind]
        after = {**taken, kind: taken[kind] + epsilon}
        dp = after["dp"] + after["asked"]
        # The rule written a second time, by hand: only the accounts this charge is booked in are checked.
        fits = {
            "dp": dp <= Fraction("1.5") and dp + after["constrained"] <= 2 and dp + after["sensitive"] <= 1,
            "asked": dp <= Fraction("1.5") and dp + after["constrained"] <= 2 and dp + after["sensitive"] <= 1,
            "constrained": dp + after["constrained"] <= 2,
            "sensitive": dp + after["sensitive"] <= 1,
        }[kind]
        if fits:
            ledger.charge(promise, declaration=declared, query=COUNT)
            taken = after
        else:
            with pytest.raises(BudgetError):
                ledger.charge(promise, declaration=declared, query=COUNT)
    for standing in Ledger.open(declared).show(declared).accounts:
        assert all(standing.spent[name] <= most for name, most in standing.limit.amounts.items())


class TestRequestIds:
    def test_the_recorded_answer_comes_back_uncharged(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        ledger.answer(charge.entry, {"release": {"count": 3}})
        again = Ledger.open(declared).charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        assert again.replay == {"release": {"count": 3}}
        assert again.entry == charge.entry
        assert len(ledger.history()) == 3

    def test_no_answer_is_an_answer(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        ledger.answer(charge.entry, {"release": None})
        assert ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday").replay == {
            "release": None
        }

    def test_given_up_is_dead_and_says_so_in_the_ledger(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        assert not ledger.give_up(charge.entry)
        for _ in range(2):
            with pytest.raises(LedgerError, match=r"has no answer.*Use a new id"):
                ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        with pytest.raises(LedgerError, match="not a charge that waits"):
            ledger.answer(charge.entry, {"release": {"count": 1}})
        assert [line.kind for line in ledger.history()] == ["limits", "charge", "closed"]

    def test_another_question_or_declaration_is_refused(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        ledger.answer(charge.entry, {"release": {"count": 3}})
        other = {**COUNT, "columns": ["y"]}
        changed = replace(declared, fingerprint="changed")
        for declaration, query in ((declared, other), (changed, COUNT)):
            with pytest.raises(LedgerError, match="another question"):
                ledger.charge(pure("1"), declaration=declaration, query=query, request_id="monday")

    @pytest.mark.parametrize("bad", ["", "  ", "a\nb", "x" * 201])
    def test_an_odd_id_is_refused(self, tmp_path, bad):
        declared = declare(tmp_path)
        with pytest.raises(UsageError, match="printable"):
            opened(declared).charge(pure("1"), declaration=declared, query=COUNT, request_id=bad)

    def test_an_answer_is_recorded_once_and_only_for_a_charge(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT)
        ledger.answer(charge.entry, {"release": 1})
        for entry in (charge.entry, 1, 99):
            with pytest.raises(LedgerError, match="not a charge that waits"):
                ledger.answer(entry, {"release": 2})
        assert ledger.answer(charge.entry, {"release": 1}) == {"release": 1}  # a repeated word is heard once


class TestLimits:
    def test_changed_limits_must_be_recorded_first(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        ledger.charge(pure("1"), declaration=declared, query=COUNT)
        raised = declare(tmp_path, budgets={**FULL, "dp": Budget(epsilon=Fraction(5), delta=Fraction("1e-6"))})
        with pytest.raises(LedgerError, match=r"limits of 'salaries' differ.*wallflower ledger init DECL"):
            ledger.charge(pure("1"), declaration=raised, query=COUNT)
        assert Ledger.init(raised) == [
            "[budget.dp] is now epsilon = 5, delta = 0.000001; it was epsilon = 4, delta = 0.000001.",
            RAISED,
        ]
        assert Ledger.init(raised) == []
        charge = ledger.charge(pure("0.5"), declaration=raised, query=COUNT)
        assert charge.spent["epsilon"] == "1.5"
        assert charge.left["epsilon"] == "3.5"
        assert [line.kind for line in ledger.history()] == ["limits", "charge", "limits", "charge"]

    def test_a_limit_below_what_is_spent_leaves_nothing(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        ledger.charge(pure("1"), declaration=declared, query=COUNT)
        lowered = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction("0.5"))})
        assert "[budget.dp] is below what has been spent (1): nothing is left in it." in Ledger.init(lowered)
        with pytest.raises(BudgetError, match=re.escape("0 of 0.5 is left")):
            ledger.charge(pure("0.01"), declaration=lowered, query=COUNT)

    def test_a_new_model_or_family_starts_with_what_was_released(self, tmp_path):
        declared = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})
        ledger = opened(declared)
        ledger.charge(pure("0.5"), declaration=declared, query=COUNT)
        ledger.charge(pure("0.25", protects=BUT_ASKED), declaration=declared, query=EXPLAIN)
        budgets = {**declared.budgets, "output-constrained-dp": Budget(epsilon=Fraction(1))}
        grown = declare(tmp_path, budgets=budgets, models={"late": model("late", epsilon="1")})
        lines = Ledger.init(grown)
        assert lines == [
            "[budget.output-constrained-dp] is new: epsilon = 1; what was released before and counts there is already spent.",
            "[identify.late] is new: epsilon = 1; what was released before and counts there is already spent.",
        ]
        assert ledger.charge(sensitive("0.25", "late"), declaration=grown, query=COUNT).left == {"epsilon": "0"}
        assert ledger.charge(constrained("0.25"), declaration=grown, query=EXPLAIN).left == {"epsilon": "0"}
        with pytest.raises(
            BudgetError, match=r"0 of 1 is left in \[budget.output-constrained-dp\].*booked there as well"
        ):
            ledger.charge(pure("0.01"), declaration=grown, query=COUNT)

    @pytest.mark.parametrize(
        "change", [{"id": "other"}, {"neighbours": "replace-one"}, {"unit": "person", "person": "patient"}]
    )
    def test_another_table_is_refused(self, tmp_path, change):
        declared = declare(tmp_path)
        ledger = opened(declared)
        other = replace(declared, **change)
        with pytest.raises(LedgerError, match="would not count here"):
            Ledger.init(other)
        promise = PureDP(epsilon=Fraction(1), neighbours=other.neighbours, unit=other.unit)
        with pytest.raises(LedgerError, match="would not count here"):
            ledger.charge(promise, declaration=other, query=COUNT)

    def test_a_model_is_fixed_once_its_answers_are_charged(self, tmp_path):
        declared = declare(tmp_path, models={"default": model()})
        ledger = opened(declared)
        wider = declare(tmp_path, models={"default": model(radius=Fraction(1))})
        assert Ledger.init(wider) == ["[identify.default] is defined differently."]
        ledger.charge(sensitive("1"), declaration=wider, query=COUNT)
        for other in (declared, replace(wider, columns={"x": replace(wider.columns["x"], scale=Fraction(2))})):
            with pytest.raises(NotComposable, match=r"\[identify.default\] has changed since its answers were charged"):
                Ledger.init(other)
        without = declare(tmp_path)
        Ledger.init(without)
        with pytest.raises(NotComposable):  # leaving it out for a while forgets nothing
            Ledger.init(declared)

    def test_a_delta_that_was_released_cannot_be_undeclared(self, tmp_path):
        declared = declare(tmp_path)
        promise = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-7"), neighbours="add-remove")
        opened(declared).charge(promise, declaration=declared, query=COUNT)
        with pytest.raises(NotComposable, match=r"\[identify.default\] promises without any"):
            Ledger.init(declare(tmp_path, models={"default": model()}))
        with pytest.raises(NotComposable, match=r"\[budget.output-constrained-dp\] promises without any"):
            Ledger.init(declare(tmp_path, budgets={**FULL, "output-constrained-dp": Budget(epsilon=Fraction(2))}))


def test_a_second_publication_needs_a_raised_limit(tmp_path):
    declared = declare(tmp_path)
    ledger = opened(declared)
    charge = ledger.charge(PLAIN, declaration=declared, query={"command": "publish"})
    assert charge.left == {"publications": "0"}
    with pytest.raises(BudgetError, match=r"publications = 1, and 0 of 1 is left.*can undo each other"):
        ledger.charge(PLAIN, declaration=declared, query={"command": "publish", "k": 4})
    raised = declare(tmp_path, budgets={**FULL, "plain-k-anonymity": Budget(publications=2)})
    Ledger.init(raised)
    assert ledger.charge(PLAIN, declaration=raised, query={"command": "publish", "k": 4}).left == {"publications": "0"}


def test_check_refuses_like_charge_and_writes_nothing(tmp_path):
    declared = declare(tmp_path)
    ledger = opened(declared)
    ledger.check(pure("1"), declaration=declared, query=COUNT)
    with pytest.raises(BudgetError):
        ledger.check(pure("5"), declaration=declared, query=COUNT)
    assert len(ledger.history()) == 1


class TestAppendOnly:
    @pytest.mark.parametrize("statement", ["UPDATE events SET body = '{}'", "DELETE FROM events"])
    def test_events_are_neither_changed_nor_removed(self, tmp_path, statement):
        declared = declare(tmp_path)
        opened(declared).charge(pure("1"), declaration=declared, query=COUNT)
        with sqlite3.connect(declared.ledger) as raw, pytest.raises(sqlite3.IntegrityError, match="events are never"):
            raw.execute(statement)
        raw.close()

    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            ('UPDATE events SET body = replace(body, \'"epsilon":"1"\', \'"epsilon":"0"\')', "does not match its hash"),
            ("UPDATE events SET at = '2020' WHERE entry = 2", "entry 2 does not match its hash"),
            ("DELETE FROM events WHERE entry = 2", "entry 2 is missing"),
            ("DELETE FROM events WHERE entry = 3", "last entries are missing"),
            ("DELETE FROM events", "last entries are missing"),
            ("UPDATE events SET body = x'00ff' WHERE entry = 2", "not what was written"),
        ],
    )
    def test_an_edit_behind_the_triggers_is_noticed(self, tmp_path, statement, reason):
        declared = declare(tmp_path)
        ledger = opened(declared)
        for _ in range(2):
            ledger.charge(pure("1"), declaration=declared, query=COUNT)
        raw = sqlite3.connect(declared.ledger)
        for trigger in ("changed", "removed"):
            raw.execute(f"DROP TRIGGER events_are_never_{trigger}")
        raw.execute(statement)
        raw.commit()
        raw.close()
        with pytest.raises(LedgerError, match=rf"is damaged: .*{reason}.*Nothing was released"):
            Ledger.open(declared)

    def test_an_older_copy_is_noticed_by_who_saw_the_newer(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        older = declared.ledger.read_bytes()
        ledger.charge(pure("1"), declaration=declared, query=COUNT)
        ledger.charge(pure("1"), declaration=declared, query=COUNT)
        declared.ledger.write_bytes(older)
        with pytest.raises(LedgerError, match="not the ledger that was opened"):
            ledger.charge(pure("1"), declaration=declared, query=COUNT)


def test_a_share_of_sensitive_privacy_is_of_all_models_together_and_of_nothing_else(tmp_path):
    models = {name: model(name, "2") for name in ("default", "other", "third")}
    declared = declare(tmp_path, models=models)
    ledger = opened(declared)
    shares = {"sensitive-privacy": Budget(epsilon=Fraction("0.5"))}

    def charge(promise, asker="ann"):
        ledger.charge(promise, declaration=declared, query=COUNT, asker=asker, shares=shares)

    charge(pure("0.5"))
    charge(sensitive("0.4", "other"), asker="bob")
    charge(sensitive("0.2"))
    charge(sensitive("0.2", "other"))
    with pytest.raises(BudgetError, match=r"0\.1 of 0\.5 is left in the share of 'ann' in sensitive-privacy"):
        charge(sensitive("0.2", "third"))
    charge(sensitive("0.1", "third"))
    charge(pure("0.5"))
    with pytest.raises(BudgetError, match=r"0 of 0\.5 is left in the share of 'ann' in sensitive-privacy"):
        charge(sensitive("0.1"))


def test_a_model_is_the_same_after_its_folder_has_moved(tmp_path):
    """The place of a hierarchy file is part of a column, and of no distance."""
    places = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text("0;*\n")
        places.append(str(tmp_path / name / "x.csv"))
    here, there = (
        declare(tmp_path, models={"default": model()}, columns={"x": replace(X, hierarchy=place)}) for place in places
    )
    assert here.fingerprint == there.fingerprint
    assert limits_of(here) == limits_of(there)
    other = declare(tmp_path, models={"default": model()}, columns={"x": replace(X, scale=Fraction(2))})
    assert limits_of(here) != limits_of(other)
