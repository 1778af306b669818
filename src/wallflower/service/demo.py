"""`wallflower serve --demo`: a made-up hospital network with two tables, three people and a tick of two seconds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from wallflower.demo.made_up_values import bell, uniform
from wallflower.demo.table import write_table
from wallflower.service.configuration import Policy, Service, Table
from wallflower.service.migrations import migrate
from wallflower.service.passwords import new_secret
from wallflower.service.people import People
from wallflower.service.ticks import Ticks
from wallflower.stores.database import Database

STAYS = """\
[table]
id = "stays"
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

[columns.days]
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

[identify.default]
columns = ["age", "days"]
beta = 24
radius = "6"
k = 3
epsilon = "4"
"""

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

[budget.output-constrained-dp]
epsilon = "2"
[budget.dp]
epsilon = "2"
[budget.plain-k-anonymity]
publications = 1

[columns.job]
role = "quasi-identifier"
values = ["Porter", "Nurse", "Pharmacist", "Physician", "Surgeon"]
outside = "drop"
missing = "drop"

[columns.hospital]
role = "quasi-identifier"
values = ["Alder", "Birch", "Cedar", "Dale"]
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
PAY = {"Porter": 34_000, "Nurse": 52_000, "Pharmacist": 71_000, "Physician": 118_000, "Surgeon": 205_000}
SHARES = {"stays": Fraction(3), "salaries": Fraction(3, 2)}
"""The most that one asker is given, below what the table itself allows."""
PEOPLE = (("ada", "asks"), ("otto", "owns both tables and runs the service"), ("dora", "audits"))


def lay_out(
    folder: Path, *, port: int = 0, share: Fraction = Fraction(1), approved: Fraction = Fraction(1, 20)
) -> tuple[Service, list[tuple[str, str, str]]]:
    """Tables, ledgers and accounts in `folder`; the service, and who can log in (name, password, what they do).

    `share`: of each asker; `approved`: a count of stays up to this ε needs no owner.
    """
    write_table(folder, "stays", header="age,days,cost", rows=_stays(), declaration=STAYS)
    write_table(folder, "salaries", header="employee,job,hospital,salary", rows=_salaries(), declaration=SALARIES)
    policy = Policy(command="count", epsilon_at_most=approved, askers=("ada",))
    tables = {
        name: Table(
            name=name,
            declaration=folder / f"{name}.toml",
            owners=("otto",),
            auditors=("dora",),
            askers=("ada",),
            shares={"default": {"dp": min(share, SHARES[name])}},
            policies=(policy,) if name == "stays" else (),
        )
        for name in ("stays", "salaries")
    }
    service = Service(
        database=str(folder / "service.db"),
        host="127.0.0.1",
        port=port,
        ticks=Ticks(period_s=2, taken_each=4, shown_after=2),
        workers=1,
        tables=tables,
        folder=folder / "files",
        demo=True,
    )
    return service, _people(service)


def _people(service: Service) -> list[tuple[str, str, str]]:
    database = Database(service.database)
    migrate(database)
    people, logins = People(database, database.clock), []
    for name, does in PEOPLE:
        password = new_secret()[:16]
        people.add(name, password, operator=name == "otto")
        logins.append((name, password, does))
    database.close()
    return logins


def _stays() -> list[str]:
    ages, days, costs = _normal(1_500, 55, 15, 1), _normal(1_500, 9, 4, 2), _normal(1_500, 40, 10, 3)
    rows = [f"{max(0, a)},{max(0, d)},{max(0, c)}" for a, d, c in zip(ages, days, costs, strict=True)]
    return rows + [f"{20 + i * 37 % 60},{100 + 3 * i},{50 + i % 9}" for i in range(60)]


def _salaries() -> list[str]:
    rows: list[str] = []
    for place, (job, pay) in enumerate(PAY.items()):
        for ward, hospital in enumerate(("Alder", "Birch", "Cedar", "Dale")):
            for salary in _normal(60, pay, pay * 0.08, 100 + 7 * place + ward):
                rows.append(f"e{len(rows)},{job},{hospital},{max(0, salary)}")
    return [*rows, f"e{len(rows)},Nurse,Dale,161000"]


def _normal(count: int, mean: float, deviation: float, seed: int) -> list[int]:
    """Whole numbers around `mean`, both values of each pair from one seed."""
    values = uniform(2 * count, seed=seed)
    return bell(values[::2], values[1::2], mean=mean, deviation=deviation)
