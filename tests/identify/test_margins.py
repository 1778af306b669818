"""Margins against breadth-first search on the graph of pairs (copies, others), and their properties at any size."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.identify.margins import anomalous, cap, capped, every_row, paper, star, threshold
from wallflower.mechanisms.logistic import FadingResponse
from wallflower.schema.models import MOST_ROWS


def search(beta, k, most):
    """Distance on Γ from every (copies, others) with at most `most` of each to the other answer."""
    answer = {(a, b): a >= 1 and a + b <= beta for a in range(most + 1) for b in range(most + 1)}
    near = {place: [] for place in answer}
    for a, b in answer:
        steps = [(a, b + 1)] + ([(a + 1, b)] if a + 1 + b >= beta + 1 - k else [])
        for other in steps:
            if other in answer:
                near[a, b].append(other)
                near[other].append((a, b))
    found = {place: 1 for place in answer if any(answer[place] != answer[other] for other in near[place])}
    queue = deque(found)
    while queue:
        place = queue.popleft()
        for other in near[place]:
            if other not in found:
                found[other] = found[place] + 1
                queue.append(other)
    return found


@pytest.mark.parametrize("beta", range(1, 7))
@pytest.mark.parametrize("k", range(1, 8))
def test_star_is_the_distance_on_the_graph_of_pairs(beta, k):
    found = search(beta, k, 2 * beta + 4)
    for (a, b), distance in found.items():
        assert star(np.array(a), np.array(a + b), beta=beta, k=k) == distance
    assert len(found) == (2 * beta + 5) ** 2


counts = st.integers(0, 60)


@given(a=counts, b=counts, beta=st.integers(1, 50), k=st.integers(1, 60), most=st.integers(2, 80))
def test_a_step_moves_a_margin_by_at_most_one(a, b, beta, k, most):
    here = (np.array(a), np.array(a + b))
    other_row = (np.array(a), np.array(a + b + 1))
    same_value = (np.array(a + 1), np.array(a + b + 1))
    steps = {
        every_row: [other_row, same_value],
        threshold: [other_row, same_value],
        star: [other_row] + ([same_value] if a + 1 + b >= beta + 1 - k else []),
        paper: [other_row] + ([same_value] if a + 1 + b >= beta + 1 - k else []),
    }
    for margin, ends in steps.items():
        included = margin is threshold

        def cut(copies, within, margin=margin):
            copies, within = np.minimum(copies, beta + most), np.minimum(within, beta + most)
            return capped(margin(copies, within, beta=beta, k=k), within, beta=beta, most=most)

        for end in ends:
            for measure in (cut, lambda c, w, margin=margin: margin(c, w, beta=beta, k=k)):
                assert abs(int(measure(*here)) - int(measure(*end))) <= 1
                assert min(measure(*here), measure(*end)) >= 1
                if anomalous(*here, beta=beta, included=included) != anomalous(*end, beta=beta, included=included):
                    assert measure(*here) == measure(*end) == 1
    assert star(*here, beta=beta, k=k) >= paper(*here, beta=beta, k=k) >= every_row(*here, beta=beta) * (k >= beta)


@given(a=counts, b=counts, beta=st.integers(1, 50), k=st.integers(1, 60))
def test_theorem_5_bounds_the_error_of_values_that_are_not_sensitive(a, b, beta, k):
    if a + b >= beta + 1 - k:
        return
    margin = int(paper(np.array(a), np.array(a + b), beta=beta, k=k))
    epsilon = Fraction(1, 3)
    assert FadingResponse(epsilon=epsilon).log_flip(margin) <= -float(epsilon) * abs(beta + 1 - k - a - b) + 1e-12


@given(st.fractions(min_value="1/1000", max_value=100))
def test_the_cap_is_public_and_beyond_what_is_ever_seen(epsilon):
    assert epsilon * (cap(epsilon) - 1) >= 45
    assert cap(epsilon) == 2 or epsilon * (cap(epsilon) - 2) < 45


def test_the_error_of_the_paper_where_one_change_flips_the_answer():
    flip = np.exp(FadingResponse(epsilon=Fraction(1, 10)).log_flip(1))
    assert flip == pytest.approx(0.4750, abs=5e-5)


@st.composite
def universes(draw):
    """Which of 5 to 9 values in the plane are near which, β, k, and tables over them."""
    size, beta = draw(st.integers(5, 9)), draw(st.integers(2, 11))
    places = np.array(draw(st.lists(st.tuples(*[st.integers(0, 11)] * 2), min_size=size, max_size=size)))
    near = ((places[:, None] - places[None]) ** 2).sum(axis=2) <= draw(st.integers(0, 40))
    table = st.lists(st.integers(0, 6), min_size=size, max_size=size).map(np.array)
    return near, beta, draw(st.integers(1, beta + 2)), draw(st.lists(table, min_size=1, max_size=12))


@settings(deadline=None, derandomize=True)
@given(universes())
def test_random_tables_over_larger_universes(universe):
    """Along every protected edge from a random table, margins move by at most one."""
    near, beta, k, found = universe
    size = len(near)
    for table in found:
        for added in range(size):
            more = table + (np.arange(size) == added)
            if max((near @ table)[added], (near @ more)[added]) < beta + 1 - k:
                continue  # not an edge: the row is sensitive in neither table
            for margin in (star, paper):
                one, other = (margin(t, near @ t, beta=beta, k=k) for t in (table, more))
                assert (np.abs(one - other) <= 1).all()
                changed = anomalous(table, near @ table, beta=beta) != anomalous(more, near @ more, beta=beta)
                assert (one[changed] == 1).all()
                assert (other[changed] == 1).all()


LARGE = (1, 2, 2**31, 2**52, MOST_ROWS - 1, MOST_ROWS)


def distance_on_pairs(held, near, beta, k):
    """`star` in Python's own integers."""
    others = near - held
    if not held:
        return 1 + max(0, beta - k - others, others - beta + 1)
    return near - beta if near > beta else min(beta + 1 - near, held + max(0, beta - k - others))


def test_no_margin_leaves_64_bits_at_the_largest_numbers_that_are_declared():
    """One row more moved a margin by forty where k was near 2^63."""
    for beta in LARGE:
        for near in {0, 1, 5, beta - 1, beta, beta + 1, MOST_ROWS - 1, MOST_ROWS}:
            for held in {0, min(1, near), near // 2, near}:
                pair = np.array([held]), np.array([near])
                for k in LARGE:
                    assert star(*pair, beta=beta, k=k)[0] == distance_on_pairs(held, near, beta, k)
                exact = distance_on_pairs(held, near, beta, beta)
                assert every_row(*pair, beta=beta)[0] == exact
                assert threshold(*pair, beta=beta)[0] == (beta - near if near < beta else near - beta + 1)
                assert 1 <= paper(*pair, beta=beta, k=MOST_ROWS)[0] == exact
