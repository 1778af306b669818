"""The demo of `publish`: costs of treatment in a made-up hospital network, published and attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wallflower.demo.made_up_values import normal
from wallflower.demo.stage import Lines, Stage, ask, file_papers, spent
from wallflower.demo.table import write_table
from wallflower.publish import PlainTable
from wallflower.publish.attacks import Findings
from wallflower.publish.inspection import OUTLYING_WITH_ANYONE, UNHIDABLE
from wallflower.publish.published_attack import PublishedAttack
from wallflower.report.story import Scene
from wallflower.session import open as open_session

DECLARATION = """\
[table]
id = "treatments"
source = "treatments.csv"
key = "patient"
unit = "row"
neighbours = "add-remove"
max_rows = 5_000
reviewed = true
test = false
ledger = "treatments.ledger"

[budget.plain-k-anonymity]
publications = 1

[columns.patient]
role = "identifier"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = "drop"

[columns.district]
role = "quasi-identifier"
values = ["Harbour", "Old Town", "Hill", "Meadows"]
hierarchy = {Centre = ["Harbour", "Old Town"], Outskirts = ["Hill", "Meadows"]}
outside = "drop"
missing = "drop"

[columns.cost]
role = "sensitive"
lower = 0
upper = 400
step = 1
outside = "clip"
missing = "drop"
"""

DISTRICTS = ("Harbour", "Old Town", "Hill", "Meadows")
SIX = [(18 + i, "Hill", 330 + 9 * i) for i in range(6)]
K = 5


def show(folder: Path, stage: Stage) -> Scene:
    """Publish the table, show some of it, and attack it."""
    ages, costs = normal(1_500, mean=45, deviation=16, seed=5), normal(1_500, mean=90, deviation=40, seed=6)
    rows = [
        f"patient {i},{min(max(a, 0), 100)},{DISTRICTS[(a + 3 * i) % 4]},{max(c + a // 2, 0)}"
        for i, (a, c) in enumerate(zip(ages, costs, strict=True))
    ]
    rows += [f"rare {i},{age},{district},{cost}" for i, (age, district, cost) in enumerate(SIX)]
    session = open_session(
        write_table(folder, "treatments", header="patient,age,district,cost", rows=rows, declaration=DECLARATION)
    )
    setting = (
        f"The network wants to hand age, district and cost of treatment (hundreds) of {len(rows):,} patients to researchers. Six "
        "young patients had treatments so dear that anyone would pick them out."
    )
    stage.say(setting)
    public = folder / "public.csv"
    query = PlainTable.of(session.declaration, out=str(public), k=K, p="0.95", d="0.5")
    release, lines = ask(
        stage,
        session,
        "a table in which every group holds at least 5 different costs and everybody may hold at least 5 of them",
        query,
        expect="rows that cannot be hidden are left out; how many stays at the owner's desk",
    )
    found: Findings = session.owner.attack(PublishedAttack(query, public)).value
    report = session.owner.report(query)
    seen = report.value["seen"]
    with public.open(encoding="utf-8") as file:
        sample = [file.readline().strip() for _ in range(4)]
    published = [("published", " / ".join(sample))]
    stayed = _what_stayed(seen, found)
    stage.show([*published, *stayed])
    from wallflower.report.owner import owner_pictures

    return Scene(
        area="publish",
        title="A table in which outliers blend in",
        setting=setting,
        sentence=f"{release['rows']:,} patients are in the published table, in {release['groups']} groups.",
        promised=(
            "To everyone in the published table: whoever knows all ages and districts, who is an outlier and who is in which group, and judges by "
            f"the table as it is who would be an outlier with which costs, is left with at least {query.k} possible costs for each. It is no differential privacy and holds for this one table."
        ),
        left=(*lines, *published),
        stayed=tuple(stayed),
        pictures=tuple(owner_pictures("publish", seen, release)[1:]),
        papers=file_papers(folder, session, query, release, report=report),
        spent=spent(session),
    )


def _what_stayed(seen: Mapping[str, Any], found: Findings) -> Lines:
    """What the owner's report and the attack say, at the owner's desk."""
    numbers, guessed = seen["numbers"], found.guesses
    kept, outliers = numbers["outliers published"], numbers["outliers"]
    return [
        (
            "outliers",
            f"{outliers} of the {numbers['rows']:,} rows: {kept} are in the published table, {outliers - kept} were left out",
        ),
        (
            "left out",
            f"{seen['facts']['left out']}; no method could publish {seen['facts']['no method could publish']}",
        ),
        ("the six", _six(seen["tables"])),
        ("attacked", f"smallest group {found.smallest} rows, at least {found.least_distinct} costs in every group"),
        (
            "found",
            (
                f"by someone who knows all ages, districts, outliers and groups and judges by the table as it is: {len(guessed.pinned)} people pinned to one cost, at least "
                f"{guessed.fewest(outlying=False)} possible costs for everybody; the likeliest is right with at most {guessed.surest(outlying=False):.2f}"
            ),
        ),
    ]


def _six(tables: Sequence[Mapping[str, Any]]) -> str:
    """Which of the six the owner's report proves to be publishable by no method, and why."""
    lines = [line for table in tables if table["title"].startswith(UNHIDABLE) for line in table["rows"]]
    why = {tuple(line[:-1]): line[-1] for line in lines}
    proved = {cost: why[key] for age, district, cost in SIX if (key := (str(age), district, str(cost))) in why}
    if not proved:
        return "none of them is proved to be unhidable; the owner's report says who of them is published"
    alone = [str(cost) for cost, reason in proved.items() if reason == OUTLYING_WITH_ANYONE]
    others = [str(cost) for cost, reason in proved.items() if reason != OUTLYING_WITH_ANYONE]
    said = f"{len(proved)} of them can be hidden by no method and are left out"
    if alone:
        said += f". Anyone with a cost of {', '.join(alone)} would be an outlier, so nobody normal could be thought to have it"
    if others:
        said += f". With {', '.join(others)} fewer than {K} costs that can be published could be taken for theirs by who knows that they stand out"
    return said
