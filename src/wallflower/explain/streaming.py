"""Exact selection among more contexts than memory holds: two passes over blocks of them.

The first pass counts how many contexts have each score. A score is drawn from these counts, with all its contexts' weight, and a rank among them;
the second pass finds the context of that rank. So the law is that of one selection among all contexts held at once (searches.md). Without
replacement, what was chosen leaves its score's count, and later ranks count contexts that are not chosen yet.

Both passes read the same statistics of cells, held in memory since the rows were read: nothing can change between them. The second always
runs to its end, so that time does not tell the index.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.batches import Block
from wallflower.explain.gpu.device_choice import Every
from wallflower.explain.record_view import RecordView
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.uniform import Uniform
from wallflower.noise.entropy import Entropy
from wallflower.progress import report

BLOCK = 2**18
"""Contexts of a block: their statistics fit a processor's cache."""

Scores = Callable[[Block], NDArray[np.int64]]
Candidates = Callable[[Block, NDArray[np.intp]], NDArray[np.intp]]
"""Of these places of a block, those that are candidates."""


def select(
    view: RecordView,
    *,
    scores: Scores,
    candidates: Candidates | None,
    selection: Exponential,
    h: int,
    entropy: Entropy,
    every: Every | None = None,
) -> list[int]:
    """The indices of h contexts (fewer, if there are no more candidates), drawn one after the other without replacement.

    `every`: a device that makes both passes, where there is one; what it cannot finish, the processor does.
    """
    counts = None if every is None else every.counted()
    if counts is None:
        counts = _counted(view, scores, candidates)
    wanted: dict[int, list[int]] = {}
    order: list[tuple[int, int]] = []
    left = Counter(counts)
    for _ in range(min(h, sum(counts.values()))):
        level = selection.level({score: count for score, count in left.items() if count}, entropy)
        rank = Uniform()(left[level], entropy)
        for taken in wanted.setdefault(level, []):
            rank += taken <= rank  # ranks among those not chosen yet become ranks among all of the level
        insort(wanted[level], rank)
        order.append((level, rank))
        left[level] -= 1
    both = None if every is None else every.found(wanted)
    if both is None:
        found = _found(view, scores, candidates, wanted, counts)
    else:
        found, seen = both
        _agree(wanted, seen, counts)
    return [found[choice] for choice in order]


def _counted(view: RecordView, scores: Scores, candidates: Candidates | None) -> Counter[int]:
    """How many candidates have each score."""
    counts: Counter[int] = Counter()
    for block in view.blocks(BLOCK):
        held = scores(block)
        if candidates is not None:
            held = held[candidates(block, np.arange(block.size))]
        counts.update(_histogram(held))
        report("contexts, first pass", block.begin + block.size, view.space.count)
    return counts


def _found(
    view: RecordView,
    scores: Scores,
    candidates: Candidates | None,
    wanted: dict[int, list[int]],
    counts: Counter[int],
) -> dict[tuple[int, int], int]:
    """The index of each (score, rank)."""
    found: dict[tuple[int, int], int] = {}
    seen: Counter[int] = Counter()
    levels = np.array(sorted(wanted), dtype=np.int64)
    for block in view.blocks(BLOCK):
        held = scores(block)
        places = np.flatnonzero(held == levels[0] if len(levels) == 1 else np.isin(held, levels))
        if len(places) and candidates is not None:
            places = candidates(block, places)
        for level, ranks in wanted.items():
            here = places[held[places] == level] if len(places) else places
            for rank in ranks:
                if 0 <= rank - seen[level] < len(here):
                    found[level, rank] = block.begin + int(here[rank - seen[level]])
            seen[level] += len(here)
        report("contexts, second pass", block.begin + block.size, view.space.count)
    _agree(wanted, seen, counts)
    return found


def _agree(wanted: dict[int, list[int]], seen: Counter[int], counts: Counter[int]) -> None:
    if any(seen[level] != counts[level] for level in wanted):
        raise RuntimeError("the two passes disagree")  # a bug, and nothing else: both read the same arrays


def _histogram(scores: NDArray[np.int64]) -> dict[int, int]:
    if not len(scores):
        return {}
    low, high = int(scores.min()), int(scores.max())
    if high - low < 4 * len(scores) + 2**16:
        counted = np.bincount(scores - low)
        held = np.flatnonzero(counted)
        return dict(zip((held + low).tolist(), counted[held].tolist(), strict=True))
    distinct, times = np.unique(scores, return_counts=True)
    return dict(zip(distinct.tolist(), times.tolist(), strict=True))
