"""What the owner may see of one question: how many contexts were valid, which was best, and how the record looks in it. NOT PRIVATE."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.landscape import Landscape
from wallflower.explain.record_view import RecordView
from wallflower.explain.selection import Selection
from wallflower.explain.sentences import text

BARS = 60


def seen(
    view: RecordView, landscape: Landscape, selection: Selection | None, *, robust: NDArray[np.int64] | None = None
) -> dict[str, Any]:
    """Facts, a table of the best contexts, and the distribution of the best one. `robust` holds the scores of `full`."""
    valid, population = landscape.every_valid, view.population
    facts: dict[str, Any] = {"contexts": view.space.count, "valid contexts": len(valid)}
    scores = landscape.every_score if robust is None else robust
    candidates = valid if robust is None else np.arange(view.space.count)
    if len(candidates) and selection is not None:
        weights = _weights(scores[candidates], selection.exponent)
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
        "rows": [[text(view.space, int(i)), int(population[i]), int(scores[i])] for i in order],
    }
    facts["best context"] = text(view.space, int(order[0]))
    return {"facts": facts, "tables": [table], "figures": {"context": _histogram(view, int(order[0]))}}


def _weights(scores: NDArray[np.int64], exponent: Fraction) -> NDArray[np.float64]:
    """Probabilities of the exponential mechanism, in doubles, for a report and no draw; permute-and-flip does no worse."""
    weights = np.exp(float(exponent) * (scores - scores.max()))
    return np.asarray(weights / weights.sum())


def _histogram(view: RecordView, index: int) -> dict[str, Any]:
    word = view.space.words(np.array([index]))[0]
    inside = (view.words.ravel()[view.codes] & ~word) == 0
    step = float(view.step)
    heights, edges = np.histogram((view.shifted[inside] + view.centre) * step, bins=BARS)
    return {"heights": heights, "edges": edges, "record": view.centre * step, "metric": view.metric}
