"""`wallflower subspaces`: in which columns there are many outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from wallflower.cli.asking import ask
from wallflower.cli.count import Neighbours, NoiseChoice, NoiseOption, Radius
from wallflower.cli.options import ColumnNames, CommonOptions, Decl, Epsilon, names, spread

if TYPE_CHECKING:
    from wallflower.session import Query


def register(app: typer.Typer) -> None:
    app.command()(spread(subspaces))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `subspaces` alone."""

    columns: ColumnNames
    size: Annotated[int, typer.Option("--size", metavar="C", help="Columns of a subspace.", show_default=False)]
    top: Annotated[int, typer.Option("--top", metavar="H", help="How many subspaces to find.", show_default=False)]
    neighbours: Neighbours
    radius: Radius
    epsilon: Epsilon
    counts_epsilon: Annotated[
        str | None,
        typer.Option("--counts-epsilon", metavar="E2", help="Further budget, to count in all the subspaces found."),
    ] = None
    noise: NoiseOption = NoiseChoice.auto

    def question(self) -> Query:
        """Where the most outliers are."""
        from wallflower.count import Subspaces

        return Subspaces(
            columns=names(self.columns),
            size=self.size,
            top=self.top,
            neighbours=self.neighbours,
            radius=self.radius,
            epsilon=self.epsilon,
            counts_epsilon=self.counts_epsilon,
            noise=self.noise.value,
        )


def subspaces(declaration: Decl, asked: Options, how: CommonOptions) -> None:
    """Find the subspaces with the most outliers, and count in them if asked to.

    \b
    Example:
        wallflower subspaces salaries.toml --columns age,salary,tenure --size 2 --top 1 --neighbours 5 --radius 2
            --epsilon 0.5 --counts-epsilon 0.5 --dry-run
    """
    ask(declaration, asked.question(), how)
