"""A table in memory with a declaration of equal columns, without engine, session or ledger."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from wallflower.engines.base import Fetched
from wallflower.engines.batches import runs
from wallflower.schema.declaration import Column, Declaration
from wallflower.schema.domains import Numbers


def declared(width, *, neighbours="replace-one", max_rows=1000, step=1, scale=None):
    columns = {
        f"c{i}": Column(
            name=f"c{i}",
            role="sensitive",
            domain=Numbers(lower=Fraction(-(10**6)), upper=Fraction(10**6), step=Fraction(step)),
            scale=scale,
        )
        for i in range(width)
    }
    return Declaration(
        id="stub",
        source=None,
        key=None,
        neighbours=neighbours,
        max_rows=max_rows,
        reviewed=True,
        test=True,
        ledger=Path("none"),
        budgets={},
        columns=columns,
        fingerprint="",
    )


class Table:
    """What `count` asks of `Rows`."""

    def __init__(self, points, declaration) -> None:
        self.points = np.asarray(points, dtype=np.int64).reshape(-1, len(declaration.columns))
        self.declaration = declaration

    @property
    def size(self):
        assert self.declaration.neighbours == "replace-one", "the number of rows is private"
        return len(self.points)

    def stream(self, numbers, *, by=None):
        rows = self.fetch(numbers=numbers).numbers
        yield runs(rows if by is None else rows[np.argsort(rows[:, list(numbers).index(by)], kind="stable")])

    def fetch(self, *, numbers):
        places = [list(self.declaration.columns).index(name) for name in numbers]
        return Fetched(np.ascontiguousarray(self.points[:, places]), np.empty((len(self.points), 0), np.int32))
