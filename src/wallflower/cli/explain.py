"""`wallflower explain`: in which context a record stands out."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from wallflower.cli.common import (
    AsJson,
    Asker,
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
from wallflower.ledger.admission import OWNER


def register(app: typer.Typer) -> None:
    app.command()(explain)


def explain(
    declaration: Decl,
    record: Annotated[
        list[str],
        typer.Option(
            "--record", metavar="KEY", help="Key of the asked-for record; several share epsilon.", show_default=False
        ),
    ],
    metric: Annotated[
        str, typer.Option("--metric", metavar="COL", help="The number in which it stands out.", show_default=False)
    ],
    by: Annotated[
        str,
        typer.Option("--by", metavar="COL,COL", help="Columns that contexts choose values of.", show_default=False),
    ],
    detector: Annotated[
        str,
        typer.Option(
            "--detector",
            metavar="TEXT",
            help='name(setting=value, ...): "lof(neighbours=20)", "grubbs(alpha=0.05)", "distance(p=P, radius=R)", ...; a wrong name lists all.',
            show_default=False,
        ),
    ],
    epsilon: Epsilon,
    row: Annotated[
        int | None,
        typer.Option(
            "--row",
            metavar="N",
            help="Where a person has up to rows_per_person rows: which of them, by time and then by the declared columns.",
            show_default=False,
        ),
    ] = None,
    guarantee: Annotated[
        str,
        typer.Option(
            "--guarantee",
            metavar="KIND",
            help="output-constrained: always a valid context. full: differential privacy without conditions.",
        ),
    ] = "output-constrained",
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="HOW",
            help="exact, uniform, walk, dfs or bfs; exact by default where the declared domain allows.",
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", metavar="N", help="Contexts collected by a search other than exact.")
    ] = 50,
    min_population: Annotated[
        int, typer.Option("--min-population", metavar="N", help="Smaller contexts are not valid.")
    ] = 10,
    utility: Annotated[
        str, typer.Option("--utility", metavar="WHAT", help="population, or overlap with --start.")
    ] = "population",
    start: Annotated[
        str | None, typer.Option("--start", metavar="CONTEXT", help='A public context: "col=v|v;col=v".')
    ] = None,
    contexts: Annotated[
        str,
        typer.Option(
            "--contexts",
            metavar="LANGUAGES",
            help='How contexts choose values, by column: "job=sets,city=own,age=range,site=tree"; others by default.',
            show_default=False,
        ),
    ] = "",
    top: Annotated[int, typer.Option("--top", metavar="H", help="Release H contexts; they share epsilon.")] = 1,
    larger: Annotated[
        int | None,
        typer.Option(
            "--larger", metavar="G", help="With full: prefer large contexts, min(rows, G times rows that must change)."
        ),
    ] = None,
    certificate_epsilon: Annotated[
        str | None,
        typer.Option("--certificate-epsilon", metavar="E", help="With full: part of epsilon for a check of validity."),
    ] = None,
    certificate_failure: Annotated[
        str | None,
        typer.Option("--certificate-failure", metavar="P", help="With full: how often that check may be wrong."),
    ] = None,
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
    """Release one context in which a record stands out, privately for every other row.

    \b
    Example:
        wallflower explain salaries.toml --record 8 --metric salary --by job_title,city --detector "lof(neighbours=20)" --epsilon 0.2 --dry-run
    """
    from wallflower.detectors import detector as spelled_out
    from wallflower.explain import Context, Records

    query = Context(
        record=record[0],
        row=row,
        metric=metric,
        by=names(by),
        detector=spelled_out(detector),
        epsilon=epsilon,
        guarantee=guarantee,  # type: ignore[arg-type]
        search=search,  # type: ignore[arg-type]
        samples=samples,
        min_population=min_population,
        utility=utility,  # type: ignore[arg-type]
        start=start,
        contexts=contexts,
        top=top,
        larger=larger,
        certificate_epsilon=certificate_epsilon,
        certificate_failure=certificate_failure,
    )
    ask(
        declaration,
        query if len(record) == 1 else Records(records=tuple(record), question=replace(query, record="")),
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
