"""`wallflower attack`: the owner attacks a published table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wallflower.cli.options import AsJson, Decl, names
from wallflower.cli.publish import weights_of
from wallflower.cli.terminal import LOOK, err, progress_on_stderr, show_lines

if TYPE_CHECKING:
    from wallflower.publish.attacks import Findings


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
    from wallflower.publish.published_attack import PublishedAttack
    from wallflower.session import open as open_session

    session = open_session(declaration)
    question = PublishedAttack.on(
        published,
        session.declaration,
        p=p or None,
        d=d or None,
        weights=weights_of(weights),
        columns=names(columns),
    )
    err.print(LOOK, style="bold yellow")
    with progress_on_stderr():
        found: Findings = session.owner.attack(question).value
    if as_json:
        typer.echo(json.dumps({"ok": True, "not_private": found.to_json()}))
        return
    show_lines(found.lines())
