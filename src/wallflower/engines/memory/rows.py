"""Answers from columns of integers held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines import cube
from wallflower.engines.base import Cells, Fetched, Nearest, Record, Repeated
from wallflower.engines.batches import runs
from wallflower.engines.memory.dialect import Cellwise, read
from wallflower.engines.memory.people import Joined, joined
from wallflower.engines.reading_rule import Rule, key_rule
from wallflower.engines.redaction import broken, quietly
from wallflower.engines.view import View, position, recorded
from wallflower.schema.declaration import Declaration

CHUNK = 1_000_000
"""Cells read at a time."""


@dataclass(frozen=True)
class MemoryRows:
    """A view held as one array of integers per column."""

    view: View
    settled: Mapping[str, NDArray[np.int64]] = field(repr=False)
    """The integers of every row, those that leave included."""
    stays: NDArray[np.bool_] = field(repr=False)
    key: Any = field(repr=False)
    """The key column as it came; None without a key, and where the rows of a person are joined."""
    joined: Joined | None = field(default=None, repr=False)

    @classmethod
    def read(cls, view: View, cells: Mapping[str, Any], rows: int) -> MemoryRows:
        if view.people is not None:
            whole = joined(view.people, cells, view.rules, read_unclipped)
            return cls(view, whole.settled, whole.stays, None, whole)
        settled: dict[str, NDArray[np.int64]] = {}
        stays = np.ones(rows, np.bool_)
        for name in view.columns:
            settled[name], stay = read_column(cells[name], view.rules[name]).settle(view.rules[name])
            stays &= stay
        key = view.declaration.key
        return cls(view, settled, stays, None if key is None else cells[key])

    @property
    def declaration(self) -> Declaration:
        return self.view.declaration

    @property
    def size(self) -> int:
        self.view.refuse_size()
        return int(np.count_nonzero(self.stays))

    def fetch(self, *, numbers: Sequence[str] = (), codes: Sequence[str] = ()) -> Fetched:
        self.view.check([*numbers, *codes])
        steps = np.empty((np.count_nonzero(self.stays), len(numbers)), np.int64)
        for at, name in enumerate(numbers):
            steps[:, at] = self.settled[name][self.stays]
        return Fetched(steps, self._codes(codes))

    def stream(self, numbers: Sequence[str], *, by: str | None = None) -> Iterator[Repeated]:
        self.view.check([*numbers, *(() if by is None else (by,))])
        rows = self.fetch(numbers=numbers).numbers
        if by is not None:
            first = list(numbers).index(by)
            others = [rows[:, at] for at in range(len(numbers)) if at != first]
            rows = rows[np.lexsort([*others[::-1], rows[:, first]])]
        for start in range(0, len(rows), CHUNK):
            yield runs(rows[start : start + CHUNK])

    def _codes(self, columns: Sequence[str]) -> NDArray[np.int32]:
        groups = [self.view.bins(name) for name in columns]
        codes = np.empty((np.count_nonzero(self.stays), len(columns)), np.int32)
        for at, (name, bins) in enumerate(zip(columns, groups, strict=True)):
            kept = self.settled[name][self.stays]
            codes[:, at] = kept if bins is None else np.searchsorted(bins.edges, kept, side="right") - 1
        return codes

    def record(self, key: str, /, *, row: int = 1) -> Record | None:
        at = self._find(key, row)
        if at is None or not self.stays[at]:
            return None
        return recorded(self.view, {name: int(self.settled[name][at]) for name in self.view.columns})

    def cells(self, by: Sequence[str], metric: str, centre: int) -> Cells:
        shape, most = self._cube(by, metric, centre)
        z = self.settled[metric][self.stays] - centre
        return cube.cells_of(cube.flat_index(self._codes(by), shape), z, shape, most)

    def nearest(self, by: Sequence[str], metric: str, centre: int, per_side: int) -> Nearest:
        shape, _ = self._cube(by, metric, centre)
        index = cube.flat_index(self._codes(by), shape)
        return cube.nearest_of(index, self.settled[metric][self.stays], int(np.prod(shape)), centre, per_side)

    def between(self, by: Sequence[str], metric: str, first: int, last: int) -> NDArray[np.int64]:
        self.view.check([*by, metric])
        shape, values = cube.shape_of(self.declaration, by), self.settled[metric][self.stays]
        index = cube.flat_index(self._codes(by), shape)[(values >= first) & (values <= last)]
        return np.bincount(index, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)

    def _cube(self, by: Sequence[str], metric: str, centre: int) -> tuple[tuple[int, ...], int]:
        self.view.check([*by, metric])
        return cube.shape_of(self.declaration, by), cube.most_distance(self.declaration, metric, centre)

    def _find(self, key: str, row: int) -> int | None:
        if self.joined is not None and self.view.people is not None:
            found = self.joined.rows_of(self.view.people, key)
            return int(found[row - 1]) if 1 <= row <= len(found) else None
        if self.key is None or self.view.key_kind is None:
            at = position(key)
            return at if at is not None and at < len(self.stays) else None
        rule = key_rule(self.declaration.key or "", self.view.key_kind, key)
        matches = quietly(lambda: np.flatnonzero(read_column(self.key, rule).states == 0), broken)
        return int(matches[0]) if len(matches) == 1 else None


def read_unclipped(cells: Any, rule: Rule) -> Cellwise:
    return read_column(cells, rule, clipped=False)


def read_column(cells: Any, rule: Rule, *, clipped: bool = True) -> Cellwise:
    """Chunk by chunk, so that the intermediate arrays stay small."""
    import pyarrow as pa

    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    numbers, states = np.empty(len(cells), np.int64), np.empty(len(cells), np.uint8)
    done = 0
    for chunk in chunks:
        for start in range(0, len(chunk), CHUNK):
            part = read(chunk.slice(start, CHUNK), rule, clipped=clipped)
            numbers[done : done + len(part.numbers)] = part.numbers
            states[done : done + len(part.numbers)] = part.states
            done += len(part.numbers)
    return Cellwise(numbers, states)
