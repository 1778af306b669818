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

PUBLIC_SIZE = (
    TABLE.replace('"heights"', '"rooms"')
    .replace('neighbours = "add-remove"', 'neighbours = "replace-one"')
    .replace('outside = "drop"', 'outside = "clip"')
    .replace('missing = "drop"', "missing = 70")
    + """
[columns.age]
role = "quasi-identifier"
lower = 0
upper = 120
step = 1
scale = 10
outside = "clip"
missing = 40
"""
)

THREE = (
    "height,weight,age\n" + "".join(f"{160 + i % 9}.5,{60 + i % 11},{20 + i % 5}\n" for i in range(40)) + "250,4,119\n"
)


def count_of(noise):
    return Example(
        name=f"count-{noise}",
        declaration=PUBLIC_SIZE,
        csv=THREE,
        query=lambda _folder: wf.count.Outliers(
            columns=("height", "age"), neighbours=2, radius="3/2", epsilon="1/3", noise=noise
        ),
        command=(
            *("count", "DECL", "--columns", "height,age", "--neighbours", "2"),
            *("--radius", "3/2", "--epsilon", "1/3", "--noise", noise),
        ),
    )


WARDS = (
    TABLE
    + """
[columns.ward]
role = "quasi-identifier"
values = ["north", "south", "west"]
outside = "drop"
missing = "drop"
"""
)

BY_WARD = (
    "height,weight,ward\n"
    + "".join(f"{170 + i % 7}.5,{60 + i % 11},{'north' if i % 3 else 'south'}\n" for i in range(60))
    + "250,400,south\n"
)


def by_ward(among):
    return Example(
        name=f"count-by-{among}",
        declaration=WARDS,
        csv=BY_WARD,
        query=lambda _folder: wf.count.GroupedOutliers(
            measures=("height", "weight"), by="ward", among=among, neighbours=3, radius="4", epsilon="0.5"
        ),
        command=(
            *("count", "DECL", "--columns", "height,weight", "--by", "ward", "--among", among),
            *("--fewer-than", "3", "--radius", "4", "--epsilon", "0.5"),
        ),
        priced_by_row=True,
        holds_all_rows=True,
    )


GROWING = (
    TABLE.replace("max_rows = 1000", "max_rows = 1000\ngrows = true")
    + """
[columns.added]
role = "insensitive"
lower = 2020-01-01
upper = 2020-12-31
outside = "clip"
missing = "drop"
"""
)

BY_DAY = (
    "height,weight,added\n"
    + "".join(f"{170 + i % 7}.5,{60 + i % 11},2020-03-{1 + i % 20:02}\n" for i in range(60))
    + "250,400,2020-03-02\n"
)

EXAMPLES = [
    Example(
        name="count-daily",
        declaration=GROWING,
        csv=BY_DAY,
        query=lambda _folder: wf.count.DailyOutliers(
            measures=("height", "weight"),
            daily="added",
            start="2020-03-01",
            horizon=30,
            through="2020-03-10",
            neighbours=3,
            radius="4",
            epsilon="0.5",
        ),
        command=(
            *("count", "DECL", "--columns", "height,weight", "--neighbours", "3", "--radius", "4", "--epsilon", "0.5"),
            *("--daily", "added", "--start", "2020-03-01", "--horizon", "30", "--through", "2020-03-10"),
        ),
        holds_all_rows=True,
    ),
    Example(
        name="count-fence",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.count.FencedOutliers(column="height", epsilon="0.5"),
        command=("count", "DECL", "--columns", "height", "--fence", "iqr", "--epsilon", "0.5"),
        priced_by_row=True,
        holds_all_rows=True,
    ),
    *(by_ward(among) for among in ("group", "table")),
    *(count_of(noise) for noise in ("lomax", "laplace", "inverse")),
    Example(
        name="count-interval",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.count.Outliers(
            columns=("height", "weight"),
            neighbours=3,
            radius="4",
            epsilon="0.5",
            noise="lomax",
            interval_epsilon="0.2",
        ),
        command=(
            *("count", "DECL", "--columns", "height,weight", "--neighbours", "3", "--radius", "4"),
            *("--epsilon", "0.5", "--noise", "lomax", "--interval-epsilon", "0.2"),
        ),
    ),
    Example(
        name="subspaces",
        declaration=PUBLIC_SIZE,
        csv=THREE,
        query=lambda _folder: wf.count.Subspaces(
            columns=("height", "weight", "age"),
            size=2,
            top=2,
            neighbours=2,
            radius="1.5",
            epsilon="0.25",
            counts_epsilon="0.25",
        ),
        command=(
            *("subspaces", "DECL", "--columns", "height,weight,age", "--size", "2", "--top", "2"),
            *("--neighbours", "2", "--radius", "1.5", "--epsilon", "0.25", "--counts-epsilon", "0.25"),
        ),
    ),
    Example(
        name="subspaces-alone",
        declaration=TABLE,
        csv=ROWS,
        query=lambda _folder: wf.count.Subspaces(
            columns=("height", "weight"), size=1, top=1, neighbours=2, radius="1", epsilon="0.5"
        ),
        command=(
            *("subspaces", "DECL", "--columns", "height,weight", "--size", "1", "--top", "1"),
            *("--neighbours", "2", "--radius", "1", "--epsilon", "0.5"),
        ),
    ),
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
