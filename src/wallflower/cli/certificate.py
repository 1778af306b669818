"""`wallflower certificate`: the page to file for one release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wallflower.cli.common import out
from wallflower.errors import UsageError


def register(app: typer.Typer) -> None:
    app.command()(certificate)


def certificate(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE.json", help="What a releasing command printed with --json.", show_default=False
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.html", help="Where to write the page.", show_default=False)
    ],
) -> None:
    """Write the certificate of a release: what was released, promised, assumed and paid.

    \b
    Example:
        wallflower certificate release.json -o certificate.html
    """
    from wallflower.report.certificate import write_certificate

    if output.suffix != ".html":
        raise UsageError(f"a certificate ends in .html, got '{output.name}'.")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder '{output.parent}'.", hint="Make it first.")
    write_certificate(release, output)
    out.print(f"Wrote {output}.", markup=False, highlight=False)
