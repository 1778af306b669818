"""`wallflower demo`: the areas at work on data the package makes up by a seed."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from wallflower.cli.terminal import out, progress_on_stderr, show_lines
from wallflower.errors import UsageError

STEPS = ("explain", "identify", "count", "publish", "stream")
"""Files of `wallflower.demo` in the order shown; each has `show(folder, stage)` and gives back its scene."""

ORGANISATION = "Alder Valley hospitals (made up)"
TITLE = "Five questions about outliers, answered"
INTRODUCTION = (
    "A hospital network answers five questions about its outliers, each with a promise of its own. This sheet says what was answered, spent and "
    "promised; then comes each question with what left the house beside what stayed in it."
)

MARK = ".wallflower-demo"


class Terminal:
    """The stage of a demo that somebody watches."""

    def say(self, text: str, /) -> None:
        out.print(text, highlight=False)

    def show(self, lines: list[tuple[str, str]], /) -> None:
        show_lines(lines)

    def watched(self) -> AbstractContextManager[None]:
        return progress_on_stderr()


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    folder: Annotated[
        Path, typer.Option("-o", "--out", "--output", metavar="DIR", help="Where the demo writes its files.")
    ] = Path("wallflower-demo"),
) -> None:
    """Show every area on made-up data: what was asked, answered, paid and promised.

    \b
    Example:
        wallflower demo --out demo
    """
    from rich.text import Text

    if folder.exists() and not (folder / MARK).exists():
        raise UsageError(f"'{folder}' exists and was not made by the demo.", hint="Name another folder with --out.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    scenes = []
    for step in STEPS:
        place = folder / step
        place.mkdir()
        out.rule(Text(step, style="bold"), align="left")
        scenes.append(import_module(f"wallflower.demo.{step}").show(place, Terminal()))
        out.print()
    from wallflower.report.story import write_story

    write_story(folder / "report.html", scenes, organisation=ORGANISATION, title=TITLE, introduction=INTRODUCTION)
    out.print(f"Every file is in {folder}; open {folder / 'report.html'} to see it all.", highlight=False)
