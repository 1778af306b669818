"""`wallflower certificate`: the page to file for one release, compared with the ledger, signed, and checked by a stranger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wallflower.cli.terminal import out
from wallflower.errors import UsageError


def register(app: typer.Typer) -> None:
    app.command()(certificate)


def certificate(
    release: Annotated[
        Path | None,
        typer.Argument(
            metavar="RELEASE.json",
            help="What a releasing command printed with --json, or `wallflower releases` wrote.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", "--output", metavar="FILE.html", help="Where to write the page.", show_default=False
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(
            "--verify",
            metavar="DECL",
            help="Compare every field with the ledger that this declaration names; refuse what it does not hold.",
            show_default=False,
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="Sign the page with this private key.", show_default=False),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check", metavar="FILE.html", help="Check the signature of a page; needs --key.", show_default=False
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="PUB", help="The public key of whoever signed it.", show_default=False),
    ] = None,
    new_key: Annotated[
        Path | None,
        typer.Option("--new-key", metavar="KEY", help="Make a key: KEY to keep, KEY.pub to give.", show_default=False),
    ] = None,
) -> None:
    """Write the certificate of a release: what was asked, released, promised, assumed and paid.

    With --verify DECL every field is compared with the ledger first. With --sign KEY anyone who has the public key can check the
    page, without a ledger or a network: wallflower certificate --check certificate.html --key KEY.pub

    \b
    Example:
        wallflower certificate release.json -o certificate.html
    """
    tasks = [each is not None for each in (release, check, new_key)]
    if sum(tasks) != 1:
        raise UsageError(
            "name one thing to do: a RELEASE.json to certify, a page to --check, or a --new-key to make.",
            hint="See `wallflower certificate --help`.",
        )
    if new_key is not None:
        _refuse_others("--new-key", output=output, verify=verify, sign=sign, key=key)
        _make_key(new_key)
    elif check is not None:
        _refuse_others("--check", output=output, verify=verify, sign=sign)
        _check(check, key)
    elif release is not None:
        _refuse_others("a release", key=key)
        _certify(release, output, verify=verify, sign=sign)


def _refuse_others(task: str, **others: object) -> None:
    for name, given in others.items():
        if given is not None:
            raise UsageError(f"--{name} has no place beside {task}.", hint="See `wallflower certificate --help`.")


def _make_key(path: Path) -> None:
    from wallflower.report.signature import new_key

    name = new_key(path)
    out.print(
        f"Wrote {path} (keep it: whoever has it signs in your name) and {path}.pub (give it away).",
        highlight=False,
    )
    out.print(f"The key is called {name}: tell it to whoever will check.", highlight=False)


def _check(page: Path, key: Path | None) -> None:
    from wallflower.report.signature import check

    if key is None:
        raise UsageError("a signature is checked with the owner's public key.", hint="Name it with --key PUB.")
    try:
        content = page.read_bytes()
    except OSError as error:
        raise UsageError(f"'{page}' cannot be read: {error.strerror}.") from None
    name = check(content, key)
    out.print(f"Good: every byte of {page} is as it was signed by the key {name}.", highlight=False)
    out.print("Whose key that is you must know from elsewhere.", highlight=False)


def _certify(release: Path, output: Path | None, *, verify: Path | None, sign: Path | None) -> None:
    from wallflower.atomic_file import write_whole
    from wallflower.privacy.guarantees import STREAMS
    from wallflower.report.certificate import certificate_page
    from wallflower.report.comparison import compared_with_ledger
    from wallflower.report.release_file import read_release

    if output is None and (verify is None or sign is not None):
        raise UsageError("a certificate needs a place.", hint="Name one: -o FILE.html, or only compare: --verify DECL.")
    refuse_place(output)
    said = read_release(release)
    if sign is not None and verify is None and said["guarantee"]["family"] not in STREAMS:
        raise UsageError(
            "only what the ledger holds is signed.", hint="Name the table's declaration: --verify DECL --sign KEY."
        )
    compared = None if verify is None else compared_with_ledger(said, verify)
    if output is not None:
        page = certificate_page(said, compared=compared)
        write_whole(output, page if sign is None else _signed(page, sign))
    if verify is not None:
        out.print(compared, highlight=False)
    if output is not None:
        out.print(f"Wrote {output}{'' if sign is None else ', signed'}.", highlight=False)


def refuse_place(output: Path | None) -> None:
    """Refuse a page that could not be written."""
    if output is None:
        return
    if output.suffix != ".html":
        raise UsageError(f"a certificate ends in .html, got '{output.name}'.")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder '{output.parent}'.", hint="Make it first.")
    if output.is_dir():
        raise UsageError(f"'{output}' is a folder.", hint="Name a file in it.")


def _signed(page: str, key: Path) -> bytes:
    from wallflower.report.signature import signed

    return signed(page, key)
