"""Write the rehearsal pictures of docs/guide.md: a made-up clinic, rehearsed; seeds are fixed, so the same bytes come out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from scripts.trade_offs import standalone

import wallflower as wf
from wallflower.report.figures import Picture
from wallflower.report.rehearsal import answers_picture, sweep_pictures
from wallflower.schema import loads
from wallflower.session import Rehearsal, Session, Sweep, table

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"

CLINIC = """
[table]
id = "clinic"
unit = "row"
neighbours = "add-remove"
max_rows = 5_000
ledger = "clinic.ledger"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 110
step = 1
outside = "clip"
missing = "drop"
scale = 10

[columns.stay]
role = "sensitive"
lower = 0
upper = 90
step = 1
outside = "clip"
missing = "drop"
scale = 5

[identify.default]
columns = ["age", "stay"]
beta = 8
radius = "1"
k = 3
epsilon = "4"

[rehearsal]
rows = 2_000
outliers = "0.02"

[rehearsal.groups.day-cases]
share = "0.6"
centre = {age = 45, stay = 3}
spread = {age = 14, stay = 2}

[rehearsal.groups.hips]
share = "0.4"
centre = {age = 74, stay = 12}
spread = {age = 8, stay = 3}
"""


def clinic() -> Session:
    """The table of the guide; nobody needs its rows."""
    return table(pa.table({"age": [], "stay": []}), loads(CLINIC))


COUNT = wf.count.Outliers(columns=("age", "stay"), neighbours=4, radius="1/2", epsilon="1")
SHOWN = (
    "rehearsal-count-answers",
    "rehearsal-count-radius",
    "rehearsal-count-neighbours",
    "rehearsal-identify-beta",
    "rehearsal-identify-k",
    "rehearsal-publish-k",
    "rehearsal-publish-d",
)
"""What the guide shows."""


def counted() -> Rehearsal:
    return clinic().rehearse(COUNT)


def identified() -> Rehearsal:
    values = ({"age": 20, "stay": 60}, {"age": 74, "stay": 12}, {"age": 95, "stay": 20})
    return clinic().rehearse(wf.identify.Anomalies(values=values, epsilon="1/2"))


def published() -> Rehearsal:
    declared = loads(CLINIC)
    query = wf.publish.PlainTable.of(declared, out="public.csv", k=5, p="0.95", d="0.5")
    return clinic().rehearse(query, draws=1)


def pictures() -> dict[str, Picture]:
    """Every picture, by its name in docs/pictures."""
    found: dict[str, Picture] = {}
    for area, seen in (("count", counted()), ("identify", identified()), ("publish", published())):
        found |= {f"rehearsal-{area}-{name}": picture for name, picture in drawn(seen).items()}
    return {name: picture for name, picture in found.items() if name in SHOWN}


def drawn(seen: Rehearsal | Sweep, measured: str = "") -> dict[str, Picture]:
    """The pictures of one rehearsal, by the choice that they vary."""
    lines = seen.sweep if isinstance(seen, Rehearsal) else seen.each
    names = list(dict.fromkeys(line.parameter for line in lines))
    label = seen.measured if isinstance(seen, Rehearsal) else measured
    found = dict(zip(names, sweep_pictures(lines, measured=label), strict=True))
    return {"answers": answers_picture(seen), **found} if isinstance(seen, Rehearsal) else found


if __name__ == "__main__":
    for name, picture in pictures().items():
        (FOLDER / f"{name}.svg").write_text(standalone(picture), encoding="utf-8")
