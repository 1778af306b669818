"""Outliers by group: sensitivities by brute force, the exact law of the whole histogram, bugs that must be caught, prices."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import wallflower as wf
from tests.count import twins
from tests.count.test_intervals import pairs_of
from wallflower.audit.exact import exact_audit
from wallflower.count.groups import GroupedOutliers, OverTheTable
from wallflower.count.noise import Noise
from wallflower.engines.base import Fetched
from wallflower.errors import DeclarationError, UsageError
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import SeededEntropy
from wallflower.report.count import pictures
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration
from wallflower.schema.domains import Categories, Numbers

BALL = twins.Ball((1,), 1)
ADJACENCIES = ["add-remove", "replace-one"]


def histogram(table, k, among, groups=2):
    """Rows are (place, group)."""
    places = np.array([place for place, _ in table], dtype=np.int64).reshape(-1, 1)
    owners = np.array([owner for _, owner in table], dtype=np.int64)
    if among == "group":
        return tuple(twins.outliers(places[owners == group], BALL, k) for group in range(groups))
    flagged = twins.degrees(places, BALL) < k if len(places) else np.zeros(0, dtype=bool)
    return tuple(int((flagged & (owners == group)).sum()) for group in range(groups))


def distance(one, other):
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def test_replacing_a_row_can_move_a_histogram_by_twice_what_adding_one_can():
    """The sum of both groups moves by A(d)·k + 1 at most; the histogram by 4 here."""
    before = [(-1, 0), (1, 0), (0, 0), (9, 1), (11, 1)]
    after = [(-1, 0), (1, 0), (10, 1), (9, 1), (11, 1)]
    one, other = histogram(before, 1, "table"), histogram(after, 1, "table")
    assert (one, other) == ((0, 2), (2, 0))
    assert distance(one, other) == 4 == 2 * OverTheTable(Fraction(1), dimension=1, k=1).sensitivity


@pytest.mark.parametrize("among", ["group", "table"])
@pytest.mark.parametrize("k", [1, 2])
def test_no_pair_of_small_tables_moves_a_histogram_further(among, k):
    """Every table of up to four rows on four places in two groups."""
    cells = list(itertools.product(range(4), range(2)))
    tables = [t for n in range(5) for t in itertools.combinations_with_replacement(cells, n)]
    seen = {table: histogram(table, k, among) for table in tables}
    most = OverTheTable(Fraction(1), dimension=1, k=k).sensitivity
    worst = max(distance(seen[table], seen[table[:i] + table[i + 1 :]]) for table in tables for i in range(len(table)))
    assert worst <= most


def law_of(mechanism, count, most):
    """The law of a count plus noise, clamped to 0 … most."""
    found = dict.fromkeys(range(most + 1), 0.0)
    for noise in range(-80, 81):
        found[min(max(count + noise, 0), most)] += float(np.exp(mechanism.log_probability(noise)))
    total = sum(found.values())
    return {answer: chance / total for answer, chance in found.items()}


@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("among", ["group", "table"])
def test_the_whole_histogram_keeps_its_promise(neighbours, among):
    """Exact laws over every table of up to three rows on five places in two groups."""
    epsilon, k, most = Fraction(1), 1, 4
    query = question(among=among, noise="laplace", epsilon=epsilon, neighbours=k)
    price = query.price(declared(neighbours=neighbours))
    assert price.guarantee.epsilon == (1 if neighbours == "add-remove" else 2) * epsilon
    mechanism = DiscreteLaplace(scale=Fraction(price.mechanism["scale"]))
    assert mechanism.scale == 2
    cells = list(itertools.product(range(5), range(2)))
    tables = [t for n in range(4) for t in itertools.combinations_with_replacement(cells, n)]

    def law(table, factor=1):
        noise = DiscreteLaplace(scale=mechanism.scale / factor)
        parts = [law_of(noise, count, most) for count in histogram(table, k, among)]
        return {(a, b): parts[0][a] * parts[1][b] for a, b in itertools.product(range(most + 1), repeat=2)}

    laws = {table: law(table) for table in tables}
    pairs = pairs_of(tables, neighbours)
    assert exact_audit(laws.__getitem__, pairs).within(price.guarantee.epsilon)
    bugged = {table: law(table, factor=Fraction(3)) for table in tables}  # noise for a third of the sensitivity
    assert not exact_audit(bugged.__getitem__, pairs).within(price.guarantee.epsilon)
    if neighbours == "replace-one":  # charging ε, as for a single count, would be too little
        assert not exact_audit(laws.__getitem__, pairs).within(epsilon)


def test_profiles_for_a_public_size_would_give_a_group_away():
    """Inside groups a replaced row is an addition elsewhere: the horizon and cap of replace-one are not those of a group."""
    noise = question(noise="lomax")._scheme(declared(neighbours="replace-one")).noise
    assert noise.neighbours == "add-remove"
    assert noise == Noise(epsilon=Fraction(1), dimension=1, k=1, neighbours="add-remove", max_rows=100, wanted="lomax")


def declared(neighbours="add-remove", values=("a", "b"), max_rows=100):
    return Declaration(
        id="stub", source=None, key=None, neighbours=neighbours, max_rows=max_rows, reviewed=True, test=True,
        ledger=Path("none"), budgets={}, fingerprint="",
        columns={
            "x": Column(
                name="x", role="sensitive", domain=Numbers(lower=Fraction(-1000), upper=Fraction(1000), step=Fraction(1)),
                outside=Clip(), missing=Becomes(0),
            ),
            "ward": Column(
                name="ward", role="quasi-identifier", domain=Categories(values=values), outside=Becomes(0), missing=Becomes(0)
            ),
        },
    )  # fmt: skip


class Grouped:
    def __init__(self, table, declaration):
        self.table, self.declaration = table, declaration

    @property
    def size(self):
        assert self.declaration.neighbours == "replace-one"
        return len(self.table)

    def fetch(self, *, numbers, codes):
        places = np.array([place for place, _ in self.table], dtype=np.int64).reshape(-1, 1)
        return Fetched(places, np.array([owner for _, owner in self.table], dtype=np.int32).reshape(-1, 1))


def question(**changes):
    return GroupedOutliers(**{"measures": ["x"], "by": "ward", "neighbours": 1, "radius": 1, "epsilon": 1} | changes)


@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("changes", [{"noise": n} for n in ("lomax", "laplace", "inverse")] + [{"among": "table"}])
def test_every_declared_group_is_answered_seen_or_not(neighbours, changes):
    declaration = declared(neighbours, values=("a", "b", "nobody"))
    table = Grouped([(0, 0), (1, 0), (500, 0), (0, 1), (90, 1)], declaration)
    groups = question(**changes).run(table, SeededEntropy(1))["groups"]
    assert [group["value"] for group in groups] == ["a", "b", "nobody"]
    most = 5 if neighbours == "replace-one" else 100
    for group in groups:
        assert 0 <= group["count"] <= most
        assert group["interval"] is None or 0 <= group["interval"][0] <= group["count"] <= group["interval"][1] <= most
    assert question(**changes).run(Grouped([], declaration), SeededEntropy(1))["groups"]


@pytest.mark.parametrize("among", ["group", "table"])
def test_with_hardly_any_noise_the_histogram_is_the_true_one(among):
    rng = np.random.default_rng(4)
    table = [
        (int(place), int(owner)) for place, owner in zip(rng.integers(0, 60, 40), rng.integers(0, 2, 40), strict=True)
    ]
    declaration = declared()
    told = question(among=among, epsilon=10_000, noise="laplace").run(Grouped(table, declaration), SeededEntropy(1))
    assert [group["count"] for group in told["groups"]] == list(histogram(table, 1, among))
    seen = question(among=among).inspect(Grouped(table, declaration))
    assert seen["figures"]["groups"]["counts"] == list(histogram(table, 1, among))
    (picture,) = pictures(seen)
    assert "ward" in picture.alt


@pytest.mark.parametrize("among", ["group", "table"])
def test_the_bar_around_the_owners_counts_is_that_of_one_group(among):
    """Wide enough for nineteen in twenty draws of its noise and no row wider, however many groups there are."""
    query, declaration = question(among=among, noise="laplace"), declared(values=tuple("abcdefghij"))
    noise = DiscreteLaplace(scale=Fraction(query.price(declaration).mechanism["scale"]))
    figures = query.inspect(Grouped([(0, 0), (5, 1)], declaration))["figures"]
    chances = [float(np.exp(noise.log_probability(size))) for size in range(figures["groups"]["error"] + 1)]
    beyond = 1 - 2 * sum(chances) + chances[0]
    assert beyond <= 0.05 < beyond + 2 * chances[-1]


def test_the_price_says_the_error_of_one_group_and_of_all():
    price = question(neighbours=5).price(declared(values=tuple("abcdefghij")))
    assert "in any one group" in price.expected["error"]
    assert "in all 10 groups at once" in price.expected["error_of_all_groups_together"]
    narrow = question(neighbours=20, measures=["x"], noise="lomax", interval_epsilon="auto").price(declared())
    assert narrow.guarantee.epsilon == Fraction(7, 5)


@pytest.mark.parametrize(
    "changes",
    [
        {"among": "ward"},
        {"among": "table", "noise": "lomax"},
        {"among": "table", "interval_epsilon": 1},
        {"noise": "no"},
    ],
)
def test_a_wrong_question_is_refused(changes):
    with pytest.raises(UsageError):
        question(**changes)


def test_a_column_without_declared_values_has_no_groups():
    with pytest.raises(DeclarationError, match="no declared values"):
        question(by="x").price(declared())
    assert wf.count.GroupedOutliers is GroupedOutliers
