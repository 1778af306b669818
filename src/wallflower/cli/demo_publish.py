"""The demo of `publish`: incomes of a made-up town, published and attacked."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from wallflower.cli.common import show_lines
from wallflower.cli.demo_rows import normal
from wallflower.engines import open_source
from wallflower.privacy.ledger import Ledger
from wallflower.publish import PlainTable
from wallflower.publish.attacks import attack
from wallflower.publish.published import crowds
from wallflower.publish.queries import originals
from wallflower.schema import load
from wallflower.session import open as open_session

DECLARATION = """\
[table]
id = "town-incomes"
source = "incomes.csv"
key = "name"
unit = "row"
neighbours = "add-remove"
max_rows = 5_000
reviewed = true
test = false
ledger = "incomes.ledger"

[budget.plain-k-anonymity]
publications = 1

[columns.name]
role = "identifier"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = "drop"

[columns.quarter]
role = "quasi-identifier"
values = ["Harbour", "Old Town", "Hill", "Meadows"]
hierarchy = {Centre = ["Harbour", "Old Town"], Outskirts = ["Hill", "Meadows"]}
outside = "drop"
missing = "drop"

[columns.income]
role = "sensitive"
lower = 0
upper = 400
step = 1
outside = "clip"
missing = "drop"
"""

QUARTERS = ("Harbour", "Old Town", "Hill", "Meadows")


def show(folder: Path, console: Console) -> None:
    """Make the town, publish it, read the file, attack it, and try to publish it a second time."""
    ages, incomes = normal(1_500, mean=45, deviation=16, seed=5), normal(1_500, mean=90, deviation=40, seed=6)
    rows = [
        f"person {i},{min(max(a, 0), 100)},{QUARTERS[(a + 3 * i) % 4]},{max(s + a // 2, 0)}"
        for i, (a, s) in enumerate(zip(ages, incomes, strict=True))
    ]
    rows += [f"star {i},{18 + i},Hill,{330 + 9 * i}" for i in range(6)]
    (folder / "incomes.csv").write_text("name,age,quarter,income\n" + "\n".join(rows) + "\n", encoding="utf-8")
    path = folder / "incomes.toml"
    path.write_text(DECLARATION, encoding="utf-8")
    declaration = load(path)
    Ledger.init(declaration)
    session = open_session(path)
    query = PlainTable.of(declaration, out=str(folder / "public.csv"), k=5, p="0.95", d="0.5")
    console.print(
        "A town holds age, quarter and income of about 1,500 people, among them six young stars.", highlight=False
    )
    show_lines([("asked", "a table in which every group has 5 different incomes and gives no outlier away")])
    show_lines(session.release(query).lines())
    with (folder / "public.csv").open(encoding="utf-8") as file:
        sample = [file.readline().strip() for _ in range(4)]
    show_lines([("file", line) for line in sample])
    with open_source(declaration).rows(query.columns) as seen:
        found = attack(originals(query, seen), crowds(folder / "public.csv", query.space(declaration)))
    show_lines(
        [
            ("attacked", f"k = {found.smallest}, at least {found.least_distinct} incomes in every group"),
            ("found", "nobody" if not found.succeeded else "SOMEBODY: this is a bug"),
        ]
    )
