"""The command line: one file per command, joined here; every error leaves through `run`."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from wallflower.cli.terminal import err
from wallflower.errors import UsageError, WallflowerError, place
from wallflower.version import __version__

COMMANDS = {
    "demo": "Show every area on made-up data: what was asked, answered, paid and promised.",
    "declare": "Draft the declaration of a data file; every undecided line is marked # DECIDE, or asked with --ask.",
    "check": "List what would be clipped, replaced or dropped, duplicate keys, unreadable cells, leaves that differ.",
    "ledger": "The account book of a table: init, show, history, verify, backup, close.",
    "explain": "Release one context in which a record stands out, privately for every other row.",
    "identify": "Say whether public values are anomalies of a table.",
    "count": "Count the outliers of a table, with noise.",
    "subspaces": "Find the subspaces with the most outliers, and count in them if asked to.",
    "publish": "Publish a table in groups in which outliers blend in; --level says against whom.",
    "attack": "Attack a published table with the rows it came from.",
    "stream": "Which sensors misbehave, by messages that hide what was measured: sensor, analyst, corrector.",
    "releases": "List the releases of a table, or write one of them again.",
    "certificate": "Write the certificate of a release: what was asked, released, promised, assumed and paid.",
    "serve": "The HTTP service and its console: run one, or look after its users.",
    "doctor": "Say what is installed here, which extras are whole, which servers are found and where files may be written.",
}
"""Module names in `wallflower.cli`, and what the list of commands says of them: it is shown without loading any."""

GROUPS = ("ledger", "stream", "serve")
"""Those that hold commands of their own, which help lists last."""

SPENT = "If a charge had been made it stands; `wallflower ledger history DECL` shows it."

COMPLETING = "_WALLFLOWER_COMPLETE"
"""Set by the shell's side of completion, which `--show-completion` prints."""

INTERRUPTED = 128 + signal.SIGINT
"""What shells expect after Ctrl-C."""


def build(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """The application with these commands, each loaded; with all of them unless told otherwise."""
    app = _root()
    for name in commands:
        import_module(f"wallflower.cli.{name}").register(app)
    return app


def listing() -> typer.Typer:
    """The application as its help lists it, with no command behind the names: nothing is loaded."""
    app = _root()
    for name in (*(name for name in COMMANDS if name not in GROUPS), *GROUPS):
        app.command(name, help=COMMANDS[name])(_nothing)
    return app


def _nothing() -> None:
    """Stands for a command in the list."""


def _needed(arguments: Sequence[str]) -> typer.Typer:
    """Only what is asked for: loading every command would take longer than most of them do."""
    if COMPLETING in os.environ:  # a shell asks what could follow; bash hands its line over in a way of its own
        arguments = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()[1:]
    if arguments and arguments[0] in COMMANDS:
        return build([arguments[0]])
    return build() if set(arguments) & COMMANDS.keys() else listing()


def _root() -> typer.Typer:
    app = typer.Typer(
        name="wallflower",
        no_args_is_help=True,
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
        code = _ran(arguments)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        if not arguments or (context is not None and error.format_message() == context.get_help()):
            err.print(error.format_message(), highlight=False)  # no arguments: the help is the answer
            return 2
        where = context.command_path if context is not None else "wallflower"
        return _failed("usage", error.format_message(), f"See `{where} --help`.", 2, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # whoever read has left, as `head` does: that is no fault of the command's
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered must not fail again at the end
        return 0
    except Exception as error:  # noqa: BLE001 - nothing is left to Python, which would print what may quote a row
        if not asked_to_stop:
            return _failed(*_told(error), as_json=as_json)
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer turns Ctrl-C into this code
        return stopped(arguments, asked_to_stop[0] if asked_to_stop else signal.SIGINT)
    return code if isinstance(code, int) else 0


def stopped(arguments: Sequence[str], by: int) -> int:
    """Say that a command was stopped by this signal, and that a charge stands; the exit code that shells expect."""
    return _failed("interrupted", "Interrupted.", SPENT, 128 + by, as_json="--json" in arguments)


def _ran(arguments: Sequence[str]) -> object:
    """What the command returns. Completion ends the process, with 1 where it knows no shell: here it ends like a command."""
    completing = not {"--install-completion", "--show-completion"}.isdisjoint(arguments)
    try:
        code: object = typer.main.get_command(_needed(arguments)).main(
            args=list(arguments), prog_name="wallflower", standalone_mode=False
        )
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # libraries make 1 of it, which here means a bug
            raise ended.__context__ from None
        if not completing and COMPLETING not in os.environ:
            raise
        code = ended.code
    if code == 1 and completing:
        raise UsageError(
            "completion is for a shell, and none that is known runs this.",
            hint="Run it in bash, zsh, fish or PowerShell itself, not from a script or another program.",
        )
    return code


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
    with contextlib.suppress(OSError):  # what would show it may itself be what failed; the exit code still says so
        if as_json:
            typer.echo(json.dumps({"ok": False, "error": {"kind": kind, "message": message, "hint": hint}}))
        else:
            err.print(kind, style="bold red", end=": ", highlight=False)
            err.print(message, highlight=False)
            if hint:
                err.print(hint, highlight=False)
    return code
