"""A small table that every explanation is tried on before it is charged: the declared one may have 2^24 contexts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wallflower.engines.base import Rows
from wallflower.engines.made_up import made_up_rows
from wallflower.schema import loads

METRIC, BY, START = "amount", ("kind", "place"), "kind=a|b;place=x"
RECORD = "3"

_TABLE = """
[table]
id = "trial"
unit = "row"
key = "name"
neighbours = "{neighbours}"
max_rows = 100
ledger = "none"

[columns.name]
role = "identifier"

[columns.kind]
role = "quasi-identifier"
values = ["a", "b", "c"]
outside = "a"
missing = "a"

[columns.place]
role = "quasi-identifier"
values = ["x", "y"]
outside = "x"
missing = "x"

[columns.amount]
role = "sensitive"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = 0
"""


@contextmanager
def trial_rows(neighbours: str) -> Iterator[Rows]:
    with made_up_rows(loads(_TABLE.format(neighbours=neighbours)), (*BY, METRIC)) as rows:
        yield rows
