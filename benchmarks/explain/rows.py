"""Made-up salaries of the paper's shape: 9 job titles, 8 employers, 8 years, every cell in use, whole dollars."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wallflower.schema import load

SHAPE = (9, 8, 8)
DECLARATION = """
[table]
id = "made-up"
source = "rows.parquet"
key = "id"
unit = "row"
neighbours = "add-remove"
max_rows = 100_000_000
reviewed = true
test = true
ledger = "rows.ledger"

[budget.output-constrained-dp]
epsilon = "100"

{columns}
[columns.salary]
role = "sensitive"
lower = 0
upper = 1_000_000
step = "1"
outside = "clip"
missing = "drop"
"""
COLUMN = '[columns.{name}]\nrole = "quasi-identifier"\nvalues = [{values}]\noutside = "drop"\nmissing = "drop"\n'
NAMES = ("title", "employer", "year")


def made_up(folder: Path, count: int, *, shape: tuple[int, ...] = SHAPE):
    """A declared parquet file of `count` rows; row 0 is unusual for its kind and not overall."""
    dice = np.random.default_rng(count)
    codes = [np.minimum(dice.exponential(size / 3, count).astype(np.int8), size - 1) for size in shape]
    pay = 60_000 * 1.18 ** codes[0] * 1.05 ** codes[1] * 1.03 ** codes[2] * np.exp(dice.normal(0, 0.08, count))
    pay = np.rint(pay)
    for code in codes:
        code[0] = 0
    pay[0] = 131_313
    columns = {"id": pa.array([f"r{place}" for place in range(count)])}
    for name, code, size in zip(NAMES, codes, shape, strict=True):
        values = pa.array([f"{name}{value}" for value in range(size)])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(code), values).cast(pa.string())
    columns["salary"] = pa.array(pay)
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    declared = "".join(
        COLUMN.format(name=name, values=", ".join(f'"{name}{value}"' for value in range(size)))
        for name, size in zip(NAMES, shape, strict=True)
    )
    path = folder / "rows.toml"
    path.write_text(DECLARATION.format(columns=declared), encoding="utf-8")
    return load(path)
