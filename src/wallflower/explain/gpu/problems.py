"""What deciding every context takes, as plain arrays: nothing here knows of a device, nor of any one detector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import Contexts, Ints, Side
from wallflower.detectors.device import NOTHING, OnDevice

MOST_SUM = 2**62
"""Beyond, whole numbers of a device could overflow: such rows stay on the processor."""
MOST_LEVELS = 2**27
"""A counter for every score must fit a device."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Contexts around one record, cells that hold rows, and a detector's kernel with its settings."""

    kernel: str
    """`grubbs`, `histogram` or `lof`."""
    levels: tuple[int, ...]
    """Of each digit of a context's index, lowest first."""
    words: NDArray[np.uint64]
    """Of each cell with a row."""
    least: int
    stats: Ints
    """By statistic, then by cell; rows come first."""
    below: Side = NOTHING
    above: Side = NOTHING
    tables: tuple[Ints, ...] = ()
    settings: tuple[int | float, ...] = ()

    @property
    def rows(self) -> Ints:
        rows: Ints = self.stats[0]
        return rows


class View(Contexts, Protocol):
    """What is asked of `record_view.RecordView`."""

    @property
    def space(self) -> Any: ...
    @property
    def cells(self) -> Any: ...


def problem(view: View, detector: OnDevice) -> Problem | None:
    """The problem of a detector that has a kernel; None where its rows do not fit the device's whole numbers."""
    held = view.counts.ravel() > 0
    span = int(np.where(held, view.highest.ravel(), 0).max(initial=0)) - int(
        np.where(held, view.lowest.ravel(), 0).min(initial=0)
    )
    rows = int(view.counts.sum())
    if view.totals is None or (rows + 2) * (span + 1) >= MOST_SUM or rows >= MOST_LEVELS:
        return None
    kernel, own = detector.kernel, detector.device_view(view, view.cells.squares)
    if kernel is None or own is None:
        return None
    return Problem(
        kernel=kernel,
        levels=tuple(view.space.levels),
        words=view.words.ravel()[held],
        least=view.least,
        stats=np.array([one.ravel()[held] for one in (view.counts, *own.stats)], dtype=np.int64),
        below=own.below,
        above=own.above,
        tables=own.tables,
        settings=own.settings,
    )
