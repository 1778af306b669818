"""`wallflower declare`: a draft declaration in which every open question is marked, or asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wallflower.cli.options import spread, words
from wallflower.cli.terminal import err, out
from wallflower.errors import UsageError
from wallflower.schema.decisions import Decision
from wallflower.schema.declaration import Reading

if TYPE_CHECKING:
    from wallflower.schema.first_draft import Described

TEXT_FILES = frozenset({".csv", ".tsv", ".txt"})
NEXT = {
    "count": "count {place} --columns COL --neighbours K --radius R --epsilon E",
    "explain": 'explain {place} --record KEY --metric COL --by COL,COL --detector "lof(neighbours=20, threshold=1.5)" --epsilon E',
    "identify": 'identify {place} --value "col=v" --epsilon E',
    "publish": "publish {place} -o OUT.csv --k K --p P --d D",
}


def register(app: typer.Typer) -> None:
    app.command()(spread(declare))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `declare`."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A CSV, Parquet, JSON, DuckDB or SQLite file, or a folder of CSV or Parquet files.",
            show_default=False,
        ),
    ]
    output: Annotated[
        Path,
        typer.Option("-o", "--out", "--output", metavar="FILE", help="Where to write the draft.", show_default=False),
    ]
    table: Annotated[
        str | None,
        typer.Option("--table", parser=words, metavar="NAME", help="The table inside a DuckDB or SQLite file."),
    ] = None
    area: Annotated[
        Literal["explain", "identify", "count", "publish", "stream"] | None,
        typer.Option("--for", help="Only the columns and lines that this kind of question needs.", show_default=False),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", metavar="COL,COL", help="Only these columns; the others as a comment.", show_default=False
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", metavar="D", help="Of a text file; found in it otherwise.", show_default=False),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="E", help="Of a text file; found in it otherwise.", show_default=False),
    ] = None
    arx: Annotated[
        list[Path] | None,
        typer.Option(
            "--arx",
            metavar="HIERARCHY.csv",
            help="A hierarchy of ARX, named like its column; may be repeated.",
            show_default=False,
        ),
    ] = None
    ask: Annotated[bool, typer.Option("--ask", help="Ask for every decision, with its reason.")] = False


def declare(asked: Options) -> None:
    """Draft the declaration of a data file; every undecided line is marked # DECIDE, or asked with --ask.

    How the file is written (delimiter, encoding, dates, marks, missing codes) is found in it and filled in. What a promise
    depends on is yours to decide, from public knowledge.

    \b
    Example:
        wallflower declare salaries.csv -o draft.toml --for count
    """
    from wallflower.atomic_file import write_new
    from wallflower.engines import describe
    from wallflower.engines.file_format import reading_of
    from wallflower.schema.decisions import answered
    from wallflower.schema.first_draft import shown_from_rows

    data, output = asked.data, asked.output
    if output.exists():
        raise UsageError(f"'{output}' exists already.", hint="Choose another name, or remove it first.")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder '{output.parent}'.", hint="Make it first.")
    reading = None
    if data.suffix.lower() in TEXT_FILES and data.is_file():
        delimiter = "\t" if asked.delimiter in {"\\t", "tab"} else asked.delimiter
        reading = reading_of(data, delimiter=delimiter, encoding=asked.encoding)
    described = describe(data, table=asked.table, read=reading)
    text = _drafted(asked, described, reading)
    if asked.ask:
        text = answered(text, _ask)
    write_new(output, text)
    _say_what_next(output, text, asked.area)
    for line in shown_from_rows(described, output, text):
        err.print(line, style="bold yellow", highlight=False)


def _drafted(asked: Options, described: Sequence[Described], reading: Reading | None) -> str:
    """The draft of a table or of a stream, before anything is answered."""
    from wallflower.schema.first_draft import DraftPurpose, draft
    from wallflower.schema.stream_draft import stream_draft

    names = [column.name for column in described]
    wanted = tuple(name.strip() for name in asked.columns.split(",")) if asked.columns else ()
    for name in wanted:
        if name not in names:
            raise UsageError(f"the data have no column '{name}'.", hint=f"They have: {', '.join(names)}.")
    if asked.area == "stream":
        return stream_draft(asked.data, described, only=wanted)
    folder = asked.output.parent
    hierarchies = tuple(_hierarchy(path, names, folder) for path in asked.arx or ())
    purpose = DraftPurpose(area=asked.area, columns=wanted, reading=reading, hierarchies=hierarchies)
    return draft(asked.data, described, folder=folder, table=asked.table, wanted=purpose)


def _hierarchy(path: Path, names: list[str], folder: Path) -> tuple[str, str, tuple[str, ...]]:
    import os

    from wallflower.schema.hierarchy import column_of_file, leaves_of_file

    column = column_of_file(path, names)
    return column, Path(os.path.relpath(path, folder)).as_posix(), leaves_of_file(path)


def _ask(decision: Decision, complaint: str) -> str:
    if complaint:
        err.print(complaint, highlight=False)
    return str(typer.prompt(decision.question, default="", show_default=False, err=True))


def _say_what_next(output: Path, text: str, area: str | None) -> None:
    undecided = text.count("# DECIDE")
    out.print(f"Wrote {output}: {undecided} lines to decide. Next:", highlight=False)
    reviewed = "" if area == "stream" else ", then write reviewed = true"  # a stream has no such line
    steps = [f"edit {output}: settle every # DECIDE from public knowledge{reviewed}"] if undecided else []
    if area == "stream":
        steps.append(f"wallflower stream simulate {output} --dry-run")
    else:
        question = NEXT.get(area or "count", NEXT["count"]).format(place=output)
        steps += [f"wallflower check {output}", f"wallflower ledger init {output}", f"wallflower {question} --dry-run"]
        steps.append("the same without --dry-run: your first release")
    for number, step in enumerate(steps, start=1):
        out.print(f"  {number}. {step}", highlight=False)
