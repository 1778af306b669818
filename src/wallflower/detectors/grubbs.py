"""Grubbs' test for one value: is it further from the mean than chance allows in a normal sample?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.contexts import Batch, Contexts, Decider, Flags, Robustness, Scorer
from wallflower.detectors.critical_values import LEAST, SCALE_BITS, critical_values, tables
from wallflower.detectors.device import LIMBS, DeviceView, ends
from wallflower.detectors.flips import Flips, FlipScorer
from wallflower.detectors.registry import register
from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.exact import brief
from wallflower.schema.fields import Exact

LEAST_ALPHA = Fraction(1, 10**12)
"""Far below any level in use, and far above the levels at which quantiles in doubles break down (near 1e-160)."""
CLOSE = 1e-12
"""Relative distance within which a comparison of doubles is repeated in whole numbers."""


@register("grubbs")
@dataclass(frozen=True, kw_only=True)
class Grubbs(Written):
    """Two-sided Grubbs test of the asked-for value, at level `alpha`.

    With z = y − v over all values y (v itself gives 0), N their number, S = Σz and Q = Σz², v stands out exactly when
    N ≥ 3 and S² > κ(N)·Q, where κ(N) = N(N−1)t²/(N−2+Nt²) and t is the upper α/(2N) quantile of Student's t with N−2
    degrees of freedom: the usual |v − mean|/s against its critical value, without a root or a cancellation. κ is rounded to multiples
    of 2^-20, and beyond 4,096 values interpolated (relative error below 2e-7 in all): that table *is* the detector's definition.

    >>> Grubbs().stands_out(np.array([1, 2, 2, 3, 3, 3, 4, 4, 5, 60]), 60, step=Fraction(1))
    True
    """

    kernel: ClassVar[str] = "grubbs"
    per_side: ClassVar[int] = 0  # sums decide; no value is asked for

    alpha: Exact = Exact("0.05")
    """Level of the test; the customary 0.05."""
    argmax: bool = False
    """Whether the value must also be (one of) the furthest from the mean."""

    def __post_init__(self) -> None:
        if not LEAST_ALPHA <= self.alpha < 1:
            raise DeclarationError.of(self, "alpha", "from 1e-12 to below 1", brief(self.alpha))

    def critical(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """κ of each size (at least 3), in units of 2^-20. Never decreasing, and above 1."""
        return critical_values(self.alpha, np.asarray(sizes, dtype=np.int64))

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        shifted = [int(y) - value for y in values]
        size, total, squares = len(shifted), sum(shifted), sum(z * z for z in shifted)
        if not self.exceeds(size, total, squares):
            return False
        return not self.argmax or self.furthest(size, total, min(shifted), max(shifted))

    def exceeds(self, size: int, total: int, squares: int) -> bool:
        """Whether a value stands out among `size` values with these sums of z and z²; exact."""
        if size < LEAST:
            return False
        return total * total << SCALE_BITS > int(self.critical(np.array([size]))[0]) * squares

    @staticmethod
    def furthest(size: int, total: int, least: int, most: int) -> bool:
        """Whether 0 is (one of) the furthest from the mean total/size among values from `least` to `most`."""
        return max(abs(size * least - total), abs(size * most - total)) <= abs(total)

    def decider(self, contexts: Contexts) -> Decider:
        return _GrubbsDecider(self, contexts)

    def device_view(self, contexts: Contexts, squares: NDArray[Any]) -> DeviceView | None:
        if contexts.totals is None:
            return None
        held = int(np.count_nonzero(contexts.counts))
        bits = 62 - max(held - 1, 0).bit_length()  # sums of limbs over all cells stay below 2^62
        if sum(squares.ravel()) >> (LIMBS * bits) or sum(squares.ravel()) >> 127:
            return None
        mask = (1 << bits) - 1
        limbs = [np.array([square >> (limb * bits) & mask for square in squares.ravel()]) for limb in range(LIMBS)]
        return DeviceView(
            stats=(contexts.totals, *limbs, *ends(contexts)),
            tables=tables(self.alpha, int(contexts.counts.sum())),
            settings=(bits, int(self.argmax)),
        )

    def robustness(self, least: int) -> Robustness:
        if self.argmax:
            raise UsageError(
                "guarantee 'full' cannot use grubbs with argmax: one added row can end that at once, however robust the test is.",
                hint="Leave argmax out, or ask for guarantee 'output-constrained'.",
            )
        return Robustness(unit=1, replaced=2, monotone=False)

    def scorer(self, contexts: Contexts, cap: int) -> Scorer:
        low, high = contexts.reach
        return FlipScorer(Flips(detector=self, low=low, high=high, least=contexts.least, cap=cap), contexts)


class _GrubbsDecider:
    """From N, Σz and Σz² of each context. Doubles decide all but the close calls, which are repeated in whole numbers."""

    def __init__(self, detector: Grubbs, contexts: Contexts) -> None:
        self.detector, self.contexts = detector, contexts
        self._kappa = np.zeros(0)

    def valid(self, batch: Batch) -> Flags:
        if self.contexts.totals is None:
            return self._exactly(batch, np.arange(len(batch.population)), np.zeros(len(batch.population), np.bool_))
        sizes, totals = batch.population, batch.over(self.contexts.totals)
        squares = batch.over(self.contexts.squares)
        populous = sizes >= max(LEAST, self.contexts.least)
        limit = self._critical(sizes)
        limit *= squares
        reached = totals.astype(np.float64)
        reached *= reached
        valid = (reached > limit) & populous
        close = (np.abs(reached - limit) <= CLOSE * limit) & populous & (squares > 0)
        if self.detector.argmax:
            lowest = batch.over(self.contexts.lowest, np.minimum)
            highest = batch.over(self.contexts.highest, np.maximum)
            # 0 is furthest from a positive mean S/N when nothing is below 0 and N·most ≤ 2S; mirrored for a negative one.
            reach = np.where(totals > 0, highest, -lowest).astype(np.float64) * sizes
            one_sided = np.where(totals > 0, lowest >= 0, highest <= 0)
            bound = 2.0 * np.abs(totals)
            close |= (valid & one_sided) & (np.abs(reach - bound) <= CLOSE * bound)
            valid &= one_sided & (reach <= bound)
        return self._exactly(batch, np.flatnonzero(close), valid)

    def _critical(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """κ of each size in doubles."""
        top = int(sizes.max(initial=LEAST))
        if top >= 2**22:
            return np.asarray(self.detector.critical(np.maximum(sizes, LEAST)) * 2.0**-SCALE_BITS)
        kappa = self._kappa
        if top >= len(kappa):
            kappa = np.zeros(top + top // 8 + 1)
            kappa[LEAST:] = self.detector.critical(np.arange(LEAST, len(kappa))) * 2.0**-SCALE_BITS
            self._kappa = kappa  # whole when others see it: blocks are decided by several threads
        return kappa[sizes]

    def _exactly(self, batch: Batch, places: NDArray[np.intp], valid: Flags) -> Flags:
        """Decide these places anew, in whole numbers."""
        if not len(places):
            return valid
        lowest = highest = None
        if self.detector.argmax:
            lowest = batch.over(self.contexts.lowest, np.minimum)
            highest = batch.over(self.contexts.highest, np.maximum)
        for place in places.tolist():
            size, total, squares = batch.state(place)
            valid[place] = size >= self.contexts.least and self.detector.exceeds(size, total, squares)
            if valid[place] and lowest is not None and highest is not None:
                valid[place] = self.detector.furthest(size, total, int(lowest[place]), int(highest[place]))
        return valid
