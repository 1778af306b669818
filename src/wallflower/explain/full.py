"""A context under ε-differential privacy for every row but the asked-for one, without any condition on the valid contexts.

Every context is a candidate; its score says how far it is from not being valid, and no row moves it by more than a public
bound. So an invalid context may be released, the less likely the further a valid one is from flipping. Proof: robust.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Detector, spelled
from wallflower.detectors.contexts import Batch, Robust, Robustness, Scorer
from wallflower.detectors.registry import kinds
from wallflower.errors import UsageError
from wallflower.explain import streaming
from wallflower.explain.record_view import RecordView
from wallflower.explain.selection import Selection, bought
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import Entropy
from wallflower.privacy.accountants import total
from wallflower.privacy.guarantees import BUT_ASKED, PureDP
from wallflower.progress import report

BEYOND = 30
"""e^-30 is below anything that matters: scores are capped where more of them could not change the draw by more."""
BLOCK = 2**18
"""Contexts scored together."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Release the selected context only if a noisy look says it is valid."""

    epsilon: Fraction
    failure: Fraction
    """The most probable an invalid context may get past it."""
    neighbours: str
    rows: int = 1
    """At most so many rows come or go together: of a person, where the promise is about people."""

    @property
    def distance(self) -> int:
        return self.rows if self.neighbours == "add-remove" else 2  # a replaced row is one removed and one added

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

    detector: Robust
    least: int
    epsilon: Fraction
    """For the selection alone."""
    neighbours: str
    contexts_log2: int
    max_rows: int
    """Declared; no distance is larger, so no score need be."""
    certificate: Certificate | None
    larger: int | None = None
    """Prefer large contexts: one counts min(its rows, so many times the rows that must change)."""
    top: int = 1
    """Contexts to release, one after the other without replacement."""
    streamed: bool = False
    """Whether there may be more contexts than are held in memory."""
    concentrated: bool = False
    """Whether the budget is counted in zCDP, where selections of bounded range cost less."""
    rows: int | None = None
    """At most so many rows of a person come or go together, and the promise is about a person; None: it is about a row."""

    @property
    def robustness(self) -> Robustness:
        if self.larger is None:
            return self.detector.robustness(self.least)
        return Robustness(unit=self.larger, replaced=2 * self.larger, monotone=False)

    @property
    def unit(self) -> int:
        """How far one added or removed row moves a score."""
        return self.robustness.unit

    @property
    def distance(self) -> int:
        """How far one neighbouring change moves a score."""
        return (self.rows or 1) * self.unit if self.neighbours == "add-remove" else self.robustness.replaced

    @property
    def selection(self) -> Selection:
        return bought(
            self.epsilon / self.top,
            distance=self.distance,
            monotone=self.robustness.monotone,
            neighbours=self.neighbours,
            better=self.top == 1 and not self.streamed and not self.concentrated,
        )

    def guarantee(self) -> PureDP:
        once = self.selection.guarantee(distance=self.distance, neighbours=self.neighbours, protects=BUT_ASKED)
        parts = [once] * self.top
        if self.certificate is not None:
            noise, distance = self.certificate.noise, self.certificate.distance
            parts.append(noise.guarantee(distance=distance, neighbours=self.neighbours, protects=BUT_ASKED))
        promise = total(parts)
        return promise if self.rows is None else promise.about("person")

    @property
    def needed(self) -> int:
        """With a context this many rows from flipping, an invalid one is selected once in twenty times at most."""
        return math.ceil(
            (self.contexts_log2 * math.log(2) + math.log(20)) / (float(self.selection.exponent) * self.unit)
        )

    @property
    def cap(self) -> int:
        """Scores beyond this count as this, below its negative as that: public, so that what one row moves stays the same."""
        if self.larger is not None:
            return self.max_rows
        most = (self.contexts_log2 * math.log(2) + BEYOND) / float(self.selection.exponent)
        return min(max(math.ceil(most), self._certified * self.unit), self.max_rows * self.unit)

    @property
    def rows_cap(self) -> int:
        """The same for the detector's own scores."""
        if self.larger is None:
            return self.cap
        most = max(-(-self.max_rows // self.larger), self._certified)
        return min(most, self.max_rows) * self.detector.robustness(self.least).unit

    @property
    def _certified(self) -> int:
        """Rows beyond which the certificate passes for certain."""
        if self.certificate is None:
            return 0
        return math.ceil(self.certificate.threshold + BEYOND * float(self.certificate.noise.scale))

    def scorer(self, view: RecordView) -> Scorer:
        """One score per context, from the clipped state alone: there is no other test of validity."""
        return _Scores(self, view)

    def scores(self, view: RecordView) -> NDArray[np.int64]:
        scorer, found = self.scorer(view), np.empty(view.space.count, dtype=np.int64)
        for block in view.blocks(BLOCK):
            end = block.begin + block.size
            found[block.begin : end] = scorer.scores(block)
            report("contexts", end, view.space.count)
        return found

    def run(self, view: RecordView, entropy: Entropy) -> list[int]:
        """The indices of the released contexts; none where the certificate refuses."""
        selection, scorer = self.selection, _Scores(self, view)
        if isinstance(selection, Exponential):
            found = streaming.select(
                view, scores=scorer.scores, candidates=None, selection=selection, h=self.top, entropy=entropy
            )
        else:
            found = [selection(self.scores(view), entropy)]
        if self.certificate is not None:
            rows = int(scorer.changes(view.few(np.array(found[:1])))[0])
            return found if self.certificate.passes(rows, entropy) else []
        return found


class _Scores:
    """A detector's scores, clipped to public bounds, large contexts preferred where the plan says so."""

    def __init__(self, plan: Plan, view: RecordView) -> None:
        self._plan, self._scorer = plan, plan.detector.scorer(view, plan.rows_cap)
        self._unit = plan.detector.robustness(plan.least).unit

    def scores(self, batch: Batch) -> NDArray[np.int64]:
        found = self._scorer.scores(batch)
        if self._plan.larger is not None:
            found = np.minimum(self._plan.larger * self._whole(found), batch.population)
        return np.clip(found, -self._plan.cap, self._plan.cap)

    def changes(self, batch: Batch) -> NDArray[np.int64]:
        """Rows that must change before each context is no longer valid: what the certificate looks at."""
        return self._whole(self._scorer.scores(batch))

    def _whole(self, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        # Rounding down to whole rows keeps "no row moves it by more than one" and "above 0 only when valid".
        return np.clip(scores, -self._plan.rows_cap, self._plan.rows_cap) // self._unit


def supported(detector: Detector, least: int) -> Robust:
    """The detectors that have a score no row moves far; others are refused with the reason."""
    if not isinstance(detector, Robust):
        known = ", ".join(sorted(kinds("robustness")))
        raise UsageError(
            f"guarantee 'full' cannot use {spelled(detector)}: one row may change all of its answers at once.",
            hint=f"Choose a detector whose distance to flipping is known ({known}), or ask for guarantee 'output-constrained'.",
        )
    detector.robustness(least)
    return detector
