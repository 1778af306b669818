"""A context under ε-differential privacy for every row but the asked-for one, without any condition on the valid contexts.

Every context is a candidate; its score says how far it is from not being valid, and no row moves it by more than a public
bound. So an invalid context may be released, the less likely the further a valid one is from flipping. Proof: robust.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import Detector, Distance, Grubbs
from wallflower.errors import UsageError
from wallflower.explain.asked import Asked
from wallflower.explain.by_distance import DistanceValidity
from wallflower.explain.cube import over_contexts
from wallflower.explain.robust import Flips
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import BUT_ASKED, PureDP
from wallflower.progress import report

BEYOND = 30
"""e^-30 is below anything that matters: scores are capped where more of them could not change the draw by more."""
BLOCK = 2**18


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Release the selected context only if a noisy look says it is valid."""

    epsilon: Fraction
    failure: Fraction
    """The most probable an invalid context may get past it."""
    neighbours: str

    @property
    def distance(self) -> int:
        return 1 if self.neighbours == "add-remove" else 2  # a replaced row is one removed and one added

    @property
    def noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(scale=self.distance / self.epsilon)

    @property
    def threshold(self) -> int:
        """The least t with P(noise > t) ≤ failure: q^(t+1)/(1+q) with q = e^(−1/scale)."""
        scale = float(self.noise.scale)
        q = math.exp(-1 / scale)
        t = scale * (-math.log(float(self.failure)) - math.log1p(q)) - 1
        return max(0, math.ceil(t * (1 + 1e-9) + 1e-9))

    def passes(self, distance: int, entropy: Entropy) -> bool:
        return self.noise(distance, entropy) > self.threshold


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Selection by robustness, and the optional certificate."""

    detector: Grubbs | Distance
    least: int
    epsilon: Fraction
    """For the selection alone."""
    neighbours: str
    contexts_log2: int
    max_rows: int
    """Declared; no distance is larger, so no score need be."""
    certificate: Certificate | None

    @property
    def unit(self) -> int:
        """How far one added or removed row moves a score."""
        if isinstance(self.detector, Grubbs):
            return 1
        share = self.detector.share
        return max(share.numerator, share.denominator - share.numerator)

    @property
    def distance(self) -> int:
        """How far one neighbouring change moves a score."""
        if self.neighbours == "add-remove":
            return self.unit
        return 2 if isinstance(self.detector, Grubbs) else self.detector.share.denominator

    @property
    def monotone(self) -> bool:
        """A row is near the record or it is not, whatever the context: it moves all margins the same way."""
        return isinstance(self.detector, Distance) and self.least <= 1

    @property
    def selection(self) -> Exponential:
        unit = Exponential(exponent=Fraction(1), monotone=self.monotone)
        loss = unit.guarantee(distance=self.distance, neighbours=self.neighbours).epsilon
        return Exponential(exponent=self.epsilon / loss, monotone=self.monotone)

    def guarantee(self) -> PureDP:
        total = self.selection.guarantee(distance=self.distance, neighbours=self.neighbours).epsilon
        if self.certificate is not None:
            noise = self.certificate.noise
            total += noise.guarantee(distance=self.certificate.distance, neighbours=self.neighbours).epsilon
        return PureDP(epsilon=total, neighbours=self.neighbours, protects=BUT_ASKED)

    @property
    def needed(self) -> int:
        """With a context this many rows from flipping, an invalid one is selected once in twenty times at most."""
        return math.ceil(
            (self.contexts_log2 * math.log(2) + math.log(20)) / (float(self.selection.exponent) * self.unit)
        )

    @property
    def cap(self) -> int:
        most = (self.contexts_log2 * math.log(2) + BEYOND) / float(self.selection.exponent)
        if self.certificate is not None:
            most = max(most, self.certificate.threshold + BEYOND * float(self.certificate.noise.scale))
        return min(math.ceil(most), self.max_rows)

    def scores(self, asked: Asked) -> NDArray[np.int64]:
        """One score per context, from the clipped state alone: there is no other test of validity."""
        if isinstance(self.detector, Distance):
            margins = DistanceValidity(asked, self.detector).margins()
            if self.least <= 1:
                return margins
            return np.minimum(margins, self.unit * (asked.population - self.least + 1))
        bounds = asked.rows.declaration.column(asked.metric).numeric
        flips = Flips(
            detector=self.detector,
            low=asked.centre - bounds.first,
            high=bounds.last - asked.centre,
            least=self.least,
            cap=self.cap,
        )
        if asked.totals is None:
            return np.array([flips.distance(*asked.state(index)) for index in range(asked.space.count)], dtype=np.int64)
        totals = over_contexts(asked.totals, asked.space.own)
        squares = over_contexts(asked.cells.squares.astype(np.float64), asked.space.own)
        found = np.empty(len(totals), dtype=np.int64)
        for begin in range(0, len(totals), BLOCK):
            here = slice(begin, begin + BLOCK)
            exactly = partial(_state, asked, begin)
            found[here] = flips.distances(asked.population[here], totals[here], squares[here], exactly)
            report("contexts", min(begin + BLOCK, len(totals)), len(totals))
        return found

    def run(self, asked: Asked, entropy: Entropy) -> int | None:
        scores = self.scores(asked)
        index = self.selection(scores, entropy)
        # Rounding down to whole rows keeps "no row moves it by more than one" and "above 0 only when valid".
        if self.certificate is not None and not self.certificate.passes(int(scores[index]) // self.unit, entropy):
            return None
        return index


def _state(asked: Asked, begin: int, place: int) -> tuple[int, int, int]:
    return asked.state(begin + place)


def supported(detector: Detector) -> Grubbs | Distance:
    """The detectors that have a score no row moves far; others are refused with the reason."""
    if isinstance(detector, Grubbs) and detector.argmax:
        raise UsageError(
            "guarantee 'full' cannot use grubbs with argmax: one added row can end that at once, however robust the test is.",
            hint="Leave argmax out, or ask for guarantee 'output-constrained'.",
        )
    if not isinstance(detector, Grubbs | Distance):
        raise UsageError(
            "guarantee 'full' needs a detector whose distance to flipping is known: grubbs or distance.",
            hint="Choose one of them, or ask for guarantee 'output-constrained'.",
        )
    return detector
