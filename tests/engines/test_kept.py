"""Cells and values that DuckDB keeps for the next question: the answers are those of rows that are read anew."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tests.contracts.engine_sources import categories, declare, from_parquet, numbers
from wallflower.engines.duckdb import rows as duck
from wallflower.engines.duckdb.database import Database
from wallflower.schema.declaration import Becomes

ENDS = {
    2: (-(2**15), 2**15 - 1),
    "just over 2": (-(2**15) - 1, 2**15 - 1),
    4: (-(2**31), 2**31 - 1),
    "just over 4": (-(2**31), 2**31),
    8: (-(2**49), 2**49),
}
PAIRS = ((("c",), "x"), (("b", "c"), "x"), (("c",), "y"))
"""Asked one after the other: what was kept for one must not answer another."""


@pytest.fixture
def reread(monkeypatch):
    """How often rows were read to be kept."""
    held = []
    hold = Database.hold
    monkeypatch.setattr(Database, "hold", lambda base, name, wide: held.append(name) or hold(base, name, wide))
    return held


def source_of(folder, lower, upper, *, rows=60, seed=0):
    dice = random.Random(seed)
    x = [dice.choice((lower, upper, lower - 1, upper + 1, 0, 1, None)) for _ in range(rows)]
    table = pa.table(
        {
            "k": [str(at) for at in range(rows)],
            "c": [dice.choice(("a", "b", "3", "no such")) for _ in range(rows)],
            "b": [dice.choice(("p", "q")) for _ in range(rows)],
            "x": pa.array(x, pa.float64()),
            "y": pa.array([dice.randrange(9) for _ in range(rows)], pa.float64()),
        }
    )
    declaration = declare(
        categories("c", ("a", "b", "3")),
        categories("b", ("p", "q")),
        numbers("x", lower=str(lower), upper=str(upper), step="1", missing=Becomes(upper)),
        numbers("y", lower="0", upper="9", step="1"),
    )
    return from_parquet(table, declaration, folder)


def answers(source, centres):
    found = []
    with source.rows(("c", "b", "x", "y")) as rows:
        for by, metric in (*PAIRS, PAIRS[0]):
            for centre in centres:
                cells = rows.cells(by, metric, centre)
                near = rows.nearest(by, metric, centre, 2)
                between = rows.between(by, metric, min(0, centre), max(0, centre))
                found += [getattr(cells, name) for name in ("counts", "totals", "squares", "least", "most")]
                found += [getattr(near, name) for name in ("starts", "values", "multiplicities")] + [between]
    return found


@pytest.mark.parametrize("ends", ENDS.values(), ids=[str(name) for name in ENDS])
def test_kept_cells_answer_as_rows_do(ends, tmp_path, reread, monkeypatch):
    source = source_of(tmp_path, *ends)
    centres = (0, ends[0])
    kept = answers(source, centres)
    assert len(reread) == len(set(reread)) == len(PAIRS)  # read once for each pair, whatever was asked of it
    monkeypatch.setattr(duck, "KEPT", 0)
    assert all(np.array_equal(left, right) for left, right in zip(kept, answers(source, centres), strict=True))
    assert len(reread) == len(PAIRS)


def test_what_may_not_fit_is_not_kept_and_the_declared_bound_alone_says_so(tmp_path, reread):
    """Two integers of two bytes a row."""
    source = source_of(tmp_path, *ENDS[2])
    for max_rows, kept in ((duck.KEPT // 4, 1), (duck.KEPT // 4 + 1, 0)):
        reread.clear()
        bounded = replace(source, declaration=replace(source.declaration, max_rows=max_rows))
        with bounded.rows(("c", "x")) as rows:
            rows.cells(("c",), "x", 0)
            rows.nearest(("c",), "x", 0, 3)
        assert len(reread) == kept
