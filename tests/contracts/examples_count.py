"""Questions of `count` in the contract suite."""

from __future__ import annotations

import wallflower as wf
from tests.contracts.example import Example

TABLE = """
[table]
id = "heights"
source = "rows.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
test = false
ledger = "rows.ledger"

[budget.dp]
epsilon = "1"

[columns.height]
role = "sensitive"
lower = 0
upper = 300
step = "0.1"
outside = "clip"
missing = "drop"

[columns.weight]
role = "sensitive"
lower = 0
upper = 500
step = "0.1"
outside = "drop"
missing = "drop"
"""

ROWS = "height,weight\n" + "".join(f"{170 + i % 7}.5,{60 + i % 11}\n" for i in range(60)) + "250,400\n12,3\n"

EXAMPLES = [
    Example(
        name="count",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.count.Outliers(columns=("height", "weight"), neighbours=3, radius="4", epsilon="0.5"),
        command=(
            "count",
            "DECL",
            "--columns",
            "height,weight",
            "--neighbours",
            "3",
            "--radius",
            "4",
            "--epsilon",
            "0.5",
        ),
    ),
]
