"""A context of exactly the least population counts, and of one row less does not: for a decision and for a distance to flipping."""

from __future__ import annotations

import numpy as np
import pytest

from tests.explain.tables import every_valid, slow_validity, view
from wallflower.detectors import detector

ROWS = [(0, 0, 0, 900), *[(0, 0, 0, at % 3) for at in range(29)]]


@pytest.mark.parametrize("text", ["grubbs", "iqr", "mad", "distance(p=0.2, radius=5)", "histogram(rare=0.06, width=5)"])
@pytest.mark.parametrize("least", [30, 31])
def test_the_last_context_that_is_populous_enough(text, least):
    one = detector(text)
    sight = view(ROWS, (2, 2, 2), least=least)
    found = every_valid(sight, one)
    assert found.any() == (least == 30)
    assert (found == slow_validity(sight, one)).all()
    scorer = one.scorer(sight, 100)
    scores = np.concatenate([scorer.scores(block) for block in sight.blocks(8)])
    assert ((scores > 0) == found).all()
