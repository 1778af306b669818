"""`wallflower declare`: a draft declaration in which every open question is marked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wallflower.cli.common import err, out
from wallflower.errors import UsageError


def register(app: typer.Typer) -> None:
    app.command()(declare)


def declare(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A CSV, Parquet, JSON, DuckDB or SQLite file.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the draft.", show_default=False)
    ],
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="The table inside a DuckDB or SQLite file.")
    ] = None,
) -> None:
    """Draft the declaration of a data file; every undecided line is marked # DECIDE.

    \b
    Example:
        wallflower declare salaries.csv -o draft.toml
    """
    from wallflower.engines import describe
    from wallflower.schema import draft
    from wallflower.schema.first_draft import shown_from_rows, write_for_owner

    if output.exists():
        raise UsageError(f"'{output}' exists already.", hint="Choose another name, or remove it first.")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder '{output.parent}'.", hint="Make it first.")
    described = describe(data, table=table)
    text = draft(data, described, folder=output.parent, table=table)
    write_for_owner(output, text)
    undecided = text.count("# DECIDE")
    out.print(f"Wrote {output}: {undecided} lines to decide. Next:", markup=False, highlight=False)
    for number, step in enumerate(
        (
            f"edit {output}: settle every # DECIDE from public knowledge, then write reviewed = true",
            f"wallflower check {output}",
            f"wallflower ledger init {output}",
            f"wallflower count {output} --columns COL --neighbours K --radius R --epsilon E --dry-run",
            "the same without --dry-run: your first release",
        ),
        start=1,
    ):
        out.print(f"  {number}. {step}", markup=False, highlight=False)
    for line in shown_from_rows(described, output):
        err.print(line, style="bold yellow", markup=False, highlight=False)
