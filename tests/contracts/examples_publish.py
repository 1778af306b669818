"""Questions of `publish` in the contract suite."""

from __future__ import annotations

import wallflower as wf
from tests.contracts.example import Example

TABLE = """
[table]
id = "people"
source = "rows.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
test = false
ledger = "rows.ledger"

[budget.plain-k-anonymity]
publications = 2

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = "drop"

[columns.sex]
role = "quasi-identifier"
values = ["F", "M"]
outside = "drop"
missing = "drop"

[columns.income]
role = "sensitive"
lower = 0
upper = 500
step = 1
outside = "clip"
missing = "drop"
"""

ROWS = "age,sex,income\n" + "".join(f"{20 + i % 37},{'FM'[i % 2]},{40 + 3 * (i % 29)}\n" for i in range(120))


def _example(name: str, level: str) -> Example:
    return Example(
        name=name,
        declaration=TABLE,
        csv=ROWS,
        query=lambda folder: wf.publish.PlainTable(
            columns=("age", "sex", "income"), out=str(folder / "public.csv"), k=3, p="0.9", d="0.5", level=level
        ),
        command=(
            *("publish", "DECL", "-o", "OUT/public.csv", "--k", "3", "--p", "0.9", "--d", "0.5"),
            *("--level", level),
        ),
    )


EXAMPLES = [
    _example(f"publish-{level}", level) for level in ("matching", "matching+candidate", "candidate", "strict", "attack")
]
