"""A made-up table with ties that a GPU is tried on before anything is charged: its flags against the processor's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from wallflower.detectors import LOF, Grubbs, Histogram
from wallflower.engines.made_up import made_up_rows
from wallflower.explain.gpu.engine import Engine, Runner
from wallflower.explain.gpu.problems import problem
from wallflower.explain.languages import Vocabulary
from wallflower.explain.record_view import RecordView
from wallflower.explain.space import Space
from wallflower.explain.validity import decider
from wallflower.schema import loads

SHAPE = (5, 4, 4)
ROWS = 600
RECORD = "0"
"""It has the least amount."""
AWAY = -150
DETECTORS: dict[str, tuple[Any, ...]] = {
    "lof": (LOF(neighbours=3, threshold="1.1"), LOF(neighbours=20, threshold="1.2")),
    "grubbs": (Grubbs(alpha="0.3"), Grubbs(alpha="0.3", argmax=True)),
    "histogram": (Histogram(rare="0.06"), Histogram(rare="0.08")),
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


def differs(runner: Runner, kernel: str) -> int:
    """In how many contexts a device and the processor disagree, over the settings of one kernel's detector: 0, or the device is not used."""
    found = 0
    with _view() as seen:
        # Evenly spread amounts have no outlier by Grubbs' test: it is asked about a value further away.
        view = replace(seen, centre=AWAY) if kernel == "grubbs" else seen
        for detector in DETECTORS[kernel]:
            asked = problem(view, detector)
            if asked is None:
                raise RuntimeError
            decided = decider(view, detector)
            expected = np.concatenate([decided.valid(block) for block in view.blocks()])
            found += int((Engine(asked, runner).flags() != expected).sum())
    return found


@contextmanager
def _view() -> Iterator[RecordView]:
    names = [f"c{place}" for place in range(len(SHAPE))]
    values = {name: ", ".join(f'"v{value}"' for value in range(size)) for name, size in zip(names, SHAPE, strict=True)}
    columns = "".join(_COLUMN.format(name=name, values=held) for name, held in values.items())
    declared = loads(_TABLE.format(columns=columns))
    with made_up_rows(declared, (*names, "amount"), size=ROWS) as rows:
        record = rows.record(RECORD)
        if record is None:
            raise RuntimeError
        each = tuple(Vocabulary(name, declared.column(name).groups, "sets") for name in names)
        space = Space.of(each, own=tuple(record.codes[name] for name in names))
        yield RecordView(rows=rows, space=space, metric="amount", centre=record.numbers["amount"], least=2)
