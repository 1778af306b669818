"""What the owner may see of one question: how many contexts were valid, which was best, and how the record looks in it. NOT PRIVATE."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.asked import Asked
from wallflower.explain.landscape import Landscape

BARS = 60


def seen(
    asked: Asked, landscape: Landscape, exponent: Fraction | None, *, robust: NDArray[np.int64] | None = None
) -> dict[str, Any]:
    """Facts, a table of the best contexts, and the distribution of the best one. `robust` holds the scores of `full`."""
    valid, population = landscape.every_valid, asked.population
    facts: dict[str, Any] = {"contexts": asked.space.count, "valid contexts": len(valid)}
    scores = landscape.every_score if robust is None else robust
    candidates = valid if robust is None else np.arange(asked.space.count)
    if len(candidates) and exponent is not None:
        weights = _weights(scores[candidates], exponent)
        if robust is None:
            best = int(scores[valid].max())
            facts["best utility"] = best
            facts["expected utility ratio"] = (
                f"{float(weights @ scores[candidates]) / best:.4f}" if best else "no utility"
            )
        else:
            facts["furthest from flipping"] = f"{int(robust.max())} (or more, where capped)"
            facts["chance of a valid context"] = f"{float(weights[valid].sum()):.4f}"
    if not len(valid):
        return {"facts": facts, "figures": {}}
    order = valid[np.argsort(-scores[valid], kind="stable")[:5]]
    table = {
        "title": "Best valid contexts",
        "columns": ["context", "rows", "score"],
        "rows": [[asked.space.text(int(i)), int(population[i]), int(scores[i])] for i in order],
    }
    facts["best context"] = asked.space.text(int(order[0]))
    return {"facts": facts, "tables": [table], "figures": {"context": _histogram(asked, int(order[0]))}}


def _weights(scores: NDArray[np.int64], exponent: Fraction) -> NDArray[np.float64]:
    """Selection probabilities, in doubles: for a report and no draw."""
    weights = np.exp(float(exponent) * (scores - scores.max()))
    return np.asarray(weights / weights.sum())


def _histogram(asked: Asked, index: int) -> dict[str, Any]:
    word = asked.space.patterns(np.array([index]))[0]
    inside = (asked.space.cells[asked.codes] & ~word) == 0
    bounds = asked.rows.declaration.column(asked.metric).numeric
    step = float(bounds.step)
    heights, edges = np.histogram((asked.shifted[inside] + asked.centre) * step, bins=BARS)
    return {"heights": heights, "edges": edges, "record": asked.centre * step, "metric": asked.metric}
