"""`wallflower identify`: is this value an anomaly?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wallflower.cli.asking import ask
from wallflower.cli.options import CommonOptions, Decl, Epsilon, spread
from wallflower.errors import UsageError

if TYPE_CHECKING:
    from wallflower.session import Query


def register(app: typer.Typer) -> None:
    app.command()(spread(identify))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `identify` alone."""

    epsilon: Epsilon
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="The declared anomaly model.")] = "default"
    value: Annotated[
        list[str] | None,
        typer.Option("--value", metavar="COL=V,COL=V", help="A value to ask about; may be given several times."),
    ] = None
    values: Annotated[
        Path | None,
        typer.Option("--values", metavar="FILE.csv", help="Values to ask about, one a line under a header of columns."),
    ] = None
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="sensitive: protects rows that are normal or nearly so. dp: protects every row. "
            "lookahead: for a radius that holds no other value. grid: dp for many questions at once, from one noisy grid. "
            "cheapest-dp: the cheaper of dp and grid, by public numbers.",
        ),
    ] = "sensitive"
    bound: Annotated[
        str,
        typer.Option(
            "--bound", metavar="BOUND", help="What `sensitive` fades with: star, or the weaker one of the paper."
        ),
    ] = "star"

    def question(self) -> Query:
        """About every value that was named, on the command line and in the file."""
        from wallflower.identify import Anomalies
        from wallflower.identify.values import value_in_text, values_in_file

        values = [value_in_text(text) for text in self.value or ()]
        if self.values is not None:
            values += values_in_file(self.values)
        if not values:
            raise UsageError(
                "nothing was asked.", hint='Name a value with --value "col=v,col=v", or a file with --values.'
            )
        return Anomalies(
            values=tuple(values), epsilon=self.epsilon, model=self.model, method=self.method, bound=self.bound
        )


def identify(declaration: Decl, asked: Options, how: CommonOptions) -> None:
    """Say whether public values are anomalies of a table.

    --epsilon is the budget of one question. A request is charged that times the most questions that one row can influence.

    \b
    Example:
        wallflower identify salaries.toml --value "age=51,salary=900000" --epsilon 1 --dry-run
    """
    ask(declaration, asked.question(), how)
