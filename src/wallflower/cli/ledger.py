"""`wallflower ledger`: open the account book of a table, see what is left, read, check and copy it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from wallflower.cli.options import AsJson, Decl, words
from wallflower.cli.terminal import err, out
from wallflower.ledger.admission import OWNER


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, help="The account book of a table: init, show, history, verify, backup, close."
    )
    for command in (init, show, history, verify, backup, close):
        group.command()(command)
    app.add_typer(group, name="ledger")


def init(
    declaration: Decl,
    reason: Annotated[
        str,
        typer.Option("--reason", parser=words, metavar="TEXT", help="Why limits change; kept in the ledger."),
    ] = "",
    by: Annotated[
        str, typer.Option("--by", parser=words, metavar="NAME", help="Who changes them; kept in the ledger.")
    ] = OWNER,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print what an administrator of PostgreSQL runs first; change nothing.")
    ] = False,
) -> None:
    """Open the ledger that the declaration names, or record its changed limits.

    \b
    Example:
        wallflower ledger init salaries.toml --by "A. Meyer" --reason "the board approved a second year"
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    if sql:
        from wallflower.stores.ddl import for_an_administrator

        typer.echo(for_an_administrator("wallflower_owner", "wallflower_writer"), nl=False)
        return
    declared = load(declaration)
    lines = Ledger.init(declared, by=by, reason=reason)
    for line in lines or ["Nothing has changed."]:
        (err if line.startswith("WARNING") else out).print(line, highlight=False)


def show(declaration: Decl, as_json: AsJson = False) -> None:
    """What has been spent, by whom, what is left, and what the numbers bound.

    \b
    Example:
        wallflower ledger show salaries.toml
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    declared = load(declaration)
    statement = Ledger.open(declared).show(declared)
    if as_json:
        typer.echo(json.dumps({"ok": True, "ledger": statement.to_json()}, ensure_ascii=False))
        return
    for line in statement.lines():
        out.print(line, highlight=False)


def history(
    declaration: Decl,
    asker: Annotated[
        str | None, typer.Option("--asker", metavar="NAME", help="Only what this asker was charged and told.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Every event of the ledger, oldest first.

    \b
    Example:
        wallflower ledger history salaries.toml
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    events = Ledger.open(load(declaration)).history(asker=asker)
    if as_json:
        typer.echo(json.dumps({"ok": True, "events": [event.to_json() for event in events]}, ensure_ascii=False))
        return
    for event in events:
        out.print(event.line(), highlight=False)


def verify(
    declaration: Decl,
    anchor: Annotated[
        str | None,
        typer.Option("--anchor", metavar="HEAD", help="A head seen earlier, kept elsewhere: the ledger must hold it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read the whole ledger: every entry, every sum, every kept file.

    \b
    Example:
        wallflower ledger verify salaries.toml
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    found = Ledger.open(load(declaration)).verify(anchor=anchor)
    if as_json:
        said = {"entries": found.entries, "charges": found.charges, "head": f"sha256:{found.head}"}
        typer.echo(json.dumps({"ok": True, "verified": said}))
        return
    for line in found.lines():
        out.print(line, highlight=False)


def backup(
    declaration: Decl,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to make; no file may be there.")],
) -> None:
    """Copy the ledger into a file, whole and consistent, while others may be using it.

    \b
    Example:
        wallflower ledger backup salaries.toml salaries-backup.ledger
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    Ledger.open(load(declaration)).backup(file)
    out.print(
        f"Copied the ledger to {file}. Its questions name records: keep it as you keep the rows.", highlight=False
    )


def close(
    declaration: Decl,
    request_id: Annotated[
        str,
        typer.Option("--request-id", parser=words, metavar="ID", help="The request that will not be answered."),
    ],
    asker: Annotated[str, typer.Option("--asker", parser=words, metavar="NAME", help="Whose request it is.")] = OWNER,
) -> None:
    """Say that a charged request will have no answer, where its process ended on another machine.

    \b
    Example:
        wallflower ledger close salaries.toml --request-id monday
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    Ledger.open(load(declaration)).close_request(asker, request_id, "the owner says that it will have no answer")
    out.print(f"Request '{request_id}' is closed: what it cost stays spent, and no answer to it will be shown.")
