"""Pictures of `publish`: no label lies on another."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tests.report.painting import painted
from wallflower.report import publish

DAYS = [f"202{n // 12}-{n % 12 + 1:02}-19" for n in range(40)]


@pytest.mark.parametrize(
    "labels",
    [DAYS, ["1010", "1020", "1030", "2010", "2020", "3010", "3011"], ["a rather long name"] * 7, list("abc"), ["only one"], []],
    ids=["days", "codes", "long names", "letters", "one", "none"],
)  # fmt: skip
def test_labels_stand_apart(labels, monkeypatch):
    ones = np.ones(len(labels))
    column = {"name": "admitted", "labels": labels, "before": ones, "after": ones}
    (axes,) = painted(monkeypatch, publish, {"figures": {"sizes": [], "columns": [column]}})
    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    texts = [text for text in axes.get_xticklabels() if text.get_text()]
    assert len(texts) == len(labels[:: max(1, -(-len(labels) // publish.MOST_LABELS))])
    for left, right in pairwise(texts):
        turned = math.radians(left.get_rotation())
        if not turned:
            assert left.get_window_extent().x1 < right.get_window_extent().x0
            continue
        apart = axes.transData.transform((right.get_position()[0], 0)) - axes.transData.transform(
            (left.get_position()[0], 0)
        )
        height = left.get_fontsize() * axes.figure.dpi / 72
        assert apart[0] * math.sin(turned) > height  # parallel lines, further apart than a letter is high
