"""The files that the examples in the commands' help speak of."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from wallflower.count import Outliers
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import PureDP
from wallflower.schema import load
from wallflower.session import open as open_session
from wallflower.stream import assembly
from wallflower.stream import parser as stream_parser

SALARIES = """\
[table]
id = "salaries"
source = "salaries.csv"
key = "employee"
unit = "row"
neighbours = "add-remove"
max_rows = 10_000
reviewed = true
test = false
ledger = "salaries.ledger"

[budget.dp]
epsilon = "10"
[budget.output-constrained-dp]
epsilon = "20"
[budget.plain-k-anonymity]
publications = 1

[columns.employee]
role = "identifier"

[columns.job_title]
role = "quasi-identifier"
values = ["CEO", "Lawyer", "Medical doctor"]
outside = "Lawyer"
missing = "drop"

[columns.city]
role = "quasi-identifier"
values = ["Ottawa", "Toronto", "London"]
outside = "drop"
missing = "drop"

[columns.age]
role = "quasi-identifier"
lower = 16
upper = 100
step = 1
outside = "clip"
missing = "drop"

[columns.tenure]
role = "insensitive"
lower = 0
upper = 60
step = 1
outside = "clip"
missing = 0

[columns.salary]
role = "sensitive"
lower = 0
upper = 5_000_000
step = 1
outside = "clip"
missing = "drop"
scale = 1

[identify.default]
columns = ["age", "salary"]
beta = 5
radius = "5000"
k = 2
epsilon = "10"
"""


BOILER = """\
[stream]
id = "boiler"
broker = "mqtt://127.0.0.1:1883"
topic_prefix = "plant/boiler"
roster = ["boiler-1", "boiler-7"]
protocol = "alarm"
period = "24h"
slot = "6h"
epsilon = "4"
false_alarms = "0.05"
live_share = "0.6"
least_readings = 3
core_radius = "3"

[columns.flow]
lower = 0
upper = 100
step = "0.01"
centre = 50
scale = 4

[budget]
per_day = "4"
"""


def lay_out(folder: Path) -> None:
    """boiler.toml, salaries.csv, salaries.toml, an open ledger with next to nothing spent, and the JSON of an earlier release."""
    titles, cities = ("CEO", "Lawyer", "Medical doctor"), ("Ottawa", "Toronto", "London")
    rows = [
        f"{n},{titles[n % 3]},{cities[(n // 3) % 3]},{25 + n % 40},{n % 23},{90_000 + 1_000 * (n % 9) + 10 * (n % 13)}"
        for n in range(240)
    ]
    rows.append("240,Lawyer,Ottawa,51,12,900000")
    (folder / "salaries.csv").write_text(
        "employee,job_title,city,age,tenure,salary\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    (folder / "salaries.toml").write_text(SALARIES, encoding="utf-8")
    (folder / "boiler.toml").write_text(BOILER, encoding="utf-8")
    boiler = stream_parser.load(folder / "boiler.toml")
    assembly.results(boiler, folder / "boiler.results").close()
    Ledger.init(load(folder / "salaries.toml"))
    release = open_session(folder / "salaries.toml").release(
        Outliers(columns=("salary",), neighbours=5, radius=1000, epsilon="0.5")
    )
    (folder / "release.json").write_text(json.dumps(release.to_json()), encoding="utf-8")
    (folder / "salaries.ledger").unlink()
    declared = load(folder / "salaries.toml")
    Ledger.init(declared)


def leave_unanswered(folder: Path) -> None:
    """A charge that nobody will answer: the request that `ledger close` speaks of."""
    declared = load(folder / "salaries.toml")
    little = PureDP(epsilon=Fraction("1e-6"), neighbours="add-remove")
    Ledger.open(declared).charge(little, declaration=declared, query={"command": "count"}, request_id="monday")
