"""Parts on executors give the integers of the whole table, wherever parts begin; a halo one too small, degrees of a part, or a core without
its combiner do not.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings

from tests.count import twins
from tests.count.parts_tables import SEEDS, names, random_case, rectangle, tiles
from tests.engines.clusters import OnCluster, Shuffling
from wallflower.count.covers import Core, Lines, Window
from wallflower.count.degrees import capped_degrees
from wallflower.count.parts import halos, tasks
from wallflower.count.parts.core import CoreInParts
from wallflower.count.parts.degrees import DegreesOnExecutors
from wallflower.count.parts.measure import measure_on_executors
from wallflower.count.parts.profile import CoversInParts
from wallflower.count.queries import measure_points
from wallflower.engines.executors import OneProcess, executors_of
from wallflower.engines.partition import Cut
from wallflower.geometry.balls import Ball

RING = Ball((1, 1), 25)
"""Twice its radius is 10."""


def table_of(points):
    return SimpleNamespace(fetch=lambda *, numbers: SimpleNamespace(numbers=points[:, [int(at) for at in numbers]]))


def both(points, ball, *, k, horizon, neighbours="add-remove", cap=1000, by=0, rows=2, seed=0):
    """(count, profile) of the whole table at once, and on executors."""
    points = np.asarray(points, dtype=np.int64).reshape(-1, len(ball.weights))
    noise = SimpleNamespace(k=k, horizon=horizon, neighbours=neighbours, max_rows=10**9)
    plan = replace(tiles(points, by=by, rows=rows), way="distribute")
    return (
        measure_points(points, ball, noise, cap=cap),
        measure_on_executors(OnCluster(table_of(points), seed), names(points), ball, noise, cap=cap, plan=plan),
    )


def agree(points, ball, **choices):
    whole, parts = both(points, ball, **choices)
    return whole == parts


@given(seed=SEEDS)
@settings(max_examples=240, deadline=None)
def test_parts_are_the_whole_table(seed):
    points, ball, choices = random_case(seed, most=40)
    assert agree(points, ball, **choices)


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_parts_are_the_whole_table_thousands_of_times(block):
    for seed in range(10_000 + 200 * block, 10_200 + 200 * block):
        points, ball, choices = random_case(seed, most=120)
        assert agree(points, ball, **choices), seed


def every_cut(spread, column, **choices):
    """A part for every value, and one for what is between two: no range is wider than the rows in it."""
    starts = {value + more for value in spread.rows[:, column].tolist() for more in (0, 1)}
    return Cut(column, choices["below"], choices["above"], tuple(sorted(starts)), choices.get("copies"))


@pytest.fixture
def finest(monkeypatch):
    monkeypatch.setattr(Shuffling, "cut", every_cut)


@pytest.mark.usefixtures("finest")
@pytest.mark.parametrize("width", [1, 2, 7])
def test_rows_exactly_at_reach_and_all_rows_equal(width):
    ball = Ball((1,) * width, 25)
    line = np.zeros((9, width), dtype=np.int64)
    line[:, 0] = 5 * np.arange(9)
    for points in (line, np.zeros((30, width)), np.zeros((0, width)), np.concatenate([line, line + 5, line * 20])):
        assert agree(points, ball, k=2, horizon=6, rows=1)


def test_a_giant_cell_is_not_held():
    points = np.concatenate([np.full((20_000, 2), 7), [[0, 0], [7, 8], [30, 30]]])
    cluster = OnCluster(table_of(points))
    plan = replace(tiles(points), way="distribute")
    assert DegreesOnExecutors(cluster, names(points), Ball((1, 1), 4), 5, plan).histogram().tolist() == [
        *[2, 0, 0, 0, 0, 20_001]
    ]
    assert max(cluster.seen) < 40


def test_every_row_is_at_home_once_and_has_whatever_is_near():
    random = np.random.default_rng(4)
    for _ in range(300):
        rows = random.integers(-20, 20, (int(random.integers(0, 30)), 1))
        below, above = (int(each) for each in random.integers(0, 15, 2))
        cut = Cut(0, below, above, tuple(np.unique(random.integers(-25, 25, int(random.integers(0, 9)))).tolist()))
        which, parts = cut.travel(rows)
        homes, found = [], 0
        for part in range(cut.parts):
            strip = cut.strip(part, rows[which[parts == part]], np.ones((parts == part).sum(), dtype=np.int64))
            low = -np.inf if part == 0 else cut.starts[part - 1]
            high = np.inf if part == cut.parts - 1 else cut.starts[part] - 1
            inside = (rows[:, 0] >= low - below) & (rows[:, 0] <= high + above)
            assert sorted(strip.rows[:, 0]) == sorted(rows[inside, 0])
            homes += strip.rows[strip.home, 0].tolist()
            found += len(strip.rows)
        assert sorted(homes) == sorted(rows[:, 0])
        assert found == len(which)


def test_rows_without_executors_are_compared_in_turn():
    points, ball, _ = random_case(7)
    table = table_of(points)
    assert isinstance(executors_of(table), OneProcess)
    plan = replace(tiles(points, rows=5), way="distribute")
    found = DegreesOnExecutors(table, names(points), ball, 6, plan).histogram()
    assert found.tolist() == np.bincount(capped_degrees(points, ball, 6), minlength=7).tolist()


# Planted errors: each is caught, and what is planted is all that is different.


def one_less(monkeypatch, which, less=1):
    right = getattr(halos, which)
    monkeypatch.setattr(halos, which, lambda ball, column: right(ball, column) - less)


@pytest.mark.usefixtures("finest")
def test_a_halo_one_too_small_for_degrees_is_seen(monkeypatch):
    far = {"points": [[0], [5]], "ball": Ball((1,), 25), "k": 1, "horizon": 0, "rows": 1}
    assert agree(**far)
    one_less(monkeypatch, "of_degrees")
    assert not agree(**far)


@pytest.mark.usefixtures("finest")
def test_a_halo_one_too_small_for_a_window_is_seen(monkeypatch):
    far = {"points": [[0], [10]], "ball": Ball((1,), 25), "k": 1, "horizon": 2, "rows": 1}
    assert agree(**far)
    one_less(monkeypatch, "of_window")
    assert not agree(**far)


def spread_of(points, degrees):
    return Shuffling(np.column_stack([points, degrees]).astype(np.int64), np.random.default_rng(0), [])


@pytest.mark.usefixtures("finest")
@pytest.mark.parametrize(("points", "by", "less"), [([[0, -11], [0, 11]], 1, 1), ([[-11, 0], [11, 0]], 0, 3)])
@pytest.mark.parametrize("half", [False, True])
def test_a_halo_too_small_for_lines_is_seen(points, by, less, half, monkeypatch):
    """One less along; across, the halo is two wider than it must be. Half the extent is the mistake that is easily made."""
    ball, points = Ball((1, 1), 100), np.array(points)

    def found():
        return CoversInParts(spread_of(points, np.zeros(2)), ball, by, 1).lines([(0, 0)])[0, 0]

    assert Lines.of(points, ball)(np.zeros(2, dtype=np.int64), 0) == found() == 2
    one_less(monkeypatch, "of_lines", halos.of_lines(ball, by) // 2 if half else less)
    assert found() == 1


def ring_core(most=4):
    points = rectangle(10)
    return CoreInParts(RING, 0, most)(spread_of(points, np.zeros(len(points))), {(0, 0): 1000})[0, 0]


@pytest.mark.usefixtures("finest")
@pytest.mark.parametrize("without_graph", [False, True])
def test_a_ring_has_a_core_that_no_part_has(without_graph, monkeypatch):
    if without_graph:
        monkeypatch.setattr(CoreInParts, "pairs", 0)
    points = rectangle(10)
    assert twins.degeneracy(points, RING.twice) == 2
    locally, whole = CoreInParts(RING, 0, 4)._locally(spread_of(points, np.zeros(len(points))), [(0, 0)])
    assert (locally[0, 0], whole) == (2, False)
    assert ring_core() == 3
    assert ring_core(most=1000) == 3


def test_a_ring_over_two_parts_alone_is_not_taken_for_whole(monkeypatch):
    monkeypatch.setattr(Shuffling, "cut", lambda _self, by, *, below, above, **_: Cut(by, below, above, (50,)))
    points = rectangle(10)
    locally = CoreInParts(RING, 0, 20)._locally(spread_of(points, np.zeros(len(points))), [(0, 0)])
    assert locally == ({(0, 0): 2}, False)
    assert ring_core(most=20) == 3


@pytest.mark.usefixtures("finest")
def test_a_core_without_its_combiner_is_seen(monkeypatch):
    """In three columns, where no line is drawn, the ring's core decides the profile."""
    ring = {"points": rectangle(10, width=3), "ball": Ball((1, 1, 1), 25), "k": 1, "horizon": 3, "rows": 4}
    assert agree(**ring)
    right = CoreInParts._locally
    monkeypatch.setattr(CoreInParts, "_locally", lambda self, *of: (right(self, *of)[0], True))
    assert not agree(**ring)


@pytest.mark.usefixtures("finest")
def test_a_halo_one_too_small_for_the_core_is_seen(monkeypatch):
    assert ring_core() == 3
    one_less(monkeypatch, "of_core")
    assert ring_core() == 2


@pytest.mark.usefixtures("finest")
def test_a_halo_that_is_peeled_too_is_seen(monkeypatch):
    """A row of the halo is judged where it is at home: here it would miss its neighbours beyond."""
    assert ring_core() == 3
    right = tasks.peeling

    def nobody_frozen(*of):
        stays = right(*of)
        return lambda alive, frozen, depth: stays(alive, np.zeros_like(frozen), depth)

    monkeypatch.setattr(tasks, "peeling", nobody_frozen)
    assert ring_core() == 2


@pytest.mark.usefixtures("finest")
def test_a_core_is_peeled_round_after_round_when_it_fits_nowhere(monkeypatch):
    """Three rings and many rows that go: what is left is never few enough, and is peeled until nobody goes."""
    rings = np.concatenate([rectangle(10), rectangle(10) + 1000, rectangle(10) + 3000])
    tails = np.array([[x, 5000] for x in range(0, 700, 10)])
    points = np.concatenate([rings, tails])
    rounds, right = [], CoreInParts._peeled
    monkeypatch.setattr(CoreInParts, "_peeled", lambda self, *of: (rounds.append(0), right(self, *of))[1])
    assert CoreInParts(RING, 0, 4)(spread_of(points, np.zeros(len(points))), {(0, 0): 1000})[0, 0] == 3
    assert len(rounds) > 2


@pytest.mark.parametrize("seed", range(12))
def test_each_cover_of_parts_is_that_of_the_whole(seed):
    """Not their least alone: Window, Lines and Core each."""
    points, ball, choices = random_case(100 + seed)
    points = points[:, :2] if points.shape[1] > 1 else np.column_stack([points, points])
    ball, by = Ball((1, 2), ball.limit), choices["by"] % 2
    degrees = capped_degrees(points, ball, 30)
    covers = CoversInParts(spread_of(points, degrees), ball, by, choices["rows"])
    sought = [(2, 0), (2, 1), (1, 4), (3, 12)]
    whole = {each: np.abs(degrees - each[0]) for each in sought}
    for column in range(2):
        window = Window.of(points, ball, column)
        assert covers.window(sought, column) == {each: window(whole[each], each[1]) for each in sought}
    if Lines.suits(ball):
        lines = Lines.of(points, ball)
        assert covers.lines(sought) == {each: lines(whole[each], each[1]) for each in sought}
    deepest = Core.of(points, ball)
    assert covers.core(dict.fromkeys(sought, 1000)) == {each: deepest(whole[each], each[1]) for each in sought}


@pytest.mark.usefixtures("finest")
def test_degrees_of_a_part_undercount(monkeypatch):
    """Rows 3, 3 | 5, 6 at radius 1 and k = 2: seen from the first part, 5 has no neighbour, and a window loses it."""
    points = np.array([[3], [3], [5], [6]])
    ball = Ball((1,), 1)
    whole, parts = both(points, ball, k=2, horizon=1)
    assert whole == parts
    assert whole[1].bounds == (3,)
    right = tasks.Fullest.__call__

    def with_degrees_of_the_part(self, strip):
        again = capped_degrees(strip.rows[:, :-1], ball, 3)
        return right(self, replace(strip, rows=np.column_stack([strip.rows[:, :-1], again])))

    monkeypatch.setattr(tasks.Fullest, "__call__", with_degrees_of_the_part)
    _, planted = both(points, ball, k=2, horizon=1)
    assert planted[1].bounds == (2,)


def test_copies_cut_at_the_cap_instead_of_one_above_it_are_seen(monkeypatch):
    points = np.zeros((4, 1), dtype=np.int64)
    case = {"points": points, "ball": Ball((1,), 1), "k": 3, "horizon": 0, "rows": 1}
    assert agree(**case)
    right = Shuffling.cut
    monkeypatch.setattr(
        Shuffling, "cut", lambda self, *of, **how: right(self, *of, **how | {"copies": how["copies"] - 1})
    )
    assert not agree(**case)
