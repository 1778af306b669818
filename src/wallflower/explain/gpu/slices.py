"""Contexts in slices: those that share their high digits, which one block of threads decides together.

The low part of a cell's word (`space`) is its kind. A context of a slice holds a kind's cells, those of them that are in the slice, all or not at all: which
kinds it holds is the same in every slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

import numpy as np
from numpy.typing import NDArray

MOST_KINDS, FEW_KINDS = 32, 16
"""As many as a machine word has bits; more than a few pay only where a slice would else be tiny."""
TINY = 32


@dataclass(frozen=True)
class Slices:
    """Contexts whose digits have `levels`, over cells with `words`; the `low` lowest digits differ within a slice."""

    levels: tuple[int, ...]
    words: NDArray[np.uint64]
    low: int

    @property
    def run(self) -> int:
        """Contexts of a slice."""
        return prod(self.levels[: self.low])

    @property
    def count(self) -> int:
        return prod(self.levels[self.low :])

    @cached_property
    def _first_bits(self) -> list[int]:
        return list(accumulate((size - 1 for size in self.levels), initial=0))

    @property
    def _low_bits(self) -> np.uint64:
        return np.uint64((1 << self._first_bits[self.low]) - 1)

    @cached_property
    def kinds(self) -> NDArray[np.uint64]:
        """The low parts of words; the record's own, which every context holds, comes first."""
        return np.unique(np.append(self.words & self._low_bits, np.uint64(0)))

    @cached_property
    def kind_of(self) -> NDArray[np.int64]:
        """Of each cell."""
        return np.searchsorted(self.kinds, self.words & self._low_bits)

    def high_part(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return words & ~self._low_bits

    def kinds_of(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        return np.searchsorted(self.kinds, words & self._low_bits)

    @cached_property
    def members(self) -> NDArray[np.uint32]:
        """For each context of a slice a bit for each kind that it holds."""
        left, words = np.arange(self.run), np.zeros(self.run, dtype=np.uint64)
        for size, first in zip(self.levels[: self.low], self._first_bits, strict=False):
            left, level = left // size, left % size
            words |= ((np.uint64(1) << level.astype(np.uint64)) - np.uint64(1)) << np.uint64(first)
        held = (self.kinds[None, :] & ~words[:, None]) == 0
        return np.asarray(held @ (np.uint64(1) << np.arange(len(self.kinds), dtype=np.uint64)), dtype=np.uint32)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Cells by kind."""
        return np.argsort(self.kind_of, kind="stable")

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each kind's cells begin in that order, and the end."""
        return np.searchsorted(self.kind_of[self.order], np.arange(len(self.kinds) + 1)).astype(np.int64)

    @property
    def digits(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Of the high digits: levels, what one level counts in a slice's number, the first bit in a word."""
        sizes = self.levels[self.low :]
        strides = list(accumulate(sizes, lambda a, b: a * b, initial=1))[: len(sizes)]
        return (
            np.array(sizes, dtype=np.int64),
            np.array(strides, dtype=np.int64),
            np.array(self._first_bits[self.low : len(self.levels)], dtype=np.int64),
        )


def sliced(
    levels: Sequence[int],
    words: NDArray[np.uint64],
    *,
    most_run: int,
    fits: Callable[[int], bool] = lambda _kinds: True,
) -> Slices:
    """The slices that suit a block: at most `most_run` contexts, few kinds, and no more than `fits` says."""
    chosen = Slices(tuple(levels), words, 0)
    for low in range(1, len(levels) + 1):
        tried = Slices(tuple(levels), words, low)
        if tried.run > most_run or len(tried.kinds) > MOST_KINDS or not fits(len(tried.kinds)):
            break
        if len(tried.kinds) > FEW_KINDS and chosen.run >= TINY:
            break
        chosen = tried
    return chosen
