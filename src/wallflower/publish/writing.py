"""The published file: generalised values people can read, in an order that says nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.mechanisms.shuffle import shuffled
from wallflower.noise.entropy import Entropy
from wallflower.publish.grouping import Group
from wallflower.publish.space import Axis, Space
from wallflower.schema.domains import Categories, Dates

GROUP = "group"
FORMATS = (".csv", ".parquet")


@dataclass(frozen=True)
class Sheet:
    """Columns by name, all of one length: what the file holds."""

    columns: dict[str, list[Any]]

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0


def sheet(
    space: Space,
    places: NDArray[np.int64],
    groups: Sequence[Group],
    unchanged: Sequence[Axis],
    others: NDArray[np.int64],
    *,
    with_groups: bool,
    entropy: Entropy,
) -> Sheet:
    """Lay out the groups' rows in a uniformly random order; group numbers follow that order."""
    members = np.concatenate([group.rows for group in groups]) if groups else np.zeros(0, dtype=np.int64)
    of_group = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
    order = shuffled(len(members), entropy)
    members, of_group = members[order], of_group[order]
    columns: dict[str, list[Any]] = {}
    for a, axis in enumerate(space.quasi):
        texts = [axis.text(int(group.low[a]), int(group.high[a])) for group in groups]
        columns[axis.name] = [texts[g] for g in of_group]
    quasi = len(space.quasi)
    for a, axis in enumerate(space.sensitive):
        columns[axis.name] = _originals(axis, places[members, quasi + a])
    for a, axis in enumerate(unchanged):
        columns[axis.name] = _originals(axis, others[members, a])
    if with_groups:
        columns[GROUP] = _numbered(of_group)
    return Sheet(columns)


def _originals(axis: Axis, held: NDArray[np.int64]) -> list[Any]:
    if isinstance(axis.domain, Categories | Dates):
        return [axis.value(int(place)) for place in held]
    whole = axis.domain.step.denominator == 1
    return [int(axis.value(int(place))) if whole else axis.value(int(place)) for place in held]


def _numbered(of_group: NDArray[np.int64]) -> list[int]:
    """Numbers from 1 in the order of first appearance, which is random."""
    names: dict[int, int] = {}
    return [names.setdefault(int(g), len(names) + 1) for g in of_group]


def rendered(sheet_: Sheet, kind: str) -> bytes:
    """The file's bytes, as CSV or Parquet."""
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        held = io.BytesIO()
        pq.write_table(pa.table({name: pa.array(column) for name, column in sheet_.columns.items()}), held)
        return held.getvalue()
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sheet_.columns)
    writer.writerows(zip(*sheet_.columns.values(), strict=True))
    return text.getvalue().encode()


def read(path: Path) -> dict[str, list[str]]:
    """A published file as texts by column."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return {name: [str(v) for v in table.column(name).to_pylist()] for name in table.column_names}
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file))
    header = lines[0] if lines else []
    return {name: [line[i] if i < len(line) else "" for line in lines[1:]] for i, name in enumerate(header)}
