"""A view as Ibis expressions that a database evaluates: every question is pushed down, and only answers leave it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wallflower.engines import cube, expressions
from wallflower.engines.backend import Backend
from wallflower.engines.base import Cells, Fetched, Nearest, Record, Repeated
from wallflower.engines.batches import GrowingTable, gathered, runs
from wallflower.engines.people import People, asked_id
from wallflower.engines.reading_rule import Kind, State, key_rule
from wallflower.engines.redaction import broken, quietly, quietly_each
from wallflower.engines.sql_people import SqlPeople
from wallflower.engines.view import View, recorded
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class SqlRows:
    """The questions of `base.Rows`; each engine that speaks SQL adds what its database does otherwise."""

    view: View
    base: Backend
    needed: tuple[str, ...]
    """The raw columns, in the order c0, c1, ... of the staged view."""
    places: dict[str, str]
    """For each column of the view its name n0, n1, ... in `numbers`."""

    @classmethod
    def over(cls, view: View, base: Backend, needed: tuple[str, ...]) -> Self:
        """Stack the views: staged (raw cells) < prepared (comparable values) < settled (integers, NULL = leaves) < kept."""
        rows = cls(view, base, needed, {name: f"n{at}" for at, name in enumerate(view.columns)})
        if view.people is None:
            prepared = rows.prepared()
            settled = base.view("settled", prepared.select(present=prepared.present, **rows.settled(prepared)))
        else:
            settled = rows.hold("settled", SqlPeople(view, view.people, base, rows.raw, rows.hold).settled(rows.places))
        # Columns that drop no row are left out, so that a question need not evaluate them.
        kept = [settled[place].notnull() for name, place in rows.places.items() if view.rules[name].drops]
        base.view("kept", settled.filter(kept) if kept else settled)
        return rows

    @property
    def declaration(self) -> Declaration:
        return self.view.declaration

    @property
    def size(self) -> int:
        self.view.refuse_size()
        return quietly(lambda: self.base.number(self.base.table("kept").count()), broken)

    def fetch(self, *, numbers: Sequence[str] = (), codes: Sequence[str] = ()) -> Fetched:
        self.view.check([*numbers, *codes])
        table = self.base.table("kept")
        steps = {f"v{at}": table[self.places[name]] for at, name in enumerate(numbers)}
        groups = {f"g{at}": code.cast("int32") for at, code in enumerate(self._codes(codes))}

        def work() -> Fetched:
            if not steps and not groups:
                rows = self.base.number(table.count())
                return Fetched(np.empty((rows, 0), np.int64), np.empty((rows, 0), np.int32))
            left, right = GrowingTable(len(steps), np.int64), GrowingTable(len(groups), np.int32)
            for batch in self.base.batches(table.select(**steps, **groups)):
                left.add(batch.columns[: len(steps)], batch.num_rows)
                right.add(batch.columns[len(steps) :], batch.num_rows)
            return Fetched(left.whole(), right.whole())

        return quietly(work, broken)

    def stream(self, numbers: Sequence[str], *, by: str | None = None) -> Iterator[Repeated]:
        self.view.check([*numbers, *(() if by is None else (by,))])
        table = self.base.table("kept")
        steps = {f"v{at}": table[self.places[name]] for at, name in enumerate(numbers)}
        chosen = table.select(**steps)
        if by is not None:
            # By all columns, so that equal rows come together and travel on as one.
            first = f"v{list(numbers).index(by)}"
            chosen = chosen.order_by([first, *(name for name in steps if name != first)])

        def arrays() -> Iterator[NDArray[np.int64]]:
            for batch in self.base.batches(chosen):
                yield gathered(batch, len(steps))

        for numbered in quietly_each(arrays, broken):
            yield runs(numbered)

    def record(self, key: str, /, *, row: int = 1) -> Record | None:
        found = quietly(lambda: self._matching(key, row), broken)
        if len(found) != 1:
            return None
        numbers = {name: n for name, n in zip(self.view.columns, found[0], strict=True) if n is not None}
        return recorded(self.view, numbers) if len(numbers) == len(self.view.columns) else None

    def cells(self, by: Sequence[str], metric: str, centre: int) -> Cells:
        shape, most = self._cube(by, metric, centre)
        return quietly(lambda: self._cells(by, metric, centre, shape, most), broken)

    def nearest(self, by: Sequence[str], metric: str, centre: int, per_side: int) -> Nearest:
        shape, _ = self._cube(by, metric, centre)
        return quietly(lambda: self._nearest(by, metric, centre, per_side, shape), broken)

    def between(self, by: Sequence[str], metric: str, first: int, last: int) -> NDArray[np.int64]:
        self.view.check([*by, metric])
        shape = cube.shape_of(self.declaration, by)
        return quietly(lambda: self._between(by, metric, first, last, shape), broken)

    def hold(self, name: str, expression: Any) -> Any:
        """Name an expression that takes long; a database that can keeps its answer."""
        return self.base.view(name, expression)

    def prepared(self, source: str = "staged", into: str = "prepared") -> Any:
        """Raw cells as comparable values x0, x1, ... with r0, r1, ..., whether they were readable."""
        staged = self.base.table(source)
        columns = {"present": staged.present}
        for at, name in enumerate(self.view.columns):
            raw = staged[self.raw(name)]
            columns[f"x{at}"], columns[f"r{at}"] = expressions.prepared(raw, self.view.rules[name], self.base.dialect)
        return self.base.view(into, staged.select(**columns))

    def settled(self, prepared: Any) -> dict[str, Any]:
        return {
            place: expressions.settled(prepared[f"x{at}"], prepared[f"r{at}"], self.view.rules[name], self.base.dialect)
            for at, (name, place) in enumerate(self.places.items())
        }

    def _codes(self, columns: Sequence[str]) -> list[Any]:
        table = self.base.table("kept")
        codes = []
        for name in columns:
            bins, number = self.view.bins(name), table[self.places[name]]
            codes.append(number if bins is None else expressions.bin_code(number, bins))
        return codes

    def _cube(self, by: Sequence[str], metric: str, centre: int) -> tuple[tuple[int, ...], int]:
        self.view.check([*by, metric])
        return cube.shape_of(self.declaration, by), cube.most_distance(self.declaration, metric, centre)

    def indexed(self, by: Sequence[str], metric: str, shape: tuple[int, ...]) -> Any:
        """The flat index of each row's cell, and its metric."""
        return self.base.view("indexed", self.cells_and_values(by, metric, shape))

    def cells_and_values(self, by: Sequence[str], metric: str, shape: tuple[int, ...]) -> Any:
        import ibis

        index = ibis.literal(0, "int64")
        for code, size in zip(self._codes(by), shape, strict=True):
            index = index * size + code
        table = self.base.table("kept")
        return table.select(cell=index.cast("int64"), value=table[self.places[metric]])

    def _cells(self, by: Sequence[str], metric: str, centre: int, shape: tuple[int, ...], most: int) -> Cells:
        rows = self.indexed(by, metric, shape)
        z = rows.value - self.base.asked(centre, "int64")
        size, total = z.abs(), self.base.dialect.exact_sum
        measures = {"n": z.count(), "total": total(z), "least": z.min(), "most": z.max()}
        high, low = (size >> cube.HALF, size & (2**cube.HALF - 1)) if most >= 2**31 else (None, size)
        measures["low"] = total(low * low)
        if high is not None:
            measures |= {"high": total(high * high), "cross": total(high * low)}
        answer = self.base.arrow(rows.group_by("cell").aggregate(**measures)).to_pydict()
        at = np.array(answer["cell"], np.int64)
        squares = [int(text) for text in answer["low"]]
        if high is not None:
            squares = [
                int(hh) * 2 ** (2 * cube.HALF) + int(hl) * 2 ** (cube.HALF + 1) + ll
                for hh, hl, ll in zip(answer["high"], answer["cross"], squares, strict=True)
            ]
        totals = [int(text) for text in answer["total"]]
        return Cells(
            counts=_spread(at, answer["n"], shape, np.int64),
            totals=_spread(at, totals, shape, object),
            squares=_spread(at, squares, shape, object),
            least=_spread(at, answer["least"], shape, np.int64),
            most=_spread(at, answer["most"], shape, np.int64),
        )

    def _nearest(self, by: Sequence[str], metric: str, centre: int, per_side: int, shape: tuple[int, ...]) -> Nearest:
        import ibis

        rows = self.indexed(by, metric, shape)
        distinct = rows.group_by("cell", "value").aggregate(n=rows.count())
        middle = self.base.asked(centre, "int64")
        side = ibis.cases((distinct.value > middle, 1), (distinct.value < middle, -1), else_=0)
        distinct = distinct.mutate(side=side, distance=(distinct.value - middle).abs())
        rank = ibis.row_number().over(group_by=["cell", "side"], order_by="distance")
        ranked = distinct.mutate(rank=rank)
        near = ranked.filter((ranked["rank"] < per_side) | (ranked.side == 0)).order_by("cell", "value")
        answer = self.base.arrow(near.select("cell", "value", "n"))
        index, values, n = (answer[name].to_numpy() for name in ("cell", "value", "n"))
        return cube.assembled(index, values, n, math.prod(shape))

    def _between(
        self, by: Sequence[str], metric: str, first: int, last: int, shape: tuple[int, ...]
    ) -> NDArray[np.int64]:
        rows = self.indexed(by, metric, shape)
        # Both ends tell a record's value, and a server may log what stands in a statement.
        inside = rows.filter(
            rows.value >= self.base.asked(first, "int64"), rows.value <= self.base.asked(last, "int64")
        )
        answer = self.base.arrow(inside.group_by("cell").aggregate(n=inside.count())).to_pydict()
        return _spread(np.array(answer["cell"], np.int64), answer["n"], shape, np.int64)

    def placed(self, key: str) -> Any:
        """The staged row that a key like "row:12" names; None where rows have no order."""
        return None

    def _matching(self, key: str, row: int) -> list[tuple[int | None, ...]]:
        """The integers of the rows with this key, two of them at most."""
        if self.view.people is not None:
            return self._rows_of_person(key, self.view.people, row)
        found = self.placed(key) if self.view.key_kind is None else self._keyed(key, self.view.key_kind)
        if found is None:
            return []
        self.base.view("found", found, asked=True)
        prepared = self.prepared("found", "found_prepared")
        settled = self.base.view("found_settled", prepared.select(present=prepared.present, **self.settled(prepared)))
        answer = self.base.arrow(settled.limit(2)).to_pylist()
        return [tuple(each[place] for place in self.places.values()) for each in answer]

    def _rows_of_person(self, key: str, people: People, row: int) -> list[tuple[int | None, ...]]:
        wanted = asked_id(people, key)
        if wanted is None:
            return []
        settled = self.base.table("settled")
        exact = people.person_kind is not Kind.DECIMAL  # which are compared as plain texts
        held = expressions.plain(wanted, people.person_kind) if exact else (wanted, "string")
        found = settled.filter(settled.id == self.base.asked(*held))
        if people.rows is not None:
            found = found.filter(found.place == row - 1)
        found = found.limit(2)
        answer = self.base.arrow(found).to_pylist()
        return [tuple(each[place] for place in self.places.values()) for each in answer]

    def _keyed(self, key: str, kind: Kind) -> Any:
        """The staged rows with this key; None when no cell of this kind could hold it."""
        name = self.declaration.key or ""
        rule = key_rule(name, kind, key)
        if not rule.codes:
            return None
        (wanted,) = rule.codes
        staged = self.base.table("staged")
        value, readable = expressions.prepared(staged[self.raw(name)], rule, self.base.dialect)
        same = value == self.base.asked(*expressions.plain(wanted, kind))
        return staged.filter((readable == int(State.INSIDE)) & same)

    def raw(self, name: str) -> str:
        return f"c{self.needed.index(name)}"


def _spread(at: NDArray[np.int64], values: list[Any], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Into the whole cube; cells without rows are 0."""
    spread = np.zeros(math.prod(shape), dtype)
    spread[at] = np.array(values, dtype)
    return spread.reshape(shape)
