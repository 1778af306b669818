"""Small tables for the tests of `explain`: rows given as integers, answered by the most obvious code there is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from wallflower.engines.base import Cells, Fetched, Nearest, Record
from wallflower.explain.languages import Vocabulary
from wallflower.explain.record_view import RecordView
from wallflower.explain.space import Space
from wallflower.explain.validity import decider
from wallflower.schema.declaration import Column, Declaration
from wallflower.schema.domains import Categories, Numbers


def declaration(shape, *, lower=-1000, upper=1000, neighbours="add-remove"):
    columns = {
        f"c{i}": Column(name=f"c{i}", role="quasi-identifier", domain=Categories(tuple(f"v{j}" for j in range(size))))
        for i, size in enumerate(shape)
    }
    bounds = Numbers(lower=Fraction(lower), upper=Fraction(upper), step=Fraction(1))
    columns["y"] = Column(name="y", role="sensitive", domain=bounds)
    return Declaration(
        id="t", source=None, key="id", neighbours=neighbours, max_rows=10**6, reviewed=True, test=True,
        ledger=Path("t.ledger"), budgets={}, columns=columns, fingerprint="0",
    )  # fmt: skip


@dataclass(frozen=True)
class PlainRows:
    """The `Rows` protocol by loops over tuples (codes..., y)."""

    declaration: Declaration
    table: tuple[tuple[int, ...], ...]
    asked: int | None = 0
    """Place of the asked-for row."""

    @property
    def _by(self):
        return [name for name in self.declaration.columns if name != "y"]

    def fetch(self, *, numbers=(), codes=()):
        assert list(numbers) in ([], ["y"])
        steps = np.array([[row[-1]] for row in self.table], dtype=np.int64).reshape(len(self.table), 1)
        return Fetched(steps[:, : len(numbers)], self.codes(codes))

    def codes(self, columns):
        places = [self._by.index(name) for name in columns]
        return np.array([[row[p] for p in places] for row in self.table], dtype=np.int32).reshape(
            len(self.table), len(places)
        )

    def record(self, key, *, row=1):
        if self.asked is None or key != "asked":
            return None
        row = self.table[self.asked]
        codes = dict(zip(self._by, row, strict=False))
        return Record(numbers={**codes, "y": row[-1]}, codes=codes)

    def _grouped(self, by):
        shape = tuple(self.declaration.column(name).groups.size for name in by)
        groups = {cell: [] for cell in np.ndindex(*shape)}
        for codes, row in zip(self.codes(by), self.table, strict=True):
            groups[tuple(int(c) for c in codes)].append(row[-1])
        return shape, groups

    def cells(self, by, metric, centre):
        shape, groups = self._grouped(by)
        made = [np.zeros(shape, dtype=kind) for kind in (np.int64, object, object, np.int64, np.int64)]
        for cell, ys in groups.items():
            z = [y - centre for y in ys]
            for array, value in zip(
                made, (len(z), sum(z), sum(a * a for a in z), min(z, default=0), max(z, default=0)), strict=True
            ):
                array[cell] = value
        return Cells(*made)

    def nearest(self, by, metric, centre, per_side):
        _, groups = self._grouped(by)
        starts, values, copies = [0], [], []
        for ys in groups.values():
            low, high = sorted({y for y in ys if y < centre}), sorted({y for y in ys if y > centre})
            kept = [*low[-per_side:], *([centre] if centre in ys else []), *high[:per_side]]
            values += kept
            copies += [ys.count(y) for y in kept]
            starts.append(len(values))
        return Nearest(np.array(starts), np.array(values, dtype=np.int64), np.array(copies, dtype=np.int64))

    def between(self, by, metric, first, last):
        shape, groups = self._grouped(by)
        found = np.zeros(shape, dtype=np.int64)
        for cell, ys in groups.items():
            found[cell] = sum(first <= y <= last for y in ys)
        return found


def view(table, shape, *, least=1, lower=-1000, upper=1000, place=0, languages=None, trees=None):
    """The rows as the row at `place` sees them."""
    declared = declaration(shape, lower=lower, upper=upper)
    rows = PlainRows(declared, tuple(table), place)
    columns = tuple(f"c{i}" for i in range(len(shape)))
    each = tuple(
        Vocabulary(name, declared.column(name).groups, language, tree)
        for name, language, tree in zip(
            columns, languages or ["sets"] * len(shape), trees or [None] * len(shape), strict=True
        )
    )
    space = Space.of(each, own=tuple(table[place][:-1]))
    return RecordView(rows=rows, space=space, metric="y", centre=table[place][-1], least=least)


def every_valid(sight, detector, most=2**20):
    """Whether each context is valid, by the detector's fast path, in blocks of `most` contexts."""
    decided = decider(sight, detector)
    return np.concatenate([decided.valid(block) for block in sight.blocks(most)])


def some_valid(sight, detector, indices):
    return decider(sight, detector).valid(sight.few(np.asarray(indices)))


def population(sight, index):
    """The sorted metric values of one context, by filtering rows."""
    sets = sight.space.chosen(index)
    kept = [row[-1] for row in sight.rows.table if all(code in codes for code, codes in zip(row, sets, strict=False))]
    return np.array(sorted(kept), dtype=np.int64)


def slow_validity(sight, detector):
    """Validity of every context by the detector's own definition on the filtered values."""
    found = []
    for index in range(sight.space.count):
        values = population(sight, index)
        found.append(len(values) >= sight.least and detector.stands_out(values, sight.centre, step=Fraction(1)))
    return np.array(found)


def random_table(random, shape, size, *, spread):
    """Rows with many ties when `spread` is small."""
    return [(*(random.randrange(n) for n in shape), random.randint(-spread, spread)) for _ in range(size)]
