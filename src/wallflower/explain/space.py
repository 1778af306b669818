"""Contexts around one record: for each column a set of declared values, seen in the rows or not, that contains the record's own.

Which sets there are is the column's language (`languages`): levels of axes. A context has an index, its levels read as digits, the last column's
first axis lowest. One level more or less on one axis gives a connected context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.languages import Axis, Vocabulary
from wallflower.schema.domains import Bins, Categories


@dataclass(frozen=True)
class Folded:
    """The cube of cells with the steps of the last column's lowest axes as an axis of their own: the own value and all other steps first, then one for each."""

    digits: int
    """How many axes."""
    kinds: int
    axes: tuple[tuple[Axis, ...], ...]
    """Of the columns that are left; those of the last column are its other axes."""
    shape: tuple[int, ...]
    place: NDArray[np.int64]
    """Where each cell of the whole cube goes."""

    def arranged(self, cells: NDArray[Any], neutral: int) -> NDArray[Any]:
        """A statistic of cells in this shape; where there is no cell, what changes nothing."""
        found = np.full(prod(self.shape), neutral, dtype=cells.dtype)
        found[self.place] = cells.ravel()
        return found.reshape(self.shape)


@dataclass(frozen=True, kw_only=True)
class Space:
    """All contexts over `columns` that contain a record with the codes `own`.

    >>> job, city = Categories(("CEO", "Lawyer", "Doctor")), Categories(("Ottawa", "Toronto"))
    >>> space = Space.of((Vocabulary("job", job, "sets"), Vocabulary("city", city, "own")), own=(1, 0))
    >>> space.count, space.named(2)
    (8, {'job': ['CEO', 'Lawyer'], 'city': ['Ottawa']})
    """

    vocabularies: tuple[Vocabulary, ...]
    own: tuple[int, ...]
    """The record's code in each column."""

    @classmethod
    def of(cls, vocabularies: Sequence[Vocabulary], own: Sequence[int]) -> Space:
        return cls(vocabularies=tuple(vocabularies), own=tuple(own))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(one.column for one in self.vocabularies)

    @cached_property
    def domains(self) -> tuple[Categories | Bins, ...]:
        return tuple(one.domain for one in self.vocabularies)

    @cached_property
    def axes(self) -> tuple[tuple[Axis, ...], ...]:
        """Of each column."""
        return tuple(one.axes(code) for one, code in zip(self.vocabularies, self.own, strict=True))

    @cached_property
    def digits(self) -> tuple[tuple[int, Axis], ...]:
        """Column and axis of each digit of an index, lowest first."""
        return tuple((column, axis) for column in reversed(range(len(self.columns))) for axis in self.axes[column])

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """How many levels each digit has."""
        return tuple(len(axis) + 1 for _, axis in self.digits)

    @property
    def count(self) -> int:
        return prod(self.levels)

    def level(self, index: int) -> tuple[int, ...]:
        """The digits of an index, lowest first."""
        found = []
        for size in self.levels:
            index, digit = divmod(index, size)
            found.append(digit)
        return tuple(found)

    def chosen(self, index: int) -> tuple[tuple[int, ...], ...]:
        """The codes that a context holds, per column, ascending."""
        sets = [[code] for code in self.own]
        for (column, axis), level in zip(self.digits, self.level(index), strict=True):
            for step in axis[:level]:
                sets[column].extend(step)
        return tuple(tuple(sorted(codes)) for codes in sets)

    def index(self, chosen: Sequence[Sequence[int]]) -> int | None:
        """The index of the context with these codes; None when there is none, or it does not contain the record."""
        found, stride = 0, 1
        for (column, axis), size in zip(self.digits, self.levels, strict=True):
            level = 0
            while level < len(axis) and set(axis[level]) <= set(chosen[column]):
                level += 1
            found, stride = found + level * stride, stride * size
        wanted = tuple(tuple(sorted(codes)) for codes in chosen)
        return found if self.chosen(found) == wanted else None

    def connected(self, index: int) -> list[int]:
        """Contexts one level away on one axis."""
        found, stride = [], 1
        for size, level in zip(self.levels, self.level(index), strict=True):
            found += [index - stride] if level > 0 else []
            found += [index + stride] if level + 1 < size else []
            stride *= size
        return found

    # The word of a context has a bit for each step that it takes, the word of a cell one for each step that holds its values: a cell lies
    # in a context when its word has no bit that the context's lacks.

    @cached_property
    def _first_bits(self) -> tuple[int, ...]:
        """The bit of the first step of each digit."""
        steps = [size - 1 for size in self.levels]
        return tuple(sum(steps[:digit]) for digit in range(len(steps)))

    @cached_property
    def _one_bit_each(self) -> bool:
        return all(size == 2 for size in self.levels)

    @property
    def steps(self) -> int:
        return sum(self.levels) - len(self.levels)

    def words(self, indices: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The words of contexts."""
        if self._one_bit_each:
            return indices.astype(np.uint64)  # a digit's level is its bit, and so the index is the word
        found = np.zeros(len(indices), dtype=np.uint64)
        left = indices.astype(np.int64)
        for size, first in zip(self.levels, self._first_bits, strict=True):
            left, level = left // size, left % size
            found |= ((np.uint64(1) << level.astype(np.uint64)) - np.uint64(1)) << np.uint64(first)
        return found

    def first_words(self, count: int) -> NDArray[np.uint64]:
        """The words of the first contexts, kept: those of every block differ from them in the bits of its highest digits alone."""
        if count not in self._of_first:
            self._of_first[count] = self.words(np.arange(count))
        return self._of_first[count]

    @cached_property
    def _of_first(self) -> dict[int, NDArray[np.uint64]]:
        return {}

    @cached_property
    def classes(self) -> tuple[NDArray[np.int64], ...]:
        """For each column the cell of each code: 0 for the record's own, then one for each step of its axes."""
        found = []
        for column, domain in enumerate(self.domains):
            of_code = np.zeros(domain.size, dtype=np.int64)
            steps = [step for axis in self.axes[column] for step in axis]
            for place, step in enumerate(steps):
                of_code[list(step)] = place + 1
            found.append(of_code)
        return tuple(found)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Cells of each column: values that no context tells apart are one."""
        return tuple(1 + sum(len(axis) for axis in axes) for axes in self.axes)

    @cached_property
    def cells(self) -> NDArray[np.uint64]:
        """The words of all cells of the cube, in its shape."""
        found = np.zeros((), dtype=np.uint64)
        digit = len(self.digits)
        for axes in self.axes:
            digit -= len(axes)
            bits = [np.uint64(0)]
            for place, axis in enumerate(axes):
                bits += [np.uint64(1 << (self._first_bits[digit + place] + step)) for step in range(len(axis))]
            found = found[..., None] | np.array(bits, dtype=np.uint64)
        return found

    def folded(self, digits: int) -> Folded:
        """The cube for a caller who adds up so many of the last column's axes itself."""
        if digits not in self._of_folded:
            low = sum(len(axis) for axis in self.axes[-1][:digits]) if digits else 0
            *others, last = self.shape
            cell = np.arange(last)
            rest, kind = np.where(cell > low, cell - low, 0), np.where(cell > low, 0, cell)
            higher = np.arange(prod(others))[:, None] * (last - low) + rest
            self._of_folded[digits] = Folded(
                digits,
                low + 1,
                (*self.axes[:-1], self.axes[-1][digits:]),
                (*others, last - low, low + 1),
                (higher * (low + 1) + kind).ravel(),
            )
        return self._of_folded[digits]

    @cached_property
    def _of_folded(self) -> dict[int, Folded]:
        return {}

    def named(self, index: int) -> dict[str, list[str]]:
        """The context as columns and their values in words."""
        return {
            column: [domain.text(code) for code in codes]
            for column, domain, codes in zip(self.columns, self.domains, self.chosen(index), strict=True)
        }
