"""A lower bound on the privacy loss from samples alone: the last line of defence.

A bound above the promise refutes it, at the stated confidence. A bound below says that these samples did not refute it: not rejected is
not proven.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """With probability at least `confidence` over the samples, the loss is at least `epsilon`.

    >>> LowerBound(epsilon=0.7, confidence=0.99, event=frozenset({1}), likelier_in_second=False).refutes(Fraction(1, 2))
    True
    """

    epsilon: float
    confidence: float
    event: frozenset[Hashable]
    """The set of answers that tells the two worlds apart best; chosen on samples that the bound does not use."""
    likelier_in_second: bool

    def refutes(self, promised: Fraction | float) -> bool:
        return self.epsilon > float(promised)


def loss_lower_bound(
    first: Sequence[Hashable], second: Sequence[Hashable], *, confidence: float, delta: float = 0.0
) -> LowerBound:
    """From answers drawn on two neighbouring tables; `delta` is what the promise allows besides ε.

    The even-numbered samples choose the event, the others bound its two probabilities by Clopper and Pearson.

    >>> found = loss_lower_bound([1] * 900 + [0] * 100, [1] * 100 + [0] * 900, confidence=0.99)
    >>> found.refutes(1), found.refutes(Fraction(5, 2))
    (True, False)
    """
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1.")
    miss = (1 - confidence) / 2  # one bound from below, one from above
    event, swapped = _best_event(first[::2], second[::2], miss, delta)
    likelier, other = (second[1::2], first[1::2]) if swapped else (first[1::2], second[1::2])
    epsilon = _log_ratio(_hits(likelier, event), _hits(other, event), miss, delta)
    return LowerBound(epsilon=max(0.0, epsilon), confidence=confidence, event=event, likelier_in_second=swapped)


def _best_event(
    first: Sequence[Hashable], second: Sequence[Hashable], miss: float, delta: float
) -> tuple[frozenset[Hashable], bool]:
    """By Neyman and Pearson the best events are those of highest likelihood ratio: try each prefix of that order, both ways."""
    one, two = Counter(first), Counter(second)
    best: tuple[float, frozenset[Hashable], bool] = (-math.inf, frozenset(), False)
    for swapped, ours, theirs in ((False, one, two), (True, two, one)):
        order = sorted(ours, key=lambda answer: ((ours[answer] + 1) / (theirs[answer] + 1), repr(answer)), reverse=True)
        hits = misses = 0
        for place, answer in enumerate(order):
            hits += ours[answer]
            misses += theirs[answer]
            bound = _log_ratio((hits, ours.total()), (misses, theirs.total()), miss, delta)
            if bound > best[0]:
                best = (bound, frozenset(order[: place + 1]), swapped)
    return best[1], best[2]


def _hits(answers: Sequence[Hashable], event: frozenset[Hashable]) -> tuple[int, int]:
    return sum(answer in event for answer in answers), len(answers)


def _log_ratio(likelier: tuple[int, int], other: tuple[int, int], miss: float, delta: float) -> float:
    """From (hits, of how many) in the two worlds."""
    low = lower_limit(*likelier, miss) - delta
    return math.log(low / upper_limit(*other, miss)) if low > 0 else -math.inf


def lower_limit(hits: int, of: int, miss: float) -> float:
    """Clopper and Pearson: the true probability is below this with probability at most `miss`.

    >>> round(lower_limit(50, 100, 0.025), 3)
    0.398
    """
    from scipy.special import betaincinv

    return float(betaincinv(hits, of - hits + 1, miss)) if hits else 0.0


def upper_limit(hits: int, of: int, miss: float) -> float:
    """Clopper and Pearson: the true probability is above this with probability at most `miss`.

    >>> round(upper_limit(50, 100, 0.025), 3)
    0.602
    """
    from scipy.special import betaincinv

    return float(betaincinv(hits + 1, of - hits, 1 - miss)) if hits < of else 1.0
