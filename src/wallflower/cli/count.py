"""`wallflower count`: how many outliers there are."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wallflower.cli.asking import ask
from wallflower.cli.options import ColumnNames, CommonOptions, Decl, Epsilon, names, spread
from wallflower.cli.terminal import err
from wallflower.errors import UsageError

if TYPE_CHECKING:
    from wallflower.session import Query


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


_NEIGHBOURS: Any = typer.Option(
    "--neighbours",
    "--fewer-than",
    metavar="K",
    help="A row with fewer than K other rows within the radius is an outlier. (A number of rows; the declaration's "
    "'neighbours' says which tables a promise compares.)",
    show_default=False,
)
_RADIUS: Any = typer.Option(
    "--radius",
    metavar="R",
    help="How near is near: the root of the mean square, over the columns, of the differences in units of each column's scale. "
    "In 4 columns, rows that differ by 10 in one of them alone are 5 apart. --dry-run says it in the columns' own units.",
    show_default=False,
)
Neighbours = Annotated[int, _NEIGHBOURS]
Radius = Annotated[str, _RADIUS]
NoiseOption = Annotated[
    NoiseChoice,
    typer.Option("--noise", help="auto chooses by columns, neighbours, epsilon and max_rows, never by the rows."),
]


def register(app: typer.Typer) -> None:
    app.command()(spread(count))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `count` alone."""

    columns: ColumnNames
    epsilon: Epsilon
    neighbours: Annotated[int | None, _NEIGHBOURS] = None
    radius: Annotated[str | None, _RADIUS] = None
    noise: NoiseOption = NoiseChoice.auto
    interval_epsilon: Annotated[
        str | None,
        typer.Option(
            "--interval-epsilon",
            metavar="E1",
            help="Further budget for an interval as narrow as the table allows; 'auto' takes two fifths of --epsilon.",
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COL",
            help="Count in every group: each declared value of this column, seen in the rows or not.",
        ),
    ] = None
    among: Annotated[
        AmongChoice,
        typer.Option(
            "--among", help="With --by: whose rows are neighbours, those of the same group or all of the table."
        ),
    ] = AmongChoice.group
    fence: Annotated[
        str | None,
        typer.Option(
            "--fence",
            metavar="iqr",
            help="Instead of --neighbours and --radius: count the rows of one column beyond private quantile fences.",
        ),
    ] = None
    daily: Annotated[
        str | None,
        typer.Option(
            "--daily",
            metavar="COL",
            help="Count at the end of every day, by this column of dates, in a table with grows = true; one charge for all days.",
        ),
    ] = None
    start: Annotated[
        str | None, typer.Option("--start", metavar="DAY", help="With --daily: the first day, such as 2026-01-01.")
    ] = None
    horizon: Annotated[
        int | None,
        typer.Option("--horizon", metavar="DAYS", help="With --daily: how many days the series has at most."),
    ] = None
    through: Annotated[
        str | None,
        typer.Option(
            "--through", metavar="DAY", help="With --daily: the last day to tell now; without it yesterday, in UTC."
        ),
    ] = None
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", metavar="FILE.svg", help="Draw the error to expect at each epsilon; reads no row, then stops."
        ),
    ] = None

    def question(self) -> Query:
        """The question that the options spell: by fences, of every day, or of the rows as they are."""
        self._refuse_idle()
        if self.fence is not None:
            return self._fenced(self.fence)
        if self.neighbours is None or self.radius is None:
            raise UsageError(
                "an outlier needs --neighbours (how many others) and --radius (how near).",
                hint="Or ask for quantile fences: --fence iqr.",
            )
        near = {"neighbours": self.neighbours, "radius": self.radius, "epsilon": self.epsilon}
        return self._near(near) if self.daily is None else self._daily(near)

    def _refuse_idle(self) -> None:
        """Options that would be passed over in silence."""
        if self.among is AmongChoice.table and self.by is None:
            raise UsageError(
                "--among says whose rows are neighbours where outliers are counted in groups.", hint="Add --by COL."
            )
        if self.daily is None and (self.start, self.horizon, self.through) != (None, None, None):
            raise UsageError(
                "--start, --horizon and --through belong to --daily.", hint="Name the column of dates: --daily added."
            )

    def _near(self, near: dict[str, Any]) -> Query:
        """Rows with few others near them."""
        from wallflower.count import GroupedOutliers, Outliers

        near |= {"noise": self.noise.value, "interval_epsilon": self.interval_epsilon}
        if self.by is None:
            return Outliers(columns=names(self.columns), **near)
        return GroupedOutliers(measures=names(self.columns), by=self.by, among=self.among.value, **near)

    def _daily(self, near: dict[str, Any]) -> Query:
        """Every day of a table that grows."""
        from wallflower.count import DailyOutliers

        if self.by is not None or self.interval_epsilon is not None or self.noise != NoiseChoice.auto:
            raise UsageError(
                "daily counts have noise and intervals of their own, for the whole table.",
                hint="Leave --by, --noise and --interval-epsilon out.",
            )
        if self.start is None or self.horizon is None:
            raise UsageError(
                "daily counts need --start (the first day) and --horizon (how many days): the price is for all of them.",
                hint="For example --daily added --start 2026-01-01 --horizon 365.",
            )
        days: dict[str, Any] = {
            "daily": self.daily,
            "start": self.start,
            "horizon": self.horizon,
            "through": self.through,
        }
        return DailyOutliers(measures=names(self.columns), **days, **near)

    def _fenced(self, fence: str) -> Query:
        """Rows beyond fences: `iqr`, or `iqr(factor=3)`."""
        from wallflower.count import FencedOutliers
        from wallflower.count.fences import fence_in_text, fence_misspelt

        if self.daily is not None:
            raise UsageError(
                "a fence is for one count, and --daily for one of every day.", hint="Leave one of them out."
            )
        if (self.neighbours, self.radius, self.by, self.interval_epsilon) != (None, None, None, None):
            raise UsageError(
                "a fence takes the place of --neighbours and --radius, and has an interval of its own.",
                hint="Leave --neighbours, --radius, --by and --interval-epsilon out.",
            )
        columns = names(self.columns)
        if len(columns) != 1:
            raise fence_misspelt()
        return FencedOutliers(column=columns[0], epsilon=self.epsilon, **fence_in_text(fence))


def count(declaration: Decl, asked: Options, how: CommonOptions) -> None:
    """Count the outliers of a table, with noise.

    \b
    Example:
        wallflower count salaries.toml --columns salary --neighbours 5 --radius 1000 --epsilon 0.5 --dry-run
    """
    query = asked.question()
    if asked.picture is not None:
        if (asked.by, asked.fence, asked.daily) != (None, None, None):
            raise UsageError("the picture of error by epsilon is for one count.", hint="Leave --picture out.")
        _draw_error(query, declaration, asked.picture)
        how = replace(how, dry_run=True)
    ask(declaration, query, how)


def _draw_error(query: Any, declaration: Path, picture: Path) -> None:
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
    err.print(f"Error by epsilon, from public things alone: {picture}", highlight=False)
