"""A published file read back, as anyone who has the declaration can read it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError, nearest_name
from wallflower.publish.cells import ends, unquoted
from wallflower.publish.space import Axis, Space

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class PublishedGroup:
    """All published rows with one box: what a reader takes for a group."""

    low: Whole
    high: Whole
    held: Whole
    """The sensitive values of its rows, one line per row."""

    @property
    def rows(self) -> int:
        return len(self.held)

    @property
    def values(self) -> Whole:
        return np.unique(self.held, axis=0)

    @property
    def distinct(self) -> int:
        """The least number of different values over the sensitive columns."""
        return min(len(np.unique(self.held[:, a])) for a in range(self.held.shape[1]))


def published_groups(path: Path, space: Space) -> list[PublishedGroup]:
    """The groups of a published file, in the order in which they first appear."""
    if not path.is_file():
        raise UsageError(f"there is no published file '{path}'.")
    table = texts(path)
    boxes = [_boxes(axis, table) for axis in space.quasi]
    held = np.column_stack([_places(axis, axis.name, table)[:, 0] for axis in space.sensitive])
    low = np.column_stack([box[:, 0] for box in boxes])
    high = np.column_stack([box[:, 1] for box in boxes])
    members: dict[tuple[int, ...], list[int]] = {}
    for row, box in enumerate(np.column_stack([low, high]).tolist()):
        members.setdefault(tuple(box), []).append(row)
    return [PublishedGroup(low[rows[0]], high[rows[0]], held[rows]) for rows in members.values()]


def _boxes(axis: Axis, table: Mapping[str, list[str]]) -> Whole:
    """The low and the high end of each line."""
    low, high = ends(axis.name)
    if axis.name not in table and low in table and high in table:
        return np.column_stack([_places(axis, low, table)[:, 0], _places(axis, high, table)[:, 1]])
    return _places(axis, axis.name, table)


def _places(axis: Axis, name: str, table: Mapping[str, list[str]]) -> Whole:
    if name not in table:
        raise UsageError(
            f"the published file has no column '{name}'.",
            hint=nearest_name(name, table) + " Columns that were not published are left out with --columns.",
        )
    known: dict[str, tuple[int, int]] = {}
    for text in table[name]:
        if text not in known:
            interval = axis.read(text)
            if interval is None:
                raise UsageError(
                    f"column '{name}' of the published file holds {text!r}, which the declaration cannot read."
                )
            known[text] = interval
    return np.array([known[text] for text in table[name]], dtype=np.int64).reshape(len(table[name]), 2)


def texts(path: Path) -> dict[str, list[str]]:
    """A published file as texts by column."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return {name: [str(v) for v in table.column(name).to_pylist()] for name in table.column_names}
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        file.seek(0)
        # ARX parts cells by semicolons.
        lines = list(csv.reader(file, delimiter=";" if first.count(";") > first.count(",") else ","))
    header = lines[0] if lines else []
    return {
        unquoted(name): [unquoted(line[i]) if i < len(line) else "" for line in lines[1:]]
        for i, name in enumerate(header)
    }
