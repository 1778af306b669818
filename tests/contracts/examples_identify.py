"""Questions of `identify` in the contract suite."""

from __future__ import annotations

import wallflower as wf
from tests.contracts.example import Example

TABLE = """
[table]
id = "visits"
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

[columns.city]
role = "quasi-identifier"
values = ["Ottawa", "Toronto", "London"]
outside = "London"
missing = "drop"

[identify.default]
columns = ["height"]
beta = 5
radius = "2.5"
k = 2
epsilon = "2"

[identify.both]
columns = ["height", "city"]
beta = 5
radius = "2.5"
k = 2
epsilon = "2"
distance = "mixed"

[identify.same]
columns = ["city"]
beta = 5
radius = 0
k = 2
epsilon = "2"
distance = "hamming"
"""

ROWS = (
    "height,city\n" + "".join(f"{170 + i % 7}.5,{('Ottawa', 'London')[i % 2]}\n" for i in range(60)) + "250,Toronto\n"
)

EXAMPLES = [
    Example(
        name="identify",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.identify.Anomalies(values=({"height": 250}, {"height": "171.5"}), epsilon="0.5"),
        command=("identify", "DECL", "--value", "height=250", "--value", "height=171.5", "--epsilon", "0.5"),
    ),
    *(
        Example(
            name=f"identify-{method}",
            declaration=TABLE.replace('epsilon = "1"', 'epsilon = "4"').replace('epsilon = "2"', 'epsilon = "4"'),
            csv=ROWS,
            query=lambda _folder, method=method: wf.identify.Anomalies(
                values=({"height": 250}, {"height": "171.5"}, {"height": "171.6"}), epsilon="0.1", method=method
            ),
            command=(
                *("identify", "DECL", "--value", "height=250", "--value", "height=171.5", "--value", "height=171.6"),
                *("--epsilon", "0.1", "--method", method),
            ),
            priced_by_row=True,
        )
        for method in ("grid", "cheapest-dp")
    ),
    Example(
        name="identify-mixed",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.identify.Anomalies(
            values=({"height": 250, "city": "Toronto"},), epsilon="0.5", model="both", method="dp"
        ),
        command=(
            "identify", "DECL", "--model", "both", "--value", "height=250,city=Toronto", "--epsilon", "0.5", "--method", "dp",
        ),
        priced_by_row=True,
    ),
    Example(
        name="identify-lookahead",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.identify.Anomalies(
            values=({"city": "Toronto"},), epsilon="0.5", model="same", method="lookahead"
        ),
        command=(
            "identify", "DECL", "--model", "same", "--value", "city=Toronto", "--epsilon", "0.5", "--method", "lookahead",
        ),
        priced_by_row=True,
    ),
]  # fmt: skip
