"""The demo of `identify`: blood values of a made-up hospital network."""

from __future__ import annotations

from pathlib import Path

from wallflower.demo.made_up_values import normal
from wallflower.demo.stage import Stage, ask, facts, file_papers, in_words, spent, times
from wallflower.demo.table import write_table
from wallflower.identify import Anomalies
from wallflower.report.story import Scene
from wallflower.session import open as open_session

DECLARATION = """\
[table]
id = "measurements"
source = "measurements.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 5_000
reviewed = true
test = false
ledger = "measurements.ledger"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
scale = 10

[columns.glucose]
role = "sensitive"
lower = 0
upper = 600
step = 1
outside = "clip"
missing = "drop"
scale = 12

[identify.default]
columns = ["age", "glucose"]
beta = 30
radius = 1
k = 3
epsilon = "2"
"""


def show(folder: Path, stage: Stage) -> Scene:
    """Ask about three values, one of them far from the rest."""
    ages, values = normal(3_000, mean=48, deviation=14, seed=3), normal(3_000, mean=95, deviation=17, seed=4)
    rows = [f"{max(0, a)},{max(0, v)}" for a, v in zip(ages, values, strict=True)] + ["37,430"]
    session = open_session(
        write_table(folder, "measurements", header="age,glucose", rows=rows, declaration=DECLARATION)
    )
    setting = (
        f"The laboratory holds {len(rows):,} blood sugar values. A device maker asks whether some values occur there as anomalies. "
        "Normal patients are protected; that a far outlier exists may be told."
    )
    stage.say(setting)
    query = Anomalies(
        values=({"age": 37, "glucose": 430}, {"age": 48, "glucose": 95}, {"age": 90, "glucose": 300}), epsilon=1
    )
    wrong = session.price(query).expected["wrong_if_one_row_holds_it_by_rows_near"]
    chances = (
        ", ".join(f"{near}: {chance}" for near, chance in wrong.items()) if isinstance(wrong, dict) else str(wrong)
    )
    release, lines = ask(
        stage,
        session,
        "is 430 mg/dl at 37 an anomaly? 95 at 48? 300 at 90?",
        query,
        expect=f"chance of a wrong answer about a value that one row holds, by the number of rows near it: {chances}",
    )
    from wallflower.report.owner import owner_pictures

    report = session.owner.report(query)
    return Scene(
        area="identify",
        title="Is this value an anomaly?",
        setting=setting,
        sentence=f"The laboratory answered: {in_words(release)}.",
        promised=(
            f"To every patient whose value is normal, or nearly: no answer is more than {times(release)} times as likely with them as "
            "without. Far outliers are promised less, the further the less."
        ),
        left=tuple(lines),
        stayed=tuple(facts(report)),
        pictures=tuple(owner_pictures("identify", report.value["seen"], release)[:1]),
        papers=file_papers(folder, session, query, release, report=report),
        spent=spent(session),
    )
