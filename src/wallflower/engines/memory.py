"""Rows that are already in memory: a pandas or polars frame, or an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines import cube
from wallflower.engines.arrow_reading import Cellwise, kind_of, read
from wallflower.engines.base import Cells, Nearest, Record, Rows
from wallflower.engines.frames import arrow_column, column_names, without_rows
from wallflower.engines.profile import Tally
from wallflower.engines.quiet import broken, quietly
from wallflower.engines.reading import Rule, State, key_rule
from wallflower.engines.view import View, find_columns, position, recorded, view_of, wanted_columns, with_key
from wallflower.schema.declaration import Declaration

CHUNK = 1_000_000
"""Cells read at a time."""


@dataclass(frozen=True)
class MemorySource:
    """A frame with its declaration; nothing is converted before a view opens."""

    frame: Any = field(repr=False)
    declaration: Declaration

    @contextmanager
    def rows(self, columns: Sequence[str], /) -> Iterator[Rows]:
        yield self.open(columns)

    def verify(self, columns: Sequence[str], /) -> None:
        self._view(without_rows(self.frame), columns)

    def open(self, columns: Sequence[str]) -> MemoryRows:
        view, cells = self._view(self.frame, columns)
        return quietly(lambda: MemoryRows.read(view, cells, len(self.frame)), broken)

    def tally(self, columns: Sequence[str]) -> Tally:
        """For the owner alone (`profile.examine`)."""
        view, cells = self._view(self.frame, columns)
        return quietly(lambda: _tally(view, cells, len(self.frame)), broken)

    def _view(self, frame: Any, columns: Sequence[str]) -> tuple[View, Mapping[str, Any]]:
        wanted = wanted_columns(self.declaration, columns)
        needed = with_key(self.declaration, wanted)
        find_columns(needed, column_names(frame))
        cells = quietly(lambda: {name: arrow_column(frame, name) for name in needed}, broken)
        kinds = {name: kind_of(name, cells[name].type) for name in needed}
        return view_of(self.declaration, wanted, kinds), cells


@dataclass(frozen=True)
class MemoryRows:
    """A view held as one array of integers per column."""

    view: View
    settled: Mapping[str, NDArray[np.int64]] = field(repr=False)
    """The integers of every row, those that leave included."""
    stays: NDArray[np.bool_] = field(repr=False)
    key: Any = field(repr=False)
    """The key column as it came; None without a key."""

    @classmethod
    def read(cls, view: View, cells: Mapping[str, Any], rows: int) -> MemoryRows:
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

    def codes(self, columns: Sequence[str], /) -> NDArray[np.int32]:
        self.view.check(columns)
        groups = [self.view.bins(name) for name in columns]
        codes = np.empty((np.count_nonzero(self.stays), len(columns)), np.int32)
        for at, (name, bins) in enumerate(zip(columns, groups, strict=True)):
            kept = self.settled[name][self.stays]
            codes[:, at] = kept if bins is None else np.searchsorted(bins.edges, kept, side="right") - 1
        return codes

    def numbers(self, columns: Sequence[str], /) -> NDArray[np.int64]:
        self.view.check(columns)
        numbers = np.empty((np.count_nonzero(self.stays), len(columns)), np.int64)
        for at, name in enumerate(columns):
            numbers[:, at] = self.settled[name][self.stays]
        return numbers

    def record(self, key: str, /) -> Record | None:
        row = self._find(key)
        if row is None or not self.stays[row]:
            return None
        return recorded(self.view, {name: int(self.settled[name][row]) for name in self.view.columns})

    def cells(self, by: Sequence[str], metric: str, centre: int) -> Cells:
        shape, most = self._cube(by, metric, centre)
        z = self.settled[metric][self.stays] - centre
        return cube.cells_of(cube.flat_index(self.codes(by), shape), z, shape, most)

    def nearest(self, by: Sequence[str], metric: str, centre: int, per_side: int) -> Nearest:
        shape, _ = self._cube(by, metric, centre)
        index = cube.flat_index(self.codes(by), shape)
        return cube.nearest_of(index, self.settled[metric][self.stays], int(np.prod(shape)), centre, per_side)

    def _cube(self, by: Sequence[str], metric: str, centre: int) -> tuple[tuple[int, ...], int]:
        self.view.check([*by, metric])
        return cube.shape_of(self.declaration, by), cube.most_distance(self.declaration, metric, centre)

    def _find(self, key: str) -> int | None:
        if self.key is None or self.view.key_kind is None:
            at = position(key)
            return at if at is not None and at < len(self.stays) else None
        rule = key_rule(self.declaration.key or "", self.view.key_kind, key)
        matches = quietly(lambda: np.flatnonzero(read_column(self.key, rule).states == 0), broken)
        return int(matches[0]) if len(matches) == 1 else None


def read_column(cells: Any, rule: Rule) -> Cellwise:
    """Chunk by chunk, so that the intermediate arrays stay small."""
    import pyarrow as pa

    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    numbers, states = np.empty(len(cells), np.int64), np.empty(len(cells), np.uint8)
    done = 0
    for chunk in chunks:
        for start in range(0, len(chunk), CHUNK):
            part = read(chunk.slice(start, CHUNK), rule)
            numbers[done : done + len(part.numbers)] = part.numbers
            states[done : done + len(part.numbers)] = part.states
            done += len(part.numbers)
    return Cellwise(numbers, states)


def _tally(view: View, cells: Mapping[str, Any], rows: int) -> Tally:
    states = {}
    for name in view.columns:
        found, counts = np.unique(read_column(cells[name], view.rules[name]).states, return_counts=True)
        states[name] = {State(state): int(count) for state, count in zip(found, counts, strict=True)}
    kept = np.count_nonzero(MemoryRows.read(view, cells, rows).stays)
    repeated, without = 0, 0
    if view.declaration.key is not None and view.key_kind is not None:
        rule = key_rule(view.declaration.key, view.key_kind, "any")
        key = cells[view.declaration.key]
        named = np.isin(read_column(key, rule).states, [State.INSIDE, State.ABOVE])
        _, counts = np.unique(np.array(key.to_pylist(), dtype=object)[named].astype(str), return_counts=True)
        repeated, without = int(np.count_nonzero(counts > 1)), int(np.count_nonzero(~named))
    return Tally(rows=rows, leaving=rows - int(kept), states=states, repeated_keys=repeated, rows_without_key=without)
