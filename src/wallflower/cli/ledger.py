"""`wallflower ledger`: open the account book of a table, see what is left, read its history."""

from __future__ import annotations

import json

import typer

from wallflower.cli.common import AsJson, Decl, out


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="The account book of a table: init, show, history.")
    group.command()(init)
    group.command()(show)
    group.command()(history)
    app.add_typer(group, name="ledger")


def init(declaration: Decl) -> None:
    """Open the ledger that the declaration names, or record its changed limits.

    \b
    Example:
        wallflower ledger init salaries.toml
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    declared = load(declaration)
    for line in Ledger.init(declared):
        out.print(line, markup=False, highlight=False)


def show(declaration: Decl, as_json: AsJson = False) -> None:
    """What has been spent, what is left, and what the numbers bound.

    \b
    Example:
        wallflower ledger show salaries.toml
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    declared = load(declaration)
    statement = Ledger.open(declared.ledger).show(declared)
    if as_json:
        typer.echo(json.dumps({"ok": True, "ledger": statement.to_json()}, ensure_ascii=False))
        return
    for line in statement.lines():
        out.print(line, markup=False, highlight=False)


def history(declaration: Decl, as_json: AsJson = False) -> None:
    """Every event of the ledger, oldest first.

    \b
    Example:
        wallflower ledger history salaries.toml
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    events = Ledger.open(load(declaration).ledger).history()
    if as_json:
        typer.echo(json.dumps({"ok": True, "events": [event.to_json() for event in events]}, ensure_ascii=False))
        return
    for event in events:
        out.print(event.line(), markup=False, highlight=False)
