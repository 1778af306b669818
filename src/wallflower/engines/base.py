"""What a query may ask of a table, and nothing more.

Every engine answers these questions from the declared integers alone (`schema.domains`), bit for bit the same:
categories and bins as codes, numbers and dates as steps, `outside` and `missing` already applied. A row that a column
of this view drops is not there. The order of rows means nothing and no answer may depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class Record:
    """One row: for each column of the view its integer (a code of a category, or steps), and its bin where it has bins."""

    numbers: Mapping[str, int]
    codes: Mapping[str, int]


@dataclass(frozen=True)
class Fetched:
    """Columns of the same rows: row i of one array and row i of the other are one row."""

    numbers: NDArray[np.int64]
    """One row per row, one column per name: its number of steps, its day, or the code of its category."""
    codes: NDArray[np.int32]
    """One row per row, one column per name: the code of its category or bin."""


@dataclass(frozen=True)
class Repeated:
    """A batch of rows, each with how often it comes in a row; the same row may come again."""

    numbers: NDArray[np.int64]
    """One row per row, one column per name."""
    times: NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """Exact statistics of z = metric − centre in each cell of the cube of `by`, empty cells included.

    Every array has one axis per column of `by`, as long as that column's declared values. `totals` and `squares` hold
    Python integers (dtype object): sums of squares outgrow 64 bits. `least` and `most` are 0 where `counts` is 0.
    """

    counts: NDArray[np.int64]
    totals: NDArray[np.object_]
    squares: NDArray[np.object_]
    least: NDArray[np.int64]
    most: NDArray[np.int64]


@dataclass(frozen=True)
class Nearest:
    """For each cell the distinct metric values nearest to the centre, with how many rows hold each.

    The arrays run over cells in row-major order of the cube: cell c owns entries starts[c] to starts[c + 1], sorted by value.
    They are the `per_side` largest values below the centre, the centre itself when a row holds it, and
    the `per_side` smallest above it.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.int64]
    multiplicities: NDArray[np.int64]


class Rows(Protocol):
    """A view of a table restricted to the columns a query named."""

    @property
    def declaration(self) -> Declaration: ...

    @property
    def size(self) -> int:
        """How many rows there are; refused unless neighbours = "replace-one", where the number is public."""
        ...

    def fetch(self, *, numbers: Sequence[str] = (), codes: Sequence[str] = ()) -> Fetched:
        """All wanted columns of every row, together.

        Rows line up within one fetch and not between two: a database hands them out in an order of its own each time.
        """
        ...

    def stream(self, numbers: Sequence[str], *, by: str | None = None) -> Iterator[Repeated]:
        """All wanted columns of every row, together, a batch at a time: more rows than this process can hold.

        With `by` they ascend in that column, from one batch to the next too; the engine sorts, and spills where it must. Read it to its end
        before asking anything else.
        """
        ...

    def record(self, key: str, /, *, row: int = 1) -> Record | None:
        """The row with this key; None when there is none, when it was dropped, or when several share the key.

        Where up to m rows of a person count, the `row`-th of those that are kept, in the order in which they are (`engines.people`):
        the same row whatever the view's columns, and None when the view drops it.
        """
        ...

    def cells(self, by: Sequence[str], metric: str, centre: int) -> Cells: ...

    def nearest(self, by: Sequence[str], metric: str, centre: int, per_side: int) -> Nearest: ...

    def between(self, by: Sequence[str], metric: str, first: int, last: int) -> NDArray[np.int64]:
        """How many rows of each cell have first ≤ metric ≤ last; one axis per column of `by`."""
        ...


class Source(Protocol):
    """Where rows live. No row is read before `rows` is entered, but for damage (`Damageable`)."""

    def verify(self, columns: Sequence[str], /) -> None:
        """Refuse a missing file, a missing column or an unusable type by name; reads names and types, no row."""
        ...

    def rows(self, columns: Sequence[str], /) -> AbstractContextManager[Rows]:
        """Open the view for `columns` (the key is always available to `record`); closing it frees every resource."""
        ...


@runtime_checkable
class Damageable(Protocol):
    """A source that can say what its columns are though what holds their cells is damaged; another has no such method."""

    def refuse_damage(self, columns: Sequence[str], /) -> None:
        """Read every cell that `rows` would, as it would, and keep nothing; refuse a source that cannot be read to its end.

        Comes when nothing else stands before the charge. It tells nothing about rows, because no value makes it fail: what
        can be read as bytes and is no number, text or moment is an unreadable cell. What a view computes is not tried: that
        may fail for a row.
        """
        ...


def refuse_damage(source: Source, columns: Sequence[str]) -> None:
    """Refuse what would break while rows are read, whatever is in them."""
    if isinstance(source, Damageable):
        source.refuse_damage(columns)
