"""DBSCAN's noise points (Ester et al. 1996), by the fastest implementation that is right at each dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.registry import register
from wallflower.errors import DeclarationError, UsageError

MOST_CELLS = 2**26
"""The `dbscan` package numbers the cells of a grid in 32 bits and flags the wrong rows when these run out."""


@register("dbscan")
@dataclass(frozen=True, kw_only=True)
class DBSCAN(Written):
    """Flag a row that is neither dense nor within `radius` of a dense one; dense is `least` rows within it, itself included.

    Which rows are flagged does not depend on their order (cluster labels would).

    >>> DBSCAN(radius=1.0, least=2).score(np.array([[0.0], [0.5], [9.0]]))
    array([0., 0., 1.])
    """

    radius: float
    least: int

    def __post_init__(self) -> None:
        if not self.radius > 0:
            raise DeclarationError.of(self, "radius", "above 0", self.radius)
        if self.least < 1:
            raise DeclarationError.of(self, "least", "at least 1", self.least)

    def score(self, rows: NDArray[np.float64], /) -> NDArray[np.float64]:
        if len(rows) == 0:
            return np.zeros(0)
        columns = rows.shape[1]
        if columns == 1:
            flagged = _line(rows[:, 0], self.radius, self.least)
        elif columns == 2 and float(np.ptp(rows, axis=0).max()) < MOST_CELLS * self.radius:
            flagged = _plane(rows, self.radius, self.least)
        else:
            flagged = _any(rows, self.radius, self.least)
        return np.asarray(flagged, dtype=np.float64)


def _line(values: NDArray[np.float64], radius: float, least: int) -> NDArray[np.bool_]:
    """In one column the rows within the radius are a run of the sorted values."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    reach_low = np.searchsorted(ordered, ordered - radius, side="left")
    reach_high = np.searchsorted(ordered, ordered + radius, side="right")
    dense = reach_high - reach_low >= least
    before = np.concatenate([[0], np.cumsum(dense)])
    flagged = np.empty(len(values), dtype=np.bool_)
    flagged[order] = before[reach_high] == before[reach_low]
    return flagged


def _plane(rows: NDArray[np.float64], radius: float, least: int) -> NDArray[np.bool_]:
    try:
        from dbscan import DBSCAN as parallel_dbscan  # noqa: N811 - the package's own name
    except ImportError:
        return _any(rows, radius, least)
    labels, _ = parallel_dbscan(np.ascontiguousarray(rows), eps=radius, min_samples=least)
    return np.asarray(labels) < 0


def _any(rows: NDArray[np.float64], radius: float, least: int) -> NDArray[np.bool_]:
    """The `dbscan` package misses dense rows from three columns up, on ties at the radius; scikit-learn's trees do not."""
    try:
        from sklearn.cluster import DBSCAN as sklearn_dbscan  # noqa: N811 - the package's own name
    except ImportError:
        raise UsageError(
            "DBSCAN needs packages that are not installed.", hint="Run: pip install 'wallflower[stream]'"
        ) from None
    labels = sklearn_dbscan(eps=radius, min_samples=least).fit_predict(rows)
    return np.asarray(labels) < 0
