"""`wallflower subspaces`: in which columns there are many outliers."""

from __future__ import annotations

from typing import Annotated

import typer

from wallflower.cli.common import (
    AsJson,
    Asker,
    ColumnNames,
    Decl,
    DryRun,
    Epsilon,
    How,
    OwnerReport,
    Purpose,
    RehearsalReport,
    Rehearse,
    RequestId,
    Seed,
    ask,
    names,
)
from wallflower.cli.count import Neighbours, NoiseChoice, NoiseOption, Radius
from wallflower.ledger.admission import OWNER


def register(app: typer.Typer) -> None:
    app.command()(subspaces)


def subspaces(
    declaration: Decl,
    columns: ColumnNames,
    size: Annotated[int, typer.Option("--size", metavar="C", help="Columns of a subspace.", show_default=False)],
    top: Annotated[int, typer.Option("--top", metavar="H", help="How many subspaces to find.", show_default=False)],
    neighbours: Neighbours,
    radius: Radius,
    epsilon: Epsilon,
    counts_epsilon: Annotated[
        str | None,
        typer.Option("--counts-epsilon", metavar="E2", help="Further budget, to count in all the subspaces found."),
    ] = None,
    noise: NoiseOption = NoiseChoice.auto,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    request_id: RequestId = None,
    asker: Asker = OWNER,
    purpose: Purpose = "",
    owner_report: OwnerReport = None,
    rehearse: Rehearse = None,
    rehearsal_report: RehearsalReport = None,
    seed: Seed = None,
) -> None:
    """Find the subspaces with the most outliers, and count in them if asked to.

    \b
    Example:
        wallflower subspaces salaries.toml --columns age,salary,tenure --size 2 --top 1 --neighbours 5 --radius 2
            --epsilon 0.5 --counts-epsilon 0.5 --dry-run
    """
    from wallflower.count import Subspaces

    query = Subspaces(
        columns=names(columns),
        size=size,
        top=top,
        neighbours=neighbours,
        radius=radius,
        epsilon=epsilon,
        counts_epsilon=counts_epsilon,
        noise=noise.value,
    )
    ask(
        declaration,
        query,
        How(
            dry_run=dry_run,
            as_json=as_json,
            request_id=request_id,
            owner_report=owner_report,
            seed=seed,
            asker=asker,
            purpose=purpose,
            rehearse=rehearse,
            rehearsal_report=rehearsal_report,
        ),
    )
