"""The demo of `count`: lengths of stay on a made-up ward."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from wallflower.cli.common import show_lines
from wallflower.cli.demo_rows import normal
from wallflower.count import Outliers, Subspaces
from wallflower.privacy.ledger import Ledger
from wallflower.schema import load
from wallflower.session import open as open_session

DECLARATION = """\
[table]
id = "ward-stays"
source = "stays.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 5_000
reviewed = true
test = false
ledger = "stays.ledger"

[budget.dp]
epsilon = "4"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"

[columns.stay]
role = "sensitive"
lower = 0
upper = 365
step = 1
outside = "clip"
missing = "drop"

[columns.cost]
role = "sensitive"
lower = 0
upper = 500
step = 1
outside = "clip"
missing = "drop"
"""


def show(folder: Path, console: Console) -> None:
    """Make the ward, ask how many stays are outliers and in which columns they stand out; show price, answer and ledger."""
    path = _ward(folder)
    session = open_session(path)
    console.print("A ward holds age, length of stay and cost of about 2,000 patients.", highlight=False)
    query = Outliers(columns=("age", "stay"), neighbours=3, radius=6, epsilon=1)
    price = session.price(query)
    show_lines(
        [
            ("asked", "how many stays have fewer than 3 others within 6 (years, days)?"),
            ("expect", str(price.expected["error"])),
        ]
    )
    show_lines(session.release(query).lines())
    console.print()
    where = Subspaces(
        columns=("age", "stay", "cost"), size=1, top=1, neighbours=3, radius=2, epsilon=1, counts_epsilon=1
    )
    price = session.price(where)
    show_lines(
        [
            ("asked", "in which one column are there the most outliers, and how many?"),
            ("expect", str(price.expected["certainty"])),
        ]
    )
    show_lines(session.release(where).lines())


def _ward(folder: Path) -> Path:
    ages, stays = normal(2_000, mean=55, deviation=15, seed=1), normal(2_000, mean=9, deviation=4, seed=2)
    costs = normal(2_000, mean=40, deviation=10, seed=3)
    rows = [f"{max(0, a)},{max(0, s)},{max(0, c)}" for a, s, c in zip(ages, stays, costs, strict=True)]
    rows += [f"{20 + i * 37 % 60},{100 + 3 * i},{50 + i % 9}" for i in range(80)]
    (folder / "stays.csv").write_text("age,stay,cost\n" + "\n".join(rows) + "\n", encoding="utf-8")
    path = folder / "stays.toml"
    path.write_text(DECLARATION, encoding="utf-8")
    Ledger.init(load(path))
    return path
