"""A neighbour made by taking rows off sums decides every context as the engine's own table without those rows does."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from experiments.pcor_2021.data import Data
from experiments.pcor_2021.neighbours import Counted, counted
from experiments.pcor_2021.study import every_valid

from wallflower.detectors import IQR, LOF, Distance, Grubbs, Histogram
from wallflower.engines import from_frame
from wallflower.schema import loads

TABLE = """
[table]
id = "t"
key = "id"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
test = true
ledger = "t.ledger"
[columns.a]
role = "quasi-identifier"
values = ["0", "1", "2"]
outside = "drop"
missing = "drop"
[columns.b]
role = "quasi-identifier"
values = ["0", "1", "2", "3"]
outside = "drop"
missing = "drop"
[columns.y]
role = "sensitive"
lower = 0
upper = {upper}
step = 1
outside = "clip"
missing = "drop"
"""


def made(upper, rows=90):
    dice = np.random.default_rng(upper)
    codes = {"a": dice.integers(0, 2, rows), "b": dice.integers(0, 4, rows)}  # no row holds the last value of a
    y = dice.integers(upper // 3, upper // 3 + 25, rows)
    y[0] = upper - 1
    frame = pa.table({"id": [str(n) for n in range(rows)], **{k: v.astype(str) for k, v in codes.items()}, "y": y})
    with from_frame(frame, loads(TABLE.format(upper=upper))).rows(("a", "b", "y")) as opened:
        fetched = opened.fetch(numbers=("y",), codes=("a", "b"))
        return Data("t", opened, ("a", "b"), "y", fetched.codes, fetched.numbers[:, 0], frame)


@pytest.mark.parametrize("upper", [100, 2**40])  # small numbers, and squares beyond a machine word
def test_every_flag_is_the_engines(upper):
    data = made(upper)
    dice = np.random.default_rng(1)
    own = data.view(0, 3)
    detectors = Grubbs(), LOF(neighbours=3), Histogram(rare="0.1"), Distance(p="0.2", radius=3), IQR()
    changed = 0
    for removed in (0, 1, 25, 60):
        places = dice.choice(np.arange(1, 90), size=removed, replace=False)
        stays = data.rows.stays.copy()
        stays[places] = False
        slow = replace(own, rows=replace(data.rows, stays=stays))
        fast = counted(own, Counted.of(data).without(places))
        assert (slow.population == fast.population).all()
        for detector in detectors:
            flags = every_valid(slow, detector)
            assert (flags == every_valid(fast, detector)).all(), (removed, detector)
            changed += (flags != every_valid(own, detector)).sum()
    assert changed > 0
