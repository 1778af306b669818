"""Groups as left-over rows see them: boxes, sizes and losses, bounded in bunches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.grouping import Group, Workshop
from wallflower.publish.growth_kernels import BUNCH, Offers, bounded, losses_of

Whole = NDArray[np.int64]


def offered(groups: list[Group], shop: Workshop) -> Offers:
    """The groups as left-over rows see them."""
    low, high = np.array([g.low for g in groups]), np.array([g.high for g in groups])
    losses = np.empty(low.shape)
    losses_of(low, high, shop.trees, losses)
    bunches = -(-len(groups) // BUNCH)
    offers = Offers(
        low=low,
        high=high,
        sizes=np.array([len(g.rows) for g in groups], dtype=np.int64),
        losses=losses,
        totals=losses.sum(axis=1),
        bunch_low=np.empty((bunches, low.shape[1]), dtype=np.int64),
        bunch_high=np.empty((bunches, low.shape[1]), dtype=np.int64),
        bunch_size=np.empty(bunches, dtype=np.int64),
        bunch_total=np.empty(bunches),
    )
    for bunch in range(bunches):
        bounded(offers, bunch)
    return offers


def taken(offers: Offers, g: int, place: Whole, shop: Workshop) -> None:
    """Group g has taken in a row with these quasi-identifiers."""
    offers.sizes[g] += 1
    low, high = np.minimum(offers.low[g], place), np.maximum(offers.high[g], place)
    if (low < offers.low[g]).any() or (high > offers.high[g]).any():
        offers.low[g], offers.high[g] = shop.checker.space.round_up(low, high)
        losses_of(offers.low[g : g + 1], offers.high[g : g + 1], shop.trees, offers.losses[g : g + 1])
        offers.totals[g] = offers.losses[g].sum()
        bounded(offers, g // BUNCH)
