"""Small declared tables for the tests of `identify`."""

from __future__ import annotations

import pandas as pd

import wallflower as wf
from wallflower.ledger import Ledger
from wallflower.schema import loads

HEAD = """
[table]
id = "t"
source = "rows.csv"
unit = "row"
neighbours = "{neighbours}"
max_rows = 100_000
reviewed = true
test = {test}
ledger = "t.ledger"
[budget.dp]
epsilon = "1000"
[columns.x]
role = "sensitive"
lower = -100
upper = 100
step = "0.5"
outside = "clip"
missing = 0
scale = 2
[columns.y]
role = "sensitive"
lower = -100
upper = 100
step = 1
outside = "clip"
missing = 0
[columns.city]
role = "quasi-identifier"
values = ["A", "B", "C", "Medical, other"]
outside = "A"
missing = "A"
[columns.day]
role = "sensitive"
lower = 2020-01-01
upper = 2021-12-31
outside = "clip"
missing = 2020-01-01
"""

MODEL = """
[identify.{name}]
columns = {columns}
beta = {beta}
radius = "{radius}"
k = {k}
epsilon = "1000"
{more}
"""


def model(name="default", *, columns=("x", "y"), beta=4, radius="2", k=2, more=""):
    return MODEL.format(
        name=name, columns="[" + ", ".join(f'"{c}"' for c in columns) + "]", beta=beta, radius=radius, k=k, more=more
    )


def declaration(*models, neighbours="add-remove", test=False, folder=None):
    text = HEAD.format(neighbours=neighbours, test=str(test).lower()) + "".join(models or (model(),))
    return loads(text, folder=folder)


def session(folder, rows, *models, neighbours="add-remove", seed=None):
    declared = declaration(*models, neighbours=neighbours, test=seed is not None, folder=folder)
    if not declared.ledger.exists():
        Ledger.init(declared)
    return wf.table(pd.DataFrame(rows), declared, seed=seed)
