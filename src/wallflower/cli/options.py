"""Options that several commands take, and options as one value: a dataclass with a field for each, in the order of the help."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from wallflower.errors import UsageError
from wallflower.ledger.admission import OWNER
from wallflower.schema.exact import positive


def _epsilon(text: str) -> Fraction:
    return positive(text, name="epsilon")


def words(text: str) -> str:
    """What can be written down: bytes that are not UTF-8 come from a shell as halves of letters."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("an option is not text: some of its bytes are not UTF-8.") from None
    return text


Decl = Annotated[Path, typer.Argument(metavar="DECL", help="The declaration file of the table.", show_default=False)]
Epsilon = Annotated[
    Fraction,
    typer.Option(
        "--epsilon", parser=_epsilon, metavar="E", help="Budget to spend: a decimal or a fraction.", show_default=False
    ),
]
ColumnNames = Annotated[str, typer.Option("--columns", metavar="COL,COL", help="Declared columns.", show_default=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the price and the promise; read no row, spend nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object; everything else goes to stderr.")]


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """The options that every releasing command has."""

    dry_run: DryRun = False
    as_json: AsJson = False
    request_id: Annotated[
        str | None,
        typer.Option(
            "--request-id", metavar="ID", help="Name this request: asked again, it returns the recorded answer."
        ),
    ] = None
    asker: Annotated[
        str, typer.Option("--asker", metavar="NAME", help="Who asks; request ids and limits of [askers] are theirs.")
    ] = OWNER
    purpose: Annotated[str, typer.Option("--purpose", metavar="TEXT", help="What for, in at most 300 characters.")] = ""
    owner_report: Annotated[
        Path | None,
        typer.Option(
            "--owner-report",
            metavar="FILE",
            help="Also write what is really in the rows, NOT PRIVATE (.html or .json). With --dry-run: look without a release.",
        ),
    ] = None
    rehearse: Annotated[
        str | None,
        typer.Option(
            "--rehearse",
            metavar="FILE|made-up",
            help="Try the question on public rows of the same columns, or on rows made up from [rehearsal]; 'public' is the file "
            "declared there. Reads none of the table's rows, charges nothing.",
        ),
    ] = None
    rehearsal_report: Annotated[
        Path | None,
        typer.Option(
            "--rehearsal-report", metavar="FILE.html", help="Also write the rehearsal as a page with pictures."
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", help="Predictable noise, only for a table with test = true. NOT PRIVATE."),
    ] = None


def names(text: str) -> tuple[str, ...]:
    """Column names from `a,b`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """`command` as Typer reads it: a parameter that is a dataclass stands for its fields, each an option of its own."""
    groups: dict[str, tuple[type, list[str]]] = {}
    options: list[inspect.Parameter] = []
    for name, hint in get_type_hints(command, include_extras=True).items():
        if name == "return":
            continue
        if is_dataclass(hint) and isinstance(hint, type):
            within = _options(hint)
            groups[name] = (hint, [option.name for option in within])
            options += within
        else:
            given = inspect.signature(command).parameters[name].default
            options.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=hint))

    @functools.wraps(command)
    def gathered(**given: Any) -> None:
        for name, (kind, within) in groups.items():
            given[name] = kind(**{option: given.pop(option) for option in within})
        command(**given)

    gathered.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    gathered.__annotations__ = {option.name: option.annotation for option in options}
    return gathered


def _options(kind: type) -> list[inspect.Parameter]:
    """A keyword for each field."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
