"""What every releasing command does: the price, the answer, the owner's report."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wallflower.cli.options import CommonOptions
from wallflower.cli.places import refuse_own_file
from wallflower.cli.rehearsal import rehearse
from wallflower.cli.terminal import LOOK, err, out, progress_on_stderr, show_lines
from wallflower.errors import PendingError, UsageError, WallflowerError, place
from wallflower.progress import warned

if TYPE_CHECKING:
    from wallflower.ledger.preview import Preview
    from wallflower.privacy.price import Price
    from wallflower.privacy.release import OwnerOnly, Release
    from wallflower.session import Query, Session

NO_ANSWER = 5
UNSHOWN = PendingError.exit_code
"""The answer is there, and must be fetched again."""


def ask(declaration: Path, query: Query, how: CommonOptions, *, looked: bool = False) -> None:
    """Price, charge, draw, show: the one path of every releasing command. `looked`: the owner has seen the rows already."""
    session = opened(declaration, how)
    if how.rehearse is not None:
        rehearse(
            session,
            query,
            how.rehearse,
            as_json=how.as_json,
            page=how.rehearsal_report,
            idle={
                "--dry-run": how.dry_run,
                "--owner-report": how.owner_report is not None,
                "--request-id": how.request_id is not None,
                "--seed": how.seed is not None,
            },
        )
        return
    if how.rehearsal_report is not None:
        raise UsageError("--rehearsal-report is the page of a rehearsal.", hint="Add --rehearse FILE or made-up.")
    price = session.price(query)
    if how.dry_run:
        show_price(
            price,
            as_json=how.as_json,
            preview=session.preview(query, asker=how.asker, request_id=how.request_id),
            looked=looked or how.owner_report is not None,
        )
        if how.owner_report is not None:
            err.print(LOOK, style="bold yellow")
            with progress_on_stderr():
                write_report(session, query, how.owner_report)
        return
    with progress_on_stderr(), warned(_warn):
        release = session.release(query, how.request_id, asker=how.asker, purpose=how.purpose)
    _tell(release, how, declaration)
    if how.owner_report is not None:
        write_report(session, query, how.owner_report, release=release)
    if release.value is None:
        raise typer.Exit(NO_ANSWER)


def _tell(release: Release, how: CommonOptions, declaration: Path) -> None:
    """Show the answer. It has been paid for and is recorded: where it cannot be shown, say how to have it again."""
    try:
        if how.as_json:
            typer.echo(json.dumps(release.to_json(), ensure_ascii=False))
        else:
            show_lines(release.lines())
        sys.stdout.flush()
    except OSError as error:
        entry = release.ledger.get("entry")
        err.print(
            f"The answer is recorded as entry {entry} and could not be printed: {error.strerror}. Nothing more is charged "
            f"for it: wallflower releases {declaration} --entry {entry} -o FILE.json",
            highlight=False,
        )
        if isinstance(error, BrokenPipeError):  # whoever read it has left, as `head` does
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered must not fail again at the end
        raise typer.Exit(UNSHOWN) from None


def opened(declaration: Path, how: CommonOptions) -> Session:
    """A session, once a report that is wanted could be written."""
    from wallflower.session import open as open_session

    session = open_session(declaration, seed=how.seed)
    _writable(how.owner_report, session)
    return session


def _warn(sentence: str) -> None:
    err.print(sentence, highlight=False)


def _price_json(price: Price, preview: Preview | None = None) -> dict[str, Any]:
    said = price.to_json()
    notes = said.pop("notes")
    return {
        **said,
        "booked": [dict(each) for each in price.booked],
        "debited": [] if preview is None else preview.to_json(),
        "notes": [*notes, *(() if preview is None else preview.notes)],
    }


def show_price(price: Price, *, as_json: bool, preview: Preview | None = None, looked: bool = False) -> None:
    if as_json:
        typer.echo(json.dumps({"ok": True, "price": _price_json(price, preview)}, ensure_ascii=False))
        return
    rows = [row for row in price.lines() if row[0] != "note"]
    rows = [*rows, *(("would leave", line) for line in (() if preview is None else preview.lines()))]
    rows += [("note", note) for note in (*price.notes, *(() if preview is None else preview.notes))]
    show_lines(rows)
    out.print("Nothing was spent." if looked else "Nothing was read and nothing was spent.", style="dim")


def _writable(report: Path | None, session: Session) -> None:
    """Refuse a report that could not be written, before anything is charged."""
    if report is None:
        return
    if report.suffix not in {".html", ".json"}:
        raise UsageError(f"an owner report ends in .html or .json, got '{report.name}'.")
    refuse_own_file(report, session.declaration, "the report")
    if report.is_dir():
        raise UsageError(f"'{report}' is a folder.", hint="Name a file in it.")
    if not report.parent.is_dir() or not os.access(report.parent, os.W_OK):
        raise UsageError(
            f"the folder '{report.parent}' cannot be written to.", hint="Name an existing folder of yours."
        )


def write_report(
    session: Session, query: Query, path: Path, report: OwnerOnly | None = None, *, release: Release | None = None
) -> None:
    """Write the owner's report, or `report`, where it has been made already; with what left, if anything did."""
    from wallflower.report.owner import write_owner_report

    try:
        seen = session.owner.report(query) if report is None else report
        write_owner_report(path, query=query.name, declaration=session.declaration, report=seen, release=release)
        said = f"Owner report, NOT PRIVATE: {path}"
    except Exception as error:  # noqa: BLE001 - the answer has been given: it stands, and stdout holds one object
        said = f"The owner report was not written ({error if isinstance(error, WallflowerError) else place(error)})."
    err.print(said, highlight=False)
