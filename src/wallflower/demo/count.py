"""The demo of `count` and `subspaces`: patients of a made-up hospital network, by their visits."""

from __future__ import annotations

from pathlib import Path

from wallflower.count import Outliers, Subspaces
from wallflower.demo.made_up_values import normal
from wallflower.demo.stage import Stage, ask, facts, file_papers, spent, times
from wallflower.demo.table import write_table
from wallflower.demo.visits import HEADER, made_up_visits
from wallflower.report.story import Scene
from wallflower.session import open as open_session

DECLARATION = """\
[table]
id = "visits"
source = "visits.csv"
unit = "person"
person = "patient"
time = "day"
neighbours = "add-remove"
max_people = 5_000
reviewed = true
test = false
ledger = "visits.ledger"

[budget.dp]
epsilon = "4"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
per_person = "latest"

[columns.stay]
role = "sensitive"
lower = 0
upper = 365
step = 1
outside = "clip"
missing = "drop"
per_person = "sum"

[columns.cost]
role = "sensitive"
lower = 0
upper = 500
step = 1
outside = "clip"
missing = "drop"
per_person = "sum"
"""


def show(folder: Path, stage: Stage) -> Scene:
    """Ask how many patients are outliers, whatever the number of their visits, and in which column they stand out."""
    ages, stays = normal(2_000, mean=55, deviation=15, seed=1), normal(2_000, mean=9, deviation=4, seed=2)
    costs = normal(2_000, mean=40, deviation=10, seed=3)
    patients = [(max(0, a), max(0, s), max(0, c)) for a, s, c in zip(ages, stays, costs, strict=True)]
    patients += [(20 + i * 37 % 60, 100 + 3 * i, 50 + i % 9) for i in range(80)]
    rows = made_up_visits(patients)
    session = open_session(write_table(folder, "visits", header=HEADER, rows=rows, declaration=DECLARATION))
    setting = (
        f"The network holds {len(rows):,} visits of {len(patients):,} patients: age, length of stay (days) and cost (hundreds). The "
        "ministry asks how many patients are unusual, all their visits together, and in what."
    )
    stage.say(setting)
    how_many = Outliers(columns=("age", "stay"), neighbours=3, radius=6, epsilon=1)
    one, first = ask(
        stage,
        session,
        "how many patients have fewer than 3 others within 6 (8 years or 8 days in all apart, or 6 of both: the root of the mean square)?",
        how_many,
        expect=str(session.price(how_many).expected["error"]),
    )
    where = Subspaces(
        columns=("age", "stay", "cost"), size=1, top=1, neighbours=3, radius=2, epsilon=1, counts_epsilon=1
    )
    two, second = ask(
        stage,
        session,
        "in which one column are there the most outliers, and how many?",
        where,
        expect=str(session.price(where).expected["certainty"]),
    )
    from wallflower.count.expectations import error_by_epsilon
    from wallflower.report.count import error_picture
    from wallflower.report.owner import owner_pictures

    report = session.owner.report(how_many)
    best = two["subspaces"][0]
    return Scene(
        area="count",
        title="How many outliers, and in what?",
        setting=setting,
        sentence=(
            f"About {one['count']} of the patients are unusual (between {one['interval'][0]} and {one['interval'][1]}), most of them by "
            f"{' and '.join(best['columns'])}."
        ),
        promised=(
            f"To every patient, whatever anyone already knows: the first answer is at most {times(one)} times as likely with all their "
            f"visits as without, the second at most {times(two)} times."
        ),
        left=(*first, *second),
        stayed=tuple(facts(report)),
        public=(error_picture(error_by_epsilon(how_many, session.declaration)),),
        pictures=tuple(owner_pictures("count", {**report.value["seen"], "unit": "person"}, one)),
        papers=(
            *file_papers(folder, session, how_many, one, name="the count", report=report),
            *file_papers(folder, session, where, two, name="the columns"),
        ),
        spent=spent(session),
    )
