"""The demo of `count`: lengths of stay on a made-up ward."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from wallflower.cli.common import show_lines
from wallflower.cli.demo_rows import normal
from wallflower.count import Outliers
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
epsilon = "2"

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
"""


def show(folder: Path, console: Console) -> None:
    """Make the ward, ask how many stays are outliers, show price, answer and ledger."""
    ages, stays = normal(2_000, mean=55, deviation=15, seed=1), normal(2_000, mean=9, deviation=4, seed=2)
    rows = [f"{max(0, a)},{max(0, s)}" for a, s in zip(ages, stays, strict=True)]
    rows += [f"{20 + 3 * i},{90 + 7 * i}" for i in range(30)]
    (folder / "stays.csv").write_text("age,stay\n" + "\n".join(rows) + "\n", encoding="utf-8")
    path = folder / "stays.toml"
    path.write_text(DECLARATION, encoding="utf-8")
    Ledger.init(load(path))
    session = open_session(path)
    query = Outliers(columns=("age", "stay"), neighbours=3, radius=6, epsilon=1)
    price = session.price(query)
    console.print("A ward holds the age and length of stay of about 2,000 patients.", highlight=False)
    show_lines(
        [
            ("asked", "how many stays have fewer than 3 others within 6 (years, days)?"),
            ("expect", str(price.expected["error"])),
        ]
    )
    show_lines(session.release(query).lines())
