"""The ends of every setting's range: what lies on them is taken, or refused, as it is told."""

from __future__ import annotations

from fractions import Fraction

import pytest

from wallflower.detectors.dbscan import DBSCAN
from wallflower.detectors.distance import Distance
from wallflower.detectors.grubbs import LEAST_ALPHA, Grubbs
from wallflower.detectors.histogram import Histogram
from wallflower.detectors.iqr import IQR, MOST_FACTOR
from wallflower.detectors.lof import LOF, MOST_NEIGHBOURS, THRESHOLDS
from wallflower.detectors.mad import MAD, MOST_THRESHOLD
from wallflower.errors import DeclarationError

HAIR = Fraction(1, 10**15)
LEAST_LOF, MOST_LOF = THRESHOLDS


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Grubbs, {"alpha": LEAST_ALPHA}),
        (Grubbs, {"alpha": 1 - HAIR}),
        (IQR, {"factor": HAIR}),
        (IQR, {"factor": MOST_FACTOR}),
        (MAD, {"threshold": HAIR}),
        (MAD, {"threshold": MOST_THRESHOLD}),
        (LOF, {"neighbours": 1, "threshold": LEAST_LOF}),
        (LOF, {"neighbours": MOST_NEIGHBOURS, "threshold": MOST_LOF}),
        (Distance, {"p": HAIR, "radius": 0}),
        (Distance, {"p": 1 - HAIR, "radius": 0}),
        (Histogram, {"rare": HAIR}),
        (Histogram, {"rare": 1 - HAIR}),
        (DBSCAN, {"radius": 1e-300, "least": 1}),
    ],
)
def test_the_last_that_is_within_is_taken(kind, settings):
    made = kind(**settings)
    assert {name: getattr(made, name) for name in settings} == settings


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Grubbs, {"alpha": LEAST_ALPHA - HAIR}),
        (Grubbs, {"alpha": 1}),
        (IQR, {"factor": 0}),
        (IQR, {"factor": MOST_FACTOR + HAIR}),
        (MAD, {"threshold": 0}),
        (MAD, {"threshold": MOST_THRESHOLD + HAIR}),
        (LOF, {"neighbours": 0}),
        (LOF, {"neighbours": MOST_NEIGHBOURS + 1}),
        (LOF, {"neighbours": True}),
        (LOF, {"threshold": LEAST_LOF - HAIR}),
        (LOF, {"threshold": MOST_LOF + HAIR}),
        (Distance, {"p": 0, "radius": 0}),
        (Distance, {"p": 1, "radius": 0}),
        (Distance, {"p": HAIR, "radius": -HAIR}),
        (Histogram, {"rare": 0}),
        (Histogram, {"rare": 1}),
        (DBSCAN, {"radius": 0.0, "least": 1}),
        (DBSCAN, {"radius": float("nan"), "least": 1}),
        (DBSCAN, {"radius": 1.0, "least": 0}),
    ],
)
def test_the_first_that_is_beyond_is_refused(kind, settings):
    with pytest.raises(DeclarationError):
        kind(**settings)
