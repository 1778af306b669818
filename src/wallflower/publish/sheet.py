"""The published file: generalised values people can read, in an order that says nothing."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.mechanisms.shuffle import shuffled
from wallflower.noise.entropy import Entropy
from wallflower.publish.cells import ends, quoted
from wallflower.publish.publication import Publication
from wallflower.publish.space import Axis
from wallflower.schema.domains import Categories, Dates


@dataclass(frozen=True)
class Sheet:
    """Columns by name, all of one length: what the file holds."""

    columns: dict[str, list[Any]]
    words: frozenset[str]
    """Columns that hold words; the others hold numbers."""

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0


def sheet(publication: Publication, *, number: str | None, in_columns: bool, entropy: Entropy) -> Sheet:
    """Lay out the groups' rows in a uniformly random order. With `number`, a column of that name numbers the groups; `in_columns`
    writes generalised numbers and dates to a low and a high column.
    """
    space, places, groups = publication.space, publication.places, publication.grouping.groups
    members = np.concatenate([group.rows for group in groups]) if groups else np.zeros(0, dtype=np.int64)
    of_group = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
    order = shuffled(len(members), entropy)
    members, of_group = members[order], of_group[order]
    columns: dict[str, list[Any]] = {}
    words: set[str] = set()
    for a, axis in enumerate(space.quasi):
        if in_columns and not axis.categorical:
            for name, side in zip(ends(axis.name), ("low", "high"), strict=True):
                end = np.array([getattr(group, side)[a] for group in groups], dtype=np.int64)
                columns[name] = _originals(axis, end[of_group])
            continue
        texts = [axis.text(int(group.low[a]), int(group.high[a])) for group in groups]
        columns[axis.name] = [texts[g] for g in of_group]
        words |= {axis.name} if axis.categorical or axis.tree is not None else set()
    quasi = len(space.quasi)
    for a, axis in enumerate(space.sensitive):
        columns[axis.name] = _originals(axis, places[members, quasi + a])
    for a, axis in enumerate(publication.unchanged):
        columns[axis.name] = _originals(axis, publication.others[members, a])
    words |= {axis.name for axis in (*space.sensitive, *publication.unchanged) if axis.categorical}
    if number is not None:
        columns[number] = _numbered(of_group)
    return Sheet(columns, frozenset(words))


def _originals(axis: Axis, held: NDArray[np.int64]) -> list[Any]:
    if isinstance(axis.domain, Categories | Dates):
        return [axis.value(int(place)) for place in held]
    whole = axis.domain.step.denominator == 1
    return [int(axis.value(int(place))) if whole else axis.value(int(place)) for place in held]


def _numbered(of_group: NDArray[np.int64]) -> list[int]:
    """Numbers from 1 in the order of first appearance, which is random."""
    names: dict[int, int] = {}
    return [names.setdefault(int(g), len(names) + 1) for g in of_group]


def rendered(sheet_: Sheet, suffix: str) -> bytes:
    """The file's bytes: CSV or Parquet by the ending of its name."""
    if suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        binary = io.BytesIO()
        pq.write_table(pa.table({name: pa.array(column) for name, column in sheet_.columns.items()}), binary)
        return binary.getvalue()
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([quoted(name) for name in sheet_.columns])
    cells = [
        [quoted(cell) for cell in column] if name in sheet_.words else column for name, column in sheet_.columns.items()
    ]
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue().encode("utf-8")
