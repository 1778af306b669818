"""`wallflower explain`: in which context a record stands out."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated

import typer

from wallflower.cli.asking import ask
from wallflower.cli.options import CommonOptions, Decl, Epsilon, names, spread

if TYPE_CHECKING:
    from wallflower.session import Query


def register(app: typer.Typer) -> None:
    app.command()(spread(explain))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `explain` alone."""

    record: Annotated[
        list[str],
        typer.Option(
            "--record", metavar="KEY", help="Key of the asked-for record; several share epsilon.", show_default=False
        ),
    ]
    metric: Annotated[
        str, typer.Option("--metric", metavar="COL", help="The number in which it stands out.", show_default=False)
    ]
    by: Annotated[
        str,
        typer.Option("--by", metavar="COL,COL", help="Columns that contexts choose values of.", show_default=False),
    ]
    detector: Annotated[
        str,
        typer.Option(
            "--detector",
            metavar="TEXT",
            help='name(setting=value, ...): "lof(neighbours=20)", "grubbs(alpha=0.05)", "distance(p=P, radius=R)", ...; a wrong name lists all.',
            show_default=False,
        ),
    ]
    epsilon: Epsilon
    row: Annotated[
        int | None,
        typer.Option(
            "--row",
            metavar="N",
            help="Where a person has up to rows_per_person rows: which of them, by time and then by the declared columns.",
            show_default=False,
        ),
    ] = None
    guarantee: Annotated[
        str,
        typer.Option(
            "--guarantee",
            metavar="KIND",
            help="output-constrained: always a valid context. full: differential privacy without conditions.",
        ),
    ] = "output-constrained"
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="HOW",
            help="exact, uniform, walk, dfs or bfs; exact by default where the declared domain allows.",
        ),
    ] = None
    samples: Annotated[
        int, typer.Option("--samples", metavar="N", help="Contexts collected by a search other than exact.")
    ] = 50
    min_population: Annotated[
        int, typer.Option("--min-population", metavar="N", help="Smaller contexts are not valid.")
    ] = 10
    utility: Annotated[str, typer.Option("--utility", metavar="WHAT", help="population, or overlap with --start.")] = (
        "population"
    )
    start: Annotated[
        str | None, typer.Option("--start", metavar="CONTEXT", help='A public context: "col=v|v;col=v".')
    ] = None
    contexts: Annotated[
        str,
        typer.Option(
            "--contexts",
            metavar="LANGUAGES",
            help='How contexts choose values, by column: "job=sets,city=own,age=range,site=tree"; others by default.',
            show_default=False,
        ),
    ] = ""
    top: Annotated[int, typer.Option("--top", metavar="H", help="Release H contexts; they share epsilon.")] = 1
    larger: Annotated[
        int | None,
        typer.Option(
            "--larger", metavar="G", help="With full: prefer large contexts, min(rows, G times rows that must change)."
        ),
    ] = None
    certificate_epsilon: Annotated[
        str | None,
        typer.Option("--certificate-epsilon", metavar="E", help="With full: part of epsilon for a check of validity."),
    ] = None
    certificate_failure: Annotated[
        str | None,
        typer.Option("--certificate-failure", metavar="P", help="With full: how often that check may be wrong."),
    ] = None
    device: Annotated[
        str,
        typer.Option(
            "--device",
            metavar="WHERE",
            help="auto, cpu or gpu: where all contexts are decided; the answer is the same. A GPU needs the extra 'gpu'.",
        ),
    ] = "auto"

    def question(self) -> Query:
        """About one record, or about several that share epsilon."""
        from wallflower.detectors import detector
        from wallflower.explain import Context, Records

        said = {field.name: getattr(self, field.name) for field in fields(self)}
        said |= {"record": self.record[0], "by": names(self.by), "detector": detector(self.detector)}
        one = Context(**said)
        return one if len(self.record) == 1 else Records(records=tuple(self.record), question=replace(one, record=""))


def explain(declaration: Decl, asked: Options, how: CommonOptions) -> None:
    """Release one context in which a record stands out, privately for every other row.

    \b
    Example:
        wallflower explain salaries.toml --record 8 --metric salary --by job_title,city --detector "lof(neighbours=20)" --epsilon 0.2 --dry-run
    """
    ask(declaration, asked.question(), how)
