"""The demo of `identify`: claims of a made-up insurer."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from wallflower.cli.common import show_lines
from wallflower.cli.demo_rows import normal
from wallflower.identify import Anomalies
from wallflower.privacy.ledger import Ledger
from wallflower.schema import load
from wallflower.session import open as open_session

DECLARATION = """\
[table]
id = "claims"
source = "claims.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 5_000
reviewed = true
test = false
ledger = "claims.ledger"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
scale = 10

[columns.amount]
role = "sensitive"
lower = 0
upper = 50_000
step = 1
outside = "clip"
missing = "drop"
scale = 500

[identify.default]
columns = ["age", "amount"]
beta = 30
radius = 1
k = 3
epsilon = "2"
"""


def show(folder: Path, console: Console) -> None:
    """Make the claims, ask about three of them, show price, answers and ledger."""
    ages, amounts = normal(3_000, mean=48, deviation=14, seed=3), normal(3_000, mean=2_500, deviation=700, seed=4)
    rows = [f"{max(0, a)},{max(0, m)}" for a, m in zip(ages, amounts, strict=True)]
    rows.append("37,21900")
    (folder / "claims.csv").write_text("age,amount\n" + "\n".join(rows) + "\n", encoding="utf-8")
    path = folder / "claims.toml"
    path.write_text(DECLARATION, encoding="utf-8")
    Ledger.init(load(path))
    session = open_session(path)
    values = ({"age": 37, "amount": 21_900}, {"age": 48, "amount": 2_500}, {"age": 90, "amount": 40_000})
    query = Anomalies(values=values, epsilon="1")
    price = session.price(query)
    console.print(
        "An insurer holds about 3,000 claims. One of them, by a person of 37, is far from the rest.", highlight=False
    )
    told = price.expected["wrong_if_one_row_holds_it_by_rows_near"]
    show_lines(
        [
            ("asked", "is a claim of 21,900 at 37 an anomaly? of 2,500 at 48? of 40,000 at 90?"),
            ("expect", f"a wrong answer about a value that one row holds, by rows near: {_pairs(told)}"),
        ]
    )
    show_lines(session.release(query).lines())


def _pairs(table: object) -> str:
    return ", ".join(f"{near}: {chance}" for near, chance in table.items()) if isinstance(table, dict) else ""
