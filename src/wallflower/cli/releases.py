"""`wallflower releases`: every answer that the ledger keeps, and any of them written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wallflower.cli.options import AsJson, Decl
from wallflower.cli.places import refuse_own_file
from wallflower.cli.terminal import out
from wallflower.errors import UsageError

if TYPE_CHECKING:
    from wallflower.ledger.answers import Recorded
    from wallflower.schema.declaration import Declaration


ORDER = ("ok", "asked", "at", "declaration", "notes", "release", "guarantee", "mechanism", "ledger", "private")


def register(app: typer.Typer) -> None:
    app.command()(releases)


def releases(
    declaration: Decl,
    entry: Annotated[
        int | None,
        typer.Option("--entry", metavar="N", help="The release charged at this entry.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", "--output", metavar="FILE.json", help="Write its JSON again.", show_default=False),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE.html", help="Write its certificate.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Write the file of a publication again.", show_default=False),
    ] = None,
    asker: Annotated[str | None, typer.Option("--asker", metavar="NAME", help="Only what this asker was told.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the releases of a table, or write one of them again. Costs nothing: they have been paid for.

    \b
    Example:
        wallflower releases salaries.toml
    """
    from wallflower.ledger import Ledger
    from wallflower.schema import load

    wanted = (output, certificate, file)
    if entry is None and any(place is not None for place in wanted):
        raise UsageError("which release is to be written?", hint="Name it with --entry N; the list shows every N.")
    declared = load(declaration)
    _refuse_places(wanted, declared)
    ledger = Ledger.open(declared)
    if entry is None:
        _listed(ledger.releases(asker=asker), as_json=as_json)
        return
    kept = ledger.recorded(entry)
    if asker is not None and kept.charge.content["asker"] != asker:
        raise UsageError(f"entry {entry} was not told to '{asker}'.")
    content = None if file is None else ledger.kept(_digest(kept))
    written = _write(kept, output, certificate, file, content, table=declared.id)
    if as_json or not written:
        typer.echo(json.dumps(_release(kept), ensure_ascii=False))
    else:
        out.print(f"Wrote {', '.join(written)}.", highlight=False)


def _listed(found: list[Recorded], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"ok": True, "releases": [one.to_json() for one in found]}, ensure_ascii=False))
        return
    if not found:
        out.print("No release has been recorded.", highlight=False)
    for one in found:
        said = one.charge.content
        who = "" if said["asker"] == "owner" else f"  {said['asker']}"
        what = said["question"].get("command", "a question")
        answer = one.release["release"]
        shown = "no answer" if answer is None else json.dumps(answer, ensure_ascii=False)
        line = f"{one.entry}  {one.charge.at}  {what}{who}  {shown if len(shown) <= 100 else shown[:100] + '…'}"
        out.print(line, highlight=False)


def _release(kept: Recorded) -> dict[str, Any]:
    """Its JSON in reading order; a ledger keeps names in the alphabet's."""
    said = dict(kept.release)
    return {name: said[name] for name in (*(each for each in ORDER if each in said), *(said.keys() - set(ORDER)))}


def _digest(kept: Recorded) -> str:
    if kept.file is None:
        raise UsageError(f"entry {kept.entry} is not a publication: it has no file.")
    return kept.file


def _refuse_places(places: tuple[Path | None, ...], declared: Declaration) -> None:
    from wallflower.cli.certificate import refuse_place

    refuse_place(places[1])
    for place in places:
        if place is None:
            continue
        if place.is_dir() or not place.parent.is_dir():
            raise UsageError(f"'{place}' cannot be written.", hint="Name a file in an existing folder.")
        refuse_own_file(place, declared, "what is written")


def _write(
    kept: Recorded,
    output: Path | None,
    certificate: Path | None,
    file: Path | None,
    content: bytes | None,
    *,
    table: str,
) -> list[str]:
    from wallflower.atomic_file import write_whole

    if output is not None:
        write_whole(output, json.dumps(_release(kept), ensure_ascii=False) + "\n")
    if certificate is not None:
        from wallflower.report.certificate import certificate_page

        compared = f"Made from the ledger itself: entry {kept.entry} of table '{table}'."
        write_whole(certificate, certificate_page(_release(kept), compared=compared))
    if file is not None and content is not None:
        write_whole(file, content)
    return [str(place) for place in (output, certificate, file) if place is not None]
