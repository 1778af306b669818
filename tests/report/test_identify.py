"""Pictures of `identify`: one column, two columns, categories, infinite losses, no rows."""

from __future__ import annotations

import numpy as np
import pytest

from wallflower.report.identify import pictures


def seen(many, *, texts=(), losses=None):
    ramp = np.linspace(0, 1, many)
    return {
        "figures": {
            "epsilon": 0.5,
            "map": {
                "x": {"name": "city", "at": np.arange(many) % 3, "texts": list(texts)},
                "y": {"name": "rows within the radius", "at": np.arange(many), "texts": []},
                "accuracy": ramp,
                "effective_epsilon": ramp if losses is None else losses,
                "near": np.arange(many),
            },
        }
    }


@pytest.mark.parametrize("many", [0, 1, 50])
@pytest.mark.parametrize("texts", [(), ("A", "B", "C")])
def test_three_pictures_each_with_words(many, texts):
    drawn = pictures(seen(many, texts=texts))
    assert len(drawn) == 3
    assert all(picture.alt and picture.caption and picture.svg.startswith("<svg") for picture in drawn)
    assert ("B" in drawn[0].svg) >= bool(texts)


def test_rows_without_any_protection_can_be_drawn():
    losses = np.array([0.1, np.inf, 3.0])
    assert len(pictures(seen(3, losses=losses))) == 3
