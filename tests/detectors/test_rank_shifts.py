"""How far ranks may shift before a record no longer stands out: a slow twin, no row moves it by more than one, and bugs that do."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.explain.tables import every_valid, population, view
from wallflower.detectors import IQR, MAD
from wallflower.detectors.mad import NORMAL

LOWER, UPPER = -6, 6
DETECTORS = [IQR(), IQR(factor="0.3"), MAD(), MAD(threshold="0.7")]


def value(ascending, place, low=LOWER, high=UPPER):
    """The value `place` of the way along the ranks; beyond the rows, the bound."""

    def held(rank):
        return low if rank < 0 else high if rank >= len(ascending) else ascending[rank]

    rank = place.__floor__()
    return held(rank) + (place - rank) * (held(rank + 1) - held(rank))


def stands_at(detector, ascending, own, shift):
    """By the definition of robust.md, in fractions."""
    last = len(ascending) - 1
    if isinstance(detector, IQR):
        first, third = value(ascending, Fraction(last, 4) - shift), value(ascending, Fraction(3 * last, 4) + shift)
        reach = detector.factor * (third - first)
        return own > third + reach or own < first - reach
    least, most = value(ascending, Fraction(last, 2) - shift), value(ascending, Fraction(last, 2) + shift)
    if least <= own <= most:
        return False
    gap = min(abs(own - least), abs(own - most))
    # Whether some w below gap·0.6745/threshold has enough rows within w of every median from least to most.
    far = sorted(max(abs(y - least), abs(y - most)) for y in ascending)
    needed = len(ascending) // 2 + 1 + shift
    return needed <= len(far) and detector.threshold * far[needed - 1] < NORMAL * gap


def slow_score(detector, ascending, own, least, cap, stands=stands_at):
    shift = 0
    while shift < cap and stands(detector, ascending, own, shift):
        shift += 1
    return min(shift, max(0, len(ascending) - least + 1))


rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(LOWER, UPPER)), min_size=0, max_size=40)


@given(rows, st.integers(LOWER, UPPER), st.sampled_from(DETECTORS), st.sampled_from([1, 4]), st.sampled_from([3, 99]))
@settings(max_examples=150, deadline=None)
def test_all_contexts_at_once_are_the_slow_twin(others, own, detector, least, cap):
    table = [(0, 0, own), *others]
    sight = view(table, (2, 3), least=least, lower=LOWER, upper=UPPER)
    found = np.concatenate([detector.scorer(sight, cap).scores(block) for block in sight.blocks(4)])
    slow = [
        slow_score(detector, population(sight, index).tolist(), own, least, cap) for index in range(sight.space.count)
    ]
    assert found.tolist() == slow
    assert ((found > 0) <= every_valid(sight, detector)).all()
    if isinstance(detector, IQR):
        assert ((found > 0) == every_valid(sight, detector)).all()


def moved(detector, own, stands=stands_at):
    """The most that one row more moves the score, over every table of up to six other rows of a small domain."""
    furthest = 0
    for size in range(7):
        for others in combinations_with_replacement((-6, 0, 2, 6), size):
            before = slow_score(detector, sorted([own, *others]), own, 1, 99, stands)
            for more in (-6, 0, 2, 6):
                after = slow_score(detector, sorted([own, *others, more]), own, 1, 99, stands)
                furthest = max(furthest, abs(after - before))
    return furthest


@pytest.mark.parametrize("own", [6, -6, 2])
@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.text)
def test_no_row_moves_the_score_by_more_than_one(detector, own):
    assert moved(detector, own) <= 1


def without_deviations(detector, ascending, own, shift):
    """A planted bug: the median shifts, the count of rows near it does not."""
    kept = stands_at(detector, ascending, own, 0)
    last = len(ascending) - 1
    least, most = value(ascending, Fraction(last, 2) - shift), value(ascending, Fraction(last, 2) + shift)
    return kept and not least <= own <= most


def one_fence(detector, ascending, own, shift):
    """A planted bug: the far quartile stays where it is."""
    last = len(ascending) - 1
    first, third = value(ascending, Fraction(last, 4)), value(ascending, Fraction(3 * last, 4) + shift)
    return own > third + detector.factor * (third - first)


def test_a_score_that_forgets_a_rank_moves_further():
    assert moved(MAD(threshold="0.7"), 6, without_deviations) > 1
    edge = [-6] * 10 + [0] * 30 + [6]  # the lower quartile is the first of the zeros
    scores = [
        [slow_score(IQR(), table, 6, 1, 99, stands) for table in (edge, [-6, *edge])]
        for stands in (one_fence, stands_at)
    ]
    assert scores == [[10, 0], [1, 0]]


def test_a_record_far_from_all_others_bears_a_quarter_or_half_of_them():
    """What the fences and the median are for: Grubbs' distance is a few per cent of the rows."""
    table = [(0, 0, 1000), *[(0, 0, y % 7) for y in range(399)]]
    sight = view(table, (2, 3), least=1, lower=-1000, upper=1000)
    for detector, expected in ((IQR(), 100), (MAD(), 150)):
        found = np.concatenate([detector.scorer(sight, 400).scores(block) for block in sight.blocks()])
        assert expected * 0.9 < found.max() <= 200
