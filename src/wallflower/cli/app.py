"""The command line: one file per command, joined here; every error leaves through `run`."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from wallflower.cli.common import err
from wallflower.errors import WallflowerError, place
from wallflower.version import __version__

COMMANDS = (
    "demo",
    "declare",
    "check",
    "ledger",
    "explain",
    "identify",
    "count",
    "subspaces",
    "publish",
    "attack",
    "stream",
    "releases",
    "certificate",
    "serve",
    "doctor",
)
"""Module names in `wallflower.cli`, in the order help lists them."""

SPENT = "If a charge had been made it stands; `wallflower ledger history DECL` shows it."

INTERRUPTED = 130
"""What shells expect after Ctrl-C."""


def build() -> typer.Typer:
    """The whole application, with every command registered."""
    app = typer.Typer(
        name="wallflower",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )

    @app.callback(
        help="Say true things about the outliers of a sensitive table without giving anyone away.\n\n"
        "Start with `wallflower demo`, or with `wallflower declare DATA -o FILE` on a file of your own.",
    )
    def root(
        _version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        """Nothing to do before a command."""

    for name in COMMANDS:
        import_module(f"wallflower.cli.{name}").register(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"wallflower {__version__}")
        raise typer.Exit


def run(arguments: Sequence[str], asked_to_stop: Sequence[int] = ()) -> int:
    """Run one command line and return its exit code: 0 released, 2 usage, 3 refused, 5 no answer, 130 interrupted, 1 a bug.

    `asked_to_stop` fills with signals while it runs: an error after one is that signal's doing, whatever a library made of it.
    """
    as_json = "--json" in arguments
    _print_anything(sys.stdout, sys.stderr)
    try:
        code = typer.main.get_command(build()).main(args=list(arguments), prog_name="wallflower", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        if not arguments or (context is not None and error.format_message() == context.get_help()):
            err.print(error.format_message(), markup=False, highlight=False)  # no arguments: the help is the answer
            return 2
        where = context.command_path if context is not None else "wallflower"
        return _failed("usage", error.format_message(), f"See `{where} --help`.", 2, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:  # noqa: BLE001 - nothing is left to Python, which would print what may quote a row
        if not asked_to_stop:
            return _failed(*_told(error), as_json=as_json)
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer turns Ctrl-C into this code
        return _failed("interrupted", "Interrupted.", SPENT, INTERRUPTED, as_json=as_json)
    return code if isinstance(code, int) else 0


def _told(error: Exception) -> tuple[str, str, str, int]:
    """Kind, message, hint and exit code: in its own words only if those were written here or by the operating system."""
    if isinstance(error, WallflowerError):
        return error.kind, error.message, error.hint, error.exit_code
    if isinstance(error, OSError):
        named = f"'{error.filename}': " if error.filename else ""
        return "usage", f"{named}{error.strerror or type(error).__name__}.", SPENT, 2
    return "bug", f"something broke ({place(error)}). This is a bug: please report the place named here.", SPENT, 1


def _print_anything(*streams: object) -> None:
    """Let a stream that cannot hold a letter show its escape: an answer that was paid for must not be lost to a terminal."""
    codecs.register_error("wallflower", _escaped)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="wallflower")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """As JSON writes it, so that one object stays one object."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _failed(kind: str, message: str, hint: str, code: int, *, as_json: bool) -> int:
    if as_json:
        with contextlib.suppress(OSError):  # stdout itself may be what failed; the exit code still says so
            typer.echo(json.dumps({"ok": False, "error": {"kind": kind, "message": message, "hint": hint}}))
    else:
        err.print(f"[bold red]{kind}[/]", end=": ", highlight=False)
        err.print(message, markup=False, highlight=False)
        if hint:
            err.print(hint, markup=False, highlight=False)
    return code
