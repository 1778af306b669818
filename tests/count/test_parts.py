"""Strips give the integers of the whole table; a halo one too small, degrees of a part, or a core without its combiner do not."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from tests.count import twins
from tests.count.parts_tables import SEEDS, Sorting, both, heap_of, names, random_case, rectangle, tiles
from tests.count.stub import Table, declared
from wallflower.count import Outliers, Subspaces
from wallflower.count.covers import Core, Lines, Window
from wallflower.count.degrees import capped_degrees
from wallflower.count.parts import core, halos, profile
from wallflower.count.parts import degrees as degrees_in_parts
from wallflower.count.parts.core import CoreInStrips
from wallflower.count.parts.degrees import Degrees
from wallflower.count.parts.peel_kernels import peel
from wallflower.count.parts.profile import CoversInStrips
from wallflower.engines import spill
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import RadiusIndex
from wallflower.noise.entropy import SeededEntropy

RING = Ball((1, 1), 25)
"""Twice its radius is 10."""


def agree(points, ball, **choices):
    whole, parts = both(points, ball, **choices)
    return whole == parts


@given(seed=SEEDS)
@settings(max_examples=40, deadline=None)
def test_strips_are_the_whole_table(seed):
    points, ball, choices = random_case(seed)
    assert agree(points, ball, **choices)


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(20))
def test_strips_are_the_whole_table_thousands_of_times(block):
    for seed in range(1000 + 200 * block, 1200 + 200 * block):
        points, ball, choices = random_case(seed, most=120)
        assert agree(points, ball, **choices), seed


@pytest.mark.parametrize("seed", [3, 8])
def test_what_is_put_aside_comes_back(seed, monkeypatch):
    monkeypatch.setattr(spill, "FEW", 0)
    points, ball, choices = random_case(seed)
    assert len(points) > 4
    assert agree(points, ball, **choices | {"rows": 2, "horizon": 8})


@pytest.mark.parametrize("width", [1, 2, 7])
def test_rows_exactly_at_reach_and_all_rows_equal(width):
    ball = Ball((1,) * width, 25)
    line = np.zeros((9, width), dtype=np.int64)
    line[:, 0] = 5 * np.arange(9)
    for points in (line, np.zeros((30, width)), np.zeros((0, width)), np.concatenate([line, line + 5, line * 20])):
        assert agree(points, ball, k=2, horizon=6, rows=1)


def test_a_giant_cell_is_not_held(monkeypatch):
    most, seen = [], capped_degrees

    def watched(points, ball, cap):
        most.append(len(points))
        return seen(points, ball, cap)

    monkeypatch.setattr(degrees_in_parts, "capped_degrees", watched)
    points = np.concatenate([np.full((20_000, 2), 7), [[0, 0], [7, 8], [30, 30]]])
    found = Degrees(Sorting(points), names(points), Ball((1, 1), 4), 5, tiles(points))
    assert found.histogram().tolist() == [2, 0, 0, 0, 0, 20_001]
    assert max(most) < 40


# Planted errors: each is caught, and what is planted is all that is different.


def one_less(monkeypatch, which, less=1):
    right = getattr(halos, which)
    monkeypatch.setattr(halos, which, lambda ball, column: right(ball, column) - less)


def test_a_halo_one_too_small_for_degrees_is_seen(monkeypatch):
    far = {"points": [[0], [5]], "ball": Ball((1,), 25), "k": 1, "horizon": 0, "rows": 1}
    assert agree(**far)
    one_less(monkeypatch, "of_degrees")
    assert not agree(**far)


def test_a_halo_one_too_small_for_a_window_is_seen(monkeypatch):
    far = {"points": [[0], [10]], "ball": Ball((1,), 25), "k": 1, "horizon": 2, "rows": 1}
    assert agree(**far)
    one_less(monkeypatch, "of_window")
    assert not agree(**far)


@pytest.mark.parametrize(("points", "by", "less"), [([[0, -11], [0, 11]], 1, 1), ([[-11, 0], [11, 0]], 0, 3)])
@pytest.mark.parametrize("half", [False, True])
def test_a_halo_too_small_for_lines_is_seen(points, by, less, half, monkeypatch):
    """One less along; across, the halo is two wider than it must be. Half the extent is the mistake that is easily made."""
    ball, points = Ball((1, 1), 100), np.array(points)

    def found():
        covers = CoversInStrips(heap_of(points, np.zeros(2)), ball, by, 1)
        return covers.lines([(0, 0)])[0, 0]

    assert Lines.of(points, ball)(np.zeros(2, dtype=np.int64), 0) == found() == 2
    one_less(monkeypatch, "of_lines", halos.of_lines(ball, by) // 2 if half else less)
    assert found() == 1


def ring_core(width=2, by=0):
    points, ball = rectangle(10, width=width), Ball((1,) * width, 25)
    heap = heap_of(points, np.zeros(len(points)))
    return CoreInStrips(ball, by, 4)(heap, {(0, 0): 1000})[0, 0]


@pytest.mark.parametrize("without_graph", [False, True])
def test_a_ring_has_a_core_that_no_strip_has(without_graph, monkeypatch):
    if without_graph:
        monkeypatch.setattr(core, "MOST_PAIRS", 0)
    points = rectangle(10)
    assert twins.degeneracy(points, RING.twice) == 2
    locally, whole = CoreInStrips(RING, 0, 4)._locally(heap_of(points, np.zeros(len(points))), [(0, 0)])
    assert (locally[0, 0], whole) == (2, False)
    assert ring_core() == 3


def test_a_ring_over_two_strips_alone_is_not_taken_for_whole():
    points = rectangle(10)
    deepest, heap = CoreInStrips(RING, 0, 20), heap_of(points, np.zeros(len(points)))
    assert len(list(deepest._strips(heap.ascending([0])))) == 2
    assert deepest._locally(heap, [(0, 0)]) == ({(0, 0): 2}, False)
    assert deepest(heap, {(0, 0): 1000}) == {(0, 0): 3}


def test_what_a_strip_peels_the_next_no_longer_counts():
    """A path goes in one pass over its strips, from its lower end; it would take a pass for each strip else."""
    path = np.array([(x, 0) for x in range(0, 400, 10)])
    deepest, heap = CoreInStrips(RING, 0, 8), heap_of(path, np.zeros(len(path)))
    assert len(list(deepest._strips(heap.ascending([0])))) > 2
    with ExitStack() as stack:
        assert len(deepest._peeled(heap, {(0, 0): 2}, stack)[0, 0]) == 0


def test_a_core_without_its_combiner_is_seen(monkeypatch):
    """In three columns, where no line is drawn, the ring's core decides the profile."""
    ring = {"points": rectangle(10, width=3), "ball": Ball((1, 1, 1), 25), "k": 1, "horizon": 3, "rows": 4}
    assert agree(**ring)
    right = CoreInStrips._locally
    monkeypatch.setattr(CoreInStrips, "_locally", lambda self, *of: (right(self, *of)[0], True))
    assert not agree(**ring)


def test_a_halo_one_too_small_for_the_core_is_seen(monkeypatch):
    assert ring_core() == 3
    one_less(monkeypatch, "of_core")
    assert ring_core() == 2


def test_a_core_is_peeled_across_strips_when_it_fits_nowhere(monkeypatch):
    """Three rings and many rows that go: what is left is never few enough, and is peeled until nobody goes."""
    rings = np.concatenate([rectangle(10), rectangle(10) + 1000, rectangle(10) + 3000])
    tails = np.array([[x, 5000] for x in range(0, 700, 10)])
    points = np.concatenate([rings, tails])
    heap = heap_of(points, np.zeros(len(points)))
    assert len(rings) > 30
    passes, right = [], CoreInStrips._peeled
    monkeypatch.setattr(CoreInStrips, "_peeled", lambda self, *of: (passes.append(0), right(self, *of))[1])
    assert CoreInStrips(RING, 0, 4)(heap, {(0, 0): 1000})[0, 0] == 3
    assert len(passes) > 2


@pytest.mark.parametrize("seed", range(12))
def test_each_cover_of_strips_is_that_of_the_whole(seed):
    """Not their least alone: Window, Lines and Core each."""
    points, ball, choices = random_case(100 + seed)
    points = points[:, :2] if points.shape[1] > 1 else np.column_stack([points, points])
    ball, by = Ball((1, 2), ball.limit), choices["by"] % 2
    degrees = capped_degrees(points, ball, 30)
    covers = CoversInStrips(heap_of(points, degrees), ball, by, choices["rows"])
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


def test_degrees_of_a_part_undercount(monkeypatch):
    """Rows 3, 3 | 5, 6 at radius 1 and k = 2: seen from the first part, 5 has no neighbour, and a window loses it."""
    points = np.array([[3], [3], [5], [6]])
    ball = Ball((1,), 1)
    whole, parts = both(points, ball, k=2, horizon=1)
    assert whole == parts
    assert whole[1].bounds == (3,)
    right = profile.strips

    def with_degrees_of_the_part(*given, **choices):
        for strip in right(*given, **choices):
            again = capped_degrees(strip.rows[:, :-1], ball, 3)
            yield replace(strip, rows=np.column_stack([strip.rows[:, :-1], again]))

    monkeypatch.setattr(profile, "strips", with_degrees_of_the_part)
    _, planted = both(points, ball, k=2, horizon=1)
    assert planted[1].bounds == (2,)
    moved = twins.outliers(np.array([[3], [3], [4], [5], [6]]), ball, 2)
    assert twins.outliers(points, ball, 2) - moved == 3  # one row more moves the count by 3: a bound of 2 is a breach


@pytest.mark.parametrize("seed", range(15))
def test_peeling_is_its_slow_twin(seed):
    random = np.random.default_rng(seed)
    points, near = random.integers(0, 12, (25, 2)), Ball((1, 1), 9)
    alive, frozen = random.random(25) < 0.8, random.random(25) < 0.3
    depth = int(random.integers(1, 6))
    graph = RadiusIndex(points, near.weights).graph(near)
    left = np.empty(25, dtype=np.bool_)
    left[graph.order] = peel(graph.starts, graph.neighbours, alive[graph.order], frozen[graph.order], depth)
    expected = set(np.flatnonzero(alive))
    while gone := {
        i
        for i in expected
        if not frozen[i] and sum(i != j and twins.near(near, points[i], points[j]) for j in expected) < depth
    }:
        expected -= gone
    assert set(np.flatnonzero(left)) == expected


# Questions: a memory too small for the rows changes nothing that is told.


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_same_seeded_answers_in_strips(adjacency):
    random = np.random.default_rng(5)
    points = np.concatenate([random.normal(0, 8, (60, 3)), random.integers(-99, 99, (12, 3))]).astype(np.int64)
    large = declared(3, neighbours=adjacency)
    small = replace(large, memory=2048)
    one = {"neighbours": 3, "radius": 4, "epsilon": "2"}
    names_ = tuple(large.columns)
    for query in (
        Outliers(columns=names_, noise="lomax", interval_epsilon="1", **one),
        Outliers(columns=names_[:2], noise="inverse", **one),
        Outliers(columns=names_[:1], noise="laplace", **one),
        Outliers(columns=names_[:1], neighbours=2**31 - 1, radius="1e300", epsilon="2"),
        Subspaces(columns=names_, size=2, top=2, counts_epsilon="2", **one),
    ):
        answers = [query.run(Table(points, each), SeededEntropy(3)) for each in (large, small)]
        assert answers[0] == answers[1]
        if query.neighbours > 10**6:
            continue
        looks = [query.inspect(Table(points, each)) for each in (large, small)]
        assert str(looks[0]) == str(looks[1])
        assert query.price(large).settings["plan"].startswith("fetch: at most")
        assert query.price(small).settings["plan"].startswith("tiles: up to")
