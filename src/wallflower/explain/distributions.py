"""The exact law of a search on a small graph, by following every possible sequence of choices."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction

from wallflower.explain.searches import Pick, Search
from wallflower.mechanisms.exponential import Exponential


def distribution(begin: Callable[[], Search], scores: Mapping[int, int], exponent: Fraction) -> dict[int | None, float]:
    """P(answer) for each answer. `begin` starts the search anew; it is replayed with each history of choices."""
    found: defaultdict[int | None, list[float]] = defaultdict(list)
    selection = Exponential(exponent=exponent, monotone=True)
    todo: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    while todo:
        history, weight = todo.pop()
        pick, answer = _replay(begin(), history)
        if pick is None:
            found[answer].append(math.exp(weight))
            continue
        if pick.scored:
            logs = selection.log_probabilities([scores[index] for index in pick.candidates])
        else:
            logs = [-math.log(len(pick.candidates))] * len(pick.candidates)
        todo += [((*history, index), weight + log) for index, log in zip(pick.candidates, logs, strict=True)]
    return {answer: math.fsum(parts) for answer, parts in found.items()}


def _replay(search: Search, history: tuple[int, ...]) -> tuple[Pick | None, int | None]:
    try:
        pick = next(search)
        for chosen in history:
            pick = search.send(chosen)
    except StopIteration as end:
        return None, end.value
    return pick, None
