"""`wallflower publish`: a table in which outliers blend in."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wallflower.cli.asking import ask, opened, write_report
from wallflower.cli.options import CommonOptions, Decl, names, spread
from wallflower.cli.terminal import LOOK, err, progress_on_stderr
from wallflower.errors import UsageError, cut
from wallflower.schema.exact import exact

if TYPE_CHECKING:
    from wallflower.session import Query


def register(app: typer.Typer) -> None:
    app.command()(spread(publish))


@dataclass(frozen=True, kw_only=True)
class PreviewOptions(CommonOptions):
    """A publication can be looked at before it is paid for."""

    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the price and the promise; read no row, spend nothing. With --owner-report: look at the rows and preview.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `publish` alone."""

    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", "--output", metavar="OUT", help="The file to write: .csv or .parquet.", show_default=False
        ),
    ]
    k: Annotated[
        int, typer.Option("--k", metavar="K", help="Different sensitive values in every group.", show_default=False)
    ]
    p: Annotated[
        str, typer.Option("--p", metavar="P", help="An outlier has this share of all rows …", show_default=False)
    ]
    d: Annotated[
        str, typer.Option("--d", metavar="D", help="… farther away than this, in declared ranges.", show_default=False)
    ]
    level: Annotated[
        str,
        typer.Option(
            "--level",
            metavar="matching|matching+candidate|candidate|strict|attack",
            help="What a group must withstand.",
        ),
    ] = "matching"
    possible_values: Annotated[
        int | None,
        typer.Option(
            "--possible-values",
            metavar="L",
            help="Values everyone may hold, as far as anyone can say (levels matching…); default: k.",
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="shed|hybrid|expc", help="How groups are formed; default: by the level."),
    ] = None
    entropy_diversity: Annotated[
        str | None,
        typer.Option("--entropy-diversity", metavar="L", help="Also ask entropy l-diversity of every group."),
    ] = None
    recursive_diversity: Annotated[
        str | None,
        typer.Option(
            "--recursive-diversity", metavar="C,L", help="Also ask recursive (c, l)-diversity of every group."
        ),
    ] = None
    closeness: Annotated[
        str | None, typer.Option("--closeness", metavar="T", help="Also ask t-closeness of every group.")
    ] = None
    weights: Annotated[
        str,
        typer.Option("--weights", metavar="COL=W,COL=W", help="Distance weights; other columns then count nothing."),
    ] = ""
    columns: Annotated[
        str,
        typer.Option(
            "--columns", metavar="COL,COL", help="Publish only these quasi-identifiers and sensitive columns."
        ),
    ] = ""
    unchanged: Annotated[
        str,
        typer.Option("--unchanged", metavar="COL,COL", help="Insensitive columns to publish as they are, unprotected."),
    ] = ""
    population: Annotated[
        int | None,
        typer.Option(
            "--population", metavar="N", help="People the rows are a sample of, for the owner report's risks."
        ),
    ] = None
    groups: Annotated[bool, typer.Option("--groups", help="Number the groups in the file.")] = False
    ranges: Annotated[
        str,
        typer.Option(
            "--ranges", metavar="text|columns", help="Generalised numbers as text, or as a low and a high column."
        ),
    ] = "text"
    regions: Annotated[
        int,
        typer.Option(
            "--regions",
            metavar="R",
            help="Cut the table into so many parts and group each by itself, for large tables.",
        ),
    ] = 1
    at_most_suppressed: Annotated[
        str | None,
        typer.Option(
            "--at-most-suppressed",
            metavar="S",
            help="Look at the rows first, and refuse uncharged if a larger share would be left out. The refusal tells something.",
        ),
    ] = None

    def question(self, declaration: Path) -> Query:
        """The table to publish: the columns that were named, or all that are declared."""
        from wallflower.publish import PlainTable
        from wallflower.schema import load

        read = {"columns", "recursive_diversity", "at_most_suppressed"}
        said = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in read}
        said |= {"out": str(self.out), "weights": weights_of(self.weights), "unchanged": names(self.unchanged)}
        said |= _pair(self.recursive_diversity)
        if self.columns:
            return PlainTable(columns=(*names(self.columns), *names(self.unchanged)), **said)
        return PlainTable.of(load(declaration), **said)


def publish(declaration: Decl, asked: Options, how: PreviewOptions) -> None:
    """Publish a table in groups in which outliers blend in; --level says against whom. One publication per table unless the declaration allows more.

    \b
    Example:
        wallflower publish salaries.toml -o public.csv --k 5 --p 0.9 --d 0.5 --dry-run
    """
    query = asked.question(declaration)
    previewed = how.dry_run and how.owner_report is not None
    looked = how.rehearse is None and (asked.at_most_suppressed is not None or previewed)
    if looked:
        _look_first(declaration, query, how, asked.at_most_suppressed)
    if asked.population is not None and how.owner_report is None:
        err.print(
            "--population changes the risks in the owner's report alone, and none was asked for.", highlight=False
        )
    if looked and previewed:
        how = replace(how, owner_report=None)  # it has been written
    ask(declaration, query, how, looked=looked)


def _look_first(declaration: Path, query: Query, how: PreviewOptions, most: str | None) -> None:
    """The owner's preview: what would be left out, kept and lost, before anything is charged."""
    from wallflower.publish.preview import refuse_too_small

    session = opened(declaration, how)
    share = None if most is None else exact(most, name="at-most-suppressed")
    if share is not None and not 0 <= share <= 1:
        raise UsageError(f"'at-most-suppressed' is a share of the rows, from 0 to 1, got {most}.")
    err.print(LOOK, style="bold yellow")
    with progress_on_stderr():
        report = session.owner.report(query)
    if how.dry_run and how.owner_report is not None:
        write_report(session, query, how.owner_report, report)
    if share is not None:
        refuse_too_small(report.value["seen"], most=share)


def _pair(text: str | None) -> dict[str, str | int | None]:
    """c and l from `3,5`."""
    if text is None:
        return {}
    c, _, least = (part.strip() for part in text.partition(","))
    if not (least.isdecimal() and least.isascii() and len(least) < 20):
        raise UsageError(
            f"recursive diversity is written C,L, got {cut(repr(text))}.", hint="For example --recursive-diversity 3,5."
        )
    return {"recursive_c": c, "recursive_l": int(least)}


def weights_of(text: str) -> dict[str, str]:
    """Weights from `age=1,income=2`."""
    pairs = [part.split("=", 1) for part in names(text)]
    for pair in pairs:
        if len(pair) != 2:
            raise UsageError(
                f"a weight is written COL=W, got '{pair[0]}'.", hint="For example --weights age=1,income=2."
            )
    weights = {name.strip(): weight.strip() for name, weight in pairs}
    if len(weights) < len(pairs):
        raise UsageError(f"--weights '{text}' names a column twice.", hint="Give each column one weight.")
    return weights
