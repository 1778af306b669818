"""`wallflower attack`: the owner attacks a published table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wallflower.cli.common import AsJson, Decl, err, names, progress_on_stderr, show_lines
from wallflower.cli.publish import weights_of
from wallflower.errors import UsageError, WallflowerError

if TYPE_CHECKING:
    from wallflower.publish.attacks import Findings
    from wallflower.schema.declaration import Declaration


def register(app: typer.Typer) -> None:
    app.command()(attack)


def attack(
    declaration: Decl,
    published: Annotated[Path, typer.Argument(metavar="PUBLISHED", help="The published file.", show_default=False)],
    p: Annotated[str, typer.Option("--p", metavar="P", help="Default: as published, from the ledger.")] = "",
    d: Annotated[str, typer.Option("--d", metavar="D", help="Default: as published, from the ledger.")] = "",
    weights: Annotated[str, typer.Option("--weights", metavar="COL=W,COL=W", help="Default: as published.")] = "",
    columns: Annotated[str, typer.Option("--columns", metavar="COL,COL", help="Default: as published.")] = "",
    as_json: AsJson = False,
) -> None:
    """Attack a published table with the rows it came from. NOT PRIVATE, uncharged, for the owner's eyes.

    \b
    Example:
        wallflower attack salaries.toml public.csv
    """
    from wallflower.engines import open_source
    from wallflower.publish import PlainTable
    from wallflower.publish.attacks import attack as run_attacks
    from wallflower.publish.published import crowds
    from wallflower.publish.queries import originals
    from wallflower.schema import load

    declared = load(declaration)
    known = _as_published(declared, published)
    choices = {
        "p": p or known.get("p"),
        "d": d or known.get("d"),
        "weights": weights_of(weights) or known.get("weights", {}),
    }
    if choices["p"] is None or choices["d"] is None:
        raise UsageError(
            f"the ledger knows no publication called '{published.name}', so p and d must be given.",
            hint="Add --p and --d, and --weights when the publication had them.",
        )
    suffix = published.suffix if published.suffix in {".csv", ".parquet"} else ".csv"
    named = names(columns) or tuple(name for name in known.get("columns", ()) if name not in known.get("unchanged", ()))
    setting: dict[str, Any] = {"out": f"x{suffix}", "k": 1, **choices}
    query = PlainTable(columns=named, **setting) if named else PlainTable.of(declared, **setting)
    space = query.space(declared)
    groups = crowds(published, space)
    err.print("This looks at the rows without protection. Keep it at your desk.", style="bold yellow")
    with progress_on_stderr(), open_source(declared).rows(query.columns) as rows:
        found = run_attacks(originals(query, rows), groups)
    if as_json:
        typer.echo(json.dumps({"ok": True, "not_private": _json(found)}))
        return
    show_lines(_lines(found))


def _as_published(declared: Declaration, published: Path) -> dict[str, Any]:
    """The settings of the last publication with this file name; empty when the ledger has none."""
    from wallflower.ledger import Ledger

    try:
        events = [line.event for line in Ledger.open(declared.ledger).history()]
    except WallflowerError:
        return {}
    asked = [event.content.get("query", {}) for event in events if event.kind == "charge"]
    same = [q for q in asked if q.get("command") == "publish" and Path(str(q.get("out"))).name == published.name]
    return dict(same[-1]) if same else {}


def _lines(found: Findings) -> list[tuple[str, str]]:
    return [
        ("published", f"{found.rows} rows in {found.crowds} groups; the table has {found.outliers} (p, d)-outliers"),
        ("k-anonymity", f"k = {found.smallest}"),
        ("distinct values", f"at least {found.least_distinct} different sensitive values in every group"),
        ("Theorems 4.1, 4.2", f"{len(found.leaks)} outliers given away"),
        ("best inference", f"presence {found.presence:.2f}, association {found.association:.2f}"),
        (
            "candidate adversary",
            f"{found.abnormal_values} values normal for nobody, {found.abnormal_people} people normal with no value",
        ),
        ("verdict", "the attacks succeeded" if found.succeeded else "the attacks found nobody; others may exist"),
    ]


def _json(found: Findings) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "groups": found.crowds,
        "k_anonymity": found.smallest,
        "distinct_values": found.least_distinct,
        "outliers": found.outliers,
        "given_away": len(found.leaks),
        "presence": found.presence,
        "association": found.association,
        "abnormal_values": found.abnormal_values,
        "abnormal_people": found.abnormal_people,
        "succeeded": found.succeeded,
    }
