"""Questions of `explain` in the contract suite."""

from __future__ import annotations

from dataclasses import replace

import wallflower as wf
from tests.contracts.example import Example

TABLE = """
[table]
id = "pay"
source = "rows.csv"
key = "employee"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
test = false
ledger = "rows.ledger"

[budget.output-constrained-dp]
epsilon = "2"
[budget.dp]
epsilon = "2"

[columns.job]
role = "quasi-identifier"
values = ["clerk", "nurse", "judge"]
outside = "clerk"
missing = "drop"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 120
step = 1
bins = [0, 30, 60]
outside = "clip"
missing = "drop"

[columns.salary]
role = "sensitive"
lower = 0
upper = 1000
step = "0.5"
outside = "clip"
missing = "drop"
"""

ROWS = (
    "employee,job,age,salary\n"
    + "".join(f"e{i},{('clerk', 'nurse')[i % 2]},{20 + i % 50},{100 + i * 7 % 23}\n" for i in range(80))
    + "odd,nurse,41,640\n"
)


def example(name, *, options, answerable=True, record="odd", **fields):
    detector = fields.pop("detector", wf.detectors.LOF(neighbours=5))
    epsilon = fields.pop("epsilon", "0.5")
    return Example(
        name=f"explain {name}",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.explain.Context(
            record=record, metric="salary", by=("job", "age"), detector=detector, epsilon=epsilon, **fields
        ),
        command=(
            "explain", "DECL", "--record", record, "--metric", "salary", "--by", "job,age",
            "--detector", detector.text, "--epsilon", epsilon, *options,
        ),
        answerable=answerable,
        always_answers=False,
    )  # fmt: skip


EXAMPLES = [
    example("exact", options=()),
    example("bfs", options=("--search", "bfs", "--samples", "3"), search="bfs", samples=3),
    example(
        "overlap",
        options=("--utility", "overlap", "--start", "job=nurse|judge"),
        utility="overlap",
        start="job=nurse|judge",
        detector=wf.detectors.Histogram(rare="0.1"),
    ),
    example(
        "full grubbs", options=("--guarantee", "full"), guarantee="full", detector=wf.detectors.Grubbs(), epsilon="2"
    ),
    example(
        "top over ranges",
        options=("--top", "2", "--contexts", "job=own,age=range"),
        top=2,
        contexts="job=own,age=range",
        detector=wf.detectors.IQR(),
    ),
    replace(
        example("two records", options=("--record", "e3")),
        query=lambda _folder: wf.explain.Records(
            records=("odd", "e3"),
            question=wf.explain.Context(
                record="", metric="salary", by=("job", "age"), detector=wf.detectors.LOF(neighbours=5), epsilon="0.5"
            ),
        ),
    ),
    example("of an unknown record", options=(), record="nobody", answerable=False),
]
