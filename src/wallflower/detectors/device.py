"""What a detector's fast path on a GPU is made of: which kernel decides, and what of the rows it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import Contexts, Ints, Side

LIMBS = 3
"""Machine words that Σz² of a cell is cut into, so that their sums over cells need no carry."""
HUGE = 2**62
"""Further than any value is."""
NOTHING = Side(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))


@dataclass(frozen=True, kw_only=True)
class DeviceView:
    """What one detector's kernel is handed beside the rows of each cell."""

    stats: tuple[Ints, ...]
    """By statistic, then by cell."""
    below: Side = NOTHING
    above: Side = NOTHING
    tables: tuple[Ints, ...] = ()
    settings: tuple[int | float, ...] = ()


@runtime_checkable
class OnDevice(Protocol):
    """A detector that a kernel of `explain/gpu` decides, flag for flag as `decider` does."""

    @property
    def kernel(self) -> str | None:
        """Its name; None where these settings have none."""
        ...

    def device_view(self, contexts: Contexts, squares: NDArray[Any], /) -> DeviceView | None:
        """`squares`: Σz² of each cell in whole numbers. None where they do not fit the device's."""
        ...


def ends(contexts: Contexts) -> tuple[Ints, Ints]:
    """Least and largest z of each cell; where it is empty, what changes neither."""
    empty = contexts.counts == 0
    return np.where(empty, HUGE, contexts.lowest), np.where(empty, -HUGE, contexts.highest)
