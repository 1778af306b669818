"""The demo of `explain`: one salary among the staff of a made-up hospital network."""

from __future__ import annotations

from pathlib import Path

from wallflower.demo.made_up_values import normal
from wallflower.demo.stage import Stage, ask, facts, file_papers, in_words, spent, times
from wallflower.demo.table import write_table
from wallflower.detectors import LOF, Grubbs
from wallflower.explain import Context
from wallflower.report.story import Scene
from wallflower.session import open as open_session

JOBS = {"Porter": 34_000, "Nurse": 52_000, "Pharmacist": 71_000, "Physician": 118_000, "Surgeon": 205_000}
HOSPITALS = {"Alder": 0, "Birch": 2_000, "Cedar": 5_000, "Dale": 9_000}
WORDS = "job=own,hospital=own"
"""Each column says the record's own value or nothing: answers that people would give."""

DECLARATION = """\
[table]
id = "staff"
source = "staff.csv"
key = "employee"
unit = "row"
neighbours = "add-remove"
max_rows = 10_000
reviewed = true
test = false
ledger = "staff.ledger"

[budget.output-constrained-dp]
epsilon = "2"
[budget.dp]
epsilon = "2"

[columns.job]
role = "quasi-identifier"
values = ["Porter", "Nurse", "Pharmacist", "Physician", "Surgeon", "Director"]
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


def show(folder: Path, stage: Stage) -> Scene:
    """Ask in which context one nurse's salary stands out: under the paper's promise, then under the full one."""
    rows: list[str] = []
    for j, (job, pay) in enumerate(JOBS.items()):
        for h, (hospital, more) in enumerate(HOSPITALS.items()):
            for salary in normal(150, mean=pay + more, deviation=pay / 16, seed=10 * j + h):
                rows.append(f"e{len(rows)},{job},{hospital},{salary}")
    record = f"e{len(rows)}"
    rows.append(f"{record},Nurse,Cedar,121000")
    session = open_session(
        write_table(folder, "staff", header="employee,job,hospital,salary", rows=rows, declaration=DECLARATION)
    )
    setting = (
        f"The network pays {len(rows):,} people. Among all of them a salary of 121,000 is nothing special; for a nurse it is. "
        "Payroll wants to know where this one stands out, without telling what anybody else earns."
    )
    stage.say(setting)
    by = ("job", "hospital")
    narrow = Context(
        record=record, metric="salary", by=by, contexts=WORDS, detector=LOF(), epsilon="0.2", min_population=100
    )
    one, first = ask(
        stage,
        session,
        f"in which context does {record} stand out? (the paper's promise: only valid contexts are candidates)",
        narrow,
        expect=str(session.price(narrow).expected["shortfall"]),
    )
    wide = Context(
        record=record, metric="salary", by=by, contexts=WORDS, detector=Grubbs(), epsilon=1, guarantee="full"
    )
    two, second = ask(
        stage,
        session,
        f"the same of {record}, with differential privacy for everyone else and no condition",
        wide,
        expect=str(session.price(wide).expected["needs"]),
    )
    from wallflower.report.owner import owner_pictures

    report, wide_report = session.owner.report(narrow), session.owner.report(wide)
    return Scene(
        area="explain",
        title="Where does this record stand out?",
        setting=setting,
        sentence=(
            f"{record} was said to stand out among {in_words(one)}; with the wider promise, among {in_words(two)}."
        ),
        promised=(
            f"To everyone but the asked-for nurse: no answer is more than {times(one)} times as likely with any one of them as without, "
            f"while the contexts in which the nurse stands out stay as they are; the second answer at most {times(two)} times, without condition."
        ),
        left=(*first, *second),
        stayed=tuple(facts(report)),
        pictures=tuple(owner_pictures("explain", report.value["seen"], one)),
        papers=(
            *file_papers(folder, session, narrow, one, name="the paper's promise", report=report),
            *file_papers(folder, session, wide, two, name="the full promise", report=wide_report),
        ),
        spent=spent(session),
    )
