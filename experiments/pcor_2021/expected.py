"""What a selection is expected to give, from how many candidates have each score: no draw, so two selections can be told apart that differ by less than their noise."""

from __future__ import annotations

import numpy as np

NEGLIGIBLE = 60.0
"""Candidates whose weight is below e to minus this, beside that of the best, are left out."""
PANELS, NODES = 32, 14
"""Of the integral over (0, 1], each panel half as long as the next: it falls off within 1/(sum of weights) of 0."""


def shortfalls(scores, exponent):
    """Expected distance to the best score: of the exponential mechanism, of permute-and-flip."""
    values, counts = np.unique(np.asarray(scores), return_counts=True)
    gaps = (values[-1] - values).astype(float)
    near = exponent * gaps < NEGLIGIBLE
    gaps, counts = gaps[near], counts[near]
    weights = np.exp(-exponent * gaps)
    exponential = counts * weights / (counts @ weights)
    return float(exponential @ gaps), float(flipped(counts, weights) @ gaps)


def flipped(counts, weights):
    """The probability that permute-and-flip returns a candidate of each score.

    Give every candidate a uniform time in (0, 1]; the one returned is the first whose coin comes up. At time t none before has come up with
    probability Π (1 − t·w) over the others.
    """
    inner, share = np.polynomial.legendre.leggauss(NODES)
    edges = np.concatenate([[0.0], 0.5 ** np.arange(PANELS, -1, -1)])
    half = np.diff(edges)[:, None] / 2
    times = ((edges[:-1, None] + half) + half * inner).ravel()
    of_one = np.log1p(-times[:, None] * weights)
    law = counts * weights * ((half * share).ravel() @ np.exp((of_one @ counts)[:, None] - of_one))
    if abs(law.sum() - 1) > 1e-9:
        raise ArithmeticError(f"the law adds up to {law.sum()}")
    return law
