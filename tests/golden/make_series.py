"""Write the golden ledger of a series. Run once, and never again: what is kept is what was written then.

python -m tests.golden.make_series FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa

from wallflower.count import DailyOutliers
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import table

FRAME = pa.table(
    {"x": [1, 2, 3, 4, 90], "added": ["2020-01-01", "2020-01-01", "2020-01-02", "2020-01-03", "2020-01-03"]}
)


def question(through: str) -> DailyOutliers:
    return DailyOutliers(
        measures=("x",),
        daily="added",
        start="2020-01-01",
        horizon=90,
        neighbours=2,
        radius=5,
        epsilon="0.25",
        through=through,
    )


def main(folder: Path) -> None:
    declared = load(folder / "series.toml", source_optional=True)
    Ledger.init(declared)
    session = table(FRAME, declared)
    for through in ("2020-01-02", "2020-01-15"):
        answered = session.release(question(through)).to_json()
    kept = {
        "fingerprint": declared.fingerprint,
        "head": session.ledger.journal.head,
        "entries": session.ledger.journal.entry,
        "answer": answered,
    }
    (folder / "series.json").write_text(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
