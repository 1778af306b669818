"""The demo of `explain`: one salary in a made-up town."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from wallflower.cli.common import show_lines
from wallflower.cli.demo_rows import normal, uniform
from wallflower.detectors import LOF, Grubbs
from wallflower.explain import Context
from wallflower.privacy.ledger import Ledger
from wallflower.schema import load
from wallflower.session import Session
from wallflower.session import open as open_session

JOBS = {"Clerk": 48_000, "Nurse": 62_000, "Engineer": 81_000, "Lawyer": 118_000, "Surgeon": 205_000}
CITIES = {"Ashby": 0, "Brook": 2_000, "Cairn": 5_000, "Dover": 9_000}

DECLARATION = """\
[table]
id = "town-salaries"
source = "salaries.csv"
key = "employee"
unit = "row"
neighbours = "add-remove"
max_rows = 10_000
reviewed = true
test = false
ledger = "salaries.ledger"

[budget.output-constrained-dp]
epsilon = "2"
[budget.dp]
epsilon = "2"

[columns.job]
role = "quasi-identifier"
values = ["Clerk", "Nurse", "Engineer", "Lawyer", "Surgeon", "Judge"]
outside = "drop"
missing = "drop"

[columns.city]
role = "quasi-identifier"
values = ["Ashby", "Brook", "Cairn", "Dover"]
outside = "drop"
missing = "drop"

[columns.salary]
role = "sensitive"
lower = 0
upper = 400_000
step = 1
outside = "clip"
missing = "drop"
"""


def show(folder: Path, console: Console) -> None:
    """Make the town, ask in which context one nurse stands out: under the paper's promise, then under the full one."""
    lines, place = ["employee,job,city,salary"], 0
    for j, (job, pay) in enumerate(JOBS.items()):
        for c, (city, more) in enumerate(CITIES.items()):
            for salary in normal(150, mean=pay + more, deviation=pay / 16, seed=10 * j + c):
                lines.append(f"e{place},{job},{city},{salary}")
                place += 1
    lines.append(f"e{place},Nurse,Cairn,{120_000 + round(1_000 * uniform(1, seed=7)[0])}")
    (folder / "salaries.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "salaries.toml"
    path.write_text(DECLARATION, encoding="utf-8")
    Ledger.init(load(path))
    session = open_session(path)
    console.print(
        f"A town lists {place + 1:,} salaries. Among all of them {120_000:,} is nothing special; for a nurse it is.",
        highlight=False,
    )
    by = ("job", "city")
    record = f"e{place}"
    _ask(
        session,
        f"in which context is {record} an outlier? (always a valid one)",
        Context(record=record, metric="salary", by=by, detector=LOF(), epsilon="0.2", min_population=100),
    )
    _ask(
        session,
        f"the same of {record}, with full differential privacy for everyone else",
        Context(record=record, metric="salary", by=by, detector=Grubbs(), epsilon=1, guarantee="full"),
    )


def _ask(session: Session, question: str, query: Context) -> None:
    price = session.price(query)
    show_lines([("asked", question), *((name, str(text)) for name, text in price.expected.items())])
    show_lines(session.release(query).lines())
