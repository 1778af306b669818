"""Ascending rows cut into strips, each with a halo: what one process holds at a time of more rows than it can hold.

Every row is at home in exactly one strip, and a strip has every row whose value in the cut column is between its least home value
− `below` and its greatest home value + `above`. Where strips begin and end depends on how many rows there are and on
nothing that an answer may see: `count/parts/parts.md` says why no answer depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_GROWTH = 5
"""A strip whose halo is too large for its room is looked at again when it has grown by a fifth part."""


@dataclass(frozen=True)
class Strip:
    """Rows ascending in the cut column; those at home are first … last − 1, the others are halo."""

    rows: Ints
    first: int
    last: int

    @property
    def home(self) -> slice:
        return slice(self.first, self.last)


def strips(batches: Iterable[Ints], column: int, *, below: int, above: int, most: int) -> Iterator[Strip]:
    """Cut rows that ascend in `column`, from one batch to the next too; a strip has about `most` rows, halo included.

    Where the halo alone is larger than that, a strip is as large as it must be: half its halo at least is at home.
    """
    held: list[Ints] = []
    size = done = 0  # rows held, and how many of them have been at home already
    look_at = most
    for piece in _pieces(batches, max(1, most // 4)):
        held.append(piece)
        size += len(piece)
        if size < look_at:
            continue
        rows = np.concatenate(held)
        values = rows[:, column]
        # Rows to come are at least the last value: homes whose halo ends before it are complete.
        ready = int(np.searchsorted(values, values[-1] - above, side="left"))
        if 3 * (ready - done) >= size:
            yield _strip(rows, column, slice(done, ready), below=below, above=above)
            kept = int(np.searchsorted(values, values[ready] - below, side="left"))
            rows, done = rows[kept:].copy(), ready - kept
            look_at = most
        else:
            look_at = max(most, size + size // _GROWTH + 1)
        held, size = [rows], len(rows)
    if size > done:
        rows = np.concatenate(held)
        yield _strip(rows, column, slice(done, len(rows)), below=below, above=above)


def _strip(rows: Ints, column: int, home: slice, *, below: int, above: int) -> Strip:
    values = rows[:, column]
    begin = int(np.searchsorted(values, values[home.start] - below, side="left"))
    end = int(np.searchsorted(values, values[home.stop - 1] + above, side="right"))
    return Strip(rows[begin:end], home.start - begin, home.stop - begin)


def _pieces(batches: Iterable[Ints], size: int) -> Iterator[Ints]:
    for batch in batches:
        for start in range(0, len(batch), size):
            yield batch[start : start + size]
