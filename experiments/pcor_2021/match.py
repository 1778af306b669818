"""How often does a changed row change the valid contexts, and what does the promise leave open when it does? (Tables 12 and 13, 6.7)"""

from __future__ import annotations

import numpy as np

from experiments.pcor_2021.neighbours import Counted, counted
from experiments.pcor_2021.study import every_valid

CHANGES = (1, 5, 10, 25)
EPSILON = 0.2


def compared(data, place, detector, least, neighbours):
    """For each number of changed rows and each neighbour: equality, Jaccard, containment; for one row also the loss."""
    dice, rows = np.random.default_rng(place), Counted.of(data)
    own = counted(data.view(place, least), rows)
    valid, population = every_valid(own, detector), own.population
    found = {change: [] for change in CHANGES}
    losses = []
    others = np.setdiff1d(np.arange(len(data.codes)), [place])
    for change in CHANGES:
        for _ in range(neighbours):
            view = counted(own, rows.without(dice.choice(others, size=change, replace=False)))
            there = every_valid(view, detector)
            both, either = (valid & there).sum(), (valid | there).sum()
            found[change].append((float((valid == there).all()), both / max(either, 1), both / max(valid.sum(), 1)))
            if change == 1:
                losses.append(loss(valid, population, there, view.population))
    return found, losses


def law(valid, scores):
    """The exact search's law at exponent 0.2."""
    weights = np.zeros(len(valid))
    if valid.any():
        weights[valid] = np.exp(EPSILON * (scores[valid] - scores[valid].max()))
    return weights / max(weights.sum(), 1e-300)


def loss(valid, scores, there, other_scores):
    """δ at ε = 0.2 (either way), the worst ratio on common contexts as the paper measured it, and whether the true one is infinite."""
    one, other = law(valid, scores), law(there, other_scores)
    missing = abs(
        one.sum() - other.sum()
    )  # one of the tables has no valid context at all: the answer "none" tells them apart
    delta = max(np.maximum(p - np.exp(EPSILON) * q, 0).sum() for p, q in ((one, other), (other, one)))
    common = (one > 0) & (other > 0)
    with np.errstate(divide="ignore"):
        ratio = np.exp(np.abs(np.log(one[common]) - np.log(other[common])).max()) if common.any() else np.nan
    return float(max(delta, missing)), float(ratio), bool((valid != there).any())
