"""`wallflower check`: the owner's look at what the declaration does to the rows."""

from __future__ import annotations

import json

import typer
from rich.table import Column, Table

from wallflower.cli.options import AsJson, Decl
from wallflower.cli.terminal import LOOK, err, out, progress_on_stderr

HEADINGS = ("column", "missing", "unreadable", "outside", "what happens")


def register(app: typer.Typer) -> None:
    app.command()(check)


def check(declaration: Decl, as_json: AsJson = False) -> None:
    """List what would be clipped, replaced or dropped, duplicate keys, unreadable cells, leaves that differ. NOT PRIVATE, uncharged.

    \b
    Example:
        wallflower check salaries.toml
    """
    from wallflower.session import open as open_session

    session = open_session(declaration)
    err.print(LOOK, style="bold yellow")
    with progress_on_stderr():
        found = session.owner.check().value
    if as_json:
        typer.echo(json.dumps({"ok": True, "not_private": found.to_json()}, ensure_ascii=False))
        return
    for line in (*found.lines(), *found.hierarchy_lines()):
        out.print(line, highlight=False)
    table = Table(*(Column(name, overflow="fold") for name in HEADINGS))
    for row in found.table():
        table.add_row(*row)
    out.print(table)
    spoilt = list(found.spoilt_lines())
    if spoilt:
        out.print("Cells that were not read as declared (the commonest), and what would mend them:")
    for line in spoilt:
        out.print(line, highlight=False)
