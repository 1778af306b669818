"""What a group loses by growing: taxonomies, the paper's expansion, and left-over rows offered to groups."""
# ruff: noqa: C901, FBT001, PLR0912, PLR0915, PLR0917 - numba compiles plain loops and positional arguments; helpers cost compile time

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.geometry.face_kernels import (
    WIDTH,
    YES,
    Blocks,
)
from wallflower.publish.corner_kernels import (
    outermost_at,
)

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

BUNCH = 32
"""Groups whose bounds are compared with a left-over row before they are."""


class Trees(NamedTuple):
    """The taxonomies of all quasi-identifiers in one row of nodes; offset −1: every interval is publishable."""

    offset: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    parent: NDArray[np.int64]
    unit: NDArray[np.float64]
    """Loss of one place: 1 / (M − 1) for categories, 1 / (Max − Min + 1) for numbers."""
    numeric: NDArray[np.bool_]


@kernel(error_model="numpy")
def loss_of(trees: Trees, a: int, low: int, high: int) -> Any:
    """Definition 3.7 of the smallest publishable interval over [low, high]."""
    if trees.offset[a] >= 0:
        base = trees.offset[a]
        node = base + low
        while trees.high[node] < high or trees.low[node] > low:
            node = base + trees.parent[node]
        low = trees.low[node]
        high = trees.high[node]
    return (high - low + trees.numeric[a]) * trees.unit[a]


@kernel(error_model="numpy")
def expand(
    rows: Whole,
    codes: Whole,
    alive: Flags,
    seed: int,
    k: int,
    most: int,
    trees: Trees,
    sample: Blocks,
    middle: Whole,
    guarded: bool,
    members: Whole,
) -> int:
    """Grow a group from `seed`: again and again the free row with the least growth of information loss, rows that bring
    no new sensitive value 0.3 behind; ties go to the lower row. Stops at k distinct values in every sensitive column.

    `guarded` turns away rows that would make the outermost corner an outlier as far as the sample can tell.
    Returns how many `members` there are; 0 when k was not reached in `most` steps.
    """
    quasi = rows.shape[1]
    attributes = codes.shape[1]
    mid = np.empty(quasi + attributes, np.float32)
    half = np.empty(quasi + attributes, np.float32)
    room = np.empty(WIDTH, np.float32)
    low = rows[seed].copy()
    high = rows[seed].copy()
    loss = np.empty(quasi)
    for a in range(quasi):
        loss[a] = loss_of(trees, a, low[a], high[a])
    free = alive.copy()
    free[seed] = False
    members[0] = seed
    count = 1
    refused = 0
    seen = np.zeros((attributes, codes.max() + 1), np.bool_)
    distinct = np.zeros(attributes, np.int64)
    for a in range(attributes):
        seen[a, codes[seed, a]] = True
        distinct[a] = 1
    new_low = low.copy()
    new_high = high.copy()
    while distinct.min() < k:
        best = -1
        least = np.inf
        for i in range(rows.shape[0]):
            if not free[i]:
                continue
            cost = 0.3
            for a in range(attributes):
                if distinct[a] < k and not seen[a, codes[i, a]]:
                    cost = 0.0
            for a in range(quasi):
                v = rows[i, a]
                if v >= low[a] and v <= high[a]:
                    continue
                if trees.offset[a] < 0:
                    cost += (low[a] - v if v < low[a] else v - high[a]) * trees.unit[a]
                else:
                    cost += loss_of(trees, a, min(v, low[a]), max(v, high[a])) - loss[a]
                if cost >= least:
                    break
            if cost < least:
                least = cost
                best = i
        if best < 0 or count >= most or refused >= 2 * k:
            return 0
        free[best] = False
        changed = False
        for a in range(quasi):
            new_low[a] = min(low[a], rows[best, a])
            new_high[a] = max(high[a], rows[best, a])
            changed |= new_low[a] != low[a] or new_high[a] != high[a]
        if guarded and changed and outermost_at(sample, new_low, new_high, middle, mid, half, room) != YES:
            refused += 1
            continue
        for a in range(quasi):
            low[a] = new_low[a]
            high[a] = new_high[a]
            loss[a] = loss_of(trees, a, low[a], high[a])
        for a in range(attributes):
            if not seen[a, codes[best, a]]:
                seen[a, codes[best, a]] = True
                distinct[a] += 1
        members[count] = best
        count += 1
    return count


class Offers(NamedTuple):
    """Groups that left-over rows are offered to, with bounds over every BUNCH of them so that most are never looked at."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    sizes: NDArray[np.int64]
    losses: NDArray[np.float64]
    totals: NDArray[np.float64]
    """Information loss of each group, by column and in all. Groups only grow, so that bounds from below stay bounds."""
    bunch_low: NDArray[np.int64]
    bunch_high: NDArray[np.int64]
    bunch_size: NDArray[np.int64]
    bunch_total: NDArray[np.float64]


@kernel(error_model="numpy")
def bounded(offers: Offers, bunch: int) -> None:
    """Bring the bounds of one bunch up to date."""
    first = bunch * BUNCH
    last = min(first + BUNCH, offers.sizes.size)
    for a in range(offers.low.shape[1]):
        offers.bunch_low[bunch, a] = offers.low[first:last, a].min()
        offers.bunch_high[bunch, a] = offers.high[first:last, a].max()
    offers.bunch_size[bunch] = offers.sizes[first:last].min()
    offers.bunch_total[bunch] = offers.totals[first:last].min()


@kernel(error_model="numpy")
def _offer(offers: Offers, g: int, row: Whole, trees: Trees, best: Whole, cost: Doubles) -> None:
    """Put group g in its place among the cheapest; of two that cost the same, the earlier group is the cheaper."""
    more = 0.0
    for a in range(row.size):
        v = row[a]
        if v >= offers.low[g, a] and v <= offers.high[g, a]:
            continue
        if trees.offset[a] < 0:
            more += (offers.low[g, a] - v if v < offers.low[g, a] else v - offers.high[g, a]) * trees.unit[a]
        else:
            wide = loss_of(trees, a, min(v, offers.low[g, a]), max(v, offers.high[g, a]))
            more += wide - offers.losses[g, a]
        if offers.totals[g] + more * (offers.sizes[g] + 1) > cost[-1]:
            return
    growth = offers.totals[g] + more * (offers.sizes[g] + 1)
    j = best.size - 1
    if growth > cost[j] or (growth == cost[j] and g > best[j]):
        return
    while j > 0 and (growth < cost[j - 1] or (growth == cost[j - 1] and g < best[j - 1])):
        cost[j] = cost[j - 1]
        best[j] = best[j - 1]
        j -= 1
    cost[j] = growth
    best[j] = g


@kernel(error_model="numpy")
def cheapest(row: Whole, offers: Offers, trees: Trees, best: Whole, cost: Doubles) -> None:
    """The groups whose information loss grows least when `row` joins, in `best`; `cost` holds their growth."""
    cost[:] = np.inf
    best[:] = -1
    least = np.empty(offers.bunch_size.size)
    for bunch in range(least.size):
        more = 0.0
        for a in range(row.size):
            if trees.offset[a] < 0:  # a step outside may cost nothing more in a taxonomy
                below = offers.bunch_low[bunch, a] - row[a]
                above = row[a] - offers.bunch_high[bunch, a]
                more += max(below, above, 0) * trees.unit[a]
        # A hair less: the sums of single groups round otherwise than this one.
        least[bunch] = (offers.bunch_total[bunch] + more * (offers.bunch_size[bunch] + 1)) * (1 - 1e-9)
    nearest = int(np.argmin(least))
    for turn in range(-1, least.size):
        bunch = nearest if turn < 0 else turn
        if turn == nearest or least[bunch] > cost[-1]:
            continue
        for g in range(bunch * BUNCH, min(bunch * BUNCH + BUNCH, offers.sizes.size)):
            _offer(offers, g, row, trees, best, cost)


@kernel(error_model="numpy")
def losses_of(low: Whole, high: Whole, trees: Trees, out: Doubles) -> None:
    for g in range(low.shape[0]):
        for a in range(low.shape[1]):
            out[g, a] = loss_of(trees, a, low[g, a], high[g, a])
