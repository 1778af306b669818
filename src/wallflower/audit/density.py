"""The worst loss of continuous noise whose place and scale both move between neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LogDensity = Callable[[Floats], Floats]


@dataclass(frozen=True, kw_only=True)
class DensityFinding:
    """The worst log ratio that was found, at `answer`, for noise moved by `shift` and stretched by `scale`.

    >>> DensityFinding(loss=1.2, answer=0.0, shift=1.0, scale=1.0).within(1)
    False
    """

    loss: float
    answer: float
    shift: float
    scale: float

    def within(self, epsilon: float, *, slack: float = 1e-9) -> bool:
        """Whether the promise of `epsilon` survives on the grid. True is evidence, not a proof."""
        return self.loss <= epsilon + slack


def wide_grid(points: int = 4001, *, farthest: float = 1e9) -> Floats:
    """Points of both signs, dense around zero and reaching far into the tails, zero among them.

    >>> grid = wide_grid(5, farthest=100)
    >>> len(grid), float(grid[2]), round(float(grid[4]))
    (5, 0.0, 100)
    """
    spread = np.linspace(-np.arcsinh(farthest * 1e3), np.arcsinh(farthest * 1e3), points | 1)
    return np.asarray(np.sinh(spread) / 1e3, dtype=np.float64)


def density_audit(
    log_density: LogDensity,
    *,
    shifts: Sequence[float],
    scales: Sequence[float],
    grid: Floats | None = None,
) -> DensityFinding:
    """The largest |log ratio| between noise x and noise shift + scale·x over the grid and over all shifts and scales given.

    Give the corners (±largest shift, smallest and largest scale) and some points between. The grid is looked at around both centres.

    >>> laplace = lambda x: -np.abs(x) - np.log(2)
    >>> density_audit(laplace, shifts=[-0.5, 0.5], scales=[1.0]).within(0.5)
    True
    >>> density_audit(laplace, shifts=[0.0], scales=[1.01]).within(0.5)  # a scale that moves has no bound
    False
    """
    points = wide_grid() if grid is None else grid
    worst = DensityFinding(loss=-np.inf, answer=np.nan, shift=np.nan, scale=np.nan)
    for shift, scale in product(shifts, scales):
        answers = np.union1d(points, shift + scale * points)
        with np.errstate(invalid="ignore"):
            ratio = np.abs(log_density(answers) - log_density((answers - shift) / scale) + np.log(scale))
        ratio = np.where(np.isnan(ratio), 0.0, ratio)  # impossible under both: inf − inf
        place = int(np.argmax(ratio))
        if ratio[place] > worst.loss:
            worst = DensityFinding(loss=float(ratio[place]), answer=float(answers[place]), shift=shift, scale=scale)
    return worst


def hockey_stick(
    log_density: LogDensity, *, epsilon: float, shift: float, scale: float = 1.0, points: int = 400_001
) -> float:
    """δ(ε) between noise x and noise shift + scale·x, the larger of both ways, by the trapezoid rule on a stretched axis.

    >>> laplace = lambda x: -np.abs(x) - np.log(2)
    >>> round(hockey_stick(laplace, epsilon=0.0, shift=1.0), 3)  # the total variation: 1 − e^(−1/2)
    0.393
    """
    axis = np.linspace(-25.0, 25.0, points)
    answers = np.sinh(axis)  # reaches ±3.6e10: heavy tails are in
    width = np.cosh(axis) * (axis[1] - axis[0])
    one = log_density(answers)
    other = log_density((answers - shift) / scale) - np.log(scale)
    return max(
        float(np.sum(np.maximum(0.0, np.exp(first) - np.exp(epsilon + second)) * width))
        for first, second in ((one, other), (other, one))
    )
