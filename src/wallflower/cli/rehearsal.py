"""`--rehearse`: the whole question on public or made-up rows, shown at the owner's terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wallflower.cli.places import refuse_own_file
from wallflower.cli.terminal import err, out, progress_on_stderr, show_lines
from wallflower.errors import UsageError

if TYPE_CHECKING:
    from wallflower.session import Query, Session


def rehearse(
    session: Session, query: Query, rows: str, *, as_json: bool, page: Path | None, idle: Mapping[str, bool]
) -> None:
    """Try the question, show what came out, and write its page where one is wanted. `idle`: options without meaning here."""
    for name, given in idle.items():
        if given:
            raise UsageError(
                f"{name} has no place beside --rehearse, which reads none of the table's rows and charges nothing.",
                hint=f"Leave {name} out.",
            )
    _refuse_place(page, session)
    with progress_on_stderr():
        seen = session.rehearse(query, rows)
    if as_json:
        typer.echo(json.dumps({"ok": True, "rehearsal": seen.to_json()}, ensure_ascii=False))
    else:
        show_lines(seen.lines())
        for line in seen.table_lines():
            out.print(line, highlight=False)
    if page is not None:
        from wallflower.report.rehearsal import write_rehearsal

        write_rehearsal(page, seen)
        err.print(f"Rehearsal: {page}", highlight=False)


def _refuse_place(page: Path | None, session: Session) -> None:
    if page is None:
        return
    if page.suffix != ".html" or page.is_dir() or not page.parent.is_dir():
        raise UsageError(f"'{page}' cannot be written.", hint="Name a file that ends in .html, in an existing folder.")
    refuse_own_file(page, session.declaration, "the page")
