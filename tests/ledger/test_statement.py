"""`ledger show` and `ledger history` in plain words, word for word."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.declared import FULL, declare, model
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import (
    BUT_ASKED,
    ApproxDP,
    OutputConstrainedDP,
    PlainKAnonymity,
    PureDP,
    SensitivePrivacy,
)
from wallflower.schema.declaration import Budget

COUNT = {"command": "count"}
DP = PureDP(epsilon=Fraction("0.5"), neighbours="add-remove")
ASKED = PureDP(epsilon=Fraction("0.25"), neighbours="add-remove", protects=BUT_ASKED)
CONSTRAINED = OutputConstrainedDP(epsilon=Fraction("0.2"), neighbours="add-remove")
SENSITIVE = SensitivePrivacy(epsilon=Fraction(1), k=3, model="default", neighbours="add-remove")
PLAIN = PlainKAnonymity(k=3, p=Fraction("0.8"), d=Fraction("0.85"), level="candidate")


def ledger_of(declared, *charges):
    Ledger.init(declared)
    ledger = Ledger.open(declared)
    for promise, query in charges:
        charge = ledger.charge(promise, declaration=declared, query=query, request_id=f"id-{len(ledger.history())}")
        ledger.answer(charge.entry, {"release": None})
    return ledger


def test_show_says_what_the_numbers_bound(tmp_path):
    declared = declare(tmp_path, models={"default": model()})
    ledger = ledger_of(
        declared,
        (DP, COUNT),
        (ASKED, {"command": "explain", "record": "8"}),
        (CONSTRAINED, {"command": "explain", "record": "17"}),
        (SENSITIVE, {"command": "identify"}),
    )
    ledger.charge(DP, declaration=declared, query=COUNT, request_id="crashed")
    assert ledger.show(declared).lines() == [
        "Table 'salaries': one row is protected, neighbours are add-remove.",
        "",
        "dp, every row: epsilon 1 of 4 spent, 3 left, delta 0 of 0.000001 spent, 0.000001 left",
        (
            "  The dp answers that protect every row cannot together become more than e^1 (about 2.72) times as likely when any"
            " one row is added or removed."
        ),
        "  A release here is also booked in output-constrained-dp, every row but the asked-for one, where epsilon 0.55 is left.",
        "",
        "dp, every row but the asked-for one: epsilon 1.25 of 4 spent, 2.75 left, delta 0 of 0.000001 spent, 0.000001 left",
        (
            "  All dp answers cannot together become more than e^1.25 (about 3.49) times as likely when any one row that was"
            " never explained is added or removed."
        ),
        "  A release here is also booked in output-constrained-dp, every row but the asked-for one, where epsilon 0.55 is left.",
        "",
        (
            "output-constrained-dp, every row but the asked-for one: epsilon 1.45 of 2 spent, 0.55 left, delta 0 of 0.000001"
            " spent, 0.000001 left"
        ),
        (
            "  All dp and output-constrained answers cannot together become more than e^1.45 (about 4.26) times as likely when"
            " any one row that was never explained is added or removed, provided that the condition of every"
            " output-constrained answer holds for that change."
        ),
        "",
        "sensitive-privacy, model 'default': epsilon 2.25 of 3 spent, 0.75 left",
        (
            "  All dp answers and those of this model cannot together become more than e^2.25 (about 9.49) times as likely when"
            " any one row that this model protects and that was never explained is added or removed."
        ),
        "",
        "plain-k-anonymity: publications 0 of 1 spent, 1 left",
        "  Tables published; this number bounds no inference, and several of them can undo each other.",
        "",
        "No account covers the explained records 17, 8: the numbers above bound what is given away about all other rows.",
        "",
        (
            "Conditions that must all hold, for each record explained under them: the change leaves the set of contexts in"
            " which the asked-for row stands out as it is."
        ),
        "",
        "Charged without an answer (interrupted, or still running), so nothing was shown; the cost stays spent: entry 10.",
        "",
        (
            "All releases together promise only what the weakest family promises (used: dp, output-constrained-dp,"
            " sensitive-privacy): a row that every account above covers, under every condition, loses at most epsilon = 2.45"
            " in all; no number here bounds everything that was released for any other row."
        ),
    ]
    as_json = json.loads(json.dumps(ledger.show(declared).to_json()))
    assert as_json["explained"] == ["17", "8"]
    assert as_json["accounts"][0]["left"] == {"epsilon": "3", "delta": "0.000001"}


@pytest.mark.parametrize(
    ("promises", "said"),
    [
        ([DP, DP], "All releases together are differentially private with epsilon = 1, for every row."),
        (
            [DP, ASKED],
            "All releases together are differentially private with epsilon = 0.75, for every row but the explained ones.",
        ),
        (
            [DP, ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-7"), neighbours="add-remove")],
            "All releases together are differentially private with epsilon = 1.5, delta = 0.0000001, for every row.",
        ),
        (
            [DP, PLAIN],
            (
                "All releases together promise only what the weakest of them promises: a table was published under"
                " plain-k-anonymity, which bounds no inference, so no number here bounds everything that was released."
            ),
        ),
    ],
)
def test_all_releases_together(tmp_path, promises, said):
    declared = declare(tmp_path)
    ledger = ledger_of(declared, *((promise, {"command": "any", "record": "8"}) for promise in promises))
    assert ledger.show(declared).notes[-1] == said


ZCDP = Budget(epsilon=Fraction(1), delta=Fraction("1e-6"), accounting="zcdp")
SELECTED = PureDP(epsilon=Fraction("0.75"), rho=Fraction("0.001"), neighbours="add-remove")
COUNTED = PureDP(epsilon=Fraction("0.75"), neighbours="add-remove")


@pytest.mark.parametrize(
    ("before", "promise", "said"),
    [
        (ZCDP, SELECTED, "epsilon = 1, delta = 0.000001 (the limit, which concentrated accounting keeps)"),
        # Neither sum of these is within the limit that is declared afterwards: it bounds none of what was released before.
        (replace(ZCDP, epsilon=Fraction(8)), COUNTED, "epsilon = 1.5"),
        (Budget(epsilon=Fraction(4)), COUNTED, "epsilon = 1.5"),
    ],
)
def test_a_limit_bounds_what_is_within_it(tmp_path, before, promise, said):
    ledger_of(declare(tmp_path, budgets={"dp": before}), (promise, COUNT), (promise, COUNT))
    declared = declare(tmp_path, budgets={"dp": ZCDP})
    Ledger.init(declared)
    shown = Ledger.open(declared).show(declared)
    assert f"All releases together are differentially private with {said}, for every row." in shown.notes
    epsilon, _, delta = said.partition(" (")[0].removeprefix("epsilon = ").partition(", delta = ")
    (own,) = (each.sentence for each in shown.accounts if each.account.code == "dp")
    assert f"more than e^{epsilon} (" in own
    assert (f"plus {delta}" in own) if delta else ("plus" not in own)


def test_a_limit_with_a_delta_bounds_no_larger_deltas(tmp_path):
    declared = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4), delta=Fraction("1e-3"))})
    rough = ApproxDP(epsilon=Fraction("0.6"), delta=Fraction("1e-4"), neighbours="add-remove")
    ledger_of(declared, (rough, COUNT), (rough, COUNT))
    lowered = declare(tmp_path, budgets={"dp": replace(ZCDP, epsilon=Fraction("1.1"), delta=Fraction("1e-4"))})
    Ledger.init(lowered)
    together = "All releases together are differentially private with epsilon = 1.2, delta = 0.0002, for every row."
    assert together in Ledger.open(lowered).show(lowered).notes


def test_where_only_some_rows_are_covered_the_row_that_comes_must_be_one_too(tmp_path):
    """A normal row in whose place a value comes that is far from normal, or the key that was asked for, is told plainly."""
    declared = declare(tmp_path, neighbours="replace-one", models={"default": model()})
    promises = [replace(promise, neighbours="replace-one") for promise in (DP, ASKED, CONSTRAINED, SENSITIVE)]
    ledger = ledger_of(declared, *((promise, {"command": "any", "record": "8"}) for promise in promises))
    said = {each.account.kind: each.sentence for each in ledger.show(declared).accounts}
    assert "any one row is replaced by another." in said["dp"]
    for kind in ("dp-others", "output-constrained-dp", "sensitive-privacy"):
        assert "is replaced by another such row" in said[kind]


def test_an_unused_ledger_promises_nothing_yet(tmp_path):
    declared = declare(tmp_path)
    assert ledger_of(declared).show(declared).notes == ()


def test_limits_that_are_not_recorded_yet_are_pointed_out(tmp_path):
    declared = declare(tmp_path)
    ledger = ledger_of(declared, (DP, COUNT))
    assert (
        "nothing can be charged until `wallflower ledger init DECL`"
        in ledger.show(declare(tmp_path, budgets={**FULL, "dp": Budget(epsilon=Fraction(9))})).notes[0]
    )


def test_another_tables_declaration_does_not_show_an_empty_ledger(tmp_path):
    declared = declare(tmp_path)
    ledger = ledger_of(declared, (DP, COUNT))
    with pytest.raises(LedgerError, match="is the ledger of a table with table = 'salaries'"):
        ledger.show(declare(tmp_path, id="other"))


def test_history_in_plain_words(tmp_path):
    declared = declare(tmp_path, models={"default": model()})
    ledger = ledger_of(declared, (DP, COUNT), (PLAIN, {"command": "publish"}))
    ledger.charge(CONSTRAINED, declaration=declared, query={"command": "explain", "record": "8"}, request_id="last")
    lines = ledger.history()
    assert [line.text for line in lines] == [
        (
            "limits set: [budget.dp] epsilon 4, delta 0.000001; [budget.output-constrained-dp] epsilon 2, delta 0.000001;"
            " [budget.plain-k-anonymity] publications 1; [identify.default] epsilon 3"
        ),
        "count charged epsilon 0.5 to dp, every row (request id-1)",
        "answer to entry 2 recorded",
        "publish charged publications 1 to plain-k-anonymity (request id-3)",
        "answer to entry 4 recorded",
        (
            "explain about record 8 charged epsilon 0.2 to output-constrained-dp, every row but the asked-for one"
            " (request last); no answer was recorded, so none was shown"
        ),
    ]
    first = lines[0].line()
    assert first.startswith("1  20")
    assert "Z  limits set" in first
    assert json.loads(json.dumps(lines[1].to_json()))["content"]["question"] == COUNT
