"""How well draws fit a law: chi-squared with pooled tails, and two samples against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

SAMPLES = 20_000
ACCEPT = 1e-6
REJECT = 1e-12
_LEAST_EXPECTED = 10


def fit(draws: Iterable[Hashable], law: Mapping[Hashable, float]) -> float:
    """The p-value of the draws under a law; outcomes that the law does not list share what is left of its probability."""
    from scipy.stats import chi2

    seen = Counter(draws)
    total = sum(seen.values())
    cells = [(seen[outcome], total * chance) for outcome, chance in law.items()]
    cells.append((total - sum(count for count, _ in cells), max(0.0, total - sum(expected for _, expected in cells))))
    small = [cell for cell in cells if cell[1] < _LEAST_EXPECTED]
    large = [cell for cell in cells if cell[1] >= _LEAST_EXPECTED]
    pooled = (sum(count for count, _ in small), sum(expected for _, expected in small))
    if pooled[1] < 1e-6 * total:
        if pooled[0] > max(5, 100 * pooled[1]):
            return 0.0  # things were drawn that cannot be
    else:
        large.append(pooled)
    statistic = sum((count - expected) ** 2 / expected for count, expected in large)
    return float(chi2.sf(statistic, max(1, len(large) - 1)))


def agreement(first: Iterable[Hashable], second: Iterable[Hashable]) -> float:
    """The p-value of two samples being from one law."""
    from scipy.stats import chi2_contingency

    one, two = Counter(first), Counter(second)
    columns = [(one[key], two[key]) for key in one | two]
    large = [pair for pair in columns if sum(pair) >= 2 * _LEAST_EXPECTED]
    rest = [pair for pair in columns if sum(pair) < 2 * _LEAST_EXPECTED]
    if rest:
        large.append((sum(pair[0] for pair in rest), sum(pair[1] for pair in rest)))
    return float(chi2_contingency(list(zip(*large, strict=True))).pvalue)
