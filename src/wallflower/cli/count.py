"""`wallflower count`: how many outliers there are."""

from __future__ import annotations

from typing import Annotated

import typer

from wallflower.cli.common import (
    AsJson,
    ColumnNames,
    Decl,
    DryRun,
    Epsilon,
    How,
    OwnerReport,
    RequestId,
    Seed,
    ask,
    names,
)


def register(app: typer.Typer) -> None:
    app.command()(count)


def count(
    declaration: Decl,
    columns: ColumnNames,
    neighbours: Annotated[
        int,
        typer.Option(
            "--neighbours", metavar="K", help="Fewer others within the radius make an outlier.", show_default=False
        ),
    ],
    radius: Annotated[
        str, typer.Option("--radius", metavar="R", help="How near is near, in scaled units.", show_default=False)
    ],
    epsilon: Epsilon,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    request_id: RequestId = None,
    owner_report: OwnerReport = None,
    seed: Seed = None,
) -> None:
    """Count the outliers of a table, with noise.

    \b
    Example:
        wallflower count salaries.toml --columns salary --neighbours 5 --radius 1000 --epsilon 0.5 --dry-run
    """
    from wallflower.count import Outliers

    query = Outliers(columns=names(columns), neighbours=neighbours, radius=radius, epsilon=epsilon)
    ask(
        declaration,
        query,
        How(dry_run=dry_run, as_json=as_json, request_id=request_id, owner_report=owner_report, seed=seed),
    )
