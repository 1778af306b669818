"""Counts of a table that is read in parts. Why they are those of the whole table:

Asked values: min(Σ min(c_i, cap), cap) = min(Σ c_i, cap), so that rows may be parted anywhere, and need no halo. Cells of a grid are sums.

Every row's own value: rows within the radius differ, in a column that counts by gaps, by at most the ball's reach there; a strip with that halo on
both sides has all rows near its own, and so has a part on executors (`engines.partition`). Of a row that occurs more than `cap` times so many
are given: it, and whatever is near it, has its cap all the same. Where the column that is cut does not count by gaps, every distinct value
is asked about like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.engines.batches import joined, limited
from wallflower.engines.executors import Spread, executors_of
from wallflower.engines.plan import Plan, plan_rows
from wallflower.engines.spill import Spill
from wallflower.geometry.index import MOST
from wallflower.geometry.strips import strips
from wallflower.identify.counts import of_rows
from wallflower.identify.grid import Grid
from wallflower.identify.metric import Metric
from wallflower.identify.tasks import AskedHere, CellsHere, SeenHere, TaskTrial
from wallflower.schema.declaration import Declaration
from wallflower.schema.domains import Categories

Ints = NDArray[np.int64]

FEW_COMPARED = 20_000
"""Rows of a part whose rows are compared pair by pair. Only time depends on it."""


def plan_of(declaration: Declaration, metric: Metric) -> Plan:
    """How a question in this metric reads the rows; public."""
    return plan_rows(declaration, len(metric.columns), along=metric.columns[_cut_across(declaration, metric)])


def plan_of_asked(declaration: Declaration, metric: Metric) -> Plan:
    """The same for asked values, which need no order."""
    plan = plan_of(declaration, metric)
    if plan.way == "distribute":
        return replace(plan, along="")
    return replace(plan, way="batches") if plan.way == "tiles" else plan


def prepare_parts(rows: Rows, metric: Metric, *, comparisons: int) -> None:
    """Executors load or compile what they may need, from made-up rows."""
    if plan_of(rows.declaration, metric).way == "distribute":
        executors = executors_of(rows)
        executors.run(TaskTrial(metric, comparisons), [metric.points(rows)] * executors.slots)


def parts(rows: Rows, metric: Metric) -> Iterator[Ints]:
    """All rows: at once where they fit, else a batch at a time, in no order. Private."""
    if plan_of(rows.declaration, metric).way == "fetch":
        yield metric.points(rows)
        return
    for batch in rows.stream(metric.columns):
        yield np.repeat(batch.numbers, batch.times, axis=0)


def of_asked(rows: Rows, metric: Metric, asked: Ints, *, cap: int) -> tuple[Ints, Ints]:
    """(copies, within) of each asked value, each at most `cap`. Private."""
    task = AskedHere(metric, asked, cap)
    if plan_of(rows.declaration, metric).way != "distribute":
        return task(0, parts(rows, metric))
    held, near = np.zeros(len(asked), dtype=np.int64), np.zeros(len(asked), dtype=np.int64)
    for more_held, more_near in executors_of(rows).spread(metric.columns).over(task):
        held, near = np.minimum(held + more_held, cap), np.minimum(near + more_near, cap)
    return held, near


def in_cells(rows: Rows, metric: Metric, grid: Grid) -> Ints:
    """How many rows lie in each cell of a grid. Private."""
    task = CellsHere(grid)
    if plan_of(rows.declaration, metric).way != "distribute":
        return task(0, parts(rows, metric))
    found = executors_of(rows).spread(metric.columns).over(task)
    return np.asarray(np.sum([np.zeros(grid.cells, dtype=np.int64), *found], axis=0))


@dataclass(frozen=True)
class Seen:
    """Values of rows with what `counts.of_rows` says of each, and how many rows each stands for. Private."""

    values: Ints
    held: Ints
    near: Ints
    stands_for: Ints


def spread_out(rows: Rows, metric: Metric) -> bool:
    """Whether every row is looked at on executors: the column that is cut counts by gaps, or no other value is near."""
    plan = plan_of(rows.declaration, metric)
    return plan.way == "distribute" and (metric.alone or metric.by_gap[metric.columns.index(plan.along)])


def on_executors(rows: Rows, metric: Metric, *, until: int, cap: int) -> tuple[Spread, list[tuple[Ints, Ints]]]:
    """`tasks.SeenHere` of every row, which stays on the executors, and how many rows have each (copies, within). For the owner alone."""
    plan = plan_of(rows.declaration, metric)
    by = metric.columns.index(plan.along)
    halo = 0 if metric.alone else min(metric.ball.reach(by), 4 * MOST)
    spread = executors_of(rows).spread(metric.columns)
    # Where columns do not all count by gaps there is no index: each value of a part is compared with all of it.
    most = plan.rows if all(metric.by_gap) else min(plan.rows, FEW_COMPARED)
    cut = spread.cut(by, below=halo, above=halo, most=most, copies=1 if metric.alone else cap)
    return spread.kept(SeenHere(metric, until, cap), cut, width=len(metric.columns) + 3)


def of_every_row(rows: Rows, metric: Metric, *, until: int, cap: int) -> Iterator[Seen]:
    """Every row, in parts where they would not fit. For the owner alone."""
    plan = plan_of(rows.declaration, metric)
    if plan.way == "fetch":
        points = metric.points(rows)
        yield Seen(points, *of_rows(metric, points, until=until, cap=cap), np.ones(len(points), dtype=np.int64))
        return
    batches = joined(rows.stream(metric.columns, by=plan.along))
    if metric.alone:  # no other value is near, and equal rows come together
        for batch in batches:
            own = np.minimum(batch.times, cap)
            yield Seen(batch.numbers, own, own, batch.times)
    elif all(metric.by_gap):
        by = metric.columns.index(plan.along)
        halo = min(metric.ball.reach(by), 4 * MOST)
        given = (limited(batch, cap) for batch in batches)
        for strip in strips(given, by, below=halo, above=halo, most=plan.rows):
            points = np.ascontiguousarray(strip.rows[:, :-1])
            held, near = of_rows(metric, points, until=until, cap=cap)
            yield Seen(points[strip.home], held[strip.home], near[strip.home], strip.rows[strip.home, -1])
    else:
        with Spill(len(metric.columns) + 1, most=plan.rows) as heap:
            for batch in batches:
                heap.add(np.column_stack([batch.numbers, batch.times]))
            for chunk in heap.ascending([0]):
                for start in range(0, len(chunk), plan.rows):
                    values, times = chunk[start : start + plan.rows, :-1], chunk[start : start + plan.rows, -1]
                    _, near = of_asked(rows, metric, np.ascontiguousarray(values), cap=cap)
                    held = np.where(near <= until, np.minimum(times, cap), 1)
                    yield Seen(values, held, near, times)


def _cut_across(declaration: Declaration, metric: Metric) -> int:
    """The column that counts by gaps and has the largest declared range for its reach; the first where none does."""

    def reaches(place: int) -> float:
        domain = declaration.column(metric.columns[place]).domain
        if not metric.by_gap[place] or domain is None or isinstance(domain, Categories):
            return 0.0
        return (domain.last - domain.first + 1) / (metric.ball.reach(place) + 1)

    return max(range(len(metric.columns)), key=reaches)
