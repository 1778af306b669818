"""Nothing that leaves loses more than it was charged between tables that differ by a person; what does is caught."""

from __future__ import annotations

import pytest

from tests.contracts import people_laws as laws
from tests.contracts.people_laws import QUESTIONS, REDUCERS, Audit, declared
from wallflower.errors import DeclarationError
from wallflower.session.pricing import price_of

SHORT, SHORTER = laws.tables(4), laws.tables(3)
"""Every table of up to four rows, and of up to three; the campaign takes every table there is."""
SEVERAL = [name for name in QUESTIONS if name != "identify sensitive"]


def kept(audit: Audit, universe) -> float:
    """The share of the charge that the worst pair loses; never above 1."""
    worst = audit.worst(universe)
    assert worst.within(audit.charge), worst
    return worst.loss / float(audit.charge)


@pytest.mark.parametrize("reducer", REDUCERS)
def test_one_row_a_person_costs_what_a_row_does(reducer):
    for name in QUESTIONS:
        audit = Audit(name, reducer)
        assert kept(audit, SHORTER) > 0 or (name, reducer) == ("explain full grubbs", "rows")
    assert all(laws.groups_of_people(people, reducer) for people in SHORTER)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_several_rows_a_person_cost_what_was_charged(rows):
    shares = {name: kept(Audit(name, rows=rows), SHORT) for name in SEVERAL}
    attained = {name for name, share in shares.items() if share > 0.999}
    assert {"identify dp", "explain", "explain full"} <= attained


def test_what_has_no_price_for_several_rows_is_refused():
    with pytest.raises(DeclarationError, match="ceases to be so"):
        price_of(QUESTIONS["identify sensitive"], declared(None, 2))


@pytest.mark.parametrize("name", ["count lomax", "count inverse", "explain", "explain full", "explain certificate"])
def test_a_price_for_one_row_is_caught(name):
    """The noise of one row where a person has three."""
    planted = Audit(name, rows=3, priced=1)
    assert not planted.worst(SHORT).within(planted.charge)


@pytest.mark.parametrize(
    ("seen", "reducer", "rows"),
    [
        (laws.mean_over_everybody, "mean", None),
        (laws.looks_at_others, "most-common", None),
        (laws.first_in_the_file(1), None, 1),
    ],
    ids=["mean over everybody", "a reducer that looks at others", "a cap by the order of the file"],
)
def test_a_reader_that_looks_beyond_a_person_is_caught(seen, reducer, rows):
    planted = Audit("identify dp", reducer, rows, seen)
    assert not planted.worst(SHORT).within(planted.charge)


@pytest.mark.campaign
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("kind", [*REDUCERS, 1, 2, 3])
def test_all_tables(name, kind):
    rows = kind if isinstance(kind, int) else None
    if rows is not None and name not in SEVERAL:
        pytest.skip("refused where a person has several rows")
    kept(Audit(name, None if rows else kind, rows), laws.tables(9))
