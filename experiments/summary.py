"""One table for all five papers, drawn from the results each experiment has written: `experiments/RESULTS.md`.

Every number of ours is looked up in a paper's own RESULTS.md by heading, row and column, so this page cannot say anything
else; a heading, row or column that is gone stops it with its name.
"""

from __future__ import annotations

from experiments.claims import CLAIMS, PAPERS
from experiments.lookup import HERE, At


def _cell(value: At | str, paper: str) -> str:
    return value.read(paper) if isinstance(value, At) else value


def summary() -> str:
    lines = [
        "# Five papers, in one table",
        "",
        (
            "Written by `make reproduce` from the results of each paper. *As published* repeats the paper's own mechanism on the data "
            "described in its RESULTS.md, which are not always the paper's; *ours* is the corrected or improved one."
        ),
        "",
        "| paper | claim | published | as published, here | ours | reproduces | why |",
        "|---|---|---|---|---|---|---|",
    ]
    for claim in CLAIMS:
        link = f"[{PAPERS[claim.paper]}]({claim.paper}/RESULTS.md)"
        cells = (
            link,
            claim.claim,
            claim.published,
            _cell(claim.as_published, claim.paper),
            _cell(claim.ours, claim.paper),
        )
        lines.append(f"| {' | '.join((*cells, claim.reproduces, claim.why))} |")
    return "\n".join(lines) + "\n"


def write() -> None:
    (HERE / "RESULTS.md").write_text(summary(), encoding="utf-8")


if __name__ == "__main__":
    write()
