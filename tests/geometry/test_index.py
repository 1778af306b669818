import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.geometry import naive
from wallflower.geometry.arrangement_kernels import BLOCK
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST, RadiusIndex


@st.composite
def cases(draw):
    """Sizes from empty to several blocks, spreads from a few steps to 10^15, weights from 1 to 100 digits."""
    size, width = draw(st.integers(0, 260)), draw(st.integers(1, 6))
    span = draw(st.sampled_from([1, 3, 10, 1000, 10**8, 10**15]))
    bulk = np.random.default_rng(draw(st.integers(0, 2**32)))
    points, queries = bulk.integers(-span, span + 1, (size, width)), bulk.integers(-span, span + 1, (40, width))
    if draw(st.booleans()):  # many equal rows, many pairs exactly on the sphere
        points, queries = points // max(1, span // 3), queries // max(1, span // 3)
        span = 3
    weights = draw(st.lists(st.integers(1, 20), min_size=width, max_size=width))
    if draw(st.booleans()):
        weights = [weight * 3 ** draw(st.integers(1, 200)) for weight in weights]
    farthest = draw(st.integers(0, 2 * span + 2))
    some_weight = draw(st.sampled_from(weights))
    limit = some_weight * farthest**2 // draw(st.integers(1, 8))
    return points, queries, Ball(tuple(weights), limit), draw(st.integers(1, 90))


@given(cases())
@settings(max_examples=100, deadline=None)
def test_counts_equal_the_naive_twin(case):
    points, queries, ball, cap = case
    index = RadiusIndex(points, ball.weights)
    np.testing.assert_array_equal(index.counts(ball, cap=cap), naive.counts(points, points, ball, cap))
    np.testing.assert_array_equal(
        index.counts(ball, cap=cap, queries=queries), naive.counts(points, queries, ball, cap)
    )


@st.composite
def clumps(draw):
    """Clumps of many densities, so that some rows stop in their own block and some nowhere."""
    width = draw(st.integers(1, 4))
    bulk = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 500), min_size=1, max_size=5))
    spreads = [draw(st.sampled_from([0, 3, 100, 2000])) for _ in sizes]
    made = [
        bulk.normal(bulk.normal(0, 900, width), spread, (size, width))
        for size, spread in zip(sizes, spreads, strict=True)
    ]
    weights = draw(st.lists(st.integers(1, 4), min_size=width, max_size=width))
    return np.round(np.concatenate(made)).astype(np.int64), Ball(tuple(weights), draw(st.integers(0, 400)) ** 2)


@given(clumps())
@settings(max_examples=15, deadline=None)
def test_trees_of_many_blocks_equal_the_naive_twin_below_and_above_the_cap_of_lone_walks(case):
    points, ball = case
    index, expected = RadiusIndex(points, ball.weights), naive.counts(points, points, ball, len(points))
    for cap in (1, BLOCK - 1, BLOCK, BLOCK + 1, 10**6):
        np.testing.assert_array_equal(index.counts(ball, cap=cap), np.minimum(expected, cap))


@given(cases())
@settings(max_examples=30, deadline=None)
def test_the_graph_equals_the_naive_twin(case):
    points, _, ball, _ = case
    graph = RadiusIndex(points, ball.weights).graph(ball)
    assert graph.starts.size == len(points) + 1
    if len(points):
        near = naive.within(points[graph.order], points[graph.order], ball)
        for place, expected in enumerate(near):
            found = graph.neighbours[graph.starts[place] : graph.starts[place + 1]]
            assert sorted(found) == list(np.flatnonzero(expected))


def test_pairs_exactly_on_the_sphere_are_decided_in_integers_beyond_64_bits():
    # 3-4-5 triangles at the largest coordinates: the double filter cannot tell 25·s² from 25·s² − 1.
    unit = 2**50 // 5
    points = np.array([[0, 0], [3 * unit, 4 * unit], [4 * unit, 3 * unit], [5 * unit, 0]])
    on = Ball((1, 1), 25 * unit**2)
    index = RadiusIndex(points, on.weights)
    assert index.counts(on, cap=9)[0] == 4
    assert index.counts(Ball((1, 1), on.limit - 1), cap=9)[0] == 1
    heavy = 7**90
    assert index.counts(Ball((heavy, heavy), heavy * on.limit), cap=9)[0] == 4
    assert index.counts(Ball((heavy, heavy), heavy * on.limit - 1), cap=9)[0] == 1


def test_equal_rows_count_as_often_as_they_occur():
    points = np.repeat(np.array([[1, 2], [5, 5]]), [700, 3], axis=0)
    counts = RadiusIndex(points, (1, 1)).counts(Ball((1, 1), 0), cap=1000)
    assert set(counts[:700]) == {700}
    assert set(counts[700:]) == {3}


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-20, 20, (150, 2))
    shuffle = rng.permutation(150)
    ball = Ball((1, 2), 30)
    straight = RadiusIndex(points, ball.weights).counts(ball, cap=12)
    np.testing.assert_array_equal(RadiusIndex(points[shuffle], ball.weights).counts(ball, cap=12), straight[shuffle])


def test_the_number_of_threads_changes_nothing():
    points = np.random.default_rng(0).integers(-3000, 3000, (25_000, 3))
    ball = Ball((1, 2, 3), 400**2)
    answers = []
    before = numba.get_num_threads()
    for threads in {1, before}:
        numba.set_num_threads(threads)
        index = RadiusIndex(points, ball.weights)
        graph = index.graph(Ball(ball.weights, 60**2))
        answers.append((index.counts(ball, cap=30), graph.starts, graph.neighbours, graph.order))
    numba.set_num_threads(before)
    for one, other in zip(answers[0], answers[-1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_empty_index_and_a_negative_limit_answer_zero():
    empty = RadiusIndex(np.zeros((0, 3), dtype=np.int64), (1, 1, 1))
    assert empty.counts(Ball((1, 1, 1), 5), cap=3, queries=np.zeros((2, 3), dtype=np.int64)).tolist() == [0, 0]
    assert empty.counts(Ball((1, 1, 1), 5), cap=3).size == 0
    assert empty.graph(Ball((1, 1, 1), 5)).starts.tolist() == [0]
    one = RadiusIndex(np.zeros((2, 1), dtype=np.int64), (1,))
    assert one.counts(Ball((1,), -1), cap=3).tolist() == [0, 0]


def test_what_a_double_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="beyond"):
        RadiusIndex(np.array([[MOST + 1]]), (1,))
    with pytest.raises(ValueError, match="columns"):
        RadiusIndex(np.array([[1]]), (1, 1))
