"""A made-up table with ties that a GPU is tried on before anything is charged: its flags against the processor's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wallflower.detectors import LOF, Grubbs, Histogram
from wallflower.engines.memory.source import MemorySource
from wallflower.explain.gpu.engine import Engine, Runner
from wallflower.explain.gpu.problems import problem
from wallflower.explain.languages import Vocabulary
from wallflower.explain.record_view import RecordView
from wallflower.explain.space import Space
from wallflower.explain.validity import decider
from wallflower.schema import loads

SHAPE = (5, 4, 4)
ROWS = 600
DETECTORS: dict[str, tuple[Any, ...]] = {
    "lof": (LOF(neighbours=3, threshold="1.1"), LOF(neighbours=20)),
    "grubbs": (Grubbs(alpha="0.3"), Grubbs(alpha="0.3", argmax=True)),
    "histogram": (Histogram(rare="0.05"),),
}
_TABLE = """
[table]
id = "trial"
unit = "row"
key = "name"
neighbours = "add-remove"
max_rows = 1000
ledger = "none"

[columns.name]
role = "identifier"
{columns}
[columns.amount]
role = "sensitive"
lower = 0
upper = 400
step = 1
outside = "clip"
missing = 0
"""
_COLUMN = '[columns.{name}]\nrole = "quasi-identifier"\nvalues = [{values}]\noutside = "drop"\nmissing = "drop"\n'


def differs(runner: Runner, name: str) -> int:
    """In how many contexts a device and the processor disagree, over the settings of one detector: 0, or the device is not used."""
    found = 0
    with _view() as view:
        for detector in DETECTORS[name]:
            asked = problem(view, detector)
            if asked is None:
                raise RuntimeError
            decided = decider(view, detector)
            expected = np.concatenate([decided.valid(block) for block in view.blocks()])
            found += int((Engine(asked, runner).flags() != expected).sum())
    return found


@contextmanager
def _view() -> Iterator[RecordView]:
    import pyarrow as pa

    dice = np.random.default_rng(1)
    names = [f"c{place}" for place in range(len(SHAPE))]
    values = {name: [f"v{value}" for value in range(size)] for name, size in zip(names, SHAPE, strict=True)}
    declared = loads(
        _TABLE.format(
            columns="".join(
                _COLUMN.format(name=name, values=", ".join(f'"{value}"' for value in held))
                for name, held in values.items()
            )
        )
    )
    cells: dict[str, Any] = {"name": [str(row) for row in range(ROWS)]}
    cells |= {name: [held[code] for code in dice.integers(0, len(held), ROWS)] for name, held in values.items()}
    amounts = np.where(dice.random(ROWS) < 0.5, dice.integers(0, 12, ROWS) * 10, dice.integers(0, 200, ROWS))
    amounts[0] = 260
    cells["amount"] = amounts.astype(np.float64)
    columns = (*names, "amount")
    with MemorySource(pa.table(cells), declared).rows(columns) as rows:
        record = rows.record("0")
        if record is None:
            raise RuntimeError
        each = tuple(Vocabulary(name, declared.column(name).groups, "sets") for name in names)
        space = Space.of(each, own=tuple(record.codes[name] for name in names))
        yield RecordView(rows=rows, space=space, metric="amount", centre=record.numbers["amount"], least=2)
