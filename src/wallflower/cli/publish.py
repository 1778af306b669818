"""`wallflower publish`: a table in which outliers blend in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wallflower.cli.common import (
    LOOK,
    AsJson,
    Asker,
    Decl,
    How,
    OwnerReport,
    Purpose,
    RehearsalReport,
    Rehearse,
    RequestId,
    Seed,
    ask,
    err,
    names,
    opened,
    progress_on_stderr,
    write_report,
)
from wallflower.errors import UsageError
from wallflower.ledger.admission import OWNER
from wallflower.schema.exact import exact

if TYPE_CHECKING:
    from wallflower.session import Query


def register(app: typer.Typer) -> None:
    app.command()(publish)


def publish(
    declaration: Decl,
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", "--output", metavar="OUT", help="The file to write: .csv or .parquet.", show_default=False
        ),
    ],
    k: Annotated[
        int, typer.Option("--k", metavar="K", help="Different sensitive values in every group.", show_default=False)
    ],
    p: Annotated[
        str, typer.Option("--p", metavar="P", help="An outlier has this share of all rows …", show_default=False)
    ],
    d: Annotated[
        str, typer.Option("--d", metavar="D", help="… farther away than this, in declared ranges.", show_default=False)
    ],
    level: Annotated[
        str,
        typer.Option(
            "--level",
            metavar="matching|matching+candidate|candidate|strict|attack",
            help="What a group must withstand.",
        ),
    ] = "matching",
    possible_values: Annotated[
        int | None,
        typer.Option(
            "--possible-values",
            metavar="L",
            help="Values everyone may hold, as far as anyone can say (levels matching…); default: k.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="shed|hybrid|expc", help="How groups are formed; default: by the level."),
    ] = None,
    entropy_diversity: Annotated[
        str | None,
        typer.Option("--entropy-diversity", metavar="L", help="Also ask entropy l-diversity of every group."),
    ] = None,
    recursive_diversity: Annotated[
        str | None,
        typer.Option(
            "--recursive-diversity", metavar="C,L", help="Also ask recursive (c, l)-diversity of every group."
        ),
    ] = None,
    closeness: Annotated[
        str | None, typer.Option("--closeness", metavar="T", help="Also ask t-closeness of every group.")
    ] = None,
    weights: Annotated[
        str,
        typer.Option("--weights", metavar="COL=W,COL=W", help="Distance weights; other columns then count nothing."),
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            "--columns", metavar="COL,COL", help="Publish only these quasi-identifiers and sensitive columns."
        ),
    ] = "",
    unchanged: Annotated[
        str,
        typer.Option("--unchanged", metavar="COL,COL", help="Insensitive columns to publish as they are, unprotected."),
    ] = "",
    population: Annotated[
        int | None,
        typer.Option(
            "--population", metavar="N", help="People the rows are a sample of, for the owner report's risks."
        ),
    ] = None,
    groups: Annotated[bool, typer.Option("--groups", help="Number the groups in the file.")] = False,
    ranges: Annotated[
        str,
        typer.Option(
            "--ranges", metavar="text|columns", help="Generalised numbers as text, or as a low and a high column."
        ),
    ] = "text",
    regions: Annotated[
        int,
        typer.Option(
            "--regions",
            metavar="R",
            help="Cut the table into so many parts and group each by itself, for large tables.",
        ),
    ] = 1,
    at_most_suppressed: Annotated[
        str | None,
        typer.Option(
            "--at-most-suppressed",
            metavar="S",
            help="Look at the rows first, and refuse uncharged if a larger share would be left out. The refusal tells something.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the price and the promise; read no row, spend nothing. With --owner-report: look at the rows and preview.",
        ),
    ] = False,
    as_json: AsJson = False,
    request_id: RequestId = None,
    asker: Asker = OWNER,
    purpose: Purpose = "",
    owner_report: OwnerReport = None,
    rehearse: Rehearse = None,
    rehearsal_report: RehearsalReport = None,
    seed: Seed = None,
) -> None:
    """Publish a table in groups in which outliers blend in; --level says against whom. One publication per table unless the declaration allows more.

    \b
    Example:
        wallflower publish salaries.toml -o public.csv --k 5 --p 0.9 --d 0.5 --dry-run
    """
    from wallflower.publish import PlainTable
    from wallflower.schema import load

    chosen = (*names(columns), *names(unchanged)) if columns else None
    choices = {
        "out": str(out),
        "k": k,
        "p": p,
        "d": d,
        "level": level,
        "possible_values": possible_values,
        "method": method,
        "entropy_diversity": entropy_diversity,
        **_pair(recursive_diversity),
        "closeness": closeness,
        "weights": weights_of(weights),
        "unchanged": names(unchanged),
        "population": population,
        "groups": groups,
        "ranges": ranges,
        "regions": regions,
    }
    query = PlainTable.of(load(declaration), **choices) if chosen is None else PlainTable(columns=chosen, **choices)  # type: ignore[arg-type]
    how = How(
        dry_run=dry_run,
        as_json=as_json,
        request_id=request_id,
        owner_report=owner_report,
        seed=seed,
        asker=asker,
        purpose=purpose,
        rehearse=rehearse,
        rehearsal_report=rehearsal_report,
    )
    if rehearse is None and (at_most_suppressed is not None or (dry_run and owner_report is not None)):
        _look_first(declaration, query, how, at_most_suppressed)
        how = replace(how, owner_report=None if dry_run else owner_report, looked=True)  # a dry run's has been written
    if population is not None and owner_report is None:
        err.print(
            "--population changes the risks in the owner's report alone, and none was asked for.", highlight=False
        )
    ask(declaration, query, how)


def _look_first(declaration: Path, query: Query, how: How, most: str | None) -> None:
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
    c, _, least = text.partition(",")
    if not least.strip().isdecimal():
        raise UsageError(
            f"recursive diversity is written C,L, got '{text}'.", hint="For example --recursive-diversity 3,5."
        )
    return {"recursive_c": c.strip(), "recursive_l": int(least)}


def weights_of(text: str) -> dict[str, str]:
    """Weights from `age=1,income=2`."""
    pairs = [part.split("=", 1) for part in names(text)]
    for pair in pairs:
        if len(pair) != 2:
            raise UsageError(
                f"a weight is written COL=W, got '{pair[0]}'.", hint="For example --weights age=1,income=2."
            )
    return {name.strip(): weight.strip() for name, weight in pairs}
