"""What deciding every context takes, as plain arrays: nothing here knows of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

LIMBS = 3
"""Machine words that Σz² of a cell is cut into, so that their sums over cells need no carry."""
HUGE = 2**62
"""Further than any value is."""
MOST_SUM = 2**62
"""Beyond, whole numbers of a device could overflow: such rows stay on the processor."""
MOST_LEVELS = 2**27
"""A counter for every score must fit a device."""

Ints = NDArray[np.int64]


class Values(NamedTuple):
    """Distinct values per cell on one side of the record's: distance, rows, the cell's word; nearest first."""

    gaps: Ints
    copies: Ints
    words: NDArray[np.uint64]


NOTHING = Values(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Contexts around one record, cells that hold rows, and a detector with its settings."""

    kernel: str
    """`grubbs`, `histogram` or `lof`."""
    levels: tuple[int, ...]
    """Of each digit of a context's index, lowest first."""
    words: NDArray[np.uint64]
    """Of each cell with a row."""
    least: int
    stats: Ints
    """By statistic, then by cell; rows come first."""
    below: Values = NOTHING
    above: Values = NOTHING
    tables: tuple[Ints, ...] = ()
    settings: tuple[int | float, ...] = ()

    @property
    def rows(self) -> Ints:
        rows: Ints = self.stats[0]
        return rows


class View(Protocol):
    """What is asked of `record_view.RecordView`."""

    @property
    def space(self) -> Any: ...
    @property
    def words(self) -> NDArray[np.uint64]: ...
    @property
    def least(self) -> int: ...
    @property
    def counts(self) -> Ints: ...
    @property
    def totals(self) -> Ints | None: ...
    @property
    def lowest(self) -> Ints: ...
    @property
    def highest(self) -> Ints: ...
    @property
    def cells(self) -> Any: ...
    def entries(self, per_side: int, /) -> Any: ...


def problem(view: View, detector: Any) -> Problem | None:
    """The problem of one of the detectors in `BY_NAME`; None where its rows do not fit the device's whole numbers."""
    held = view.counts.ravel() > 0
    span = int(np.where(held, view.highest.ravel(), 0).max(initial=0)) - int(
        np.where(held, view.lowest.ravel(), 0).min(initial=0)
    )
    rows = int(view.counts.sum())
    if view.totals is None or (rows + 2) * (span + 1) >= MOST_SUM or rows >= MOST_LEVELS:
        return None
    return BY_NAME[detector.name](view, detector, held)


def _shared(view: View, held: NDArray[np.bool_], own: list[Ints]) -> dict[str, Any]:
    stats = [view.counts, *own]
    return {
        "levels": tuple(view.space.levels),
        "words": view.words.ravel()[held],
        "least": view.least,
        "stats": np.array([one.ravel()[held] for one in stats], dtype=np.int64),
    }


def _ends(view: View) -> list[Ints]:
    empty = view.counts == 0
    return [np.where(empty, HUGE, view.lowest), np.where(empty, -HUGE, view.highest)]


def _grubbs(view: View, detector: Any, held: NDArray[np.bool_]) -> Problem | None:
    from wallflower.detectors.critical_values import tables

    bits = 62 - max(int(held.sum()) - 1, 0).bit_length()  # sums of limbs over all cells stay below 2^62
    squares = view.cells.squares
    if sum(squares.ravel()) >> (LIMBS * bits) or sum(squares.ravel()) >> 127:
        return None
    mask = (1 << bits) - 1
    limbs = [np.array([square >> (limb * bits) & mask for square in squares.ravel()]) for limb in range(LIMBS)]
    return Problem(
        kernel="grubbs",
        tables=tables(detector.alpha, int(view.counts.sum())),
        settings=(bits, int(detector.argmax)),
        **_shared(view, held, [view.totals, *limbs, *_ends(view)]),  # type: ignore[list-item]
    )


def _histogram(view: View, detector: Any, held: NDArray[np.bool_]) -> Problem | None:
    entries = view.entries(HUGE)
    return Problem(
        kernel="histogram",
        below=Values(*entries.below),
        above=Values(*entries.above),
        settings=(detector.share.numerator, detector.share.denominator),
        **_shared(view, held, [entries.same, *_ends(view)]),
    )


def _lof(view: View, detector: Any, held: NDArray[np.bool_]) -> Problem | None:
    entries = view.entries(2 * detector.neighbours)
    return Problem(
        kernel="lof",
        below=Values(*entries.below),
        above=Values(*entries.above),
        settings=(detector.neighbours, detector.limit),
        **_shared(view, held, [entries.same]),
    )


BY_NAME = {"grubbs": _grubbs, "histogram": _histogram, "lof": _lof}
"""By the detector's own name."""
