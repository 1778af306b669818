"""What a row more, or a row in another's place, moves of a margin is what `full` is priced by."""

from __future__ import annotations

from fractions import Fraction

import pytest

from wallflower.detectors.distance import Distance


@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1, 400)], ids=str)
def test_a_row_moves_a_margin_by_what_the_detector_says(share):
    detector = Distance(p=share, radius=1)
    said = detector.robustness(1)
    added = [detector.margin(11, 4 + near) - detector.margin(10, 4) for near in (0, 1)]
    assert max(map(abs, added)) == said.unit
    assert abs(detector.margin(10, 5) - detector.margin(10, 4)) == said.replaced


def test_with_a_least_population_a_row_may_move_one_score_up_and_another_down():
    monotone = [Distance(p="0.1", radius=1).robustness(least).monotone for least in (0, 1, 2, 3)]
    assert monotone == [True, True, False, False]
