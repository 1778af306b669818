"""How many rows must change before the record no longer stands out? A score that no row moves by more than one.

The state of a context is (N, S, Q): its rows, Σz and Σz², with z = y − v in [−low, high] because values are clipped to declared bounds.
A move adds any z of that range to the state, or takes any away, there or not. The distance is the least number of moves to a state in which
Grubbs' test does not flag v or the population is below the least. Proof and formulas: ../explain/robust.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import Batch, Contexts
from wallflower.detectors.critical_values import LEAST, SCALE_BITS

UNIT = 1 << SCALE_BITS


class Critical(Protocol):
    """A test by critical values: Grubbs'."""

    def critical(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """κ of each size, in units of 2^-SCALE_BITS; never decreasing, and above 1."""
        ...


@dataclass(frozen=True, kw_only=True)
class Flips:
    """Distance to flipping for Grubbs' test with these public constants."""

    detector: Critical
    low: int
    """v minus the lower bound, in steps."""
    high: int
    """The upper bound minus v, in steps."""
    least: int
    """Public least population; it is part of the flip condition and tested nowhere else."""
    cap: int
    """Distances beyond this count as this."""

    @property
    def floor(self) -> int:
        return max(LEAST, self.least)

    def distance(self, size: int, total: int, squares: int) -> int:
        """The distance of one state, in whole numbers."""
        known, enough = -1, min(self.cap, max(size - self.floor + 1, 0))  # removals down to too few values suffice
        while enough - known > 1:
            middle = (known + enough) // 2
            if self.within(middle, size, total, squares):
                enough = middle
            else:
                known = middle
        return enough

    def within(self, moves: int, size: int, total: int, squares: int) -> bool:
        """Whether so many moves can reach a state that is not an outlier's."""
        return any(self._adding(moves - removed, removed, size, total, squares) for removed in range(moves + 1))

    def _adding(self, a: int, b: int, size: int, total: int, squares: int) -> bool:
        """Whether `a` additions and `b` removals can: additions at the ends of the range, removals all equal."""
        if size + a - b < self.floor:
            return True
        low, high = self.low, self.high
        K = int(self.detector.critical(np.array([size + a - b]))[0])
        best = ((K + b * UNIT) * (high - low) - 2 * UNIT * (total - a * low)) // (2 * UNIT * (high + low))
        for j in {min(max(best, 0), a), min(max(best + 1, 0), a)}:
            t = total + j * high - (a - j) * low
            q = squares + j * high**2 + (a - j) * low**2
            if self._removing(b, K, t, q):
                return True
        return False

    def _removing(self, b: int, K: int, t: int, q: int) -> bool:
        """Whether taking away b values of equal size w/b can make (t − w)² ≤ κ·(q − w²/b), all times 2^20."""
        reach = K + b * UNIT
        if t * UNIT > reach * self.high:  # the best w is beyond b·high
            return (t - b * self.high) ** 2 * UNIT + K * b * self.high**2 <= K * q
        if t * UNIT < -reach * self.low:
            return (t + b * self.low) ** 2 * UNIT + K * b * self.low**2 <= K * q
        return t * t * UNIT <= reach * q

    def reached(self, sizes: NDArray[np.int64]) -> int:
        """A size that no moves which are tried lead beyond."""
        # As many as there are values suffice, and so at most twice as many are tried: a table of all that the cap allows, which
        # grows with max_rows and 1/ε, could outgrow memory after the charge.
        most = int(sizes.max(initial=0))
        return most + min(self.cap, 2 * most + 1) + 1

    def table(self, top: int) -> NDArray[np.float64]:
        """κ of every size up to `top`, in doubles."""
        kappa = np.zeros(top + 1)
        kappa[LEAST:] = self.detector.critical(np.arange(LEAST, top + 1)) * 2.0**-SCALE_BITS
        return kappa

    def distances(
        self,
        sizes: NDArray[np.int64],
        totals: NDArray[np.int64],
        squares: NDArray[np.float64],
        exactly: Callable[[int], tuple[int, int, int]],
        kappa: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]:
        """The distance of many states: compiled doubles, and whole numbers wherever those are too close to tell.

        `squares` may be rounded; `exactly` gives the state at a place in whole numbers; `kappa` is a table made before.
        """
        from wallflower.detectors.flips_kernels import flips

        if kappa is None:
            kappa = self.table(self.reached(sizes))
        found = np.empty(len(sizes), dtype=np.int64)
        flips(sizes, totals, squares, self.low, self.high, self.floor, self.cap, kappa, found)
        for here in np.flatnonzero(found < 0):
            found[here] = self.distance(*exactly(int(here)))
        return found


class FlipScorer:
    """The distance of every context of a batch."""

    def __init__(self, flips: Flips, contexts: Contexts) -> None:
        self.flips, self.contexts = flips, contexts
        self._kappa = np.zeros(0)

    def scores(self, batch: Batch) -> NDArray[np.int64]:
        if self.contexts.totals is None:
            states = (batch.state(place) for place in range(len(batch.population)))
            return np.array([self.flips.distance(*state) for state in states], dtype=np.int64)
        totals, squares = batch.over(self.contexts.totals), batch.over(self.contexts.squares)
        return self.flips.distances(batch.population, totals, squares, batch.state, self._table(batch.population))

    def _table(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The critical values that these sizes need; kept, for the next batch needs nearly the same."""
        kappa, top = self._kappa, self.flips.reached(sizes)
        if top >= len(kappa):
            kappa = self.flips.table(top)
            self._kappa = kappa  # whole when others see it: batches are scored by several threads
        return kappa
