"""The exact law of a mechanism on neighbouring tables: the worst loss with its witness, and δ as a function of ε."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

Table = TypeVar("Table")
Law = Mapping[Hashable, Fraction | float]

ROUNDING = 1e-9
"""Laws are given as fractions or floats; a loss is a float. Far above their rounding, far below any bug."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The worst that was found, and where.

    >>> Finding(loss=0.6, first=(0,), second=(0, 1), answer="yes").within(Fraction(1, 2))
    False
    """

    loss: float
    """ln of how many times as likely `answer` is on `first` as on `second`; infinite if it is impossible there."""
    first: object
    second: object
    answer: Hashable

    def within(self, epsilon: Fraction | float) -> bool:
        """Whether the promise of `epsilon` survives. True is evidence for the audited tables only."""
        return self.loss <= float(epsilon) + ROUNDING


def exact_audit(
    distribution: Callable[[Table], Law], pairs: Iterable[tuple[Table, Table]], *, logs: bool = False
) -> Finding:
    """The largest log ratio over all answers and all pairs, both ways.

    `distribution` gives the probability of every possible answer, or its natural logarithm with `logs=True`.

    >>> exact_audit(lambda bit: {0: Fraction(3 - bit, 4), 1: Fraction(1 + bit, 4)}, [(0, 1)]).answer
    1
    """
    worst = Finding(loss=-math.inf, first=None, second=None, answer=None)
    for pair in pairs:
        one, other = (_logarithms(distribution(table), logs=logs) for table in pair)
        for first, second, ours, theirs in ((*pair, one, other), (*pair[::-1], other, one)):
            for answer, chance in ours.items():
                loss = chance - theirs.get(answer, -math.inf)
                if loss > worst.loss:
                    worst = Finding(loss=loss, first=first, second=second, answer=answer)
    if worst.loss == -math.inf:
        raise ValueError("there is no pair to audit.")
    return worst


def delta_curve(
    distribution: Callable[[Table], Law],
    pairs: Iterable[tuple[Table, Table]],
    epsilons: Sequence[Fraction | float],
    *,
    logs: bool = False,
) -> list[float]:
    """For each ε the least δ for which (ε, δ)-differential privacy holds on all pairs, both ways.

    >>> told = lambda bit: {0: Fraction(3 - bit, 4), 1: Fraction(1 + bit, 4)}
    >>> [round(delta, 9) for delta in delta_curve(told, [(0, 1)], [0, math.log(2)])]
    [0.25, 0.0]
    """
    worst = [0.0] * len(epsilons)
    for pair in pairs:
        one, other = (_logarithms(distribution(table), logs=logs) for table in pair)
        for ours, theirs in ((one, other), (other, one)):
            for place, epsilon in enumerate(epsilons):
                excess = math.fsum(
                    max(0.0, math.exp(chance) - math.exp(float(epsilon) + theirs.get(answer, -math.inf)))
                    for answer, chance in ours.items()
                )
                worst[place] = max(worst[place], excess)
    return worst


def _logarithms(law: Law, *, logs: bool) -> dict[Hashable, float]:
    """Possible answers only. A law that does not add up to one would make every ratio meaningless, so it is refused."""
    found = (
        {answer: float(chance) for answer, chance in law.items() if chance > -math.inf}
        if logs
        else {answer: _log(chance) for answer, chance in law.items() if chance > 0}
    )
    total = math.fsum(math.exp(chance) for chance in found.values())
    if abs(total - 1) > ROUNDING:
        raise ValueError(f"the probabilities of a law add up to one, these to {total!r}.")
    return found


def _log(chance: Fraction | float) -> float:
    if isinstance(chance, Fraction):  # a quotient of huge integers may be too small for a float, its logarithm is not
        return math.log(chance.numerator) - math.log(chance.denominator)
    return math.log(chance)
