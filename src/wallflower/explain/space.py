"""Contexts: for each column a set of declared values, seen in the rows or not, that contains the record's own value.

With t values in all m columns there are 2^(t−m) contexts around one record. Each has an index: one bit for every value that is
not the record's own, the last column's bits lowest. Flipping one bit gives a connected context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError, nearest_name
from wallflower.schema.domains import Bins, Categories

MOST_VALUES = 62
"""A context fits a machine word."""
MOST_CELLS = 2**20
"""Cells of the cube of all columns; each holds its own statistics."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """All contexts over `columns` that contain a record with the values `own`.

    >>> job, city = Categories(("CEO", "Lawyer", "Doctor")), Categories(("Ottawa", "Toronto"))
    >>> space = Space(columns=("job_title", "city"), domains=(job, city), own=(1, 0))
    >>> space.count, space.text(2)
    (8, 'job title is CEO or Lawyer, and city is Ottawa')
    """

    columns: tuple[str, ...]
    domains: tuple[Categories | Bins, ...]
    own: tuple[int, ...]
    """The record's code in each column."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has: the shape of the cube of cells."""
        return tuple(domain.size for domain in self.domains)

    @property
    def free(self) -> int:
        """Bits of an index: values that are not the record's own."""
        return sum(self.shape) - len(self.shape)

    @property
    def count(self) -> int:
        return 1 << self.free

    @cached_property
    def _places(self) -> tuple[tuple[int, int], ...]:
        """Column and code of each bit of an index, lowest bit first."""
        found: list[tuple[int, int]] = []
        for column in reversed(range(len(self.columns))):
            found += [(column, code) for code in range(self.shape[column]) if code != self.own[column]]
        return tuple(found)

    def chosen(self, index: int) -> tuple[tuple[int, ...], ...]:
        """The codes that a context holds, per column, ascending."""
        sets = [[code] for code in self.own]
        for bit, (column, code) in enumerate(self._places):
            if index >> bit & 1:
                sets[column].append(code)
        return tuple(tuple(sorted(codes)) for codes in sets)

    def index(self, chosen: Sequence[Sequence[int]]) -> int | None:
        """The index of the context with these codes; None when it does not contain the record."""
        if any(own not in codes for own, codes in zip(self.own, chosen, strict=True)):
            return None
        return sum(1 << bit for bit, (column, code) in enumerate(self._places) if code in chosen[column])

    def connected(self, index: int) -> list[int]:
        """Contexts with one value more or one less."""
        return [index ^ (1 << bit) for bit in range(self.free)]

    # A pattern is a word with one bit for every value of every column. A cell lies in a context when its pattern has no
    # bit that the context's lacks.

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        return tuple(sum(self.shape[:column]) for column in range(len(self.shape)))

    @cached_property
    def own_pattern(self) -> int:
        return sum(1 << (offset + code) for offset, code in zip(self._offsets, self.own, strict=True))

    def patterns(self, indices: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The words of contexts."""
        found = np.full(len(indices), self.own_pattern, dtype=np.uint64)
        for bit, (column, code) in enumerate(self._places):
            found |= (indices.astype(np.uint64) >> np.uint64(bit) & np.uint64(1)) << np.uint64(
                self._offsets[column] + code
            )
        return found

    @cached_property
    def cells(self) -> NDArray[np.uint64]:
        """The words of all cells of the cube, in row-major order."""
        found = np.zeros(1, dtype=np.uint64)
        for offset, size in zip(self._offsets, self.shape, strict=True):
            found = (found[:, None] | (np.uint64(1) << (np.uint64(offset) + np.arange(size, dtype=np.uint64)))).ravel()
        return found

    def named(self, index: int) -> dict[str, list[str]]:
        """The context as columns and their values in words."""
        return {
            column: [domain.text(code) for code in codes]
            for column, domain, codes in zip(self.columns, self.domains, self.chosen(index), strict=True)
        }

    def text(self, index: int) -> str:
        """The context as a sentence's end."""
        parts = []
        for column, domain, codes in zip(self.columns, self.domains, self.chosen(index), strict=True):
            left_out = [domain.text(code) for code in range(domain.size) if code not in codes]
            name = column.replace("_", " ")
            if not left_out:
                parts.append(f"{name} is any")
            elif len(left_out) <= 2 < len(codes):
                parts.append(f"{name} is any but {_either(left_out)}")
            else:
                parts.append(f"{name} is {_either([domain.text(code) for code in codes])}")
        return ", and ".join(parts)


def checked_size(domains: Sequence[Categories | Bins]) -> int:
    """log2 of the number of contexts, or a refusal when the cube is too large."""
    values, cells = sum(domain.size for domain in domains), prod(domain.size for domain in domains)
    if values > MOST_VALUES or cells > MOST_CELLS:
        raise UsageError(
            f"these columns have {values} values and {cells} cells; at most {MOST_VALUES} and {MOST_CELLS} fit.",
            hint="Name fewer columns in 'by', or declare coarser values or bins.",
        )
    return values - len(domains)


def parse_context(text: str) -> dict[str, tuple[str, ...]]:
    """A context as the command line writes it: `col=v|v;col=v`; a column left out may hold anything.

    >>> parse_context("job=CEO|Lawyer;city=Ottawa")
    {'job': ('CEO', 'Lawyer'), 'city': ('Ottawa',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        column, equals, values = (piece.strip() for piece in part.partition("="))
        if not equals or not values or column in found:
            raise UsageError(f"a context is written col=v|v;col=v with each column once, got '{part}'.")
        found[column] = tuple(value.strip() for value in values.split("|"))
    return found


def context_codes(
    context: Mapping[str, Sequence[str]], columns: Sequence[str], domains: Sequence[Categories | Bins]
) -> tuple[tuple[int, ...], ...]:
    """The codes of a named context; refused when a column or a value is not declared."""
    unknown = [column for column in context if column not in columns]
    if unknown:
        raise UsageError(
            f"the context names '{unknown[0]}', which is not in 'by'.", hint=nearest_name(unknown[0], columns)
        )
    found = []
    for column, domain in zip(columns, domains, strict=True):
        texts = [domain.text(code) for code in range(domain.size)]
        wanted = context.get(column, texts)
        missing = [value for value in wanted if value not in texts]
        if missing:
            raise UsageError(
                f"'{missing[0]}' is not a declared value of '{column}'.", hint=nearest_name(missing[0], texts)
            )
        if not wanted:
            raise UsageError(f"the context holds no value of '{column}'.")
        found.append(tuple(sorted(texts.index(value) for value in wanted)))
    return tuple(found)


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
