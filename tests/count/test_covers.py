import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.count import twins
from tests.count.strategies import fixed, places, tables
from wallflower.count.covers import UNCOMPILED, Core, Lines, Window, covers
from wallflower.count.kernels import degeneracy
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import RadiusIndex


def everything(cover, size):
    return cover(np.zeros(size, dtype=np.int64), 0)


@pytest.mark.parametrize("width", [1, 2, 3])
@fixed
@given(st.data())
def test_kernels_equal_their_twins(width, data):
    points, ball, _ = data.draw(tables(width))
    for column in range(width):
        for compiled in (True, False):
            cover = Window.of(points, ball, column, compiled=compiled)
            assert everything(cover, len(points)) == twins.window(points[:, column].tolist(), cover.length)
    for most in (0, 10**9):  # without the graph and with it
        core = Core.of(points, ball, most=most)
        assert (core.graph is None) == (most == 0)
        assert everything(core, len(points)) == twins.degeneracy(points, ball.twice) + 1
    if width == 2 and Lines.suits(ball):
        cover = Lines.of(points, ball)
        assert everything(cover, len(points)) == twins.lines_cover(points, cover.shape)


@fixed
@given(st.data())
def test_what_is_compiled_is_chosen_by_the_declared_bound_and_changes_no_bound(data):
    points, ball, _ = data.draw(tables(1))
    times = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(points), max_size=len(points))))
    (few,), (many,) = covers(points, ball, most_rows=UNCOMPILED), covers(points, ball, most_rows=UNCOMPILED + 1)
    assert (few.compiled, many.compiled) == (False, True)
    assert [few(times, t) for t in range(4)] == [many(times, t) for t in range(4)]


@pytest.mark.parametrize("width", [1, 2, 3])
@fixed
@given(st.data())
def test_a_member_with_a_late_time_is_not_there(width, data):
    points, ball, _ = data.draw(tables(width))
    times = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(points), max_size=len(points))))
    for t in range(3):
        here = points[times <= t]
        for cover, alone in zip(covers(points, ball), covers(here, ball) if len(here) else [], strict=False):
            assert cover(times, t) == everything(alone, len(here))


@pytest.mark.parametrize("width", [1, 2, 3])
@settings(fixed, max_examples=60)
@given(st.data())
def test_every_cover_holds_a_ball_never_falls_and_grows_by_one(width, data):
    """The three laws a smooth bound rests on."""
    points, ball, _ = data.draw(tables(width))
    new = data.draw(places(points))
    centres = [new]
    centres += [(a + b) // 2 for a in points for b in points]
    held = twins.held_by_a_ball(points, ball, centres)
    added = np.concatenate([points, new[None, :]])
    for cover, grown in zip(covers(points, ball), covers(added, ball), strict=True):
        small = everything(cover, len(points))
        assert small >= held
        assert small <= everything(grown, len(added)) <= small + 1


@fixed
@given(tables(1))
def test_in_one_column_the_window_is_exact(table):
    points, ball, _ = table
    low, high = int(points.min()), int(points.max())
    exact = twins.held_by_a_ball(points, ball, [(c,) for c in range(low, high + 1)])
    bound = everything(Window.of(points, ball, 0), len(points))
    # A window of even length has its middle on the grid and is a ball; an odd one is half a step wider.
    assert bound >= exact
    if ball.twice.reach(0) == 2 * ball.reach(0):
        assert bound == exact


def test_lines_are_close_to_the_exact_cover_of_two_columns():
    rng = np.random.default_rng(5)
    worst = 1.0
    assert [Lines.suits(Ball((1, 1), limit)) for limit in (0, 1)] == [False, True]
    assert [Lines.suits(Ball((1, weight), 3)) for weight in (3, 4)] == [True, False]  # a reach of 1, and of none
    for _ in range(20):
        points = rng.integers(-60, 61, (40, 2))
        ball = Ball((1, 1), 32**2)
        centres = np.stack(np.meshgrid(np.arange(-60, 61), np.arange(-60, 61)), axis=-1).reshape(-1, 1, 2)
        exact = int((((centres - points) ** 2).sum(axis=2) <= ball.limit).sum(axis=1).max())
        bound = min(everything(cover, 40) for cover in covers(points, ball))
        assert bound >= exact
        worst = max(worst, everything(Lines.of(points, ball), 40) / exact)
    assert worst <= 1.25


def test_balls_around_the_rows_themselves_collapse_with_the_hub_of_a_star():
    """The bound that looks obvious, max over rows p of |W ∩ B(p, 2r)|, falls by far more than one. It must not be used."""
    ball = Ball((1, 1), 3**2)
    points = np.array([[0, 0], [6, 0], [-6, 0], [0, 6], [0, -6]])
    without_hub = points[np.any(points != 0, axis=1)]

    def around_rows(rows):
        return twins.held_by_a_ball(rows, ball.twice, rows)

    assert around_rows(points) == 5
    assert around_rows(without_hub) == 1
    for cover, fewer in zip(covers(points, ball), covers(without_hub, ball), strict=True):
        assert everything(cover, 5) <= everything(fewer, 4) + 1


def test_degeneracy_of_known_graphs():
    line = np.array([[i] for i in range(10)])
    graph = RadiusIndex(line, (1,)).graph(Ball((1,), 1))
    assert degeneracy(graph.starts, graph.neighbours, np.zeros(10, dtype=np.int64), 0) == 1
    clump = np.zeros((7, 1), dtype=np.int64)
    graph = RadiusIndex(clump, (1,)).graph(Ball((1,), 0))
    assert degeneracy(graph.starts, graph.neighbours, np.zeros(7, dtype=np.int64), 0) == 6


def test_lines_miss_no_ball_that_lies_between_two_of_them():
    """Four rows that only one centre has within the radius, wherever that is: a region that had grown by less would hold three."""
    radius = 320
    ball = Ball((1, 1), radius**2)
    for middle in range(41):
        points = np.array([(radius, middle), (-radius, middle), (0, middle + radius), (0, middle - radius)])
        lines = Lines.of(points, ball)
        assert lines.shape[2] == 20  # so far apart are the lines
        assert everything(lines, 4) == 4
