"""`wallflower count`: how many outliers there are."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    RequestId,
    Seed,
    ask,
    err,
    names,
)
from wallflower.errors import UsageError
from wallflower.ledger.admission import OWNER

if TYPE_CHECKING:
    from wallflower.count import Outliers


class NoiseChoice(StrEnum):
    """The noises of `count.noise`, as the command line offers them."""

    auto = "auto"
    lomax = "lomax"
    laplace = "laplace"
    inverse = "inverse"


class AmongChoice(StrEnum):
    """Whose rows are neighbours where outliers are counted in groups."""

    group = "group"
    table = "table"


Neighbours = Annotated[
    int,
    typer.Option(
        "--neighbours",
        "--fewer-than",
        metavar="K",
        help="A row with fewer than K other rows within the radius is an outlier. (A number of rows; the declaration's "
        "'neighbours' says which tables a promise compares.)",
        show_default=False,
    ),
]
Radius = Annotated[
    str,
    typer.Option(
        "--radius",
        metavar="R",
        help="How near is near: the root of the mean square, over the columns, of the differences in units of each column's scale. "
        "In 4 columns, rows that differ by 10 in one of them alone are 5 apart. --dry-run says it in the columns' own units.",
        show_default=False,
    ),
]
NoiseOption = Annotated[
    NoiseChoice,
    typer.Option("--noise", help="auto chooses by columns, neighbours, epsilon and max_rows, never by the rows."),
]


def register(app: typer.Typer) -> None:
    app.command()(count)


def count(
    declaration: Decl,
    columns: ColumnNames,
    neighbours: Neighbours,
    radius: Radius,
    epsilon: Epsilon,
    noise: NoiseOption = NoiseChoice.auto,
    interval_epsilon: Annotated[
        str | None,
        typer.Option(
            "--interval-epsilon",
            metavar="E1",
            help="Further budget for an interval as narrow as the table allows; 'auto' takes two fifths of --epsilon.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COL",
            help="Count in every group: each declared value of this column, seen in the rows or not.",
        ),
    ] = None,
    among: Annotated[
        AmongChoice,
        typer.Option(
            "--among", help="With --by: whose rows are neighbours, those of the same group or all of the table."
        ),
    ] = AmongChoice.group,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", metavar="FILE.svg", help="Draw the error to expect at each epsilon; reads no row, then stops."
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    request_id: RequestId = None,
    asker: Asker = OWNER,
    purpose: Purpose = "",
    owner_report: OwnerReport = None,
    seed: Seed = None,
) -> None:
    """Count the outliers of a table, with noise.

    \b
    Example:
        wallflower count salaries.toml --columns salary --neighbours 5 --radius 1000 --epsilon 0.5 --dry-run
    """
    from wallflower.count import GroupedOutliers, Outliers

    query: GroupedOutliers | Outliers
    if by is None:
        query = Outliers(
            columns=names(columns),
            neighbours=neighbours,
            radius=radius,
            epsilon=epsilon,
            noise=noise.value,
            interval_epsilon=interval_epsilon,
        )
    else:
        query = GroupedOutliers(
            measures=names(columns),
            by=by,
            among=among.value,
            neighbours=neighbours,
            radius=radius,
            epsilon=epsilon,
            noise=noise.value,
            interval_epsilon=interval_epsilon,
        )
    if picture is not None:
        if isinstance(query, GroupedOutliers):
            raise UsageError("the picture of error by epsilon is for one count.", hint="Leave --by or --picture out.")
        _draw_error(query, declaration, picture)
        dry_run = True
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
        ),
    )


def _draw_error(query: Outliers, declaration: Path, picture: Path) -> None:
    """The error at each epsilon, from public things alone: no row is read and no ledger opened."""
    from wallflower.atomic_file import write_whole
    from wallflower.count.expectations import error_by_epsilon
    from wallflower.report.count import error_picture
    from wallflower.schema import load

    if picture.suffix != ".svg" or not picture.parent.is_dir() or not os.access(picture.parent, os.W_OK):
        raise UsageError(
            f"'{picture}' cannot be written.", hint="Name a file that ends in .svg, in an existing folder of yours."
        )
    declared = load(declaration)
    query.price(declared)
    write_whole(picture, error_picture(error_by_epsilon(query, declared)).svg)
    err.print(f"Error by epsilon, from public things alone: {picture}", markup=False, highlight=False)
